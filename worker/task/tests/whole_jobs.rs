//! Whole jobs through the process loop, the data path and the shuffle, against a naive model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use howdah_core::job::counters::{Counters, FRAMEWORK};
use howdah_task::local::{LocalDone, LocalJob};
use howdah_task::{Application, Fold, MapOutput, ReduceOutput, Result, Values, hash_partition, text};

fn count(line: &[u8], out: &mut MapOutput) -> Result {
    for word in text::words(line) {
        out.emit_long(word, 1)?;
    }
    Ok(())
}

fn sum(key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let sum = values.sum()?;
    out.emit_long(key, sum)
}

/// Word count the three ways that a program may say it.
fn word_count(way: &str) -> Application {
    match way {
        "fold" => Application::lines(count).fold(Fold::Sum),
        "combiner" => Application::lines(count).combiner(|| sum).reduce(sum),
        _ => Application::lines(count).reduce(sum),
    }
}

/// Text of `n` words of which many are rare and some long; the generator is a fixed linear congruence.
fn sample(n: usize) -> String {
    let mut state = 12_345_u64;
    let mut text = String::new();
    for i in 0..n {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let r = state >> 40;
        match r % 10 {
            0..=5 => text.push_str(["the", "of", "and", "to"][(r / 10 % 4) as usize]),
            6..=8 => text.push_str(&format!("w{}", r / 10 % 5000)),
            _ => text.push_str(&format!("a-very-long-word-with-number-{}-ünïcode", r / 10 % 3000)),
        }
        text.push_str(if i % 11 == 10 { "\n" } else { " " });
    }
    text
}

fn expected(text: &str, n_reduces: u32) -> Vec<String> {
    let mut counts: BTreeMap<&[u8], i64> = BTreeMap::new();
    text::words(text.as_bytes()).for_each(|word| *counts.entry(word).or_default() += 1);
    let mut parts = vec![String::new(); n_reduces as usize];
    for (word, n) in counts {
        let part = &mut parts[hash_partition(word, n_reduces) as usize];
        part.push_str(&format!("{}\t{n}\n", String::from_utf8_lossy(word)));
    }
    parts
}

fn job(dir: &Path, name: &str, way: &'static str) -> LocalJob {
    LocalJob::new(dir.join(name), move |_, _| Ok(word_count(way))).input(dir.join("text")).n_reduces(3)
}

fn read(parts: &[PathBuf]) -> Vec<String> {
    parts.iter().map(|part| std::fs::read_to_string(part).expect("read part")).collect()
}

fn framework(counters: &Counters, name: &str) -> i64 {
    counters.get(FRAMEWORK, name)
}

fn check(done: &LocalDone, text: &str, what: &str) {
    let expected = expected(text, 3);
    assert!(read(&done.parts) == expected, "{what}: part files differ from the model");
    let words = text::words(text.as_bytes()).count() as i64;
    let distinct: usize = expected.iter().map(|part| part.lines().count()).sum();
    assert_eq!(framework(&done.counters, "Map input records"), text.lines().count() as i64, "{what}");
    assert_eq!(framework(&done.counters, "Map input bytes"), text.len() as i64, "{what}");
    assert_eq!(framework(&done.counters, "Map output records"), words, "{what}");
    assert_eq!(framework(&done.counters, "Reduce input groups"), distinct as i64, "{what}");
    assert_eq!(framework(&done.counters, "Reduce output records"), distinct as i64, "{what}");
    assert!(framework(&done.counters, "Reduce shuffle bytes") > 0, "{what}");
}

#[test]
fn part_files_are_the_same_bytes_whatever_the_splits_buffers_and_codecs() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let text = sample(200_000);
    std::fs::write(dir.path().join("text"), &text).expect("write");
    for way in ["fold", "combiner", "plain"] {
        for (i, (split_size, sort_mb, factor, codec)) in
            [(1 << 30, 100, 10, ""), (1 << 17, 1, 3, "lz4"), (300_001, 1, 2, "zstd")].into_iter().enumerate()
        {
            let what = format!("{way}, splits of {split_size}, {sort_mb} MiB, factor {factor}, codec `{codec}`");
            let done = job(dir.path(), &format!("out-{way}-{i}"), way)
                .split_size(split_size)
                .property("io.sort.mb", sort_mb)
                .property("io.sort.factor", factor)
                .property("mapred.compress.map.output", !codec.is_empty())
                .property("mapred.map.output.compression.codec", codec)
                .run()
                .expect(&what);
            check(&done, &text, &what);
        }
    }
}

#[test]
fn many_spills_are_merged_in_several_passes() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let text = sample(600_000);
    std::fs::write(dir.path().join("text"), &text).expect("write");
    let done = job(dir.path(), "out", "plain")
        .property("io.sort.mb", 1)
        .property("io.sort.spill.percent", 0.3)
        .property("io.sort.factor", 3)
        .run()
        .expect("job");
    check(&done, &text, "many spills");
    let (spilled, records) =
        (framework(&done.counters, "Spilled Records"), framework(&done.counters, "Map output records"));
    assert!(spilled > 3 * records, "{spilled} spilled of {records}: expected several passes");
}

#[test]
fn a_reduce_with_little_memory_merges_on_disk() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let text = sample(400_000);
    std::fs::write(dir.path().join("text"), &text).expect("write");
    for way in ["plain", "combiner", "fold"] {
        let done = job(dir.path(), &format!("out-{way}"), way)
            .split_size(60_000)
            .property("howdah.shuffle.memory.mb", 1)
            .property("io.sort.factor", 4)
            .run()
            .expect("job");
        check(&done, &text, way);
        // Each map spills its output once. What is merged to disk by a reduce is spilled once more.
        let (spilled, reduced) =
            (framework(&done.counters, "Spilled Records"), framework(&done.counters, "Reduce input records"));
        assert!(spilled > reduced, "{way}: {spilled} spilled, {reduced} reduced: nothing was merged on disk");
    }
}

#[test]
fn how_many_segments_a_reduce_holds_in_memory_is_the_jobs_choice() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let text = sample(400_000);
    std::fs::write(dir.path().join("text"), &text).expect("write");
    let spilled = |threshold: &str| {
        let done = job(dir.path(), &format!("out-{threshold}"), "plain")
            .split_size(60_000)
            .property("mapred.inmem.merge.threshold", threshold)
            .run()
            .expect("job");
        check(&done, &text, threshold);
        framework(&done.counters, "Spilled Records")
    };
    let [any, none, few] = ["0", "-1", "4"].map(spilled);
    assert_eq!(any, none);
    assert!(few > any, "{few} spilled records, {any} without a merge before the last map");
}

#[test]
fn empty_input_and_idle_reduces_still_write_part_files() {
    let dir = tempfile::tempdir().expect("temporary directory");
    std::fs::write(dir.path().join("text"), "").expect("write");
    let done = job(dir.path(), "out", "fold").run().expect("job");
    let names: Vec<String> =
        done.parts.iter().map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["part-r-00000", "part-r-00001", "part-r-00002"]);
    assert!(read(&done.parts).iter().all(String::is_empty));
    assert!(dir.path().join("out/_SUCCESS").exists() && !dir.path().join("out/_temporary").exists());
}

#[test]
fn map_only_jobs_write_what_maps_emit() {
    let dir = tempfile::tempdir().expect("temporary directory");
    std::fs::write(dir.path().join("text"), "one\ntwo\nthree\n").expect("write");
    let map = |line: &[u8], out: &mut MapOutput| {
        out.emit(line, b"value")?;
        out.emit_key(b"alone")
    };
    let done = LocalJob::new(dir.path().join("out"), move |_, _| Ok(Application::lines(map)))
        .input(dir.path().join("text"))
        .n_reduces(0)
        .split_size(6)
        .property("mapred.textoutputformat.separator", ": ")
        .run()
        .expect("job");
    assert_eq!(
        read(&done.parts),
        ["one: value\nalone\ntwo: value\nalone\n", "three: value\nalone\n", ""],
        "part-m files"
    );
}

#[test]
fn values_come_in_order_and_may_be_left_unread() {
    let dir = tempfile::tempdir().expect("temporary directory");
    std::fs::write(dir.path().join("text"), "b 3\na 2\nb 1\na 9\nb 2\n").expect("write");
    let map = |line: &[u8], out: &mut MapOutput| out.emit(&line[..1], &line[2..]);
    let first = |key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput| {
        let first = values.next()?.unwrap_or_default().to_vec();
        out.emit(key, &first)
    };
    let done = LocalJob::new(dir.path().join("out"), move |_, _| Ok(Application::lines(map).reduce(first)))
        .input(dir.path().join("text"))
        .split_size(4)
        .run()
        .expect("job");
    assert_eq!(read(&done.parts), ["a\t2\nb\t1\n"]);
}

#[test]
fn failures_say_what_where_and_why() {
    let dir = tempfile::tempdir().expect("temporary directory");
    std::fs::write(dir.path().join("text"), "fine\nbad\n").expect("write");
    let run = |name: &str, map: fn(&[u8], &mut MapOutput) -> Result| {
        let job = LocalJob::new(dir.path().join(name), move |_, _| Ok(Application::lines(map)));
        job.input(dir.path().join("text")).run().expect_err("fails").to_string()
    };
    let error = run("error", |line, _| if line == b"bad" { Err("no such thing".into()) } else { Ok(()) });
    assert!(error.contains("text` at byte 5, record `bad`: no such thing"), "{error}");
    let panic = run("panic", |line, _| {
        assert!(line != b"bad", "unexpected line");
        Ok(())
    });
    assert!(panic.contains("panicked at") && panic.contains("unexpected line"), "{panic}");
    assert!(panic.contains("text` at byte 5"), "{panic}");
    let fold = |_: &[u8], out: &mut MapOutput| out.emit(b"key", b"many");
    let job = LocalJob::new(dir.path().join("fold"), move |_, _| Ok(Application::lines(fold).fold(Fold::Max)));
    let error = job.input(dir.path().join("text")).run().expect_err("fails").to_string();
    assert!(error.contains("`many` is not a long"), "{error}");
}

#[test]
fn a_combiner_that_changes_keys_is_refused() {
    let dir = tempfile::tempdir().expect("temporary directory");
    std::fs::write(dir.path().join("text"), "a b c\n").expect("write");
    let wrong =
        |key: &[u8], _: &mut Values<'_>, out: &mut ReduceOutput| out.emit(if key == b"a" { b"z" } else { key }, b"1");
    let job = LocalJob::new(dir.path().join("out"), move |_, _| Ok(Application::lines(count).combiner(move || wrong)));
    let error = job.input(dir.path().join("text")).run().expect_err("fails").to_string();
    assert!(error.contains("a combiner emitted key `b` after `z`"), "{error}");
}

#[test]
fn users_counters_and_compressed_output_arrive() {
    let dir = tempfile::tempdir().expect("temporary directory");
    std::fs::write(dir.path().join("text"), "x\ny\n").expect("write");
    let map = |line: &[u8], out: &mut MapOutput| {
        out.context().count("Mine", "lines", 1);
        out.emit_key(line)
    };
    let done = LocalJob::new(dir.path().join("out"), move |_, _| Ok(Application::lines(map)))
        .input(dir.path().join("text"))
        .n_reduces(0)
        .property("mapred.output.compress", true)
        .property("mapred.output.compression.codec", "zstd")
        .run()
        .expect("job");
    assert_eq!(done.counters.get("Mine", "lines"), 2);
    assert!(done.parts[0].ends_with("part-m-00000.zst"));
    let bytes = std::fs::read(&done.parts[0]).expect("read");
    assert_eq!(zstd::bulk::decompress(&bytes, 100).expect("decompress"), b"x\ny\n");
}
