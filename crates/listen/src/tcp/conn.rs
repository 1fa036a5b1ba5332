//! One TCP connection's way into the block.
//!
//! In: a byte stream. Out: its frames, read straight into the block and cut there. Owned: the socket and
//! the beginning of one frame, kept aside while its rest is on the way. Bounded by: one frame of at most
//! `max_frame` bytes aside per connection, none of it while no frame is open. Lost: a frame whose connection
//! ends inside it, and everything after bytes that start no frame; both counted.
//!
//! Frames that arrive whole are never copied. Of a frame that straddles two reads, the part that came first
//! is copied aside when the connection's turn ends; the rest is read to that same place, with one call that
//! also reads what follows into the block. A peer that sends byte by byte therefore costs one small read per
//! byte and no copy until its frame is complete.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use socket2::Socket;
use stats::{Counter, DropReason, Meter};

use crate::blocks::{Desk, unix_ns};
use crate::sys::fd::readv;
use crate::{Frame, Framer, Origin, Sink, Transport};

/// Read calls per turn.
const READS: usize = 4;
/// Most bytes per call.
const READ_BYTES: usize = 256 * 1024;
/// A read is not worth a call for less room than this.
const MIN_ROOM: usize = 64 * 1024;

/// A frame's beginning is given this much memory before as much as it has filled.
const MIN_ASIDE: usize = 4 * 1024;

/// How streams are cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cutter {
    pub(crate) framer: Framer,
    pub(crate) max_frame: usize,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Everything that was there has been read.
    Drained,
    /// There may be more.
    More,
    /// The connection is over and its last frame is accounted for.
    Closed,
    /// The time to drain is over.
    OutOfTime,
}

/// A connection and the beginning of the frame that is on its way.
#[derive(Debug)]
pub(crate) struct Conn {
    socket: Socket,
    peer: SocketAddr,
    /// The beginning of a frame. Empty, and without memory, between frames.
    aside: Vec<u8>,
    /// The whole length of that frame, zero while its header is incomplete.
    frame: usize,
    /// The sweep that last saw a byte arrive.
    pub(crate) touched: u32,
}

/// Memory for beginnings of frames, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Asides(Vec<Vec<u8>>);

impl Asides {
    /// Most that are kept.
    const KEPT: usize = 8;

    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    fn give_back(&mut self, mut memory: Vec<u8>) {
        if self.0.len() < Self::KEPT {
            memory.clear();
            self.0.push(memory);
        }
    }
}

/// What a read left to do.
enum Step {
    /// This many bytes lie in front of the block's room and want to be cut; whether more may wait.
    Cut(usize, bool),
    /// The open frame is still not complete; whether more may wait.
    Open(bool),
    Eof,
}

impl Conn {
    pub(crate) fn new(socket: Socket, peer: SocketAddr) -> Self {
        Self { socket, peer, aside: Vec::new(), frame: 0, touched: 0 }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether a frame has begun and not ended.
    pub(crate) fn is_inside_frame(&self) -> bool {
        !self.aside.is_empty()
    }

    /// Reads what is there, at most [`READS`] times.
    pub(crate) fn turn<S: Sink>(
        &mut self,
        cutter: Cutter,
        asides: &mut Asides,
        desk: &mut Desk<'_, S>,
    ) -> Turn {
        // Bytes of an open frame that lie, not frozen, in front of the block's room.
        let mut ahead = 0;
        let mut turn = Turn::More;
        for _ in 0..READS {
            if desk.blocks.room() < ahead.max(self.frame) + MIN_ROOM {
                self.put_aside(ahead, asides, desk);
                ahead = 0;
                if !desk.make_room(self.frame.max(self.aside.len()) + MIN_ROOM) {
                    return Turn::OutOfTime;
                }
            }
            let more = match self.read(ahead, asides, desk) {
                Ok(Step::Cut(bytes, more)) => match self.cut(bytes, cutter, desk) {
                    Some(rest) => {
                        ahead = rest;
                        more
                    }
                    None => return Turn::Closed,
                },
                Ok(Step::Open(more)) => more,
                Ok(Step::Eof) => {
                    self.end(ahead, asides, desk);
                    return Turn::Closed;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
                Err(_) => {
                    desk.counters.add(Counter::SocketErrors, 1);
                    self.end(ahead, asides, desk);
                    return Turn::Closed;
                }
            };
            if !more {
                turn = Turn::Drained;
                break;
            }
        }
        self.put_aside(ahead, asides, desk);
        turn
    }

    /// One read call.
    fn read<S: Sink>(
        &mut self,
        ahead: usize,
        asides: &mut Asides,
        desk: &mut Desk<'_, S>,
    ) -> io::Result<Step> {
        let has = self.aside.len();
        // Where the open frame ends in the block, or as much of it as will be there.
        let front = if has == 0 { ahead } else { self.frame.max(has) };
        let (head, tail) = desk.blocks.spare().split_at_mut(front);
        let most = tail.len().min(READ_BYTES);
        // A frame that has hardly begun gets memory as it comes, not as it announces.
        let until = if has == 0 { 0 } else { front.min(has.saturating_mul(2).max(MIN_ASIDE)) };
        let most = if until < front && has > 0 { 0 } else { most };
        self.aside.reserve_exact(until - has);
        self.aside.resize(until, 0);
        desk.counters.meters.enter(Meter::HepRead);
        let answer = readv(self.socket.as_fd(), &mut self.aside[has..], &mut tail[..most]);
        self.aside.truncate(has + answer.as_ref().map_or(0, |got| *got));
        let got = answer?;
        if got == 0 {
            return Ok(Step::Eof);
        }
        desk.counters.add(Counter::TcpReads, 1);
        desk.counters.meters.batch(Meter::HepRead, 1);
        desk.counters.add(Counter::TcpBytes, got as u64);
        let more = got == most + (until - has);
        if has == 0 {
            return Ok(Step::Cut(ahead + got, more));
        }
        if has + got < front {
            return Ok(Step::Open(more));
        }
        head.copy_from_slice(&self.aside);
        desk.counters.add(Counter::TcpCopiedBytes, front as u64);
        asides.give_back(std::mem::take(&mut self.aside));
        Ok(Step::Cut(has + got, more))
    }

    /// Hands over the complete frames among the first `bytes` of the block's room. Answers how many bytes
    /// of the next one are left there; `None` when they start no frame.
    fn cut<S: Sink>(&mut self, bytes: usize, cutter: Cutter, desk: &mut Desk<'_, S>) -> Option<usize> {
        let origin = Origin { received: unix_ns(), transport: Transport::Tcp, peer: self.peer };
        let mut rest = bytes;
        let mut frames = 0;
        self.frame = 0;
        desk.counters.meters.enter(Meter::HepDecode);
        while rest > 0 {
            match (cutter.framer)(&desk.blocks.spare()[..rest]) {
                Frame::Len(len) if (1..=rest.min(cutter.max_frame)).contains(&len) => {
                    let frame = desk.blocks.commit(len);
                    desk.sink.message(frame, &origin, desk.counters);
                    frames += 1;
                    rest -= len;
                }
                Frame::Len(len) if (1..=cutter.max_frame).contains(&len) => {
                    self.frame = len;
                    break;
                }
                Frame::NeedMore if rest < cutter.max_frame => break,
                Frame::NeedMore | Frame::Len(_) | Frame::Bad => {
                    desk.counters.add(Counter::TcpFrames, frames + 1);
                    desk.counters.drop(DropReason::BadFraming, 1);
                    desk.counters.add(Counter::TcpDiscardedBytes, rest as u64);
                    return None;
                }
            }
        }
        desk.counters.meters.enter(Meter::HepRead);
        for stage in [Meter::HepDecode, Meter::HepAppend] {
            desk.counters.meters.batch(stage, frames);
        }
        desk.counters.add(Counter::TcpFrames, frames);
        Some(rest)
    }

    /// Copies the open frame's bytes out of the block's room, which others will write to.
    fn put_aside<S: Sink>(&mut self, ahead: usize, asides: &mut Asides, desk: &mut Desk<'_, S>) {
        if ahead > 0 {
            debug_assert!(self.aside.is_empty());
            self.aside = asides.take();
            self.aside.extend_from_slice(&desk.blocks.spare()[..ahead]);
            desk.counters.add(Counter::TcpCopiedBytes, ahead as u64);
        }
    }

    /// Accounts for a frame that will never be complete, `ahead` bytes of it in the block's room.
    pub(crate) fn end<S>(&mut self, ahead: usize, asides: &mut Asides, desk: &mut Desk<'_, S>) {
        let bytes = ahead + self.aside.len();
        if bytes > 0 {
            desk.counters.add(Counter::TcpFrames, 1);
            desk.counters.drop(DropReason::FrameIncomplete, 1);
            desk.counters.add(Counter::TcpDiscardedBytes, bytes as u64);
            if !self.aside.is_empty() {
                asides.give_back(std::mem::take(&mut self.aside));
            }
        }
    }
}
