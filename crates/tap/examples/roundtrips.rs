//! Prints the roundtrips of a capture file as JSON lines, and what was counted: `roundtrips FILE [--flows]`.

use std::io::Write;

use correlate::Roundtrip;
use flow::{End, Flow};
use model::{Frame, LinkType, Nanos};
use tap::{About, Options, Row, Sink, Tap};

struct Lines {
    text: Vec<u8>,
    flows: bool,
}

impl Lines {
    fn add(&mut self, row: &Row<'_>) {
        tap::json::write(row, &mut self.text);
        self.text.push(b'\n');
    }
}

impl Sink for Lines {
    fn roundtrip(&mut self, flow: &Flow, about: &About, roundtrip: &Roundtrip) {
        self.add(&Row::Roundtrip(flow, about, roundtrip));
    }

    fn flow(&mut self, flow: &Flow, about: &About, end: End) {
        if self.flows {
            self.add(&Row::Flow(flow, about, end));
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("roundtrips FILE [--flows]");
        std::process::exit(2);
    };
    let lines = Lines { text: Vec::new(), flows: arguments.next().is_some() };
    let mut tap = Tap::new(Options::default(), lines);
    let file = std::fs::read(&path).expect("a capture file");
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes"));
    let fraction = if word(0) == 0xa1b2_3c4d { 1 } else { 1_000 };
    let link = LinkType::from_number(word(20)).expect("a known link type");
    let mut at = 24;
    while at + 16 <= file.len() {
        let time = Nanos(i64::from(word(at)) * 1_000_000_000 + i64::from(word(at + 4)) * fraction);
        let end = at + 16 + word(at + 8) as usize;
        let Some(bytes) = file.get(at + 16..end) else { break };
        tap.frame(&Frame { time, link, wire_len: word(at + 12), vlan: None, bytes });
        at = end;
        std::io::stdout().write_all(&tap.sink().text).expect("an open output");
        tap.sink().text.clear();
    }
    tap.finish();
    std::io::stdout().write_all(&tap.sink().text).expect("an open output");
    eprintln!("{:?}\n{:?}", tap.counters(), tap.flow_counters());
}
