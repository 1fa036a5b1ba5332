//! Capabilities and user of the calling thread. See capabilities(7) and prctl(2).

use std::io;

use super::check;

/// The bit of CAP_NET_RAW in a capability set.
pub(crate) const CAP_NET_RAW: u64 = 1 << 13;

const VERSION_3: u32 = 0x2008_0522;

/// The kernel's `struct __user_cap_header_struct`; thread 0 is the calling one.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

/// One half of `struct __user_cap_data_struct` of version 3: the low 32 bits come first.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// The effective set.
pub(crate) fn effective() -> io::Result<u64> {
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut sets = [Half::default(); 2];
    // SAFETY: version 3 reads the header and writes two halves, which are live locals.
    let answer = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) };
    check(answer as libc::c_int)?;
    Ok(u64::from(sets[0].effective) | u64::from(sets[1].effective) << 32)
}

/// Empties the effective, permitted and inheritable sets.
pub(crate) fn clear() -> io::Result<()> {
    let mut header = Header { version: VERSION_3, pid: 0 };
    let sets = [Half::default(); 2];
    // SAFETY: version 3 reads the header and two halves, which are live locals.
    let answer = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) };
    check(answer as libc::c_int).map(drop)
}

/// Empties the ambient set.
pub(crate) fn clear_ambient() -> io::Result<()> {
    let clear = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
    // SAFETY: takes integers and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, clear, 0, 0, 0) }).map(drop)
}

/// Takes a capability out of the bounding set. `EINVAL` for one that the kernel does not know.
pub(crate) fn unbind(capability: u32) -> io::Result<()> {
    let capability = libc::c_ulong::from(capability);
    // SAFETY: takes integers and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }).map(drop)
}

/// Lets no program that is run from here gain privileges.
pub(crate) fn no_new_privileges() -> io::Result<()> {
    let on: libc::c_ulong = 1;
    // SAFETY: takes integers and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, 0, 0, 0) }).map(drop)
}

/// Whether the process runs as root.
pub(crate) fn is_root() -> bool {
    // SAFETY: takes nothing, cannot fail.
    (unsafe { libc::geteuid() }) == 0
}

/// Switches all threads to a user and its group, without other groups.
pub(crate) fn become_user(user: u32, group: u32) -> io::Result<()> {
    // SAFETY: the list is empty, so nothing is read.
    check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: takes an integer; the C library changes every thread.
    check(unsafe { libc::setgid(group) })?;
    // SAFETY: takes an integer; the C library changes every thread.
    check(unsafe { libc::setuid(user) }).map(drop)
}
