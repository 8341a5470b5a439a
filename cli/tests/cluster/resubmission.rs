//! A job that is over is submitted again, and a submission whose file cannot be written is refused for the time being.

use std::path::Path;

use crate::harness::{Cluster, Setup};

/// All lines below an output directory, in order.
fn lines(output: &str) -> Vec<String> {
    let parts = std::fs::read_dir(output).expect("the output").flatten();
    let parts = parts.filter(|part| part.file_name().to_string_lossy().starts_with("part-"));
    let text = parts.map(|part| std::fs::read_to_string(part.path()).expect("text")).collect::<String>();
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.sort();
    lines
}

#[test]
fn a_job_runs_again_as_a_whole_or_only_the_maps_that_failed() {
    let cluster = Cluster::start(Setup::default());
    std::fs::create_dir(cluster.path("in")).expect("make a folder");
    // A name that is a pattern, if nobody takes care.
    for (name, text) in [("a[1]", "one\n"), ("b", "bad\n"), ("c", "three\n")] {
        std::fs::write(cluster.path("in").join(name), text).expect("write an input");
    }
    let (input, out, good) = (cluster.output("in"), cluster.output("out"), cluster.output("good"));
    let body =
        format!("text=$(cat)\ncase \"$text\" in *bad*) [ -e {good} ] || exit 1;; esac\nprintf '%s\\n' \"$text\"");
    let mapper = cluster.script("mapper.sh", &body);
    let tolerant = ["-D", "mapred.max.map.failures.percent=40", "-D", "mapred.map.max.attempts=1"];
    let words = ["streaming", "--mapper", &mapper, "--reduces", "0", "--input", &input, "--output", &out];
    let job = cluster.submit(&[&words[..], &tolerant].concat());
    cluster.wait_job(&job, 0);
    assert_eq!(lines(&out), ["one", "three"]);

    // What lies there is somebody's result.
    let there = cluster.run(&["job", "resubmit", &job]).expect_code(2);
    assert!(there.stderr.contains("exists already"), "{}", there.stderr);
    std::fs::write(&good, "").expect("mend the mapper");
    let rest = cluster.output("rest");
    let only = cluster.json(&["job", "resubmit", &job, "--only", "failed", "--to", &rest, "--wait"]);
    assert_eq!((&only["again"], &only["maps"]), (&job.as_str().into(), &serde_json::json!([1])), "{only}");
    assert_eq!(lines(&rest), ["bad"]);
    // The new one has all that it was asked for.
    let again = only["job"].as_str().expect("an id").to_owned();
    let why = cluster.run(&["job", "resubmit", &again, "--only", "failed", "--to", &rest]).expect_code(2);
    assert!(why.stderr.contains(&format!("all maps of {again} have succeeded")), "{}", why.stderr);
    let all = cluster.output("all");
    cluster.run(&["job", "resubmit", &job, "--to", &all, "--wait"]).expect_code(0);
    assert_eq!(lines(&all), ["bad", "one", "three"]);

    // One that failed left nothing behind: it takes its own directory again.
    std::fs::remove_file(&good).expect("break the mapper");
    let failing = ["-D", "mapred.map.max.attempts=1", "--input", &input, "--output"];
    let lost = cluster.output("lost");
    let job = cluster.submit(&[&words[..5], &failing, &[lost.as_str()]].concat());
    cluster.wait_job(&job, 1);
    let part = cluster.run(&["job", "resubmit", &job, "--only", "failed"]).expect_code(2);
    assert!(part.stderr.contains("is FAILED: the output of its other maps is not kept"), "{}", part.stderr);
    std::fs::write(&good, "").expect("mend the mapper");
    cluster.run(&["job", "resubmit", &job, "--wait"]).expect_code(0);
    assert_eq!(lines(&lost), ["bad", "one", "three"]);
    let sleeper = cluster.sleep(1, 600_000, 0);
    let early = cluster.run(&["job", "resubmit", &sleeper]);
    assert!(early.code != Some(0) && early.stderr.contains("expected a job that is over"), "{}", early.all());
    cluster.run(&["job", "kill", &sleeper]).expect_code(0);
    cluster.stop_and_replay();
}

#[test]
fn a_submission_whose_file_cannot_be_written_may_be_made_again() {
    let cluster = Cluster::start(Setup::default());
    let master = cluster.path("master");
    let runs = std::fs::read_dir(&master).expect("the master's directory").flatten();
    let run = runs.map(|entry| entry.path()).find(|path| path.join("jobs").is_dir()).expect("its run");
    let (jobs, away) = (run.join("jobs"), run.join("away"));
    std::fs::rename(&jobs, &away).expect("take the folder away");
    let (input, out) = (cluster.text("input.txt", "a b\n"), cluster.output("out"));
    let words = ["submit", "wordcount", "--input", &input, "--output", &out, "--wait"];
    let refused = cluster.run(&words).expect_code(3);
    let expected = "the master cannot write the job's file";
    assert!(refused.stderr.contains(expected) && refused.stderr.contains("try again"), "{}", refused.stderr);
    assert!(!Path::new(&out).exists(), "its output directory is left");
    std::fs::rename(&away, &jobs).expect("bring it back");
    cluster.run(&words).expect_code(0);
    assert_eq!(lines(&out), ["a\t1", "b\t1"]);
    cluster.stop_and_replay();
}
