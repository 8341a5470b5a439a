//! Histories that the cluster wrote, read by Apache's `JobHistoryParser` and shown by its `HistoryViewer`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;
use serde_json::Value;

use super::java::Java;
use crate::halt::halt;
use crate::harness::{Cluster, Setup, wait_for};

const SOURCE: &str = include_str!("Histories.java");
const VIEWER: &str = include_str!("Viewer.java");

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

/// What the viewer prints of each history, by the job's id.
fn views(java: &Java, histories: &[PathBuf]) -> BTreeMap<String, String> {
    let paths: Vec<&str> = histories.iter().map(|path| path.to_str().expect("a plain path")).collect();
    let said = java.run("Viewer", &paths).expect_code(0).stdout;
    let job = |view: &str| {
        let (path, _) = view.split_once('\n').expect("a path");
        let name = path.rsplit('/').next().expect("a name");
        name.split('-').next().expect("an id").to_owned()
    };
    said.split("== ")
        .skip(1)
        .map(|view| (job(view), view.to_owned()))
        .filter(|(job, _)| job.starts_with("job_"))
        .collect()
}

/// What the viewer says of a job is what the cluster says of it.
fn check_view(view: &str, state: &str, status: &Value, attempts: &BTreeMap<String, (String, String)>) {
    let line = |begin: &str| {
        let found = view.lines().find_map(|line| line.strip_prefix(begin));
        found.unwrap_or_else(|| panic!("no line `{begin}` in:\n{view}")).trim().to_owned()
    };
    let text = |key: &str| status[key].as_str().expect("a text").to_owned();
    assert_eq!([line("User: "), line("JobName: "), line("Status: ")], [text("user"), text("name"), state.to_owned()]);
    for (kind, letter) in [("Map", "_m_"), ("Reduce", "_r_")] {
        let row = line(&format!("{kind}\t"));
        let found: Vec<usize> = row.split_whitespace().take(4).map(|n| n.parse().expect("a number")).collect();
        let of = |wanted: Option<&str>| {
            let own = attempts.iter().filter(|(id, _)| id.contains(letter));
            own.filter(|(_, (state, _))| wanted.is_none_or(|wanted| state == wanted)).count()
        };
        let expected = [of(None), of(Some("SUCCEEDED")), of(Some("FAILED")), of(Some("KILLED"))];
        assert_eq!(found, expected, "{kind} of {}", status["job"]);
    }
    for (id, (_, host)) in attempts {
        let rows: Vec<&str> = view.lines().filter(|line| line.starts_with(&format!("{id}\t"))).collect();
        assert!(
            rows.iter().any(|row| row.split('\t').any(|field| field.trim_start_matches('/').contains(host.as_str()))),
            "{id} at {host}: {rows:?}"
        );
    }
}

/// A job of three maps, of which one hangs and has a copy that wins.
fn speculative(cluster: &Cluster) -> String {
    let rule = ["-D", "speculation.age=0", "-D", "speculation.gap=0.05"];
    cluster.run(&[&["scheduler", "set", "load-aware"], &rule[..]].concat()).expect_code(0);
    let job = cluster.submit(&["sleep", "-m", "3", "-mt", "1500", "--name", "slow and copied"]);
    let hangs = wait_for("two maps to run", || match &cluster.attempt_processes()[..] {
        [first, _] => Some(first.0),
        _ => None,
    });
    halt(Pid::from_raw(hangs));
    cluster.wait_job(&job, 0);
    job
}

#[test]
fn apaches_parser_and_viewer_say_of_every_end_of_a_job_what_the_cluster_says_of_it() {
    let config = "[master]\nqueue_names = [\"default\", \"etl\"]\n".to_owned();
    let cluster = Cluster::start(Setup { map_slots: 1, own_hosts: true, master_config: config, ..Setup::default() });
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
    let flaky = cluster.script("flaky.sh", "cat; case $mapreduce_task_attempt_id in *_0) exit 3;; esac");
    let flaky = submit(&["streaming", "--mapper", &flaky, "--reducer", &flaky], "flaky");
    cluster.wait_job(&flaky, 0);
    let copied = speculative(&cluster);
    let killed = cluster.sleep(2, 600_000, 1);
    cluster.wait_running_maps(&killed, 2);
    cluster.run(&["job", "kill", &killed]).expect_code(0);
    cluster.wait_job(&killed, 1);
    let histories = wait_for("five histories in Hadoop's form", || {
        let found = below(&cluster.path("master"), ".jhist");
        (found.len() == 5).then_some(found)
    });
    let java = Java::new(&cluster.path("java"));
    java.compile("Histories", SOURCE);
    java.compile("Viewer", VIEWER);
    let (found, views) = (read(&java, &histories), views(&java, &histories));
    let ends =
        [(&good, "SUCCEEDED"), (&bad, "FAILED"), (&killed, "KILLED"), (&flaky, "SUCCEEDED"), (&copied, "SUCCEEDED")];
    for (job, state) in ends {
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
        check_view(&views[job.as_str()], state, &status, &read.attempts);
    }
    let states = |job: &str, wanted: &str| found[job].attempts.values().filter(|(state, _)| state == wanted).count();
    assert_eq!([states(&flaky, "FAILED"), states(&flaky, "SUCCEEDED")], [2, 2]);
    assert_eq!([states(&copied, "KILLED"), states(&copied, "SUCCEEDED")], [1, 3]);
    assert_eq!(found[good.as_str()].job[7..], ["3", "2", "3"], "finished maps and reduces, and records read");
    assert_eq!(found[bad.as_str()].job[7..9], ["0", "0"]);
    cluster.stop_and_replay();
}
