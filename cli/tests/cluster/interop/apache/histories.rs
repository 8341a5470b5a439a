//! Histories that the cluster wrote, read by Apache's `JobHistoryParser`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::java::Java;
use crate::harness::{Cluster, Setup, wait_for};

const SOURCE: &str = include_str!("Histories.java");

/// A job as the parser has it.
struct Read {
    /// Id, name, user, queue, status, maps, reduces, finished maps, finished reduces, records that maps read.
    job: Vec<String>,
    /// State and host of each attempt by its id.
    attempts: BTreeMap<String, (String, String)>,
}

/// All files of this name's end below a folder.
fn below(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("list a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(below(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found
}

fn read(java: &Java, histories: &[PathBuf]) -> BTreeMap<String, Read> {
    let paths: Vec<&str> = histories.iter().map(|path| path.to_str().expect("a plain path")).collect();
    let said = java.run("Histories", &paths).expect_code(0).stdout;
    let mut jobs = BTreeMap::new();
    let mut last = String::new();
    for line in said.lines() {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        match fields[0].as_str() {
            "job" => {
                last.clone_from(&fields[1]);
                jobs.insert(last.clone(), Read { job: fields[1..].to_vec(), attempts: BTreeMap::new() });
            }
            "attempt" => {
                let (start, finish): (i64, i64) = (fields[4].parse().expect("ms"), fields[5].parse().expect("ms"));
                assert!(start > 1_600_000_000_000 && finish >= start, "{line}");
                let job = jobs.get_mut(&last).expect("a job before its attempts");
                job.attempts.insert(fields[1].clone(), (fields[2].clone(), fields[3].clone()));
            }
            _ => panic!("{line}"),
        }
    }
    jobs
}

/// What the cluster says of the attempts of a job that ran.
fn attempts(cluster: &Cluster, job: &str) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let of = |attempt: &Value| (text(&attempt["attempt"]), (text(&attempt["state"]), text(&attempt["worker"])));
    cluster.attempts(job).iter().map(of).collect()
}

#[test]
fn apaches_parser_reads_of_every_end_of_a_job_what_the_cluster_says_of_it() {
    let config = "[master]\nqueue_names = [\"default\", \"etl\"]\n".to_owned();
    let cluster = Cluster::start(Setup { own_hosts: true, master_config: config, ..Setup::default() });
    let input = cluster.text("in.txt", "a b a\nc\nb\n");
    let submit = |words: &[&str], out: &str| {
        cluster.submit(&[words, &["--input", &input, "--output", &cluster.output(out)]].concat())
    };
    let small = ["-D", "mapred.max.split.size=4"];
    let good = submit(
        &[&["wordcount", "--name", "counts, 100 %", "--queue", "etl", "--reduces", "2"], &small[..]].concat(),
        "good",
    );
    cluster.wait_job(&good, 0);
    let bad = submit(&["streaming", "--mapper", "false", "--reducer", "cat", "-D", "mapred.map.max.attempts=2"], "bad");
    cluster.wait_job(&bad, 1);
    let killed = cluster.sleep(2, 600_000, 1);
    cluster.wait_running_maps(&killed, 2);
    cluster.run(&["job", "kill", &killed]).expect_code(0);
    cluster.wait_job(&killed, 1);
    let histories = wait_for("three histories in Hadoop's form", || {
        let found = below(&cluster.path("master"), ".jhist");
        (found.len() == 3).then_some(found)
    });
    let java = Java::new(&cluster.path("java"));
    java.compile("Histories", SOURCE);
    let found = read(&java, &histories);
    for (job, state) in [(&good, "SUCCEEDED"), (&bad, "FAILED"), (&killed, "KILLED")] {
        let (read, status) = (&found[job.as_str()], cluster.status(job));
        let text = |key: &str| match &status[key] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let expected =
            [job.clone(), text("name"), text("user"), text("queue"), state.to_owned(), text("maps"), text("reduces")];
        assert_eq!(read.job[..7], expected, "{status}");
        assert_eq!(read.attempts, attempts(&cluster, job), "{job}");
        assert!(!read.attempts.is_empty());
    }
    assert_eq!(found[good.as_str()].job[7..], ["3", "2", "3"], "finished maps and reduces, and records read");
    assert_eq!(found[bad.as_str()].job[7..9], ["0", "0"]);
    cluster.stop_and_replay();
}
