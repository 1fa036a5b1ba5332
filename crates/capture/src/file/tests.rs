//! Captures built by hand: both formats in both byte orders, and everything that can be wrong with them.

use std::io::{Read, Write};

use model::LinkType;
use proptest::prelude::*;

use super::*;

/// Builds captures in either byte order.
struct Build {
    big: bool,
    bytes: Vec<u8>,
}

impl Build {
    fn u16(&mut self, n: u16) -> &mut Self {
        self.bytes.extend(if self.big { n.to_be_bytes() } else { n.to_le_bytes() });
        self
    }

    fn u32(&mut self, n: u32) -> &mut Self {
        self.bytes.extend(if self.big { n.to_be_bytes() } else { n.to_le_bytes() });
        self
    }

    fn pcap(big: bool, magic: u32, link: u32) -> Self {
        let mut new = Self { big, bytes: vec![] };
        new.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65_535).u32(link);
        new
    }

    fn record(&mut self, seconds: u32, fraction: u32, wire_len: u32, bytes: &[u8]) -> &mut Self {
        self.u32(seconds).u32(fraction).u32(bytes.len() as u32).u32(wire_len);
        self.bytes.extend(bytes);
        self
    }

    fn section(big: bool) -> Self {
        let mut new = Self { big, bytes: vec![] };
        new.begin_section(big);
        new
    }

    fn begin_section(&mut self, big: bool) -> &mut Self {
        self.big = big;
        self.block(0x0a0d_0d0a, |b| {
            b.u32(0x1a2b_3c4d).u16(1).u16(0).u32(u32::MAX).u32(u32::MAX);
        })
    }

    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self { big: self.big, bytes: vec![] };
        body(&mut inner);
        inner.pad();
        let len = inner.bytes.len() as u32 + 12;
        self.u32(kind).u32(len).bytes.extend(&inner.bytes);
        self.u32(len)
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) -> &mut Self {
        self.u16(code).u16(value.len() as u16).bytes.extend(value);
        self.pad();
        self
    }

    fn interface(&mut self, link: u16, snaplen: u32, options: &[(u16, &[u8])]) -> &mut Self {
        self.block(1, |b| {
            b.u16(link).u16(0).u32(snaplen);
            for (code, value) in options {
                b.option(*code, value);
            }
        })
    }

    fn packet(&mut self, interface: u32, units: u64, wire_len: u32, bytes: &[u8]) -> &mut Self {
        self.block(6, |b| {
            b.u32(interface)
                .u32((units >> 32) as u32)
                .u32(units as u32)
                .u32(bytes.len() as u32)
                .u32(wire_len);
            b.bytes.extend(bytes);
            b.pad();
            b.option(1, b"a comment").option(0, &[]);
        })
    }
}

type Row = (i64, LinkType, u32, Vec<u8>);

/// All frames, the first error after them, and the totals.
fn read(bytes: &[u8]) -> (Vec<Row>, Option<FileError>, Totals) {
    let mut reader = stream(bytes).expect("a capture");
    let (mut rows, mut error) = (vec![], None);
    loop {
        match reader.next() {
            Ok(Some(f)) => rows.push((f.time.0, f.link, f.wire_len, f.bytes.to_vec())),
            Ok(None) => return (rows, error, *reader.totals()),
            Err(e) => assert!(error.replace(e).is_none(), "an error is said once"),
        }
    }
}

#[test]
fn pcap_of_both_byte_orders_and_units() {
    for big in [false, true] {
        for (magic, nanos) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
            // The upper bits say that a check sequence of four bytes follows each frame.
            let mut file = Build::pcap(big, magic, 0x4400_0001);
            file.record(7, 123_456, 60, b"hello").record(8, 0, 0, b"");
            let (rows, error, totals) = read(&file.bytes);
            let first = (7_000_000_000 + 123_456 * nanos, LinkType::Ethernet, 60, b"hello".to_vec());
            assert_eq!(rows, [first, (8_000_000_000, LinkType::Ethernet, 0, vec![])]);
            assert!(error.is_none());
            assert_eq!(totals, Totals { frames: 2, bytes: 5, ..Totals::default() });
        }
    }
}

#[test]
fn pcap_before_2_3_has_its_lengths_exchanged() {
    let mut file = Build::pcap(true, 0xa1b2_c3d4, 101);
    file.bytes[6..8].copy_from_slice(&[0, 2]);
    file.u32(1).u32(0).u32(9).u32(3).bytes.extend(b"abc");
    assert_eq!(read(&file.bytes).0, [(1_000_000_000, LinkType::Raw, 9, b"abc".to_vec())]);
}

#[test]
fn pcapng_sections_interfaces_and_packets_of_all_kinds() {
    let mut file = Build::section(false);
    file.block(10, |b| b.bytes.extend([7; 300])); // secrets, skipped
    file.interface(1, 0, &[(2, b"eth0"), (9, &[9])]).interface(276, 0, &[(9, &[0x80 | 20])]);
    file.packet(0, 5_000_000_001, 90, b"one").packet(1, 3 << 19, 3, b"two");
    file.block(3, |b| b.u32(6).bytes.extend(b"simple"));
    file.block(2, |b| {
        b.u16(1).u16(0).u32(0).u32(1 << 20).u32(3).u32(8).bytes.extend(b"old");
    });
    file.block(5, |b| {
        b.u32(0).u32(0).u32(0).option(5, &7u64.to_le_bytes()).option(7, &2u64.to_le_bytes()).option(0, &[]);
    });
    // The second section is of another byte order and counts its interfaces anew.
    file.begin_section(true).interface(228, 4, &[(14, &(-2i64).to_be_bytes())]);
    file.packet(0, 5_000_000, 9, b"four").block(3, |b| b.u32(9).bytes.extend(b"cut."));
    file.block(5, |b| {
        b.u32(0).u32(0).u32(0).option(5, &1u64.to_be_bytes());
    });
    let (rows, error, totals) = read(&file.bytes);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        rows,
        [
            (5_000_000_001, LinkType::Ethernet, 90, b"one".to_vec()),
            (1_500_000_000, LinkType::LinuxSll2, 3, b"two".to_vec()),
            (1_500_000_000, LinkType::Ethernet, 6, b"simple".to_vec()),
            (1_000_000_000, LinkType::LinuxSll2, 8, b"old".to_vec()),
            (3_000_000_000, LinkType::Ipv4, 9, b"four".to_vec()),
            (3_000_000_000, LinkType::Ipv4, 9, b"cut.".to_vec()),
        ]
    );
    assert_eq!(
        totals,
        Totals { frames: 6, bytes: 23, without_time: 2, interface_drops: 10, ..Totals::default() }
    );
}

#[test]
fn unknown_links_and_damaged_records_are_counted_and_passed() {
    let mut file = Build::section(false);
    file.interface(105, 0, &[]).interface(1, 0, &[]);
    file.packet(0, 0, 3, b"wifi").packet(9, 0, 1, b"no interface");
    file.block(6, |b| {
        b.u32(1).u32(0).u32(0).u32(100).u32(100); // more than the block holds
    });
    file.block(6, |b| {
        b.u32(1); // no header
    });
    file.packet(1, 0, 4, b"good");
    let (rows, error, totals) = read(&file.bytes);
    assert!(error.is_none() && rows.len() == 1);
    assert_eq!((totals.unknown_link, totals.unknown_link_type, totals.damaged), (1, Some(105), 3));

    let mut file = Build::pcap(false, 0xa1b2_c3d4, 127);
    file.record(0, 0, 4, b"wifi").record(0, 0, 4, b"wifi");
    let (rows, error, totals) = read(&file.bytes);
    assert!(error.is_none() && rows.is_empty());
    assert_eq!((totals.unknown_link, totals.unknown_link_type), (2, Some(127)));
}

#[test]
fn a_cut_capture_gives_what_is_before_the_cut_and_says_where_once() {
    let mut pcap = Build::pcap(false, 0xa1b2_c3d4, 1);
    pcap.record(1, 0, 5, b"hello").record(2, 0, 5, b"world");
    let mut ng = Build::section(true);
    ng.interface(1, 0, &[]).packet(0, 0, 5, b"hello").packet(0, 0, 5, b"world");
    ng.block(77, |b| b.bytes.extend([1; 99]));
    for whole in [pcap.bytes, ng.bytes] {
        let mut seen = 0;
        for cut in 24..whole.len() {
            let Ok(mut reader) = stream(&whole[..cut]) else { continue };
            let mut frames = 0;
            let error = loop {
                match reader.next() {
                    Ok(Some(_)) => frames += 1,
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            assert!(reader.next().is_ok_and(|next| next.is_none()));
            let Some(error) = error else {
                // The cut is between two records.
                assert_eq!(reader.totals().cut, None);
                continue;
            };
            let FileError::Cut { offset, end, frames: told } = error else { panic!("{error}") };
            assert_eq!((told, end, reader.totals().cut), (frames, cut as u64, Some(offset)));
            assert!(offset < end && error.to_string().contains("cut"));
            seen += 1;
        }
        assert!(seen > 20);
    }
}

/// What cannot be read says what it is.
#[test]
fn every_error_of_the_header() {
    let start = |bytes: &[u8]| stream(bytes).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(start(b"").contains("empty"));
    assert!(start(b"GET / HTTP/1.1").contains("[47, 45, 54, 20]"));
    assert!(start(&[0x34, 0xcd, 0xb2, 0xa1, 2, 0]).contains("Kuznetzov"));
    assert!(start(&[0xa1, 0xb2, 0xcd, 0x34]).contains("editcap -F pcapng"));
    assert!(start(b"snoop\0\0\0").contains("snoop"));
    assert!(start(&[0xfd, b'7', b'z', b'X', b'Z']).contains("xz -dc"));
    assert!(start(&[0xd4, 0xc3, 0xb2, 0xa1, 2]).contains("cut"));
    assert!(start(&[0x0a, 0x0d, 0x0d, 0x0a]).contains("cut"));
    let mut version = Build::pcap(false, 0xa1b2_c3d4, 1).bytes;
    version[4] = 3;
    assert!(start(&version).contains("3.4"));
    let mut section = Build::section(true).bytes;
    section[13] = 2;
    assert!(start(&section).contains("pcapng of version 2.0"));
    section[8] = 0;
    assert!(start(&section).contains("byte order"));
    assert!(
        open(std::path::Path::new("/does/not/exist.pcap"))
            .err()
            .is_some_and(|e| e.to_string().contains("exist"))
    );
}

#[test]
fn damage_ends_the_capture_with_a_place() {
    let mut pcap = Build::pcap(false, 0xa1b2_c3d4, 1);
    pcap.record(1, 0, 5, b"hello").u32(0).u32(0).u32(MAX_FRAME + 1).u32(0);
    let (rows, error, _) = read(&pcap.bytes);
    assert_eq!(rows.len(), 1);
    assert!(matches!(error, Some(FileError::TooLarge { offset: 45, frames: 1, .. })), "{error:?}");

    let good = || {
        let mut ng = Build::section(false);
        ng.interface(1, 0, &[]).packet(0, 0, 5, b"hello");
        ng
    };
    let end = good().bytes.len() as u64;
    for (kind, len, trailer) in [(6, 12, 16), (6, 8, 8), (99, 13, 13), (99, 16, 12)] {
        let mut ng = good();
        ng.u32(kind).u32(len).u32(trailer).u32(trailer).u32(0);
        let (rows, error, _) = read(&ng.bytes);
        assert_eq!(rows.len(), 1);
        assert!(matches!(error, Some(FileError::BlockLength { offset, .. }) if offset == end), "{error:?}");
    }
    let mut ng = good();
    ng.u32(6).u32(MAX_BLOCK + 4).u32(0);
    assert!(matches!(read(&ng.bytes).1, Some(FileError::TooLarge { .. })));
    let mut ng = good();
    ng.u32(0x0a0d_0d0a).u32(28).u32(0);
    assert!(matches!(read(&ng.bytes).1, Some(FileError::ByteOrder { .. })));
    let mut ng = good();
    for _ in 0..MAX_INTERFACES {
        ng.interface(1, 0, &[]);
    }
    assert!(matches!(read(&ng.bytes).1, Some(FileError::TooManyInterfaces { .. })));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn compressed_captures_in_one_and_in_several_parts() {
    let mut file = Build::pcap(false, 0xa1b2_c3d4, 1);
    for i in 0..2_000u32 {
        file.record(i, 0, 700, &[i as u8; 700]);
    }
    let plain = read(&file.bytes);
    let (a, b) = file.bytes.split_at(1_000_003);
    let zstd = |bytes| zstd::encode_all(bytes, 1).unwrap();
    for packed in
        [gzip(&file.bytes), [gzip(a), gzip(b)].concat(), zstd(&file.bytes[..]), [zstd(a), zstd(b)].concat()]
    {
        assert_eq!(read(&packed).0, plain.0);
        // Cut inside the compressed bytes, wherever that is in the capture.
        let (rows, error, totals) = read(&packed[..packed.len() * 2 / 3]);
        assert!(!rows.is_empty() && rows.len() < 2_000 && plain.0.starts_with(&rows));
        assert!(matches!(error, Some(FileError::Cut { .. })), "{error:?}");
        assert!(totals.cut.is_some());
    }
    let packed = gzip(&file.bytes);
    // The last bytes are the checksum: every record is there, and yet the file is not whole.
    let (rows, error, _) = read(&packed[..packed.len() - 4]);
    assert_eq!(rows.len(), 2_000);
    assert!(matches!(error, Some(FileError::Cut { .. })), "{error:?}");
    let mut damaged = packed.clone();
    let last = damaged.len() - 6;
    damaged[last] ^= 1;
    let (rows, error, _) = read(&damaged);
    assert_eq!(rows.len(), 2_000);
    assert!(error.is_some_and(|e| e.to_string().contains("gzip -t")));
    assert!(matches!(stream(&gzip(b"")[..]).err(), Some(FileError::Empty)));
}

/// A frame is there when its last byte is: the writer of a pipe is still open when it is read.
#[test]
fn a_stream_gives_frames_as_they_come() {
    let mut file = Build::pcap(false, 0xa1b2_c3d4, 1);
    file.record(1, 0, 5, b"first");
    let one = file.bytes.len();
    file.record(2, 0, 6, b"second");
    let (first, second) = file.bytes.split_at(one);

    let (source, mut sink) = std::io::pipe().unwrap();
    sink.write_all(first).unwrap();
    let mut reader = stream(source).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"first");
    sink.write_all(second).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"second");
    drop(sink);
    assert!(reader.next().unwrap().is_none());

    let (source, sink) = std::io::pipe().unwrap();
    let mut sink = flate2::write::GzEncoder::new(sink, flate2::Compression::fast());
    sink.write_all(first).unwrap();
    sink.flush().unwrap();
    let mut reader = stream(source).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"first");

    let (source, sink) = std::io::pipe().unwrap();
    let mut sink = zstd::Encoder::new(sink, 1).unwrap();
    sink.write_all(first).unwrap();
    sink.flush().unwrap();
    let mut reader = stream(source).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"first");
}

/// A source that fails is not a capture that ends.
#[test]
fn an_error_of_the_source_is_said() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(5))
        }
    }
    let mut file = Build::pcap(false, 0xa1b2_c3d4, 1);
    file.record(1, 0, 5, b"first");
    let mut reader = stream(file.bytes.as_slice().chain(Broken)).unwrap();
    assert!(reader.next().unwrap().is_some());
    assert!(matches!(reader.next().err(), Some(FileError::Read { offset: 45, .. })));
    assert!(reader.next().unwrap().is_none());
}
#[test]
fn large_frames_fit_and_the_buffer_is_kept() {
    let mut file = Build::pcap(false, 0xa1b2_c3d4, 1);
    let large = vec![9; MAX_FRAME as usize];
    file.record(1, 0, MAX_FRAME, &large).record(2, 0, 1, b"x").record(3, 0, MAX_FRAME, &large);
    let (rows, error, _) = read(&file.bytes);
    assert!(error.is_none());
    assert_eq!(rows.iter().map(|row| row.3.len()).collect::<Vec<_>>(), [1 << 20, 1, 1 << 20]);
}

#[test]
fn what_is_written_is_read_again() {
    let mut writer = Writer::new(vec![]).unwrap();
    let frame =
        |time, link, wire_len, vlan, bytes| Frame { time: model::Nanos(time), link, wire_len, vlan, bytes };
    let mac = b"aaaaaabbbbbb\x08\x00rest";
    let sll = b"\0\0\0\x01\0\x06aaaaaaaa\x08\x00rest";
    for frame in [
        frame(1_700_000_000_123_456_789, LinkType::Ethernet, 99, None, &mac[..]),
        frame(i64::MAX, LinkType::Raw, 3, None, b"raw"),
        frame(-5, LinkType::Ethernet, 18, Some(0x123), &mac[..]),
        frame(7, LinkType::LinuxSll, 20, Some(5), &sll[..]),
        frame(8, LinkType::Ethernet, 3, Some(5), b"cut"),
    ] {
        writer.write(&frame).unwrap();
    }
    let written = writer.written();
    let bytes = writer.into_inner();
    assert_eq!(bytes.len() as u64, written);
    let (rows, error, _) = read(&bytes);
    assert!(error.is_none());
    assert_eq!(
        rows,
        [
            (1_700_000_000_123_456_789, LinkType::Ethernet, 99, mac.to_vec()),
            (i64::MAX, LinkType::Raw, 3, b"raw".to_vec()),
            (0, LinkType::Ethernet, 22, b"aaaaaabbbbbb\x81\x00\x01\x23\x08\x00rest".to_vec()),
            (7, LinkType::LinuxSll, 24, b"\0\0\0\x01\0\x06aaaaaaaa\x81\x00\x00\x05\x08\x00rest".to_vec()),
            (8, LinkType::Ethernet, 3, b"cut".to_vec()),
        ]
    );
}

/// A capture with one of everything, small enough to damage each of its bytes.
fn sample() -> Vec<u8> {
    let mut file = Build::section(false);
    file.interface(1, 64, &[(9, &[9])]).packet(0, 1, 5, b"hello").block(3, |b| b.u32(2).bytes.extend(b"hi"));
    file.block(5, |b| {
        b.u32(0).u32(0).u32(0).option(5, &7u64.to_le_bytes());
    });
    file.block(42, |b| b.bytes.extend(b"whatever")).begin_section(true).interface(101, 0, &[]);
    file.packet(0, 2, 3, b"bye");
    file.bytes
}

#[test]
fn no_byte_can_be_wrong_enough_to_panic() {
    let mut pcap = Build::pcap(true, 0xa1b2_3c4d, 1);
    pcap.record(1, 0, 5, b"hello").record(2, 0, 5, b"world");
    for sample in [sample(), pcap.bytes] {
        for at in 0..sample.len() {
            fuzz::capture(&sample[..at]);
            for bit in [1, 0xff] {
                let mut flipped = sample.clone();
                flipped[at] ^= bit;
                fuzz::capture(&flipped);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_blocks(blocks in proptest::collection::vec((0u32..8, proptest::collection::vec(any::<u8>(), 0..80)), 0..12)) {
        let mut file = Build::section(false);
        file.interface(1, 0, &[]);
        for (kind, body) in blocks {
            file.block(kind, |b| b.bytes.extend(body));
        }
        fuzz::capture(&file.bytes);
    }

    #[test]
    fn arbitrary_records(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut file = Build::pcap(false, 0xa1b2_c3d4, 1);
        file.bytes.extend(tail);
        fuzz::capture(&file.bytes);
    }
}
