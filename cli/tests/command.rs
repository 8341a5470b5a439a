//! The command as scripts see it: what it prints, where, and with which exit code. No cluster is started here.

mod said;
mod waiting;

use std::path::Path;

use serde_json::Value;

use said::{Said, howdah};
use waiting::{ended_within, wait_within};

fn run(dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Said {
    howdah(dir).args(args).envs(variables.iter().copied()).output().expect("runs").into()
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn help_of_every_command_is_what_was_agreed() {
    let dir = here();
    let commands: &[&[&str]] = &[
        &[],
        &["demo"],
        &["up"],
        &["down"],
        &["submit"],
        &["job"],
        &["job", "list"],
        &["job", "logs"],
        &["job", "wait"],
        &["worker"],
        &["master"],
        &["cluster"],
        &["validate"],
        &["trace", "record"],
        &["generate", "sudoku"],
        &["generate", "text"],
        &["experiment", "list"],
        &["experiment", "run"],
        &["bench"],
        &["config", "show"],
    ];
    for command in commands {
        let mut args = command.to_vec();
        args.push("--help");
        let said = run(dir.path(), &args, &[]);
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
        let name = if command.is_empty() { "main".to_owned() } else { command.join("-") };
        // What the applications say of themselves is theirs.
        let text = match (said.stdout.find("Applications,"), said.stdout.find("Examples:")) {
            (Some(from), Some(to)) if from < to => format!("{}{}", &said.stdout[..from], &said.stdout[to..]),
            _ => said.stdout,
        };
        insta::assert_snapshot!(format!("help-{name}"), text);
    }
}

#[test]
fn experiments_are_listed_with_what_they_need() {
    let dir = here();
    let said = run(dir.path(), &["experiment", "list"], &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    insta::assert_snapshot!("experiment-list", said.stdout);
    let said = run(dir.path(), &["experiment", "list", "--output", "json"], &[]);
    let listed: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(listed["schema"], "howdah/experiments/v1");
    assert_eq!(listed["experiments"][0]["name"], "simmr-accuracy");
    assert_eq!(listed["experiments"][0]["needs"], "live-runs");
}

#[test]
fn an_unknown_experiment_ends_with_2_and_names_those_there_are() {
    let dir = here();
    let said = run(dir.path(), &["experiment", "run", "simmr-nothing"], &[]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.starts_with("error: experiment `simmr-nothing`: no such experiment, expected "),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("simmr-accuracy"), "{}", said.stderr);
}

#[test]
fn wrong_usage_ends_with_2_and_says_so_on_standard_error_only() {
    let dir = here();
    let cases: &[&[&str]] = &[
        &[],
        &["nonsense"],
        &["up"],
        &["job", "status"],
        &["submit", "wordcount", "--frobnicate"],
        &["submit", "wordcuont", "--input", "x", "--output", "y"],
        &["submit", "wordcount"],
        &["submit", "wordcount", "--input", "x", "--output", "a", "--output", "b"],
        &["submit", "./no-such-program", "--input", "x", "--output", "y"],
        &["job", "set-priority", "1", "URGENT"],
        &["validate", "--dir", "no-such-directory"],
        &["trace", "record", "--dir", "no-such-directory"],
        &["config", "show", "--config", "no-such-file"],
        &["generate", "sudoku", "--clues", "3"],
        &["generate", "text", "--bytes", "many"],
        &["cluster"],
        &["cluster", "--dir", "no-such-directory"],
        &["cluster", "--master", "no port"],
        &["demo", "--workers", "0"],
        &["demo", "--scheduler", "nonsense"],
        &["master", "--dir", "m", "--scheduler", "nonsense"],
        &["master", "--dir", "m", "--scheduler", "fbq", "-D", "queues=many"],
        &["up", "--dir", "c", "--scheduler", "fbq", "-D", "nonsense=1"],
        &["up", "--dir", "c", "--scheduler", "fbq", "-D", "queues=2", "-D", "queues=2"],
        &["up", "--dir", "c", "--scheduler", "balanced-pools", "-D", "pools=a:5+1"],
        &["master", "--dir", "m", "--scheduler", "external", "-D", "command=cat", "-D", "fallback=external"],
        &["worker", "--dir", "w"],
        &["calibrate", "--plot", "curve.png"],
        &["calibrate", "--loads", "0,2", "--repeats", "1"],
        &["calibrate", "--out", "no-such-folder/curve.toml"],
        &["calibrate", "--group", "no-such-group"],
        &["calibrate", "--frequencies", "1,0.5", "--repeats", "1"],
        &["calibrate", "--frequencies", "1,2"],
        &["calibrate", "--frequency-plot", "no-such-folder/f.svg"],
        &["demo", "--input", "no-such-file"],
    ];
    for args in cases {
        let said = run(dir.path(), args, &[]);
        assert_eq!(said.code, Some(2), "{args:?}\n{}{}", said.stdout, said.stderr);
        assert!(!said.stderr.is_empty(), "{args:?} said nothing");
        let leftovers: Vec<_> = std::fs::read_dir(dir.path()).expect("listed").collect();
        assert!(leftovers.is_empty(), "{args:?} left {leftovers:?}");
    }
}

#[test]
fn errors_are_one_line_and_advice_follows_on_help_lines() {
    let dir = here();
    let said = run(dir.path(), &["cluster"], &[]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert!(lines[0].starts_with("error: which cluster?"), "{}", said.stderr);
    assert!(lines.len() > 1 && lines[1..].iter().all(|line| line.starts_with("help: ")), "{}", said.stderr);
    let said = run(dir.path(), &["submit", "wordcuont"], &[]);
    assert!(said.stderr.contains("help: did you mean `wordcount`?"), "{}", said.stderr);
}

#[test]
fn a_master_that_is_not_there_ends_with_3() {
    let dir = here();
    // Nobody listens on the discard port of the loopback.
    let said = run(dir.path(), &["job", "list", "--master", "127.0.0.1:9"], &[]);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.stderr.starts_with("error: no master answers at 127.0.0.1:9: "), "{}", said.stderr);
    let said = run(dir.path(), &["job", "list"], &[("HOWDAH_MASTER", "127.0.0.1:9")]);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
}

#[test]
fn settings_say_where_they_come_from() {
    let dir = here();
    std::fs::write(
        dir.path().join("h.toml"),
        "[worker]\nmap_slots = 7\nreduce_slots = 3\n\n[master.cluster]\nexpiry_ms = 5000\n[client]\nmaster = \"m:1\"\n",
    )
    .expect("written");
    let variables = [("HOWDAH_WORKER_MAP_SLOTS", "9"), ("HOWDAH_CONFIG", "h.toml")];
    let said = run(dir.path(), &["config", "show", "--output", "json"], &variables);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let shown: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(shown["schema"], "howdah/config/v1");
    let setting = |section: &str, key: &str| shown["sections"][section][key].clone();
    let is = |section, key, value: Value, source, from: Value| {
        let found = setting(section, key);
        assert_eq!((&found["value"], &found["source"], &found["from"]), (&value, &Value::from(source), &from), "{key}");
    };
    is("worker", "map_slots", 9.into(), "variable", "HOWDAH_WORKER_MAP_SLOTS".into());
    is("worker", "reduce_slots", 3.into(), "file", "h.toml:3".into());
    is("master", "cluster.expiry_ms", 5000.into(), "file", "h.toml:6".into());
    is("client", "master", "m:1".into(), "file", "h.toml:8".into());
    is("client", "output", "json".into(), "flag", "--output".into());
    is("master", "scheduler", "fifo".into(), "default", Value::Null);
}

#[test]
fn a_flag_beats_a_variable_beats_the_file() {
    let dir = here();
    std::fs::write(dir.path().join("h.toml"), "[client]\nmaster = \"127.0.0.1:7\"\n").expect("written");
    let reached = |args: &[&str], variables: &[(&str, &str)]| {
        let said = run(dir.path(), &[&["cluster", "--config", "h.toml"], args].concat(), variables).stderr;
        said.split("answers at ").nth(1).and_then(|rest| rest.split(": ").next()).unwrap_or_default().to_owned()
    };
    assert_eq!(reached(&[], &[]), "127.0.0.1:7");
    assert_eq!(reached(&[], &[("HOWDAH_MASTER", "127.0.0.1:8")]), "127.0.0.1:8");
    assert_eq!(reached(&["--master", "127.0.0.1:9"], &[("HOWDAH_MASTER", "127.0.0.1:8")]), "127.0.0.1:9");
}

#[test]
fn a_fault_in_the_file_names_file_line_key_and_expectation() {
    let dir = here();
    let complain = |text: &str| {
        std::fs::write(dir.path().join("h.toml"), text).expect("written");
        let said = run(dir.path(), &["config", "show", "--config", "h.toml"], &[]);
        assert_eq!(said.code, Some(2), "{}", said.stdout);
        said.stderr
    };
    insta::assert_snapshot!("fault-unknown-key", complain("[worker]\n\nmap_slot = 4\n"));
    insta::assert_snapshot!("fault-kind", complain("[worker]\nmap_slots = \"four\"\n"));
    insta::assert_snapshot!("fault-section", complain("[slave]\n"));
    insta::assert_snapshot!("fault-syntax", complain("[worker\n"));
    insta::assert_snapshot!("fault-model", complain("[master.prediction]\nmodel = \"peicewise\"\n"));
    insta::assert_snapshot!("fault-rule", complain("[master.prediction.switch]\nrule = \"lastign\"\n"));
    insta::assert_snapshot!("fault-choice", complain("[master.cluster.heartbeat]\nrule = \"often\"\n"));
}

#[test]
fn a_daemon_with_wrong_settings_ends_with_2() {
    let dir = here();
    let said = run(dir.path(), &["master", "--dir", "m"], &[("HOWDAH_MASTER_LISTEN", "every where")]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.starts_with("error: variable HOWDAH_MASTER_LISTEN=\"every where\": "), "{}", said.stderr);
    let said = run(dir.path(), &["master", "--dir", "m"], &[("HOWDAH_MASTER_PREDICTION_MODEL", "linaer")]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("\"linaer\": no such model, did you mean `linear`?"), "{}", said.stderr);
    assert!(!dir.path().join("m").exists(), "nothing was made");
}

// Not wrong usage: a script may wait for it.
#[test]
fn a_directory_without_a_cluster_is_one_that_cannot_be_reached() {
    let dir = here();
    let said = run(dir.path(), &["job", "list", "--dir", "."], &[]);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.stderr.contains("error: no cluster runs in `.`"), "{}", said.stderr);
    assert!(said.stderr.contains("help: start one with `howdah up --dir .`"), "{}", said.stderr);
}

#[test]
fn down_without_a_cluster_says_so_and_is_fine() {
    let dir = here();
    let said = run(dir.path(), &["down", "--dir", "nothing"], &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stdout, "nothing to stop: no cluster runs in `nothing`\n");
}

#[test]
fn down_never_signals_a_process_that_only_has_the_number() {
    let dir = here();
    let own = std::process::id();
    let access = format!(
        r#"{{"master":"127.0.0.1:9","pids":[{own}],"processes":[{{"name":"master","pid":{own},"start_ticks":1}}]}}"#
    );
    std::fs::write(dir.path().join("access.json"), access).expect("written");
    let said = run(dir.path(), &["down", "--dir", "."], &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stdout, "nothing to stop: the processes of `.` had ended already\n");
    assert!(!dir.path().join("access.json").exists());
}

#[test]
fn down_says_that_a_master_started_by_hand_still_runs() {
    let dir = here();
    std::fs::create_dir(dir.path().join("master")).expect("made");
    let own = std::process::id();
    let access = format!(r#"{{"master":"127.0.0.1:9","pid":{own}}}"#);
    std::fs::write(dir.path().join("master/access.json"), access).expect("written");
    let file = std::fs::File::create(dir.path().join("master/lock")).expect("made");
    let lock = nix::fcntl::Flock::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock).expect("nobody has it");
    let gone = r#"{"master":"127.0.0.1:9","pids":[1],"processes":[{"name":"master","pid":1,"start_ticks":1}]}"#;
    std::fs::write(dir.path().join("access.json"), gone).expect("written");
    // With what `up` left, and without.
    for _ in 0..2 {
        let said = run(dir.path(), &["down", "--dir", "."], &[]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(3), ""), "{}", said.stderr);
        let expected = format!(
            "error: a master (pid {own}) that `up` did not start runs in `./master`\nhelp: `kill {own}` stops it\n"
        );
        assert_eq!(said.stderr, expected);
    }
    drop(lock);
    assert_eq!(run(dir.path(), &["down", "--dir", "."], &[]).code, Some(0));
}

#[test]
fn up_on_a_cluster_that_is_up_says_which_flags_do_nothing() {
    let dir = here();
    let own = std::process::id();
    let stat = procfs::process::Process::myself().and_then(|process| process.stat()).expect("this process runs");
    let process = format!(r#"{{"name":"master","pid":{own},"start_ticks":{}}}"#, stat.starttime);
    let access = format!(r#"{{"master":"127.0.0.1:9","pids":[{own},{own}],"processes":[{process},{process}]}}"#);
    std::fs::write(dir.path().join("access.json"), access).expect("written");
    let up = |flags: &[&str]| run(dir.path(), &[&["up", "--dir", ".", "--workers", "1"], flags].concat(), &[]);
    let said = up(&["--scheduler", "fair", "--map-slots", "8"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.starts_with("already up: "), "{}", said.stdout);
    let mut lines = said.stderr.lines();
    assert_eq!(lines.next(), Some("note: not applied, as the cluster is up: --map-slots 8 --scheduler fair"));
    assert!(said.stderr.contains("howdah scheduler set") && said.stderr.contains("howdah down --dir ."));
    assert_eq!(up(&[]).stderr, "");
}

#[test]
fn what_only_a_batch_has_is_refused_without_one() {
    let dir = here();
    std::fs::write(dir.path().join("in"), "a\n").expect("written");
    let job = ["submit", "wordcount", "--input", "in", "--output", "out", "--master", "127.0.0.1:9"];
    for flags in [&["--dry-run"][..], &["--order", "johnson"]] {
        let said = run(dir.path(), &[&job, flags].concat(), &[]);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.starts_with(&format!("error: {}: found no --batch", flags[0])), "{}", said.stderr);
    }
}

#[test]
fn a_malformed_attempt_is_one_error_before_any_master_is_asked() {
    let dir = here();
    let said = run(dir.path(), &["job", "logs", "attempt_1", "--master", "127.0.0.1:9"], &[]);
    assert_eq!((said.code, said.stderr.lines().count()), (Some(2), 1), "{}", said.stderr);
    assert!(said.stderr.contains("`attempt_1`") && said.stderr.contains("expected"), "{}", said.stderr);
}

#[test]
fn a_misspelt_scheduler_is_answered_with_the_one_that_was_meant() {
    let dir = here();
    let said = run(dir.path(), &["up", "--dir", "c", "--scheduler", "fiar"], &[]);
    let meant = "error: scheduler `fiar`: no such scheduler, did you mean `fair`?\n";
    assert_eq!((said.code, said.stderr.as_str()), (Some(2), meant));
    let at = ["--master", "127.0.0.1:9"];
    let said = run(dir.path(), &[&["what-if", "--scheduler", "external"], &at[..]].concat(), &[]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(
        said.stderr.starts_with("error: --scheduler external: a forecast does not start its program"),
        "{}",
        said.stderr
    );
}

/// The writer of the input is at work: it must not go on after the removal.
#[test]
fn ctrl_c_while_the_demo_makes_its_input_leaves_nothing() {
    use nix::sys::signal::{Signal, kill};
    let dir = here();
    std::fs::write(dir.path().join("in.txt"), "a b\n").expect("written");
    std::fs::create_dir(dir.path().join("tmp")).expect("made");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_howdah"));
    command.args(["demo", "--input", "in.txt", "--puzzles", "100000000"]).current_dir(dir.path());
    command.env("TMPDIR", dir.path().join("tmp"));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("starts");
    let listed = || -> Vec<_> {
        std::fs::read_dir(dir.path().join("tmp")).expect("listed").flatten().map(|entry| entry.path()).collect()
    };
    let begun = || listed().iter().any(|place| place.join("input/puzzles.txt").exists());
    wait_within(std::time::Duration::from_secs(120), "the file of puzzles", || begun().then_some(()));
    kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("interrupted");
    assert_eq!(ended_within(&mut child, "the demo").status.code(), Some(130));
    assert_eq!(listed(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn generated_inputs_are_the_same_for_the_same_seed() {
    let dir = here();
    let puzzles = |seed: &str| run(dir.path(), &["generate", "sudoku", "--puzzles", "5", "--seed", seed], &[]).stdout;
    assert_eq!(puzzles("7"), puzzles("7"));
    assert_ne!(puzzles("7"), puzzles("8"));
    assert!(puzzles("7").lines().all(|line| line.len() == 81) && puzzles("7").lines().count() == 5);
    let said = run(dir.path(), &["generate", "text", "--bytes", "64KiB", "--distinct", "100", "-o", "t"], &[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{}", said.stderr);
    assert!(std::fs::metadata(dir.path().join("t")).expect("written").len() >= 65_536);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = here();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_howdah"))
        .args(["generate", "text", "--bytes", "64MiB", "--distinct", "1000"])
        .current_dir(dir.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn completions_and_manual_pages_are_written() {
    let dir = here();
    for shell in ["bash", "zsh", "fish"] {
        let said = run(dir.path(), &["completions", shell], &[]);
        assert!(said.code == Some(0) && said.stdout.contains("howdah"), "{shell}: {}", said.stderr);
    }
    let said = run(dir.path(), &["man", "pages"], &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(dir.path().join("pages/howdah.1").exists() && dir.path().join("pages/howdah-submit.1").exists());
    assert!(run(dir.path(), &["man"], &[]).stdout.contains("howdah"));
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let dir = here();
    let plain = run(dir.path(), &["config", "show", "--client"], &[]);
    assert!(!plain.stdout.contains('\x1b'));
    let coloured = run(dir.path(), &["config", "show", "--client", "--color", "always"], &[]);
    assert!(coloured.stdout.contains("\x1b["));
}

#[test]
fn a_misspelt_flag_is_recognised_also_among_the_applications_words() {
    let dir = here();
    let said = run(dir.path(), &["submit", "sleep", "-m", "1", "--wiat"], &[]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("help: did you mean `--wait`?"), "{}", said.stderr);
    let slips = [(&["submit", "wordcount", "--inptu", "x"][..], "--input"), (&["submit", "--wiat", "sleep"], "--wait")];
    for (args, flag) in slips {
        let said = run(dir.path(), args, &[]);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains(&format!("help: did you mean `{flag}`?")), "{}", said.stderr);
    }
    let said = run(dir.path(), &["job", "list", "--lsat", "3"], &[]);
    assert!(said.stderr.contains("'--last'"), "{}", said.stderr);
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let dir = here();
    for (args, error) in [
        (&["job", "list", "--output", "json"][..], "which cluster? no master was named"),
        (&["job", "lsit", "--output=json"], "unrecognized subcommand 'lsit'"),
        (
            &["compare", "t.json", "--scheduler", "fifo", "--output", "json"],
            "--scheduler: found `fifo` alone, expected two or more",
        ),
    ] {
        let said = run(dir.path(), args, &[]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{args:?}: {}", said.stderr);
        let document: Value = serde_json::from_str(&said.stderr).expect("JSON");
        assert_eq!(
            (&document["schema"], &document["error"], &document["exit_code"]),
            (&"howdah/error/v1".into(), &error.into(), &2.into())
        );
        assert!(document["help"].as_array().is_some_and(|help| !help.is_empty()), "{document}");
    }
    let said = run(dir.path(), &["job", "list"], &[("HOWDAH_OUTPUT", "json")]);
    assert!(serde_json::from_str::<Value>(&said.stderr).is_ok(), "{}", said.stderr);
}

#[test]
fn the_version_names_commit_and_build() {
    let dir = here();
    let said = run(dir.path(), &["--version"], &[]);
    // Debug builds do not look: they would be built anew after each commit.
    let git =
        std::process::Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let in_checkout = git.is_ok_and(|output| output.status.success());
    let commit = if in_checkout && !cfg!(debug_assertions) { "[0-9a-f]{12}( with changes)?" } else { "unknown" };
    let shape = regex::Regex::new(&format!(r"^howdah \d+\.\d+\.\d+ \(commit {commit}, \w+ build\)\n$"));
    assert!(shape.expect("an expression").is_match(&said.stdout), "{}", said.stdout);
}

#[test]
fn schedulers_are_listed_with_what_they_are_and_where_they_are_from() {
    let dir = here();
    let said = run(dir.path(), &["scheduler", "list"], &[]);
    let fair = said.stdout.lines().find(|line| line.starts_with("fair ")).expect("a line for fair");
    assert!(fair.contains("minimum shares") && fair.contains("Hadoop 1.2.1"), "{fair}");
    let said = run(dir.path(), &["scheduler", "list", "--output", "json"], &[]);
    let listed: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(listed["schedulers"].as_array().map(Vec::len), listed["described"].as_array().map(Vec::len));
}
