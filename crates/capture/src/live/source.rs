//! One interface's ring: opening it, walking it, and getting it back when the interface comes back.
//!
//! * In: an interface's name (or none for all). Out: its frames, its losses, its [`State`].
//! * Owned: a packet socket and the ring that it shares with the kernel.
//! * Bounded by: the ring's [`Shape`].
//! * Lost: what the kernel drops while every block is full, counted by the kernel.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use model::Frame;

use super::walk::{Walked, walk};
use super::{LiveError, State};
use crate::sys::ring::{Mapping, Shape};
use crate::sys::socket::{self, Instruction, Lost};
use crate::{filter, sys};

/// What a ring is opened with; the same for all shards of a group.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) promiscuous: bool,
    pub(super) shape: Shape,
    /// What runs in the kernel: duplicates of loopback out, then the user's filter, then the cut.
    pub(super) program: Vec<Instruction>,
}

/// The fanout group of one interface over all shards: the kernel's number for it, once it has one, and
/// the interface's number that it was made for.
#[derive(Debug, Default)]
pub(super) struct Group(Mutex<Option<(u32, u16)>>);

impl Group {
    /// Puts a bound socket in. The first one makes the group, under a number that nobody else uses.
    ///
    /// `PACKET_FANOUT_HASH` picks the shard by `skb_get_hash_symmetric` (since Linux 4.7): addresses,
    /// protocol and ports in an order that does not depend on the direction. Fragments have no ports, so
    /// `PACKET_FANOUT_FLAG_DEFRAG` puts IPv4 datagrams together before the hash: the ring gets them whole.
    fn join(&self, fd: BorrowedFd<'_>, index: u32, loopback: bool) -> std::io::Result<()> {
        let mut group = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut flags = libc::PACKET_FANOUT_FLAG_DEFRAG;
        if loopback {
            flags |= libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
        }
        match *group {
            Some((made_for, number)) if made_for == index => {
                let mode = libc::PACKET_FANOUT_HASH | flags;
                socket::fanout(fd, mode << 16 | u32::from(number))?;
            }
            _ => {
                let mode = libc::PACKET_FANOUT_HASH | flags | libc::PACKET_FANOUT_FLAG_UNIQUEID;
                *group = Some((index, socket::fanout(fd, mode << 16)?));
            }
        }
        Ok(())
    }
}

/// An interface that is captured.
#[derive(Debug)]
pub(super) struct Source {
    /// Empty for all interfaces.
    name: String,
    /// The interface that the socket is bound to; 0 for all.
    index: u32,
    ring: Mapping,
    fd: OwnedFd,
    pub(super) state: State,
    pub(super) told: State,
}

impl Source {
    /// Opens a ring whose gate is shut: it is bound and in its group, but gets nothing before
    /// [`open_gate`](Self::open_gate). So no frame comes in that the filter did not see, and no frame
    /// comes twice while a group is still being put together.
    pub(super) fn open(name: &str, setup: &Setup, group: Option<&Group>) -> Result<Self, LiveError> {
        let fd = socket::packet_socket().map_err(LiveError::at(label(name), "open a packet socket"))?;
        let index = match name {
            "" => 0,
            _ => sys::ifaces::index(fd.as_fd(), name).ok_or_else(|| LiveError::NoInterface {
                name: name.to_owned(),
                there: crate::ifaces::list().map_or_else(
                    |_| Vec::new(),
                    |list| list.into_iter().map(|interface| interface.name).collect(),
                ),
            })?,
        };
        socket::attach_filter(fd.as_fd(), &filter::SHUT)
            .map_err(LiveError::at(label(name), "shut the gate"))?;
        let ring = Mapping::new(fd.as_fd(), setup.shape).map_err(|source| match source.raw_os_error() {
            Some(libc::ENOMEM) => LiveError::NoMemory {
                interface: label(name).to_owned(),
                bytes: setup.shape.block_bytes as usize * setup.shape.blocks as usize,
                source,
            },
            _ => LiveError::at(label(name), "make the ring")(source),
        })?;
        let mut source = Self { name: name.to_owned(), index, ring, fd, state: State::Up, told: State::Up };
        source.bind(index, setup, group)?;
        if !name.is_empty() && !sys::ifaces::is_up(source.fd.as_fd(), name).unwrap_or(true) {
            source.state = State::Down;
        }
        Ok(source)
    }

    /// Binds the socket, and joins its group.
    fn bind(&mut self, index: u32, setup: &Setup, group: Option<&Group>) -> Result<(), LiveError> {
        let (fd, name) = (self.fd.as_fd(), label(&self.name));
        let loopback = self.name == "lo";
        if loopback && group.is_none() {
            // Saves the kernel a copy of each packet. Where the kernel does not know it, the program in
            // front of the ring drops the copies.
            let _ = socket::ignore_outgoing(fd);
        }
        socket::bind(fd, index).map_err(LiveError::at(name, "bind the socket"))?;
        if setup.promiscuous && index != 0 {
            socket::promiscuous(fd, index).map_err(LiveError::at(name, "switch promiscuous mode on"))?;
        }
        if let Some(group) = group {
            group.join(fd, index, loopback).map_err(LiveError::at(name, "join the shards' fanout group"))?;
        }
        self.index = index;
        Ok(())
    }

    /// Lets in what the program passes; no other program can be attached from now on.
    pub(super) fn open_gate(&self, setup: &Setup) -> Result<(), LiveError> {
        socket::attach_filter(self.fd.as_fd(), &setup.program).map_err(|source| LiveError::Filter {
            interface: label(&self.name).to_owned(),
            instructions: setup.program.len(),
            source,
        })?;
        socket::lock_filter(self.fd.as_fd()).map_err(LiveError::at(label(&self.name), "lock the filter"))
    }

    /// Walks the blocks that are ready, at most the whole ring once, and hands each back after it.
    #[inline]
    pub(super) fn drain(&mut self, each: &mut impl FnMut(Frame<'_>)) -> Walked {
        let mut total = Walked::default();
        for _ in 0..self.ring.blocks() {
            let Some(block) = self.ring.next() else { break };
            let walked = walk(block.bytes(), block.first(), block.frames(), each);
            total.frames += walked.frames;
            total.unsupported += walked.unsupported;
        }
        total
    }

    /// What the kernel lost since the last call.
    pub(super) fn lost(&self) -> Result<Lost, LiveError> {
        socket::statistics(self.fd.as_fd())
            .map_err(LiveError::at(label(&self.name), "read the loss counters"))
    }

    /// Takes the error off the socket that made a wait end. That the interface went down is not an error
    /// of the capture; [`look`](Self::look) finds out.
    pub(super) fn clear_error(&self) -> Result<(), LiveError> {
        let step = "read the socket's error";
        let error = socket::take_error(self.fd.as_fd()).map_err(LiveError::at(label(&self.name), step))?;
        match error {
            None | Some(libc::ENETDOWN | libc::ENODEV | libc::ENXIO) => Ok(()),
            Some(error) => {
                Err(LiveError::at(label(&self.name), "receive")(std::io::Error::from_raw_os_error(error)))
            }
        }
    }

    /// Looks whether the interface is there and up, and takes hold of it again when it is a new one.
    /// A socket in a group cannot be bound again, so it is replaced, which needs CAP_NET_RAW once more;
    /// where that is gone the interface stays [`State::Gone`] and is tried again.
    pub(super) fn look(&mut self, setup: &Setup, group: Option<&Group>) {
        if self.name.is_empty() {
            return;
        }
        let index = sys::ifaces::index(self.fd.as_fd(), &self.name);
        self.state = match index {
            None => State::Gone,
            Some(index) if index != self.index => match self.take_again(index, setup, group) {
                Ok(()) => State::Up,
                Err(_) => State::Gone,
            },
            Some(_) => State::Up,
        };
        if self.state == State::Up && !sys::ifaces::is_up(self.fd.as_fd(), &self.name).unwrap_or(false) {
            self.state = State::Down;
        }
    }

    fn take_again(&mut self, index: u32, setup: &Setup, group: Option<&Group>) -> Result<(), LiveError> {
        if group.is_none() {
            return self.bind(index, setup, None);
        }
        let again = Self::open(&self.name, setup, group)?;
        again.open_gate(setup)?;
        *self = Self { told: self.told, ..again };
        Ok(())
    }

    /// The name, `any` for all interfaces.
    pub(super) fn label(&self) -> &str {
        label(&self.name)
    }
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn label(name: &str) -> &str {
    if name.is_empty() { "any" } else { name }
}
