//! When a running task gets a second attempt, by rule and under any order of jobs.

use howdah_shared::job::{AttemptId, JobId, JobSpec, JobState, Phase, Progress, WorkerId};
use howdah_shared::schedulers::by_name;
use howdah_shared::tracker::{AttemptReport, Input, WorkerState};

use crate::kit::*;
use crate::play::params;

fn cluster(scheduler: &str, pairs: &[(&str, &str)]) -> Cluster {
    Cluster::made(|_| {}, by_name(scheduler, &params(pairs)).expect("the rule exists"))
}

/// A heartbeat that says how far attempts are, in percent; 100 ends them.
fn progress(c: &mut Cluster, worker: u32, told: &[(AttemptId, u16)]) {
    for &(attempt, percent) in told {
        let state = if percent == 100 { Succeeded } else { Running };
        c.puppets[worker as usize].attempts.insert(attempt, state);
    }
    let mut report = c.report_of(worker);
    for status in &mut report.attempts {
        let percent = told.iter().find(|(attempt, _)| *attempt == status.attempt).map_or(0, |told| told.1);
        *status = AttemptReport { progress: Progress::from_parts(percent * 100), phase: Phase::Map, ..status.clone() };
    }
    c.puppets[worker as usize].waiting = true;
    c.apply(&[Input::Report(Box::new(report))]);
}

fn uncommitted(n_maps: u32) -> JobSpec {
    job_with(n_maps, 0, |conf| conf.commits_output = false)
}

/// Three workers run a map each; after 61 s the first has said nothing, the second is at 90 % and the third at `at`.
fn one_behind(c: &mut Cluster, at: u16) {
    c.submit(uncommitted(3));
    (0..3).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (1, map(1, 1, 0)), (2, map(1, 2, 0))]);
    c.advance(61_000);
    progress(c, 1, &[(map(1, 1, 0), 90)]);
    progress(c, 2, &[(map(1, 2, 0), at)]);
    c.launches();
}

#[test]
fn hadoop_gives_a_task_behind_the_average_a_second_attempt() {
    // hadoop-semantics §4.7: averageProgress − progress ≥ 0.2, at least 60 s after the job came.
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    one_behind(&mut c, 65);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 1))], "the mean is (1 + 0.9 + 0.65) ÷ 3 = 0.85: 0.65 is just far enough");
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    assert_eq!(c.launches(), [], "it has two attempts already");
}

#[test]
fn hadoop_waits_for_the_gap_and_for_the_age() {
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    one_behind(&mut c, 66);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [], "0.66 is within 0.2 of the mean, (1 + 0.9 + 0.66) ÷ 3");
    let mut c = cluster("fifo", &[("speculation", "hadoop"), ("speculation.age", "2m")]).workers(3, 1, 0);
    one_behind(&mut c, 10);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [], "the job is not two minutes old");
    c.advance(60_000);
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 2, 1))], "now it is");
}

#[test]
fn hadoop_speculates_for_a_job_before_it_asks_the_next_one() {
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    one_behind(&mut c, 0);
    c.submit(uncommitted(5));
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 1)), (1, map(2, 0, 0))], "the second job's pending maps come later");
}

#[test]
fn late_speculates_only_where_nothing_pending_could_be_given() {
    let late = [("speculation", "late"), ("speculation.cap", "1")];
    let mut c = cluster("fifo", &late).workers(5, 1, 0);
    c.submit(uncommitted(5));
    (0..5).for_each(|worker| c.beat(worker));
    c.launches();
    c.advance(61_000);
    for (worker, percent) in [(1, 50), (2, 60), (3, 10), (4, 5)] {
        progress(&mut c, worker, &[(map(1, worker, 0), percent)]);
    }
    c.submit(uncommitted(1));
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(2, 0, 0))], "another job's pending task goes first");
    progress(&mut c, 0, &[(map(2, 0, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 4, 1))], "the longest time left, and the only rate below the percentile");
    progress(&mut c, 2, &[(map(1, 2, 0), 100)]);
    assert_eq!(c.launches(), [], "one second attempt runs, which is the cap");
}

#[test]
fn late_starts_no_second_attempt_on_a_slow_worker() {
    // hadoop-semantics §4.7, paper LATE: SlowNodeThreshold, the 25th percentile of progress.
    let mut c = cluster("fifo", &[("speculation", "late"), ("speculation.cap", "5")]).workers(5, 2, 0);
    c.submit(uncommitted(10));
    (0..5).for_each(|worker| c.beat(worker));
    c.launches();
    c.advance(61_000);
    for worker in 1..5 {
        let (first, second) = (map(1, 2 * worker, 0), map(1, 2 * worker + 1, 0));
        progress(&mut c, worker, &[(first, 90), (second, if worker == 4 { 5 } else { 70 })]);
    }
    // Its second map is done at a crawl: a free slot, but no progress to speak of beside the others.
    c.puppets[0].attempts.insert(map(1, 1, 0), Failed);
    c.submit(uncommitted(0));
    c.beat(0);
    let launched = c.launches();
    assert!(launched.iter().all(|(_, attempt)| attempt.number == 1 && attempt.index == 1), "{launched:?}");
    assert_eq!(c.state().worker(WorkerId(0)).map(|worker| worker.state()), Some(WorkerState::Live));
}

#[test]
fn any_order_runs_with_any_rule() {
    let orders = ["balanced-pools", "capacity", "comp", "fair", "fbq", "fifo", "johnson", "maxedf", "minedf"];
    // Without `sita` and `tags`, which give a job a part of the slots only.
    for scheduler in orders.into_iter().chain(["naive-fair", "shortest"]) {
        let params = [("speculation", "hadoop"), ("speculation.gap", "0.1")];
        let mut c = cluster(scheduler, &params).workers(3, 1, 0);
        one_behind(&mut c, 5);
        progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
        let launches = c.launches();
        assert!(matches!(launches[..], [(1, AttemptId { number: 1, .. })]), "{scheduler}: {launches:?}");
    }
}

#[test]
fn a_rule_knows_what_ran_before_its_policy_took_over() {
    for scheduler in ["balanced-pools", "capacity", "fair", "fbq", "fifo", "johnson"] {
        let mut c = cluster("fifo", &[]).workers(3, 1, 0);
        one_behind(&mut c, 5);
        let hadoop = params(&[("speculation", "hadoop"), ("speculation.gap", "0.1")]);
        c.tracker.switch_scheduler(by_name(scheduler, &hadoop).expect("the rule exists"));
        progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
        let launches = c.launches();
        assert!(matches!(launches[..], [(1, AttemptId { number: 1, .. })]), "{scheduler}: {launches:?}");
    }
}

#[test]
fn a_pool_gets_its_slots_back_from_a_job_that_is_over_before_its_last_attempts_end_is_told() {
    let pool = [("pools", "p:3+0"), ("speculation", "hadoop")];
    let in_pool = || {
        let once = job_with(3, 0, |conf| (conf.commits_output, conf.max_map_attempts) = (false, 1));
        JobSpec { queue: "p".into(), ..once }
    };
    let mut c = cluster("balanced-pools", &pool).workers(3, 1, 0);
    c.submit(in_pool());
    (0..3).for_each(|worker| c.beat(worker));
    c.advance(61_000);
    progress(&mut c, 2, &[(map(1, 2, 0), 10)]);
    progress(&mut c, 1, &[(map(1, 1, 0), 90)]);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches()[3..], [(0, map(1, 2, 1))]);
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    // Its only other attempt is over at once, and the job with it, before the end of this one is told.
    c.report(2, &[(map(1, 2, 0), Failed)]);
    assert_eq!(c.job_state(JobId(1)), JobState::Failed);
    c.report(0, &[(map(1, 2, 1), Killed)]);
    c.submit(in_pool());
    (0..3).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches().len(), 3, "all of the pool's slots");
}
