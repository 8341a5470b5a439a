//! Jobs that fail, jobs that are refused, and what is reported.

use crate::harness::{Cluster, Setup, wait_for};

#[test]
fn a_job_whose_task_always_fails_ends_failed_after_four_attempts_and_says_why() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let mapper = cluster.script("mapper.sh", "echo the disk is on fire >&2; exit 7");
    let args =
        ["submit", "streaming", "--mapper", &mapper, "--reducer", "cat", "--input", &input, "--output", &out, "--wait"];
    cluster.run(&args).expect_code(1);

    let jobs = cluster.jobs();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!(jobs[0]["state"], "FAILED");
    assert_eq!(jobs[0]["failed_attempts"], 4, "{jobs:?}");
    let job = jobs[0]["job"].as_str().expect("a job id").to_owned();
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    for part in ["code 7", "the disk is on fire", "worker-", "attempt_", "_m_000000_"] {
        assert!(why.contains(part), "no `{part}` in:\n{why}");
    }
    assert!(!std::path::Path::new(&out).join("_SUCCESS").exists());
    // Clearing away goes on after the job's end.
    let temporary = std::path::Path::new(&out).join("_temporary");
    wait_for("what it wrote to be cleared away", || (!temporary.exists()).then_some(()));
    cluster.stop_and_replay();
}

#[test]
fn a_job_that_tolerates_failed_maps_ends_without_them() {
    let cluster = Cluster::start(Setup::default());
    let good = cluster.text("good.txt", "word\n");
    let bad = cluster.text("bad.txt", "poison\n");
    let out = cluster.output("out");
    let mapper = cluster.script("mapper.sh", "read line; test $line != poison && echo $line");
    let tolerant = ["-D", "mapred.max.map.failures.percent=50", "-D", "mapred.map.max.attempts=1"];
    let mut args = vec!["submit", "streaming", "--mapper", &mapper, "--reducer", "cat", "--output", &out, "--wait"];
    args.extend(["--input", &good, "--input", &bad]);
    args.extend(tolerant);
    cluster.run(&args).expect_code(0);
    let part = std::fs::read_dir(&out)
        .expect("the output")
        .flatten()
        .find(|e| e.file_name().to_string_lossy().starts_with("part-"));
    let text = std::fs::read_to_string(part.expect("a part file").path()).expect("text");
    assert_eq!(text.trim_end(), "word");
    cluster.stop_and_replay();
}

#[test]
fn an_attempt_killed_by_a_signal_says_which() {
    let cluster = Cluster::start(Setup::default());
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let mapper = cluster.script("mapper.sh", "kill -SEGV $$");
    let job = cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out]);
    cluster.wait_job(&job, 1);
    let why = cluster.run(&["job", "why", &job]).expect_code(0).stdout;
    assert!(why.contains("SIGSEGV") || why.contains("signal 11"), "{why}");
    cluster.stop_and_replay();
}

#[test]
fn a_missing_input_is_refused_before_the_job_is_accepted() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let missing = cluster.output("nothing-here");
    let out = cluster.output("out");
    let refused = cluster.run(&["submit", "wordcount", "--input", &missing, "--output", &out]).expect_code(2);
    assert!(refused.stderr.contains("nothing-here"), "{}", refused.stderr);
    assert!(cluster.jobs().is_empty());
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn an_existing_output_is_refused_before_anything_runs() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    std::fs::create_dir(&out).expect("make the directory");
    let refused = cluster.run(&["submit", "wordcount", "--input", &input, "--output", &out]).expect_code(2);
    assert!(refused.stderr.contains(&format!("output directory `{out}` exists already")), "{}", refused.stderr);
    assert!(cluster.jobs().is_empty());
}

#[test]
fn two_jobs_cannot_write_to_the_same_output() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let input = cluster.text("input.txt", "one line\n");
    let out = cluster.output("out");
    let mapper = cluster.script("mapper.sh", "cat; sleep 30");
    let job = cluster.submit(&["streaming", "--mapper", &mapper, "--input", &input, "--output", &out]);
    cluster.run(&["submit", "wordcount", "--input", &input, "--output", &out]).expect_code(2);
    cluster.run(&["job", "kill", &job]).expect_code(0);
    cluster.wait_job(&job, 1);
    cluster.stop_and_replay();
}

#[test]
fn a_master_that_is_not_there_is_exit_code_three() {
    let cluster = Cluster::start(Setup { workers: 0, ..Setup::default() });
    // Port 9 (discard) of the loopback is not served.
    cluster.run(&["job", "list", "--master", "127.0.0.1:9"]).expect_code(3);
}
