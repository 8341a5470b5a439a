//! `job logs --follow` across the end of what it follows.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::harness::{Cluster, Setup};
use crate::waiting::ended_within;

/// Reached only when something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn whoever_follows_a_job_or_an_attempt_reads_each_line_once_to_its_end() {
    let cluster = Cluster::start(Setup { workers: 1, ..Setup::default() });
    let go = cluster.path("go");
    let body = format!("echo begins >&2; while [ ! -e {} ]; do sleep 0.05; done; echo ends >&2; cat", go.display());
    let mapper = cluster.script("mapper.sh", &body);
    let (input, out) = (cluster.text("input.txt", "one line\n"), cluster.output("out"));
    let words = ["streaming", "--mapper", &mapper, "--reduces", "0", "--input", &input, "--output", &out];
    let job = cluster.submit(&words);
    cluster.wait_running_maps(&job, 1);
    let attempt = cluster.attempts(&job)[0]["attempt"].as_str().expect("an attempt id").to_owned();
    let mut followers = [&job, &attempt].map(|of| {
        let mut command = cluster.command(&["job", "logs", "--follow", of, "--stderr"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("start howdah");
        let (send, lines) = mpsc::channel();
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || from.lines().try_for_each(|line| send.send(line.expect("text")).ok()));
        (child, lines, vec![])
    });
    let is_own = |line: &String| line == "begins" || line == "ends";
    for (_, lines, seen) in &mut followers {
        while !seen.iter().any(is_own) {
            seen.push(lines.recv_timeout(PATIENCE).expect("the beginning"));
        }
    }
    // Both have read what there was when the attempt ends.
    std::fs::write(&go, "").expect("let the map go on");
    for (mut child, lines, mut seen) in followers {
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) => seen.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it goes on after {seen:?}"),
            }
        }
        assert!(ended_within(&mut child, "who follows").status.success(), "{seen:?}");
        let own: Vec<&String> = seen.iter().filter(|line| is_own(line)).collect();
        assert_eq!(own, ["begins", "ends"], "{seen:?}");
    }
    cluster.wait_job(&job, 0);
    cluster.stop_and_replay();
}
