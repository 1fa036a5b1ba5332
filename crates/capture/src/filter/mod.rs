//! Filters: pcap-filter expressions and rules, compiled to classic BPF.
//!
//! * In: the text that people give `tcpdump`, or [`Rule`]s. Out: a [`Program`] that runs in the kernel in
//!   front of a ring, and in user space over the frames of a file, with the same answer.
//! * Owned: the instructions. Bounded by: [`MAX_INSTRUCTIONS`], [`MAX_DEPTH`].
//! * Lost: nothing; what cannot be said is an error with the column where it stands.
//!
//! # The language
//!
//! That of [pcap-filter(7)](https://www.tcpdump.org/manpages/pcap-filter.7.html), as far as people use it:
//! `host net port portrange` with `src dst` and a protocol before them, `ether host`, `proto`, `vlan [id]`,
//! `less greater`, byte accessors with arithmetic, `and or not ( )`. Differences, each on purpose:
//!
//! * VLAN tags do not hide what is behind them: `port 80` finds tagged packets, wherever the tag is kept.
//!   `vlan 5` asks whether one of up to three tags has this number, and changes no later part.
//! * `tcp[..]`, `udp[..]` work on IPv6 too, behind a header without extensions.
//! * Operators bind as in C; libpcap gives `%` and `^` no rank.
//! * An address alone is a host. Names of hosts are not looked up.
//!
//! As there: IPv6 extension headers are not walked, but for one fragment header to know the protocol.
//!
//! # How programs are built
//!
//! A prologue finds what the tests ask for (type, start of the network and transport headers, ports, tags)
//! and keeps it in scratch memory; a test is then a load and a jump. It works for Ethernet and for links
//! without a header, by the interface's hardware type. There is no optimiser, and none is needed.

mod assemble;
mod error;
mod generate;
mod lex;
mod names;
mod parse;
mod rules;
mod run;
#[cfg(test)]
mod tests;
mod tree;

pub use error::{Cause, FilterError};
pub use rules::{Rule, Tunnels, for_rules};

use crate::sys::socket::Instruction;
use tree::Node;

/// The longest program that the kernel takes (`BPF_MAXINSNS`), with what stands before it in front of a ring.
pub const MAX_INSTRUCTIONS: usize = 4_096;

/// How deep parentheses, negations and changes between `and` and `or` may be nested.
pub const MAX_DEPTH: usize = 64;

/// A compiled filter.
#[derive(Debug, Clone)]
pub struct Program {
    node: Node,
    // Invariant: at most MAX_INSTRUCTIONS less those of `for_ring`; every jump leads forward and inside.
    code: Vec<Instruction>,
}

impl Program {
    /// Compiles an expression. An empty one passes everything.
    ///
    /// # Errors
    /// With the column of what is not understood, and what could stand there.
    pub fn compile(expression: &str) -> Result<Self, FilterError> {
        Self::from_node(parse::parse(expression)?)
    }

    /// What passes both.
    ///
    /// # Errors
    /// When the program becomes too long.
    pub fn and(&self, other: &Self) -> Result<Self, FilterError> {
        Self::from_node(Node::All(vec![self.node.clone(), other.node.clone()]))
    }

    /// How many instructions it has.
    pub fn instructions(&self) -> usize {
        self.code.len()
    }

    fn from_node(node: Node) -> Result<Self, FilterError> {
        let code = generate::generate(&node)?;
        if code.len() > MAX_INSTRUCTIONS - LOOPBACK_ONCE.len() {
            return Err(FilterError { column: 1, cause: Cause::TooLong { instructions: code.len() } });
        }
        Ok(Self { node, code })
    }
}

/// Lets nothing in.
pub(crate) const SHUT: [Instruction; 1] = [op(code::RET, 0)];

/// Drops what loopback sends, because the same packet is received too.
const LOOPBACK_ONCE: [Instruction; 5] = [
    op(code::LD_ABS_W, ancillary(libc::SKF_AD_HATYPE)),
    Instruction { code: code::JEQ, jt: 0, jf: 3, k: libc::ARPHRD_LOOPBACK as u32 },
    op(code::LD_ABS_W, ancillary(libc::SKF_AD_PKTTYPE)),
    Instruction { code: code::JEQ, jt: 0, jf: 1, k: libc::PACKET_OUTGOING as u32 },
    op(code::RET, 0),
];

/// The program in front of a ring: each packet of loopback once, what the filter passes, and of that the
/// first `snaplen` bytes.
pub(crate) fn for_ring(filter: Option<&Program>, snaplen: u32) -> Vec<Instruction> {
    let everything = [op(code::RET, PASS)];
    let body = filter.map_or(&everything[..], |program| &program.code);
    let mut program = LOOPBACK_ONCE.to_vec();
    program.extend(body.iter().map(|&instruction| match instruction {
        Instruction { code: code::RET, k: PASS, .. } => op(code::RET, snaplen.max(1)),
        other => other,
    }));
    program
}

/// What a program answers for a frame that passes: how many bytes of it are wanted.
const PASS: u32 = u32::MAX;

/// The address of a value that the kernel keeps beside the packet.
const fn ancillary(what: libc::c_int) -> u32 {
    (libc::SKF_AD_OFF + what).cast_unsigned()
}

const fn op(code: u16, k: u32) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k }
}

/// The instructions of classic BPF that are used here (`linux/filter.h`). A is the accumulator, X the index.
mod code {
    pub(super) const LD_IMM: u16 = 0x00;
    pub(super) const LD_ABS_W: u16 = 0x20;
    pub(super) const LD_ABS_H: u16 = 0x28;
    pub(super) const LD_ABS_B: u16 = 0x30;
    pub(super) const LD_IND_W: u16 = 0x40;
    pub(super) const LD_IND_H: u16 = 0x48;
    pub(super) const LD_IND_B: u16 = 0x50;
    pub(super) const LD_MEM: u16 = 0x60;
    pub(super) const LD_LEN: u16 = 0x80;
    pub(super) const LDX_MEM: u16 = 0x61;
    pub(super) const ST: u16 = 0x02;
    pub(super) const TAX: u16 = 0x07;
    pub(super) const TXA: u16 = 0x87;
    pub(super) const ADD: u16 = 0x04;
    pub(super) const SUB: u16 = 0x14;
    pub(super) const MUL: u16 = 0x24;
    pub(super) const DIV: u16 = 0x34;
    pub(super) const OR: u16 = 0x44;
    pub(super) const AND: u16 = 0x54;
    pub(super) const LSH: u16 = 0x64;
    pub(super) const RSH: u16 = 0x74;
    pub(super) const MOD: u16 = 0x94;
    pub(super) const XOR: u16 = 0xa4;
    pub(super) const JA: u16 = 0x05;
    pub(super) const JEQ: u16 = 0x15;
    pub(super) const JGT: u16 = 0x25;
    pub(super) const JGE: u16 = 0x35;
    pub(super) const JSET: u16 = 0x45;
    pub(super) const RET: u16 = 0x06;
    /// Added to an arithmetic or jump instruction: the operand is X, not the constant.
    pub(super) const WITH_X: u16 = 0x08;
}
