//! Two masters on copies of one directory: workers that have met the newer one do not go back to the older, whatever they ask it
//! for. Two clusters that began in the same minute are not that.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use howdah_proto::v1::{GetJobFileRequest, MapEventsRequest, MasterStart, SawRequest};
use tonic::{Code, Status};

use crate::harness::{Cluster, Finished, PATIENCE, Setup, howdah, wait_for};
use crate::hostile::attacker::Attacker;

fn spawn(cluster: &Cluster, log: &str, args: &[&str]) -> Child {
    let log = std::fs::File::create(cluster.path(log)).expect("create a file");
    howdah(&cluster.mark).args(args).stdout(Stdio::null()).stderr(log).spawn().expect("start a daemon")
}

fn says(cluster: &Cluster, log: &str, words: &str) -> Option<()> {
    std::fs::read_to_string(cluster.path(log)).ok()?.contains(words).then_some(())
}

/// Where the master in this directory listens, as soon as it does.
fn address_of(directory: &str) -> String {
    let access = Path::new(directory).join("access.json");
    wait_for("a master to listen", || {
        let access: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&access).ok()?).ok()?;
        access["master"].as_str().map(str::to_owned)
    })
}

/// Starts a master on a copy of a cluster's directory; where it listens.
fn master_on_a_copy(cluster: &Cluster) -> (Child, String) {
    let copy = cluster.output("copy");
    let copied = Command::new("cp").args(["-a", &cluster.output("master"), &copy]).status().expect("run cp");
    assert!(copied.success());
    std::fs::remove_file(Path::new(&copy).join("access.json")).expect("what names the first master");
    let second = spawn(cluster, "second.err", &["master", "--dir", &copy, "--listen", "127.0.0.1:0"]);
    (second, address_of(&copy))
}

/// What a master says to a worker that has met this start and asks for the first job's file, or for events of map outputs, or
/// says what it saw; of what it answers, which start it is.
fn asked(address: &str, met: Option<MasterStart>) -> [Result<Option<MasterStart>, Status>; 3] {
    let attacker = Attacker::at(address);
    attacker.run(async {
        let mut worker = attacker.worker().await;
        let file = worker.get_job_file(GetJobFileRequest { job: 1, met }).await;
        let events = worker.map_events(MapEventsRequest { job: 1, from: 0, met }).await;
        let events = match events {
            Ok(events) => events.into_inner().message().await.map(|first| first.and_then(|first| first.start)),
            Err(refused) => Err(refused),
        };
        let saw = worker.saw(SawRequest { met, ..SawRequest::default() }).await;
        [file.map(|file| file.into_inner().start), events, saw.map(|_| None)]
    })
}

#[test]
fn a_worker_that_has_met_the_master_on_a_copy_of_the_directory_refuses_the_one_on_the_original() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let job = cluster.sleep(1, 10, 0);
    cluster.wait_job(&job, 0);
    let (mut second, address) = master_on_a_copy(&cluster);
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

#[test]
fn a_master_that_another_has_taken_over_from_tells_a_worker_nothing_that_has_met_that_one() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let job = cluster.sleep(1, 10, 1);
    cluster.wait_job(&job, 0);
    let (mut second, there) = master_on_a_copy(&cluster);
    let starts = |address: &str, met| {
        let [file, events, saw] = asked(address, met);
        saw.expect("it is accepted");
        let [file, events] = [file, events].map(|answer| answer.expect("it answers").expect("it says who it is"));
        assert_eq!(file, events);
        file
    };
    let (older, newer) = (starts(&cluster.address, None), starts(&there, None));
    assert_eq!((older.epoch, newer.epoch), (1, 2));
    assert_eq!((older.cluster_id, older.nonce), (newer.cluster_id, newer.nonce), "a copy is the same cluster");
    assert_eq!(starts(&there, Some(older)), newer);
    assert_eq!(starts(&there, Some(newer)), newer);
    for refused in asked(&cluster.address, Some(newer)) {
        let refused = refused.expect_err("it has been taken over from");
        assert_eq!(refused.code(), Code::FailedPrecondition);
        assert!(refused.message().contains("has met the newer start 2"), "{refused}");
    }
    wait_for("its log to say so", || says(&cluster, "master.err", "has met the newer start 2"));
    second.kill().expect("kill a daemon");
    second.wait().expect("reap a daemon");
    cluster.stop_and_replay();
}

#[test]
fn a_worker_goes_from_one_cluster_to_another_that_began_in_the_same_minute() {
    let mut cluster = Cluster::start(Setup { workers: 0, ..Setup::default() });
    // Runs are named after the minute of their start, and later than all that are there: both clusters get the same id.
    let [first, second] = ["first", "second"].map(|name| cluster.output(name));
    for directory in [&first, &second] {
        std::fs::create_dir_all(Path::new(directory).join("run-209912312359-1")).expect("make a run's folder");
    }
    let master = |directory: &str, log: &str| {
        let child = spawn(&cluster, log, &["master", "--dir", directory, "--listen", "127.0.0.1:0"]);
        (child, address_of(directory))
    };
    let folder = cluster.output("roaming");
    let worker = |log: &str, address: &str| {
        let child = spawn(&cluster, log, &["worker", "--master", address, "--name", "roaming", "--dir", &folder]);
        wait_for("the worker to register", || says(&cluster, log, "registered"));
        child
    };
    let kill = |mut daemon: Child| {
        daemon.kill().expect("kill a daemon");
        daemon.wait().expect("reap a daemon");
    };
    // The second start of the first one, so that the other would be the older one if it were the same.
    kill(master(&first, "first.err").0);
    std::fs::remove_file(Path::new(&first).join("access.json")).expect("what names the master");
    let (at_work, address) = master(&first, "first-again.err");
    kill(worker("at-first.err", &address));
    let met = std::fs::read_to_string(Path::new(&folder).join("master")).expect("what the worker noted");
    assert!(met.starts_with("210001010000 2 "), "{met}");
    let (other, address) = master(&second, "second.err");
    let roaming = worker("at-second.err", &address);
    let sleep = ["submit", "sleep", "-D", "mapred.map.tasks=1", "-D", "sleep.job.map.sleep.time=10", "--reduces", "0"];
    let submit = [&sleep[..], &["--wait"]].concat();
    let command =
        |args: &[&str]| Finished::of(howdah(&cluster.mark).env("HOWDAH_MASTER", &address).args(args), PATIENCE);
    command(&submit).expect_code(0);
    let met = std::fs::read_to_string(Path::new(&folder).join("master")).expect("what the worker noted");
    assert!(met.starts_with("210001010000 1 "), "{met}");
    [roaming, other, at_work].into_iter().for_each(kill);
    cluster.stop();
}
