//! Interfaces as the kernel lists them.

use std::ffi::CStr;
use std::io;
use std::mem::zeroed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use super::check;

/// One entry of `getifaddrs`: an interface has one for its link and one for each address.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) flags: u32,
    pub(crate) what: What,
}

/// What an entry tells.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Link { index: u32, hatype: u16 },
    Address(IpAddr),
    Other,
}

/// All entries of this network namespace.
pub(crate) fn entries() -> io::Result<Vec<Entry>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: writes one pointer to the address given, which is that of a live local.
    check(unsafe { libc::getifaddrs(&raw mut first) })?;
    let list = List(first);
    let mut entries = Vec::new();
    let mut at = NonNull::new(list.0);
    while let Some(entry) = at {
        // SAFETY: the pointer is an element of the list, which lives until `list` is dropped.
        let entry = unsafe { entry.as_ref() };
        // SAFETY: the name of an entry is a C string of the list.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) };
        // SAFETY: the address of an entry is null or points to one of the size of its family.
        let what = unsafe { address(entry.ifa_addr) };
        entries.push(Entry { name: name.to_string_lossy().into_owned(), flags: entry.ifa_flags, what });
        at = NonNull::new(entry.ifa_next);
    }
    Ok(entries)
}

/// What `getifaddrs` allocated.
struct List(*mut libc::ifaddrs);

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list came from `getifaddrs`, is freed once, and nothing borrows from it any more.
        unsafe { libc::freeifaddrs(self.0) };
    }
}

/// # Safety
/// The pointer is null or leads to a socket address of the size that its family has.
unsafe fn address(address: *const libc::sockaddr) -> What {
    let Some(address) = NonNull::new(address.cast_mut()) else { return What::Other };
    // SAFETY: every socket address is at least a `sockaddr` (caller's duty).
    match i32::from(unsafe { address.as_ref() }.sa_family) {
        libc::AF_PACKET => {
            // SAFETY: the family says that it is a `sockaddr_ll`.
            let link = unsafe { address.cast::<libc::sockaddr_ll>().as_ref() };
            What::Link { index: link.sll_ifindex.cast_unsigned(), hatype: link.sll_hatype }
        }
        libc::AF_INET => {
            // SAFETY: the family says that it is a `sockaddr_in`.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().as_ref() };
            What::Address(Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is a `sockaddr_in6`.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().as_ref() };
            What::Address(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
        }
        _ => What::Other,
    }
}

/// The number of an interface; `None` when there is none of that name.
pub(crate) fn index(any_socket: BorrowedFd<'_>, name: &str) -> Option<u32> {
    let request = ask(any_socket, name, libc::SIOCGIFINDEX as libc::c_ulong).ok()?;
    // SAFETY: the call succeeded, so this is the member that it wrote.
    let index = unsafe { request.ifr_ifru.ifru_ifindex };
    u32::try_from(index).ok()
}

/// Whether an interface is switched on.
pub(crate) fn is_up(any_socket: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
    let request = ask(any_socket, name, libc::SIOCGIFFLAGS as libc::c_ulong)?;
    // SAFETY: the call succeeded, so this is the member that it wrote.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    Ok(i32::from(flags) & libc::IFF_UP != 0)
}

/// The largest packet of an interface in bytes.
pub(crate) fn mtu(any_socket: BorrowedFd<'_>, name: &str) -> io::Result<u32> {
    let request = ask(any_socket, name, libc::SIOCGIFMTU as libc::c_ulong)?;
    // SAFETY: the call succeeded, so this is the member that it wrote.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    Ok(u32::try_from(mtu).unwrap_or(0))
}

/// One question of netdevice(7) about an interface.
fn ask(any_socket: BorrowedFd<'_>, name: &str, question: libc::c_ulong) -> io::Result<libc::ifreq> {
    // SAFETY: a C structure of integers and unions of them, for which zero bytes are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.len() >= request.ifr_name.len() || name.contains('\0') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: the questions asked here read and write an `ifreq`, which is a live local.
    check(unsafe { libc::ioctl(any_socket.as_raw_fd(), question as _, &raw mut request) })?;
    Ok(request)
}
