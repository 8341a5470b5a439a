//! Workers that are killed when their maps are done and start again in their directories: what is whole there is not made again.

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::harness::{Cluster, Gated, Setup, wait_for};
use crate::master_kills::parts;

const MAPS: u64 = 4;

/// One worker, and a job whose maps are done and whose reduces wait; what it writes when nobody is killed; where it writes now.
fn maps_done() -> (Cluster, Gated, String, String, String) {
    let cluster = Cluster::start(Setup { workers: 1, reduce_slots: 2, ..Setup::default() });
    let gated = Gated::new(&cluster, MAPS, 2, "0");
    let quiet = cluster.output("quiet");
    let first = gated.submit(&cluster, &quiet);
    cluster.wait_job(&first, 0);
    gated.shut();
    let out = cluster.output("out");
    let job = gated.submit(&cluster, &out);
    wait_for("the maps to be done", || (cluster.status(&job)["maps_done"].as_u64() >= Some(MAPS)).then_some(()));
    (cluster, gated, quiet, out, job)
}

/// Attempts of maps that ran.
fn map_attempts(cluster: &Cluster, job: &str) -> u64 {
    let is_map = |attempt: &&serde_json::Value| attempt["attempt"].as_str().is_some_and(|id| id.contains("_m_"));
    cluster.attempts(job).iter().filter(is_map).count() as u64
}

/// The directories of a job's map attempts on the worker, in order.
fn outputs(cluster: &Cluster, job: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cluster.path("worker-1/local").join(job)).expect("the job's directory");
    let is_output = |path: &PathBuf| path.join("file.out.index").exists();
    let mut outputs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_output).collect();
    outputs.sort();
    assert_eq!(outputs.len() as u64, MAPS);
    outputs
}

fn end(cluster: Cluster, gated: &Gated, [quiet, out, job]: [&str; 3]) {
    gated.open();
    cluster.wait_job(job, 0);
    assert_eq!(parts(out), parts(quiet));
    let local = cluster.path("worker-1/local").join(job);
    wait_for("the job's files to go", || (!local.exists()).then_some(()));
    cluster.stop_and_replay();
}

#[test]
fn a_worker_that_is_killed_after_its_maps_serves_their_output_when_it_is_back() {
    let (mut cluster, gated, quiet, out, job) = maps_done();
    std::fs::create_dir_all(cluster.path("worker-1/local/forgotten-7/rest")).expect("what another left there");
    cluster.stop_worker(0, Signal::SIGKILL);
    cluster.restart_worker(0);
    wait_for("its outputs to be served again", || {
        let said = std::fs::read_to_string(cluster.path("worker-1.err")).expect("the worker's log");
        said.contains("map outputs of an earlier run go on being served").then_some(())
    });
    assert!(!cluster.path("worker-1/local/forgotten-7").exists());
    // And once more when the master had given it up.
    cluster.stop_worker(0, Signal::SIGKILL);
    wait_for("the worker to be lost", || (cluster.worker_state(0).as_deref() == Some("LOST")).then_some(()));
    assert_eq!(cluster.status(&job)["maps_done"], 0);
    cluster.restart_worker(0);
    wait_for("the maps to be done again", || (cluster.status(&job)["maps_done"] == MAPS).then_some(()));
    assert_eq!(map_attempts(&cluster, &job), MAPS, "none ran again");
    // And by a master that knows of it from its journal alone.
    cluster.stop_worker(0, Signal::SIGKILL);
    cluster.kill_master();
    cluster.restart_master();
    cluster.restart_worker(0);
    gated.open();
    cluster.wait_job(&job, 0);
    assert_eq!(map_attempts(&cluster, &job), MAPS, "none ran again");
    end(cluster, &gated, [&quiet, &out, &job]);
}

fn damage(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).expect("read an output");
    change(&mut bytes);
    std::fs::write(path, bytes).expect("write it back");
}

#[test]
fn outputs_that_were_damaged_meanwhile_are_made_again() {
    let (mut cluster, gated, quiet, out, job) = maps_done();
    let found = outputs(&cluster, &job);
    cluster.stop_worker(0, Signal::SIGKILL);
    damage(&found[0].join("file.out"), |bytes| bytes.truncate(bytes.len() - 1));
    damage(&found[1].join("file.out.index"), |bytes| bytes[9] ^= 1);
    // That its reduces find.
    damage(&found[2].join("file.out"), |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    cluster.restart_worker(0);
    gated.open();
    cluster.wait_job(&job, 0);
    assert_eq!(map_attempts(&cluster, &job), MAPS + 3);
    end(cluster, &gated, [&quiet, &out, &job]);
}
