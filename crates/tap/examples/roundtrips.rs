//! Prints the roundtrips of a capture file as JSON lines, and what was counted: `roundtrips FILE [--flows]`.

use std::io::Write;
use std::path::Path;

use correlate::Roundtrip;
use flow::{End, Flow};
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
    let mut reader = capture::file::open(Path::new(&path)).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    loop {
        match reader.next() {
            Ok(Some(frame)) => tap.frame(&frame),
            Ok(None) => break,
            Err(error) => {
                eprintln!("{error}");
                break;
            }
        }
        std::io::stdout().write_all(&tap.sink().text).expect("an open output");
        tap.sink().text.clear();
    }
    tap.finish();
    std::io::stdout().write_all(&tap.sink().text).expect("an open output");
    eprintln!("{:?}\n{:?}", tap.counters(), tap.flow_counters());
}
