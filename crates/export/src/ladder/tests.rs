use super::*;
use crate::testkit::{b2bua_call, basic_call, call_between, message};

/// Compares with the committed text; `UPDATE_GOLDEN=1` writes it instead.
#[track_caller]
fn golden(name: &str, messages: &[CallMessage], options: Options) {
    let path = format!("{}/src/ladder/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let drawn = text(messages, options);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(drawn == kept, "{name} differs from {path}; UPDATE_GOLDEN=1 rewrites it:\n{drawn}");
}

fn retransmitted_call() -> Vec<CallMessage> {
    let mut call = basic_call();
    let mut again = call[0].clone();
    again.time.0 += 500_000_000;
    call.insert(3, again);
    let mut broken = message("198.51.100.20:5060", "192.0.2.10:5060").at_ms(13_000).request("");
    broken.method = None;
    broken.call_id = String::new();
    broken.parse_error = Some("no start line".into());
    call.push(broken);
    call
}

/// A call through as many hosts as asked.
fn long_path(hosts: usize) -> Vec<CallMessage> {
    let host = |at: usize| format!("10.0.{}.{}:5060", at / 200, at % 200 + 1);
    let forward =
        (1..hosts).map(|at| message(&host(at - 1), &host(at)).at_ms(at as i64).sdp().request("INVITE"));
    let back = (1..hosts).rev().map(|at| {
        message(&host(at), &host(at - 1)).at_ms((2 * hosts - at) as i64).response(
            480,
            "Temporarily Unavailable",
            "INVITE",
        )
    });
    forward.chain(back).collect()
}

#[test]
fn basic() {
    golden("basic", &basic_call(), Options::default());
}

#[test]
fn basic_in_color() {
    golden("basic_color", &basic_call(), Options { color: true, ..Options::default() });
}

#[test]
fn basic_in_ascii() {
    golden("basic_ascii", &basic_call(), Options { ascii: true, ..Options::default() });
}

#[test]
fn basic_with_raw_messages() {
    golden("basic_raw", &basic_call()[..2], Options { raw: true, ..Options::default() });
}

#[test]
fn b2bua() {
    golden("b2bua", &b2bua_call(), Options::default());
}

#[test]
fn v6() {
    let call = call_between("[2001:db8::10]:5060", "[2001:db8:ffff:1234:5678:9abc:def0:20]:5060");
    golden("v6", &call, Options::default());
}

#[test]
fn retransmit() {
    golden("retransmit", &retransmitted_call(), Options::default());
}

#[test]
fn one_host() {
    let mut call = call_between("127.0.0.1:5060", "127.0.0.1:5060");
    golden("one_host", &call, Options::default());
    for message in &mut call {
        message.src_ip = None;
        message.dst_ip = None;
    }
    assert!(text(&call, Options::default()).contains("unknown"));
}

#[test]
fn one_host_on_two_ports() {
    let call = call_between("127.0.0.1:5061", "127.0.0.1:5060");
    golden("one_host_two_ports", &call, Options::default());
}

#[test]
fn many_hosts() {
    golden("many_hosts", &long_path(8), Options::default());
}

#[test]
fn too_many_hosts() {
    golden("too_many_hosts", &long_path(30), Options::default());
}

#[test]
fn no_line_of_the_ladder_is_wider_than_asked() {
    for width in [40, 60, 80, 132] {
        for call in [basic_call(), b2bua_call(), retransmitted_call(), long_path(8), long_path(30)] {
            let drawn = text(&call, Options { width, ..Options::default() });
            let ladder = drawn.split("\n\n").skip(1).collect::<Vec<_>>().join("\n");
            for line in ladder.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn nothing_to_draw() {
    assert_eq!(text(&[], Options::default()), "no messages\n");
}
