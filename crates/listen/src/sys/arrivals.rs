//! A BPF program on a UDP socket that counts the datagrams that arrive, whether or not there is room.
//!
//! Why: a socket that coalesces (UDP_GRO) drops whole buffers, and the kernel counts one drop for each,
//! however many datagrams it held. What arrived less what was read is the true number.
//!
//! The program runs on each buffer before the kernel looks for room:
//!
//! ```text
//! arrived += gso_size == 0 ? 1 : (len - 8 + gso_size - 1) / gso_size      (8: the UDP header)
//! return closed ? 0 : everything
//! ```

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::check;
use super::sockopt::set;

/// Where the kernel's `struct __sk_buff` has what the program reads.
const SKB_LEN: i16 = 0;
const SKB_GSO_SIZE: i16 = 176;

const MAP_CREATE: i64 = 0;
const MAP_LOOKUP_ELEM: i64 = 1;
const MAP_UPDATE_ELEM: i64 = 2;
const PROG_LOAD: i64 = 5;
const MAP_TYPE_ARRAY: u32 = 2;
const PROG_TYPE_SOCKET_FILTER: u32 = 1;

/// The arrival counter of one socket. The socket keeps the program; this keeps what it writes to.
#[derive(Debug)]
pub(crate) struct Arrivals {
    arrived: Cell,
    closed: Cell,
}

impl Arrivals {
    /// Counts what arrives at the socket from now on.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_BPF where the kernel asks for it; others on kernels before 5.12.
    pub(crate) fn attach(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let arrivals = Self { arrived: Cell::new()?, closed: Cell::new()? };
        let program = program(arrivals.arrived.0.as_raw_fd(), arrivals.closed.0.as_raw_fd());
        let program = bpf_fd(
            PROG_LOAD,
            &mut Load {
                prog_type: PROG_TYPE_SOCKET_FILTER,
                insn_count: program.len() as u32,
                insns: program.as_ptr().expose_provenance() as u64,
                license: c"Apache-2.0".as_ptr().expose_provenance() as u64,
                ..Load::default()
            },
        )?;
        set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_BPF, &program.as_raw_fd())?;
        Ok(arrivals)
    }

    /// How many datagrams arrived.
    pub(crate) fn count(&self) -> io::Result<u64> {
        self.arrived.get()
    }

    /// Refuses what arrives from now on; it is counted all the same.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.closed.set(1)
    }
}

/// The program: one line per instruction.
#[rustfmt::skip]
fn program(arrived: RawFd, closed: RawFd) -> [Instruction; 18] {
    const GSO_SIZE: u8 = 2;
    const DATAGRAMS: u8 = 3;
    const CONTEXT: u8 = 6;
    let [arrived, arrived_offset] = cell_address(1, arrived);
    let [closed, closed_offset] = cell_address(1, closed);
    [
        op(0xbf, CONTEXT, 1, 0, 0),                      // context = r1
        op(0x61, GSO_SIZE, CONTEXT, SKB_GSO_SIZE, 0),    // gso_size = context.gso_size
        op(0xb7, DATAGRAMS, 0, 0, 1),                    // datagrams = 1
        op(0x15, GSO_SIZE, 0, 4, 0),                     // if gso_size == 0, skip four
        op(0x61, DATAGRAMS, CONTEXT, SKB_LEN, 0),        // datagrams = context.len
        op(0x0f, DATAGRAMS, GSO_SIZE, 0, 0),             // datagrams += gso_size
        op(0x07, DATAGRAMS, 0, 0, -9),                   // datagrams -= 8 + 1
        op(0x3f, DATAGRAMS, GSO_SIZE, 0, 0),             // datagrams /= gso_size
        arrived,                                         // r1 = &arrived
        arrived_offset,
        op(0xdb, 1, DATAGRAMS, 0, 0),                    // atomic *r1 += datagrams
        closed,                                          // r1 = &closed
        closed_offset,
        op(0x79, 2, 1, 0, 0),                            // r2 = *r1
        op(0xb7, 0, 0, 0, 0),                            // r0 = 0
        op(0x55, 2, 0, 1, 0),                            // if r2 != 0, skip one
        op(0xb4, 0, 0, 0, -1),                           // r0 = u32::MAX
        op(0x95, 0, 0, 0, 0),                            // return r0
    ]
}

/// The kernel's `struct bpf_insn`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

fn op(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    Instruction { code, registers, offset, immediate }
}

/// Loads the address of a cell: one instruction of double width.
fn cell_address(to: u8, cell: RawFd) -> [Instruction; 2] {
    const PSEUDO_MAP_VALUE: u8 = 2;
    [op(0x18, to, PSEUDO_MAP_VALUE, 0, cell), op(0, 0, 0, 0, 0)]
}

/// A number that a program can reach: a BPF array of one element.
#[derive(Debug)]
struct Cell(OwnedFd);

impl Cell {
    fn new() -> io::Result<Self> {
        let mut create = Create { map_type: MAP_TYPE_ARRAY, key_size: 4, value_size: 8, max_entries: 1 };
        bpf_fd(MAP_CREATE, &mut create).map(Self)
    }

    fn get(&self) -> io::Result<u64> {
        let mut value = 0;
        self.access(MAP_LOOKUP_ELEM, &mut value)?;
        Ok(value)
    }

    fn set(&self, mut value: u64) -> io::Result<()> {
        self.access(MAP_UPDATE_ELEM, &mut value)
    }

    fn access(&self, command: i64, value: &mut u64) -> io::Result<()> {
        let key = 0u32;
        let mut element = Element {
            map: self.0.as_raw_fd(),
            unused: 0,
            key: (&raw const key).expose_provenance() as u64,
            value: std::ptr::from_mut(value).expose_provenance() as u64,
            flags: 0,
        };
        // SAFETY: the command reads four bytes at `key` and reads or writes eight at `value`, the sizes that
        // the map was made with; both live during the call.
        unsafe { bpf(command, &mut element) }.map(drop)
    }
}

/// The parts of the kernel's `union bpf_attr`.
#[repr(C)]
struct Create {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
}

#[derive(Default)]
#[repr(C)]
struct Load {
    prog_type: u32,
    insn_count: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
}

#[repr(C)]
struct Element {
    map: RawFd,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// A command that makes something and answers with its descriptor.
fn bpf_fd<T>(command: i64, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: both callers' commands only read memory: the attributes, the instructions and the licence,
    // which live during the call, with the lengths given.
    let fd = unsafe { bpf(command, attributes) }?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// # Safety
/// `T` is what the command takes, and its pointers lead to memory that the command may access.
unsafe fn bpf<T>(command: i64, attributes: &mut T) -> io::Result<libc::c_int> {
    let size = size_of::<T>() as i64;
    // SAFETY: the kernel reads `size` bytes of the attributes, which are borrowed for the length of the
    // call; what they point to is the caller's duty.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size) };
    check(libc::c_int::try_from(answer).unwrap_or(-1))
}
