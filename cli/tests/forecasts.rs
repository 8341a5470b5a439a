//! `predict` and `what-if` over a recorded moment, and `predict score` over recorded runs, as scripts see them: what then happened
//! is in the recording, and everything is the same on every machine.

mod said;

use std::path::Path;

use serde_json::Value;

use said::{Said, howdah};

/// Six jobs of 0.8 s, in the order of their numbers.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");
/// When each was over, in ms since 1970, and how, as their histories say.
const ENDS: [(u64, &str); 6] = [
    (1_795_688_945_357, "SUCCEEDED"),
    (1_795_688_945_020, "SUCCEEDED"),
    (1_795_688_945_184, "SUCCEEDED"),
    (1_795_688_945_221, "FAILED"),
    (1_795_688_945_443, "KILLED"),
    (1_795_688_945_612, "SUCCEEDED"),
];

fn run(dir: &Path, args: &[&str]) -> Said {
    howdah(dir).args(args).output().expect("runs").into()
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// What a command prints for people.
fn table(args: &[&str]) -> String {
    let said = run(here().path(), args);
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
    said.stdout
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&table(&[args, &["--output", "json"]].concat())).expect("JSON")
}

/// A command at a moment at which five jobs are there.
fn at_50_ms<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, "--dir", RECORDED, "--at", "50ms"], more].concat()
}

fn jobs(course: &Value) -> &[Value] {
    course["jobs"].as_array().expect("a list of jobs")
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key}: {value}"))
}

/// Expects what then happened beside each job.
#[track_caller]
fn has_ends(course: &Value) {
    assert_eq!(jobs(course).len(), 5, "{course}");
    for job in jobs(course) {
        let id = job["job"].as_str().expect("an id");
        let serial: usize = id[id.len() - 4..].parse().expect("a number");
        let (end, state) = ENDS[serial - 1];
        let ended = number(course, "at_ms_epoch") + 1e3 * number(job, "ended_in_s");
        assert_eq!((ended.round() as u64, job["ended_as"].as_str()), (end, Some(state)), "{job}");
        if state == "SUCCEEDED" {
            let error = number(job, "left_s") - number(job, "ended_in_s");
            assert!((number(job, "error_s") - error).abs() < 1e-9, "{job}");
        } else {
            assert!(job["error_s"].is_null(), "nobody predicts that: {job}");
        }
    }
}

#[test]
fn a_forecast_of_a_recorded_moment_stands_beside_what_then_happened() {
    has_ends(&json(&at_50_ms("predict", &[]))["forecast"]);
    let table = table(&at_50_ms("predict", &[]));
    let words: Vec<&str> =
        table.lines().next().expect("a header").split("  ").filter(|word| !word.is_empty()).collect();
    assert_eq!(
        words.iter().rev().take(2).map(|word| word.trim()).collect::<Vec<_>>(),
        ["error", "ended in"],
        "{table}"
    );
    assert!(table.contains("  killed 478 ms\n") && table.contains("  failed 256 ms\n"), "{table}");
}

#[test]
fn the_recorded_runs_directory_may_stand_in_the_variable() {
    let (dir, looks) = (here(), [&["predict", "--at", "50ms"][..], &["validate"], &["trace", "record"]]);
    for look in looks {
        let said: Said = howdah(dir.path()).args(look).env("HOWDAH_DIR", RECORDED).output().expect("runs").into();
        assert_eq!(said.code, Some(0), "{look:?}: {}", said.stderr);
    }
    let nowhere = run(dir.path(), looks[0]);
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("help: name it with --dir DIR or HOWDAH_DIR"), "{}", nowhere.stderr);
}

#[test]
fn another_scheduler_is_in_charge_of_the_other_course_and_the_present_one_stands_beside_what_then_happened() {
    let answer = json(&at_50_ms("what-if", &["--scheduler", "fifo", "-D", "dialect=1.2.1"]));
    assert_eq!([&answer["present"]["scheduler"], &answer["changed"]["scheduler"]], ["fair", "fifo"]);
    has_ends(&answer["present"]);
    assert!(jobs(&answer["changed"]).iter().all(|job| job["ended_as"].is_null()), "nothing came of it: {answer}");
    let lefts = |course: &Value| -> Vec<f64> { jobs(course).iter().map(|job| number(job, "left_s")).collect() };
    assert_ne!(lefts(&answer["present"]), lefts(&answer["changed"]), "{answer}");
    let text = table(&at_50_ms("what-if", &["--scheduler", "fifo"]));
    assert!(text.lines().next().is_some_and(|header| header.contains("  ended in  ")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("all ") && line.ends_with(" 478 ms")), "{text}");
    let refused = run(here().path(), &at_50_ms("what-if", &["--scheduler", "fifo", "-D", "dialect=2"]));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("scheduler `fifo`: parameter `dialect`: `2` is not"), "{}", refused.stderr);
}

#[test]
fn both_courses_are_held_to_a_deadline() {
    let answer = json(&at_50_ms("what-if", &["--scheduler", "maxedf", "--deadline", "5=20s", "--deadline", "1=1ms"]));
    for course in [&answer["present"], &answer["changed"]] {
        for (job, within_s) in [(&jobs(course)[4], 20.0), (&jobs(course)[0], 0.001)] {
            let due = (number(job, "deadline_ms_epoch") - number(course, "at_ms_epoch")) / 1e3;
            assert!((due - within_s).abs() < 0.002, "{job}");
            let spare = due - number(job, "left_s");
            assert!((number(job, "spare_s") - spare).abs() < 1e-9, "{job}");
            let in_time = number(job, "in_time");
            assert!((0.0..=1.0).contains(&in_time) && (within_s > 1.0 || in_time == 0.0), "{job}");
        }
        assert!(jobs(course)[1]["deadline_ms_epoch"].is_null() && jobs(course)[1]["in_time"].is_null(), "{course}");
    }
    let [before, after] = [&answer["present"], &answer["changed"]].map(|course| number(&jobs(course)[4], "left_s"));
    assert!(after < before, "it goes before jobs without deadline: {before} s, then {after} s");
    let text = table(&at_50_ms("what-if", &["--deadline", "1=1ms"]));
    assert!(text.contains("deadline of") && text.contains("1.0 ms") && text.contains(" late      0 %"), "{text}");
}

#[test]
fn deadlines_that_nobody_can_have_are_refused() {
    for (args, said) in [
        (
            &["--deadline", "5m"][..],
            "--deadline: found no job, expected JOB=DURATION, or --submit with its own deadline",
        ),
        (
            &["--submit", "sleep", "--maps", "1", "--deadline", "5m", "--deadline", "6m"],
            "--deadline: found two for the job",
        ),
        (&["--deadline", "9=5m"], "job 9: it is over or was never submitted"),
        (&["--deadline", "1=5m", "--deadline", "1=6m"], "job 1: two deadlines, expected one"),
        (&["--deadline", "1=soon"], "expected JOB=DURATION, such as 17=90s"),
        (&[], "nothing is different: expected --scheduler, --workers, --submit, --deadline or --kill"),
    ] {
        let refused = run(here().path(), &at_50_ms("what-if", args));
        assert_eq!(refused.code, Some(2), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{args:?}: {}", refused.stderr);
    }
}

#[test]
fn the_timeline_of_a_forecast_draws_every_job_under_its_name() {
    let dir = here();
    let said = run(dir.path(), &at_50_ms("predict", &["--svg", "ahead.svg", "--output", "json"]));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), "ahead.svg: a timeline\n"));
    let told: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let svg = std::fs::read_to_string(dir.path().join("ahead.svg")).expect("it was written");
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("Predicted ends under fair"),
        "{svg}"
    );
    for job in jobs(&told["forecast"]) {
        let [id, name] = ["job", "name"].map(|key| job[key].as_str().expect("text"));
        let label = format!("{id} {name}");
        // The end of a long one, which tells jobs apart.
        let shown: String = label.chars().skip(label.chars().count().saturating_sub(30)).collect();
        assert!(svg.contains(&format!(">{shown}</text>")), "{shown}: {svg}");
    }
    // A bar for each, and the background.
    assert_eq!((svg.matches("<rect ").count(), svg.matches("<path ").count()), (6, 5), "{svg}");
}

fn score(more: &[&str]) -> Value {
    json(&[&["predict", "score", "--every", "50ms"], more].concat())
}

#[test]
fn runs_are_scored_by_themselves_and_together() {
    let one = score(&["--dir", RECORDED]);
    let runs = one["runs"].as_array().expect("a list");
    assert!(number(&one["score"], "forecasts") >= 8.0, "{one}");
    let sum: f64 = runs.iter().map(|run| number(&run["score"], "forecasts")).sum();
    assert_eq!((number(&one["score"], "forecasts"), runs[0]["run"].as_str()), (sum, Some(RECORDED)), "{one}");
    assert!(jobs(&one).iter().all(|job| job["job"] != 4 && job["job"] != 5), "it failed, or was killed: {one}");

    let two = score(&["--dir", RECORDED, RECORDED]);
    for doubled in ["forecasts", "unseen_tasks", "length_s"] {
        let [one, two] = [&one, &two].map(|score| number(&score["score"], doubled));
        assert!((two - 2.0 * one).abs() < 1e-9, "{doubled}: {one} and {two}");
    }
    for kept in ["job_error_percent", "job_error_max_percent", "job_within_interval", "tasks_within_interval"] {
        let [one, two] = [&one, &two].map(|score| number(&score["score"], kept));
        assert!((two - one).abs() < 1e-9, "{kept}: {one} and {two}");
    }
    assert_eq!(two["runs"].as_array().map(Vec::len), Some(2 * runs.len()), "{two}");
    // The recording has a change of the scheduler.
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list");
        list.iter().map(|one| one["scheduler"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!([names(&one["runs"]), names(&two["schedulers"])], [["fair", "fbq"]; 2], "{two}");
    assert_eq!(jobs(&two).len(), 2 * jobs(&one).len());

    let text = table(&["predict", "score", "--every", "50ms", "--dir", RECORDED, "--dir", RECORDED]);
    let rows: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let of = |start: &str| rows.iter().filter(|row| row.starts_with(start)).count();
    // Of each run two, of each scheduler one, and one of all.
    assert_eq!((of("run "), of(RECORDED), of("all ")), (1, 4, 3), "{text}");
    assert!(rows.last().is_some_and(|row| row.starts_with("all ")) && text.contains("\n\nwhat "), "{text}");
}

#[test]
fn a_period_of_a_run_is_scored_by_itself() {
    let all = score(&["--dir", RECORDED]);
    let [early, late] =
        [["--to", "300ms"], ["--from", "300ms"]].map(|period| score(&[&["--dir", RECORDED][..], &period].concat()));
    for key in ["forecasts", "unseen_tasks"] {
        let [all, early, late] = [&all, &early, &late].map(|score| number(&score["score"], key));
        assert!(early > 0.0 && late > 0.0 && early + late == all, "{key}: {early} and {late} of {all}");
    }
    assert!(jobs(&early).iter().all(|job| number(job, "at_s") <= 0.3), "{early}");
    assert!(jobs(&late).iter().all(|job| number(job, "at_s") >= 0.3), "{late}");
    assert_eq!(early["score"]["length_s"], all["score"]["length_s"], "the run is as long as it is");
    for (period, said) in [
        (&["--from", "10s"][..], "--from, --to: nothing was forecast then"),
        (&["--from", "2s", "--to", "1s"], "--from 2.00 s: expected no more than --to 1.00 s"),
    ] {
        let refused = run(here().path(), &[&["predict", "score", "--dir", RECORDED], period].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}
