//! Questions and answers: search, SQL, calls, captures, the REST interface and who may use it, and what the commands print.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Output, Stdio};

use common::packets::{EPOCH, answer, envelope, request, wrap};
use common::{Server, complaint, folder, run, text, wirelake};
use envelope::hep::{Hep, RawTime};
use serde_json::Value;
use tempfile::TempDir;

/// A Call-ID that needs care wherever it goes.
const ODD: &str = "a/b%2Fc?d=e&f#g@h i;j'k\"l";

/// A server that has seen a few calls, a minute apart.
struct Calls {
    server: Server,
    data: TempDir,
}

impl Calls {
    /// Waits until all of it can be found.
    fn new() -> Self {
        let data = folder();
        let server = Server::start(data.path(), &[]);
        let mut stream = TcpStream::connect(server.tcp()).unwrap();
        let mut count = 0;
        let mut send = |hep: &Hep<'_>, minute: u32, milli: u32, payload: &str| {
            let time = Some(RawTime { sec: EPOCH + minute * 60, usec: milli * 1_000 });
            stream.write_all(&wrap(&Hep { time, ..hep.clone() }, payload.as_bytes())).unwrap();
            count += 1;
        };
        let there = Hep { node_name: Some(b"edge-1"), ..envelope() };
        let back = Hep { src: there.dst, dst: there.src, ..there.clone() };
        let call = "answered@example.com";
        send(&there, 0, 0, &request("INVITE", call));
        send(&back, 0, 10, &answer(100, "Trying", "INVITE", call));
        send(&back, 0, 200, &answer(180, "Ringing", "INVITE", call));
        send(&back, 0, 900, &answer(200, "OK", "INVITE", call));
        send(&there, 0, 910, &request("ACK", call));
        send(&there, 1, 0, &request("BYE", call));
        send(&back, 1, 5, &answer(200, "OK", "BYE", call));
        let there = Hep {
            src: Some([192, 168, 7, 1].into()),
            dst: Some([192, 168, 7, 2].into()),
            dst_port: Some(5080),
            ip_proto: Some(6),
            capture_id: Some(2002),
            node_name: Some(b"edge-2"),
            ..envelope()
        };
        let back = Hep {
            src: there.dst,
            dst: there.src,
            src_port: Some(5080),
            dst_port: Some(5060),
            ..there.clone()
        };
        let other = |text: String| text.replace("alice@", "carol@").replace("bob@", "dave@");
        send(&there, 2, 0, &other(request("INVITE", ODD)));
        send(&back, 2, 40, &other(answer(486, "Busy Here", "INVITE", ODD)));
        send(&there, 2, 50, &other(request("ACK", ODD)));
        let v6 = |text: &str| text.parse().ok();
        let there = Hep { family: Some(10), src: v6("2001:db8::1"), dst: v6("2001:db8::2"), ..envelope() };
        let back = Hep { src: there.dst, dst: there.src, ..there.clone() };
        send(&there, 3, 0, &request("REGISTER", "registration"));
        send(&back, 3, 20, &answer(401, "Unauthorized", "REGISTER", "registration"));
        server.settled(count);
        Self { server, data }
    }

    /// Runs a command against the server.
    fn run(&self, arguments: &[&str]) -> Output {
        let url = self.server.url();
        run(&[arguments, &["--server", &url]].concat())
    }

    /// The rows that a search prints as JSON.
    fn search(&self, filters: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["search", "--format", "json"], filters].concat());
        serde_json::from_str(&text(&output)).unwrap()
    }
}

#[test]
fn filters_find_what_they_say() {
    let calls = Calls::new();
    for (filters, count) in [
        (&[][..], 12),
        (&["--method", "INVITE"], 6),
        (&["--method", "bye,ack"], 4),
        (&["--from", "alice"], 9),
        (&["--from", "sip:carol@atlanta.example.com"], 3),
        (&["--from", "ali*"], 9),
        (&["--to", "dave"], 3),
        (&["--to", "@biloxi.example.com"], 12),
        (&["--to", "nobody"], 0),
        (&["--call-id", "answered@example.com"], 7),
        (&["--call-id", ODD], 3),
        (&["--call-id", "*example.com"], 7),
        (&["--call-id", "answered"], 0),
        (&["--ip", "10.0.0.1"], 7),
        (&["--ip", "192.168.7.2"], 3),
        (&["--ip", "192.168.0.0/16"], 3),
        (&["--ip", "0.0.0.0/0"], 10),
        (&["--ip", "2001:db8:0:0::1"], 2),
        (&["--ip", "2001:db8:*"], 2),
        (&["--port", "5080"], 3),
        (&["--code", "200"], 2),
        (&["--code", "4xx"], 2),
        (&["--code", "100, 180,486"], 3),
        (&["--code", "1xx"], 2),
        (&["--node", "2002"], 3),
        (&["--node", "edge-1"], 7),
        (&["--text", "BUSY"], 1),
        (&["--text", "100%"], 0),
        (&["--since", "2023-11-14T22:15:20Z"], 5),
        (&["--until", "2023-11-14T22:13:20.010Z"], 2),
        (&["--since", "2023-11-14T22:14:20Z", "--until", "2023-11-14 22:15:20"], 3),
        (&["--since", "1h"], 0),
        (&["--method", "INVITE", "--code", "4xx", "--node", "edge-2", "--port", "5060"], 1),
    ] {
        let found = calls.search(filters);
        assert_eq!(found.len(), count, "{filters:?}: {found:#?}");
    }
    // The newest comes first, a page after another.
    let pages: Vec<Value> =
        (0..4).flat_map(|page| calls.search(&["-n", "3", "--offset", &(page * 3).to_string()])).collect();
    assert_eq!(pages, calls.search(&[]));
    assert!(pages.is_sorted_by(|one, other| one["ts"].as_str() >= other["ts"].as_str()));

    let found = calls.search(&["--by", "call"]);
    let of = |id: &str| found.iter().find(|call| call["call_id"] == id).unwrap();
    assert_eq!(found.len(), 3, "{found:#?}");
    assert_eq!(
        (&of("answered@example.com")["state"], &of("answered@example.com")["messages"]),
        (&"ended".into(), &7.into())
    );
    assert_eq!(of("answered@example.com")["duration_ms"], 60_005.0);
    assert_eq!(
        (&of(ODD)["state"], &of(ODD)["code"], &of(ODD)["from_user"]),
        (&"failed".into(), &486.into(), &"carol".into())
    );
    assert_eq!((&of("registration")["state"], &of("registration")["code"]), (&"failed".into(), &401.into()));
    // A call is found by any of its messages and shown whole.
    let found = calls.search(&["--by", "call", "--code", "180"]);
    assert_eq!((found.len(), &found[0]["messages"]), (1, &7.into()));

    for (filters, words) in [
        (["--ip", "10.0.0"], "is no IP address"),
        (["--ip", "10.0.0.0/40"], "10.1.0.0/16"),
        (["--code", "busy"], "4xx"),
        (["--code", "18x"], "18x"),
        (["--since", "soon"], "15m"),
    ] {
        let output = calls.run(&[&["search"], &filters[..]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(complaint(&output).contains(words), "{}", complaint(&output));
    }
}

#[test]
fn sql_is_answered_in_every_format() {
    let calls = Calls::new();
    let query = "SELECT method, count(*) AS n FROM sip GROUP BY ALL ORDER BY n DESC, method";
    let sql = |format: &str| text(&calls.run(&["sql", query, "--format", format]));
    let rows: Vec<Value> = serde_json::from_str(&sql("json")).unwrap();
    assert_eq!((rows.len(), &rows[0]["method"], &rows[0]["n"]), (4, &"INVITE".into(), &6.into()), "{rows:?}");
    assert_eq!(sql("csv"), "method,n\nINVITE,6\nACK,2\nBYE,2\nREGISTER,2\n");
    let table = sql("table");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].contains("method") && lines[0].contains('n'), "{table}");
    assert!(lines.iter().any(|line| line.contains("INVITE") && line.contains('6')), "{table}");

    let url = calls.server.url();
    let mut child = wirelake(&["sql", "-", "--format", "csv", "--server", &url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"-- from a file\nSELECT 1 AS one;\n").unwrap();
    assert_eq!(text(&child.wait_with_output().unwrap()), "one\n1\n");

    let output = calls.run(&["sql", "SELECT * FROM sip", "--limit", "5", "--format", "json", "--scan"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&text(&output)).unwrap().len(), 5);
    assert!(
        complaint(&output).contains("there are more") && complaint(&output).contains("files read"),
        "{}",
        complaint(&output)
    );

    for (query, words) in [
        ("SELEC 1", "SELEC"),
        ("SELECT nothing FROM sip", "nothing"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("COPY sip TO 'out.csv'", "read only"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("DROP VIEW sip", "DROP"),
        ("SELECT * FROM read_text('/etc/passwd')", "/etc/passwd"),
        ("", "empty"),
    ] {
        let output = calls.run(&["sql", query]);
        let said = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{query}: {said}");
        assert!(
            said.contains(words) && said.starts_with("wirelake: ") && !said.contains("root:"),
            "{query}: {said}"
        );
    }
    // The tables of Homer 11 are there by name.
    let homer = calls
        .server
        .sql("SELECT session_id, caller, callee, response_code FROM hep_proto_1_call WHERE method = '486'");
    assert_eq!((homer.len(), &homer[0]["caller"]), (1, &"carol".into()), "{homer:?}");

    // A folder is read without a server, also beside one that is at work.
    let data = calls.data.path().to_str().unwrap().to_owned();
    calls.server.stop().well();
    let count = text(&run(&["sql", "SELECT count(*) AS n FROM sip", "--data", &data, "--format", "csv"]));
    assert_eq!(count, "n\n12\n");
    let output = run(&["search", "--data", &data, "--method", "BYE", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&text(&output)).unwrap().len(), 2);
    let output = run(&["sql", "SELECT 1", "--data", folder().path().to_str().unwrap()]);
    assert!(complaint(&output).contains("there is no lake in"), "{}", complaint(&output));
    // And without either, there is a way out.
    let output = run(&["sql", "SELECT 1", "--server", &url]);
    assert!(
        complaint(&output).contains("no wirelake answers") && complaint(&output).contains("serve"),
        "{}",
        complaint(&output)
    );
}

#[test]
fn a_call_is_drawn_and_exported() {
    let calls = Calls::new();
    let ladder = text(&calls.run(&["call", "answered@example.com", "--width", "100"]));
    for words in [
        "INVITE",
        "100 Trying",
        "180 Ringing",
        "200 OK",
        "ACK",
        "BYE",
        "10.0.0.1",
        "10.0.0.2",
        "alice",
        "bob",
    ] {
        assert!(ladder.contains(words), "{words}: {ladder}");
    }
    assert!(ladder.lines().all(|line| line.chars().count() <= 100), "{ladder}");
    let ascii = text(&calls.run(&["call", "answered@example.com", "--ascii", "--raw"]));
    assert!(ascii.is_ascii() && ascii.contains("Call-ID: answered@example.com"), "{ascii}");

    let json: Value = serde_json::from_str(&text(&calls.run(&["call", ODD, "--json"]))).unwrap();
    assert_eq!(
        (&json["call_id"], &json["state"], &json["code"]),
        (&ODD.into(), &"failed".into(), &486.into())
    );
    assert_eq!(json["messages"].as_array().unwrap().len(), 3);

    let output = calls.run(&["call", "no such call"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        complaint(&output).contains("there is no call with the Call-ID no such call"),
        "{}",
        complaint(&output)
    );

    let mut url = reqwest::Url::parse(&calls.server.url()).unwrap();
    url.path_segments_mut().unwrap().extend(["api", "calls", ODD]);
    let path = url.path().to_owned();
    let found = calls.server.json(&path);
    assert_eq!((&found["call_id"], found["messages"].as_array().unwrap().len()), (&ODD.into(), 3));
    assert_eq!(
        (&found["messages"][0]["transport"], &found["messages"][1]["code"]),
        (&"tcp".into(), &486.into())
    );
    let (status, drawn) = calls.server.get(&format!("{path}/text"));
    assert!(status == 200 && drawn.contains("486 Busy Here"), "{drawn}");
    for part in ["", "/pcap", "/text"] {
        let (status, body) = calls.server.get(&format!("/api/calls/none{part}"));
        assert!(status == 404 && body.contains("there is no call"), "{body}");
    }

    // Written by the command or by the server, the capture is the same: three SIP packets with their bytes.
    let file = calls.data.path().join("call.pcap");
    let output = calls.run(&["call", ODD, "--pcap", file.to_str().unwrap()]);
    assert!(
        text(&output).is_empty() && complaint(&output).starts_with("3 packets"),
        "{}",
        complaint(&output)
    );
    let capture = std::fs::read(&file).unwrap();
    let magic = u32::from_ne_bytes(capture[..4].try_into().unwrap());
    assert!([0xa1b2_c3d4, 0xa1b2_3c4d].contains(&magic), "{magic:x}");
    let streamed = calls.run(&["call", ODD, "--pcap", "-"]);
    assert_eq!(streamed.stdout, capture);
    let response = reqwest::blocking::get(format!("{}{path}/pcap", calls.server.url())).unwrap();
    assert_eq!(response.headers()["content-type"], "application/vnd.tcpdump.pcap");
    assert!(response.headers()["content-disposition"].to_str().unwrap().contains(".pcap"));
    assert_eq!(response.bytes().unwrap(), capture);
    assert!(capture.windows(13).any(|window| window == b"486 Busy Here"));
}

#[test]
fn the_document_lists_every_route_and_every_route_answers() {
    let calls = Calls::new();
    let document = calls.server.json("/api/openapi.json");
    assert!(document["openapi"].as_str().unwrap().starts_with('3'));
    let mut listed: Vec<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    listed.sort_unstable();
    let routes = [
        "/api/bottleneck",
        "/api/calls/{call_id}",
        "/api/calls/{call_id}/pcap",
        "/api/calls/{call_id}/text",
        "/api/flows/live",
        "/api/health",
        "/api/ledger",
        "/api/rate",
        "/api/search",
        "/api/sql",
        "/api/tables",
        "/metrics",
    ];
    assert_eq!(listed, routes);
    for route in listed.iter().filter(|route| **route != "/api/sql") {
        let (status, body) = calls.server.get(&route.replace("{call_id}", "registration"));
        assert_eq!(status, 200, "{route}: {body}");
    }
    assert_eq!(calls.server.json("/api/health")["status"], "ok");
    let tables = calls.server.json("/api/tables");
    assert_eq!(
        (&tables[0]["name"], &tables[0]["rows"], &tables[1]["name"]),
        (&"sip".into(), &12.into(), &"hep".into())
    );
    assert_eq!(calls.server.json("/api/search?method=BYE&limit=1")["row_count"], 1);
    for wrong in
        ["/api/search?nonsense=1", "/api/search?port=many", "/api/search?code=x", "/api/search?by=day"]
    {
        let (status, body) = calls.server.get(wrong);
        let sentence: Value = serde_json::from_str(&body).unwrap();
        assert!(status == 400 && sentence["error"].is_string(), "{wrong}: {status} {body}");
    }
    let (status, body) = calls.server.get("/api/nothing");
    assert!(status == 404 && body.contains("openapi.json"), "{body}");
    let (status, page) = calls.server.get("/");
    assert!(status == 200 && page.contains("<html"), "{page}");
    let client = reqwest::blocking::Client::new();
    for body in ["", "{", "[]", "{\"sql\":\"SELECT 1\"}"] {
        let request =
            client.post(format!("{}/api/sql", calls.server.url())).header("content-type", "application/json");
        let response = request.body(body).send().unwrap();
        assert_eq!(response.status(), 400, "{body}");
        assert!(response.json::<Value>().unwrap()["error"].is_string(), "{body}");
    }
}

#[test]
fn metrics_are_what_prometheus_reads() {
    let calls = Calls::new();
    let (_, metrics) = calls.server.get("/metrics");
    let (mut kinds, mut seen) = (Vec::new(), Vec::new());
    for line in metrics.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.split(' ');
            match (words.next(), words.next(), words.next()) {
                (Some("HELP"), Some(_), Some(_)) => {}
                (Some("TYPE"), Some(name), Some("counter" | "gauge" | "histogram")) => {
                    kinds.push(name.to_owned())
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        let name = series.split('{').next().unwrap();
        // The lines of a histogram have a name of their own each.
        let family =
            ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let known = kinds.last().is_some_and(|kind| kind == name || kind == family);
        assert!(name.starts_with("wirelake_") && known, "{line}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{line}");
        seen.push(series.to_owned());
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert!(seen.len() == count && count > 40);
    assert!(
        metrics.contains("\nwirelake_rows_sip_total 12\n")
            && metrics.contains("\nwirelake_ledger_balanced 1\n")
    );
    assert!(metrics.contains("wirelake_drops_total{stage=\"envelope\",reason=\"not_hep\"} 0"));
}

#[test]
fn only_who_may_ask_is_answered() {
    let data = folder();
    let open = Server::start(data.path(), &[]);
    let client =
        reqwest::blocking::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let named = |host: &str| {
        client
            .get(format!("{}/api/health", open.url()))
            .header("host", host)
            .send()
            .unwrap()
            .status()
            .as_u16()
    };
    for (host, status) in [
        ("localhost:8080", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example:80", 403),
        ("10.0.0.1", 403),
    ] {
        assert_eq!(named(host), status, "{host}");
    }

    let data = folder();
    let closed = Server::start(data.path(), &["--api-token", "s3cret"]);
    let url = closed.url();
    assert_eq!(closed.get("/api/calls/registration").0, 401);
    for path in ["/api/health", "/api/ledger", "/metrics", "/", "/api/openapi.json", "/api/search"] {
        assert_eq!(closed.get(path).0, 401, "{path}");
        let with = |token: &str| {
            client.get(format!("{url}{path}")).bearer_auth(token).send().unwrap().status().as_u16()
        };
        assert_eq!((with("s3cret"), with("s3cre"), with("")), (200, 401, 401), "{path}");
    }
    assert_eq!(closed.ask("SELECT 1").0, 401);
    let opened = client.get(format!("{url}/?token=s3cret")).send().unwrap();
    assert_eq!((opened.status().as_u16(), opened.headers()["location"].to_str().unwrap()), (303, "/"));
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(
        client.get(format!("{url}/api/health")).header("cookie", cookie).send().unwrap().status(),
        200
    );
    assert_eq!(client.get(format!("{url}/?token=wrong")).send().unwrap().status(), 401);

    let sql = ["sql", "SELECT 1 AS one", "--format", "csv", "--server", &url];
    let refused = run(&sql);
    assert!(complaint(&refused).contains("token"), "{}", complaint(&refused));
    assert_eq!(text(&run(&[&sql[..], &["--token", "s3cret"]].concat())), "one\n1\n");
    // The token is a secret: neither the log nor `check` shows it.
    let log = closed.stop().log;
    assert!(!log.contains("s3cret"), "{log}");
    let shown = run(&["check", "--api-token", "s3cret", "--set", "hep.key=k3y"]);
    assert!(!text(&shown).contains("s3cret") && !text(&shown).contains("k3y"), "{}", text(&shown));
    // Beyond this machine there is no service without a token.
    let output = run(&["serve", "--data", folder().path().to_str().unwrap(), "--api", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("token"), "{}", complaint(&output));
}

#[test]
fn commands_say_what_they_are_for() {
    assert_eq!(text(&run(&["version"])), format!("wirelake {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(text(&run(&["--version"])), text(&run(&["version"])));
    let help = text(&run(&["--help"]));
    for (command, words) in [
        ("serve", "--hep-udp"),
        ("sql", "--format"),
        ("search", "--call-id"),
        ("call", "--pcap"),
        ("check", "--config"),
        ("doctor", "--config"),
        ("bench", "--json"),
        ("version", "version"),
        ("completions", "shell"),
    ] {
        assert!(help.contains(command), "{help}");
        let help = text(&run(&[command, "--help"]));
        assert!(help.contains("Usage: ") && help.contains(words), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    let unknown = run(&["serv"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(complaint(&unknown).contains("serve"), "{}", complaint(&unknown));

    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&run(&["completions", shell])).contains("wirelake"));
    }
    let data = folder();
    let lake = data.path().to_str().unwrap();
    let check = text(&run(&["check", "--data", lake, "--set", "lake.seal_ms=100"]));
    assert!(check.contains(&format!("dir = \"{lake}\"")) && check.contains("seal_ms = 100"), "{check}");
    // What `check` prints is a configuration.
    let file = data.path().join("wirelake.toml");
    std::fs::write(&file, &check).unwrap();
    let again = text(&run(&["check", "--config", file.to_str().unwrap()]));
    let values = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| Some(line.split('#').next()?.trim_end().to_owned())).collect()
    };
    assert_eq!(values(&again), values(&check));

    let doctor = run(&["doctor", "--data", lake]);
    let findings = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.code().is_some_and(|code| code < 2), "{findings}");
    for words in ["receive buffer", "capabilities", "clock", "disk space"] {
        assert!(findings.contains(words), "{words}: {findings}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for command in ["check", "doctor", "completions"] {
        let mut arguments = vec![command];
        if command == "completions" {
            arguments.push("bash");
        }
        let mut child = wirelake(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success() && said.is_empty(), "{command}: {said}");
    }
}
