//! Against a reassembler that is too simple to be wrong.

use super::*;
use crate::testkit::FIN;
use proptest::prelude::*;

/// One segment: where in the stream, how many bytes, how many of them were cut, and whether a FIN follows.
#[derive(Debug, Clone)]
struct Part {
    at: u32,
    len: u32,
    cut: u32,
    fin: bool,
}

fn part() -> impl Strategy<Value = Part> {
    let len = prop_oneof![4 => 0u32..40, 1 => 0u32..600];
    (0u32..1500, len, prop_oneof![5 => Just(0u32), 1 => 1u32..50], prop::bool::weighted(0.03))
        .prop_map(|(at, len, cut, fin)| Part { at, len, cut, fin })
}

/// What is at each place of the stream: the bytes of the segment that came first, or nothing known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Unknown,
    Missing,
    Byte(u8),
}

/// Keeps every place of the stream, and looks at all of them each time.
struct Naive {
    places: Vec<Place>,
    fin: Option<usize>,
    /// Everything before it was delivered.
    front: usize,
}

impl Naive {
    fn take(&mut self, part: &Part, byte: u8) {
        let end = (part.at + part.len + part.cut) as usize;
        if self.fin == Some(self.front) {
            return;
        }
        if part.fin && end >= self.front && self.fin.is_none() {
            self.fin = Some(end);
        }
        for at in part.at as usize..end.min(self.fin.unwrap_or(usize::MAX)) {
            if self.places[at] == Place::Unknown {
                let captured = at < (part.at + part.len) as usize;
                self.places[at] = if captured { Place::Byte(byte) } else { Place::Missing };
            }
        }
        while self.places[self.front] != Place::Unknown && self.fin != Some(self.front) {
            self.front += 1;
        }
    }
}

/// What a consumer was told, place by place.
fn heard(bench: &Bench) -> (Vec<Place>, bool) {
    let mut places = Vec::new();
    let mut ended = false;
    for call in bench.told.calls.iter().filter(|call| call.dir == Dir::ToServer) {
        match &call.heard {
            Heard::Bytes(bytes, _) => places.extend(bytes.iter().map(|byte| Place::Byte(*byte))),
            Heard::Gap(missing) => places.extend((0..*missing).map(|_| Place::Missing)),
            Heard::Eof => ended = true,
            Heard::Datagram(..) => unreachable!(),
        }
    }
    (places, ended)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any segmentation, order, repetition and overlap gives what the naive one gives, after each segment,
    /// wherever the sequence numbers wrap.
    #[test]
    fn lanes_are_what_a_naive_reassembler_makes_of_them(
        parts in prop::collection::vec(part(), 1..60),
        isn in prop_oneof![any::<u32>(), u32::MAX - 1600..=u32::MAX],
    ) {
        let mut bench = Bench::new(Limits { hold: std::time::Duration::from_secs(600), ..Limits::default() });
        let mut naive = Naive { places: vec![Place::Unknown; 4000], fin: None, front: 0 };
        bench.c(isn, 0, SYN, b"");
        let first = isn.wrapping_add(1);
        for (turn, part) in parts.iter().enumerate() {
            // A probe that the table knows as one says nothing.
            let probe = part.len + part.cut == 1 && !part.fin && part.at as usize + 1 == naive.front;
            let flags = if part.fin { FIN | ACK } else { ACK };
            let payload = vec![turn as u8; part.len as usize];
            let seg = bench.seg(Dir::ToServer, first.wrapping_add(part.at), 0, flags, &payload);
            bench.now += MS;
            bench.send(&Seg { cut: part.cut, ..seg });
            if !probe {
                naive.take(part, turn as u8);
            }
            let (places, _) = heard(&bench);
            prop_assert_eq!(&places[..], &naive.places[..naive.front]);
        }
        bench.finish();
        // The close delivers everything up to the last byte that is known, or the FIN.
        let known = naive.places.iter().rposition(|place| *place != Place::Unknown).map_or(0, |at| at + 1);
        let end = naive.fin.unwrap_or(known);
        let wanted: Vec<Place> = naive.places[..end]
            .iter()
            .map(|place| if *place == Place::Unknown { Place::Missing } else { *place })
            .collect();
        let (places, ended) = heard(&bench);
        prop_assert_eq!(places, wanted);
        prop_assert_eq!(ended, naive.fin.is_some());
    }

    /// Losses, acknowledgements, ticks and small budgets: every byte that is delivered is in its place, and
    /// every other one is in a gap.
    #[test]
    fn no_byte_is_out_of_place(
        steps in prop::collection::vec((0u32..3000, 0u32..200, 0u8..6), 1..120),
        isn in prop_oneof![any::<u32>(), u32::MAX - 3000..=u32::MAX],
        lane_pieces in 1usize..20,
        lane_bytes in 500usize..4000,
    ) {
        let byte = |at: u32| (at.wrapping_mul(31) >> 3) as u8;
        let limits = Limits { lane_pieces, lane_bytes, held_bytes: 5000, ..Limits::default() };
        let mut bench = Bench::new(limits);
        let first = isn.wrapping_add(1);
        bench.c(isn, 0, SYN, b"").s(99, first, SYN | ACK, b"");
        for (at, len, what) in steps {
            match what {
                0 => { bench.s(100, first.wrapping_add(at), ACK, b""); }
                1 => { bench.wait(i64::from(len) * 40); }
                _ => {
                    let payload: Vec<u8> = (at..at + len).map(byte).collect();
                    bench.c(first.wrapping_add(at), 100, ACK, &payload);
                }
            }
            prop_assert!(bench.table.held_bytes() <= 5000);
        }
        bench.finish();
        let (places, _) = heard(&bench);
        for (at, place) in places.iter().enumerate() {
            prop_assert!(matches!(place, Place::Missing) || *place == Place::Byte(byte(at as u32)), "at {at}");
        }
    }

    /// Whatever happens, the books balance and twice the same input gives twice the same calls.
    #[test]
    fn any_operations(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        crate::fuzz::table(&bytes);
    }
}
