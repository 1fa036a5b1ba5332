use std::{hint::black_box, time::Instant};
use decode::sip;
use envelope::hep;
const INVITE: &[u8] = include_bytes!("../../../tests/vectors/hep3_invite.bin");
fn time(name: &str, mut f: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..300 { let s = Instant::now(); for _ in 0..10000 { f(); } best = best.min(s.elapsed().as_secs_f64()*1e5); }
    println!("{name:<20} {best:.1}");
}
fn main() {
    let p = hep::open(INVITE).unwrap().payload.unwrap().bytes;
    let m = sip::parse(p).unwrap();
    time("from", || { black_box(black_box(&m).from().map(|a| (a.uri.user, a.uri.host, a.tag))); });
    time("to", || { black_box(black_box(&m).to().map(|a| (a.uri.user, a.uri.host, a.tag))); });
    time("contact", || { black_box(black_box(&m).contact().map(|a| (a.uri.user, a.uri.host, a.tag))); });
    time("ruri", || { black_box(black_box(&m).ruri().map(|a| (a.user, a.host))); });
    time("via", || { black_box(black_box(&m).via().map(|a| (a.branch, a.host, a.transport))); });
    time("nums", || { let m = black_box(&m); black_box((m.max_forwards(), m.expires(), m.cseq(), m.code())); });
    time("simple", || { let m = black_box(&m); black_box((m.method(), m.reason(), m.call_id(), m.user_agent(), m.content_type())); });
    time("text", || { let m = black_box(&m); let t = |p: Option<&[u8]>| p.and_then(|p| m.text(p)); black_box((t(m.method()), t(m.reason()), t(m.call_id()), t(m.user_agent()), t(m.content_type()))); });
    time("utf8", || { let m = black_box(&m); black_box(m.head()); });
    time("parse", || { black_box(sip::parse(black_box(p)).is_ok()); });
    time("parse all", || { black_box(sip::parse(black_box(p)).unwrap()); });
    time("parse+from", || { let m = sip::parse(black_box(p)).unwrap(); black_box(m.from().map(|a| (a.uri.user, a.uri.host, a.tag))); });
    time("parse+from+to", || { let m = sip::parse(black_box(p)).unwrap(); black_box(m.from().map(|a| (a.uri.user, a.uri.host, a.tag)));black_box(m.to().map(|a| (a.uri.user, a.uri.host, a.tag))); });
    time("parse+from+to+via", || { let m = sip::parse(black_box(p)).unwrap(); black_box(m.from().map(|a| (a.uri.user, a.uri.host, a.tag)));black_box(m.to().map(|a| (a.uri.user, a.uri.host, a.tag))); black_box(m.via().map(|a| (a.branch, a.host, a.transport))); });
}
