//! Conversations.

use crate::testkit::{
    Player, Said, assert_cuts_do_not_matter, client, play, play_coalesced, play_with, server,
};
use crate::{Limits, Protocol, Start, pcap};
use model::Dir;

fn http(talk: &[Said]) -> Vec<String> {
    assert_cuts_do_not_matter(Protocol::Http, Start::Beginning, talk)
}

#[test]
fn a_request_and_its_response() {
    let lines = http(&[
        client(
            "GET /where?q=now&token=abc HTTP/1.1\r\nHost: www.example.com:8080\r\nUser-Agent: curl/7.88\r\n\
             traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n",
        ),
        server("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, World!\n"),
    ]);
    assert_eq!(
        lines,
        [
            "> begin Request Order t0 notices=4 operation=GET resource=/where url.query=q=now&token=[redacted] \
         server.address=www.example.com server.port=8080 user_agent.original=curl/7.88 \
         trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7 network.protocol.version=1.1",
            "> end Request Order t0 bytes=160",
            "< begin Response Order t1 status_code=200 http.response.header.content-type=text/plain",
            "< end Response Order t1 bytes=79 Ok http.response.body.size=14",
        ]
    );
}

/// The lines without the attributes that every request of these tests has.
fn short(lines: Vec<String>) -> Vec<String> {
    let version =
        |line: String| line.replace(" network.protocol.version=1.1", "").replace(" server.address=a", "");
    lines.into_iter().map(version).collect()
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let talk = [
        client("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        client("POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
        client("HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n\r\n"),
        client("DELETE /4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        server("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"),
        server("HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n"),
        server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
        server("HTTP/1.1 204 No Content\r\n\r\n"),
    ];
    let apart = http(&talk);
    let joined = play_coalesced(Protocol::Http, Start::Beginning, &talk);
    let without_time =
        |line: &String| line.split(' ').filter(|word| !word.starts_with("t")).collect::<Vec<_>>().join(" ");
    assert_eq!(
        apart.iter().map(without_time).collect::<Vec<_>>(),
        joined.iter().map(without_time).collect::<Vec<_>>()
    );
    assert_eq!(
        short(joined),
        [
            "> begin Request Order t0 operation=GET resource=/1",
            "> end Request Order t0 bytes=28",
            "> begin Request Order t0 operation=POST resource=/2",
            "> end Request Order t0 bytes=51 http.request.body.size=3",
            "> begin Request Order t0 operation=HEAD resource=/3",
            "> end Request Order t0 bytes=29",
            "> begin Request Order t0 operation=DELETE resource=/4",
            "> end Request Order t0 bytes=31",
            "< begin Response Order t1 status_code=200",
            "< end Response Order t1 bytes=39 Ok http.response.body.size=1",
            "< begin Response Order t1 status_code=304",
            "< end Response Order t1 bytes=50 Ok",
            "< begin Response Order t1 status_code=200",
            "< end Response Order t1 bytes=40 Ok",
            "< begin Response Order t1 status_code=204",
            "< end Response Order t1 bytes=27 Ok",
        ]
    );
}

#[test]
fn chunks_extensions_and_trailers_have_exact_sizes() {
    let body = "4;name=\"v\"\r\n0\r\n\r\r\n6\r\npedia \r\nA\r\n0123456789\r\n0;last\r\nX-Sum: 1\r\n\r\n";
    let lines = http(&[
        client("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        server(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}")),
        client("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        server("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nab\n0\n\n"),
    ]);
    let size = 47 + body.len();
    assert_eq!(lines[3], format!("< end Response Order t1 bytes={size} Ok http.response.body.size=20"));
    assert_eq!(lines[7], "< end Response Order t3 bytes=52 Ok http.response.body.size=2");
    assert_eq!(lines.len(), 8);
}

#[test]
fn a_body_may_last_until_the_close() {
    let talk = [client("GET / HTTP/1.0\r\n\r\n"), server("HTTP/1.0 200 OK\r\n\r\nall of"), server(" this")];
    assert_eq!(
        http(&talk)[2..],
        [
            "< begin Response Order t1 status_code=200",
            "< end Response Order t3 bytes=30 Ok http.response.body.size=11",
        ]
    );
    let mut player = Player::new(Protocol::Http, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, b"GET / HTTP/1.0\r\n\r\n", true);
    player.bytes(Dir::ToClient, b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\ncut", true);
    let lines = player.finish();
    assert_eq!(lines.last().unwrap(), "< begin Response Order t0 status_code=200");
}

#[test]
fn interim_responses_are_not_the_answer() {
    let lines = http(&[
        client("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
        server("HTTP/1.1 100 Continue\r\n\r\n"),
        client("ok"),
        server(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
        ),
    ]);
    assert_eq!(
        short(lines),
        [
            "> begin Request Order t0 operation=PUT resource=/",
            "> end Request Order t2 bytes=70 http.request.body.size=2",
            "< begin Response Order t3 status_code=500 error=Internal Server Error",
            "< end Response Order t3 bytes=57 Error",
        ]
    );
}

#[test]
fn tunnels_and_web_sockets_are_opaque() {
    let tunnel = http(&[
        client("CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        client("\x16\x03\x01"),
    ]);
    assert_eq!(
        short(tunnel),
        [
            "> begin Request Order t0 operation=CONNECT resource=example.org:443 server.address=example.org \
         server.port=443",
            "> end Request Order t0 bytes=45",
            "< begin Response Order t1 status_code=200",
            "< end Response Order t1 bytes=38 Ok",
            "opaque tunnel",
        ]
    );
    let socket = http(&[
        client("GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"),
        server("HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n\r\n"),
        server(b"\x81\x05Hello"),
    ]);
    assert_eq!(
        socket[2..],
        [
            "< begin Response Order t1 status_code=101",
            "< end Response Order t1 bytes=56 Ok",
            "opaque websocket",
        ]
    );
}

#[test]
fn what_contradicts_itself_is_said_and_no_wrong_pair_follows() {
    let both =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let lines = http(&[client(both), client("GET /2 HTTP/1.1\r\n\r\n")]);
    assert_eq!(
        short(lines),
        [
            "> begin Request Order t0 notices=8 operation=POST resource=/",
            "> end Request Order t0 bytes=81",
            "> begin Request Order t1 operation=GET resource=/2",
            "> end Request Order t1 bytes=19",
        ]
    );
    let lines = play(
        Protocol::Http,
        Start::Beginning,
        &[
            client(
                "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n",
            ),
            client("GET /next HTTP/1.1\r\nX: a\r\n folded\r\n\r\n"),
        ],
    );
    assert_eq!(
        short(lines),
        [
            "> begin Request Order t0 notices=8 operation=POST resource=/",
            "> end Request Order t0 bytes=57",
            "> begin Request Order t1 notices=8 operation=GET resource=/next",
            "> end Request Order t1 bytes=37",
        ]
    );
}

#[test]
fn a_gap_in_a_skipped_body_is_harmless() {
    let mut player = Player::new(Protocol::Http, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, b"GET / HTTP/1.1\r\n\r\n", true);
    player.bytes(Dir::ToClient, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", true);
    player.gap(Dir::ToClient, 97);
    player.bytes(Dir::ToClient, b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", true);
    assert_eq!(
        player.finish()[2..],
        [
            "< begin Response Order t0 status_code=200",
            "< end Response Order t0 bytes=140 Ok http.response.body.size=100",
            "< begin Response Order t0 status_code=408 error=Request Timeout",
            "< end Response Order t0 bytes=51 Error",
        ]
    );
}

#[test]
fn after_a_gap_the_next_segment_with_a_start_line_goes_on() {
    let mut player = Player::new(Protocol::Http, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, b"GET /1 HTTP/1.1\r\nHo", true);
    player.gap(Dir::ToServer, 10);
    player.bytes(Dir::ToServer, b"GET /in-the-middle HTTP/1.1\r\n\r\n", false);
    player.bytes(Dir::ToServer, b"word GET / HTTP/1.1\r\n\r\n", true);
    player.bytes(Dir::ToServer, b"GET /2 HT", true);
    player.bytes(Dir::ToServer, b"TP/1.1\r\n\r\n", true);
    assert_eq!(
        short(player.finish()),
        ["> gap 10", "> begin Request Order t0 operation=GET resource=/2", "> end Request Order t0 bytes=19",]
    );
}

#[test]
fn joined_in_the_middle() {
    let lines = assert_cuts_do_not_matter(
        Protocol::Http,
        Start::Middle,
        &[
            server("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"),
            client("GET /2 HTTP/1.1\r\n\r\n"),
            server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ],
    );
    assert_eq!(
        short(lines),
        [
            "< begin Response Order t0 status_code=200",
            "< end Response Order t0 bytes=41 Ok http.response.body.size=3",
            "> begin Request Order t1 operation=GET resource=/2",
            "> end Request Order t1 bytes=19",
            "< begin Response Order t2 status_code=200",
            "< end Response Order t2 bytes=38 Ok",
        ]
    );
    // The response to a HEAD that was not seen has no body, whatever its length says.
    let lines = play(
        Protocol::Http,
        Start::Middle,
        &[
            server("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"),
            client("GET /2 HTTP/1.1\r\n\r\n"),
            server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        ],
    );
    assert_eq!(lines.last().unwrap(), "< end Response Order t2 bytes=45 Error");
}

#[test]
fn bodies_of_text_are_captured_where_that_is_on() {
    let limits = Limits { body: 8, ..Limits::default() };
    for size in [1, 2, 3, 100] {
        let lines = play_with(
            Protocol::Http,
            Start::Beginning,
            limits,
            &[
                client(
                    "POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
                ),
                server(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n7\r\ndefghij\r\n0\r\n\r\n",
                ),
                client("POST / HTTP/1.1\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\npng"),
                server("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\nzip"),
            ],
            size,
        );
        assert_eq!(
            [1, 3, 5, 7].map(|at| lines[at].split_once("body.size=").unwrap().1),
            ["7 http.request.body.content={\\\"a\\\":1}", "10 http.response.body.content=abcdefgh", "3", "3",]
        );
        assert!(lines[3].contains("notices=1 "), "{}", lines[3]);
    }
}

#[test]
fn every_error() {
    let error = |talk: &[Said]| play(Protocol::Http, Start::Beginning, talk).pop().unwrap();
    assert_eq!(error(&[client("\x16\x03\x01\x02\x00\x01")]), "errors 1 bad_magic");
    assert_eq!(error(&[server("SSH-2.0-OpenSSH")]), "errors 1 bad_magic");
    assert_eq!(error(&[client("GET / HTTP/3.0\r\n\r\n")]), "errors 1 bad_magic");
    let chunked = |line: &str| server(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{line}"));
    assert_eq!(error(&[chunked("x\r\n")]), "errors 1 bad_length");
    assert_eq!(error(&[chunked("1\r\nab\r\n")]), "errors 1 bad_length");
    assert_eq!(error(&[chunked(&"1".repeat(5_000))]), "errors 1 too_large");
    assert_eq!(error(&[chunked(&format!("0\r\n{}", "a: b\r\n".repeat(20_000)))]), "errors 1 too_large");
    assert_eq!(error(&[client(format!("GET /{} HTTP/1.1", "a".repeat(70_000)))]), "errors 1 too_large");
}

#[test]
fn an_upgrade_to_http2_goes_on_there() {
    let lines = http(&[
        client("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n"),
        server("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    ]);
    assert_eq!(lines.last().unwrap(), "rekey 1");
}

#[test]
fn golden() {
    pcap::golden(Protocol::Http, 18_080, "nginx");
    pcap::golden(Protocol::Http, 18_080, "pipelined");
    pcap::golden(Protocol::Http, 18_090, "h2c");
}

#[test]
fn a_preface_of_http2_goes_on_there() {
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    let request = b"\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
    let lines = assert_cuts_do_not_matter(
        Protocol::Http,
        Start::Beginning,
        &[
            client([&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], settings, request].concat()),
            server([&settings[..], b"\0\0\x01\x01\x05\0\0\0\x01\x88"].concat()),
        ],
    );
    assert_eq!(
        lines,
        [
            "> begin Request Id(1) t0 operation=GET resource=/ network.protocol.version=2",
            "> end Request Id(1) t0 bytes=12",
            "< begin Response Id(1) t1 status_code=200",
            "< end Response Id(1) t1 bytes=10 Ok",
        ]
    );
}
