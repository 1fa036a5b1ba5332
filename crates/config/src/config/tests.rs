use std::path::{Path, PathBuf};

use super::*;

fn machine() -> Machine {
    Machine { cores: 4, hostname: "edge-1".into() }
}

fn load(file: &str, env: &[(&str, &str)], overrides: &Overrides) -> Result<Plan, ConfigError> {
    let env = env.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Plan::build(Some((Path::new("wirelake.toml"), file)), env, overrides, &machine())
}

fn plan(file: &str) -> Plan {
    load(file, &[], &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(file: &str) -> String {
    load(file, &[], &Overrides::default()).expect_err("it must be refused").to_string()
}

/// Compares with a committed file; `UPDATE_GOLDEN=1` writes it instead.
#[track_caller]
fn golden(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == text, "{} is out of date; UPDATE_GOLDEN=1 rewrites it:\n{text}", path.display());
}

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/golden").join(name)
}

#[test]
fn defaults_are_right_without_a_file() {
    let plan = Plan::build(None, std::iter::empty(), &Overrides::default(), &machine()).unwrap();
    assert_eq!(plan.threads.shards, 4);
    assert_eq!(plan.threads.writers, 1);
    assert_eq!(plan.node.name, "edge-1");
    assert_eq!(plan.hep.udp, ["[::]:9060".parse().unwrap()]);
    assert_eq!(plan.api.listen.to_string(), "127.0.0.1:8080");
    assert!(keys().all(|key| plan.origin(key) == Origin::Default));
}

#[test]
fn later_layers_win() {
    let file =
        "[hep]\nudp = \"0.0.0.0:1\"\ntcp = [\"0.0.0.0:2\"]\n[lake]\nseal_ms = 100\n[log]\nlevel = \"warn\"\n";
    let env = [("WIRELAKE_HEP_UDP", "0.0.0.0:3, [::1]:4"), ("WIRELAKE_LOG_LEVEL", "debug")];
    let overrides = Overrides {
        hep_udp: vec!["127.0.0.1:5".into(), "127.0.0.1:6".into()],
        set: vec!["lake.flush_s=3".into()],
        ..Overrides::default()
    };
    let plan = load(file, &env, &overrides).unwrap();
    let udp: Vec<_> = plan.hep.udp.iter().map(ToString::to_string).collect();
    assert_eq!(udp, ["127.0.0.1:5", "127.0.0.1:6"]);
    assert_eq!(plan.hep.tcp[0].port(), 2);
    assert_eq!(plan.log.level, LogLevel::Debug);
    assert_eq!((plan.lake.seal_ms, plan.lake.flush_s), (100, 3));
    let origin = |path| plan.origin(key(path).unwrap()).as_str();
    assert_eq!(origin("hep.udp"), "flag");
    assert_eq!(origin("hep.tcp"), "file");
    assert_eq!(origin("log.level"), "env");
    assert_eq!(origin("lake.flush_s"), "flag");
    assert_eq!(origin("lake.flush_rows"), "default");
}

#[test]
fn an_empty_list_turns_a_listener_off() {
    assert!(plan("[hep]\nudp = []").hep.udp.is_empty());
    let by_env = load("", &[("WIRELAKE_HEP_UDP", "")], &Overrides::default()).unwrap();
    assert!(by_env.hep.udp.is_empty());
}

#[test]
fn numbers_in_any_notation_of_toml() {
    assert_eq!(plan("[hep]\nrcvbuf_bytes = 0x10_0000").hep.rcvbuf_bytes, 1_048_576);
    assert_eq!(plan("[lake]\nflush_rows = 2_000_000").lake.flush_rows, 2_000_000);
}

/// Every message a file can cause, as users read it.
#[test]
fn messages() {
    let files = [
        "[hep]\nhep_udp = \"0.0.0.0:9060\"\n",
        "[hep]\nudpp = \"0.0.0.0:9060\"\n",
        "[hep]\n\tport = 9060\n",
        "[hpe]\nudp = []\n",
        "hep_udp = \"0.0.0.0:9060\"\n",
        "hep = 1\n",
        "[[hep]]\nudp = []\n",
        "[hep]\nudp = 9060\n",
        "[hep]\nudp = [\"localhost:9060\"]\n",
        "[hep]\nudp = [\"9060\"]\n",
        "[hep]\nrcvbuf_bytes = \"32MiB\"\n",
        "[hep]\nrcvbuf_bytes = 1\n",
        "[hep]\nrcvbuf_bytes = -1\n",
        "[hep]\nrcvbuf_bytes = 1.5\n",
        "[hep]\nrcvbuf_bytes = 99999999999999999999999999\n",
        "[hep]\ngro = \"yes\"\n",
        "[hep]\ncorrelation_headers = [\"X CID\"]\n",
        "[lake]\ncompression = \"zst\"\n",
        "[log]\nlevel = \"verbose\"\n",
        "[lake]\nseal_ms = \n",
        "[api]\ntoken = 12345\n",
        "[api]\ntoken = \"unfinished\n",
        "[lake]\nseal_ms = 1\nflush_s = 0\nnope = 3\n",
    ];
    let mut out = String::new();
    for file in files {
        out.push_str(&format!("{}\n\n=====\n", refused(file)));
    }
    golden(&beside("messages.txt"), &out);
}

#[test]
fn messages_from_outside_the_file() {
    let mut out = String::new();
    let mut add = |env: &[(&str, &str)], overrides: Overrides| {
        let error = load("", env, &overrides).expect_err("it must be refused");
        out.push_str(&format!("{error}\n\n=====\n"));
    };
    let set = |text: &str| Overrides { set: vec![text.to_owned()], ..Overrides::default() };
    add(&[("WIRELAKE_LAKE_SEAL_MS", "soon")], Overrides::default());
    add(&[("WIRELAKE_LAKE_SEAL_MS", "1")], Overrides::default());
    add(&[], Overrides { api: Some("8080".into()), ..Overrides::default() });
    add(&[], Overrides { hep_tcp: vec!["nowhere".into()], ..Overrides::default() });
    add(&[], set("lake.sealms=5"));
    add(&[], set("lake.seal_ms"));
    golden(&beside("messages_outside.txt"), &out);
}

#[test]
fn conflicts() {
    let file = std::env::current_exe().unwrap();
    let files = [
        "[api]\nlisten = \"0.0.0.0:8080\"\n".to_owned(),
        "[memory]\nbudget_mib = 16\nblock_kib = 16384\n".to_owned(),
        "[lake]\nflush_mib = 256\n".to_owned(),
        "[lake]\nseal_rows = 100\nflush_rows = 99\n".to_owned(),
        "[lake]\nseal_ms = 2000\nflush_s = 1\n".to_owned(),
        "[lake]\ncompression = \"lz4\"\ncompression_level = 3\n".to_owned(),
        "[data]\ndir = \"\"\n".to_owned(),
        "[hep]\ntcp = [\"0.0.0.0:8080\"]\n".to_owned(),
        "[hep]\nudp = [\"0.0.0.0:9\", \"[::]:9\"]\n".to_owned(),
    ];
    let out: String = files.iter().map(|file| format!("{}\n\n", refused(file))).collect();
    golden(&beside("conflicts.txt"), &out);
    let not_a_directory = refused(&format!("[data]\ndir = {:?}\n", file.to_str().unwrap()));
    assert!(not_a_directory.contains("not a directory"), "{not_a_directory}");
    plan("[hep]\nudp = [\"127.0.0.1:0\", \"127.0.0.1:0\"]");
    plan("[api]\nlisten = \"0.0.0.0:8080\"\ntoken = \"t\"");
    plan("[lake]\ncompression = \"lz4\"");
}

#[test]
fn secrets_come_from_files_and_are_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "  s3cret\n").unwrap();
    let file = format!("[api]\ntoken_file = {:?}\n[hep]\nkey = \"myHep\"\n", path.to_str().unwrap());
    let loaded = plan(&file);
    assert_eq!(loaded.api.token.expose(), "s3cret");
    let shown = format!("{loaded:?}{}", loaded.to_toml());
    assert!(!shown.contains("s3cret") && !shown.contains("myHep"), "{shown}");
    assert!(shown.contains("key = \"***\""), "{shown}");

    let both = refused(&format!("{file}[hep2]\n").replace("[hep2]", "key_file = \"x\""));
    assert!(both.contains("`hep.key` and `hep.key_file` are both set"), "{both}");
    std::fs::write(&path, " \n").unwrap();
    assert!(refused(&file).contains("which is empty"));
    std::fs::remove_file(&path).unwrap();
    assert!(refused(&file).contains("cannot be read"));
    for broken in ["[api]\ntoken = 12345\n", "[api]\ntoken = \"12345\n", "api.token = 12345"] {
        assert!(!refused(broken).contains("12345"), "{}", refused(broken));
    }
}

#[test]
fn unknown_variables_are_warned_about() {
    let env = [
        ("WIRELAKE_HEP_UPD", "x"),
        ("WIRELAKE_LOG", "debug"),
        ("WIRELAKE_SERVER", "http://x"),
        ("WIRELAKE_CONFIG", "x"),
        ("PATH", "/bin"),
    ];
    let overrides = Overrides { api_token: Some("t".into()), ..Overrides::default() };
    let warnings: Vec<_> =
        load("", &env, &overrides).unwrap().warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "environment variable WIRELAKE_HEP_UPD is not known and was ignored; \
             did you mean \"WIRELAKE_HEP_UDP\"?",
            "--api-token shows the secret to everyone who can list processes: \
             use `api.token_file` or WIRELAKE_API_TOKEN instead",
        ]
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = Plan::load(Some(Path::new("no/such.toml")), std::iter::empty(), &Overrides::default());
    let text = error.expect_err("it does not exist").to_string();
    assert!(text.starts_with("no/such.toml: the configuration cannot be read: "), "{text}");
}

#[test]
fn a_plan_reads_back_from_what_it_prints() {
    let file =
        "[hep]\nudp = [\"127.0.0.1:1\", \"[::1]:2\"]\n[node]\nname = \"a \\\"b\\\"\"\n[lake]\nseal_ms = 100";
    let first = plan(file);
    let second = plan(&first.to_toml());
    assert_eq!(first.diff(&second), Diff::default());
}

#[test]
fn to_toml_says_where_each_value_came_from() {
    let env = [("WIRELAKE_LOG_LEVEL", "debug")];
    let overrides = Overrides { api: Some("127.0.0.1:0".into()), ..Overrides::default() };
    let shown = load("[hep]\nkey = \"k\"", &env, &overrides).unwrap().to_toml();
    golden(&beside("check.toml"), &shown);
}

#[test]
fn a_diff_tells_what_a_reload_takes_up() {
    let old = plan("");
    let new = plan("[log]\nlevel = \"debug\"\n[api]\ntoken = \"t\"\n[hep]\nudp = []\n");
    let diff = old.diff(&new);
    assert_eq!(diff.reloadable, ["api.token", "log.level"]);
    assert_eq!(diff.needs_restart, ["hep.udp"]);
    assert_eq!(old.diff(&old), Diff::default());
}

#[test]
fn the_sample_holds_every_key_at_its_default() {
    let text = sample();
    // A level is right for zstd only, and the sample says zstd.
    let from_sample = plan(&text);
    assert_eq!(plan("").diff(&from_sample), Diff::default());
    assert!(keys().all(|key| from_sample.origin(key) == Origin::File));
}

#[test]
fn every_key_is_explained_and_has_its_own_variable() {
    let mut variables = std::collections::HashSet::new();
    for key in keys() {
        assert!(variables.insert(key.env()), "{}", key.env());
        assert!(!IGNORED_ENV.contains(&key.env().as_str()));
        assert!(!key.doc.is_empty(), "{} has no doc comment", key.path());
        if key.kind == Kind::Number {
            assert!(key.range.is_some(), "{} has no range", key.path());
        }
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    golden(&path, &reference());
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = ["[", "]", "hep", ".", "=", "\"", "\n", "9", "token", "ü", "\t", "{", "#", "'''"];
    let mut seed = 1u64;
    for _ in 0..20_000 {
        let mut file = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            file.push_str(pieces[usize::try_from(seed >> 33).unwrap() % pieces.len()]);
        }
        if let Err(error) = load(&file, &[], &Overrides::default()) {
            let _ = error.to_string();
        }
    }
}
