//! Live capture: AF_PACKET receive rings (TPACKET_V3), one per shard and interface.
//!
//! * In: names of interfaces, or none for all, and a filter. Out: frames, borrowed from the ring, each once.
//! * Owned: the rings' memory, shared with the kernel.
//! * Bounded by: [`LiveOptions::ring_bytes`] for each [`Live`].
//! * Lost: frames that come while every block is full ([`Drops::kernel`]), packets that are neither
//!   Ethernet nor IP ([`Drops::unsupported`]), bytes of a frame beyond [`LiveOptions::snaplen`].
//!
//! # Which frames
//!
//! What an interface receives and what it sends. Loopback would show each packet twice, once on its way
//! out and once on its way in; the way out is dropped in the kernel. `any` shows a packet once for each
//! interface that it passes, so a packet for a container is seen on the veth, the bridge and the port.
//! Segmentation is done after the tap: a TCP super-frame arrives whole, up to 64 KiB and more.
//!
//! # Shards
//!
//! [`Live::open_group`] makes one [`Live`] per shard, joined by `PACKET_FANOUT_HASH`: both directions of a
//! flow reach the same shard. Two exceptions: fragments of IPv6 hash by addresses alone, and tunnels over
//! UDP (VXLAN, Geneve) hash by the outer ports, of which the sender's differs by direction.

mod error;
mod source;
mod walk;

#[cfg(test)]
mod tests;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::Frame;

pub use error::LiveError;

use crate::filter::{self, Program};
use crate::sys::ring::Shape;
use crate::sys::socket;
use source::{Group, Setup, Source};

/// The memory of one [`Live`]'s rings: 32 MiB hold a tenth of a second of 2.5 Gbit/s, which is longer than a
/// shard is ever away from its ring.
pub const RING_BYTES: usize = 32 << 20;

/// The size of a block: 1 MiB. The kernel cuts a frame to what a block holds, and the largest frame that
/// Linux makes (BIG TCP) has 512 KiB; 32 of them in a ring keep the walk and the kernel apart.
pub const BLOCK_BYTES: usize = 1 << 20;

/// After how long a block with few frames is handed over. One that is handed over counts as full, so at
/// little traffic a ring of 32 lasts 32 times this long: 1.6 s.
pub const RETIRE: Duration = Duration::from_millis(50);

/// How many bytes of a frame are kept: as `tcpdump` does, which is more than any frame but BIG TCP.
pub const SNAPLEN: u32 = 262_144;

/// Fewest blocks of a ring: one that the kernel fills, one that is walked, two between them.
const MIN_BLOCKS: usize = 4;

/// What a block's size is a multiple of: the largest page size of any Linux machine.
const BLOCK_UNIT: usize = 64 << 10;

/// How often it is looked whether the interfaces are still there.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How to capture.
#[derive(Debug, Clone)]
pub struct LiveOptions<'a> {
    /// Names of interfaces; empty for all, those that come later included.
    pub interfaces: Vec<String>,
    /// Whether to take frames that are not addressed to this machine. Without effect on all interfaces.
    pub promiscuous: bool,
    /// Memory of the rings of one [`Live`], shared equally by its interfaces; see [`RING_BYTES`].
    pub ring_bytes: usize,
    /// Size of a block, rounded up to 64 KiB; see [`BLOCK_BYTES`].
    pub block_bytes: usize,
    /// See [`RETIRE`]; rounded up to milliseconds.
    pub retire: Duration,
    /// What the kernel lets through; everything without one.
    pub filter: Option<&'a Program>,
    /// How many bytes of a frame are kept; see [`SNAPLEN`].
    pub snaplen: u32,
}

impl Default for LiveOptions<'_> {
    fn default() -> Self {
        Self {
            interfaces: Vec::new(),
            promiscuous: true,
            ring_bytes: RING_BYTES,
            block_bytes: BLOCK_BYTES,
            retire: RETIRE,
            filter: None,
            snaplen: SNAPLEN,
        }
    }
}

impl LiveOptions<'_> {
    fn setup(&self) -> Result<Setup, LiveError> {
        let rings = self.interfaces.len().max(1);
        let block_bytes = self.block_bytes.max(1).next_multiple_of(BLOCK_UNIT);
        let blocks = self.ring_bytes / rings / block_bytes;
        let least = block_bytes.saturating_mul(rings).saturating_mul(MIN_BLOCKS);
        let wrong = || LiveError::RingSize { bytes: self.ring_bytes, least };
        if blocks < MIN_BLOCKS || u32::try_from(blocks * block_bytes).is_err() {
            return Err(wrong());
        }
        Ok(Setup {
            promiscuous: self.promiscuous,
            shape: Shape {
                block_bytes: u32::try_from(block_bytes).map_err(|_| wrong())?,
                blocks: u32::try_from(blocks).map_err(|_| wrong())?,
                retire_ms: u32::try_from(self.retire.as_nanos().div_ceil(1_000_000))
                    .unwrap_or(u32::MAX)
                    .max(1),
            },
            program: filter::for_ring(self.filter, self.snaplen),
        })
    }
}

/// What was lost since the capture was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drops {
    /// Frames that the kernel had no room for in the ring.
    pub kernel: u64,
    /// How many times the ring was found full.
    pub freezes: u64,
    /// Packets that were neither Ethernet nor IP.
    pub unsupported: u64,
}

/// What an interface is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is captured.
    Up,
    /// It is switched off; capture goes on when it is switched on.
    Down,
    /// It is not there; capture goes on when one of that name is.
    Gone,
}

/// The rings of one shard.
#[derive(Debug)]
pub struct Live {
    sources: Vec<Source>,
    setup: Setup,
    /// One for each source when there are several shards.
    groups: Option<Arc<Vec<Group>>>,
    drops: Drops,
    looked: Instant,
    waits: Vec<libc::pollfd>,
}

impl Live {
    /// Opens the rings of a capture that is not shared. From when this returns, nothing is missed but what
    /// [`drops`](Self::drops) counts. Allocates the rings.
    ///
    /// # Errors
    /// Each says what to do: a missing capability, an interface that is not there, a size that cannot be.
    pub fn open(options: &LiveOptions<'_>) -> Result<Self, LiveError> {
        let live = Self::shut(options, None)?;
        live.open_gates()?;
        Ok(live)
    }

    /// Opens the rings of `shards` shards (at least one), each with [`LiveOptions::ring_bytes`]; every
    /// frame reaches one of them, and both directions of a flow the same.
    ///
    /// # Errors
    /// As [`open`](Self::open). The kernel takes 256 shards at most.
    pub fn open_group(options: &LiveOptions<'_>, shards: usize) -> Result<Vec<Self>, LiveError> {
        if shards <= 1 {
            return Ok(vec![Self::open(options)?]);
        }
        let names = options.interfaces.len().max(1);
        let groups: Arc<Vec<Group>> = Arc::new((0..names).map(|_| Group::default()).collect());
        let lives: Vec<_> =
            (0..shards).map(|_| Self::shut(options, Some(groups.clone()))).collect::<Result<_, _>>()?;
        for live in &lives {
            live.open_gates()?;
        }
        Ok(lives)
    }

    fn shut(options: &LiveOptions<'_>, groups: Option<Arc<Vec<Group>>>) -> Result<Self, LiveError> {
        let setup = options.setup()?;
        let any = [String::new()];
        let names = if options.interfaces.is_empty() { &any[..] } else { &options.interfaces };
        let sources = names
            .iter()
            .enumerate()
            .map(|(at, name)| Source::open(name, &setup, group(groups.as_deref(), at)))
            .collect::<Result<Vec<_>, _>>()?;
        let waits = Vec::with_capacity(sources.len());
        Ok(Self { sources, setup, groups, drops: Drops::default(), looked: Instant::now(), waits })
    }

    fn open_gates(&self) -> Result<(), LiveError> {
        self.sources.iter().try_for_each(|source| source.open_gate(&self.setup))
    }

    /// Shows the frames of all blocks that are ready and hands each block back to the kernel after its
    /// last frame. When none is ready it waits for one, at most for `timeout` (rounded up to milliseconds).
    /// Answers how many frames were shown. Walks each ring once at most, so that the caller gets a turn.
    ///
    /// Frames of one interface come in the order of the kernel; between interfaces there is no order.
    ///
    /// # Errors
    /// When the socket is broken. An interface that goes down or away is no error; see
    /// [`changes`](Self::changes).
    pub fn poll(&mut self, timeout: Duration, each: &mut impl FnMut(Frame<'_>)) -> Result<usize, LiveError> {
        if self.looked.elapsed() >= LOOK_EVERY {
            self.look();
        }
        let mut frames = self.drain(each)?;
        if frames == 0 && !timeout.is_zero() {
            self.wait(timeout)?;
            frames = self.drain(each)?;
        }
        Ok(frames)
    }

    /// What was lost so far, as of the last [`poll`](Self::poll).
    pub fn drops(&self) -> Drops {
        self.drops
    }

    /// Tells each interface whose state is not the one that was told last; all count as up at first.
    pub fn changes(&mut self, each: &mut impl FnMut(&str, State)) {
        for source in &mut self.sources {
            if source.state != source.told {
                source.told = source.state;
                each(source.label(), source.state);
            }
        }
    }

    fn drain(&mut self, each: &mut impl FnMut(Frame<'_>)) -> Result<usize, LiveError> {
        let mut frames = 0;
        for source in &mut self.sources {
            let walked = source.drain(each);
            frames += walked.frames;
            self.drops.unsupported += walked.unsupported;
            let lost = source.lost()?;
            self.drops.kernel += u64::from(lost.frames);
            self.drops.freezes += u64::from(lost.freezes);
        }
        Ok(frames)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LiveError> {
        let sockets = self.sources.iter().map(AsFd::as_fd);
        socket::wait(&mut self.waits, sockets, timeout).map_err(LiveError::at("all rings", "wait"))?;
        for (source, wait) in self.sources.iter().zip(&self.waits) {
            if wait.revents & libc::POLLERR != 0 {
                source.clear_error()?;
            }
        }
        Ok(())
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        for (at, source) in self.sources.iter_mut().enumerate() {
            source.look(&self.setup, group(self.groups.as_deref(), at));
        }
    }
}

fn group(groups: Option<&Vec<Group>>, at: usize) -> Option<&Group> {
    groups.and_then(|groups| groups.get(at))
}
