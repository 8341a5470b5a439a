//! Streaming with the commands that every machine has.

mod harness;

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;

use harness::{Place, Run, output, run, run_with};

/// `n` lines `key_i TAB i` with seven keys.
fn pairs(n: u32) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "key{}\t{i}", i % 7);
        text
    })
}

fn stream(place: &Place, args: &[&str], how: Run<'_>) -> howdah_task::Result<String> {
    Ok(output(&run_with("streaming", place.request("in", "out", args), how)?))
}

#[test]
fn the_identity_groups_lines_by_key() {
    let place = Place::new();
    place.write("in", "b\t1\na\t2\nb\t0\nlonely\n");
    assert_eq!(output(&run("streaming", place.request("in", "out", &[]))), "a\t2\nb\t0\nb\t1\nlonely\t\n");
}

#[test]
fn word_count_as_a_pipeline_of_commands() {
    let place = Place::new();
    place.write("in", "to be or\nnot to be\n");
    let args = ["--mapper", "tr ' ' '\\n'", "--reducer", "uniq -c"];
    let how = Run { n_reduces: Some(1), split_size: 9, ..Run::default() };
    // `uniq` sees the separator too, and writes no tab of its own but the one it was given.
    assert_eq!(
        stream(&place, &args, how).expect("word count"),
        "      2 be\t\n      1 not\t\n      1 or\t\n      2 to\t\n"
    );
}

#[test]
fn sums_by_awk_agree_with_a_model_over_many_splits() {
    let place = Place::new();
    place.write("in", pairs(20_000));
    let sum = "awk -F '\t' '{ s[$1] += $2 } END { for (k in s) print k FS s[k] }'";
    let how = Run { n_reduces: Some(2), split_size: 40_000, ..Run::default() };
    let found = stream(&place, &["--mapper", "cat", "--reducer", sum], how).expect("sums");
    let mut lines: Vec<&str> = found.lines().collect();
    lines.sort_unstable();
    let model: Vec<String> = (0..7).map(|k| format!("key{k}\t{}", (k..20_000).step_by(7).sum::<u32>())).collect();
    assert_eq!(lines, model);
}

#[test]
fn a_combiner_shrinks_what_travels_and_changes_no_result() {
    let place = Place::new();
    place.write("in", pairs(30_000));
    // Output in order of keys, as a combiner's must be: one line per group, written when the next one starts.
    let sum = "awk -F '\t' '$1 != k { if (NR > 1) print k FS s; k = $1; s = 0 } { s += $2 } END { if (NR > 0) print k FS s }'";
    let properties = [("io.sort.mb", "1"), ("io.sort.factor", "2")];
    let how = Run { n_reduces: Some(2), split_size: 100_000, properties: &properties };
    let plain = run_with("streaming", place.request("in", "plain", &["--reducer", sum]), how).expect("sums");
    let args = ["--reducer", sum, "--combiner", sum];
    let combined = run_with("streaming", place.request("in", "combined", &args), how).expect("sums");
    assert_eq!(output(&plain), output(&combined));
    let records = |name| combined.counters.get(howdah_core::job::counters::FRAMEWORK, name);
    assert!(records("Combine input records") >= 30_000 && records("Reduce input records") < 100);
}

#[test]
fn aggregate_combines_and_reduces_what_keys_ask_for() {
    let place = Place::new();
    place.write("in", pairs(7_000));
    // awk's quotes and the line's cannot both be written in one command line: people use a script.
    let script =
        "#!/bin/sh\nexec awk -F '\t' '{ print \"LongValueSum:\" $1 FS 1; print \"UniqValueCount:all\" FS $1 }'\n";
    place.write("each.sh", script);
    let mapper = format!("sh {}", place.text("each.sh"));
    let how = Run { split_size: 20_000, ..Run::default() };
    let request = place.request("in", "out", &["--mapper", &mapper, "--reducer", "Aggregate"]);
    let done = run_with("streaming", request, how).expect("aggregate");
    let model: String = (0..7).map(|k| format!("key{k}\t1000\n")).collect();
    assert_eq!(output(&done), format!("{model}all\t7\n"));
    assert!(done.counters.get(howdah_core::job::counters::FRAMEWORK, "Reduce input records") < 200);
}

#[test]
fn much_output_before_and_after_reading_blocks_nobody() {
    let place = Place::new();
    place.write("in", pairs(100_000));
    let args = ["--mapper", "sh -c 'seq 200000; cat; seq 200000; printf \"%100000s\\n\" end >&2'", "--reducer", "NONE"];
    let found = stream(&place, &args, Run::default()).expect("much output");
    assert_eq!(found.lines().count(), 500_000);
}

#[test]
fn counters_status_and_environment_reach_the_other_side() {
    let place = Place::new();
    place.write("in", "x\n");
    let script = "sh -c 'cat >/dev/null; echo reporter:counter:My Group,seen,41 >&2; echo reporter:counter:My Group,seen,1 >&2; \
                  echo reporter:status:fine >&2; echo reporter:counter:bad >&2; \
                  echo $mapred_task_is_map $mapreduce_task_partition $my_own_key $EXTRA ${map_input_file##*/} $mapred_tip_id'";
    let args = ["--mapper", script, "--reducer", "NONE", "--cmdenv", "EXTRA=more"];
    let how = Run { properties: &[("my.own-key", "value")], ..Run::default() };
    let done = run_with("streaming", place.request("in", "out", &args), how).expect("a good command");
    assert_eq!(done.counters.get("My Group", "seen"), 42);
    let said = output(&done);
    assert!(said.starts_with("true 0 value more in task_"), "{said}");
}

#[test]
fn a_command_that_fails_fails_its_attempt_unless_told_otherwise() {
    let place = Place::new();
    place.write("in", pairs(10));
    let args = ["--mapper", "sh -c 'cat; exit 3'", "--reducer", "NONE"];
    let error = stream(&place, &args, Run::default()).expect_err("exit code 3").to_string();
    assert!(error.contains("subprocess failed with code 3"), "{error}");
    let lenient = Run { properties: &[("stream.non.zero.exit.is.failure", "false")], ..Run::default() };
    assert_eq!(
        run_with("streaming", place.request("in", "out2", &args), lenient).map(|d| output(&d).lines().count()).ok(),
        Some(10)
    );
    let error = run_with("streaming", place.request("in", "out3", &["--mapper", "no-such-command"]), Run::default());
    assert!(error.expect_err("not there").to_string().contains("start the command `no-such-command`"));
    place.write("map", "#!/no/such/python\nprint(1)\n");
    let script = place.text("map");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("it may be run");
    let error = run_with("streaming", place.request("in", "out3", &["--mapper", &script]), Run::default());
    let said = error.expect_err("it has no interpreter").to_string();
    assert!(said.contains("`, whose interpreter `/no/such/python` is not here"), "{said}");
    let killed = ["--mapper", "sh -c 'kill -9 $$'"];
    let error = run_with("streaming", place.request("in", "out4", &killed), Run::default());
    assert!(error.expect_err("killed").to_string().contains("code 137 (signal 9)"));
}

#[test]
fn a_command_that_stops_reading_early_fails_only_when_much_is_left() {
    let place = Place::new();
    place.write("in", pairs(10));
    let args = ["--mapper", "head -n 1", "--reducer", "NONE"];
    assert_eq!(stream(&place, &args, Run::default()).expect("the rest fits the buffer"), "key0\t0\n");
    place.write("in", pairs(300_000));
    let error = run_with("streaming", place.request("in", "out2", &args), Run::default());
    assert!(error.expect_err("a broken pipe").to_string().contains("stopped reading"));
}

#[test]
fn separators_and_partition_fields_follow_their_properties() {
    let place = Place::new();
    place.write("in", "a.1.x\nb.1.y\na.2.z\nb.2.w\n");
    let options = [
        ("stream.map.output.field.separator", "."),
        ("stream.num.map.output.key.fields", "2"),
        ("map.output.key.field.separator", "."),
        ("num.key.fields.for.partition", "1"),
    ];
    let parts = |out: &str, properties: &[(&str, &str)]| {
        let how = Run { n_reduces: Some(2), properties, ..Run::default() };
        let done = run_with("streaming", place.request("in", out, &["--mapper", "cat"]), how).expect("fields");
        done.parts.iter().map(|part| std::fs::read_to_string(part).expect("a part")).collect::<Vec<String>>()
    };
    let class = ("mapred.partitioner.class", "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner");
    // The hash of a single byte is the byte: `a` is odd, `b` even.
    assert_eq!(parts("out", &[&options[..], &[class]].concat()), ["b.1\ty\nb.2\tw\n", "a.1\tx\na.2\tz\n"]);
    // By their whole keys, as nobody asked for that partitioner.
    let whole = parts("whole", &options);
    assert!(whole.iter().all(|part| part.contains('a') && part.contains('b')), "{whole:?}");
}

#[test]
fn a_reducer_without_input_runs_and_says_nothing() {
    let place = Place::new();
    place.write("in", "a\n");
    let how = Run { n_reduces: Some(3), ..Run::default() };
    let found = stream(&place, &["--reducer", "sh -c 'cat; echo end'"], how).expect("two empty reduces");
    assert_eq!(found, "a\t\nend\t\n");
}
