//! Commands that write what no command should: bytes that are no text, and lines as long as all records may be, or without end.

use howdah_guards::Guard;

use super::{Usual, diagnostics, expect_all_live, narrow, without};
use crate::harness::{Cluster, Setup, reference};

/// What an attempt may hold over such a line: the line, its copy where records are sorted, and itself.
const MOST_KIB: u64 = (2 << 20) + (200 << 10);

fn submit(cluster: &Cluster, name: &str, mapper: &str, more: &[&str]) -> String {
    let (mapper, out) = (cluster.script(&format!("{name}.sh"), mapper), cluster.output(&format!("{name}.out")));
    let input = cluster.text(&format!("{name}.txt"), "one line\n");
    let args =
        ["streaming", "--mapper", &mapper, "--input", &input, "--output", &out, "-D", "mapred.map.max.attempts=1"];
    cluster.submit(&[&args[..], more].concat())
}

/// Bytes of which each is as likely as any other, always the same.
fn noise(n: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// The part files of a job that passes these lines on.
fn parts(bytes: &[u8], n: u32) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let (mut rest, mut at) = (bytes, 0);
    while at < rest.len() {
        if !matches!(rest[at], b'\n' | b'\r') {
            at += 1;
            continue;
        }
        lines.push(&rest[..at]);
        rest = rest[at..].strip_prefix(b"\r\n").unwrap_or(&rest[at + 1..]);
        at = 0;
    }
    lines.extend((!rest.is_empty()).then_some(rest));
    let record = |line: &&'_ [u8]| {
        let tab = line.iter().position(|&byte| byte == b'\t').unwrap_or(line.len());
        (line[..tab].to_vec(), line.get(tab + 1..).unwrap_or_default().to_vec())
    };
    let mut records: Vec<(Vec<u8>, Vec<u8>)> = lines.iter().map(record).collect();
    records.sort();
    let mut parts = vec![Vec::new(); n as usize];
    for (key, value) in records {
        let part = &mut parts[reference::partition(&key, n) as usize];
        part.extend_from_slice(&[&key[..], b"\t", &value, b"\n"].concat());
    }
    parts
}

#[test]
fn bytes_that_are_no_text_come_out_as_they_went_in() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let noise = noise(3 << 20);
    std::fs::write(cluster.path("noise"), &noise).expect("write the noise");
    // On standard error, too, where the framework looks for words of its own.
    let mapper = format!("cat > /dev/null; head -c 300000 {0} >&2; cat {0}", cluster.output("noise"));
    let small = ["--reduces", "3", "-D", "io.sort.mb=1"];
    let passed = submit(&cluster, "passed", &mapper, &small);
    let by_cat = submit(&cluster, "by-cat", &mapper, &[&small[..], &["--reducer", "cat"]].concat());
    let innocent = usual.submit(&cluster, "innocent");
    innocent.expect_right_bytes(&cluster);
    let expected = parts(&noise, 3);
    for (job, out) in [(&passed, "passed.out"), (&by_cat, "by-cat.out")] {
        cluster.wait_job(job, 0);
        reference::assert_same_parts(&reference::read_parts(&cluster.path(out)), &expected, out);
    }
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_line_of_a_gibibyte_and_one_without_end_fail_their_attempts_and_take_no_more_memory_than_a_record_may() {
    // Slots for all: how long a line takes to be too long is no harm.
    let cluster = Cluster::start(Setup { map_slots: 2, ..narrow() });
    let usual = Usual::of(&cluster);
    let jobs = [
        submit(&cluster, "gibibyte", "cat > /dev/null; head -c 1073741824 /dev/zero | tr '\\0' x; echo", &[]),
        submit(&cluster, "endless", "cat > /dev/null; exec tr '\\0' x < /dev/zero", &[]),
    ];
    let innocent = usual.submit(&cluster, "innocent");
    for job in &jobs {
        cluster.wait_job(job, 1);
        let said = diagnostics(&cluster, job).join("\n");
        let is_clear = said.contains("the line has more than 1073741824 bytes") || said.contains("1 GiB is the most");
        assert!(is_clear, "{said}");
        let peak = cluster.attempts(job)[0]["peak_memory_kib"].as_u64();
        assert!(peak.is_some_and(|peak| peak < MOST_KIB), "{peak:?} KiB");
    }
    innocent.expect_right_bytes(&cluster);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn a_line_of_many_mebibytes_comes_out_whole() {
    const LENGTH: usize = 96 << 20;
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let mapper = format!("cat > /dev/null; head -c {LENGTH} /dev/zero | tr '\\0' x; printf '\\tvalue\\n'");
    let job = submit(&cluster, "long", &mapper, &["--reducer", "cat", "--reduces", "1", "-D", "io.sort.mb=1"]);
    let innocent = usual.submit(&cluster, "innocent");
    cluster.wait_job(&job, 0);
    innocent.expect_right_bytes(&cluster);
    let found = reference::read_parts(&cluster.path("long.out"));
    let mut expected = vec![b'x'; LENGTH];
    expected.extend_from_slice(b"\tvalue\n");
    assert!(found == [expected], "{} bytes in {} parts", found.concat().len(), found.len());
    cluster.stop_and_replay();
}

/// A line that a machine stands, where nobody bounds it.
const LONG: usize = 192 << 20;
/// What an attempt may hold over it where lines have a bound of a MiB, and holds at least where they have none.
const LITTLE_KIB: u64 = 96 << 10;
const BOUND: [&str; 8] =
    ["-D", "howdah.line.max.bytes=1MiB", "-D", "io.sort.mb=1", "-D", "dfs.block.size=1GiB", "--reduces", "0"];

/// Two jobs of one map each: one whose command writes such a line, and one whose input is one.
fn submit_long(cluster: &Cluster) -> [String; 2] {
    let written = format!("cat > /dev/null; head -c {LONG} /dev/zero | tr '\\0' x; echo");
    let read = cluster.output("long.txt");
    std::fs::write(&read, vec![b'x'; LONG]).expect("write the line");
    let out = cluster.output("read.out");
    let args = ["streaming", "--mapper", "tail -c 1", "--input", &read, "--output", &out];
    let args = [&args[..], &["-D", "mapred.map.max.attempts=1"], &BOUND].concat();
    [submit(cluster, "written", &written, &BOUND), cluster.submit(&args)]
}

fn peak_kib(cluster: &Cluster, job: &str) -> u64 {
    cluster.attempts(job)[0]["peak_memory_kib"].as_u64().expect("it was measured")
}

#[test]
fn lines_over_a_jobs_own_bound_fail_their_attempts_and_the_longest_line_within_it_comes_out_whole() {
    let cluster = Cluster::start(narrow());
    let usual = Usual::of(&cluster);
    let jobs = submit_long(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    for job in &jobs {
        cluster.wait_job(job, 1);
        let said = diagnostics(&cluster, job).join("\n");
        assert!(said.contains("has more than 1048576 bytes, which is the most (`howdah.line.max.bytes`)"), "{said}");
        let peak = peak_kib(&cluster, job);
        assert!(peak < LITTLE_KIB, "{peak} KiB");
    }
    innocent.expect_right_bytes(&cluster);
    let longest = format!("{}\n", "x".repeat(1 << 20));
    let (input, out) = (cluster.text("longest.txt", &longest), cluster.output("longest.out"));
    let args = ["streaming", "--mapper", "cat", "--input", &input, "--output", &out];
    cluster.wait_job(&cluster.submit(&[&args[..], &BOUND].concat()), 0);
    let found = reference::read_parts(out.as_ref()).concat();
    assert!(found == longest.replace('\n', "\t\n").as_bytes(), "{} bytes", found.len());
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn lines_over_a_jobs_own_bound_become_their_attempts_memory_where_lines_have_none() {
    let cluster = Cluster::start(without(&[Guard::LineLength]));
    for job in submit_long(&cluster) {
        cluster.wait_job(&job, 0);
        let peak = peak_kib(&cluster, &job);
        assert!(peak > LITTLE_KIB, "{peak} KiB");
    }
}
