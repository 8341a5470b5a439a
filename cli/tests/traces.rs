//! `howdah trace import · info · export` and the trace database as scripts see them.

mod said;
mod waiting;

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use said::{Said, howdah};
use waiting::{ended_within, wait_within};

/// Long enough for a slow machine; reached only when something hangs.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
const SWIM: &str = "job0\t49\t49\t134217729\t60000000\t30000000\njob1\t101\t52\t0\t0\t0\n";
const HISTORY: &str = include_str!("../../shared/traces/tests/fixtures/hadoop1-1x.log");

fn run_with(dir: &Path, args: &[&str], input: &str) -> Said {
    howdah(dir).arg("trace").args(args).write_stdin(input).output().expect("runs").into()
}

/// What must be done.
fn done(dir: &Path, args: &[&str]) -> Said {
    let said = run_with(dir, args, "");
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
    said
}

/// What must be refused, and its one line of error; what was repaired before may stand above it.
fn refused(dir: &Path, args: &[&str]) -> String {
    let said = run_with(dir, args, "");
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{args:?}: {}", said.stderr);
    let mut errors = said.stderr.lines().filter(|line| line.starts_with("error: "));
    let error = errors.next().unwrap_or_default().to_owned();
    assert_eq!(errors.next(), None, "{args:?}");
    error
}

fn json(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&done(dir, &[args, &["--output", "json"]].concat()).stdout).expect("JSON")
}

/// A directory with both traces.
fn here() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("day.tsv"), SWIM).expect("written");
    std::fs::write(dir.path().join("words.log"), HISTORY).expect("written");
    dir
}

#[test]
fn help_is_what_was_agreed() {
    let dir = here();
    for command in ["import", "info", "export", "add", "list", "query", "get", "remove"] {
        insta::assert_snapshot!(format!("help-trace-{command}"), done(dir.path(), &[command, "--help"]).stdout);
    }
}

#[test]
fn a_topology_in_a_traces_place_is_refused_with_where_it_belongs() {
    let dir = here();
    let topologies = ["{\"name\":\"<root>\",\"children\":[]}", "{\"rack\":\"rack1\",\"nodes\":[{\"node\":\"node1\"}]}"];
    for topology in topologies {
        let said = run_with(dir.path(), &["info", "-"], topology);
        assert_eq!(said.code, Some(2), "{}", said.stdout);
        assert!(
            said.stderr.ends_with("help: a topology or list of nodes goes with a trace: `--topology FILE`\n"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn an_import_says_what_it_repaired_and_writes_our_own_format() {
    let dir = here();
    let said = done(dir.path(), &["import", "day.tsv"]);
    assert_eq!(said.stdout.lines().count(), 3, "{}", said.stdout);
    assert!(said.stdout.starts_with(r#"{"schema":"howdah/trace/v1","source":"#), "{}", said.stdout);
    assert_eq!(said.stderr, "`day.tsv`: 1 × job without input: it gets one map (first: line 2)\n2 jobs, 5 tasks\n");
    // An answer that was asked for tells it, and nobody else does.
    let asked = done(dir.path(), &["import", "day.tsv", "-o", "day.jsonl", "--output", "json"]);
    let answer: Value = serde_json::from_str(&asked.stdout).expect("JSON");
    assert_eq!((asked.stderr.as_str(), &answer["notes"][0]["count"]), ("", &Value::from(1)));
    // What was written reads as it was, from a compressed file and from standard input.
    done(dir.path(), &["import", "day.tsv", "-o", "day.jsonl.gz"]);
    assert_eq!(std::fs::read(dir.path().join("day.jsonl.gz")).expect("written")[..2], [0x1f, 0x8b]);
    assert_eq!(done(dir.path(), &["import", "day.jsonl.gz"]).stdout, said.stdout);
    assert_eq!(run_with(dir.path(), &["import", "-"], &said.stdout).stdout, said.stdout);
}

#[test]
fn gzip_is_read_whatever_its_name() {
    let dir = here();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(HISTORY.as_bytes()).expect("memory takes all");
    std::fs::write(dir.path().join("packed"), gzip.finish().expect("memory takes all")).expect("written");
    assert_eq!(done(dir.path(), &["import", "packed"]).stdout, done(dir.path(), &["import", "words.log"]).stdout);
}

#[test]
fn settings_change_the_cost_model_and_wrong_ones_are_refused() {
    let dir = here();
    let maps = |args: &[&str]| json(dir.path(), &[&["info", "day.tsv"], args].concat())["maps"].clone();
    assert_eq!(maps(&[]), 4);
    assert_eq!(maps(&["-D", "swim.split=128MiB"]), 3);
    assert_eq!(
        refused(dir.path(), &["info", "day.tsv", "-D", "swim.split=big"]),
        "error: -D swim.split: found `big`: expected a number of bytes, such as 4096, 64KiB or 1GiB"
    );
    assert_eq!(
        refused(dir.path(), &["info", "day.tsv", "-D", "swim.speed=1"]),
        "error: -D `swim.speed`: there is no such setting"
    );
}

#[test]
fn several_files_become_one_trace_in_order_of_submission() {
    let dir = here();
    std::fs::write(dir.path().join("later.log"), HISTORY.replace("_0007", "_0008").replace("\"1000\"", "\"990\""))
        .expect("written");
    let report = json(dir.path(), &["import", "words.log", "later.log", "-o", "both.jsonl"]);
    assert_eq!((&report["schema"], &report["trace"]["jobs"]), (&"howdah/trace-import/v1".into(), &2.into()));
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(2));
    let jobs: Vec<Value> = std::fs::read_to_string(dir.path().join("both.jsonl"))
        .expect("written")
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!((&jobs[0]["id"], &jobs[1]["id"]), (&"job_202011_0008".into(), &"job_202011_0007".into()));
    assert_eq!((&jobs[0]["submit_ms"], &jobs[1]["submit_ms"]), (&0.into(), &10.into()));
}

#[test]
fn a_topology_becomes_the_traces_cluster() {
    let dir = here();
    std::fs::write(dir.path().join("hosts"), "/r1/a.b\n/r2/c\n").expect("written");
    let report = json(dir.path(), &["import", "words.log", "--topology", "hosts"]);
    assert_eq!(report["trace"]["workers"], 2);
    assert!(refused(dir.path(), &["import", "words.log", "--topology", "none"]).contains("cannot open `none`"));
}

#[test]
fn info_shows_a_trace_on_one_screen() {
    let dir = here();
    insta::assert_snapshot!("trace-info", done(dir.path(), &["info", "words.log"]).stdout);
    let info = json(dir.path(), &["info", "words.log"]);
    assert_eq!((&info["schema"], &info["users"]["u"]), (&"howdah/trace-info/v1".into(), &1.into()));
    assert_eq!((&info["durations_s"]["map"]["mean"], &info["failed_attempts"]), (&0.4.into(), &1.into()));
}

#[test]
fn exports_lead_back_to_the_same_trace() {
    let dir = here();
    assert_eq!(done(dir.path(), &["export", "day.tsv", "--format", "swim"]).stdout, SWIM);
    done(dir.path(), &["export", "words.log", "--format", "rumen", "-o", "words.json"]);
    done(dir.path(), &["export", "words.log", "--format", "jhist", "-o", "words.jhist.gz"]);
    let shown = |file: &str| json(dir.path(), &["info", file])["durations_s"].clone();
    assert_eq!(shown("words.json"), shown("words.log"));
    assert_eq!(shown("words.jhist.gz"), shown("words.log"));
    insta::assert_snapshot!("trace-csv", done(dir.path(), &["export", "words.log", "--format", "csv"]).stdout);
}

#[test]
fn wrong_traces_are_named_with_record_and_expectation_and_leave_no_file() {
    let dir = here();
    std::fs::write(dir.path().join("torn.tsv"), format!("{SWIM}job2\t5\n")).expect("written");
    assert_eq!(
        refused(dir.path(), &["import", "torn.tsv", "-o", "out.jsonl"]),
        "error: trace `torn.tsv`, line 3: found 2 columns, expected 6 or at least 10, separated by tabs"
    );
    assert!(!dir.path().join("out.jsonl").exists());
    std::fs::write(dir.path().join("own.jsonl"), "{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}\n{\"n_mops\":1}\n")
        .expect("written");
    let said = refused(dir.path(), &["info", "own.jsonl"]);
    assert!(
        said.starts_with("error: trace `own.jsonl`, line 2, column 9 (job 1): found unknown field `n_mops`"),
        "{said}"
    );
    assert_eq!(
        refused(dir.path(), &["info", "nothing"]),
        "error: cannot open `nothing`: No such file or directory (os error 2)"
    );
    assert!(refused(dir.path(), &["info", "day.tsv", "--format", "avro"]).starts_with("error: invalid value 'avro'"));
}

#[test]
fn traces_are_kept_asked_and_given_back() {
    let dir = here();
    assert!(refused(dir.path(), &["list"]).contains("trace database `traces.db` does not exist"));
    let said = done(dir.path(), &["add", "day.tsv", "words.log"]);
    assert!(said.stderr.ends_with("traces.db: day, 2 jobs\ntraces.db: words, 1 job\n"), "{}", said.stderr);
    assert!(refused(dir.path(), &["add", "day.tsv"]).ends_with("the database has one of this name already"));
    done(dir.path(), &["add", "day.tsv", "--replace"]);
    let list = json(dir.path(), &["list"]);
    assert_eq!((&list["schema"], &list["traces"][0]["maps"]), (&"howdah/traces/v1".into(), &4.into()));
    let sql = "SELECT t.name AS trace, count(*) AS jobs, sum(j.n_maps) AS maps, max(outcome) AS outcome \
               FROM jobs j JOIN traces t USING (trace_id) GROUP BY 1";
    insta::assert_snapshot!("trace-query", done(dir.path(), &["query", sql]).stdout);
    assert_eq!(json(dir.path(), &["query", sql])["rows"][1], serde_json::json!(["words", 1, 2, "SUCCEEDED"]));
    assert!(refused(dir.path(), &["query", "DROP TABLE jobs"]).contains("expected a SELECT"));
    assert_eq!(done(dir.path(), &["get", "words"]).stdout, done(dir.path(), &["import", "words.log"]).stdout);
    done(dir.path(), &["remove", "words"]);
    assert!(refused(dir.path(), &["get", "words"]).ends_with("has no trace `words`"));
}

#[test]
fn an_interrupted_export_leaves_no_file_of_any_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = r#"{"schema":"howdah/trace/v1","jobs":[{"n_maps":3000000,"map_ms":[1000]}]}"#;
    std::fs::write(dir.path().join("t.json"), trace).expect("written");
    let files = || std::fs::read_dir(dir.path()).expect("it is there").count();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_howdah"))
        .args(["trace", "export", "t.json", "--format", "rumen", "-o", "out.json"])
        .current_dir(dir.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    // The file that will be `out.json` is there, and three million tasks take seconds.
    wait_within(PATIENCE, "the export to write", || {
        assert!(child.try_wait().expect("asked").is_none(), "it ended before it wrote");
        (files() >= 2).then_some(())
    });
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    let output = ended_within(&mut child, "the export after Ctrl-C");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted; `out.json` was not written\n");
    assert_eq!(files(), 1, "only the trace itself");
}
