//! Running a program in user space, over a frame of a file.
//!
//! Total: whatever the program and the bytes are, it ends, because jumps only lead forward, and nothing is
//! read outside of the frame: a load that would be ends the program with "no", as in the kernel.
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

use model::{Frame, LinkType};

use super::code::{self, WITH_X};
use super::{Program, ancillary};
use crate::sys::socket::Instruction;

/// The words of scratch memory (`BPF_MEMWORDS`).
const SCRATCH: usize = 16;

/// What the kernel knows about a packet besides its bytes.
struct Packet<'a> {
    bytes: &'a [u8],
    len: u32,
    hatype: u16,
    protocol: u16,
    vlan: Option<u16>,
}

impl Program {
    /// Whether a frame passes. The answer is that of the kernel for the same frame.
    pub fn matches(&self, frame: &Frame<'_>) -> bool {
        run(&self.code, &Packet::of(frame)).is_some_and(|answer| answer != 0)
    }
}

impl<'a> Packet<'a> {
    fn of(frame: &Frame<'a>) -> Self {
        let whole = frame.bytes;
        // Links other than Ethernet look as those without a header do: what comes behind theirs is kept.
        let (header, hatype, type_at) = match frame.link {
            LinkType::Ethernet => (0, libc::ARPHRD_ETHER, Some(12)),
            LinkType::Raw | LinkType::Ipv4 | LinkType::Ipv6 => (0, libc::ARPHRD_NONE, None),
            LinkType::Null | LinkType::Loop => (4, libc::ARPHRD_NONE, None),
            LinkType::LinuxSll => (16, libc::ARPHRD_NONE, Some(14)),
            LinkType::LinuxSll2 => (20, libc::ARPHRD_NONE, Some(0)),
        };
        let bytes = whole.get(header..).unwrap_or_default();
        let protocol = match type_at {
            Some(at) => half(whole, at).unwrap_or(0),
            None => match bytes.first().map(|byte| byte >> 4) {
                Some(4) => super::tree::ethertype::IPV4,
                Some(6) => super::tree::ethertype::IPV6,
                _ => 0,
            },
        };
        let before = u32::try_from(header).unwrap_or(0);
        Self { bytes, len: frame.wire_len.saturating_sub(before), hatype, protocol, vlan: frame.vlan }
    }

    /// A word of the frame, or one of those that stand beside it.
    fn word(&self, at: u32) -> Option<u32> {
        const VLAN_TAG: u32 = ancillary(libc::SKF_AD_VLAN_TAG);
        const VLAN_TAG_PRESENT: u32 = ancillary(libc::SKF_AD_VLAN_TAG_PRESENT);
        const HATYPE: u32 = ancillary(libc::SKF_AD_HATYPE);
        const PROTOCOL: u32 = ancillary(libc::SKF_AD_PROTOCOL);
        match at {
            VLAN_TAG => Some(self.vlan.unwrap_or(0).into()),
            VLAN_TAG_PRESENT => Some(self.vlan.is_some().into()),
            HATYPE => Some(self.hatype.into()),
            PROTOCOL => Some(self.protocol.into()),
            _ => {
                let bytes = self.bytes.get(usize::try_from(at).ok()?..)?;
                bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
            }
        }
    }

    fn half(&self, at: u32) -> Option<u32> {
        half(self.bytes, usize::try_from(at).ok()?).map(u32::from)
    }

    fn byte(&self, at: u32) -> Option<u32> {
        self.bytes.get(usize::try_from(at).ok()?).map(|&byte| byte.into())
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

/// The program's answer; `None` when it loads what is not there, divides by zero or is none.
fn run(program: &[Instruction], packet: &Packet<'_>) -> Option<u32> {
    let (mut a, mut x) = (0u32, 0u32);
    let mut scratch = [0u32; SCRATCH];
    let mut rest = program.iter();
    while let Some(&Instruction { code, jt, jf, k }) = rest.next() {
        let index = usize::try_from(k).ok()?;
        match code {
            code::LD_IMM => a = k,
            code::LD_LEN => a = packet.len,
            code::LD_ABS_W => a = packet.word(k)?,
            code::LD_ABS_H => a = packet.half(k)?,
            code::LD_ABS_B => a = packet.byte(k)?,
            code::LD_IND_W => a = packet.word(inside(x, k)?)?,
            code::LD_IND_H => a = packet.half(inside(x, k)?)?,
            code::LD_IND_B => a = packet.byte(inside(x, k)?)?,
            code::LD_MEM => a = *scratch.get(index)?,
            code::LDX_MEM => x = *scratch.get(index)?,
            code::ST => *scratch.get_mut(index)? = a,
            code::TAX => x = a,
            code::TXA => a = x,
            code::RET => return Some(k),
            code::JA => skip(&mut rest, index)?,
            _ => {
                let operand = if code & WITH_X == 0 { k } else { x };
                let taken = match code & !WITH_X {
                    code::JEQ => a == operand,
                    code::JGT => a > operand,
                    code::JGE => a >= operand,
                    code::JSET => a & operand != 0,
                    arithmetic => {
                        a = calculate(arithmetic, a, operand)?;
                        continue;
                    }
                };
                skip(&mut rest, usize::from(if taken { jt } else { jf }))?;
            }
        }
    }
    None
}

/// The sum of an indirect load, which must not wrap into the values beside the frame.
fn inside(x: u32, k: u32) -> Option<u32> {
    x.checked_add(k).filter(|&at| at.cast_signed() >= 0)
}

fn skip(rest: &mut std::slice::Iter<'_, Instruction>, count: usize) -> Option<()> {
    *rest = rest.as_slice().get(count..)?.iter();
    Some(())
}

/// Arithmetic modulo 2^32, shifts by five bits of their operand; `None` for a division by zero.
pub(super) fn calculate(operation: u16, a: u32, b: u32) -> Option<u32> {
    Some(match operation {
        code::ADD => a.wrapping_add(b),
        code::SUB => a.wrapping_sub(b),
        code::MUL => a.wrapping_mul(b),
        code::DIV => a.checked_div(b)?,
        code::MOD => a.checked_rem(b)?,
        code::AND => a & b,
        code::OR => a | b,
        code::XOR => a ^ b,
        code::LSH => a.wrapping_shl(b),
        code::RSH => a.wrapping_shr(b),
        _ => return None,
    })
}
