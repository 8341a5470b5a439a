//! A client that submits a hundred thousand jobs as fast as it can, as one user and as many, and one that wants a million tasks.
//!
//! `HOWDAH_TEST_SUBMISSIONS` sets how many jobs; `cargo xtask soak jobs` submits 100,000. None of them can run, as in a night
//! in which the workers that they want are away, so that each that is accepted stays.

use std::time::{Duration, Instant};

use howdah_core::job::{App, InputFormat};
use howdah_proto::v1::{GoodbyeRequest, HeartbeatRequest, RegisterRequest, SubmitJobRequest};
use tokio::task::JoinSet;
use tonic::Code;

use super::attacker::{Attacker, sleeper};
use super::{Usual, narrow};
use crate::harness::{Cluster, Setup, wait_for};

/// In the ordinary run: several times as many as the master takes there.
const SUBMISSIONS: u32 = 5_000;
const TAKEN: u32 = 1_000;
/// What the whole count meets: the default.
const TAKEN_OF_ALL: u32 = 10_000;
/// Of a neighbour who submits one job after the other meanwhile.
const NEIGHBOURS: u32 = 50;
/// Submissions under way at a time, by so many connections of the attacker's.
const AT_A_TIME: usize = 256;
const CONNECTIONS: usize = 4;
/// What the master may hold in addition: for a job that waits, and for whatever else is under way.
const BYTES_A_JOB: u64 = 8 << 10;
const BYTES_AT_ALL: u64 = 48 << 20;
/// Other people's jobs that are not over, or whose histories are on their way to the disk.
const FEW: u32 = 8;
/// A heartbeat takes no longer, whatever comes: half of the time after which one counts as silent.
const MOST_FOR_A_HEARTBEAT: Duration = Duration::from_millis(1_500);
/// In the ordinary run, beside other tests: as long as that keeps a worker from being lost.
const MOST_BESIDE_OTHERS: Duration = Duration::from_secs(15);

/// What became of all submissions.
#[derive(Debug, Default)]
struct Told {
    accepted: u32,
    refused: u32,
    last: String,
}

fn job_of(user: String) -> SubmitJobRequest {
    SubmitJobRequest { user, ..sleeper("gpu>=1") }
}

/// Submits jobs of these users as fast as they are answered.
async fn submit_all(attacker: &Attacker, n: u32, user: impl Fn(usize) -> String) -> Told {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(attacker.client().await);
    }
    let (mut told, mut under_way) = (Told::default(), JoinSet::new());
    for number in 0..n as usize {
        let mut client = clients[number % CONNECTIONS].clone();
        let job = job_of(user(number));
        under_way.spawn(async move { client.submit_job(job).await });
        while under_way.len() >= AT_A_TIME || number + 1 == n as usize && !under_way.is_empty() {
            match under_way.join_next().await.expect("some are under way").expect("no panic") {
                Ok(_) => told.accepted += 1,
                Err(status) => {
                    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
                    told.refused += 1;
                    status.message().clone_into(&mut told.last);
                }
            }
        }
    }
    told
}

/// Somebody else, who submits a few jobs meanwhile, one after the other. All of them are accepted.
async fn neighbour(attacker: &Attacker) {
    let mut client = attacker.client().await;
    for number in 0..NEIGHBOURS {
        let taken = client.submit_job(job_of("neighbour".to_owned())).await;
        taken.unwrap_or_else(|status| panic!("job {number} of somebody else is refused: {status}"));
    }
}

/// How long heartbeats of a worker that is known and takes no tasks take until told to stop: the median and the longest. None of
/// them may be parked, so each goes through the core, and its answer waits for the journal.
async fn heartbeats(attacker: &Attacker, stop: &tokio::sync::Notify) -> (Duration, Duration) {
    let mut worker = attacker.worker().await;
    let hello = RegisterRequest {
        name: "watch".to_owned(),
        host: "localhost".to_owned(),
        rack: "/default-rack".to_owned(),
        map_slots: 1,
        http_address: "127.0.0.1:1".to_owned(),
        incarnation: 1,
        protocol: howdah_proto::PROTOCOL,
        ..RegisterRequest::default()
    };
    let number = worker.register(hello).await.expect("it is taken in").into_inner().worker;
    let (mut took, mut response_id, stopped) = (Vec::new(), 0, stop.notified());
    tokio::pin!(stopped);
    loop {
        let beat = HeartbeatRequest { worker: number, incarnation: 1, response_id, ..HeartbeatRequest::default() };
        let sent = Instant::now();
        let answer = worker.heartbeat(beat).await.expect("it is answered").into_inner();
        took.push(sent.elapsed());
        assert_eq!(answer.response_id, response_id + 1, "the answer to this one: {answer:?}");
        response_id = answer.response_id;
        // As often as some workers report.
        tokio::select! {
            () = &mut stopped => break,
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
    }
    worker.goodbye(GoodbyeRequest { worker: number, incarnation: 1 }).await.expect("it is received");
    took.sort_unstable();
    (took[took.len() / 2], took[took.len() - 1])
}

#[test]
fn a_client_that_submits_without_end_is_told_and_costs_others_little() {
    let given = std::env::var("HOWDAH_TEST_SUBMISSIONS").ok();
    let n: u32 = given.as_ref().map_or(SUBMISSIONS, |text| text.parse().expect("a number of jobs"));
    let taken = if given.is_some() { TAKEN_OF_ALL } else { TAKEN };
    let master_config = format!("[master.limits]\nlive_jobs = {taken}\n");
    let cluster = Cluster::start(Setup { master_config, ..narrow() });
    let usual = Usual::of(&cluster);
    let attacker = Attacker::of(&cluster);
    let before = cluster.master_anonymous_kib() << 10;
    let innocent = usual.submit(&cluster, "innocent");
    let began = Instant::now();
    let (told, (median, longest)) = attacker.run(async {
        let stop = tokio::sync::Notify::new();
        let flood = async {
            let (told, ()) = tokio::join!(submit_all(&attacker, n, |_| "flood".to_owned()), neighbour(&attacker));
            stop.notify_one();
            told
        };
        tokio::join!(flood, heartbeats(&attacker, &stop))
    });
    let took = began.elapsed();
    // Under many names the client takes the rest.
    let many = attacker.run(submit_all(&attacker, taken, |number| format!("name-{number}")));
    let held = (cluster.master_anonymous_kib() << 10).saturating_sub(before);
    eprintln!(
        "{n} submissions of one user in {:.1} s: {} accepted, {} refused, and {} of many others afterwards; the master holds \
         {:.1} MiB more; a worker's heartbeat took {median:?} in the middle, {longest:?} at most",
        took.as_secs_f64(),
        told.accepted,
        told.refused,
        many.accepted,
        held as f64 / f64::from(1 << 20),
    );
    assert_eq!(told.accepted + told.refused, n);
    let of_one = taken / 2;
    assert_eq!(told.accepted, of_one, "{told:?}");
    let full = format!("user `flood` has {of_one} unfinished jobs, expected fewer than {of_one} to take another");
    assert!(told.last.contains(&full) && told.last.contains("`live_jobs_of_user` in [master.limits]"), "{}", told.last);
    // The innocent job, and histories on their way, may have some of it.
    let rest = taken - of_one - NEIGHBOURS;
    assert!((rest - FEW..=rest).contains(&many.accepted), "{many:?}");
    assert!(many.last.contains("`live_jobs` in [master.limits]"), "{}", many.last);
    assert!(held <= BYTES_AT_ALL + u64::from(taken) * BYTES_A_JOB, "the master holds {held} bytes more");
    let most = if given.is_some() { MOST_FOR_A_HEARTBEAT } else { MOST_BESIDE_OTHERS };
    assert!(longest <= most, "a worker's heartbeat took {longest:?}");
    innocent.expect_right_bytes(&cluster);
    // The one that only watched has stopped.
    wait_for("both workers to be LIVE", || (cluster.live_workers() == 2).then_some(()));
    let log = cluster.master_log();
    assert!(!log.contains("a worker is lost"), "{log}");
    assert!(given.is_none() || !log.contains("is silent"), "{log}");
    // People get at it all the same, and can make room.
    let began = Instant::now();
    cluster.run(&["job", "kill", "--all"]).expect_code(0);
    eprintln!("all of them were killed in {:.1} s", began.elapsed().as_secs_f64());
    wait_for("room, once histories are written", || {
        attacker.run(async { attacker.client().await.submit_job(sleeper("gpu>=1")).await }).ok()
    });
    usual.submit(&cluster, "after").expect_right_bytes(&cluster);
    drop(attacker);
    cluster.stop_and_replay();
}

#[test]
fn a_job_of_a_million_tasks_is_refused_with_the_setting_that_allows_it() {
    let cluster = Cluster::start(narrow());
    let attacker = Attacker::of(&cluster);
    let maps = SubmitJobRequest {
        input_format_json: serde_json::to_string(&InputFormat::Generated { n_maps: 1_000_000 }).expect("it is plain"),
        app_json: serde_json::to_string(&App::BuiltIn { name: "sleep".to_owned() }).expect("it is plain"),
        ..SubmitJobRequest::default()
    };
    let reduces = SubmitJobRequest { n_reduces: 1_000_000, ..sleeper("gpu>=1") };
    for (job, setting) in [(maps, "tasks_per_job"), (reduces, "reduces_per_job")] {
        let refused = attacker.run(async { attacker.client().await.submit_job(job).await });
        let refused = refused.expect_err("it is too large");
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.message().contains(&format!("`{setting}` in [master.limits]")), "{refused}");
    }
    assert!(cluster.jobs().is_empty());
}
