//! What is written is what the library's own reader finds.

use arrow_array::{Array, RecordBatch, UInt32Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use model::table::{SIP, sip};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};

use super::*;
use crate::columns::Columns;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

/// The filter of a column in the first row group.
fn bloom(file: &LakeFile, column: usize) -> Sbbf {
    let options = ReadOptionsBuilder::new()
        .with_reader_properties(ReaderProperties::builder().set_read_bloom_filter(true).build())
        .build();
    let reader = SerializedFileReader::new_with_options(File::open(&file.path).unwrap(), options).unwrap();
    reader.get_row_group(0).unwrap().get_column_bloom_filter(column).unwrap().clone()
}

/// Pseudo-random numbers, the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A batch whose columns are of every sort: none, all, some values; few, many, and many only later on.
fn batch(seed: u64, rows: usize, start: i64) -> RecordBatch {
    let mut numbers = Numbers(seed);
    let mut columns = Columns::new(&SIP, rows);
    for row in 0..rows {
        let random = numbers.next();
        columns.long(sip::TS, start + row as i64 * 3 - (random % 5) as i64);
        columns.text(sip::CALL_ID, &format!("call-{random:x}@example.com"));
        columns
            .text(sip::METHOD, ["INVITE", "ACK", "BYE", "a method of its own"][(random >> 8) as usize % 4]);
        if random >> 20 & 3 > 0 {
            let user = if row < 22_000 { random >> 30 & 7 } else { random };
            columns.text(sip::FROM_USER, &format!("user number {user}"));
            columns.int(sip::CODE, [100, 180, i32::MIN, i32::MAX][(random >> 40) as usize % 4]);
        }
        if random >> 22 & 31 == 0 {
            columns.long(sip::EXPIRES, random as i64);
            columns.bytes(sip::PAYLOAD_RAW, &random.to_le_bytes());
        }
        columns.text(sip::TRANSPORT, "udp");
        columns.long(sip::NODE_ID, 2_001);
        columns.text(sip::PAYLOAD, &"INVITE sip:bob@example.com ".repeat((random >> 50) as usize % 40));
        columns.end_row();
    }
    columns.seal().unwrap().0
}

fn write(options: FileOptions, batches: &[&RecordBatch]) -> (tempfile::TempDir, Vec<Arc<LakeFile>>) {
    let folder = tempfile::tempdir().unwrap();
    let files = FileWriter::new(options).write(&SIP, folder.path(), batches).unwrap();
    (folder, files)
}

fn read(file: &LakeFile) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&file.path).unwrap()).unwrap();
    let reader = reader.with_batch_size(100_000).build().unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn assert_same(written: &RecordBatch, found: &RecordBatch) {
    assert_eq!(written.num_rows(), found.num_rows());
    for (column, (written, found)) in SIP.columns.iter().zip(written.columns().iter().zip(found.columns())) {
        assert_eq!(written.null_count(), found.null_count(), "nulls of {}", column.name);
        let same = match column.kind {
            // The reader gives text by offsets where the file does not say that it was views.
            Kind::Text => written.as_string_view().iter().eq(found.as_string::<i32>().iter()),
            Kind::Bytes => written.as_binary_view().iter().eq(found.as_binary::<i32>().iter()),
            Kind::Int | Kind::Long | Kind::Double | Kind::Time => written == found,
        };
        assert!(same, "{} differs", column.name);
    }
}

#[test]
fn doubles_keep_their_bits() {
    use model::table::{METRICS, metrics};
    let numbers = [0.0, -0.0, f64::MIN_POSITIVE, f64::MAX, f64::NEG_INFINITY, f64::NAN, 0.1];
    let mut columns = Columns::new(&METRICS, numbers.len() * 2);
    for (row, number) in numbers.iter().enumerate() {
        columns.long(metrics::TS, row as i64);
        columns.double(metrics::VALUE, *number);
        columns.end_row();
        columns.long(metrics::TS, row as i64);
        columns.end_row();
    }
    let batch = columns.seal().unwrap().0;
    let folder = tempfile::tempdir().unwrap();
    let options = FileOptions { compression: Codec::Zstd(1), row_group_rows: 1_024 };
    let files = FileWriter::new(options).write(&METRICS, folder.path(), &[&batch]).unwrap();
    let found = read(&files[0]);
    let found = found.column_by_name("value").unwrap().as_primitive::<Float64Type>();
    let expected: Vec<_> = numbers.iter().flat_map(|number| [Some(number.to_bits()), None]).collect();
    assert_eq!(found.iter().map(|number| number.map(f64::to_bits)).collect::<Vec<_>>(), expected);
}

#[test]
fn every_codec_gives_back_what_was_written() {
    let (first, second) = (batch(1, 3_000, 1_000_000), batch(2, 2_500, 1_000_100));
    let all = concat_batches(&first.schema(), [&first, &second]).unwrap();
    let times = all.column(0).as_primitive::<TimestampMicrosecondType>().values().to_vec();
    let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
    order.sort_by_key(|row| times[*row as usize]);
    let sorted = take_record_batch(&all, &UInt32Array::from(order)).unwrap();
    for compression in [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Zstd(1), Codec::Zstd(9)] {
        let (_folder, files) = write(FileOptions { compression, row_group_rows: 2_000 }, &[&first, &second]);
        assert_eq!(files.len(), 1);
        assert_same(&sorted, &read(&files[0]));
        assert_eq!(files[0].rows, 5_500);
        let found = read(&files[0]);
        let times = found.column(0).as_primitive::<TimestampMicrosecondType>().values();
        assert_eq!((files[0].min_ts, files[0].max_ts), (times[0], times[5_499]));
    }
}

#[test]
fn pages_end_and_dictionaries_are_given_up_within_a_row_group() {
    // The first users are eight, in a page of keys; then each is another.
    let one = batch(3, 50_000, 1_000);
    let (_folder, files) =
        write(FileOptions { compression: Codec::Zstd(1), row_group_rows: 131_072 }, &[&one]);
    let times = one.column(0).as_primitive::<TimestampMicrosecondType>().values().to_vec();
    let mut order: Vec<u32> = (0..50_000).collect();
    order.sort_by_key(|row| times[*row as usize]);
    assert_same(&take_record_batch(&one, &UInt32Array::from(order)).unwrap(), &read(&files[0]));
    let metadata = ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .parse_and_finish(&File::open(&files[0].path).unwrap())
        .unwrap();
    let group = metadata.row_group(0);
    let encodings = |column: usize| group.column(column).encodings().collect::<Vec<_>>();
    use parquet::basic::Encoding::{DELTA_BINARY_PACKED, PLAIN, RLE_DICTIONARY};
    assert!(
        encodings(sip::FROM_USER).contains(&RLE_DICTIONARY) && encodings(sip::FROM_USER).contains(&PLAIN)
    );
    assert!(group.column(sip::METHOD).dictionary_page_offset().is_some());
    assert!(group.column(sip::CALL_ID).dictionary_page_offset().is_none());
    assert!(encodings(sip::CODE).contains(&DELTA_BINARY_PACKED));
    // The time has statistics and a page index; what is not set takes a page of a few bytes.
    assert!(group.column(sip::TS).statistics().is_some());
    assert_eq!(metadata.offset_index().unwrap()[0][sip::TS].page_locations().len(), 3);
    assert!(group.column(sip::GEO).compressed_size() < 64);
    assert!(group.column(sip::TRANSPORT).compressed_size() < 256);
}

#[test]
fn a_column_may_have_its_values_on_another_day_alone() {
    let day = 86_400_000_000;
    let mut columns = Columns::new(&SIP, 4);
    for (ts, user) in [(1, None), (2, None), (day + 1, Some("alice")), (day + 2, None)] {
        columns.long(sip::TS, ts);
        if let Some(user) = user {
            columns.text(sip::FROM_USER, user);
            columns.bytes(sip::PAYLOAD_RAW, user.as_bytes());
        }
        columns.end_row();
    }
    let batch = columns.seal().unwrap().0;
    let (_folder, files) =
        write(FileOptions { compression: Codec::Zstd(1), row_group_rows: 1_024 }, &[&batch]);
    assert_eq!(files.len(), 2);
    assert_same(&batch.slice(0, 2), &read(&files[0]));
    assert_same(&batch.slice(2, 2), &read(&files[1]));
}

#[test]
fn bloom_filters_know_the_values_and_few_others() {
    let one = batch(4, 4_000, 1_000);
    let (_folder, files) = write(FileOptions { compression: Codec::None, row_group_rows: 4_000 }, &[&one]);
    let calls = bloom(&files[0], sip::CALL_ID);
    let known = one.column(sip::CALL_ID).as_string_view();
    assert!(known.iter().flatten().all(|value| calls.check(&value)));
    let wrong = (0..4_000).filter(|number| calls.check(&format!("other {number}").as_str())).count();
    assert!(wrong < 160, "{wrong} of 4000");
    // A column without a value has none.
    assert!(!bloom(&files[0], sip::CID).check(&"x"));
}
