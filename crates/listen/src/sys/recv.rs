//! recvmmsg with sender addresses and the control messages that UDP needs.

use std::io;
use std::mem::{offset_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;
use super::fd::iovec;

/// Most messages that one call receives.
pub(crate) const BATCH: usize = 64;

/// Room for two control messages of four bytes each, aligned as their headers want it.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);
const CONTROL_BYTES: usize = 64;

/// The headers of a recvmmsg call and what the last call answered.
pub(crate) struct RecvBatch {
    // Invariant: every pointer in `headers` is either null or points into one of the three boxes below
    // (never moved or replaced while `self` lives) with the length that stands beside it.
    // The pointers in `parts` are valid only during `recv`.
    headers: Box<[libc::mmsghdr; BATCH]>,
    parts: Box<[libc::iovec; BATCH]>,
    names: Box<[libc::sockaddr_in6; BATCH]>,
    controls: Box<[Control; BATCH]>,
    received: usize,
}

// SAFETY: the pointers inside lead only to memory that `self` owns, or are not followed outside `recv`.
unsafe impl Send for RecvBatch {}

impl std::fmt::Debug for RecvBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecvBatch").field("received", &self.received).finish_non_exhaustive()
    }
}

/// One received buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received {
    /// Its true length, which is more than the slot's when it was cut.
    pub(crate) len: usize,
    /// The length of each datagram in it but the last, when it holds more than one; otherwise zero.
    pub(crate) segment: usize,
    /// The socket's drop count when it was queued, if the socket was asked for it and it is not zero.
    pub(crate) drops: Option<u32>,
}

impl Received {
    /// How many datagrams it holds.
    #[inline]
    pub(crate) fn datagrams(&self) -> usize {
        if self.segment == 0 { 1 } else { self.len.div_ceil(self.segment).max(1) }
    }
}

impl RecvBatch {
    pub(crate) fn new() -> Self {
        // SAFETY: all of these are C structures of integers and pointers, for which zero bytes are valid.
        let (headers, names) = unsafe { zeroed::<([libc::mmsghdr; BATCH], [libc::sockaddr_in6; BATCH])>() };
        let none = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut batch = Self {
            headers: Box::new(headers),
            parts: Box::new([none; BATCH]),
            names: Box::new(names),
            controls: Box::new([const { Control([0; CONTROL_BYTES]) }; BATCH]),
            received: 0,
        };
        let parts = batch.parts.as_mut_ptr();
        let names = batch.names.as_mut_ptr();
        let controls = batch.controls.as_mut_ptr();
        for (i, header) in batch.headers.iter_mut().enumerate() {
            header.msg_hdr.msg_iov = parts.wrapping_add(i);
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_name = names.wrapping_add(i).cast();
            header.msg_hdr.msg_control = controls.wrapping_add(i).cast();
        }
        batch
    }

    /// Receives into `slots` buffers of `slot` bytes that start `stride` bytes apart in `memory`, as many
    /// as are there. `block` waits for the first. Answers how many came.
    pub(crate) fn recv(
        &mut self,
        fd: BorrowedFd<'_>,
        memory: &mut [u8],
        shape: Slots,
        block: bool,
    ) -> io::Result<usize> {
        let count = memory.chunks_mut(shape.stride).take(shape.count.min(BATCH)).zip(&mut *self.parts);
        let mut slots = 0;
        for (chunk, part) in count {
            if chunk.len() < shape.slot {
                break;
            }
            *part = iovec(&mut chunk[..shape.slot]);
            let header = &mut self.headers[slots].msg_hdr;
            header.msg_namelen = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
            header.msg_controllen = CONTROL_BYTES;
            slots += 1;
        }
        let wait = if block { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        self.received = 0;
        let headers = self.headers.as_mut_ptr();
        // SAFETY: the first `slots` headers point to parts, names and controls of `self` with their true
        // sizes (invariant), and those parts point into `memory`, borrowed exclusively for this call. The
        // kernel keeps none of them.
        let answer = check(unsafe {
            libc::recvmmsg(
                fd.as_raw_fd(),
                headers,
                slots as libc::c_uint,
                wait | libc::MSG_TRUNC,
                std::ptr::null_mut(),
            )
        })?;
        self.received = usize::try_from(answer).unwrap_or(0).min(slots);
        Ok(self.received)
    }

    /// The `i`th buffer of the last call.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> Received {
        debug_assert!(i < self.received);
        let header = &self.headers[i];
        let mut received = Received { len: header.msg_len as usize, segment: 0, drops: None };
        let filled = header.msg_hdr.msg_controllen.min(CONTROL_BYTES);
        let mut rest = &self.controls[i].0[..filled];
        while let Some((level, kind, value, next)) = control(rest) {
            match (level, kind) {
                (libc::SOL_UDP, libc::UDP_GRO) => received.segment = value as usize,
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => received.drops = Some(value),
                _ => {}
            }
            rest = next;
        }
        received
    }

    /// The sender of the `i`th buffer of the last call.
    #[inline]
    pub(crate) fn peer(&self, i: usize) -> SocketAddr {
        debug_assert!(i < self.received);
        let name = &self.names[i];
        let port = u16::from_be(name.sin6_port);
        if i32::from(name.sin6_family) == libc::AF_INET6 {
            let ip = IpAddr::V6(Ipv6Addr::from(name.sin6_addr.s6_addr)).to_canonical();
            SocketAddr::new(ip, port)
        } else {
            // An IPv4 address lies where IPv6 has its flow label, in network order.
            SocketAddr::new(Ipv4Addr::from(name.sin6_flowinfo.to_ne_bytes()).into(), port)
        }
    }
}

// What `peer` relies on: both address families agree on where the port is, and the IPv4 address lies where
// the flow label does.
const _: () = assert!(
    offset_of!(libc::sockaddr_in, sin_port) == offset_of!(libc::sockaddr_in6, sin6_port)
        && offset_of!(libc::sockaddr_in, sin_addr) == offset_of!(libc::sockaddr_in6, sin6_flowinfo)
);

/// How receive buffers lie in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots {
    /// How many, at most [`BATCH`].
    pub(crate) count: usize,
    /// From the start of one to the start of the next.
    pub(crate) stride: usize,
    /// The size of each, at most `stride`.
    pub(crate) slot: usize,
}

/// Splits the first control message off: level, kind, its first four bytes, the rest.
#[inline]
fn control(bytes: &[u8]) -> Option<(i32, i32, u32, &[u8])> {
    const HEADER: usize = size_of::<libc::cmsghdr>();
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let len = usize::from_ne_bytes(bytes.get(..size_of::<usize>())?.try_into().ok()?);
    let level = word(offset_of!(libc::cmsghdr, cmsg_level))?.cast_signed();
    let kind = word(offset_of!(libc::cmsghdr, cmsg_type))?.cast_signed();
    let value = word(HEADER)?;
    let next = len.max(HEADER).next_multiple_of(size_of::<usize>()).min(bytes.len());
    Some((level, kind, value, &bytes[next..]))
}
