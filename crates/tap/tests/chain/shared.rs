//! What taps share in live capture: a call heard by one names the media seen by another, and open flows can be
//! looked at from outside.

use crate::frames::{Say, Script, Shot};
use crate::play::{Lines, frame, options};
use decode::Protocol;
use model::{Dir, Nanos, Transport};
use std::net::Ipv4Addr;
use tap::Tap;
use tap::live;
use tap::media::Calls;

const SECOND: i64 = 1_000_000_000;
const AGENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);
const PROXY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 20);

fn udp(client: (Ipv4Addr, u16), server: (Ipv4Addr, u16), says: Vec<Say>) -> Vec<Shot> {
    let start = says.first().map_or(0, |say| say.time);
    Script { transport: Transport::Udp, client, server, start, away: [0; 2], mss: 1_400, says }.frames(0)
}

fn invite(call_id: &str, port: u16) -> Vec<Shot> {
    let body = format!(
        "v=0\r\no=- 1 1 IN IP4 {AGENT}\r\ns=-\r\nc=IN IP4 {AGENT}\r\nt=0 0\r\nm=audio {port} RTP/AVP 0\r\n"
    );
    let text = format!(
        "INVITE sip:bob@example.org SIP/2.0\r\nVia: SIP/2.0/UDP {AGENT};branch=z9hG4bK1\r\nFrom: <sip:a@example.org>;tag=1\r\n\
         To: <sip:bob@example.org>\r\nCall-ID: {call_id}\r\nCSeq: 1 INVITE\r\nContent-Type: application/sdp\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    udp(
        (AGENT, 5060),
        (PROXY, 5060),
        vec![Say { time: SECOND, dir: Dir::ToServer, bytes: text.into_bytes() }],
    )
}

/// A second of G.711 towards the agent.
fn media(port: u16) -> Vec<Shot> {
    let says = (0..50u16)
        .map(|number| {
            let mut bytes = vec![0x80, 0];
            bytes.extend(number.to_be_bytes());
            bytes.extend((u32::from(number) * 160).to_be_bytes());
            bytes.extend(0x1234_5678u32.to_be_bytes());
            bytes.extend([0xd5; 160]);
            Say { time: 2 * SECOND + i64::from(number) * 20_000_000, dir: Dir::ToServer, bytes }
        })
        .collect();
    udp((PROXY, 30_000), (AGENT, port), says)
}

fn tap(calls: Option<&Calls>) -> Tap<Lines> {
    let mut tap = Tap::new(options(), Lines::default());
    if let Some(calls) = calls {
        tap.share_calls(calls);
    }
    tap
}

fn run(tap: &mut Tap<Lines>, shots: &[Shot]) {
    for shot in shots {
        tap.frame(&frame(shot));
    }
    tap.tick(Nanos(shots.last().map_or(0, |shot| shot.time)));
}

#[test]
fn media_on_another_thread_have_the_name_of_their_call() {
    for (port, named) in [(40_000, true), (40_001, true), (40_002, false)] {
        let calls = Calls::new(64);
        let (mut signalling, mut media_tap) = (tap(Some(&calls)), tap(Some(&calls)));
        run(&mut signalling, &invite("one@example.org", 40_000));
        // The port above is that of RTCP, and some send RTP there all the same.
        run(&mut media_tap, &media(port));
        media_tap.finish();
        let sink = media_tap.into_sink();
        assert_eq!((sink.rows.len(), sink.flows.len()), (1, 1));
        assert_eq!(sink.rows[0].protocol, "rtp");
        assert_eq!(
            sink.rows[0].json.contains("\"call_id\":\"one@example.org\""),
            named,
            "{}",
            sink.rows[0].json
        );
        assert_eq!(sink.flows[0].contains("one@example.org"), named, "{}", sink.flows[0]);
    }
}

#[test]
fn a_call_heard_after_its_media_began_still_names_them() {
    let calls = Calls::new(64);
    let (mut signalling, mut media_tap) = (tap(Some(&calls)), tap(Some(&calls)));
    run(&mut media_tap, &media(40_000));
    run(&mut signalling, &invite("late@example.org", 40_000));
    media_tap.finish();
    assert!(media_tap.into_sink().rows[0].json.contains("late@example.org"));
}

#[test]
fn what_was_not_shared_is_not_known() {
    let (mut signalling, mut media_tap) = (tap(None), tap(None));
    run(&mut signalling, &invite("one@example.org", 40_000));
    run(&mut media_tap, &media(40_000));
    media_tap.finish();
    assert!(!media_tap.into_sink().rows[0].json.contains("one@example.org"));
}

#[test]
fn open_flows_are_shown_until_they_end() {
    let mut tap = tap(None);
    let flows = tap.show_flows(2);
    run(&mut tap, &media(40_000));
    run(&mut tap, &invite("one@example.org", 40_000));
    let top = flows.top(10);
    assert_eq!(top.len(), 2);
    let media = &top[0];
    assert_eq!((media.protocol, media.tuple.server.port), (Some(Protocol::Rtp), 40_000));
    // 50 packets; the figures are at most 100 ms behind.
    assert!((45..=50).contains(&media.packets[0]) && media.packets[1] == 0, "{media:?}");
    assert!(media.total_bytes() >= media.packets[0] * 172);
    assert_eq!(live::top([&flows], 1), top[..1]);
    // A third one finds no place.
    run(&mut tap, &self::media(40_010));
    assert_eq!((flows.shown(), flows.refused()), (2, 1));
    tap.finish();
    assert_eq!((flows.shown(), flows.top(10)), (0, Vec::new()));
}
