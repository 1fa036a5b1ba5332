//! Packet sockets: making them, their options, waiting for them.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::check;

/// A packet socket that receives nothing yet, because it is bound to no protocol. Needs CAP_NET_RAW.
pub(crate) fn packet_socket() -> io::Result<OwnedFd> {
    // SAFETY: takes three integers and touches no memory of ours.
    let fd = check(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Receives every protocol of an interface from now on; index 0 is every interface.
pub(crate) fn bind(fd: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    // SAFETY: a C structure of integers, for which zero bytes are valid.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index.cast_signed();
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of the address, which is a live local of that size.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), len) })?;
    Ok(())
}

/// Asks the interface for frames that are not addressed to it, for as long as the socket lives.
pub(crate) fn promiscuous(fd: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let request = libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Leaves out what this machine sends on the interface (Linux 4.20).
pub(crate) fn ignore_outgoing(fd: BorrowedFd<'_>) -> io::Result<()> {
    set(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1i32)
}

/// Joins a fanout group; the upper half of `argument` is mode and flags, the lower is the group.
/// Answers the group's number, which the kernel picks for `PACKET_FANOUT_FLAG_UNIQUEID`.
pub(crate) fn fanout(fd: BorrowedFd<'_>, argument: u32) -> io::Result<u16> {
    set(fd, libc::SOL_PACKET, libc::PACKET_FANOUT, &argument)?;
    let joined: u32 = get(fd, libc::SOL_PACKET, libc::PACKET_FANOUT)?;
    Ok((joined & 0xffff) as u16)
}

/// What a ring lost since it was last asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lost {
    pub(crate) frames: u32,
    pub(crate) freezes: u32,
}

/// Reads and resets the socket's loss counters (PACKET_STATISTICS, TPACKET_V3 layout).
pub(crate) fn statistics(fd: BorrowedFd<'_>) -> io::Result<Lost> {
    let [_received, frames, freezes]: [u32; 3] = get(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
    Ok(Lost { frames, freezes })
}

/// Takes the pending error off the socket; `None` when there is none.
pub(crate) fn take_error(fd: BorrowedFd<'_>) -> io::Result<Option<i32>> {
    let error: i32 = get(fd, libc::SOL_SOCKET, libc::SO_ERROR)?;
    Ok((error != 0).then_some(error))
}

/// One instruction of classic BPF, as `struct sock_filter` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) jt: u8,
    pub(crate) jf: u8,
    pub(crate) k: u32,
}

// What `attach` relies on.
const _: () = assert!(
    size_of::<Instruction>() == size_of::<libc::sock_filter>()
        && align_of::<Instruction>() == align_of::<libc::sock_filter>()
        && std::mem::offset_of!(Instruction, code) == std::mem::offset_of!(libc::sock_filter, code)
        && std::mem::offset_of!(Instruction, jt) == std::mem::offset_of!(libc::sock_filter, jt)
        && std::mem::offset_of!(Instruction, jf) == std::mem::offset_of!(libc::sock_filter, jf)
        && std::mem::offset_of!(Instruction, k) == std::mem::offset_of!(libc::sock_filter, k)
);

/// Puts a program in front of the socket; it replaces the one that is there at once.
pub(crate) fn attach_filter(fd: BorrowedFd<'_>, program: &[Instruction]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        // The kernel copies the program and never writes to it.
        filter: program.as_ptr().cast_mut().cast(),
    };
    set(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Forbids changing the socket's program.
pub(crate) fn lock_filter(fd: BorrowedFd<'_>) -> io::Result<()> {
    set(fd, libc::SOL_SOCKET, libc::SO_LOCK_FILTER, &1i32)
}

/// Waits until one of the sockets can be read or has an error, at most for `limit` (rounded up to
/// milliseconds). `room` is reused between calls. An interrupted wait is one that ended.
pub(crate) fn wait<'a>(
    room: &mut Vec<libc::pollfd>,
    sockets: impl Iterator<Item = BorrowedFd<'a>>,
    limit: Duration,
) -> io::Result<()> {
    let limit_ms = i32::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
    room.clear();
    room.extend(sockets.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }));
    // SAFETY: the list is borrowed exclusively for the length of the call, and the count is its own.
    let answer = check(unsafe { libc::poll(room.as_mut_ptr(), room.len() as libc::nfds_t, limit_ms) });
    match answer {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// Values that are integers without padding, so that any bytes make one.
pub(super) trait Plain: Copy {
    const ZERO: Self;
}
impl Plain for i32 {
    const ZERO: Self = 0;
}
impl Plain for u32 {
    const ZERO: Self = 0;
}
impl Plain for [u32; 3] {
    const ZERO: Self = [0; 3];
}

/// Sets an option to a plain C value.
pub(super) fn set<T>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of `value`, which is borrowed for the length of the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), len) })?;
    Ok(())
}

/// Reads an option that is a plain C value; what the kernel does not write is zero.
fn get<T: Plain>(fd: BorrowedFd<'_>, level: i32, name: i32) -> io::Result<T> {
    let mut value = T::ZERO;
    let mut len = size_of::<T>() as libc::socklen_t;
    let to = std::ptr::from_mut(&mut value).cast();
    // SAFETY: the kernel writes at most `len` bytes to `value`, and `len` is its size; any bytes make a
    // value of the type (`Plain`).
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, to, &raw mut len) })?;
    Ok(value)
}
