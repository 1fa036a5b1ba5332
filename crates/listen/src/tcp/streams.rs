//! A shard's TCP listeners and connections.
//!
//! In: what the poller says is ready. Out: accepted connections and their turns. Owned: listeners and
//! connections. Bounded by: the connection limit; what is beyond it is accepted and closed at once, so that
//! the peer knows. Lost: connections beyond the limit, and the open frames of connections that said nothing
//! for too long; both counted.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use stats::{Counter, DropReason, ShardCounters};

use super::TcpListener;
use super::conn::{Asides, Conn, Cutter, Turn};
use crate::blocks::Desk;
use crate::sys::fd::queued;
use crate::sys::poll::Poller;
use crate::{ShardConfig, Sink};

/// Connections accepted per listener and turn.
const ACCEPTS: usize = 64;
/// `accept` answers with this when the process or the machine is out of descriptors.
const OUT_OF_DESCRIPTORS: [i32; 2] = [libc::EMFILE, libc::ENFILE];

/// Listeners and connections.
#[derive(Debug)]
pub(crate) struct Streams {
    listeners: Vec<TcpListener>,
    conns: Vec<Option<Conn>>,
    free: Vec<usize>,
    open: usize,
    most: usize,
    cutter: Cutter,
    asides: Asides,
    idle_sweeps: u32,
    partial_sweeps: u32,
    sweep: u32,
    /// Given up for the moment that it takes to refuse a connection when descriptors are short.
    reserve: Option<OwnedFd>,
}

impl Streams {
    pub(crate) fn new(config: &ShardConfig, reserve: OwnedFd) -> Self {
        Self {
            listeners: Vec::new(),
            conns: Vec::new(),
            free: Vec::new(),
            open: 0,
            most: config.max_connections,
            cutter: Cutter { framer: config.framer, max_frame: config.max_frame },
            asides: Asides::default(),
            idle_sweeps: sweeps(config.idle_timeout),
            partial_sweeps: sweeps(config.partial_timeout),
            sweep: 0,
            reserve: Some(reserve),
        }
    }

    /// Takes a listener; answers its index.
    pub(crate) fn add(&mut self, listener: TcpListener) -> usize {
        self.listeners.push(listener);
        self.listeners.len() - 1
    }

    /// The listeners, in the order of their indices.
    pub(crate) fn listeners(&self) -> &[TcpListener] {
        &self.listeners
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Accepts what waits at listener `index`, at most [`ACCEPTS`] connections. `token` makes a connection's
    /// token from its index. Answers whether more may wait.
    pub(crate) fn accept(
        &mut self,
        index: usize,
        poller: &Poller,
        token: fn(usize) -> u64,
        counters: &mut ShardCounters,
    ) -> bool {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.listeners.get(index) else { return false };
            match listener.accept() {
                Ok((socket, peer)) => {
                    counters.add(Counter::TcpAccepted, 1);
                    let at = self.free.pop().unwrap_or(self.conns.len());
                    let conn = Conn::new(socket, peer);
                    if self.open >= self.most || poller.add(conn.fd(), token(at)).is_err() {
                        self.free.push(at);
                        counters.add(Counter::TcpClosed, 1);
                        counters.drop(DropReason::ConnectionLimit, 1);
                        continue;
                    }
                    self.place(at, conn);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    counters.add(Counter::SocketErrors, 1);
                    if !is_out_of_descriptors(&error) || !self.refuse(index, counters) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn place(&mut self, at: usize, mut conn: Conn) {
        conn.touched = self.sweep;
        if at == self.conns.len() {
            self.conns.push(Some(conn));
        } else {
            self.conns[at] = Some(conn);
        }
        self.open += 1;
    }

    /// Refuses one connection with the descriptor kept for this; without it the listener would stay ready
    /// and the shard would spin.
    fn refuse(&mut self, index: usize, counters: &mut ShardCounters) -> bool {
        let Some(reserve) = self.reserve.take() else { return false };
        drop(reserve);
        let accepted = self.listeners[index].accept();
        if accepted.is_ok() {
            counters.add(Counter::TcpAccepted, 1);
            counters.add(Counter::TcpClosed, 1);
            counters.drop(DropReason::ConnectionLimit, 1);
        }
        let refused = accepted.is_ok();
        drop(accepted);
        self.reserve = self.listeners[index].as_fd().try_clone_to_owned().ok();
        refused
    }

    /// One turn of connection `at`.
    pub(crate) fn turn<S: Sink>(&mut self, at: usize, desk: &mut Desk<'_, S>) -> Turn {
        let Some(Some(conn)) = self.conns.get_mut(at) else { return Turn::Drained };
        conn.touched = self.sweep;
        let turn = conn.turn(self.cutter, &mut self.asides, desk);
        if turn == Turn::Closed {
            self.close(at, desk);
        }
        turn
    }

    fn close<S>(&mut self, at: usize, desk: &mut Desk<'_, S>) {
        if let Some(conn) = self.conns.get_mut(at).and_then(Option::take) {
            let unread = queued(conn.fd()).unwrap_or(0);
            desk.counters.add(Counter::TcpDiscardedBytes, unread as u64);
            desk.counters.add(Counter::TcpBytes, unread as u64);
            desk.counters.add(Counter::TcpClosed, 1);
            self.free.push(at);
            self.open -= 1;
        }
    }

    /// Closes connections that said nothing for too long. Called once per second.
    pub(crate) fn sweep<S: Sink>(&mut self, desk: &mut Desk<'_, S>) {
        self.sweep = self.sweep.wrapping_add(1);
        for at in 0..self.conns.len() {
            let Some(conn) = &mut self.conns[at] else { continue };
            let limit = if conn.is_inside_frame() { self.partial_sweeps } else { self.idle_sweeps };
            if self.sweep.wrapping_sub(conn.touched) > limit {
                conn.end(0, &mut self.asides, desk);
                self.close(at, desk);
            }
        }
    }

    /// Takes the connections that already wait, then stops listening.
    pub(crate) fn stop_listening(
        &mut self,
        poller: &Poller,
        token: fn(usize) -> u64,
        counters: &mut ShardCounters,
    ) {
        for index in 0..self.listeners.len() {
            while self.accept(index, poller, token, counters) {}
        }
        self.listeners.clear();
    }

    /// The indices of the open connections.
    pub(crate) fn indices(&self) -> Vec<usize> {
        (0..self.conns.len()).filter(|at| self.conns[*at].is_some()).collect()
    }

    /// Closes every connection; an open frame is counted as cut.
    pub(crate) fn close_all<S: Sink>(&mut self, desk: &mut Desk<'_, S>) {
        for at in self.indices() {
            if let Some(conn) = &mut self.conns[at] {
                conn.end(0, &mut self.asides, desk);
            }
            self.close(at, desk);
        }
    }
}

/// How many whole seconds may pass; zero means for ever.
fn sweeps(limit: Duration) -> u32 {
    match limit.as_millis().div_ceil(1000) {
        0 => u32::MAX,
        seconds => u32::try_from(seconds).unwrap_or(u32::MAX),
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| OUT_OF_DESCRIPTORS.contains(&code))
}
