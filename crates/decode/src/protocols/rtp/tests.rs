//! Streams as datagrams.

use super::Rtp;
use crate::{Decoder, Input, Limits, Protocol, Shape, Start, Verdict, pcap, testkit::*};
use model::{Dir, Heard, Nanos, Transport};

fn rtp(kind: u8, sequence: u16, timestamp: u32, ssrc: u32) -> Vec<u8> {
    let mut bytes = vec![0x80, kind];
    bytes.extend_from_slice(&sequence.to_be_bytes());
    bytes.extend_from_slice(&timestamp.to_be_bytes());
    bytes.extend_from_slice(&ssrc.to_be_bytes());
    bytes.extend_from_slice(&[0; 20]);
    bytes
}

fn player() -> Player {
    Player::new(Protocol::Rtp, Start::Beginning, Limits::default())
}

/// Plays numbers 20 ms apart as they arrive; gives the line that says how the stream was.
fn numbers(numbers: &[u16]) -> String {
    let mut player = player();
    for (i, number) in numbers.iter().enumerate() {
        player.clock = i64::try_from(i).unwrap() * 20_000_000;
        player.datagram(Dir::ToServer, &rtp(0, *number, u32::from(*number) * 160, 1));
    }
    player.finish().pop().unwrap()
}

#[test]
fn losses_order_and_duplicates() {
    let counts = |line: &str| {
        ["packets", "lost", "out_of_order", "duplicates", "restarts"].map(|name| {
            let name = format!("rtp.{name}=");
            let value = line.split(' ').find_map(|word| word.strip_prefix(&name));
            value.map_or(0, |value| value.parse::<u32>().unwrap())
        })
    };
    assert_eq!(counts(&numbers(&[1, 2, 3, 4])), [4, 0, 0, 0, 0]);
    assert_eq!(counts(&numbers(&[1, 2, 5, 6])), [4, 2, 0, 0, 0]);
    assert_eq!(counts(&numbers(&[1, 3, 2, 4])), [4, 0, 1, 0, 0]);
    assert_eq!(counts(&numbers(&[1, 2, 2, 4, 4, 4])), [6, 1, 0, 3, 0]);
    // Over the end of the numbers, with a loss there.
    assert_eq!(counts(&numbers(&[65_534, 65_535, 1, 2])), [4, 1, 0, 0, 0]);
    assert_eq!(counts(&numbers(&[65_534, 0, 65_535, 1])), [4, 0, 1, 0, 0]);
    // The first that came was not the first that was sent.
    assert_eq!(counts(&numbers(&[10, 8, 11])), [3, 1, 1, 0, 0]);
    assert_eq!(counts(&numbers(&[1, 65_535, 2])), [3, 1, 1, 0, 0]);
    // A stray number, then a sender that starts anew.
    assert_eq!(counts(&numbers(&[1, 2, 30_000, 3])), [4, 0, 1, 0, 0]);
    assert_eq!(counts(&numbers(&[1, 2, 30_000, 30_001, 30_003])), [5, 1, 1, 0, 1]);
}

#[test]
fn jitter_by_the_formula_of_the_rfc() {
    // Transit 0, 16, 0 ms: J = 16/16 = 1, then 1 + (16 - 1)/16 = 1.9375; the mean is 1.469.
    let mut player = player();
    for (i, late) in [0, 16, 0].into_iter().enumerate() {
        let i = u16::try_from(i).unwrap();
        player.clock = i64::from(i) * 20_000_000 + late * 1_000_000;
        player.datagram(Dir::ToServer, &rtp(8, i, u32::from(i) * 160, 1));
    }
    let line = player.finish().pop().unwrap();
    assert!(line.contains("rtp.jitter_ms=1.469 rtp.max_jitter_ms=1.938"), "{line}");
    assert!(line.contains("rtp.max_delta_ms=36.000"), "{line}");
}

#[test]
fn the_clock_of_a_dynamic_type_is_guessed() {
    for (clock, step) in [(8_000, 160), (16_000, 320), (32_000, 640), (48_000, 960), (90_000, 1_800)] {
        let mut player = player();
        for i in 0..20u16 {
            player.clock = i64::from(i) * 20_000_000 + i64::from(i % 3) * 1_000_000;
            let timestamp = (u32::MAX - 1_000).wrapping_add(u32::from(i) * step);
            player.datagram(Dir::ToServer, &rtp(111, i, timestamp, 1));
        }
        let line = player.finish().pop().unwrap();
        assert!(line.contains(&format!("rtp.clock_hz={clock}")), "{line}");
    }
}

#[test]
fn streams_end_with_a_bye_a_pause_or_the_flow() {
    let mut player = player();
    for i in 0..3 {
        player.datagram(Dir::ToServer, &rtp(0, i, 0, 1));
        player.datagram(Dir::ToClient, &rtp(101, i, 0, 1));
        player.datagram(Dir::ToServer, &rtp(0, i, 0, 2));
    }
    player.datagram(Dir::ToServer, &[0x80, 201, 0, 1, 0, 0, 0, 1, 0x81, 203, 0, 1, 0, 0, 0, 1]);
    let lines = player.lines().to_vec();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[0].ends_with("operation=RTCP RR resource=0x00000001 rtcp.bye=1"), "{}", lines[0]);
    assert!(lines[3].contains("rtp.ssrc=0x00000001 rtp.payload_type=0 rtp.packets=3"));
    player.clock += 3_000_000_000;
    player.datagram(Dir::ToServer, &rtp(0, 1, 0, 3));
    assert_eq!(player.lines().len(), 6, "the other stream of that direction is over");
    let lines = player.finish();
    assert_eq!(lines.len(), 8, "a single packet is no stream");
    assert!(lines[6].ends_with("operation=RTP stream resource=PT 101"));
}

#[test]
fn many_sources_are_bounded() {
    let mut player = player();
    for ssrc in 0..40 {
        player.clock += 1;
        player.datagram(Dir::ToServer, &rtp(0, 1, 0, ssrc));
        player.datagram(Dir::ToServer, &rtp(0, 2, 0, ssrc));
    }
    assert_eq!(player.lines().len(), 24 * 2);
    assert_eq!(player.finish().len(), 40 * 2);
}

#[test]
fn reports() {
    let block = |lost: u32, lsr: u32, delay: u32| {
        [7u32, 0x4000_0000 | lost, 99, 5, lsr, delay].iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<_>>()
    };
    let mut player = player();
    let mut sr = vec![0x81, 200, 0, 12, 0, 0, 0, 9, 0, 0, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0];
    sr.extend_from_slice(&[0, 0, 0, 5, 0, 0, 1, 0]);
    sr.extend(block(0x00ff_ffff, 0, 0));
    player.datagram(Dir::ToServer, &sr);
    player.clock = 150_000_000;
    // It had the report for 100 ms.
    let mut rr = vec![0x81, 201, 0, 7, 0, 0, 0, 7];
    rr.extend(block(3, 0x1234_5678, 6_554));
    let mut metrics = vec![0x80, 207, 0, 10, 0, 0, 0, 7, 7, 0, 0, 8, 0, 0, 0, 9, 13, 26, 0, 0, 0, 0, 0, 0];
    metrics.extend_from_slice(&[0, 40, 0, 50, 0, 0, 0, 16, 88, 127, 41, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
    rr.extend(metrics);
    player.datagram(Dir::ToClient, &rr);
    let lines = player.finish();
    assert!(
        lines[0].ends_with(
            "operation=RTCP SR resource=0x00000009 rtcp.packets=5 rtcp.octets=256 \
             rtcp.about_ssrc=0x00000007 rtcp.fraction_lost=0.250 rtcp.lost=-1 rtcp.jitter=5"
        ),
        "{}",
        lines[0]
    );
    assert!(
        lines[2].ends_with(
            "rtcp.lost=3 rtcp.jitter=5 rtcp.rtt_ms=49.994 rtcp.xr.loss_rate=0.051 \
             rtcp.xr.discard_rate=0.102 rtcp.xr.round_trip_ms=40 rtcp.xr.end_delay_ms=50 \
             rtcp.xr.r_factor=88 rtcp.xr.mos_lq=4.100"
        ),
        "{}",
        lines[2]
    );
}

#[test]
fn what_is_no_rtp() {
    let mut player = player();
    // STUN and DTLS on the same port are no errors.
    player.datagram(Dir::ToServer, &[0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 0, 0, 0, 0]);
    player.datagram(Dir::ToServer, &[22, 254, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    player.datagram(Dir::ToServer, &[0x80]);
    assert!(player.finish().is_empty());
    for (bytes, cause) in [
        (&[0x8f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], "truncated"),
        (&[0x90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9], "truncated"),
        (&[0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9], "bad_length"),
        (&[0x80, 201, 0, 2, 0, 0, 0, 1], "truncated"),
        (&[0x81, 203, 0, 0, 0, 0, 0, 1], "truncated"),
        (&[0x80, 202, 0, 1, 0, 0, 0, 1, 0x40, 0, 0, 0], "bad_magic"),
    ] {
        let mut player = self::player();
        player.datagram(Dir::ToServer, bytes);
        assert_eq!(player.finish(), [format!("errors 1 {cause}")], "{bytes:?}");
    }
}

#[test]
fn probes_are_never_sure() {
    let tuple = tuple(Transport::Udp);
    let probe = |bytes: &[u8]| {
        let shape = Shape::Datagram;
        let (first, time) = (Nanos(0), Nanos(0));
        Rtp::probe(&Input {
            bytes,
            dir: Dir::ToServer,
            first,
            time,
            shape,
            heard: Heard::Unknown,
            segment_start: true,
            cut: 0,
            tuple: &tuple,
        })
    };
    assert_eq!(probe(&rtp(0, 1, 1, 1)), Verdict::Likely);
    assert_eq!(probe(&rtp(96, 1, 1, 1)), Verdict::Likely);
    assert_eq!(probe(&rtp(77, 1, 1, 1)), Verdict::No);
    assert_eq!(probe(&rtp(0, 1, 1, 1)[..31]), Verdict::No);
    assert_eq!(probe(&[0x80, 201, 0, 1, 0, 0, 0, 1]), Verdict::Likely);
    assert_eq!(probe(b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0"), Verdict::No);
}

#[test]
fn golden() {
    pcap::golden(Protocol::Rtp, 16_100, "streams");
}
