//! From the tree to operations.

use super::assemble::{Assembler, Label};
use super::code::*;
use super::tree::{Family4, How, Layer, Node, Side, Size, Test, Value, ethertype, protocol};
use super::{Cause, FilterError, Instruction, PASS, ancillary};

/// What the prologue keeps in scratch memory, each in a word of its own.
mod at {
    /// The Ethernet type behind all tags.
    pub(super) const TYPE: u32 = 0;
    /// Where the network header starts.
    pub(super) const NETWORK: u32 = 1;
    /// The protocol that the IP header names, or NO_PROTOCOL.
    pub(super) const PROTOCOL: u32 = 2;
    /// Where the transport header starts; 0 when there is none.
    pub(super) const TRANSPORT: u32 = 3;
    /// The ports, or NO_PORT.
    pub(super) const SOURCE_PORT: u32 = 4;
    pub(super) const DESTINATION_PORT: u32 = 5;
    /// 1 for a part of a datagram that has no ports.
    pub(super) const PART: u32 = 6;
    /// The numbers of the tags, or NO_TAG: the one that the kernel took out, the first and second in the
    /// bytes.
    pub(super) const TAGS: [u32; 3] = [7, 8, 9];
    /// From here on: intermediate results of arithmetic.
    pub(super) const FREE: u32 = 10;
    pub(super) const END: u32 = 16;
}

/// Values that no header can have, so that a test of what is not there is false without a jump.
const NO_PROTOCOL: u32 = 0x100;
const NO_PORT: u32 = 0x1_0000;
const NO_TAG: u32 = 0x1_0000;

const ETHERNET_HEADER: u32 = 14;

/// What the prologue has to find.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    tags: bool,
    network: bool,
    protocol: bool,
    transport: bool,
    ports: bool,
}

impl Needs {
    fn of(&mut self, node: &Node) {
        match node {
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| self.of(node)),
            Node::Not(node) => self.of(node),
            Node::Test(Test::Compare { left, right, .. }) => {
                self.value(left);
                self.value(right);
            }
            Node::Test(test) => {
                self.tags |= matches!(test, Test::Vlan(_));
                self.network |= matches!(test, Test::Type(_) | Test::V4 { .. } | Test::V6 { .. });
                self.protocol |= matches!(test, Test::Protocol(_));
                self.transport |= matches!(test, Test::PartWithoutPorts);
                self.ports |= matches!(test, Test::Port { .. });
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Number(_) | Value::Length => {}
            Value::Bytes { of, at, .. } => {
                match of {
                    Layer::Ethernet => {}
                    Layer::Ip | Layer::Ip6 | Layer::Arp | Layer::Rarp => self.network = true,
                    Layer::Transport(_) | Layer::Icmp | Layer::Icmp6 => self.transport = true,
                }
                self.value(at);
            }
            Value::Arithmetic { left, right, .. } => {
                self.value(left);
                self.value(right);
            }
        }
    }

    /// Each level needs those before it.
    fn complete(mut self) -> Self {
        self.transport |= self.ports;
        self.protocol |= self.transport;
        self.network |= self.protocol | self.tags;
        self
    }
}

/// The instructions of a filter.
pub(super) fn generate(node: &Node) -> Result<Vec<Instruction>, FilterError> {
    let mut needs = Needs::default();
    needs.of(node);
    let mut out = Generator { asm: Assembler::default() };
    out.prologue(needs.complete());
    let (pass, refuse) = (out.asm.label(), out.asm.label());
    out.node(node, pass, refuse)?;
    out.asm.place(pass);
    out.asm.plain(RET, PASS);
    out.asm.place(refuse);
    out.asm.plain(RET, 0);
    out.asm.finish()
}

struct Generator {
    asm: Assembler,
}

impl Generator {
    /// Finds what the tests need. Leaves A and X undefined.
    fn prologue(&mut self, needs: Needs) {
        if !needs.network {
            return;
        }
        self.link(needs.tags);
        self.tags(needs.tags);
        if needs.protocol {
            self.ip(needs);
        }
    }

    /// Type and start of what is behind the link header.
    fn link(&mut self, keep_tags: bool) {
        let [ethernet, bare, done] = self.labels();
        if keep_tags {
            let [tagged, untagged] = self.labels();
            self.store(NO_TAG, &at::TAGS);
            self.asm.plain(LD_ABS_W, ancillary(libc::SKF_AD_VLAN_TAG_PRESENT));
            self.asm.branch(JEQ, 0, untagged, tagged);
            self.asm.place(tagged);
            self.asm.plain(LD_ABS_W, ancillary(libc::SKF_AD_VLAN_TAG));
            self.asm.plain(AND, 0x0fff);
            self.asm.plain(ST, at::TAGS[0]);
            self.asm.place(untagged);
        }
        self.if_ethernet(ethernet, bare);
        self.asm.place(bare);
        self.store(0, &[at::NETWORK]);
        self.asm.plain(LD_ABS_W, ancillary(libc::SKF_AD_PROTOCOL));
        self.asm.plain(ST, at::TYPE);
        self.asm.jump(done);
        self.asm.place(ethernet);
        self.store(ETHERNET_HEADER, &[at::NETWORK]);
        self.asm.plain(LD_ABS_H, 12);
        self.asm.plain(ST, at::TYPE);
        self.asm.place(done);
    }

    /// Steps over up to two tags in the bytes. A holds the type, before and after.
    fn tags(&mut self, keep: bool) {
        let [done] = self.labels();
        for slot in &at::TAGS[1..] {
            let [service, old, tag] = self.labels();
            self.asm.branch(JEQ, ethertype::VLAN.into(), tag, service);
            self.asm.place(service);
            self.asm.branch(JEQ, ethertype::SERVICE_VLAN.into(), tag, old);
            self.asm.place(old);
            self.asm.branch(JEQ, ethertype::OLD_SERVICE_VLAN.into(), tag, done);
            self.asm.place(tag);
            self.asm.plain(LDX_MEM, at::NETWORK);
            if keep {
                self.asm.plain(LD_IND_H, 0);
                self.asm.plain(AND, 0x0fff);
                self.asm.plain(ST, *slot);
            }
            self.asm.plain(TXA, 0);
            self.asm.plain(ADD, 4);
            self.asm.plain(ST, at::NETWORK);
            self.asm.plain(LD_IND_H, 2);
            self.asm.plain(ST, at::TYPE);
        }
        self.asm.place(done);
    }

    /// Protocol, start of the transport header, ports.
    fn ip(&mut self, needs: Needs) {
        let [v4, not_v4, v6, ports, done] = self.labels();
        self.store(NO_PROTOCOL, &[at::PROTOCOL]);
        if needs.transport {
            self.store(0, &[at::TRANSPORT, at::PART]);
        }
        if needs.ports {
            self.store(NO_PORT, &[at::SOURCE_PORT, at::DESTINATION_PORT]);
        }
        self.asm.plain(LDX_MEM, at::NETWORK);
        self.asm.plain(LD_MEM, at::TYPE);
        self.asm.branch(JEQ, ethertype::IPV4.into(), v4, not_v4);
        self.asm.place(not_v4);
        self.asm.branch(JEQ, ethertype::IPV6.into(), v6, done);

        self.asm.place(v4);
        self.asm.plain(LD_IND_B, 9);
        self.asm.plain(ST, at::PROTOCOL);
        if needs.transport {
            let [part, first] = self.labels();
            self.asm.plain(LD_IND_H, 6);
            self.asm.branch(JSET, 0x1fff, part, first);
            self.asm.place(part);
            self.store(1, &[at::PART]);
            self.asm.jump(done);
            self.asm.place(first);
            self.asm.plain(LD_IND_B, 0);
            self.asm.plain(AND, 0x0f);
            self.asm.plain(LSH, 2);
            self.asm.plain(ADD | WITH_X, 0);
            self.asm.plain(ST, at::TRANSPORT);
        }
        self.asm.jump(ports);

        self.asm.place(v6);
        let [part, whole] = self.labels();
        self.asm.plain(LD_IND_B, 6);
        self.asm.plain(ST, at::PROTOCOL);
        self.asm.branch(JEQ, protocol::FRAGMENT.into(), part, whole);
        self.asm.place(part);
        self.asm.plain(LD_IND_B, 40);
        self.asm.plain(ST, at::PROTOCOL);
        if needs.transport {
            self.store(1, &[at::PART]);
        }
        self.asm.jump(done);
        self.asm.place(whole);
        if needs.transport {
            self.asm.plain(TXA, 0);
            self.asm.plain(ADD, 40);
            self.asm.plain(ST, at::TRANSPORT);
        }

        self.asm.place(ports);
        if needs.ports {
            let [not_tcp, not_udp, there] = self.labels();
            self.asm.plain(LDX_MEM, at::TRANSPORT);
            self.asm.plain(LD_MEM, at::PROTOCOL);
            self.asm.branch(JEQ, protocol::TCP.into(), there, not_tcp);
            self.asm.place(not_tcp);
            self.asm.branch(JEQ, protocol::UDP.into(), there, not_udp);
            self.asm.place(not_udp);
            self.asm.branch(JEQ, protocol::SCTP.into(), there, done);
            self.asm.place(there);
            self.asm.plain(LD_IND_H, 0);
            self.asm.plain(ST, at::SOURCE_PORT);
            self.asm.plain(LD_IND_H, 2);
            self.asm.plain(ST, at::DESTINATION_PORT);
        }
        self.asm.place(done);
    }

    /// Goes to `yes` when the node is true, else to `no`. Both are placed behind it.
    fn node(&mut self, node: &Node, yes: Label, no: Label) -> Result<(), FilterError> {
        match node {
            Node::Not(node) => self.node(node, no, yes),
            Node::All(nodes) => {
                for node in nodes {
                    let [next] = self.labels();
                    self.node(node, next, no)?;
                    self.asm.place(next);
                }
                self.asm.jump(yes);
                Ok(())
            }
            Node::Any(nodes) => {
                for node in nodes {
                    let [next] = self.labels();
                    self.node(node, yes, next)?;
                    self.asm.place(next);
                }
                self.asm.jump(no);
                Ok(())
            }
            Node::Test(test) => self.test(test, yes, no),
        }
    }

    fn test(&mut self, test: &Test, yes: Label, no: Label) -> Result<(), FilterError> {
        match *test {
            Test::Type(number) => self.equals(at::TYPE, number.into(), yes, no),
            Test::Protocol(number) => self.equals(at::PROTOCOL, number.into(), yes, no),
            Test::PartWithoutPorts => self.equals(at::PART, 1, yes, no),
            Test::V4 { family, side, net, mask } => {
                let (number, places) = match family {
                    Family4::Ip => (ethertype::IPV4, [12, 16]),
                    Family4::Arp => (ethertype::ARP, [14, 24]),
                    Family4::Rarp => (ethertype::RARP, [14, 24]),
                };
                self.guard(at::TYPE, number.into(), no);
                self.asm.plain(LDX_MEM, at::NETWORK);
                self.sides(side, places, yes, no, |out, place, yes, no| {
                    out.masked(place, net, mask, yes, no);
                });
            }
            Test::V6 { side, net, mask } => {
                self.guard(at::TYPE, ethertype::IPV6.into(), no);
                self.asm.plain(LDX_MEM, at::NETWORK);
                self.sides(side, [8, 24], yes, no, |out, place, yes, no| {
                    for (word, (net, mask)) in net.into_iter().zip(mask).enumerate() {
                        let [next] = out.labels();
                        out.masked(place + 4 * word as u32, net, mask, next, no);
                        out.asm.place(next);
                    }
                    out.asm.jump(yes);
                });
            }
            Test::Port { side, low, high } => {
                let places = [at::SOURCE_PORT, at::DESTINATION_PORT];
                self.sides(side, places, yes, no, |out, place, yes, no| {
                    if low == high {
                        out.equals(place, low.into(), yes, no);
                    } else {
                        let [above] = out.labels();
                        out.asm.plain(LD_MEM, place);
                        out.asm.branch(JGE, low.into(), above, no);
                        out.asm.place(above);
                        out.asm.branch(JGT, high.into(), no, yes);
                    }
                });
            }
            Test::Mac { side, mac: [a, b, c, d, e, f] } => {
                self.guard_ethernet(no);
                self.sides(side, [6, 0], yes, no, |out, place, yes, no| {
                    let [next] = out.labels();
                    out.asm.plain(LD_ABS_W, place);
                    out.asm.branch(JEQ, u32::from_be_bytes([a, b, c, d]), next, no);
                    out.asm.place(next);
                    out.asm.plain(LD_ABS_H, place + 4);
                    out.asm.branch(JEQ, u16::from_be_bytes([e, f]).into(), yes, no);
                });
            }
            Test::MacGroup => {
                self.guard_ethernet(no);
                self.asm.plain(LD_ABS_B, 0);
                self.asm.branch(JSET, 1, yes, no);
            }
            Test::Vlan(number) => {
                for slot in at::TAGS {
                    let [next] = self.labels();
                    match number {
                        Some(number) => self.equals(slot, number.into(), yes, next),
                        None => self.equals(slot, NO_TAG, next, yes),
                    }
                    self.asm.place(next);
                }
                self.asm.jump(no);
            }
            Test::Compare { ref left, how, ref right } => self.compare(left, how, right, yes, no)?,
        }
        Ok(())
    }

    /// One or both of two places.
    fn sides(
        &mut self,
        side: Side,
        [source, destination]: [u32; 2],
        yes: Label,
        no: Label,
        mut one: impl FnMut(&mut Self, u32, Label, Label),
    ) {
        let [next] = self.labels();
        match side {
            Side::Source => one(self, source, yes, no),
            Side::Destination => one(self, destination, yes, no),
            Side::Either => one(self, source, yes, next),
            Side::Both => one(self, source, next, no),
        }
        self.asm.place(next);
        if matches!(side, Side::Either | Side::Both) {
            one(self, destination, yes, no);
        }
    }

    /// Compares the bits of a word at X.
    fn masked(&mut self, place: u32, net: u32, mask: u32, yes: Label, no: Label) {
        if mask == 0 {
            return self.asm.jump(yes);
        }
        self.asm.plain(LD_IND_W, place);
        if mask != u32::MAX {
            self.asm.plain(AND, mask);
        }
        self.asm.branch(JEQ, net, yes, no);
    }

    fn compare(
        &mut self,
        left: &Value,
        how: How,
        right: &Value,
        yes: Label,
        no: Label,
    ) -> Result<(), FilterError> {
        // What the bytes are of must be there, or the answer is no.
        self.guard_value(left, no);
        self.guard_value(right, no);
        let (code, yes, no) = match how {
            How::Equal => (JEQ, yes, no),
            How::Unequal => (JEQ, no, yes),
            How::Greater => (JGT, yes, no),
            How::LessOrEqual => (JGT, no, yes),
            How::GreaterOrEqual => (JGE, yes, no),
            How::Less => (JGE, no, yes),
        };
        if let Value::Number(number) = right {
            self.value(left, at::FREE)?;
            self.asm.branch(code, *number, yes, no);
        } else {
            self.two(left, right, at::FREE)?;
            self.asm.branch(code | WITH_X, 0, yes, no);
        }
        Ok(())
    }

    /// `left` to A and `right` to X.
    fn two(&mut self, left: &Value, right: &Value, free: u32) -> Result<(), FilterError> {
        if free >= at::END {
            return Err(FilterError { column: 1, cause: Cause::TooDeep });
        }
        self.value(right, free)?;
        self.asm.plain(ST, free);
        self.value(left, free + 1)?;
        self.asm.plain(LDX_MEM, free);
        Ok(())
    }

    /// A value to A; scratch memory from `free` on may be used.
    fn value(&mut self, value: &Value, free: u32) -> Result<(), FilterError> {
        match value {
            Value::Number(number) => self.asm.plain(LD_IMM, *number),
            Value::Length => self.asm.plain(LD_LEN, 0),
            Value::Arithmetic { code, left, right } => match **right {
                Value::Number(number) => {
                    self.value(left, free)?;
                    self.asm.plain(*code, number);
                }
                _ => {
                    self.two(left, right, free)?;
                    self.asm.plain(*code | WITH_X, 0);
                }
            },
            Value::Bytes { of, at, size } => {
                let start = match of {
                    Layer::Ethernet => None,
                    Layer::Ip | Layer::Ip6 | Layer::Arp | Layer::Rarp => Some(at::NETWORK),
                    Layer::Transport(_) | Layer::Icmp | Layer::Icmp6 => Some(at::TRANSPORT),
                };
                let (absolute, indirect) = match size {
                    Size::One => (LD_ABS_B, LD_IND_B),
                    Size::Two => (LD_ABS_H, LD_IND_H),
                    Size::Four => (LD_ABS_W, LD_IND_W),
                };
                match (&**at, start) {
                    (Value::Number(at), None) => self.asm.plain(absolute, *at),
                    (Value::Number(at), Some(start)) => {
                        self.asm.plain(LDX_MEM, start);
                        self.asm.plain(indirect, *at);
                    }
                    (at, start) => {
                        self.value(at, free)?;
                        if let Some(start) = start {
                            self.asm.plain(LDX_MEM, start);
                            self.asm.plain(ADD | WITH_X, 0);
                        }
                        self.asm.plain(TAX, 0);
                        self.asm.plain(indirect, 0);
                    }
                }
            }
        }
        Ok(())
    }

    fn guard_value(&mut self, value: &Value, no: Label) {
        match value {
            Value::Number(_) | Value::Length => {}
            Value::Arithmetic { left, right, .. } => {
                self.guard_value(left, no);
                self.guard_value(right, no);
            }
            Value::Bytes { of, at, .. } => {
                match of {
                    Layer::Ethernet => self.guard_ethernet(no),
                    Layer::Ip => self.guard(at::TYPE, ethertype::IPV4.into(), no),
                    Layer::Ip6 => self.guard(at::TYPE, ethertype::IPV6.into(), no),
                    Layer::Arp => self.guard(at::TYPE, ethertype::ARP.into(), no),
                    Layer::Rarp => self.guard(at::TYPE, ethertype::RARP.into(), no),
                    Layer::Transport(number) => self.guard_transport(*number, no),
                    Layer::Icmp => {
                        self.guard(at::TYPE, ethertype::IPV4.into(), no);
                        self.guard_transport(protocol::ICMP, no);
                    }
                    Layer::Icmp6 => {
                        self.guard(at::TYPE, ethertype::IPV6.into(), no);
                        self.guard_transport(protocol::ICMPV6, no);
                    }
                }
                self.guard_value(at, no);
            }
        }
    }

    fn guard_transport(&mut self, number: u8, no: Label) {
        self.guard(at::PROTOCOL, number.into(), no);
        let [there] = self.labels();
        self.equals(at::TRANSPORT, 0, no, there);
        self.asm.place(there);
    }

    fn guard_ethernet(&mut self, no: Label) {
        let [there] = self.labels();
        self.if_ethernet(there, no);
        self.asm.place(there);
    }

    /// Whether the frame starts with an Ethernet header, by the hardware type of its interface.
    fn if_ethernet(&mut self, yes: Label, no: Label) {
        let [other] = self.labels();
        self.asm.plain(LD_ABS_W, ancillary(libc::SKF_AD_HATYPE));
        self.asm.branch(JEQ, libc::ARPHRD_ETHER.into(), yes, other);
        self.asm.place(other);
        self.asm.branch(JEQ, libc::ARPHRD_LOOPBACK.into(), yes, no);
    }

    /// Goes on when a kept value is `number`, else to `no`.
    fn guard(&mut self, kept: u32, number: u32, no: Label) {
        let [there] = self.labels();
        self.equals(kept, number, there, no);
        self.asm.place(there);
    }

    fn equals(&mut self, kept: u32, number: u32, yes: Label, no: Label) {
        self.asm.plain(LD_MEM, kept);
        self.asm.branch(JEQ, number, yes, no);
    }

    fn store(&mut self, number: u32, places: &[u32]) {
        self.asm.plain(LD_IMM, number);
        for &place in places {
            self.asm.plain(ST, place);
        }
    }

    fn labels<const N: usize>(&mut self) -> [Label; N] {
        std::array::from_fn(|_| self.asm.label())
    }
}
