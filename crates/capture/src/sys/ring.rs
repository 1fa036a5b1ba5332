//! The memory of a TPACKET_V3 receive ring, shared with the kernel block by block.
//!
//! A block belongs to the kernel or to us, as its status word says. The kernel writes to a block only
//! while it owns it, so a block of ours is plain memory until it is handed back. Formats:
//! <https://docs.kernel.org/networking/packet_mmap.html>, `linux/if_packet.h`.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::socket::set;

/// Where the words of a block's header lie: version and private offset come before them.
const STATUS_AT: usize = offset_of!(libc::tpacket_block_desc, hdr);
const COUNT_AT: usize = STATUS_AT + offset_of!(libc::tpacket_hdr_v1, num_pkts);
const FIRST_AT: usize = STATUS_AT + offset_of!(libc::tpacket_hdr_v1, offset_to_first_pkt);

/// How many bytes at the front of a block are its header.
pub(crate) const BLOCK_HEADER: usize = size_of::<libc::tpacket_block_desc>();

/// How many bytes stand before each frame: `tpacket3_hdr` and, at a multiple of 16, `sockaddr_ll`.
pub(crate) const FRAME_HEADER: usize = size_of::<libc::tpacket3_hdr>() + size_of::<libc::sockaddr_ll>();

const TPACKET_V3: i32 = 2;

/// The shape of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// A multiple of the page size.
    pub(crate) block_bytes: u32,
    pub(crate) blocks: u32,
    /// After how long the kernel hands over a block that is not full, if it holds a frame.
    pub(crate) retire_ms: u32,
}

/// A ring's memory, mapped.
#[derive(Debug)]
pub(crate) struct Mapping {
    // Invariant: `base` is the start of a live mapping of `blocks * block_bytes` bytes, page-aligned, that
    // nothing unmaps but `drop`; both numbers are at least one and their product fits in isize.
    base: NonNull<u8>,
    block_bytes: usize,
    blocks: usize,
    next: usize,
}

// SAFETY: the mapping is memory of the process, reachable from any thread; `Mapping` has no interior
// mutability but the status words, which are atomics.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Makes the ring of a socket and maps it.
    ///
    /// # Errors
    /// `ENOMEM` when the kernel has not that much memory, `EINVAL` for a shape that it refuses.
    pub(crate) fn new(fd: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        set(fd, libc::SOL_PACKET, libc::PACKET_VERSION, &TPACKET_V3)?;
        // Frames of TPACKET_V3 have no fixed size; the kernel only checks that the numbers fit together.
        let request = libc::tpacket_req3 {
            tp_block_size: shape.block_bytes,
            tp_block_nr: shape.blocks,
            tp_frame_size: shape.block_bytes,
            tp_frame_nr: shape.blocks,
            tp_retire_blk_tov: shape.retire_ms,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let (block_bytes, blocks) = (shape.block_bytes as usize, shape.blocks as usize);
        let bytes = block_bytes
            .checked_mul(blocks)
            .filter(|&bytes| bytes > BLOCK_HEADER && isize::try_from(bytes).is_ok())
            .ok_or_else(invalid)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new shared mapping at an address that the kernel picks replaces no memory of ours.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(invalid)?;
        Ok(Self { base, block_bytes, blocks, next: 0 })
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// The next block, if the kernel has handed it over. Dropping it hands it back.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Block<'_>> {
        let status = self.word(STATUS_AT).load(Ordering::Acquire);
        // A `Block` hands its block back when it is dropped, so one is only made for a block of ours.
        if status & libc::TP_STATUS_USER != 0 { Some(Block { ring: self }) } else { None }
    }

    /// A word of the header of the next block.
    #[inline]
    fn word(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at.is_multiple_of(4) && at < BLOCK_HEADER && self.next < self.blocks);
        // SAFETY: `next` is below `blocks` (kept by `Block::drop`) and `at` below the header's size, so the
        // result lies in the mapping (invariant).
        let word = unsafe { self.base.add(self.next * self.block_bytes + at) };
        // SAFETY: it is aligned for u32 (the block to a page, `at` to 4), lives as long as `self`, and the
        // words of the header are only ever accessed as atomics by us.
        unsafe { AtomicU32::from_ptr(word.as_ptr().cast()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is live with this length (invariant), and what borrowed it is gone. A refusal
        // would leak it, which is safe.
        let _ = unsafe { libc::munmap(self.base.as_ptr().cast(), self.blocks * self.block_bytes) };
    }
}

/// A block that is ours until it is dropped.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    ring: &'a mut Mapping,
}

impl Block<'_> {
    /// How many frames it holds.
    #[inline]
    pub(crate) fn frames(&self) -> u32 {
        self.ring.word(COUNT_AT).load(Ordering::Relaxed)
    }

    /// Where the first frame's header lies in [`bytes`](Self::bytes).
    #[inline]
    pub(crate) fn first(&self) -> usize {
        (self.ring.word(FIRST_AT).load(Ordering::Relaxed) as usize).saturating_sub(BLOCK_HEADER)
    }

    /// The block after its header.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        let at = self.ring.next * self.ring.block_bytes + BLOCK_HEADER;
        // SAFETY: `next` is below `blocks` and a block is larger than its header (`new`), so the result lies
        // in the mapping.
        let start = unsafe { self.ring.base.add(at) };
        // SAFETY: the bytes up to the block's end lie in the mapping, were zeroed by the kernel when the
        // ring was made, and are not written by the kernel until `drop` hands the block back, which the
        // borrow of `self` forbids while the slice lives.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.ring.block_bytes - BLOCK_HEADER) }
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        self.ring.word(STATUS_AT).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.ring.next = if self.ring.next + 1 == self.ring.blocks { 0 } else { self.ring.next + 1 };
    }
}
