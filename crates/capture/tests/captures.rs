//! Real captures in every format that `editcap` and `mergecap` write, compared with `tshark`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use capture::file::{self, FileError, Writer};

const CAPTURES: [&str; 6] =
    ["ethernet.pcap", "fragments.pcap", "offload.pcap", "sll.pcap", "sll2.pcap", "vxlan.pcap"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// Nanoseconds, bytes on the wire and bytes captured of each frame.
type Rows = Vec<(i64, u32, usize)>;

fn read(path: &Path) -> Rows {
    let mut reader = file::open(path).unwrap();
    let mut rows = vec![];
    while let Some(frame) = reader.next().unwrap() {
        rows.push((frame.time.0, frame.wire_len, frame.bytes.len()));
    }
    assert_eq!(reader.totals().frames, rows.len() as u64);
    rows
}

/// The first three fields of what tshark prints.
fn rows(text: &str) -> Rows {
    text.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let (seconds, fraction) = fields[0].split_once('.').unwrap();
            let nanos = seconds.parse::<i64>().unwrap() * 1_000_000_000 + fraction.parse::<i64>().unwrap();
            (nanos, fields[1].parse().unwrap(), fields[2].parse().unwrap())
        })
        .collect()
}

fn witness(name: &str) -> Rows {
    rows(&fs::read_to_string(folder().join(format!("{name}.csv"))).unwrap())
}

/// Whether a tool of Wireshark is there; says so when it is not.
fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        println!("skipped: {tool} is not installed");
    }
    there
}

fn run(tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool).args(arguments).output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn tshark(path: &Path) -> Rows {
    let path = path.to_str().unwrap();
    let fields = ["-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.cap_len"];
    rows(&run("tshark", &[&["-n", "-r", path, "-T", "fields", "-E", "separator=,"], &fields[..]].concat()))
}

#[test]
fn frames_times_and_lengths_are_those_of_the_witness() {
    for name in CAPTURES {
        let expected = witness(name);
        assert!(expected.len() > 10, "{name}");
        assert_eq!(read(&folder().join(name)), expected, "{name}");
    }
}

#[test]
fn every_format_that_editcap_writes_holds_the_same_frames() {
    if !has("editcap") {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    for name in CAPTURES {
        let source = folder().join(name);
        let expected = witness(name);
        for format in ["pcap", "nsecpcap", "pcapng"] {
            let converted = temporary.path().join(format!("{name}.{format}"));
            run("editcap", &["-F", format, source.to_str().unwrap(), converted.to_str().unwrap()]);
            let rows = read(&converted);
            let mut expected = expected.clone();
            if format == "pcap" {
                // Microseconds.
                expected.iter_mut().for_each(|row| row.0 = row.0 / 1_000 * 1_000);
            }
            assert_eq!(rows, expected, "{name} as {format}");
            compressed(&converted, &rows);
        }
        let modified = temporary.path().join("modified");
        run("editcap", &["-F", "modpcap", source.to_str().unwrap(), modified.to_str().unwrap()]);
        assert!(matches!(file::open(&modified).err(), Some(FileError::Unsupported { .. })));
    }
}

fn compressed(path: &Path, expected: &Rows) {
    let bytes = fs::read(path).unwrap();
    let gzip = path.with_extension("gz");
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &bytes).unwrap();
    fs::write(&gzip, encoder.finish().unwrap()).unwrap();
    assert_eq!(&read(&gzip), expected);
    let packed = path.with_extension("zst");
    fs::write(&packed, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    assert_eq!(&read(&packed), expected);
}

/// Several interfaces of several link types and units of time in one file.
#[test]
fn what_mergecap_merges_is_read_in_its_order() {
    if !has("mergecap") || !has("tshark") {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let merged = temporary.path().join("merged.pcapng");
    let sources: Vec<String> =
        CAPTURES.iter().map(|name| folder().join(name).to_str().unwrap().to_owned()).collect();
    let mut arguments = vec!["-w", merged.to_str().unwrap()];
    arguments.extend(sources.iter().map(String::as_str));
    run("mergecap", &arguments);
    let rows = read(&merged);
    let sum: usize = CAPTURES.iter().map(|name| witness(name).len()).sum();
    assert_eq!(rows.len(), sum);
    assert_eq!(rows, tshark(&merged));
}

/// What the writer writes is what tshark reads: frames of three link types in one file.
#[test]
fn tshark_reads_what_is_written() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("written.pcapng");
    let mut writer = Writer::new(fs::File::create(&path).unwrap()).unwrap();
    let mut expected = vec![];
    for name in ["ethernet.pcap", "sll2.pcap", "offload.pcap", "sll.pcap"] {
        let mut reader = file::open(&folder().join(name)).unwrap();
        while let Some(frame) = reader.next().unwrap() {
            expected.push((frame.time.0, frame.wire_len, frame.bytes.len()));
            writer.write(&frame).unwrap();
        }
    }
    assert_eq!(writer.written(), fs::metadata(&path).unwrap().len());
    assert_eq!(read(&path), expected);
    if has("tshark") {
        assert_eq!(tshark(&path), expected);
    }
}
