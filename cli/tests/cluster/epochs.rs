//! Two masters on copies of one directory: workers that have met the newer one do not go back to the older.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::harness::{Cluster, Finished, PATIENCE, Setup, howdah, wait_for};

fn spawn(cluster: &Cluster, log: &str, args: &[&str]) -> Child {
    let log = std::fs::File::create(cluster.path(log)).expect("create a file");
    howdah(&cluster.mark).args(args).stdout(Stdio::null()).stderr(log).spawn().expect("start a daemon")
}

fn says(cluster: &Cluster, log: &str, words: &str) -> Option<()> {
    std::fs::read_to_string(cluster.path(log)).ok()?.contains(words).then_some(())
}

#[test]
fn a_worker_that_has_met_the_master_on_a_copy_of_the_directory_refuses_the_one_on_the_original() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let job = cluster.sleep(1, 10, 0);
    cluster.wait_job(&job, 0);
    let copy = cluster.output("copy");
    let copied = Command::new("cp").args(["-a", &cluster.output("master"), &copy]).status().expect("run cp");
    assert!(copied.success());
    let access = Path::new(&copy).join("access.json");
    std::fs::remove_file(&access).expect("what names the first master");
    let mut second = spawn(&cluster, "second.err", &["master", "--dir", &copy, "--listen", "127.0.0.1:0"]);
    let address = wait_for("the second master to listen", || {
        let access: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&access).ok()?).ok()?;
        access["master"].as_str().map(str::to_owned)
    });
    let folder = cluster.output("roaming");
    let worker = |log: &str, master: &str| {
        spawn(&cluster, log, &["worker", "--master", master, "--name", "roaming", "--dir", &folder])
    };
    let mut at_second = worker("at-second.err", &address);
    wait_for("the worker to register there", || says(&cluster, "second.err", "a worker registered"));
    wait_for("the worker to hear of it", || says(&cluster, "at-second.err", "registered"));
    at_second.kill().expect("kill the worker");
    at_second.wait().expect("reap the worker");
    let mut at_first = worker("at-first.err", &cluster.address);
    let newer = "has met the newer start 2";
    wait_for("the first master to notice", || says(&cluster, "master.err", newer));
    wait_for("the worker to say so", || says(&cluster, "at-first.err", newer));
    assert_eq!(cluster.workers().len(), 1, "{:?}", cluster.workers());
    at_first.kill().expect("kill the worker");
    at_first.wait().expect("reap the worker");
    // The second is what it was, and has the first one's job.
    let mut again = worker("again.err", &address);
    wait_for("the worker to register there", || says(&cluster, "again.err", "registered"));
    let sleep = ["sleep", "-D", "mapred.map.tasks=1", "-D", "sleep.job.map.sleep.time=10", "--reduces", "0", "--wait"];
    let there = |args: &[&str]| Finished::of(howdah(&cluster.mark).env("HOWDAH_MASTER", &address).args(args), PATIENCE);
    there(&[&["submit"], &sleep[..]].concat()).expect_code(0);
    let listed = there(&["job", "list", "--output", "json"]).expect_code(0).json();
    assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(2), "{listed}");
    for daemon in [&mut again, &mut second] {
        daemon.kill().expect("kill a daemon");
        daemon.wait().expect("reap a daemon");
    }
    cluster.stop_and_replay();
}
