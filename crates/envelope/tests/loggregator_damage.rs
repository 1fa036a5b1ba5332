//! The vectors: what they become, and that no damage to them does harm.

use std::collections::BTreeMap;

use envelope::{
    dropsonde::{self, Error, Field, What},
    fuzz,
    loggregator::{self, Envelope, Gauge, Identity, Message, Notices, Options},
};
use proptest::prelude::*;

macro_rules! vectors {
    ($($name:literal)+) => {
        [$((
            include_bytes!(concat!("../../../tests/vectors/loggregator/", $name, ".v1.bin")),
            include_bytes!(concat!("../../../tests/vectors/loggregator/", $name, ".v2.bin")),
        )),+]
    };
}

const VECTORS: [(&[u8], &[u8]); 7] = vectors!(
    "http_start_stop" "log_message" "value_metric" "counter_event" "error" "container_metric" "log_60k"
);

/// A field of wire type 2.
fn text(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

fn convert(v1: &[u8], options: Options) -> (Vec<u8>, Notices) {
    let mut out = Vec::new();
    let written =
        loggregator::write_v1(&dropsonde::open(v1).unwrap(), &Identity::default(), &options, &mut out);
    (loggregator::entries(&out).next().unwrap().unwrap().to_vec(), written.notices)
}

#[test]
fn vectors_become_what_the_reference_makes_of_them() {
    let identity = Identity {
        deployment: "a deployment".into(),
        job: "a job".into(),
        index: "an index".into(),
        ip: "10.0.0.1".into(),
    };
    for (v1, v2) in VECTORS {
        let mut out = Vec::new();
        let v1 = dropsonde::open(v1).unwrap();
        loggregator::write_v1(&v1, &identity, &Options::default(), &mut out);
        let ours = loggregator::entries(&out).next().unwrap().unwrap();
        assert_eq!(ours.len(), v2.len());
        let (ours, theirs) = (Envelope::parse(ours).unwrap(), Envelope::parse(v2).unwrap());
        assert_eq!(ours.timestamp, theirs.timestamp);
        assert_eq!((ours.source_id, ours.instance_id), (theirs.source_id, theirs.instance_id));
        assert!(ours.tags().collect::<BTreeMap<_, _>>() == theirs.tags().collect());
        match (&ours.message, &theirs.message) {
            (Message::Gauge(ours), Message::Gauge(theirs)) => {
                let metrics = |gauge: &Gauge<'_>| {
                    let mut all: Vec<_> = gauge.metrics().map(|metric| format!("{metric:?}")).collect();
                    all.sort();
                    all
                };
                assert_eq!(metrics(ours), metrics(theirs));
            }
            (ours, theirs) => assert_eq!(format!("{ours:?}"), format!("{theirs:?}")),
        }
    }
}

#[test]
fn every_cut_is_refused_or_holds() {
    for (v1, v2) in VECTORS {
        let step = (v1.len() / 600).max(1);
        for cut in (0..v1.len()).step_by(step) {
            fuzz::dropsonde(&v1[..cut]);
        }
        let step = (v2.len() / 300).max(1);
        for cut in (0..v2.len()).step_by(step) {
            let batch = [
                &[0x0a, (cut & 0x7f | 0x80) as u8, (cut >> 7 & 0x7f | 0x80) as u8, (cut >> 14) as u8],
                &v2[..cut],
            ];
            fuzz::loggregator(&batch.concat());
        }
    }
}

#[test]
fn every_changed_byte_is_refused_or_holds() {
    for (v1, _) in VECTORS {
        let mut bytes = v1.to_vec();
        // All of a small one; of a large one its head and samples of its line.
        let large = v1.len() > 600;
        let places = (0..v1.len()).filter(|at| !large || *at < 100 || at % 3_989 == 0);
        for (at, flip) in places.flat_map(|at| [0x01, 0x80, 0xff].map(|flip| (at, flip))) {
            bytes[at] ^= flip;
            fuzz::dropsonde(&bytes);
            bytes[at] ^= flip;
        }
    }
}

#[test]
fn errors_name_what_is_missed() {
    let open = |bytes: &[u8]| dropsonde::open(bytes).map(|envelope| envelope.event_type());
    let origin = text(1, b"o");
    let missing = |field| Err(Error { what: What::MissingRequired, field });
    assert_eq!(open(b""), missing(Field::Origin));
    assert_eq!(open(&origin), missing(Field::EventType));
    let with = |rest: &[u8]| [&origin, rest].concat();
    assert_eq!(open(&with(&[0x10, 7])), Err(Error { what: What::NoBody, field: Field::CounterEvent }));
    for unknown in [1, 3, 10, 99] {
        let want = Err(Error { what: What::UnknownEventType, field: Field::None });
        assert_eq!(open(&with(&[0x10, unknown])), want);
    }
    let counter = |body: &[u8]| with(&[&[0x10, 7][..], &text(10, body)].concat());
    assert_eq!(open(&counter(b"")), missing(Field::CounterName));
    assert_eq!(open(&counter(&text(1, b"n"))), missing(Field::CounterDelta));
    let good = counter(&[&text(1, b"n")[..], &[0x10, 1]].concat());
    assert_eq!(open(&good), Ok(7));
    // The name and the increment in two parts of the body.
    let parts = [counter(&text(1, b"n")), text(10, &[0x10, 1])].concat();
    assert_eq!(open(&parts), Ok(7));
    // A body that the event type does not name must be whole, too.
    assert_eq!(open(&[good.clone(), text(9, b"")].concat()), missing(Field::ValueName));
    // Another wire type is another field.
    assert_eq!(open(&with(&[0x12, 0])), missing(Field::EventType));
    let what = |rest: &[u8]| dropsonde::open(&with(rest)).unwrap_err().what;
    assert_eq!(what(&[0x10]), What::Truncated);
    assert_eq!(what(&[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), What::BadVarint);
    assert_eq!(what(&[0x00]), What::BadTag);
    assert_eq!(what(&[0x0f]), What::BadTag);
    assert_eq!(what(&[0x0c]), What::BadGroup);
    assert_eq!(what(&[0x0b; 101]), What::TooDeep);
    assert!(What::ALL.len() == 8 && What::ALL.iter().all(|what| !what.as_str().is_empty()));
}

#[test]
fn the_id_of_the_instance() {
    let (v1, _) = VECTORS[0];
    let fixed = Options { fix_instance_id: true };
    let instance = |v1: &[u8], options| {
        let (bytes, notices) = convert(v1, options);
        let id = Envelope::parse(&bytes).unwrap().instance_id.to_vec();
        (String::from_utf8(id).unwrap(), notices)
    };
    assert_eq!(instance(v1, Options::default()), ("0".into(), Notices::NONE));
    assert_eq!(instance(v1, fixed), ("2".into(), Notices::INSTANCE_ID_FIXED));
    // Without the tag the id of the instance counts, without that the id of its process.
    let id = b"d5334cfb-a204-47c2-7b9f-8d42";
    let mut other = v1.to_vec();
    let at = other.windows(13).position(|bytes| bytes == b"\x0a\x0binstance_id").unwrap();
    other[at + 2] = b'_';
    assert_eq!(instance(&other, fixed).0.as_bytes(), id);
    // An index that is there stays.
    let index = [v1, &text(7, &[0x68, 9])].concat();
    assert_eq!(instance(&index, fixed), ("9".into(), Notices::NONE));
}

#[test]
fn keys_that_are_repaired_to_the_same_come_once() {
    let counter =
        [text(1, b"o"), vec![0x10, 7], text(10, &[&text(1, b"n")[..], &[0x10, 1]].concat())].concat();
    let tag = |key: &[u8], value: &[u8]| {
        let entry = [text(1, key), text(2, value)].concat();
        [&[0x8a, 0x01, entry.len() as u8], &entry[..]].concat()
    };
    for many in [0, 40] {
        let mut v1 = [counter.clone(), tag(b"k\xff", b"1"), tag(b"k\xfe", b"2"), tag(b"a", b"\xc0")].concat();
        for at in 0..many {
            v1.extend(tag(&[b'x', at], b""));
        }
        let (bytes, notices) = convert(&v1, Options::default());
        assert_eq!(notices, Notices::REPAIRED);
        let envelope = Envelope::parse(&bytes).unwrap();
        assert_eq!(envelope.tag("k\u{fffd}".as_bytes()), Some(&b"2"[..]));
        assert_eq!(envelope.tag(b"a"), Some("\u{fffd}".as_bytes()));
        assert_eq!(envelope.tags().count(), 2 + usize::from(many) + 6);
        fuzz::dropsonde(&v1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzz::dropsonde(&bytes);
        fuzz::loggregator(&bytes);
    }

    /// Vectors with pieces of them at other places.
    #[test]
    fn mixed_vectors(one in 0..6usize, two in 0..6usize, at in any::<usize>(), cut in any::<(usize, usize)>()) {
        let (one, two) = (VECTORS[one].0, VECTORS[two].0);
        let at = at % (one.len() + 1);
        let (from, to) = (cut.0 % (two.len() + 1), cut.1 % (two.len() + 1));
        let piece = two.get(from.min(to)..from.max(to)).unwrap();
        fuzz::dropsonde(&[&one[..at], piece, &one[at..]].concat());
        fuzz::dropsonde(&[one, two].concat());
    }
}
