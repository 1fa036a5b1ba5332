use super::*;

fn batch(number: u32, bytes: usize) -> Batch {
    let mut message = number.to_le_bytes().to_vec();
    message.resize(bytes, 7);
    Batch::new(&message, 2, i64::from(number)).unwrap()
}

fn number(batch: &Batch) -> u32 {
    u32::from_le_bytes(batch.message()[..4].try_into().unwrap())
}

/// Everything that can be read, with the last position.
fn drain(spool: &mut Spool) -> (Vec<u32>, Option<Position>) {
    let (mut numbers, mut last) = (Vec::new(), None);
    while let Taken::Batch(batch, position) = spool.read().unwrap() {
        numbers.push(number(&batch));
        last = Some(position);
    }
    (numbers, last)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "spool"))
        .collect();
    files.sort();
    files
}

#[test]
fn batches_come_back_in_order_over_segments_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), 8 * 1_000).unwrap();
    for at in 0..20 {
        assert_eq!(spool.append(&batch(at, 300)).unwrap(), Appended::Yes);
    }
    assert!(files(folder.path()).len() >= 6);
    assert_eq!(spool.waiting(), Tally { envelopes: 40, batches: 20, bytes: 6_000 });
    let mut positions = Vec::new();
    for at in 0..7 {
        let Taken::Batch(batch, position) = spool.read().unwrap() else { panic!() };
        assert_eq!(number(&batch), at);
        positions.push(position);
    }
    // Five were confirmed; the two that were read beyond them come again.
    spool.confirmed(positions[4]).unwrap();
    drop(spool);
    let mut spool = Spool::open(folder.path(), 8 * 1_000).unwrap();
    assert_eq!(spool.waiting().batches, 15);
    spool.append(&batch(20, 10)).unwrap();
    let (numbers, last) = drain(&mut spool);
    assert_eq!(numbers, (5..21).collect::<Vec<_>>());
    spool.confirmed(last.unwrap()).unwrap();
    assert!(files(folder.path()).is_empty());
    spool.append(&batch(21, 10)).unwrap();
    assert_eq!(drain(&mut spool).0, [21]);
}

#[test]
fn the_bound_holds_and_the_oldest_segment_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), 8 * 1_000).unwrap();
    let mut at = 0;
    while spool.append(&batch(at, 300)).unwrap() == Appended::Yes {
        at += 1;
    }
    let bytes: u64 = files(folder.path()).iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!((7_000..=8_000).contains(&bytes), "{bytes}");
    assert_eq!(spool.drop_oldest().unwrap().batches, 3);
    assert_eq!(spool.append(&batch(at, 300)).unwrap(), Appended::Yes);
    assert_eq!(drain(&mut spool).0, (3..=at).collect::<Vec<_>>());
}

#[test]
fn a_torn_tail_is_left_out_at_every_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), 1 << 20).unwrap();
    for at in 0..3 {
        spool.append(&batch(at, 40)).unwrap();
    }
    drop(spool);
    let file = files(folder.path()).remove(0);
    let whole = fs::read(&file).unwrap();
    for cut in 0..whole.len() {
        fs::write(&file, &whole[..cut]).unwrap();
        let mut spool = Spool::open(folder.path(), 1 << 20).unwrap();
        let kept = cut.saturating_sub(8) / 60;
        spool.append(&batch(9, 5)).unwrap();
        let mut expected: Vec<u32> = (0..u32::try_from(kept).unwrap()).collect();
        expected.push(9);
        assert_eq!(drain(&mut spool).0, expected, "cut at {cut}");
        drop(spool);
        for file in files(folder.path()) {
            fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn a_record_damaged_while_it_waits_is_counted_with_what_it_hides() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), 8 * 1_000).unwrap();
    for at in 0..6 {
        spool.append(&batch(at, 300)).unwrap();
    }
    let file = files(folder.path()).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    bytes[8 + 320 + 100] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert!(matches!(spool.read().unwrap(), Taken::Batch(..)));
    let Taken::Lost(lost) = spool.read().unwrap() else { panic!("the damage went unnoticed") };
    assert_eq!((lost.batches, lost.envelopes), (2, 4));
    assert_eq!(drain(&mut spool).0, [3, 4, 5]);
}

#[test]
fn what_was_under_way_stands_in_front_after_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), 8 * 1_000).unwrap();
    for at in 10..16 {
        spool.append(&batch(at, 300)).unwrap();
    }
    let mut read = Vec::new();
    for _ in 0..4 {
        let Taken::Batch(batch, position) = spool.read().unwrap() else { panic!() };
        read.push((batch, position));
    }
    spool.confirmed(read[0].1).unwrap();
    // 11 was read from here, 5 never was on disk, 12 and 13 were read ahead.
    let front = [read[1].0.clone(), batch(5, 10), read[2].0.clone(), read[3].0.clone()];
    assert_eq!(spool.close(&front, &[batch(20, 10)]).unwrap(), Tally::default());
    drop(spool);
    let mut spool = Spool::open(folder.path(), 8 * 1_000).unwrap();
    assert_eq!(drain(&mut spool).0, [11, 5, 12, 13, 14, 15, 20]);
}

#[test]
fn a_second_program_is_kept_out() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Spool::open(folder.path(), 1_000).unwrap();
    assert_eq!(Spool::open(folder.path(), 1_000).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}
