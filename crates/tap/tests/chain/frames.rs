//! Conversations as the frames that a capture sees: handshake, segments, the acknowledgements that a real
//! stack sends (on data, for every second segment, or late), and the end.

use model::{Dir, LinkType, Transport};
use std::net::Ipv4Addr;

/// How long a receiver waits with an acknowledgement, nanoseconds (Linux).
const DELAYED_ACK: i64 = 40_000_000;

/// Between segments of one write, nanoseconds.
const SPACING: i64 = 100;

/// One captured frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shot {
    pub time: i64,
    pub link: LinkType,
    pub wire_len: u32,
    /// Which flow it belongs to.
    pub flow: usize,
    pub bytes: Vec<u8>,
}

/// Something that one side says, at the time at which the capture sees it.
#[derive(Debug, Clone)]
pub struct Say {
    pub time: i64,
    pub dir: Dir,
    pub bytes: Vec<u8>,
}

/// One conversation.
#[derive(Debug, Clone)]
pub struct Script {
    pub transport: Transport,
    pub client: (Ipv4Addr, u16),
    pub server: (Ipv4Addr, u16),
    /// When the first frame is seen.
    pub start: i64,
    /// The way from the capture to the client and to the server, nanoseconds.
    pub away: [i64; 2],
    pub mss: usize,
    /// In order of time.
    pub says: Vec<Say>,
}

/// A segment that is yet to be given its acknowledgement.
struct Part {
    time: i64,
    dir: Dir,
    seq: u32,
    bytes: Vec<u8>,
    flags: u8,
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;

impl Script {
    /// The frames of the conversation, in the order in which the capture sees them.
    pub fn frames(&self, flow: usize) -> Vec<Shot> {
        if self.transport == Transport::Udp {
            return self.says.iter().map(|say| self.datagram(flow, say)).collect();
        }
        let mut next = [0xFFFF_F000, 0x1000];
        let mut parts = vec![
            part(self.start, Dir::ToServer, next[0], Vec::new(), SYN),
            part(self.start + 2 * self.away[1], Dir::ToClient, next[1], Vec::new(), SYN | ACK),
        ];
        next = next.map(|seq: u32| seq.wrapping_add(1));
        let mut last = [self.start + 2 * self.away[1] + 2 * self.away[0] + SPACING; 2];
        parts.push(part(last[0], Dir::ToServer, next[0], Vec::new(), ACK));
        let mut at = 0;
        while let Some(say) = self.says.get(at) {
            // What is said at once goes into the same segments.
            let mut bytes = Vec::new();
            while let Some(more) =
                self.says.get(at).filter(|more| (more.time, more.dir) == (say.time, say.dir))
            {
                bytes.extend_from_slice(&more.bytes);
                at += 1;
            }
            let i = say.dir.index();
            for piece in bytes.chunks(self.mss) {
                last[i] = say.time.max(last[i] + SPACING);
                parts.push(part(last[i], say.dir, next[i], piece.to_vec(), ACK));
                next[i] = next[i].wrapping_add(piece.len() as u32);
            }
        }
        parts.sort_by_key(|part| part.time);
        let acks = self.acks(&parts);
        parts.extend(acks);
        parts.sort_by_key(|part| part.time);
        let end = parts.last().map_or(0, |part| part.time) + self.away[0] * 2 + 1_000_000;
        parts.push(part(end, Dir::ToServer, next[0], Vec::new(), FIN | ACK));
        parts.push(part(end + 2 * self.away[1] + 1, Dir::ToClient, next[1], Vec::new(), FIN | ACK));
        let last = end + 2 * self.away[1] + 2 * self.away[0] + 2;
        parts.push(part(last, Dir::ToServer, next[0].wrapping_add(1), Vec::new(), ACK));
        (0..parts.len()).map(|at| self.segment(flow, &parts, at)).collect()
    }

    /// What a side has from the other one when it sends something that is seen at `time`.
    fn heard(&self, parts: &[Part], dir: Dir, time: i64) -> u32 {
        let reached = time - 2 * self.away[dir.index()];
        let of_other = parts.iter().filter(|part| part.dir != dir && part.time <= reached);
        of_other.map(Part::end).fold(None, furthest).unwrap_or(0)
    }

    /// The bare acknowledgements: for every second segment, and for one when nothing was sent for a while.
    fn acks(&self, parts: &[Part]) -> Vec<Part> {
        let mut acks = Vec::new();
        for dir in Dir::BOTH {
            let own: Vec<&Part> =
                parts.iter().filter(|part| part.dir == dir && part.flags & SYN == 0).collect();
            let mut waiting: Option<i64> = None;
            let mut seq = parts.iter().find(|part| part.dir == dir).map_or(0, Part::end);
            let mut sent = own.iter().peekable();
            for got in parts.iter().filter(|part| part.dir != dir && !part.bytes.is_empty()) {
                let now = got.time + 2 * self.away[dir.index()] + 10;
                // What this side has sent meanwhile carried the acknowledgement.
                while let Some(part) = sent.next_if(|part| part.time <= now) {
                    if let Some(since) = waiting {
                        if part.time - since > DELAYED_ACK {
                            acks.push(bare(since + DELAYED_ACK, dir, seq));
                        }
                        waiting = None;
                    }
                    seq = part.end();
                }
                match waiting {
                    Some(since) if now - since > DELAYED_ACK => {
                        acks.push(bare(since + DELAYED_ACK, dir, seq));
                        waiting = Some(now);
                    }
                    Some(_) => {
                        acks.push(bare(now, dir, seq));
                        waiting = None;
                    }
                    None => waiting = Some(now),
                }
            }
        }
        acks
    }

    fn segment(&self, flow: usize, parts: &[Part], at: usize) -> Shot {
        let part = &parts[at];
        let ack = if part.flags & ACK == 0 { 0 } else { self.heard(&parts[..at], part.dir, part.time) };
        let mut tcp = Vec::with_capacity(20 + part.bytes.len());
        let (from, to) = self.ends(part.dir);
        tcp.extend_from_slice(&from.1.to_be_bytes());
        tcp.extend_from_slice(&to.1.to_be_bytes());
        tcp.extend_from_slice(&part.seq.to_be_bytes());
        tcp.extend_from_slice(&ack.to_be_bytes());
        tcp.extend_from_slice(&[0x50, part.flags, 0xFF, 0xFF, 0, 0, 0, 0]);
        tcp.extend_from_slice(&part.bytes);
        ip(flow, part.time, from.0, to.0, 6, &tcp)
    }

    fn datagram(&self, flow: usize, say: &Say) -> Shot {
        let (from, to) = self.ends(say.dir);
        let mut udp = Vec::with_capacity(8 + say.bytes.len());
        udp.extend_from_slice(&from.1.to_be_bytes());
        udp.extend_from_slice(&to.1.to_be_bytes());
        udp.extend_from_slice(&(8 + say.bytes.len() as u16).to_be_bytes());
        udp.extend_from_slice(&[0, 0]);
        udp.extend_from_slice(&say.bytes);
        ip(flow, say.time, from.0, to.0, 17, &udp)
    }

    fn ends(&self, dir: Dir) -> ((Ipv4Addr, u16), (Ipv4Addr, u16)) {
        match dir {
            Dir::ToServer => (self.client, self.server),
            Dir::ToClient => (self.server, self.client),
        }
    }
}

impl Part {
    /// The sequence number behind it.
    fn end(&self) -> u32 {
        let flag = u32::from(self.flags & (SYN | FIN) != 0);
        self.seq.wrapping_add(self.bytes.len() as u32).wrapping_add(flag)
    }
}

fn part(time: i64, dir: Dir, seq: u32, bytes: Vec<u8>, flags: u8) -> Part {
    Part { time, dir, seq, bytes, flags }
}

fn bare(time: i64, dir: Dir, seq: u32) -> Part {
    part(time, dir, seq, Vec::new(), ACK)
}

fn furthest(a: Option<u32>, b: u32) -> Option<u32> {
    Some(a.map_or(b, |a| if b.wrapping_sub(a).cast_signed() > 0 { b } else { a }))
}

/// An Ethernet frame.
pub fn ip(flow: usize, time: i64, from: Ipv4Addr, to: Ipv4Addr, protocol: u8, payload: &[u8]) -> Shot {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    bytes.extend_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    bytes.extend_from_slice(&[0, 0, 0x40, 0, 64, protocol, 0, 0]);
    bytes.extend_from_slice(&from.octets());
    bytes.extend_from_slice(&to.octets());
    bytes.extend_from_slice(payload);
    Shot { time, link: LinkType::Ethernet, wire_len: bytes.len() as u32, flow, bytes }
}

/// The frames of many conversations in order of time.
pub fn interleave(scripts: &[Script]) -> Vec<Shot> {
    let mut shots: Vec<Shot> =
        scripts.iter().enumerate().flat_map(|(flow, script)| script.frames(flow)).collect();
    shots.sort_by_key(|shot| shot.time);
    shots
}
