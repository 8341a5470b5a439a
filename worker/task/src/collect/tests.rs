//! Both collectors against a naive model: random records, tiny buffers, many spills, every codec.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;

use howdah_core::job::{App, InputFormat, OutputFormat, Split, TaskKind};
use proptest::prelude::*;

use super::{FoldCollector, MAP_OUTPUT, MAP_OUTPUT_INDEX, SortCollector, Spiller, hash_partition};
use crate::api::context::Context;
use crate::api::key_order::KeyOrder;
use crate::process::link::Link;
use crate::process::log::Syslog;
use crate::process::reporter::Reporter;
use crate::segment::{SegmentReader, SortedRecords, find_segment};
use crate::umbilical::TaskSpec;
use crate::{Application, Fold, ReduceOutput, Result, Values};

type Record = (Vec<u8>, Vec<u8>);

fn context(dir: &Path, n_reduces: u32, properties: &[(&str, &str)]) -> Context {
    let spec = TaskSpec {
        marked: false,
        job: "job_1_0001".to_owned(),
        attempt: "attempt_1_0001_m_000000_0".to_owned(),
        kind: TaskKind::Map,
        index: 0,
        number: 0,
        app: App::BuiltIn { name: "test".to_owned() },
        properties: properties.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect(),
        n_maps: 1,
        n_reduces,
        input_format: InputFormat::Text,
        split: Some(Split::Generated),
        output: OutputFormat::None,
        asks_commit: false,
        local_dir: dir.to_owned(),
        token: String::new(),
        worker_name: "test".to_owned(),
        log_dir: None,
    };
    let (stream, worker) = UnixStream::pair().expect("socket pair");
    // Left open: nobody listens, but reports must not fail.
    std::mem::forget(worker);
    Context::new(spec, Reporter::new(Rc::new(Link::new(stream)), Syslog::new(None)))
}

/// What `file.out` in `dir` holds, by partition.
fn stored(dir: &Path, n: u32) -> Vec<Vec<Record>> {
    let partition = |p| {
        let place = find_segment(&dir.join(MAP_OUTPUT_INDEX), p).expect("index");
        let mut reader = SegmentReader::open(&dir.join(MAP_OUTPUT), place).expect("open");
        let mut records = Vec::new();
        while reader.advance().expect("read") {
            records.push((reader.key().to_vec(), reader.value().to_vec()));
        }
        assert_eq!(records.len() as u64, place.records);
        records
    };
    let found = (0..n).map(partition).collect();
    let left: Vec<_> = std::fs::read_dir(dir).expect("list").map(|e| e.expect("entry").file_name()).collect();
    assert_eq!(left.len(), 2, "only the output and its index are left: {left:?}");
    found
}

fn parts(records: impl IntoIterator<Item = Record>, n: u32) -> Vec<Vec<Record>> {
    let mut parts = vec![Vec::new(); n as usize];
    for record in records {
        parts[hash_partition(&record.0, n) as usize].push(record);
    }
    parts.iter_mut().for_each(|part| part.sort());
    parts
}

fn order(application: &Application, context: &Context) -> KeyOrder {
    KeyOrder::new(application.comparator.as_ref(), context).expect("a comparator")
}

fn spiller(application: &Application, context: &Context, limit: usize) -> Spiller {
    let mut spiller =
        Spiller::new(&application.combiner, application.partitioner.as_ref(), order(application, context), context)
            .expect("spiller");
    // Far below what the property allows, so that small tests spill often.
    spiller.limit = limit;
    spiller
}

fn sum(key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let sum = values.sum()?;
    out.emit_long(key, sum)
}

/// Keys that share prefixes, of lengths on both sides of 8 and 15, zeros and high bytes included.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0_u8), Just(b'a'), Just(b'b'), Just(0xff_u8)];
    prop_oneof![
        4 => proptest::collection::vec(byte.clone(), 0..4),
        2 => proptest::collection::vec(byte.clone(), 7..10),
        2 => proptest::collection::vec(byte.clone(), 13..18),
        1 => proptest::collection::vec(byte, 30..40),
        2 => (0_u32..300).prop_map(|i| format!("a common prefix {i}").into_bytes()),
    ]
}

fn codec() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(""), Just("lz4"), Just("zstd")]
}

fn properties(codec: &'static str, factor: &'static str) -> [(&'static str, &'static str); 3] {
    let on = if codec.is_empty() { "false" } else { "true" };
    [("mapred.compress.map.output", on), ("mapred.map.output.compression.codec", codec), ("io.sort.factor", factor)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sorted_output_is_all_records_in_order(
        records in proptest::collection::vec((key(), proptest::collection::vec(any::<u8>(), 0..9)), 0..400),
        n in 1_u32..5,
        limit in 200_usize..20_000,
        codec in codec(),
        factor in prop_oneof![Just("2"), Just("3"), Just("10")],
    ) {
        let dir = tempfile::tempdir().expect("temporary directory");
        let context = context(dir.path(), n, &properties(codec, factor));
        let application = Application::identity();
        let mut collector = SortCollector::new(spiller(&application, &context, limit));
        for (key, value) in &records {
            collector.collect(key, value).expect("collect");
        }
        collector.finish().expect("finish");
        prop_assert_eq!(stored(dir.path(), n), parts(records, n));
    }

    #[test]
    fn folded_and_combined_output_is_one_sum_per_key(
        records in proptest::collection::vec((key(), -5_i64..1000), 0..600),
        n in 1_u32..5,
        limit in 33_000_usize..120_000,
        codec in codec(),
    ) {
        let mut sums: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
        records.iter().for_each(|(key, value)| *sums.entry(key.clone()).or_default() += value);
        let expected = parts(sums.into_iter().map(|(key, sum)| (key, sum.to_string().into_bytes())), n);

        let dir = tempfile::tempdir().expect("temporary directory");
        let context_ = context(dir.path(), n, &properties(codec, "2"));
        let application = Application::identity().fold(Fold::Sum);
        let mut collector = FoldCollector::new(Fold::Sum, spiller(&application, &context_, limit));
        for (key, value) in &records {
            collector.collect_long(key, *value).expect("collect");
        }
        collector.finish().expect("finish");
        prop_assert_eq!(stored(dir.path(), n), expected.clone());

        // A combiner need not make one record of each key where there are few spills; here its buffer has room.
        let dir = tempfile::tempdir().expect("temporary directory");
        let context_ = context(dir.path(), n, &properties(codec, "2"));
        let application = Application::identity().combiner(|| sum);
        let mut collector = SortCollector::new(spiller(&application, &context_, 1 << 20));
        for (key, value) in &records {
            collector.collect(key, value.to_string().as_bytes()).expect("collect");
        }
        collector.finish().expect("finish");
        prop_assert_eq!(stored(dir.path(), n), expected);
    }
}

/// Orders keys by their length alone, so that many that differ are one group.
fn by_length(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_comparators_order_holds_through_spills_merges_and_groups(
        records in proptest::collection::vec((key(), -5_i64..1000), 0..300),
        limit in 200_usize..20_000,
        factor in prop_oneof![Just("2"), Just("10")],
    ) {
        let records: Vec<Record> =
            records.into_iter().map(|(key, number)| (key, number.to_string().into_bytes())).collect();
        let mut expected = records.clone();
        expected.sort_by(|a, b| by_length(&a.0, &b.0).then_with(|| a.cmp(b)));
        let application = || Application::identity().key_comparator(|_| Ok(by_length));

        let dir = tempfile::tempdir().expect("temporary directory");
        let context_ = context(dir.path(), 1, &properties("", factor));
        let mut collector = SortCollector::new(spiller(&application(), &context_, limit));
        for (key, value) in &records {
            collector.collect(key, value).expect("collect");
        }
        collector.finish().expect("finish");
        prop_assert_eq!(stored(dir.path(), 1), vec![expected.clone()]);

        // Combined, each length is one record, of its first key.
        let mut sums: Vec<(Vec<u8>, i64)> = Vec::new();
        for (key, value) in expected {
            let value: i64 = String::from_utf8_lossy(&value).parse().expect("a number");
            match sums.last_mut() {
                Some((first, sum)) if first.len() == key.len() => *sum += value,
                _ => sums.push((key, value)),
            }
        }
        let sums: Vec<Record> = sums.into_iter().map(|(key, sum)| (key, sum.to_string().into_bytes())).collect();
        let dir = tempfile::tempdir().expect("temporary directory");
        let context_ = context(dir.path(), 1, &properties("", factor));
        let combined = application().combiner(|| sum);
        let mut collector = SortCollector::new(spiller(&combined, &context_, 1 << 20));
        for (key, value) in &records {
            collector.collect(key, value).expect("collect");
        }
        collector.finish().expect("finish");
        prop_assert_eq!(stored(dir.path(), 1), vec![sums]);
    }
}

#[test]
fn a_record_larger_than_the_buffer_passes_through() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let context = context(dir.path(), 2, &[]);
    let mut collector = SortCollector::new(spiller(&Application::identity(), &context, 1000));
    let records: Vec<Record> = (0..20_u8).map(|i| (vec![i; 300 * usize::from(i)], vec![i; 200_000])).collect();
    for (key, value) in &records {
        collector.collect(key, value).expect("collect");
    }
    collector.finish().expect("finish");
    assert_eq!(stored(dir.path(), 2), parts(records, 2));
}

#[test]
fn a_million_distinct_keys_fold_within_a_small_buffer() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let context = context(dir.path(), 3, &[("io.sort.mb", "1")]);
    let application = Application::identity().fold(Fold::Max);
    let mut collector = FoldCollector::new(
        Fold::Max,
        Spiller::new(&application.combiner, application.partitioner.as_ref(), KeyOrder::default(), &context)
            .expect("spiller"),
    );
    for i in 0..2_000_000_u32 {
        let key = i.wrapping_mul(2_654_435_761) % 1_000_000;
        collector.collect_long(format!("key {key}").as_bytes(), i64::from(i % 7)).expect("collect");
    }
    collector.finish().expect("finish");
    let found = stored(dir.path(), 3);
    assert!(found.iter().all(|part| part.is_sorted_by(|a, b| a.0 < b.0)), "each key once, in order");
    let mut largest: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
    for i in 0..2_000_000_u32 {
        let key = i.wrapping_mul(2_654_435_761) % 1_000_000;
        let entry = largest.entry(format!("key {key}").into_bytes()).or_insert(0);
        *entry = (*entry).max(i64::from(i % 7));
    }
    let expected = parts(largest.into_iter().map(|(key, n)| (key, n.to_string().into_bytes())), 3);
    assert!(found == expected, "largest values differ");
    assert!(context.tally().spilled_records.get() > 2_000_000, "it spilled and merged");
}

#[test]
fn a_damaged_run_is_an_error_that_names_the_file_and_the_place() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let context = context(dir.path(), 1, &[]);
    let mut collector = SortCollector::new(spiller(&Application::identity(), &context, 1 << 20));
    for i in 0..1000_u32 {
        collector.collect(&i.to_be_bytes(), b"value").expect("collect");
    }
    collector.finish().expect("finish");
    let path = dir.path().join(MAP_OUTPUT);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[5000] ^= 1;
    std::fs::write(&path, bytes).expect("write");
    let place = find_segment(&dir.path().join(MAP_OUTPUT_INDEX), 0).expect("index");
    let error = SegmentReader::open(&path, place).and_then(|mut reader| {
        while reader.advance()? {}
        Ok(())
    });
    let error = error.expect_err("damaged").to_string();
    assert!(error.contains("file.out` is damaged at byte") && error.contains("checksum"), "{error}");
}
