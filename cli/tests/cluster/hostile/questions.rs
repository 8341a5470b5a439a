//! Floods of questions: what hundreds of clients ask must not hold up what workers report.
//!
//! How long a question takes depends on the machine. So the flood grows until it does harm where nothing bounds it; the
//! same flood then comes to the same cluster with the guard, and what counts is the one time in relation to the other.

use std::time::{Duration, Instant};

use howdah_guards::Guard;
use howdah_proto::v1::{ListJobsRequest, MapEventsRequest};
use tokio::task::JoinSet;

use super::attacker::{Attacker, sleeper};
use super::{Usual, expect_all_live, without};
use crate::harness::Cluster;

/// Jobs that each answer lists.
const JOBS: usize = 400;
/// Submitted at a time: more are told to come again.
const AT_A_TIME: usize = 50;
/// Of the attacker's, each with its share of the questions.
const CONNECTIONS: usize = 4;
/// Questions at a time: those of the first flood, and those of the last one that is tried.
const FLOODS: (usize, usize) = (2_000, 128_000);
/// A worker would have reported by then and once more.
const HARM: Duration = Duration::from_millis(600);
/// Floods with the guard, of which one counts: other work on the machine comes and goes.
const TRIES: usize = 3;

/// Fills the list with jobs that no worker may run.
fn list_many(attacker: &Attacker) {
    attacker.run(async {
        let client = attacker.client().await;
        for _ in 0..JOBS / AT_A_TIME {
            let mut submitted = JoinSet::new();
            for _ in 0..AT_A_TIME {
                let mut client = client.clone();
                submitted.spawn(async move { client.submit_job(sleeper("gpu>=1")).await });
            }
            while let Some(accepted) = submitted.join_next().await {
                accepted.expect("no panic").expect("the job is accepted");
            }
        }
    });
}

/// Asks for the list `n` times at once; gives what a call of a worker took meanwhile, the
/// median of those that there was time for.
fn flood(attacker: &Attacker, n: usize) -> Duration {
    attacker.run(async {
        let mut worker = attacker.worker().await;
        let mut asked = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let client = attacker.deaf_client().await;
            for _ in 0..n / CONNECTIONS {
                let mut client = client.clone();
                asked.spawn(async move { client.list_jobs(ListJobsRequest {}).await });
            }
        }
        // The first answer says that the flood has arrived.
        asked.join_next().await;
        let mut took = Vec::new();
        let began = Instant::now();
        while took.is_empty() || began.elapsed() < HARM && !asked.is_empty() {
            let sent = Instant::now();
            let answer = worker.map_events(MapEventsRequest { job: u32::MAX, from: 0, met: None }).await;
            assert!(answer.is_err(), "there is no such job");
            took.push(sent.elapsed());
            while asked.try_join_next().is_some() {}
        }
        took.sort_unstable();
        took[took.len() / 2]
    })
}

#[test]
fn a_flood_of_questions_holds_up_reports_only_where_they_all_get_to_the_core_at_once() {
    let mut cluster = Cluster::start(without(&[Guard::Questions]));
    let attacker = Attacker::of(&cluster);
    list_many(&attacker);
    let mut n = FLOODS.0;
    let harmed = loop {
        let waited = flood(&attacker, n);
        if waited >= HARM {
            break waited;
        }
        n *= 2;
        assert!(n <= FLOODS.1, "a worker's call took {waited:?} beside {} questions", n / 2);
    };
    cluster.kill_master();
    cluster.put_up_guards();
    cluster.restart_master();
    expect_all_live(&cluster, 2);
    let usual = Usual::of(&cluster);
    let innocent = usual.submit(&cluster, "innocent");
    let waited = (0..TRIES).map(|_| flood(&attacker, n)).min().expect("some tries");
    assert!(waited < harmed / 2, "a worker's call took {waited:?}, and {harmed:?} without the guard: {n} questions");
    drop(attacker);
    innocent.expect_right_bytes(&cluster);
    expect_all_live(&cluster, 2);
    cluster.stop_and_replay();
}
