//! Messages in the manner of RFC 4475 and RFC 5118: what is unusual but valid must be read, what is
//! invalid must still give a message that can be stored and found.

use decode::sip::{self, Known, Message, Problems};

fn parse(text: &str) -> Message<'_> {
    decode::fuzz::sip(text.as_bytes());
    sip::parse(text.as_bytes()).expect("a SIP message")
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

fn s(part: Option<&[u8]>) -> &str {
    std::str::from_utf8(part.unwrap_or_default()).unwrap()
}

/// RFC 4475 §3.1.1.1: folds, odd white space, odd names, odd case.
#[test]
fn wsinv() {
    let text = crlf(
        "INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0\n\
TO :\n sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n\n\
from   : \"J Rosenberg \\\\\\\"\"       <sip:jdrosen@example.com>\n  ;\n  tag = 98asjd8\n\
MaX-fOrWaRdS: 0068\n\
Call-ID: wsinv.ndaksdj@192.0.2.1\n\
Content-Length   : 5\n\
cseq: 0009\n  INVITE\n\
Via  : SIP  /   2.0\n /UDP\n    192.0.2.2;branch=390skdjuw\n\
s :\n\
NewFangledHeader:   newfangled value\n continued newfangled value\n\
UnknownHeaderWithUnusualValue: ;;,,;;,;\n\
Content-Type: application/sdp\n\
Route:\n <sip:services.example.com;lr;unknownwith=value;unknown-no-value>\n\
v:  SIP  / 2.0  / TCP     spindle.example.com   ;\n  branch  =   z9hG4bK9ikj8  ,\n SIP  /    2.0   / UDP  192.168.255.111   ; branch=\n z9hG4bK30239\n\
m:\"Quoted string \\\"\\\"\" <sip:jdrosen@example.com> ; newparam =\n      newvalue ;\n  secondparam ; q = 0.33\n\
\nv=0\n",
    );
    let m = parse(&text);
    assert_eq!(m.problems(), Problems::NONE);
    let to = m.to().unwrap();
    assert_eq!(
        (s(to.uri.user), s(to.uri.host), s(to.tag)),
        ("vivekg", "chair-dnrc.example.com", "1918181833n")
    );
    let from = m.from().unwrap();
    assert_eq!(
        (s(from.display), s(from.uri.user), s(from.tag)),
        (r#"J Rosenberg \\\""#, "jdrosen", "98asjd8")
    );
    assert_eq!((m.max_forwards(), m.cseq().unwrap().number), (Some(68), 9));
    let via = m.via().unwrap();
    assert_eq!((s(via.transport), s(via.host), s(via.branch)), ("UDP", "192.0.2.2", "390skdjuw"));
    assert_eq!(m.value(Known::Subject), None);
    let mut flat = Vec::new();
    sip::unfold(m.header(b"newfangledheader").unwrap(), &mut flat);
    assert_eq!(flat, b"newfangled value continued newfangled value");
    let contact = m.contact().unwrap();
    assert_eq!(s(contact.display), r#"Quoted string \"\""#);
    let names: Vec<_> = contact.params().map(|(name, value)| (s(Some(name)), s(value))).collect();
    assert_eq!(names, [("newparam", "newvalue"), ("secondparam", ""), ("q", "0.33")]);
    let second = m.headers().filter(|h| h.is(b"Via")).nth(1).unwrap();
    let second = sip::Via::parse(second.value);
    assert_eq!(
        (s(second.transport), s(second.host), s(second.branch)),
        ("TCP", "spindle.example.com", "z9hG4bK9ikj8")
    );
    assert_eq!(m.ruri().unwrap().params().next(), Some((&b"unknownparam"[..], None)));
}

/// RFC 4475 §3.1.1.2: every character that a method and a URI may have.
#[test]
fn intmeth() {
    let text = crlf(
        "!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0\n\
Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~\n\
To: \"BEL:\\\u{7} NUL:\\\u{0} DEL:\\\u{7f}\" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>\n\
From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%=\"\u{440}\u{430}\u{431}\";tag=_token~1'+`*%!-.\n\
Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{\n\
CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~\n\
Max-Forwards: 255\n\
extensionHeader-!.%*+_`'~: \u{fe0f}\u{5927}\u{505c}\u{96fb}\n\
Content-Length: 0\n\n",
    );
    let m = parse(&text);
    assert_eq!(m.problems(), Problems::NONE);
    assert!(m.head_is_utf8());
    assert_eq!(s(m.method()), "!interesting-Method0123456789_*+`.%indeed'~");
    let uri = m.ruri().unwrap();
    assert_eq!(s(uri.user), "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*");
    assert_eq!(s(uri.host), "example.com");
    assert_eq!(s(m.from().unwrap().tag), "_token~1'+`*%!-.");
    assert_eq!(s(m.to().unwrap().uri.host), "example.com");
    assert_eq!(
        m.text(m.header(b"extensionHeader-!.%*+_`'~").unwrap()),
        Some("\u{fe0f}\u{5927}\u{505c}\u{96fb}")
    );
}

/// RFC 4475 §3.1.1.6 and §3.1.1.7: names and values longer than a vector, many Via.
#[test]
fn longreq() {
    let long = "a".repeat(3000);
    let text = crlf(&format!(
        "INVITE sip:user@example.com SIP/2.0\nTo: \"I have a user name of {long}\" <sip:user@example.com:6000;p={long}=v>\n\
F: sip:{long}@x;tag={long}\n{long}: {long}\nCall-ID: {long}\nCSeq: 3882340 INVITE\n{vias}\n\n",
        vias = (0..40)
            .map(|n| format!("Via: SIP/2.0/TCP sip{n}.example.com;branch={n}"))
            .collect::<Vec<_>>()
            .join("\n"),
    ));
    let m = parse(&text);
    assert_eq!(m.problems(), Problems::NONE);
    assert_eq!((m.call_id().unwrap().len(), s(m.via().unwrap().branch)), (3000, "0"));
    assert_eq!(s(m.to().unwrap().uri.user), "user");
    assert_eq!(m.to().unwrap().uri.port(), Some(6000));
    assert_eq!(m.from().unwrap().tag.unwrap().len(), 3000);
    assert_eq!(m.header(long.as_bytes()).unwrap().len(), 3000);
}

/// RFC 4475 §3.1.1.13: a reason phrase beyond ASCII, and none at all.
#[test]
fn unreason_and_noreason() {
    let text = "SIP/2.0 200 = 2**3 * 5**2 \u{43d}\u{43e}\r\nCSeq: 35 INVITE\r\n\r\n";
    let m = parse(text);
    assert_eq!(
        (m.code(), s(m.reason()), s(m.method())),
        (Some(200), "= 2**3 * 5**2 \u{43d}\u{43e}", "INVITE")
    );
    for text in
        ["SIP/2.0 100 \r\nCSeq: 1 BYE\r\n\r\n", "SIP/2.0 100\r\nCSeq: 1 BYE\r\n\r\n", "sip/2.0  100\n\n"]
    {
        let m = parse(text);
        assert_eq!((m.code(), m.reason()), (Some(100), None));
    }
}

/// RFC 4475 §3.1.1.3 to §3.1.1.5 and §3.1.2.11: escapes stay as they are.
#[test]
fn escapes_and_semicolons() {
    let m = parse(
        "REGISTER sip:sips%3Auser%40example.com@example.net SIP/2.0\r\nTo: sip:%75se%72@example.com\r\nContact: <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>\r\n\r\n",
    );
    assert_eq!(s(m.ruri().unwrap().user), "sips%3Auser%40example.com");
    assert_eq!(s(m.to().unwrap().uri.user), "%75se%72");
    assert_eq!(s(m.contact().unwrap().uri.params().value(b"n%61me")), "v%61lue%25%34%31");
    let m = parse("OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0\r\n\r\n");
    assert_eq!(
        (s(m.ruri().unwrap().user), s(m.ruri().unwrap().host)),
        ("user;par=u%40example.net", "example.com")
    );
}

/// RFC 4475 §3.1.2: start lines that break the grammar.
#[test]
fn odd_start_lines() {
    let cases = [
        ("INVITE <sip:user@example.com> SIP/2.0\r\n\r\n", "sip:user@example.com"),
        ("INVITE sip:user@example.com; lr SIP/2.0\r\n\r\n", "sip:user@example.com; lr"),
        ("INVITE  sip:user@example.com  SIP/2.0\r\n\r\n", "sip:user@example.com"),
        ("OPTIONS sip:remote-target@example.com SIP/2.0  \r\n\r\n", "sip:remote-target@example.com"),
        (
            "INVITE sip:sip%3Auser%40example.com@company.com;other-param=x?Route=%3Csip:x%3E SIP/2.0\r\n\r\n",
            "sip:sip%3Auser%40example.com@company.com;other-param=x?Route=%3Csip:x%3E",
        ),
    ];
    for (text, raw) in cases {
        let m = parse(text);
        assert!(m.is_request() && !m.problems().contains(Problems::BAD_VERSION), "{text}");
        assert_eq!(s(Some(m.ruri().unwrap().raw)), raw);
    }
    for text in ["OPTIONS sip:t@example.com SIP/7.0\r\n\r\n", "INVITE sip:bob", "SIP/7.0 200 OK\r\n\r\n"] {
        assert!(parse(text).problems().contains(Problems::BAD_VERSION), "{text}");
    }
    for text in [
        "SIP/2.0 4294967301 better not break\r\n\r\n",
        "SIP/2.0 099 x\r\n\r\n",
        "SIP/2.0 700 x\r\n\r\n",
        "SIP/2.0 20 x\r\n\r\n",
    ] {
        let m = parse(text);
        assert!(m.problems().contains(Problems::BAD_STATUS_CODE) && m.code().is_none(), "{text}");
    }
}

/// RFC 4475 §3.1.2 and §3.3: values that break the grammar.
#[test]
fn odd_values() {
    let m = parse(
        "INVITE sip:u@e SIP/2.0\r\nTo: \"Mr. J. User <sip:j.user@example.com>\r\nFrom: Bell, Alexander <sip:a.g.bell@example.com>;tag=43\r\nCSeq: 0 ACK\r\nContent-Length: -999\r\nMax-Forwards: 300x\r\nExpires: 0\r\nCall-ID:\r\nVia: SIP/2.0/UDP 192.0.2.15;;,;,,\r\nContact: \"\" ;; ,\r\n\r\n",
    );
    assert_eq!(s(m.to().unwrap().uri.user), "j.user");
    assert_eq!((s(m.from().unwrap().display), s(m.from().unwrap().tag)), ("Bell, Alexander", "43"));
    assert_eq!((m.content_length(), m.max_forwards(), m.expires()), (None, None, Some(0)));
    let expected = Problems::METHOD_MISMATCH | Problems::BAD_CONTENT_LENGTH | Problems::NO_CALL_ID;
    assert_eq!(m.problems(), expected);
    assert_eq!(s(m.via().unwrap().host), "192.0.2.15");
    assert!(m.contact().is_some());

    for cseq in [
        "36893488147419103232 REGISTER",
        "9292394834772304023312 OPTIONS",
        "1",
        "INVITE",
        "1 ",
        "1 IN VITE",
        "-1 ACK",
    ] {
        let text = format!("SIP/2.0 200 OK\r\nCSeq: {cseq}\r\n\r\n");
        let m = parse(&text);
        assert!(m.problems().contains(Problems::BAD_CSEQ), "{cseq}");
        assert_eq!((m.cseq(), m.method()), (None, None));
    }
}

/// RFC 4475 §3.3.1 and §3.3.8, §3.3.9: what is missing, what is there twice.
#[test]
fn insuf_multi01_mcl01() {
    let m = parse(
        "INVITE sip:user@example.com SIP/2.0\r\nCSeq: 193942 INVITE\r\nVia: SIP/2.0/UDP 192.0.2.95;branch=z9\r\n\r\n",
    );
    assert_eq!(m.problems(), Problems::NO_CALL_ID | Problems::NO_FROM | Problems::NO_TO);
    let labels: Vec<_> = m.problems().labels().collect();
    assert_eq!(labels, ["no_call_id", "no_from", "no_to"]);
    let m = parse(
        "OPTIONS sip:u@e SIP/2.0\r\nCall-ID: 1\r\nCall-ID: 2\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhi",
    );
    assert_eq!(s(m.call_id()), "1");
    assert!(m.problems().contains(Problems::DUPLICATE_HEADER));
    assert!(!m.problems().contains(Problems::CONTENT_LENGTH_MISMATCH));
    let m = parse("OPTIONS sip:u@e SIP/2.0\r\nContact: <sip:a@b>\r\nContact: <sip:c@d>\r\n\r\n");
    assert!(!m.problems().contains(Problems::DUPLICATE_HEADER));
}

/// RFC 4475 §3.1.2.1, §3.1.2.2 and datagrams cut short.
#[test]
fn lengths_and_ends() {
    let head = "INVITE sip:u@e SIP/2.0\r\nCall-ID: 1\r\nContent-Length: 9999\r\n";
    let body_only = format!("{head}\r\nv=0\r\n");
    let m = parse(&body_only);
    assert!(m.problems().contains(Problems::CONTENT_LENGTH_MISMATCH));
    assert_eq!(m.body(), b"v=0\r\n");
    for end in ["", "Subject: cut o", "Subject", "\r"] {
        let text = format!("{head}{end}");
        let m = parse(&text);
        assert!(m.problems().contains(Problems::NO_END_OF_HEAD), "{end:?}");
        assert_eq!((s(m.call_id()), m.body()), ("1", &b""[..]));
    }
    let m = parse("INVITE sip:u@e SIP/2.0\r\nnonsense\r\n: empty\r\nCall-ID: 1\r\n\r\n");
    assert!(m.problems().contains(Problems::BAD_HEADER_LINE));
    assert_eq!((s(m.call_id()), m.headers().count()), ("1", 1));
}

/// RFC 5118: IPv6 references.
#[test]
fn ipv6() {
    let m = parse(
        "REGISTER sip:[2001:db8::10] SIP/2.0\r\nVia: SIP/2.0/UDP [2001:db8::9:1]:5062;received=[2001:db8::9:255];branch=z9hG4bKas3-111;rport=5063\r\nTo: <sip:user@[2001:db8::10]:5060;transport=tcp>\r\nContact: \"Caller\" <sip:caller@[2001:db8::1]>\r\n\r\n",
    );
    assert_eq!(s(m.ruri().unwrap().host), "2001:db8::10");
    let via = m.via().unwrap();
    assert_eq!(
        (s(via.host), via.port, s(via.received), via.rport),
        ("2001:db8::9:1", Some(5062), "[2001:db8::9:255]", Some(5063))
    );
    assert_eq!(s(via.branch), "z9hG4bKas3-111");
    let to = m.to().unwrap().uri;
    assert_eq!(
        (s(to.host), to.port(), s(to.params().value(b"Transport"))),
        ("2001:db8::10", Some(5060), "tcp")
    );
}

/// Every header that is kept by name, in the form in which it is searched.
#[test]
fn headers_kept_by_name() {
    let m = parse(
        "BYE sip:u@e SIP/2.0\r\nServer: s/1\r\nOrganization: Acme\r\nP-Asserted-Identity: \"A\" <sip:+1@e>\r\nPrivacy: id\r\nReason: Q.850;cause=16\r\nRemote-Party-ID: <tel:+2>;party=calling\r\nDiversion: <sip:+3@e>;reason=no-answer\r\nExpires: 60\r\nX-RTP-Stat: PS=1,OS=2\r\nSession-ID: ab30;remote=00\r\nAuthorization: Digest username=\"bob\", response=\"secret\"\r\nProxy-Authorization: Digest username=\"eve\"\r\nX-CID: other-leg\r\n\r\n",
    );
    let kept = [
        (Known::Server, "s/1"),
        (Known::Organization, "Acme"),
        (Known::Privacy, "id"),
        (Known::Reason, "Q.850;cause=16"),
        (Known::XRtpStat, "PS=1,OS=2"),
        (Known::SessionId, "ab30;remote=00"),
    ];
    for (header, value) in kept {
        assert_eq!(s(m.value(header)), value);
    }
    assert_eq!(s(m.asserted_identity().unwrap().uri.user), "+1");
    assert_eq!(s(m.remote_party().unwrap().uri.user), "+2");
    assert_eq!(s(m.diversion().unwrap().params().value(b"reason")), "no-answer");
    assert_eq!((s(m.auth_username()), m.expires()), ("bob", Some(60)));
    assert_eq!((s(m.header(b"x-cid")), m.header(b"X-None")), ("other-leg", None));
    let m = parse("BYE sip:u@e SIP/2.0\r\nProxy-Authorization: Digest username=\"eve\"\r\n\r\n");
    assert_eq!(s(m.auth_username()), "eve");
}

#[test]
fn text_that_is_known_to_be_utf8() {
    let text = "\r\nINVITE sip:b\u{e9}b@e SIP/2.0\r\nCall-ID: \u{e9}\r\n\r\nbody \u{e9}";
    let m = sip::parse_str(text).unwrap();
    assert!(m.head_is_utf8());
    assert_eq!(m.text(m.call_id().unwrap()), Some("\u{e9}"));
    assert_eq!(m.text(m.ruri().unwrap().user.unwrap()), Some("b\u{e9}b"));
    assert_eq!(m.text(&m.call_id().unwrap()[..1]), None);
}
