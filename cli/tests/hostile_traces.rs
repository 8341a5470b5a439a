//! Traces of a few bytes that claim billions of tasks, before every command that reads one.
//!
//! Each runs with an address space of 1 GiB, a part of what an element for each task would need, and is to refuse the file
//! for its count.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use howdah_guards::{Guard, VARIABLE};

const KIB: u64 = 1 << 20;
/// Refusals take milliseconds; a machine that does much else is given time.
const BOUND: Duration = Duration::from_secs(20);

/// Every format whose counts are numbers in the file.
const CLAIMS: [(&str, &str, &str); 5] = [
    (
        "one.json",
        r#"{"schema":"howdah/trace/v1","source":"","jobs":[{"n_maps":2147483648,"n_reduces":1,"map_ms":[5],"reduce_ms":[5]}]}"#,
        "found 2147483649 tasks",
    ),
    (
        "lines.jsonl",
        "{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}\n{\"n_maps\":4294967295,\"n_reduces\":4294967295,\"map_ms\":[5]}\n",
        "found 8589934590 tasks",
    ),
    ("day.tsv", "job0\t1\t1\t9223372036854775807\t1\t1\n", "found 9223372036854775807 bytes"),
    ("medium.tsv", "job0\t1\t1\t562949953421312\t1\t1\n", "tasks"),
    (
        "log.swf",
        "; Version: 2.2\n1 0 0 10 2147483648 10 -1 2147483648 -1 -1 1 1 1 1 1 -1 -1 -1\n",
        "found 2147483648 tasks",
    ),
];

/// Commands that read a trace, which comes behind these words.
const READERS: [&str; 14] = [
    "trace fit",
    "trace info",
    "trace export --format rumen -o out",
    "trace export --format jhist -o out",
    "trace export --format swim -o out",
    "trace export --format csv -o out",
    "trace import -o out",
    "trace fold --factor 2 -o out",
    "trace scale --factor 2 -o out",
    "trace add --db traces.db",
    "replay",
    "compare --scheduler fifo --scheduler fair",
    "optimize --map-slots 2 --reduce-slots 2",
    "tune fbq",
];

fn stderr(said: &Output) -> String {
    String::from_utf8_lossy(&said.stderr).into_owned()
}

fn run(dir: &Path, words: &str, file: &str) -> (Output, Duration) {
    run_without(&[], dir, words, file)
}

/// As `run`, without some guards.
fn run_without(guards_off: &[Guard], dir: &Path, words: &str, file: &str) -> (Output, Duration) {
    let mut limited = Command::new("/bin/sh");
    // A command that does work for each task is ended, and the test says which.
    let shell = format!("ulimit -v {KIB}; exec timeout 30 \"$0\" {words} {file}");
    limited.args(["-c", &shell, env!("CARGO_BIN_EXE_howdah")]).current_dir(dir);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HOWDAH_")) {
        limited.env_remove(name);
    }
    let off: Vec<&str> = guards_off.iter().map(|guard| guard.name()).collect();
    limited.env(VARIABLE, off.join(","));
    let began = Instant::now();
    let output = limited.output().expect("a shell");
    (output, began.elapsed())
}

#[test]
fn counts_that_no_memory_would_hold_are_refused_by_every_command_that_reads_traces() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut wrong = Vec::new();
    for (file, text, expected) in CLAIMS {
        std::fs::write(dir.path().join(file), text).expect("written");
        for words in READERS {
            let (said, took) = run(dir.path(), words, file);
            let text = stderr(&said);
            let error = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
            if said.status.code() != Some(2) || !error.contains(expected) || took > BOUND {
                wrong.push(format!("{words} {file}: {:?} after {took:?}: {text}", said.status.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("listed").flatten().map(|file| file.file_name()).collect();
    assert!(!left.iter().any(|name| name == "out"), "{left:?}");
}

#[test]
fn a_count_that_nobody_looks_at_takes_all_memory() {
    let dir = tempfile::tempdir().expect("a directory");
    let (file, text, _) = CLAIMS[0];
    std::fs::write(dir.path().join(file), text).expect("written");
    let (said, _) = run_without(&[Guard::ClaimedCounts], dir.path(), "trace export --format rumen -o out", file);
    let text = stderr(&said);
    // It aborts, and says nothing of the trace.
    assert!(said.status.code() != Some(2) && text.contains("memory allocation"), "{:?}: {text}", said.status);
}

/// As many tasks as a trace may have, all of one duration: whoever needs each of them says that they are too many.
#[test]
fn samples_of_durations_are_bounded_by_their_number() {
    let dir = tempfile::tempdir().expect("a directory");
    let job = "{\"n_maps\":3999999,\"n_reduces\":1,\"map_ms\":[5],\"reduce_ms\":[5]}\n".repeat(50);
    let text = format!("{{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}}\n{job}");
    std::fs::write(dir.path().join("many.jsonl"), text).expect("written");
    for words in ["trace fit", "trace compare many.jsonl", "trace fold --factor 2 -o out"] {
        let (said, took) = run(dir.path(), words, "many.jsonl");
        let text = stderr(&said);
        assert!(
            said.status.code() == Some(2) && took < BOUND,
            "{words}: {:?} after {took:?}: {text}",
            said.status.code()
        );
        assert!(text.contains("found 200000000 tasks, expected at most 20000000"), "{words}: {text}");
    }
    // What needs no sample goes on.
    let (said, took) = run(dir.path(), "trace export --format csv -o out", "many.jsonl");
    assert!(
        said.status.code() == Some(0) && took < BOUND,
        "{:?} after {took:?}: {}",
        said.status.code(),
        stderr(&said)
    );
}
