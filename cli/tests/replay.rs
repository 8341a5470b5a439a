//! `howdah replay` as scripts see it: what it prints, what it writes, and with which exit code.

mod said;
mod waiting;

use std::path::Path;

use serde_json::Value;

use said::{Said, howdah};
use waiting::{ended_within, wait_within};

/// Long enough for a slow machine; reached only when something hangs.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
/// Two jobs whose every instant can be worked out by hand.
const TRACE: &str = r#"{"schema":"howdah/trace/v1","source":"two jobs by hand","jobs":[
 {"id":"job_7_0003","name":"grep","n_maps":4,"n_reduces":2,"map_ms":[2000],
  "first_shuffle_ms":[500],"typical_shuffle_ms":[1000],"reduce_ms":[1500]},
 {"name":"sort","queue":"etl","submit_ms":1000,"deadline_ms":8000,"n_maps":3,"n_reduces":3,
  "map_ms":[3000,1000,2000],"first_shuffle_ms":[250],"typical_shuffle_ms":[700],"reduce_ms":[1000]}]}"#;

const SLOTS: [&str; 4] = ["--map-slots", "3", "--reduce-slots", "2"];

fn run(dir: &Path, args: &[&str], input: &str) -> Said {
    howdah(dir).arg("replay").args(args).write_stdin(input).output().expect("runs").into()
}

/// A directory with the trace in it.
fn here() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("t.json"), TRACE).expect("written");
    dir
}

/// A replay that must do what it is asked.
fn replay(dir: &Path, args: &[&str]) -> Said {
    let said = run(dir, &[&["t.json"], args].concat(), "");
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
    said
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let said = replay(dir, &[args, &["--output", "json"]].concat());
    serde_json::from_str(&said.stdout).expect("JSON")
}

/// What differs from run to run, blotted out.
fn steady(text: &str) -> String {
    let speed = regex::Regex::new(r"events in .*, [\d,]+ events/s").expect("an expression");
    let digest = regex::Regex::new(r"\b[0-9a-f]{64}\b").expect("an expression");
    let text = speed.replace_all(text, "events in _, _ events/s").into_owned();
    digest.replace_all(&text, "_").into_owned()
}

#[test]
fn help_is_what_was_agreed() {
    let dir = here();
    let said = run(dir.path(), &["--help"], "");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    insta::assert_snapshot!("help-replay", said.stdout);
}

#[test]
fn a_replay_that_is_stuck_names_the_job_and_the_requirement_that_nobody_meets() {
    let dir = here();
    let trace = r#"{"schema":"howdah/trace/v1","source":"by hand","jobs":[
        {"name":"plain","n_maps":1,"map_ms":[1000]},
        {"id":"job_7_0002","name":"picky","n_maps":1,"map_ms":[1000],"requires":["gpu>=1"]}]}"#;
    std::fs::write(dir.path().join("stuck.json"), trace).expect("written");
    let said = run(dir.path(), &["stuck.json", "--workers", "2", "--map-slots", "1", "--reduce-slots", "1"], "");
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let help = "help: job job_7_0002 (`picky`): No live worker meets gpu>=1 (of 2: 2 have no gpu); the state of";
    assert!(said.stderr.contains("error: 1 job never finished") && said.stderr.contains(help), "{}", said.stderr);
}

#[test]
fn people_get_figures_first_and_then_the_jobs() {
    let dir = here();
    insta::assert_snapshot!("replay-table", steady(&replay(dir.path(), &SLOTS).stdout));
}

#[test]
fn programs_get_the_fields_that_were_promised_with_the_right_numbers() {
    let dir = here();
    let answer = json(dir.path(), &SLOTS);
    assert_eq!(answer["schema"], "howdah/replay/v1");
    assert_eq!((&answer["scheduler"], &answer["seed"]), (&"fifo".into(), &0.into()));
    assert_eq!(answer["makespan_s"], 9.4);
    // Two events for each of twelve tasks, three for each of two jobs.
    assert_eq!(answer["events"], 30);
    assert!(answer["wall_s"].as_f64().expect("a number") > 0.0 && answer["events_per_s"].as_f64() > Some(0.0));
    assert_eq!(answer["decisions_digest"].as_str().expect("text").len(), 64);
    let job = &answer["jobs"][0];
    assert_eq!(
        (&job["id"], &job["name"], &job["maps"], &job["reduces"]),
        (&"job_7_0003".into(), &"grep".into(), &4.into(), &2.into())
    );
    let instants =
        ["submit_s", "start_s", "maps_done_s", "finish_s", "completion_s", "slowdown"].map(|key| job[key].clone());
    // Waves of 3 and 1 maps of 2 s; both reduces are fillers: 4 + 0.5 + 1.5.
    assert_eq!(instants, [0.0, 0.0, 4.0, 6.0, 6.0, 1.0].map(Value::from));
    assert_eq!(job["deadline_s"], Value::Null);
    let job = &answer["jobs"][1];
    assert_eq!(job["id"], "job_0_0002");
    // Maps start at 2 s in the two slots left; reduces follow at 6 s: 6 + 0.7 + 1 twice, then once more.
    let instants =
        ["submit_s", "start_s", "maps_done_s", "finish_s", "completion_s", "deadline_s"].map(|key| job[key].clone());
    assert_eq!(instants, [1.0, 2.0, 5.0, 9.4, 8.4, 8.0].map(Value::from));
    let summary = &answer["summary"];
    assert_eq!(summary["relative_deadline_exceeded"], 0.05);
    let near = |key: &str, expected: f64| {
        let found = summary[key].as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-9, "{key}: {found}");
    };
    // Alone, sort takes 3 s for its maps and then 0.25 + 1 s, and 0.7 + 1 s for its third reduce: 5.95 s.
    let slow = 8.4 / 5.95;
    near("median_slowdown", (1.0 + slow) / 2.0);
    near("p95_slowdown", 1.0 + 0.95 * (slow - 1.0));
    near("slowdown_variability", (1.0 + 0.95 * (slow - 1.0)) / ((1.0 + slow) / 2.0));
    assert_eq!(summary["queues"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_policy_that_divides_the_slots_tells_how_busy_each_part_was() {
    let dir = here();
    let tags = [&SLOTS[..], &["--scheduler", "tags", "-D", "limits=3s", "-D", "partitions=0.34"]].concat();
    let summary = json(dir.path(), &tags)["summary"].clone();
    let partitions = summary["partitions"].as_array().expect("a list");
    let slots: Vec<_> =
        partitions.iter().map(|part| (part["map_slots"].as_u64(), part["reduce_slots"].as_u64())).collect();
    assert_eq!(slots, [(Some(1), Some(1)), (Some(2), Some(1))]);
    for kind in ["map", "reduce"] {
        let of_parts: f64 = partitions.iter().filter_map(|part| part["busy_slot_s"][kind].as_f64()).sum();
        assert!(
            (of_parts - summary["busy_slot_s"][kind].as_f64().expect("a number")).abs() < 1e-6,
            "{kind}: {summary}"
        );
    }
    let attempts: u64 = partitions.iter().filter_map(|part| part["map_attempts"].as_u64()).sum();
    assert_eq!(attempts, 7);
    let table = replay(dir.path(), &tags).stdout;
    assert!(table.contains("partition  map slots"), "{table}");
    assert_eq!(json(dir.path(), &SLOTS)["summary"]["partitions"], serde_json::json!([]));
}

#[test]
fn a_trace_is_read_from_standard_input_too() {
    let dir = here();
    let args = ["-", "--output", "json", "--no-slowdown"];
    let said = run(dir.path(), &[&args[..], &SLOTS].concat(), TRACE);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let answer: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!((&answer["makespan_s"], &answer["jobs"][0]["slowdown"]), (&9.4.into(), &Value::Null));
}

#[test]
fn the_same_seed_decides_the_same_and_another_one_only_what_is_random() {
    let dir = here();
    let digest = |args: &[&str]| json(dir.path(), &[&SLOTS[..], args].concat())["decisions_digest"].clone();
    assert_eq!(digest(&["--seed", "1"]), digest(&["--seed", "2"]));
    let random = ["--arrivals", "poisson:10s", "--seed"];
    assert_eq!(digest(&[&random[..], &["1"]].concat()), digest(&[&random[..], &["1"]].concat()));
    assert_ne!(digest(&[&random[..], &["1"]].concat()), digest(&[&random[..], &["2"]].concat()));
}

#[test]
fn one_worker_with_all_slots_and_immediate_heartbeats_does_what_the_pool_does() {
    let dir = here();
    let worker = json(dir.path(), &[&["--workers", "1"], &SLOTS[..]].concat());
    assert_eq!(worker["decisions_digest"], json(dir.path(), &SLOTS)["decisions_digest"]);
    assert_eq!((&worker["cluster"]["view"], &worker["cluster"]["workers"]), (&"workers".into(), &1.into()));
    let late = json(dir.path(), &[&["--workers", "1", "--heartbeat", "3s", "--in-band"], &SLOTS[..]].concat());
    assert!(late["makespan_s"].as_f64() > Some(9.4), "{}", late["makespan_s"]);
}

#[test]
fn a_log_is_a_trace_that_replays_to_the_same_schedule() {
    let dir = here();
    for (name, cluster) in
        [("pool", &SLOTS[..]), ("workers", &["--workers", "2", "--map-slots", "2", "--reduce-slots", "1"])]
    {
        let first = json(dir.path(), &[cluster, &["--log", "log.jsonl"]].concat());
        // The log tells of the cluster, so that nothing need be said about it.
        let said = run(dir.path(), &["log.jsonl", "--output", "json"], "");
        assert_eq!(said.code, Some(0), "{name}: {}", said.stderr);
        let again: Value = serde_json::from_str(&said.stdout).expect("JSON");
        assert_eq!(again["decisions_digest"], first["decisions_digest"], "{name}");
        let schedule = |answer: &Value| {
            let jobs = answer["jobs"].as_array().expect("a list").clone();
            jobs.iter()
                .map(|job| {
                    ["id", "name", "submit_s", "start_s", "maps_done_s", "finish_s", "deadline_s"]
                        .map(|key| job[key].clone())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(schedule(&again), schedule(&first), "{name}");
    }
}

/// Kept by the log: on a smaller cluster the second job of a chain comes later.
#[test]
fn a_log_keeps_which_job_another_one_waited_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let job = |id: &str, more: &str| format!(r#"{{"id":"{id}",{more}"n_maps":4,"map_ms":[1000]}}"#);
    let second = r#""submit_ms":1200,"follows":{"job":"job_7_0001","after_ms":200},"#;
    let jobs = [job("job_7_0001", ""), job("job_7_0002", second)];
    let trace = format!(r#"{{"schema":"howdah/trace/v1","jobs":[{}]}}"#, jobs.join(","));
    std::fs::write(dir.path().join("t.json"), trace).expect("written");
    let submitted = |said: &Value| said["jobs"][1]["submit_s"].as_f64();
    let slots = |n| ["--map-slots", n, "--reduce-slots", "0"];
    assert_eq!(submitted(&json(dir.path(), &[&slots("4")[..], &["--log", "log.jsonl"]].concat())), Some(1.2));
    let said = run(dir.path(), &[&["log.jsonl", "--output", "json"], &slots("2")[..]].concat(), "");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let again: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!((submitted(&again), submitted(&json(dir.path(), &slots("2")))), (Some(2.2), Some(2.2)));
}

/// What a recorded run knows of the pools that jobs' properties named: they go before the user, in the log as well.
#[test]
fn jobs_are_in_the_pools_that_a_trace_names() {
    let dir = tempfile::tempdir().expect("a directory");
    let job = |pool: &str| format!(r#"{{"user":"ann",{pool}"n_maps":4,"map_ms":[1000]}}"#);
    let trace = |jobs: &[String]| format!(r#"{{"schema":"howdah/trace/v1","jobs":[{}]}}"#, jobs.join(","));
    let (red, blue, none) = (r#""pool":"red","#, r#""pool":"blue","#, "");
    std::fs::write(dir.path().join("t.json"), trace(&[red, red, blue].map(job))).expect("written");
    let fair = ["--map-slots", "2", "--reduce-slots", "0", "--scheduler", "fair"];
    let ends = |said: &Value| -> Vec<f64> {
        let jobs = said["jobs"].as_array().expect("a list");
        jobs.iter().filter_map(|job| job["finish_s"].as_f64()).collect()
    };
    for more in [&[][..], &["-D", "poolnameproperty=group.name"]] {
        let said = json(dir.path(), &[&fair[..], more, &["--log", "log.jsonl"]].concat());
        assert_eq!(ends(&said), [4.0, 6.0, 4.0], "a slot for each pool: {more:?}");
        let again = run(dir.path(), &[&["log.jsonl", "--output", "json"], &fair[..], more].concat(), "");
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        let again: Value = serde_json::from_str(&again.stdout).expect("JSON");
        assert_eq!(ends(&again), ends(&said), "{more:?}");
    }
    std::fs::write(dir.path().join("t.json"), trace(&[none, none, none].map(job))).expect("written");
    assert_eq!(ends(&json(dir.path(), &fair)), [4.0, 4.0, 6.0], "without pools all are Ann's, the oldest first");
}

#[test]
fn a_timeline_is_a_picture_or_a_table_by_its_name() {
    let dir = here();
    let said = replay(dir.path(), &[&SLOTS[..], &["--timeline", "t.svg", "--lanes", "job"]].concat());
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert!(matches!(lines[..], [queues, "t.svg: slots over time"] if queues.contains("queue `etl`")), "{lines:?}");
    let picture = std::fs::read_to_string(dir.path().join("t.svg")).expect("written");
    assert!(picture.starts_with("<svg ") && picture.contains("Replay of t.json under fifo"), "{picture}");
    replay(dir.path(), &[&SLOTS[..], &["--timeline", "t.csv"]].concat());
    let table = std::fs::read_to_string(dir.path().join("t.csv")).expect("written");
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 1 + 12);
    assert!(
        rows.contains(&"job_7_0003,grep,reduce,1,0,,1,1,2.000000,4.000000,4.500000,6.000000,SUCCEEDED,,,false"),
        "{table}"
    );
}

#[test]
fn jobs_beyond_twenty_are_counted_not_shown() {
    let dir = here();
    let jobs = vec![r#"{"n_maps":1,"map_ms":[1000]}"#; 25].join("\n");
    std::fs::write(dir.path().join("t.json"), format!("{{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}}\n{jobs}\n"))
        .expect("written");
    let rows = |text: &str| text.lines().filter(|line| line.starts_with("job_0_")).count();
    let said = replay(dir.path(), &[]);
    assert_eq!(rows(&said.stdout), 20);
    assert!(said.stdout.ends_with("… and 5 more jobs; --all shows them, --output json too\n"), "{}", said.stdout);
    assert_eq!(rows(&replay(dir.path(), &["--all"]).stdout), 25);
}

#[test]
fn a_cluster_file_makes_workers_that_differ_and_a_rule_helps_the_loaded_one() {
    let dir = here();
    let cluster = "[[worker]]\nname = 'w'\ncount = 3\n\n[[worker]]\nname = 'loaded'\ncores = 1\n\
        foreign_load = [['0s', 19]]\n";
    std::fs::write(dir.path().join("c.toml"), cluster).expect("written");
    let of = |rule: &[&str]| json(dir.path(), &[&["--cluster", "c.toml", "--no-slowdown"], rule].concat());
    let (without, with) = (of(&[]), of(&["-D", "speculation=hadoop", "-D", "speculation.age=0s"]));
    assert_eq!((&without["cluster"]["workers"], &without["cluster"]["map_slots"]), (&4.into(), &8.into()));
    assert_eq!(without["summary"]["speculative_attempts"], 0);
    let seconds = |answer: &Value| answer["makespan_s"].as_f64().expect("a number");
    // A map of the second job takes 20 times its 2 s there.
    assert!(seconds(&without) > 40.0 && seconds(&with) < 20.0, "{} {}", seconds(&without), seconds(&with));
    let n = |what: &str| with["summary"][what].as_u64().expect("a number");
    assert!(n("speculative_won") > 0);
    assert_eq!(n("speculative_won") + n("speculative_lost"), n("speculative_attempts"));
    assert!(with["summary"]["speculative_wasted_slot_s"].as_f64().expect("a number") > 0.0);
}

#[test]
fn a_trace_of_bytes_is_simulated_by_the_cost_model_and_says_so_where_it_is_not_set() {
    let dir = here();
    std::fs::write(dir.path().join("day.tsv"), "job0\t49\t49\t268435456\t60000000\t30000000\n").expect("written");
    let said = |args: &[&str]| {
        let said: Said = howdah(dir.path()).args(args).args(["--output", "json"]).output().expect("runs").into();
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
        (serde_json::from_str::<Value>(&said.stdout).expect("JSON"), said.stderr)
    };
    let slots = ["--map-slots", "1", "--reduce-slots", "1"];
    let maps = |answer: Value| answer["jobs"][0]["maps"].clone();
    let note = "note: `day.tsv` tells bytes: the cost model made tasks of them by its defaults";
    let (answer, notes) = said(&[&["replay", "day.tsv"], &slots[..]].concat());
    assert!(maps(answer) == 4 && notes.starts_with(note), "{notes}");
    let set = [&slots[..], &["-D", "swim.split=128MiB"]].concat();
    let (answer, notes) = said(&[&["replay", "day.tsv"], &set[..]].concat());
    assert_eq!((maps(answer), notes.as_str()), (2.into(), ""));
    assert!(!said(&[&["optimize", "day.tsv"], &set[..]].concat()).1.contains("defaults"));
    assert!(!said(&[&["tune", "fbq", "day.tsv", "--limits", "1s,9s"], &set[..]].concat()).1.contains("defaults"));
    let idle = "note: `t.json` has another format: -D swim.… changes nothing\n";
    assert!(said(&[&["replay", "t.json"], &set[..]].concat()).1.starts_with(idle));
}

#[test]
fn what_cannot_be_done_is_said_in_one_line_before_anything_starts() {
    let dir = here();
    let cases: &[(&[&str], &str)] = &[
        (&["nowhere.json"], "cannot open `nowhere.json`"),
        (&["t.json", "--scheduler", "lottery"], "scheduler `lottery`: no such scheduler, expected one of"),
        (&["t.json", "-D", "quantum=3"], "unknown parameter `quantum`"),
        (&["t.json", "--timeline", "t.png"], "--timeline: found `t.png`, expected a name that ends in .svg or .csv"),
        (&["t.json", "--log", "no/such/log"], "--log: found `no/such/log`, expected a file in a directory that exists"),
        (&["t.json", "--lose", "worker-1@5s"], "--lose: found one pool of slots, expected workers"),
        (&["t.json", "--workers", "2", "--lose", "w@5s"], "--lose: no worker `w`, expected one of worker-1, worker-2"),
        (&["t.json", "--workers", "2", "--speed", "w=2"], "--speed: no worker `w`"),
        (&["t.json", "--foreign-load", "w=2"], "--foreign-load: found one pool of slots, expected workers"),
        (&["t.json", "--workers", "2", "--foreign-load", "w=2"], "--foreign-load: no worker `w`"),
        (&["t.json", "--cluster", "nowhere.toml"], "cluster `nowhere.toml`: cannot read it"),
        (&["t.json", "--map-slots", "0", "--reduce-slots", "1"], "map slots: found 0, expected at least 1"),
    ];
    for (args, expected) in cases {
        let said = run(dir.path(), args, "");
        assert_eq!(said.code, Some(2), "{args:?}: {}{}", said.stdout, said.stderr);
        let first = said.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: ") && first.contains(expected), "{args:?}: {first}");
        assert_eq!(said.stdout, "", "{args:?}");
    }
    for args in [
        &["t.json", "--map-slots", "3"][..],
        &["t.json", "--workers", "2", "--cores", "none"],
        &["t.json", "--workers", "2", "--load-curve", "steep"],
        &["t.json", "--workers", "2", "--cluster", "c.toml"],
        &["t.json", "--arrivals", "sometimes"],
        &["t.json", "--deadlines", "uniform:0.5"],
        &["t.json", "--slowstart", "5"],
        &["t.json", "--workers", "0"],
        &["t.json", "--percentiles", "101"],
        &["t.json", "--heartbeat", "0s"],
        &["t.json", "--in-band"],
        &[],
    ] {
        assert_eq!(run(dir.path(), args, "").code, Some(2), "{args:?}");
    }
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).expect("listed").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left, ["t.json"], "nothing was written");
}

#[test]
fn a_trace_that_is_none_says_where_and_what_was_expected() {
    let dir = here();
    let said = |text: &str| {
        let said = run(dir.path(), &["-"], text);
        assert_eq!(said.code, Some(2), "{text}: {}", said.stdout);
        said.stderr
    };
    assert!(said("").starts_with("error: trace standard input, "), "{}", said(""));
    assert!(said("{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}").contains("found no jobs, expected at least one"));
}

/// Processor time of a process in ticks, and nothing once it has ended.
fn ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    fields.get(11)?.parse().ok()
}

#[test]
fn an_interrupted_replay_tells_what_it_had_writes_nothing_and_ends_with_130() {
    let dir = here();
    // One slot and so many maps that it takes seconds; reading it takes no time.
    let trace = r#"{"schema":"howdah/trace/v1","source":"","jobs":[{"n_maps":4000000,"map_ms":[1000]},
        {"n_maps":4000000,"map_ms":[1000]},{"n_maps":4000000,"map_ms":[1000]}]}"#;
    std::fs::write(dir.path().join("t.json"), trace).expect("written");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_howdah"))
        .args([
            "replay",
            "t.json",
            "--map-slots",
            "1",
            "--reduce-slots",
            "0",
            "--output",
            "json",
            "--timeline",
            "t.csv",
        ])
        .current_dir(dir.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    // Once it has computed for a while, it simulates.
    wait_within(PATIENCE, "the replay to compute", || ticks(child.id()).is_none_or(|used| used >= 20).then_some(()));
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    let output = ended_within(&mut child, "the replay after Ctrl-C");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains(r#""error":"interrupted at "#) && stderr.contains("no files were written"), "{stderr}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // How many jobs it had finished depends on the machine; the last one it had not.
    assert_eq!(answer["complete"], false, "{answer}");
    assert!(answer["summary"]["jobs_unfinished"].as_u64().is_some_and(|jobs| (1..=3).contains(&jobs)), "{answer}");
    assert!(answer["stopped_s"].as_f64() > Some(0.0) && answer["jobs"][2]["finish_s"].is_null());
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1, "only the trace is there");
}

#[test]
fn an_external_program_decides_in_a_replay_and_its_mistakes_are_reported() {
    let dir = here();
    let jobs = r#"{"schema":"howdah/trace/v1","source":"by hand","jobs":[
        {"name":"long","n_maps":6,"map_ms":[1000]},{"name":"short","n_maps":2,"map_ms":[1000]}]}"#;
    std::fs::write(dir.path().join("t.json"), jobs).expect("written");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/schedulers/examples/shortest_first.py");
    let external = |command: &str| {
        let command = format!("command={command}");
        let args = ["--map-slots", "2", "--reduce-slots", "0", "--scheduler", "external", "-D", "timeout=20s", "-D"];
        run(dir.path(), &[&["t.json"], &args[..], &[&command, "--output", "json"]].concat(), "")
    };
    let finishes = |said: &Said| {
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let answer: Value = serde_json::from_str(&said.stdout).expect("JSON");
        [0, 1].map(|job: usize| answer["jobs"][job]["finish_s"].as_f64().expect("a number"))
    };
    let said = external(&format!("python3 '{example}'"));
    assert_eq!((finishes(&said), said.stderr.as_str()), ([4.0, 1.0], ""));
    // One that ends is reported, and FIFO goes on.
    let said = external(r#"read hello; echo '{"type":"hello","protocol":1}'"#);
    assert_eq!(finishes(&said), [3.0, 4.0]);
    assert!(said.stderr.starts_with("warning: scheduler `external`: "), "{}", said.stderr);
    assert!(said.stderr.contains("ended (exit status: 0); `fifo` decides from now on"), "{}", said.stderr);
    // One that never starts is a wrong argument.
    let said = external("exit 9");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("parameter `command`: `exit 9` is not a program that says hello"), "{}", said.stderr);
}

#[test]
fn what_a_scheduler_promises_and_the_cluster_has_not_is_refused_before_anything_starts() {
    let dir = here();
    let toml = "[queues.default]\nmap_slots = 2\nreduce_slots = 2\n[queues.etl]\nmap_slots = 2\nreduce_slots = 0\n";
    std::fs::write(dir.path().join("q.toml"), toml).expect("written");
    let key = "mapred.capacity-scheduler.queue.etl.capacity";
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE a>\n<configuration><property><name>{key}</name><value>1</value></property></configuration>"
    );
    std::fs::write(dir.path().join("dtd.xml"), xml).expect("written");
    let refused = |words: &[&str]| {
        let said = run(dir.path(), &[&["t.json"], &SLOTS[..], words].concat(), "");
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{words:?}: {}", said.stderr);
        said.stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        refused(&["--scheduler", "balanced-pools", "-D", "pools=small:2+1,etl:2+1"]),
        "error: scheduler `balanced-pools`: parameter `pools`: `small:2+1,etl:2+1` is not a list of pools within the \
         cluster's 3 map and 2 reduce slots: together they have 4 and 2"
    );
    assert_eq!(
        refused(&["--scheduler", "capacity", "-D", "allocation.file=q.toml"]),
        "error: scheduler `capacity`: q.toml: `queues.default.map_slots` + `queues.etl.map_slots` add up to 4, expected at \
         most the cluster's 3 map slots"
    );
    assert_eq!(
        refused(&["--scheduler", "fair", "-D", "preemption=true", "-D", "preemption=false"]),
        "error: -D preemption: found `true` and `false`, expected it once"
    );
    assert_eq!(
        refused(&["--scheduler", "capacity", "-D", "allocation.file=dtd.xml"]),
        "error: scheduler `capacity`: dtd.xml: line 2: a document type is not allowed, as its entities could refer to each \
         other; write the values out"
    );
}

#[test]
fn hadoops_own_site_chooses_the_scheduler_with_its_file_and_is_overruled_by_what_is_typed() {
    let dir = here();
    let property =
        |name: &str, value: &str| format!("<property><name>{name}</name><value>{value}</value></property>\n");
    let site = |more: &str| {
        let class = property("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.FairScheduler");
        let others = property("io.sort.mb", "200") + &property("mapred.job.tracker", "host:9001");
        let text = format!("<?xml version=\"1.0\"?>\n<configuration>\n{class}{others}{more}</configuration>\n");
        std::fs::write(dir.path().join("mapred-site.xml"), text).expect("written");
    };
    site(
        &(property("mapred.fairscheduler.poolnameproperty", "mapred.job.queue.name")
            + &property("mapred.fairscheduler.assignmultiple", "false")),
    );
    // As in Hadoop, the pools are beside the site.
    std::fs::write(
        dir.path().join("fair-scheduler.xml"),
        "<allocations><pool name=\"etl\"><maxMaps>1</maxMaps></pool></allocations>",
    )
    .expect("written");
    let asked = ["--mapred-site", "mapred-site.xml"];
    let said = replay(dir.path(), &[&SLOTS[..], &asked].concat());
    assert_eq!(said.stderr, "note: mapred-site.xml: ignored what is not about scheduler `fair`: 2 of 5 properties\n");
    let answer = json(dir.path(), &[&SLOTS[..], &asked].concat());
    let typed = ["--scheduler", "fair", "-D", "allocation.file=fair-scheduler.xml", "-D", "assignmultiple=false"];
    let typed = [&SLOTS[..], &typed, &["-D", "poolnameproperty=mapred.job.queue.name"]].concat();
    assert_eq!(answer["scheduler"], "fair");
    assert_eq!(answer["decisions_digest"], json(dir.path(), &typed)["decisions_digest"]);
    assert_ne!(answer["decisions_digest"], json(dir.path(), &SLOTS)["decisions_digest"]);
    let other = json(dir.path(), &[&SLOTS[..], &asked, &["--scheduler", "fifo"]].concat());
    assert_eq!(other["decisions_digest"], json(dir.path(), &SLOTS)["decisions_digest"]);
    site(&property("mapred.fairscheduler.preemtion", "true"));
    let refused = run(dir.path(), &[&["t.json"], &SLOTS[..], &asked].concat(), "");
    assert_eq!(refused.code, Some(2));
    assert_eq!(
        refused.stderr,
        "error: mapred-site.xml: line 6: unknown key `mapred.fairscheduler.preemtion`, did you mean \
         `mapred.fairscheduler.preemption`?\n"
    );
    site(&property("mapred.fairscheduler.preemption", "maybe"));
    let refused = run(dir.path(), &[&["t.json"], &SLOTS[..], &asked].concat(), "");
    assert_eq!(
        refused.stderr.lines().last(),
        Some("error: mapred-site.xml: line 6: `mapred.fairscheduler.preemption`: `maybe` is not true or false")
    );
}

#[test]
fn queues_of_a_trace_that_mean_nothing_to_the_scheduler_are_reported_once() {
    let dir = here();
    let said = |words: &[&str]| replay(dir.path(), &[&SLOTS[..], &["--scheduler"], words].concat()).stderr;
    assert_eq!(
        said(&["minedf"]),
        "warning: trace `t.json`: queue `etl`: scheduler `minedf` has no queues of its own and serves all jobs as of \
         `default`\n"
    );
    assert_eq!(said(&["fair", "-D", "poolnameproperty=mapred.job.queue.name"]), "");
    // The optimiser plans for `balanced-pools` here, and says what.
    assert!(!said(&["balanced-pools", "-D", "pools=etl:1+1"]).contains("queue `etl`"));
}

#[test]
fn decisions_are_written_in_their_order_one_to_a_line() {
    let dir = here();
    replay(dir.path(), &[&SLOTS[..], &["--decisions", "d.jsonl"]].concat());
    let text = std::fs::read_to_string(dir.path().join("d.jsonl")).expect("written");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // Every task runs once.
    assert_eq!(lines.len(), 12);
    let first = serde_json::json!({
        "at_s": 0.0, "decision": "launch", "job": "job_7_0003", "kind": "map", "task": 0, "number": 0,
        "worker": "slots", "locality": null, "speculative": false, "why": null,
    });
    assert_eq!(lines[0], first);
    let times: Vec<f64> = lines.iter().map(|line| line["at_s"].as_f64().expect("a number")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let of_sort = lines.iter().filter(|line| line["job"] == "job_0_0002" && line["kind"] == "map");
    assert_eq!(of_sort.map(|line| line["at_s"].as_f64()).collect::<Vec<_>>(), [Some(2.0), Some(2.0), Some(3.0)]);
}

#[test]
fn a_job_is_explained_at_an_instant() {
    let dir = here();
    let said = |question: &str| replay(dir.path(), &[&SLOTS[..], &["--explain", question]].concat()).stdout;
    // At 1.5 s the first job's last map waits, and the second job behind it.
    assert_eq!(said("job_0_0002@1.5s"), "It is behind job 1, which still has maps waiting.\n");
    assert_eq!(said("2@1.5s"), said("job_0_0002@1.5s"));
    assert_eq!(said("job_7_0003@1.5s"), "It is next, but 3 map slots are taken.\n");
    assert_eq!(said("2@500ms"), "The job has not come yet.\n");
    assert_eq!(said("1@60s"), "The job is over: SUCCEEDED.\n");
    let answer = json(dir.path(), &[&SLOTS[..], &["--explain", "2@1.5s"]].concat());
    let expected = serde_json::json!({
        "schema": "howdah/explain/v1", "job": "job_0_0002", "at_s": 1.5,
        "text": "It is behind job 1, which still has maps waiting.",
    });
    assert_eq!(answer, expected);
    let wrong = run(dir.path(), &[&["t.json"], &SLOTS[..], &["--explain", "3@1s"]].concat(), "");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("there is no job `3`, expected an id of the trace or a number from 1 to 2"));
}

#[test]
fn a_trace_that_tells_no_durations_is_simulated_with_a_note_for_each_kind_of_task() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = r#"{"schema":"howdah/trace/v1","jobs":[{"n_maps":3,"n_reduces":1,"name":"words"}]}"#;
    std::fs::write(dir.path().join("t.json"), text).expect("written");
    let said = run(dir.path(), &["t.json"], "");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("makespan    0 s"), "{}", said.stdout);
    assert_eq!(
        said.stderr,
        "note: `t.json`: 1 × job without durations of its maps: they take 0 ms (first: job 1, `words`)\n\
         note: `t.json`: 1 × job without durations of its reduces: they take 0 ms (first: job 1, `words`)\n"
    );
}

#[test]
fn what_a_replay_does_otherwise_than_its_trace_tells_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let worker = r#"{"name":"w","host":"h","rack":"/r","map_slots":1,"reduce_slots":1}"#;
    let job = |outcome| format!(r#"{{"n_maps":1,"map_ms":[1000],"outcome":"{outcome}"}}"#);
    let text = format!(
        r#"{{"schema":"howdah/trace/v1","cluster":{{"scheduler":"fair","workers":[{worker}]}},"jobs":[{},{}]}}"#,
        job("FAILED"),
        job("SUCCEEDED")
    );
    std::fs::write(dir.path().join("t.json"), text).expect("written");
    let said = run(dir.path(), &["t.json"], "");
    assert_eq!(
        said.stderr,
        "note: `t.json` was recorded under `fair`; `fifo` is simulated, as no `--scheduler` is named\n\
         note: `t.json`: 1 of 2 jobs did not succeed where they ran, and do here; `--faults trace` repeats what failed\n"
    );
    assert_eq!(
        (said.code, run(dir.path(), &["t.json", "--scheduler", "fifo", "--faults", "trace"], "").stderr),
        (Some(0), String::new())
    );
}

fn compare(dir: &Path, args: &[&str]) -> Said {
    howdah(dir).args(["compare", "t.json"]).args(SLOTS).args(args).output().expect("runs").into()
}

#[test]
fn a_comparison_says_of_each_policy_what_its_replay_says() {
    let dir = here();
    let both = ["--scheduler", "fifo", "--scheduler", "fair"];
    let said =
        compare(dir.path(), &[&both[..], &["--csv", "jobs.csv", "--figure", "jobs.svg", "--output", "json"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let found: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(found["schema"], "howdah/compare/v1");
    for (at, name) in ["fifo", "fair"].iter().enumerate() {
        let alone = json(dir.path(), &[&SLOTS[..], &["--scheduler", name]].concat());
        let one = &found["schedulers"][at];
        assert_eq!(one["figures"]["makespan_s"]["mean"], alone["makespan_s"], "{name}");
        assert_eq!(one["figures"]["mean_completion_s"]["mean"], alone["summary"]["mean_completion_s"], "{name}");
        assert_eq!(one["figures"]["p95_slowdown"]["mean"], alone["summary"]["p95_slowdown"], "{name}");
        assert_eq!(one["runs"][0]["decisions_digest"], alone["decisions_digest"], "{name}");
    }
    let rows = std::fs::read_to_string(dir.path().join("jobs.csv")).expect("written");
    let own = replay(dir.path(), &[&SLOTS[..], &["--csv", "fifo.csv"]].concat());
    assert!(own.stderr.contains("a row for each of 2 jobs"), "{}", own.stderr);
    let fifo = std::fs::read_to_string(dir.path().join("fifo.csv")).expect("written");
    for (own, both) in fifo.lines().zip(rows.lines()).skip(1) {
        assert_eq!(format!("fifo,0,{own}"), both);
    }
    assert_eq!((fifo.lines().count(), rows.lines().count()), (3, 5));
    assert!(std::fs::read_to_string(dir.path().join("jobs.svg")).expect("written").contains("</svg>"));
}

#[test]
fn a_comparison_with_repeats_has_intervals_that_one_seed_does_not_have() {
    let dir = here();
    let drawn = ["--scheduler", "fifo", "--scheduler", "fair", "--arrivals", "poisson:2s", "--repeats"];
    let said = compare(dir.path(), &[&drawn[..], &["4"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains(" ± ") && said.stdout.contains("4 replays each"), "{}", said.stdout);
    let said = compare(dir.path(), &[&drawn[..], &["1"]].concat());
    assert!(!said.stdout.contains("± ") || said.stdout.contains("one replay each"), "{}", said.stdout);
    let said = compare(dir.path(), &["--scheduler", "fifo", "--scheduler", "fair", "--repeats", "3"]);
    assert!(said.stderr.contains("nothing here is random"), "{}", said.stderr);
}

#[test]
fn a_comparison_takes_two_policies_that_exist() {
    let dir = here();
    let said = compare(dir.path(), &["--scheduler", "fifo"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("found `fifo` alone, expected two or more"), "{}", said.stderr);
    let said = compare(dir.path(), &["--scheduler", "fifo", "--scheduler", "fare"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
}

#[test]
fn a_folder_of_job_histories_is_one_trace_and_damaged_files_are_named() {
    const HISTORY: &str = include_str!("../../shared/traces/tests/fixtures/small.jhist");
    let dir = here();
    let later = HISTORY.replace("_0007", "_0008");
    for (name, text) in
        [("01/a.jhist", HISTORY), ("02/b.jhist", &later), ("02/cut.jhist", "Avro-Jso"), ("02/b_conf.xml", "")]
    {
        let path = dir.path().join("done/2026/01").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let events = &later[later.find("Avro-Json").expect("the mark")..];
    std::fs::write(dir.path().join("both.jhist"), format!("{HISTORY}\n{events}")).expect("written");
    let replayed = |trace: &str| {
        let said = run(dir.path(), &[&[trace, "--output", "json"][..], &SLOTS].concat(), "");
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let mut answer: Value = serde_json::from_str(&said.stdout).expect("JSON");
        // Where it comes from is another place.
        answer.as_object_mut().expect("an object").remove("trace");
        (answer, said.stderr)
    };
    let (of_folder, said) = replayed("done");
    assert!(said.contains("warning: left out `done/2026/01/02/cut.jhist`: "), "{said}");
    let (of_file, _) = replayed("both.jhist");
    assert_eq!(of_folder["jobs"], of_file["jobs"]);
    assert!(of_folder["jobs"].as_array().is_some_and(|jobs| jobs.len() >= 2), "{of_folder}");
}

#[test]
fn the_configuration_beside_a_history_is_part_of_the_replayed_trace() {
    const HISTORY: &str = include_str!("../../shared/traces/tests/fixtures/small.jhist");
    let dir = here();
    let conf = |values: &str| {
        let property =
            "<property><name>mapreduce.job.reduce.slowstart.completedmaps</name><value>VALUE</value></property>";
        let text = format!("<configuration>{}</configuration>", property.replace("VALUE", values));
        std::fs::write(dir.path().join("job_1699999999999_0007_conf.xml"), text).expect("written");
    };
    std::fs::write(dir.path().join("h.jhist"), HISTORY).expect("written");
    let imported = || {
        let said: Said = howdah(dir.path()).args(["trace", "import", "h.jhist"]).output().expect("runs").into();
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        (said.stdout.contains("\"slowstart_ppm\":750000"), said.stderr)
    };
    assert!(!imported().0, "no configuration");
    conf("0.75");
    assert!(imported().0, "its configuration");
    conf("0.75</value>");
    let (known, said) = imported();
    assert!(!known && said.contains("warning: left out `job_1699999999999_0007_conf.xml`: "), "{said}");
}

#[test]
fn what_tune_finds_is_written_as_hadoops_files_which_a_replay_takes() {
    let dir = here();
    let said: Said = howdah(dir.path())
        .args(["tune", "sita", "t.json", "--map-slots", "10", "--reduce-slots", "10", "--limits", "1s,60s"])
        .args(["--partitions", "30", "--no-refine", "--write-hadoop", "conf"])
        .output()
        .expect("runs")
        .into();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let read = |name: &str| std::fs::read_to_string(dir.path().join("conf").join(name)).expect("a file");
    let pool = |name: &str, slots: u32| {
        format!(
            "  <pool name=\"{name}\">\n    <minMaps>{slots}</minMaps>\n    <minReduces>{slots}</minReduces>\n    \
             <maxMaps>{slots}</maxMaps>\n    <maxReduces>{slots}</maxReduces>\n"
        )
    };
    let fair = read("fair-scheduler.xml");
    assert!(fair.contains(&pool("queue-1", 3)) && fair.contains(&pool("queue-2", 7)), "{fair}");
    assert!(read("yarn/capacity-scheduler.xml").contains("root.queue-2.capacity</name>\n    <value>70.00</value>"));
    let replayed = run(dir.path(), &["t.json", "--mapred-site", "conf/mapred-site.xml", "--output", "json"], "");
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    let answer: Value = serde_json::from_str(&replayed.stdout).expect("JSON");
    assert_eq!(answer["scheduler"], "fair", "{answer}");
    let fbq = ["tune", "fbq", "t.json", "--write-hadoop", "other"];
    let refused: Said = howdah(dir.path()).args(fbq).output().expect("runs").into();
    let expected = "error: --write-hadoop: found scheduler `fbq`, expected tags or sita";
    assert!(refused.code == Some(2) && refused.stderr.starts_with(expected), "{}", refused.stderr);
    assert!(!dir.path().join("other").exists());
}

/// Kept since November 2026: three workers under `fair`, then under `fbq`; a job whose task fails four times, one that is
/// killed, a worker that is drained.
#[test]
fn a_recording_made_by_an_earlier_build_decides_the_same_again() {
    let here = here();
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");
    let said: Said =
        howdah(here.path()).args(["validate", "--dir", recorded, "--output", "json"]).output().expect("runs").into();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let [compared, identical] = ["compared", "identical"].map(|name| report["decisions"][name].as_u64());
    assert_eq!((compared, identical), (Some(188), Some(188)), "{report}");
    assert_eq!(report["decisions"]["launches"], 40, "{report}");
}

/// One map of 9 s on 30 slots: as printed it counts as the thirtieth part of a job that fills them.
#[test]
fn stages_are_divided_as_printed_where_that_is_asked_for() {
    let here = here();
    let job = r#"{"schema":"howdah/trace/v1","source":"by hand","jobs":[{"n_maps":1,"map_ms":[9000]}]}"#;
    std::fs::write(here.path().join("one.json"), job).expect("written");
    let least = |stages: &str| {
        let args = ["optimize", "one.json", "--map-slots", "30", "--reduce-slots", "30", "--stages", stages];
        let said: Said = howdah(here.path()).args(args).args(["--output", "json"]).output().expect("runs").into();
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let answer: Value = serde_json::from_str(&said.stdout).expect("JSON");
        answer["strategies"][0]["makespan_s"].as_f64()
    };
    assert_eq!([least("usable"), least("printed")], [Some(9.0), Some(4.65)], "the mean of both bounds");
}
