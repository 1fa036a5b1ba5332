//! The order of the crates, where `unsafe` may be, and markers that must not be left behind.
//!
//! Each rule is a function over text, so that its test can show it a bad example first. Only `std` is used: the file
//! also compiles alone (`make layers`), when the workspace does not.

use std::fs;
use std::path::{Path, PathBuf};

/// What lies below every stage, with those of them that each may use.
const BASE: [(&str, &[&str]); 4] =
    [("model", &[]), ("simd", &[]), ("mem", &[]), ("stats", &["model", "mem"])];

/// The stages in the order in which data flows through them. A crate may use those before it.
const STAGES: [&str; 12] = [
    "capture",
    "listen",
    "wire",
    "flow",
    "decode",
    "envelope",
    "loggregator",
    "correlate",
    "tap",
    "lake",
    "export",
    "api",
];

/// Beside the stages: only the program reads it.
const CONFIG: &str = "config";

/// The only crate that knows every stage.
const PROGRAM: &str = "wirelake";

/// The crates that are about `unsafe`.
const UNSAFE_CRATES: [&str; 2] = ["mem", "simd"];

/// Crates whose `src/**/sys*` holds raw system calls.
const SYS_CRATES: [&str; 2] = ["listen", "capture"];

// ---- Rules ----

/// Where a crate stands; a crate uses only crates with a lower number, except inside the base.
fn rank(name: &str) -> Option<usize> {
    if BASE.iter().any(|(base, _)| *base == name) {
        return Some(0);
    }
    match name {
        CONFIG => Some(STAGES.len() + 1),
        PROGRAM => Some(STAGES.len() + 2),
        _ => STAGES.iter().position(|stage| *stage == name).map(|at| at + 1),
    }
}

/// What is wrong with the crates of this workspace that the crate depends on.
fn order_faults(name: &str, dependencies: &[String]) -> Vec<String> {
    let Some(own) = rank(name) else {
        return vec![format!(
            "crates/{name} has no place in the order: add it to STAGES in crates/wirelake/tests/layers.rs"
        )];
    };
    let mut faults = Vec::new();
    for used in dependencies.iter().filter(|used| *used != name) {
        let Some(other) = rank(used) else { continue };
        if own == 0 {
            let allowed = BASE.iter().find(|(base, _)| *base == name).map_or(&[][..], |(_, may)| *may);
            if !allowed.contains(&used.as_str()) {
                faults.push(format!("crates/{name} is below every stage and may not depend on {used}"));
            }
        } else if other >= own {
            faults
                .push(format!("crates/{name} comes before {used} in the data flow and may not depend on it"));
        }
    }
    faults
}

/// What is wrong where a crate other than the program reads the configuration.
fn config_faults(name: &str, dependencies: &[String]) -> Vec<String> {
    if name == PROGRAM || name == CONFIG || !dependencies.iter().any(|used| used == CONFIG) {
        return Vec::new();
    }
    vec![format!("crates/{name} depends on {CONFIG}: take the values as arguments, {PROGRAM} passes them")]
}

/// What is wrong where code holds `unsafe` in a file that may not; `path` is relative to `crates/`.
fn unsafe_faults(path: &str, code: &str) -> Vec<String> {
    if may_be_unsafe(path) {
        return Vec::new();
    }
    lines_with_word(code, "unsafe")
        .map(|line| {
            format!(
                "crates/{path}:{line}: unsafe belongs in crates/mem, in crates/simd or in src/**/sys* of listen and capture"
            )
        })
        .collect()
}

/// What is wrong where the root of a crate does not forbid unsafe code; `path` is relative to `crates/`.
fn forbid_faults(path: &str, code: &str) -> Vec<String> {
    let mut parts = path.split('/');
    let name = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let is_root = rest == ["src", "lib.rs"] || rest == ["src", "main.rs"];
    if !is_root || UNSAFE_CRATES.contains(&name) || SYS_CRATES.contains(&name) {
        return Vec::new();
    }
    let squeezed: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    if squeezed.contains("#![forbid(unsafe_code)]") {
        return Vec::new();
    }
    vec![format!("crates/{path} must say #![forbid(unsafe_code)]")]
}

/// What is wrong where a file holds a marker of unfinished work; `path` is relative to `crates/`.
fn marker_faults(path: &str, code: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for word in ["todo", "unimplemented", "dbg"] {
        for line in lines_with_word(code, &format!("{word}!")) {
            faults.push(format!("crates/{path}:{line}: {word}! is left over"));
        }
    }
    faults
}

fn may_be_unsafe(path: &str) -> bool {
    let mut parts = path.split('/');
    let name = parts.next().unwrap_or_default();
    if UNSAFE_CRATES.contains(&name) {
        return true;
    }
    SYS_CRATES.contains(&name) && parts.next() == Some("src") && parts.any(|part| part.starts_with("sys"))
}

// ---- Reading manifests and sources ----

/// The dependencies of every kind that a manifest names, by package name.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = header.ends_with("dependencies");
            // `[dependencies.name]`, `[target.'cfg(unix)'.dev-dependencies.name]`
            if let Some((before, name)) = header.rsplit_once('.')
                && before.ends_with("dependencies")
            {
                found.push(unquoted(name).to_owned());
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let key = unquoted(key.split('.').next().unwrap_or_default());
            if inside {
                found.push(key.to_owned());
            }
            // A renamed dependency: the package counts, not the name it goes by. The [package] table has no such key.
            if let Some((_, package)) =
                line.split_once("package").filter(|_| key == "package" || value.contains('{'))
                && let Some(package) = package.trim_start().strip_prefix('=')
                && let Some(package) = package.trim_start().strip_prefix('"')
            {
                found.push(package.split('"').next().unwrap_or_default().to_owned());
            }
        }
    }
    found
}

fn unquoted(key: &str) -> &str {
    key.trim().trim_matches(['"', '\''])
}

/// The code of a source file: comments and the contents of literals are blanked, line breaks are kept.
fn code_of(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = literal_or_comment(rest, code.last().copied());
        if length == 0 {
            code.push(rest[0]);
            at += 1;
        } else {
            code.extend(rest[..length].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
            at += length;
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The length of the comment or literal that `rest` starts with, or 0.
fn literal_or_comment(rest: &[u8], before: Option<u8>) -> usize {
    if rest.starts_with(b"//") {
        return rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        let mut depth = 0;
        let mut at = 0;
        while at < rest.len() {
            if rest[at..].starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else if rest[at..].starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            } else {
                at += 1;
            }
        }
        return rest.len();
    }
    // r"…", br"…", cr#"…"#: the prefix must not be the end of a longer name.
    let in_name = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let raw = if in_name {
        None
    } else {
        [&b"r"[..], b"br", b"cr"].iter().find_map(|prefix| rest.strip_prefix(*prefix))
    };
    if let Some(raw) = raw {
        let hashes = raw.iter().take_while(|byte| **byte == b'#').count();
        if raw.get(hashes) == Some(&b'"') {
            let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
            let open = rest.len() - raw.len() + hashes + 1;
            let body = &rest[open..];
            let close = body.windows(end.len()).position(|window| window == end);
            return close.map_or(rest.len(), |close| open + close + end.len());
        }
    }
    match rest[0] {
        b'"' => quoted(rest, b'"'),
        // A character, not a lifetime: it is escaped, or a quote follows within the next character's bytes.
        b'\'' if rest.get(1) == Some(&b'\\') => quoted(rest, b'\''),
        b'\'' => {
            let width = rest.get(1).map_or(0, |byte| match byte {
                0x00..=0x7f => 1,
                0x80..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xff => 4,
            });
            if width > 0 && rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        _ => 0,
    }
}

/// The length of a literal between two quotes, with escapes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The numbers of the lines that hold the word and not just a longer one.
fn lines_with_word<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.lines().enumerate().filter_map(move |(at, line)| {
        let found = line.match_indices(word).any(|(start, _)| {
            let after = line[start + word.len()..].chars().next();
            !part_of_name(line[..start].chars().next_back()) && (word.ends_with('!') || !part_of_name(after))
        });
        found.then_some(at + 1)
    })
}

// ---- The tree ----

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Name and manifest of each crate.
fn manifests() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(crates()).expect("crates/ is readable") {
        let folder = entry.expect("crates/ is readable").path();
        if let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) {
            let name =
                folder.file_name().expect("a crate's folder has a name").to_string_lossy().into_owned();
            found.push((name, manifest));
        }
    }
    assert!(found.iter().any(|(name, _)| name == PROGRAM), "crates/{PROGRAM} was not found");
    found.sort();
    found
}

/// Path relative to `crates/`, and code, of each Rust file.
fn sources() -> Vec<(String, String)> {
    let root = crates();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of crates/ is readable") {
            let path = entry.expect("a folder of crates/ is readable").path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && let Ok(source) = fs::read_to_string(&path)
            {
                let name = path.strip_prefix(&root).expect("the walk starts there");
                found.push((name.to_string_lossy().into_owned(), code_of(&source)));
            }
        }
    }
    found.sort();
    found
}

fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn crates_depend_on_earlier_stages_only() {
    assert_eq!(
        order_faults("decode", &names(&["mem", "lake", "bytes"])),
        ["crates/decode comes before lake in the data flow and may not depend on it"]
    );
    assert_eq!(order_faults("mem", &names(&["stats"])).len(), 1);
    assert_eq!(order_faults("model", &names(&["decode"])).len(), 1);
    assert_eq!(order_faults("api", &names(&["wirelake"])).len(), 1);
    assert_eq!(order_faults("helpers", &[]).len(), 1);
    none(order_faults("stats", &names(&["model", "serde"])));
    none(order_faults("api", &names(&["api", "export", "lake", "stats"])));

    none(
        manifests().iter().flat_map(|(name, manifest)| order_faults(name, &dependencies(manifest))).collect(),
    );
}

#[test]
fn only_the_program_reads_the_configuration() {
    assert_eq!(config_faults("lake", &names(&["config"])).len(), 1);
    none(config_faults("wirelake", &names(&["config"])));

    none(
        manifests()
            .iter()
            .flat_map(|(name, manifest)| config_faults(name, &dependencies(manifest)))
            .collect(),
    );
}

#[test]
fn unsafe_is_where_it_may_be() {
    let bad = code_of("//! Not unsafe.\nfn f() {\n    unsafe { g() }\n}\n");
    assert_eq!(unsafe_faults("lake/src/rows.rs", &bad).len(), 1);
    assert!(unsafe_faults("lake/src/rows.rs", &bad)[0].starts_with("crates/lake/src/rows.rs:3: "));
    assert_eq!(unsafe_faults("listen/src/udp/mod.rs", &bad).len(), 1);
    assert_eq!(unsafe_faults("listen/tests/sys.rs", &bad).len(), 1);
    assert_eq!(unsafe_faults("lake/src/sys.rs", &bad).len(), 1);
    none(unsafe_faults("mem/src/block.rs", &bad));
    none(unsafe_faults("simd/src/avx2.rs", &bad));
    none(unsafe_faults("listen/src/sys/recv.rs", &bad));
    none(unsafe_faults("capture/src/ring/sys.rs", &bad));

    none(sources().iter().flat_map(|(path, code)| unsafe_faults(path, code)).collect());
}

#[test]
fn crates_forbid_unsafe_code() {
    let bad = code_of("//! #![forbid(unsafe_code)]\nmod rows;\n");
    assert_eq!(
        forbid_faults("lake/src/lib.rs", &bad),
        ["crates/lake/src/lib.rs must say #![forbid(unsafe_code)]"]
    );
    assert_eq!(forbid_faults("wirelake/src/main.rs", &bad).len(), 1);
    none(forbid_faults("lake/src/rows.rs", &bad));
    none(forbid_faults("mem/src/lib.rs", &bad));
    none(forbid_faults("lake/src/lib.rs", "#![forbid(unsafe_code)]\n"));

    none(sources().iter().flat_map(|(path, code)| forbid_faults(path, code)).collect());
}

#[test]
fn nothing_unfinished_is_left() {
    let bad = code_of("fn f() {\n    let x = dbg!(1); todo!()\n}\nfn g() { unimplemented!(\"later\") }\n");
    assert_eq!(marker_faults("lake/src/rows.rs", &bad).len(), 3);
    none(marker_faults(
        "lake/src/rows.rs",
        &code_of("// todo!()\nconst S: &str = \"dbg!(1)\"; my_dbg!(1);\n"),
    ));

    none(sources().iter().flat_map(|(path, code)| marker_faults(path, code)).collect());
}

#[test]
fn manifests_are_read() {
    let manifest = r#"
        [package]
        name = "x"
        [lints]
        workspace = true
        [dependencies]
        lake.workspace = true           # late = true
        "mem" = { workspace = true, features = ["a"] }
        renamed = { package = "api", path = "../api" }
        [dev-dependencies.export]
        workspace = true
        [target.'cfg(unix)'.build-dependencies]
        stats = { path = "../stats" }
        [features]
        config = []
    "#;
    assert_eq!(dependencies(manifest), ["lake", "mem", "renamed", "api", "export", "stats"]);
}

#[test]
fn comments_and_literals_are_no_code() {
    let source = "a /* unsafe /* x */ unsafe */ b // unsafe\n\"un\\\"safe\" 'x' '\\'' '\u{e9}' r#\"unsafe \" \"# <'a> c";
    let code = code_of(source);
    assert!(!code.contains("unsafe") && !code.contains("safe"), "{code}");
    assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "b", "<'a>", "c"]);
    assert_eq!(code.lines().count(), 2);
}
