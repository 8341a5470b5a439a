//! `yarn-api-client`, a program of others that knows Hadoop's REST interfaces: every method of its four clients.
//!
//! The script finds the methods by itself, so that a new release cannot know more than is tried here. What howdah has nothing to say
//! to is listed there with the reason, is refused, and stands in the guide.

use super::python;
use crate::harness::{Cluster, Installation, Setup};

const SCRIPT: &str = include_str!("yarn_api_client.py");
const GUIDE: &str = include_str!("../../../../docs/guide/hadoop-clients.md");

#[test]
fn the_yarn_api_client_reads_the_cluster_its_jobs_and_their_tasks_and_kills_one_by_every_method_but_those_that_are_listed()
 {
    let master_config = "[master]\nhttp_listen = \"127.0.0.1:0\"\n".to_owned();
    let setup = Setup { master_config, ..Setup::default() };
    let cluster = Cluster::start(setup);
    let hadoop = Installation::of(&cluster);
    let input = cluster.text("in", "b\na\nb\n");
    let out = cluster.output("out");
    let done = cluster.submit(&["wordcount", "--input", &input, "--output", &out, "--reduces", "1"]);
    cluster.wait_job(&done, 0);
    let sleeper = cluster.sleep(1, 600_000, 0);
    cluster.wait_running_maps(&sleeper, 1);
    let access = std::fs::read_to_string(cluster.path("master").join("access.json")).expect("an access file");
    let access: serde_json::Value = serde_json::from_str(&access).expect("JSON");
    let address = access["http"].as_str().expect("the address of the REST interfaces");
    let script = cluster.text("read.py", SCRIPT);
    let read = |phase: &str| {
        let mut command = hadoop.command(python());
        command.args([script.as_str(), address, &done, &sleeper, phase]);
        hadoop.program(&mut command).expect_code(0).stdout
    };
    assert_eq!(read("fair"), "all read\n");
    cluster.run(&["scheduler", "set", "capacity"]).expect_code(0);
    let said = read("all");
    let mut lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.pop(), Some("all read"));
    assert!(!lines.is_empty());
    for method in lines {
        assert!(GUIDE.contains(&format!("`{method}`")), "the guide does not say that `{method}` is refused");
    }
    cluster.wait_job(&sleeper, 1);
    cluster.stop_and_replay();
}
