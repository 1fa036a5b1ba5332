//! Binding UDP sockets: one per shard and address, spread, with buffers as large as the kernel allows.
//!
//! In: an address and [`UdpOptions`]. Out: sockets of one SO_REUSEPORT group, and what buffer each was
//! granted. Owned: nothing that the caller does not hold. Bounded by: the granted receive buffer. Lost:
//! what arrives while that buffer is full; the kernel counts it and [`UdpSocket::dropped_buffers`] tells.

pub(crate) mod drops;
pub(crate) mod reader;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use socket2::{Domain, Protocol, Socket, Type};

use crate::sys::arrivals::Arrivals;
use crate::sys::{filter, sockopt};

/// When datagrams may be coalesced by the kernel.
///
/// A full socket drops a coalesced buffer whole, and the kernel counts it as one drop however many
/// datagrams it held (up to 64 and more). To count datagrams, a socket that coalesces needs a small BPF
/// program that counts what arrives, and to load that needs CAP_BPF (or root).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Gro {
    /// Never. Every drop is counted exactly without a privilege.
    Off,
    /// Where drops can be counted exactly.
    #[default]
    Exact,
    /// Where the kernel can do it, even if a drop then counts as one whatever it held.
    Always,
}

/// How UDP sockets are bound.
#[derive(Debug, Clone)]
pub struct UdpOptions {
    /// Bytes of receive buffer asked for, per socket. Default 32 MiB.
    pub receive_buffer: usize,
    /// Whether the kernel may hand over datagrams of one sender coalesced (UDP_GRO). Default
    /// [`Gro::Exact`]. Bytes and messages are the same either way.
    pub gro: Gro,
    /// Whether an IPv6 socket refuses IPv4. Default false: `[::]` takes both.
    pub v6only: bool,
    /// Whether another process may have the same address, so that each gets a part of what arrives. Default
    /// false: a second program on the same port is told so.
    pub shared: bool,
}

impl Default for UdpOptions {
    fn default() -> Self {
        Self { receive_buffer: 32 << 20, gro: Gro::Exact, v6only: false, shared: false }
    }
}

/// The receive buffer asked for and the one the kernel gave, in bytes as the kernel counts them (with
/// its own overhead per datagram).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferGrant {
    /// What was asked for.
    pub asked: usize,
    /// What `SO_RCVBUF` reads back.
    pub given: usize,
}

impl BufferGrant {
    /// Whether the kernel gave less than was asked for.
    pub fn is_short(&self) -> bool {
        self.given < self.asked
    }

    /// The value of the sysctl `net.core.rmem_max` with which the kernel gives what was asked for (it gives
    /// up to twice that).
    pub fn rmem_max_needed(&self) -> usize {
        self.asked.div_ceil(2)
    }
}

/// A bound, non-blocking UDP socket.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    local: SocketAddr,
    grant: BufferGrant,
    gro: bool,
    arrivals: Option<Arc<Arrivals>>,
}

/// Binds `sockets` sockets to one address, one for each shard. With port 0 the first picks a port and the
/// others share it. More than one are a SO_REUSEPORT group in which each datagram goes to a random member.
///
/// # Errors
/// When the address cannot be bound; `AddrInUse` when somebody has it.
pub fn bind_udp(addr: SocketAddr, sockets: usize, options: &UdpOptions) -> io::Result<Vec<UdpSocket>> {
    if !options.shared {
        claim(addr, Type::DGRAM, options.v6only)?;
    }
    let mut bound: Vec<UdpSocket> = Vec::with_capacity(sockets);
    for _ in 0..sockets.max(1) {
        let addr = bound.first().map_or(addr, |first| first.local);
        bound.push(UdpSocket::bind(addr, options)?);
    }
    if let [first, _, ..] = &bound[..] {
        let members = u32::try_from(bound.len()).unwrap_or(u32::MAX);
        filter::spread(first.as_fd(), members)?;
    }
    Ok(bound)
}

impl UdpSocket {
    fn bind(addr: SocketAddr, options: &UdpOptions) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_port(true)?;
        if addr.is_ipv6() {
            socket.set_only_v6(options.v6only)?;
        }
        let grant = grow(&socket, options.receive_buffer)?;
        let counted = match options.gro {
            Gro::Off => None,
            // Before the socket is bound, so that nothing arrives uncounted.
            Gro::Exact | Gro::Always => Arrivals::attach(socket.as_fd()).ok(),
        };
        let wanted = options.gro == Gro::Always || counted.is_some();
        let gro = wanted && sockopt::udp_gro(socket.as_fd(), true).is_ok();
        if gro || sockopt::queue(socket.as_fd()).is_err() {
            // Tells the drops so far beside each datagram: for a kernel that does not answer SO_MEMINFO, and
            // to know of each datagram which drops came before it.
            sockopt::rxq_ovfl(socket.as_fd())?;
        }
        socket.bind(&addr.into())?;
        let local = local_address(&socket)?;
        Ok(Self { socket, local, grant, gro, arrivals: counted.map(Arc::new) })
    }

    /// The address it is bound to, with the port that was picked.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The receive buffer asked for and given.
    pub fn grant(&self) -> BufferGrant {
        self.grant
    }

    /// Whether the kernel may coalesce datagrams.
    pub fn gro(&self) -> bool {
        self.gro
    }

    /// Whether every drop is counted as the number of datagrams it was. `false` only for
    /// [`Gro::Always`] without CAP_BPF.
    pub fn counts_exactly(&self) -> bool {
        !self.gro || self.arrivals.is_some()
    }

    /// How many buffers the kernel dropped since the socket was made, modulo 2^32. A buffer is a datagram,
    /// or, where [`gro`](Self::gro) is on, all that were coalesced in it: measured on Linux 6.18, where
    /// 64,000 datagrams sent as buffers of 64 gave 640 received and a count of 990, not 63,360.
    ///
    /// # Errors
    /// On kernels without SO_MEMINFO (before 4.12).
    pub fn dropped_buffers(&self) -> io::Result<u32> {
        Ok(sockopt::queue(self.as_fd())?.drops)
    }

    /// The counter of what arrived, where one is attached.
    pub(crate) fn arrivals(&self) -> Option<Arc<Arrivals>> {
        self.arrivals.clone()
    }

    /// Refuses what arrives from now on. The queue can then be read to its end, and every refusal is counted.
    pub(crate) fn freeze(&self) -> io::Result<()> {
        match &self.arrivals {
            Some(arrivals) => arrivals.close(),
            None => filter::refuse_all(self.as_fd()),
        }
    }

    /// Makes reads wait for a datagram, at most for `limit`.
    pub(crate) fn set_blocking(&self, limit: std::time::Duration) -> io::Result<()> {
        self.socket.set_nonblocking(false)?;
        self.socket.set_read_timeout(Some(limit))
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Fails when anybody has the address. SO_REUSEPORT, which the sockets of one program need among each other,
/// would let a second program of the same user in without a word.
pub(crate) fn claim(addr: SocketAddr, kind: Type, v6only: bool) -> io::Result<()> {
    let socket = Socket::new(Domain::for_address(addr), kind, None)?;
    if kind == Type::STREAM {
        // Old connections in TIME_WAIT are nobody.
        socket.set_reuse_address(true)?;
    }
    if addr.is_ipv6() {
        socket.set_only_v6(v6only)?;
    }
    socket.bind(&addr.into())
}

/// Asks for a receive buffer, beyond the limit where that is allowed, and reads back what was given.
pub(crate) fn grow(socket: &Socket, asked: usize) -> io::Result<BufferGrant> {
    if sockopt::rcvbuf_force(socket.as_fd(), asked).is_err() {
        // The kernel doubles what it is asked for and answers with the double.
        socket.set_recv_buffer_size(asked / 2)?;
    }
    Ok(BufferGrant { asked, given: socket.recv_buffer_size()? })
}

pub(crate) fn local_address(socket: &Socket) -> io::Result<SocketAddr> {
    let local = socket.local_addr()?;
    local.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}
