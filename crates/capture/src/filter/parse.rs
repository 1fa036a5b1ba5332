//! From words to the tree.
//!
//! As in pcap-filter(7), `and` and `or` bind alike and from the left, and a value without words before it
//! takes those of the value before: `tcp port 80 or 443`.

use super::lex::{Placed, Token, lex};
use super::names::{NUMBERS, PORTS, PROTOCOLS, lookup};
use super::run::calculate;
use super::tree::{Family4, How, Layer, Node, Side, Size, Test, Value, ethertype, protocol};
use super::{Cause, FilterError, MAX_DEPTH, code, rules};

const PRIMITIVE: &str = "host, net, port, portrange, src, dst, tcp, udp, sctp, icmp, icmp6, igmp, ip, ip6, arp, \
                         rarp, ether, vlan, proto, less, greater, broadcast, multicast, an address, a header's \
                         bytes as in tcp[13], not or (";

/// What stands before a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Qualifier {
    family: Option<Word>,
    side: Side,
    kind: Kind,
}

/// A word that names a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Ether,
    Ip,
    Ip6,
    Arp,
    Rarp,
    Transport(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Host,
    Net,
    Port,
    PortRange,
    Proto,
}

pub(super) fn parse(text: &str) -> Result<Node, FilterError> {
    let end = text.chars().count() + 1;
    let mut parser = Parser { tokens: lex(text)?, at: 0, end, depth: 0, last: None };
    if parser.tokens.is_empty() {
        return Ok(Node::All(Vec::new()));
    }
    let node = parser.expression()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.unexpected("and, or, or the end")),
    }
}

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    /// The column behind the text.
    end: usize,
    depth: usize,
    last: Option<Qualifier>,
}

type Parsed<T> = Result<T, FilterError>;

impl Parser {
    fn expression(&mut self) -> Parsed<Node> {
        let mut node = self.term()?;
        let mut changes = 0;
        loop {
            let and = if self.eat("and") || self.eat("&&") {
                true
            } else if self.eat("or") || self.eat("||") {
                false
            } else {
                self.depth -= changes;
                return Ok(node);
            };
            let next = self.term()?;
            match (&mut node, and) {
                (Node::All(nodes), true) | (Node::Any(nodes), false) => nodes.push(next),
                _ => {
                    self.deeper()?;
                    changes += 1;
                    let both = vec![node, next];
                    node = if and { Node::All(both) } else { Node::Any(both) };
                }
            }
        }
    }

    fn term(&mut self) -> Parsed<Node> {
        if self.eat("not") || self.eat("!") {
            self.deeper()?;
            let node = Node::Not(Box::new(self.term()?));
            self.depth -= 1;
            return Ok(node);
        }
        let start = self.at;
        // A parenthesis may open a comparison or a group; which one is seen behind it only.
        let mut wrong = None;
        if self.starts_value() {
            match self.comparison() {
                Ok(node) => return Ok(node),
                Err(error) if !self.is_at(start, "(") => return Err(error),
                Err(error) => wrong = Some(error),
            }
            self.at = start;
        }
        if self.eat("(") {
            self.deeper()?;
            let node = self.group().map_err(|error| match wrong {
                Some(wrong) if wrong.column > error.column => wrong,
                _ => error,
            })?;
            self.depth -= 1;
            return Ok(node);
        }
        self.primitive()
    }

    fn group(&mut self) -> Parsed<Node> {
        let node = self.expression()?;
        self.expect(")")?;
        // Kept as a list of its own, so that what follows does not join it.
        Ok(match node {
            list @ (Node::All(_) | Node::Any(_)) => Node::All(vec![list]),
            other => other,
        })
    }

    // Primitives.

    fn primitive(&mut self) -> Parsed<Node> {
        let Some(word) = self.word() else { return Err(self.unexpected(PRIMITIVE)) };
        match word.as_str() {
            "less" | "greater" => {
                self.at += 1;
                let how = if word == "less" { How::LessOrEqual } else { How::GreaterOrEqual };
                let right = Value::Number(self.number(u32::MAX)?);
                return Ok(Test::Compare { left: Value::Length, how, right }.into());
            }
            "vlan" => {
                self.at += 1;
                let number =
                    if self.peek_number().is_some() { Some(self.number(4_095)? as u16) } else { None };
                return Ok(Test::Vlan(number).into());
            }
            "broadcast" => {
                self.at += 1;
                return Ok(broadcast());
            }
            "multicast" => {
                self.at += 1;
                return Ok(Test::MacGroup.into());
            }
            "icmp" => {
                self.at += 1;
                return Ok(ip_protocol(Some(Word::Ip), protocol::ICMP));
            }
            "icmp6" => {
                self.at += 1;
                return Ok(ip_protocol(Some(Word::Ip6), protocol::ICMPV6));
            }
            _ => {}
        }
        let start = self.at;
        let family = self.family();
        if let Some(family @ (Word::Ether | Word::Ip | Word::Ip6)) = family {
            if self.eat("multicast") {
                return Ok(multicast(family));
            }
            if family == Word::Ether && self.eat("broadcast") {
                return Ok(broadcast());
            }
        }
        let side = self.side()?;
        let kind = self.kind();
        if family.is_none() && side.is_none() && kind.is_none() {
            // A value alone: with the words of the one before, as a host or a network without any.
            let qualifier = match self.last {
                Some(last) => last,
                None if self.is_address() => {
                    let kind = if self.is_at(self.at + 1, "/") { Kind::Net } else { Kind::Host };
                    Qualifier { family, side: Side::Either, kind }
                }
                None => return Err(self.unexpected(PRIMITIVE)),
            };
            return self.value_of(qualifier, start);
        }
        if side.is_none()
            && kind.is_none()
            && let Some(family) = family.filter(|_| !self.is_address())
        {
            return Ok(alone(family));
        }
        let kind = kind.unwrap_or(if self.is_at(self.at + 1, "/") { Kind::Net } else { Kind::Host });
        self.value_of(Qualifier { family, side: side.unwrap_or(Side::Either), kind }, start)
    }

    fn family(&mut self) -> Option<Word> {
        let word = match self.word()?.as_str() {
            "ether" => Word::Ether,
            "ip" => Word::Ip,
            "ip6" => Word::Ip6,
            "arp" => Word::Arp,
            "rarp" => Word::Rarp,
            "tcp" => Word::Transport(protocol::TCP),
            "udp" => Word::Transport(protocol::UDP),
            "sctp" => Word::Transport(protocol::SCTP),
            "igmp" => Word::Transport(2),
            "esp" => Word::Transport(50),
            "ah" => Word::Transport(51),
            "pim" => Word::Transport(103),
            "vrrp" => Word::Transport(112),
            _ => return None,
        };
        self.at += 1;
        Some(word)
    }

    /// `src`, `dst`, `src or dst`, `src and dst`.
    fn side(&mut self) -> Parsed<Option<Side>> {
        let first = match self.word().as_deref() {
            Some("src") => Side::Source,
            Some("dst") => Side::Destination,
            _ => return Ok(None),
        };
        self.at += 1;
        let other = if first == Side::Source { "dst" } else { "src" };
        let both = match self.word().as_deref() {
            Some("and") => Side::Both,
            Some("or") => Side::Either,
            _ => return Ok(Some(first)),
        };
        if self.is_at(self.at + 1, other) {
            self.at += 2;
            return Ok(Some(both));
        }
        Ok(Some(first))
    }

    fn kind(&mut self) -> Option<Kind> {
        let kind = match self.word()?.as_str() {
            "host" => Kind::Host,
            "net" => Kind::Net,
            "port" => Kind::Port,
            "portrange" => Kind::PortRange,
            "proto" => Kind::Proto,
            _ => return None,
        };
        self.at += 1;
        Some(kind)
    }

    /// The value behind its words.
    fn value_of(&mut self, qualifier: Qualifier, start: usize) -> Parsed<Node> {
        self.last = Some(qualifier);
        let Qualifier { family, side, kind } = qualifier;
        match (kind, family) {
            (Kind::Host, Some(Word::Ether)) => Ok(Test::Mac { side, mac: self.mac()? }.into()),
            (Kind::Host | Kind::Net, Some(Word::Transport(_))) => {
                self.at = start;
                self.at += 1;
                Err(self.unexpected("port, portrange, src port, dst port, and, or, or the end"))
            }
            (Kind::Host | Kind::Net, family) => self.address(family, side, kind),
            (
                Kind::Port | Kind::PortRange,
                None | Some(Word::Ip | Word::Ip6 | Word::Transport(6 | 17 | 132)),
            ) => {
                let (low, high) = self.ports(kind)?;
                let port = Test::Port { side, low, high }.into();
                Ok(match family {
                    None => port,
                    Some(family) => Node::All(vec![alone(family), port]),
                })
            }
            (Kind::Proto, Some(Word::Ether)) => {
                let number = self.named(&super::names::TYPES, u16::MAX.into(), "an Ethernet type")?;
                Ok(Test::Type(number as u16).into())
            }
            (Kind::Proto, None | Some(Word::Ip | Word::Ip6)) => {
                let number = self.named(&PROTOCOLS, u8::MAX.into(), "a protocol's name or number")?;
                Ok(ip_protocol(family, number as u8))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("a kind that goes with the words before it"))
            }
        }
    }

    fn ports(&mut self, kind: Kind) -> Parsed<(u16, u16)> {
        if let (Kind::PortRange, Some(word)) = (kind, self.word())
            && let Some((low, high)) = word.split_once('-')
        {
            let port = |text| lookup(&PORTS, text).or_else(|| number(text)).map(u16::try_from);
            if let (Some(Ok(low)), Some(Ok(high))) = (port(low), port(high)) {
                self.at += 1;
                return Ok((low.min(high), low.max(high)));
            }
            return Err(self.unexpected("two ports as in 8000-8080"));
        }
        let port = self.named(&PORTS, u16::MAX.into(), "a port's number or name")? as u16;
        Ok((port, port))
    }

    fn mac(&mut self) -> Parsed<[u8; 6]> {
        let mac = self.word().and_then(|word| {
            let mut parts = word.split([':', '-', '.']);
            let mut mac = [0; 6];
            for byte in &mut mac {
                *byte = u8::from_str_radix(parts.next()?, 16).ok()?;
            }
            parts.next().is_none().then_some(mac)
        });
        let mac = mac.ok_or_else(|| self.unexpected("a hardware address as in 02:00:00:00:00:01"))?;
        self.at += 1;
        Ok(mac)
    }

    /// A host or network of either family.
    fn address(&mut self, family: Option<Word>, side: Side, kind: Kind) -> Parsed<Node> {
        const EXPECTED: &str = "an address as in 192.0.2.1, 2001:db8::1; for net with /24 or mask behind it";
        let (column, word) = (self.column(), self.word().ok_or_else(|| self.unexpected(EXPECTED))?);
        if let Ok(v6) = word.parse::<std::net::Ipv6Addr>() {
            if !matches!(family, None | Some(Word::Ip6)) {
                return Err(self.unexpected("an IPv4 address"));
            }
            self.at += 1;
            let bits = if kind == Kind::Net && self.eat("/") { self.number(128)? } else { 128 };
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            if v6.to_bits() & !mask != 0 {
                let network = format!("{}/{bits}", std::net::Ipv6Addr::from_bits(v6.to_bits() & mask));
                return Err(FilterError { column, cause: Cause::HostBits { network } });
            }
            return Ok(Test::V6 { side, net: rules::words(v6.to_bits()), mask: rules::words(mask) }.into());
        }
        let Some((net, bytes)) = v4(&word).filter(|&(_, bytes)| bytes == 4 || kind == Kind::Net) else {
            return Err(self.unexpected(EXPECTED));
        };
        if family == Some(Word::Ip6) {
            return Err(self.unexpected("an IPv6 address"));
        }
        self.at += 1;
        let mut mask = u32::MAX.checked_shl(32 - 8 * bytes).unwrap_or(0);
        if kind == Kind::Net && self.eat("/") {
            mask = u32::MAX.checked_shl(32 - self.number(32)?).unwrap_or(0);
        } else if kind == Kind::Net && self.eat("mask") {
            let word = self.word().and_then(|word| v4(&word)).filter(|&(_, bytes)| bytes == 4);
            mask = word.ok_or_else(|| self.unexpected("a mask as in 255.255.255.0"))?.0;
            self.at += 1;
        }
        if net & !mask != 0 {
            let network = std::net::Ipv4Addr::from_bits(net & mask).to_string();
            return Err(FilterError { column, cause: Cause::HostBits { network } });
        }
        let test = |family| Node::from(Test::V4 { family, side, net, mask });
        Ok(match family {
            Some(Word::Ip) => test(Family4::Ip),
            Some(Word::Arp) => test(Family4::Arp),
            Some(Word::Rarp) => test(Family4::Rarp),
            _ => Node::Any(vec![test(Family4::Ip), test(Family4::Arp), test(Family4::Rarp)]),
        })
    }

    fn is_address(&self) -> bool {
        self.word().is_some_and(|word| {
            word.starts_with(|c: char| c.is_ascii_digit()) || word.parse::<std::net::Ipv6Addr>().is_ok()
        })
    }

    // Comparisons.

    fn starts_value(&self) -> bool {
        match self.peek() {
            Some(Token::Sign("(" | "-")) => true,
            Some(Token::Word(word)) => {
                let operator = |sign: &&str| self.is_at(self.at + 1, sign);
                word == "len"
                    || self.is_at(self.at + 1, "[")
                    || (number(word).is_some() || lookup(&NUMBERS, word).is_some())
                        && [
                            "+", "-", "*", "&", "|", "^", "%", "<<", ">>", "=", "==", "!=", "<", ">", "<=",
                            ">=",
                        ]
                        .iter()
                        .any(operator)
            }
            _ => false,
        }
    }

    fn comparison(&mut self) -> Parsed<Node> {
        let depth = self.depth;
        let result = self.comparison_inner();
        self.depth = depth;
        result
    }

    fn comparison_inner(&mut self) -> Parsed<Node> {
        let left = self.arithmetic(0)?;
        let how = [
            ("=", How::Equal),
            ("==", How::Equal),
            ("!=", How::Unequal),
            ("<", How::Less),
            ("<=", How::LessOrEqual),
            (">", How::Greater),
            (">=", How::GreaterOrEqual),
        ];
        let Some((_, how)) = how.into_iter().find(|(sign, _)| self.eat(sign)) else {
            return Err(self.unexpected("an operator: = != < > <= >= + - * / % & | ^ << >>"));
        };
        let right = self.arithmetic(0)?;
        Ok(Test::Compare { left, how, right }.into())
    }

    /// Operators from the one that binds least: `|`, `^`, `&`, shifts, sums, products.
    fn arithmetic(&mut self, level: usize) -> Parsed<Value> {
        const LEVELS: [&[(&str, u16)]; 6] = [
            &[("|", code::OR)],
            &[("^", code::XOR)],
            &[("&", code::AND)],
            &[("<<", code::LSH), (">>", code::RSH)],
            &[("+", code::ADD), ("-", code::SUB)],
            &[("*", code::MUL), ("/", code::DIV), ("%", code::MOD)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        let mut left = self.arithmetic(level + 1)?;
        loop {
            let column = self.column();
            let Some((_, operation)) = operators.iter().find(|(sign, _)| self.eat(sign)) else {
                return Ok(left);
            };
            self.deeper()?;
            let right = self.arithmetic(level + 1)?;
            let shift = matches!(*operation, code::LSH | code::RSH);
            let no_result = FilterError { column, cause: Cause::Arithmetic };
            left = match (&left, &right) {
                (_, Value::Number(32..)) if shift => return Err(no_result),
                (Value::Number(left), Value::Number(right)) => {
                    Value::Number(calculate(*operation, *left, *right).ok_or(no_result)?)
                }
                (_, Value::Number(0)) if matches!(*operation, code::DIV | code::MOD) => {
                    return Err(no_result);
                }
                _ => Value::Arithmetic { code: *operation, left: Box::new(left), right: Box::new(right) },
            };
        }
    }

    fn operand(&mut self) -> Parsed<Value> {
        const EXPECTED: &str = "a number, len, or bytes as in tcp[13], ip[2:2]";
        self.deeper()?;
        if self.eat("(") {
            let value = self.arithmetic(0)?;
            self.expect(")")?;
            return Ok(value);
        }
        if self.eat("-") {
            let right = Box::new(self.operand()?);
            return Ok(match *right {
                Value::Number(number) => Value::Number(number.wrapping_neg()),
                _ => Value::Arithmetic { code: code::SUB, left: Box::new(Value::Number(0)), right },
            });
        }
        let Some(word) = self.word() else { return Err(self.unexpected(EXPECTED)) };
        if !self.is_at(self.at + 1, "[") {
            let value = match word.as_str() {
                "len" => Value::Length,
                name => match lookup(&NUMBERS, name) {
                    Some(number) => Value::Number(number),
                    None if number(name).is_some() => return Ok(Value::Number(self.number(u32::MAX)?)),
                    None => return Err(self.unexpected(EXPECTED)),
                },
            };
            self.at += 1;
            return Ok(value);
        }
        let of = match word.as_str() {
            "ether" => Layer::Ethernet,
            "ip" => Layer::Ip,
            "ip6" => Layer::Ip6,
            "arp" => Layer::Arp,
            "rarp" => Layer::Rarp,
            "tcp" => Layer::Transport(protocol::TCP),
            "udp" => Layer::Transport(protocol::UDP),
            "sctp" => Layer::Transport(protocol::SCTP),
            "icmp" => Layer::Icmp,
            "icmp6" => Layer::Icmp6,
            _ => {
                return Err(
                    self.unexpected("ether, ip, ip6, arp, rarp, tcp, udp, sctp, icmp or icmp6 before [")
                );
            }
        };
        self.at += 2;
        let at = Box::new(self.arithmetic(0)?);
        let mut size = Size::One;
        if self.eat(":") {
            size = match self.word().as_deref() {
                Some("1") => Size::One,
                Some("2") => Size::Two,
                Some("4") => Size::Four,
                _ => return Err(self.unexpected("1, 2 or 4")),
            };
            self.at += 1;
        }
        self.expect("]")?;
        Ok(Value::Bytes { of, at, size })
    }

    // Tokens.

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn word(&self) -> Option<String> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word.clone()),
            _ => None,
        }
    }

    fn is_at(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|placed| match &placed.token {
            Token::Word(word) => word == text,
            Token::Sign(sign) => *sign == text,
        })
    }

    fn eat(&mut self, text: &str) -> bool {
        let there = self.is_at(self.at, text);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(sign)) }
    }

    fn column(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |placed| placed.column)
    }

    fn peek_number(&self) -> Option<u32> {
        self.word().and_then(|word| number(&word))
    }

    fn number(&mut self, most: u32) -> Parsed<u32> {
        let word = self.word().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let word = word.ok_or_else(|| self.unexpected("a number"))?;
        match number(&word) {
            Some(number) if number <= most => {
                self.at += 1;
                Ok(number)
            }
            None if !word.bytes().all(|byte| byte.is_ascii_digit()) => Err(self.unexpected("a number")),
            _ => Err(FilterError { column: self.column(), cause: Cause::TooLarge { found: word, most } }),
        }
    }

    fn named(&mut self, names: &[(&str, u32)], most: u32, expected: &'static str) -> Parsed<u32> {
        match self.word() {
            Some(word) if word.starts_with(|c: char| c.is_ascii_digit()) => self.number(most),
            Some(word) => match lookup(names, &word) {
                Some(number) => {
                    self.at += 1;
                    Ok(number)
                }
                None => Err(self.unexpected(expected)),
            },
            None => Err(self.unexpected(expected)),
        }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FilterError { column: self.column(), cause: Cause::TooDeep });
        }
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> FilterError {
        let found = match self.peek() {
            Some(Token::Word(word)) => format!("{word:?}"),
            Some(Token::Sign(sign)) => format!("{sign:?}"),
            None => "the end".to_owned(),
        };
        FilterError { column: self.column(), cause: Cause::Unexpected { found, expected } }
    }
}

/// Decimal, hexadecimal with `0x`, octal with `0`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// One to four bytes of an IPv4 address, and how many.
fn v4(text: &str) -> Option<(u32, u32)> {
    let (mut net, mut bytes) = (0u32, 0);
    for part in text.split('.') {
        if bytes == 4 {
            return None;
        }
        net |= u32::from(part.parse::<u8>().ok()?) << (24 - 8 * bytes);
        bytes += 1;
    }
    Some((net, bytes))
}

/// A protocol's word without a value.
fn alone(family: Word) -> Node {
    match family {
        // Every frame with an Ethernet header; the bytes are always there.
        Word::Ether => Node::All(Vec::new()),
        Word::Ip => Test::Type(ethertype::IPV4).into(),
        Word::Ip6 => Test::Type(ethertype::IPV6).into(),
        Word::Arp => Test::Type(ethertype::ARP).into(),
        Word::Rarp => Test::Type(ethertype::RARP).into(),
        Word::Transport(number) => Test::Protocol(number).into(),
    }
}

fn ip_protocol(family: Option<Word>, number: u8) -> Node {
    let test = Test::Protocol(number).into();
    match family {
        None => test,
        Some(family) => Node::All(vec![alone(family), test]),
    }
}

fn broadcast() -> Node {
    Test::Mac { side: Side::Destination, mac: [0xff; 6] }.into()
}

fn multicast(family: Word) -> Node {
    let side = Side::Destination;
    match family {
        Word::Ip => Test::V4 { family: Family4::Ip, side, net: 0xe000_0000, mask: 0xf000_0000 }.into(),
        Word::Ip6 => Test::V6 { side, net: [0xff00_0000, 0, 0, 0], mask: [0xff00_0000, 0, 0, 0] }.into(),
        _ => Test::MacGroup.into(),
    }
}
