//! Binding TCP listeners: one per shard and address.
//!
//! In: an address and [`TcpOptions`]. Out: listeners of one SO_REUSEPORT group over which the kernel
//! spreads connections. Owned: nothing that the caller does not hold. Bounded by: the backlog. Lost:
//! nothing; a peer that the backlog has no room for tries again.

pub(crate) mod conn;
pub(crate) mod streams;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};

use crate::udp::{claim, grow, local_address};

/// How TCP listeners are bound.
#[derive(Debug, Clone)]
pub struct TcpOptions {
    /// Connections that may wait to be accepted, per shard. Default 1024.
    pub backlog: u32,
    /// Bytes of receive buffer per connection; `None`, the default, leaves it to the kernel's tuning.
    pub receive_buffer: Option<usize>,
    /// Whether an IPv6 listener refuses IPv4. Default false: `[::]` takes both.
    pub v6only: bool,
    /// Whether another process may have the same address, so that each gets a part of the connections.
    /// Default false: a second program on the same port is told so.
    pub shared: bool,
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self { backlog: 1024, receive_buffer: None, v6only: false, shared: false }
    }
}

/// A bound, non-blocking TCP listener.
#[derive(Debug)]
pub struct TcpListener {
    socket: Socket,
    local: SocketAddr,
}

/// Binds `listeners` listeners to one address, one for each shard. With port 0 the first picks a port and
/// the others share it.
///
/// # Errors
/// When the address cannot be bound; `AddrInUse` when somebody has it.
pub fn bind_tcp(addr: SocketAddr, listeners: usize, options: &TcpOptions) -> io::Result<Vec<TcpListener>> {
    if !options.shared {
        claim(addr, Type::STREAM, options.v6only)?;
    }
    let mut bound: Vec<TcpListener> = Vec::with_capacity(listeners);
    for _ in 0..listeners.max(1) {
        let addr = bound.first().map_or(addr, |first| first.local);
        bound.push(TcpListener::bind(addr, options)?);
    }
    Ok(bound)
}

impl TcpListener {
    fn bind(addr: SocketAddr, options: &TcpOptions) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        if addr.is_ipv6() {
            socket.set_only_v6(options.v6only)?;
        }
        if let Some(bytes) = options.receive_buffer {
            // Accepted connections inherit it.
            grow(&socket, bytes)?;
        }
        socket.bind(&addr.into())?;
        socket.listen(i32::try_from(options.backlog).unwrap_or(i32::MAX))?;
        let local = local_address(&socket)?;
        Ok(Self { socket, local })
    }

    /// The address it is bound to, with the port that was picked.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The next connection that waits, non-blocking, and its peer.
    pub(crate) fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        let (socket, peer) = self.socket.accept()?;
        socket.set_nonblocking(true)?;
        let peer = peer.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok((socket, SocketAddr::new(peer.ip().to_canonical(), peer.port())))
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
