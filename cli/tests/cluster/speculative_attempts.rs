//! Speculative attempts over real daemons: a map that hangs gets one, and all pages tell what it cost.

use std::process::Stdio;

use nix::unistd::Pid;
use serde_json::Value;

use crate::halt::halt;
use crate::harness::{Cluster, Setup, howdah, wait_for};
use crate::waiting::ended_within;

/// Of two workers with a slot each, one runs two maps while the other one's stands still.
#[test]
fn a_map_that_hangs_gets_a_copy_under_load_aware_and_its_cost_is_reported() {
    let cluster = Cluster::start(Setup { map_slots: 1, own_hosts: true, ..Setup::default() });
    let rule = ["-D", "speculation.age=0", "-D", "speculation.gap=0.05"];
    cluster.run(&[&["scheduler", "set", "load-aware"], &rule[..]].concat()).expect_code(0);
    let mut command = howdah(&cluster.mark);
    command.env("HOWDAH_MASTER", &cluster.address).args(["submit", "sleep", "-m", "3", "-mt", "1500", "--wait"]);
    let mut waiting = command.stdout(Stdio::piped()).spawn().expect("submit the job");
    let hangs = wait_for("two maps to run", || match &cluster.attempt_processes()[..] {
        [first, _] => Some(first.0),
        _ => None,
    });
    halt(Pid::from_raw(hangs));
    let ended = ended_within(&mut waiting, "`submit --wait` of a job whose map hangs");
    let said = String::from_utf8(ended.stdout).expect("text");
    assert!(ended.status.success() && said.contains("\nSpeculative attempts: 1 launched, 1 won, 0 lost; "), "{said}");

    let job = cluster.jobs()[0]["job"].as_str().expect("an id").to_owned();
    let costs = cluster.status(&job)["speculation"].clone();
    let of = |page: &Value| ["launched", "won", "lost"].map(|name| page[name].as_u64());
    assert_eq!(of(&costs), [Some(1), Some(1), Some(0)]);
    // The copy took 1.5 s, and nobody thinks of one before the original has been late by as much.
    assert!(costs["wasted_slot_s"].as_f64().is_some_and(|wasted| wasted >= 3.0), "{costs}");
    assert_eq!(cluster.json(&["cluster"])["speculation"], costs);
    assert_eq!(cluster.json(&["job", "history", &job])["job"]["speculation"], costs);
    for page in [&["job", "status", &job][..], &["job", "history", &job], &["cluster"]] {
        let said = cluster.run(page).expect_code(0).stdout;
        assert!(said.contains("copies 1 launched, 1 won, 0 lost; "), "{said}");
    }
    let copies: Vec<Value> = cluster.attempts(&job).into_iter().filter(|a| a["speculative"] == true).collect();
    assert!(copies.len() == 1 && copies[0]["state"] == "SUCCEEDED", "{copies:?}");
    cluster.stop_and_replay();
}
