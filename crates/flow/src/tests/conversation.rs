//! Two sides that talk to each other, and a capture that loses, delays and repeats what they say.

use super::*;
use proptest::prelude::*;

/// Something that one side sent, and what it had received by then.
#[derive(Debug, Clone)]
struct Said {
    dir: Dir,
    /// Where it starts, from the first byte of its lane.
    at: u32,
    len: u32,
    ack: u32,
    /// When it was captured first.
    time: Option<Nanos>,
}

/// How one message fares: who says it, how long it is, whether it is lost, how much later it is captured, after
/// how many others it is captured again, and how long the capture waits then.
type Fate = (bool, u32, bool, usize, Option<usize>, i64);

fn fate() -> impl Strategy<Value = Fate> {
    let again = prop::option::weighted(0.1, 1usize..10);
    let later = prop_oneof![3 => Just(0usize), 1 => 1usize..5];
    let wait = prop_oneof![9 => Just(0i64), 1 => 0i64..200];
    (any::<bool>(), 1u32..1200, prop::bool::weighted(0.2), later, again, wait)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every byte comes with the time of its capture, in its place, and not before what its sender had received.
    #[test]
    fn nobody_answers_before_the_question(
        fates in prop::collection::vec(fate(), 1..80),
        isns in [any::<u32>().boxed(), (u32::MAX - 20_000..=u32::MAX).boxed()],
        lane_pieces in prop_oneof![Just(4096usize), 1usize..6],
    ) {
        let mut sent = [0u32; 2];
        let mut said = Vec::new();
        let mut captured = Vec::new();
        for (number, (to_client, len, lost, later, again, wait)) in fates.iter().copied().enumerate() {
            let dir = if to_client { Dir::ToClient } else { Dir::ToServer };
            let (at, ack) = (sent[dir.index()], sent[dir.reverse().index()]);
            said.push(Said { dir, at, len, ack, time: None });
            sent[dir.index()] += len;
            captured.extend((!lost).then_some((number + later, number, wait)));
            captured.extend(again.filter(|_| !lost).map(|again| (number + later + again, number, 0)));
        }
        captured.sort_by_key(|(place, ..)| *place);

        let mut bench = Bench::new(Limits { lane_pieces, ..Limits::default() });
        let first = isns.map(|isn| isn.wrapping_add(1));
        bench.c(isns[0], 0, SYN, b"").s(isns[1], first[0], SYN | ACK, b"").c(first[0], first[1], ACK, b"");
        for (_, number, wait) in captured {
            let Said { dir, at, len, ack, time } = &mut said[number];
            let (own, other) = (dir.index(), dir.reverse().index());
            let (seq, ack) = (first[own].wrapping_add(*at), first[other].wrapping_add(*ack));
            bench.now += MS;
            time.get_or_insert(Nanos(bench.now));
            let seg = bench.seg(*dir, seq, ack, ACK, &vec![number as u8; *len as usize]);
            bench.send(&seg);
            if wait > 0 {
                bench.wait(wait);
            }
        }
        bench.finish();

        let mut heard = [0u32; 2];
        for call in &bench.told.calls {
            let own = call.dir.index();
            match &call.heard {
                Heard::Bytes(bytes, starts) => {
                    let number = usize::from(bytes[0]);
                    prop_assert!(bytes.iter().all(|byte| usize::from(*byte) == number), "one segment at a time");
                    let said = &said[number];
                    prop_assert_eq!((call.dir, Some(call.time)), (said.dir, said.time));
                    prop_assert_eq!((heard[own], bytes.len() as u32, *starts), (said.at, said.len, true));
                    prop_assert!(heard[1 - own] >= said.ack, "its sender had received more");
                    heard[own] += said.len;
                }
                Heard::Gap(missing) => heard[own] += *missing as u32,
                _ => unreachable!(),
            }
        }
        let lost = said.iter().filter(|said| said.time.is_none()).map(|said| u64::from(said.len)).sum::<u64>();
        // Waiting, and repetitions that count as packets of the flow, use the reorder allowance up.
        let patient = fates.iter().all(|fate| fate.4.is_none() && fate.5 == 0);
        if bench.counters().gaps[GapCause::Budget as usize] == 0 && patient {
            prop_assert!(bench.counters().gap_bytes.iter().sum::<u64>() <= lost, "what was captured was told");
        }
    }
}
