//! docs/protocols.md is what the decoders say about themselves.

use std::fmt::Write;
use std::path::Path;

use decode::Protocol;

fn render() -> String {
    let mut text = String::from(
        "# Protocols\n\n\
         What is decoded of the traffic on an interface or in a capture file. This page is made from what each decoder\n\
         says about itself (`UPDATE_GOLDEN=1 cargo test -p tap --test protocols`).\n\n\
         A flow's protocol is found out from its first bytes, on any port; the usual ports only decide who is asked first.\n\
         `redis=6379,6380` on the command line, or `capture.rules`, names others; `--decode-as redis=7000` is obeyed\n\
         without a look at the bytes.\n\n\
         | protocol | name | transport | usual ports | decoded | not decoded |\n|---|---|---|---|---|---|\n",
    );
    for protocol in Protocol::ALL {
        let meta = protocol.meta();
        let transports: Vec<_> = meta.transports.iter().map(|transport| transport.as_str()).collect();
        let ports: Vec<_> = meta.ports.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} | {} |",
            meta.title,
            meta.name,
            transports.join(", "),
            if ports.is_empty() { "-".to_owned() } else { ports.join(", ") },
            meta.decoded,
            meta.not_decoded
        );
    }
    text.push_str("\n## Specifications\n\n");
    for protocol in Protocol::ALL {
        let meta = protocol.meta();
        let _ = writeln!(text, "- {}: {}", meta.title, meta.specs.join(", "));
    }
    text
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols.md");
    let rendered = render();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &rendered).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, rendered, "run: UPDATE_GOLDEN=1 cargo test -p tap --test protocols");
}

#[test]
fn every_decoder_says_what_it_does() {
    for protocol in Protocol::ALL {
        let meta = protocol.meta();
        assert!(!meta.decoded.is_empty() && !meta.not_decoded.is_empty(), "{}", meta.name);
        assert!(!meta.specs.is_empty(), "{}", meta.name);
        assert!(!meta.decoded.contains('|') && !meta.not_decoded.contains('|'), "{}", meta.name);
        assert_eq!(Protocol::by_name(meta.name), Some(*protocol));
    }
}
