//! Connections and questions by the hundred against a master with few file descriptors.

use std::io::Read;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use howdah_guards::Guard;

use super::{Usual, expect_all_live, narrow, without};
use crate::harness::{Cluster, Scene, Setup, wait_for};

/// What the attacker holds open at a time: far more than the master may open.
const IDLE: usize = 400;

#[test]
fn idle_connections_leave_descriptors_for_the_journal_and_for_clients() {
    // The smallest segments that there are: the journal needs a new file all the time.
    let master_config = "[master]\njournal_segment_bytes = 65536\n".to_owned();
    let cluster = Cluster::start(Setup { master_descriptors: Some(128), master_config, ..narrow() });
    let usual = Usual::of(&cluster);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| hold_idle_connections(&cluster.address, &stop));
        let all = scope.spawn(|| {
            for name in ["first", "second"] {
                usual.submit(&cluster, name).expect_right_bytes(&cluster);
            }
            let busy = cluster.sleep(60, 1, 0);
            cluster.wait_job(&busy, 0);
            wait_for("another segment of the journal", || (n_segments(&cluster) > 1).then_some(()));
            expect_all_live(&cluster, 2);
        });
        let ended = all.join();
        stop.store(true, Ordering::Relaxed);
        ended.expect("the innocent jobs end well");
    });
    let log = cluster.master_log();
    for trouble in ["connections cannot be taken", "the journal cannot be written"] {
        assert!(!log.contains(trouble), "{log}");
    }
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}

#[test]
fn idle_connections_take_all_descriptors_where_nobody_counts_them() {
    let cluster = Cluster::start(Setup { master_descriptors: Some(128), ..without(&[Guard::Connections]) });
    expect_descriptors_run_out(&cluster, |stop| hold_idle_connections(&cluster.address, stop));
}

/// Attacks a master until it has no descriptor left; the attack lasts until told to stop.
pub(super) fn expect_descriptors_run_out(cluster: &Cluster, attack: impl FnOnce(&AtomicBool) + Send) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attack = scope.spawn(|| attack(&stop));
        let starved = scope.spawn(|| {
            wait_for("the master to run out of descriptors", || {
                cluster.master_log().contains("connections cannot be taken").then_some(())
            });
        });
        let ended = starved.join();
        stop.store(true, Ordering::Relaxed);
        attack.join().expect("the attack goes on until told to stop");
        ended.expect("the attack succeeds");
    });
}

/// Opens connections and says nothing; opens others for those that are closed, five at a time so that one who has
/// something to say comes in between.
fn hold_idle_connections(address: &str, stop: &AtomicBool) {
    let mut held: Vec<TcpStream> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        held.retain_mut(|stream| !matches!(stream.read(&mut [0; 64]), Ok(0)));
        for _ in held.len()..IDLE.min(held.len() + 5) {
            let connected = TcpStream::connect(address).and_then(|stream| {
                stream.set_nonblocking(true)?;
                Ok(stream)
            });
            held.extend(connected.ok());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn n_segments(cluster: &Cluster) -> usize {
    let runs = std::fs::read_dir(cluster.path("master")).expect("the master's directory").flatten();
    let journals = runs.filter_map(|run| std::fs::read_dir(run.path().join("journal")).ok());
    journals.map(|journal| journal.flatten().filter(|file| file.path().is_file()).count()).sum()
}

#[test]
fn a_master_takes_all_descriptors_that_it_may_have() {
    let scene = Scene::new();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -Sn 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_howdah")]);
    command.args(["master", "--listen", "127.0.0.1:0", "--dir"]).arg(scene.path("master"));
    let mut master = command.envs([scene.mark.variable()]).stderr(Stdio::null()).spawn().expect("start a master");
    wait_for("the master to listen", || scene.path("master/access.json").exists().then_some(()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", master.id())).expect("its limits");
    master.kill().and_then(|()| master.wait()).expect("end it");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("one of files");
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] == numbers[1] && numbers[0] > 256, "{line}");
}
