//! Conversations in which every request and every response carries its number: the request in a name, the
//! response in its size, or in the text of its error.

use crate::frames::{Say, Script};
use crate::play::Line;
use crate::random::Random;
use model::{Dir, Transport};
use std::net::Ipv4Addr;

/// The protocols that can number both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Http,
    Redis,
    Postgresql,
    Mysql,
    Kafka,
    Mongodb,
    Http2,
    Dns,
}

/// How a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The next request after the last answer.
    OneAtATime,
    /// So many requests at once, the next ones after all answers.
    Batches(u64),
    /// Requests whenever there is one.
    Continuous,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Self::Http,
        Self::Redis,
        Self::Postgresql,
        Self::Mysql,
        Self::Kafka,
        Self::Mongodb,
        Self::Http2,
        Self::Dns,
    ];

    /// How its clients may send.
    pub const fn paces(self) -> &'static [Pace] {
        match self {
            Self::Mysql => &[Pace::OneAtATime],
            _ => &[Pace::OneAtATime, Pace::Batches(16), Pace::Continuous],
        }
    }

    pub const fn port(self) -> u16 {
        match self {
            Self::Http => 8080,
            Self::Redis => 6379,
            Self::Postgresql => 5432,
            Self::Mysql => 3306,
            Self::Kafka => 9092,
            Self::Mongodb => 27017,
            Self::Http2 => 50051,
            Self::Dns => 53,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Redis => "redis",
            Self::Postgresql => "postgresql",
            Self::Mysql => "mysql",
            Self::Kafka => "kafka",
            Self::Mongodb => "mongodb",
            Self::Http2 => "http2",
            Self::Dns => "dns",
        }
    }

    /// Whether answers may overtake each other.
    const fn is_by_number(self) -> bool {
        matches!(self, Self::Mongodb | Self::Http2 | Self::Dns)
    }

    /// Whether the answer to a number is an error that names it.
    const fn fails(self, n: u64) -> bool {
        n.is_multiple_of(3) && !matches!(self, Self::Kafka | Self::Http2 | Self::Dns)
    }

    /// What both sides say before the first request.
    fn prologue(self) -> Vec<(Dir, Vec<u8>)> {
        let (client, server) = (Dir::ToServer, Dir::ToClient);
        match self {
            Self::Postgresql => {
                let mut startup = b"\0\x03\0\0user\0me\0database\0shop\0\0".to_vec();
                startup.splice(0..0, (startup.len() as u32 + 4).to_be_bytes());
                vec![(client, startup), (server, b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I".to_vec())]
            }
            Self::Mysql => {
                let mut greeting = b"\x0a8.0.36\0\x01\0\0\012345678\0\xff\xf7\x21\x02\0\xff\x81\x15".to_vec();
                greeting.extend(b"\0\0\0\0\0\0\0\0\0\0123456789012\0mysql_native_password\0");
                let mut login = b"\x85\xa6\x0f\0\0\0\0\x01\x21".to_vec();
                login.extend([0; 23]);
                login.extend(b"me\0\0mysql_native_password\0");
                let ok = b"\0\0\0\x02\0\0\0".to_vec();
                vec![(server, packet(0, &greeting)), (client, packet(1, &login)), (server, packet(2, &ok))]
            }
            Self::Http2 => {
                let settings = b"\0\0\0\x04\0\0\0\0\0".to_vec();
                let hello = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), settings.clone()].concat();
                vec![(client, hello), (server, settings)]
            }
            _ => Vec::new(),
        }
    }

    fn request(self, n: u64) -> Vec<u8> {
        match self {
            Self::Http => format!("GET /{n} HTTP/1.1\r\nHost: example\r\nAccept: */*\r\n\r\n").into_bytes(),
            Self::Redis => {
                let key = format!("key:{n}");
                format!("*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len()).into_bytes()
            }
            Self::Postgresql => typed(b'Q', format!("SELECT * FROM t{n}\0").as_bytes()),
            Self::Mysql => packet(0, format!("\x03SELECT * FROM t{n}").as_bytes()),
            Self::Kafka => {
                let topic = format!("t{n}");
                let mut body = b"\0\x03\0\x01".to_vec();
                body.extend((n as u32).to_be_bytes());
                body.extend(b"\0\x03cli\0\0\0\x01");
                body.extend((topic.len() as u16).to_be_bytes());
                body.extend(topic.bytes());
                [(body.len() as u32).to_be_bytes().to_vec(), body].concat()
            }
            Self::Mongodb => {
                let body = [bson_text("find", &format!("t{n}")), bson_text("$db", "shop")].concat();
                op_msg(n as u32, 0, &body)
            }
            Self::Http2 => {
                let path = format!("/{n}");
                // :method GET, :scheme http, :authority and :path as literals that are not indexed.
                let mut block = b"\x82\x86\x01\x07example\x04".to_vec();
                block.push(path.len() as u8);
                block.extend(path.bytes());
                h2(1, 5, n as u32 * 2 - 1, &block)
            }
            Self::Dns => {
                let mut query = (n as u16).to_be_bytes().to_vec();
                query.extend(b"\x01\0\0\x01\0\0\0\0\0\0");
                query.extend(question(n));
                query
            }
        }
    }

    fn response(self, n: u64) -> Vec<u8> {
        let size = self.size(n);
        let fails = self.fails(n);
        let padded = |fixed: usize| "x".repeat(size - fixed);
        match self {
            Self::Http if fails => {
                format!("HTTP/1.1 404 no {n}\r\nContent-Length: 3\r\n\r\nno\n").into_bytes()
            }
            Self::Http => {
                let fixed = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".len();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {:04}\r\n\r\n", size - fixed);
                (head + &padded(fixed)).into_bytes()
            }
            Self::Redis if fails => format!("-ERR {n}\r\n").into_bytes(),
            Self::Redis => format!("${:04}\r\n{}\r\n", size - 9, padded(9)).into_bytes(),
            Self::Postgresql => {
                let answer = if fails {
                    typed(b'E', format!("SERROR\0C42P01\0Mno {n}\0\0").as_bytes())
                } else {
                    let columns = typed(b'T', b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
                    let done = typed(b'C', b"SELECT 1\0");
                    let value = size - columns.len() - done.len() - 6 - 11;
                    let mut row = b"\0\x01".to_vec();
                    row.extend((value as u32).to_be_bytes());
                    row.extend(vec![b'x'; value]);
                    [columns, typed(b'D', &row), done].concat()
                };
                [answer, typed(b'Z', b"I")].concat()
            }
            Self::Mysql if fails => {
                packet(1, &[&b"\xff\x7a\x04#42S02"[..], format!("no {n}").as_bytes()].concat())
            }
            Self::Mysql => packet(1, &[&b"\0\0\0\x02\0\0\0"[..], padded(4 + 7).as_bytes()].concat()),
            Self::Kafka => {
                // Metadata version 1: one broker, controller, no topics.
                let fixed = 4 + 4 + 4 + 4 + 2 + 4 + 2 + 4 + 4;
                let host = padded(fixed);
                let mut body = (n as u32).to_be_bytes().to_vec();
                body.extend(b"\0\0\0\x01\0\0\0\x01");
                body.extend((host.len() as u16).to_be_bytes());
                body.extend(host.bytes());
                body.extend(b"\0\0\x23\x84\xff\xff\0\0\0\x01\0\0\0\0");
                [(body.len() as u32).to_be_bytes().to_vec(), body].concat()
            }
            Self::Mongodb => {
                let ok = |ok: f64| [&b"\x01ok\0"[..], &ok.to_le_bytes()].concat();
                let id = 0x4000_0000 + n as u32;
                if fails {
                    op_msg(id, n as u32, &[ok(0.0), bson_text("errmsg", &format!("no {n}"))].concat())
                } else {
                    let fixed = op_msg(id, 0, &[ok(1.0), bson_text("pad", "")].concat()).len();
                    op_msg(id, n as u32, &[ok(1.0), bson_text("pad", &padded(fixed))].concat())
                }
            }
            Self::Http2 => {
                let stream = n as u32 * 2 - 1;
                [h2(1, 4, stream, b"\x88"), h2(0, 1, stream, padded(9 + 1 + 9).as_bytes())].concat()
            }
            Self::Dns => {
                let mut answer = (n as u16).to_be_bytes().to_vec();
                answer.extend(b"\x81\x80\0\x01\0\x01\0\0\0\0");
                answer.extend(question(n));
                answer.extend(b"\xc0\x0c\0\x10\0\x01\0\0\0\x3c");
                let data = size - answer.len() - 2;
                answer.extend((data as u16).to_be_bytes());
                let mut left = data;
                while left > 0 {
                    let text = (left - 1).min(255);
                    answer.push(text as u8);
                    answer.extend(vec![b'x'; text]);
                    left -= text + 1;
                }
                answer
            }
        }
    }

    /// The size of the answer to a number, where that is what tells it.
    fn size(self, n: u64) -> usize {
        match self {
            Self::Dns => 70 + n as usize,
            _ => 200 + 7 * n as usize,
        }
    }

    /// The number that the request of a row carries.
    fn asked(self, row: &Line) -> Option<u64> {
        let text = match self {
            Self::Postgresql | Self::Mysql => &row.query,
            _ => &row.resource,
        };
        let start = text.find(|letter: char| letter.is_ascii_digit())?;
        let digits = &text[start..];
        let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    }

    /// The number that its response carries.
    fn answered(self, row: &Line) -> Option<u64> {
        if let Some(number) = row.error.split(' ').next_back().and_then(|word| word.parse().ok()) {
            return Some(number);
        }
        // A message that was cut has the size of what was captured.
        let bytes = row.response_bytes.filter(|_| !row.notices.contains("malformed"))?;
        (1..=MOST).find(|n| !self.fails(*n) && self.size(*n) as u64 == bytes)
    }
}

/// The most requests of one conversation.
pub const MOST: u64 = 400;

/// What a row says about numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Both sides, the same.
    Right(u64),
    /// Both sides, different ones.
    Wrong(u64, u64),
    /// The opening of a session, or a side that was not seen to its end.
    Nothing,
}

/// Compares both sides of an answered row.
pub fn check(kind: Kind, row: &Line) -> Says {
    match (kind.asked(row), kind.answered(row)) {
        (Some(asked), Some(answered)) if asked == answered => Says::Right(asked),
        (Some(asked), Some(answered)) => Says::Wrong(asked, answered),
        _ => Says::Nothing,
    }
}

/// A conversation of `count` requests.
pub fn script(kind: Kind, pace: Pace, id: u32, count: u64, random: &mut Random) -> Script {
    assert!(count <= MOST);
    let away = random.pick(&[[0, 200_000], [200_000, 0], [90_000, 110_000], [1_000, 1_000]]);
    let [to_client, to_server] = away.map(|away| 2 * away);
    let start = 1_700_000_000_000_000_000 + random.from(0, 50_000_000);
    let margin = 200_000;
    let mut now = start + to_client + to_server + margin;
    let mut says: Vec<Say> = Vec::new();
    for (dir, bytes) in kind.prologue() {
        says.push(Say { time: now, dir, bytes });
        now += to_client.max(to_server) + margin;
    }
    let ask = |says: &mut Vec<Say>, time, n| {
        says.push(Say { time, dir: Dir::ToServer, bytes: kind.request(n) });
    };
    let mut answers: Vec<(i64, u64)> = Vec::new();
    let mut n = 1;
    while n <= count {
        let batch = match pace {
            Pace::Batches(size) => random.below(size) + 1,
            _ => 1,
        };
        let last = (n + batch - 1).min(count);
        let together = random.happens(500);
        let asked = now;
        let mut answer = asked + to_server + margin + random.from(10_000, 400_000);
        for n in n..=last {
            ask(&mut says, asked, n);
            answers.push((answer, n));
            answer += if together { 0 } else { random.from(1_000, 300_000) };
        }
        now = match pace {
            Pace::Continuous => now + random.from(1_000, 400_000),
            _ => answer + to_client + margin + random.from(1_000, 3_000_000),
        };
        n = last + 1;
    }
    if pace == Pace::Continuous && !kind.is_by_number() {
        let mut last = 0;
        for (time, _) in &mut answers {
            last = last.max(*time);
            *time = last;
        }
    }
    says.extend(answers.into_iter().map(|(time, n)| Say {
        time,
        dir: Dir::ToClient,
        bytes: kind.response(n),
    }));
    says.sort_by_key(|say| say.time);
    let transport = if kind == Kind::Dns { Transport::Udp } else { Transport::Tcp };
    let [_, b, c, d] = id.to_be_bytes();
    Script {
        transport,
        client: (Ipv4Addr::new(10, b, c, d), 20_000 + id as u16),
        server: (Ipv4Addr::new(192, 0, 2, kind as u8 + 1), kind.port()),
        start,
        away,
        mss: random.pick(&[1_448, 1_448, 536, 97]),
        says,
    }
}

fn packet(seq: u8, body: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (body.len() as u32).to_be_bytes();
    [&[c, b, a, seq], body].concat()
}

fn typed(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

fn h2(kind: u8, flags: u8, stream: u32, body: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (body.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags], &stream.to_be_bytes()[..], body].concat()
}

fn bson_text(key: &str, text: &str) -> Vec<u8> {
    let len = (text.len() as u32 + 1).to_le_bytes();
    [&[2], key.as_bytes(), &[0], &len, text.as_bytes(), &[0]].concat()
}

fn op_msg(id: u32, to: u32, elements: &[u8]) -> Vec<u8> {
    let len = 16 + 4 + 1 + 4 + elements.len() as u32 + 1;
    let head = [len, id, to, 2013, 0].map(u32::to_le_bytes).concat();
    [&head[..], &[0], &(elements.len() as u32 + 5).to_le_bytes(), elements, &[0]].concat()
}

fn question(n: u64) -> Vec<u8> {
    [format!("\x05n{n:04}\x07example\0").as_bytes(), b"\0\x10\0\x01"].concat()
}
