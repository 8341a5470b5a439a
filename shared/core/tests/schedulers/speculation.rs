//! When a running task gets a speculative attempt, by rule and under any order of jobs.

use howdah_core::job::{AttemptId, JobId, JobProfile, JobSpec, JobState, Phase, PhaseTimes, Progress, WorkerId};
use howdah_core::schedulers::by_name;
use howdah_core::time::Span;
use howdah_core::tracker::{AttemptReport, Input, WorkerState};

use rstest::rstest;

use crate::kit::*;
use crate::play::params;

pub(crate) fn cluster(scheduler: &str, pairs: &[(&str, &str)]) -> Cluster {
    Cluster::made(|_| {}, by_name(scheduler, &params(pairs)).expect("the rule exists"))
}

/// A heartbeat that says how far attempts are, in percent; 100 ends them.
pub(crate) fn progress(c: &mut Cluster, worker: u32, reports: &[(AttemptId, u16)]) {
    for &(attempt, percent) in reports {
        let state = if percent == 100 { Succeeded } else { Running };
        c.puppets[worker as usize].attempts.insert(attempt, state);
    }
    let mut report = c.report_of(worker);
    for status in &mut report.attempts {
        let percent = reports.iter().find(|(attempt, _)| *attempt == status.attempt).map_or(0, |reports| reports.1);
        *status = AttemptReport { progress: Progress::from_parts(percent * 100), phase: Phase::Map, ..status.clone() };
    }
    c.puppets[worker as usize].waiting = true;
    c.apply(&[Input::Report(Box::new(report))]);
}

pub(crate) fn uncommitted(n_maps: u32) -> JobSpec {
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

// docs/hadoop.md#speculative-execution: average − progress ≥ 0.2.
#[test]
fn hadoop_gives_a_task_behind_the_average_a_second_attempt() {
    // docs/hadoop.md#speculative-execution: averageProgress − progress ≥ 0.2, at least 60 s after the job came.
    let mut c = cluster("fifo", &[("speculation", "hadoop")]).workers(3, 1, 0);
    one_behind(&mut c, 65);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 1))], "the mean is (1 + 0.9 + 0.65) ÷ 3 = 0.85: 0.65 is just far enough");
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    assert_eq!(c.launches(), [], "it has two attempts already");
}

// docs/hadoop.md#speculative-execution: 0.2 and 60 s since the job was initialised.
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

#[rstest]
#[case("balanced-pools", &[("order", "submitted")])]
#[case("balanced-pools", &[("order", "submitted"), ("spare", "lend")])]
#[case("capacity", &[])]
#[case("fbq", &[])]
#[case("fifo", &[])]
#[case("fifo", &[("dialect", "1.2.1")])]
#[case("maxedf", &[])]
fn hadoop_speculates_for_a_job_before_it_asks_the_next_one(#[case] scheduler: &str, #[case] pairs: &[(&str, &str)]) {
    let mut c = cluster(scheduler, &[pairs, &[("speculation", "hadoop")]].concat()).workers(3, 1, 0);
    one_behind(&mut c, 0);
    c.submit(uncommitted(5));
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    assert_eq!(c.launches(), [(0, map(1, 2, 1)), (1, map(2, 0, 0))], "the second job's pending maps come later");
}

#[rstest]
#[case("balanced-pools", &[("order", "submitted")])]
#[case("balanced-pools", &[("order", "submitted"), ("spare", "lend")])]
#[case("capacity", &[])]
#[case("fair", &[])]
#[case("fair", &[("dialect", "0.20.2")])]
#[case("fbq", &[])]
#[case("fifo", &[])]
#[case("fifo", &[("dialect", "1.2.1")])]
#[case("maxedf", &[])]
fn late_speculates_only_where_nothing_pending_could_be_given(#[case] scheduler: &str, #[case] pairs: &[(&str, &str)]) {
    let late = [("speculation", "late"), ("speculation.cap", "1")];
    let mut c = cluster(scheduler, &[pairs, &late].concat()).workers(5, 1, 0);
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
    assert_eq!(c.launches(), [], "one speculative attempt runs, which is the cap");
}

// docs/hadoop.md#speculative-execution, paper LATE: SlowNodeThreshold at the 25th percentile.
#[test]
fn late_starts_no_second_attempt_on_a_slow_worker() {
    // docs/hadoop.md#speculative-execution, paper LATE: SlowNodeThreshold, the 25th percentile of progress.
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
fn a_pool_gets_its_slots_back_from_a_job_that_is_over_before_its_last_attempts_end_is_reported() {
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
    // Its only other attempt is over at once, and the job with it, before the end of this one is reported.
    c.report(2, &[(map(1, 2, 0), Failed)]);
    assert_eq!(c.job_state(JobId(1)), JobState::Failed);
    c.report(0, &[(map(1, 2, 1), Killed)]);
    c.submit(in_pool());
    (0..3).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches().len(), 3, "all of the pool's slots");
}

#[test]
fn a_pools_job_gets_second_attempts_before_the_next_ones_pending_tasks_within_its_pool_only() {
    let pools = [("pools", "p:3+0,q:1+0"), ("order", "submitted"), ("speculation", "hadoop")];
    let mut c = cluster("balanced-pools", &pools).workers(4, 1, 0);
    let of = |queue: &str, n_maps| JobSpec { queue: queue.into(), ..uncommitted(n_maps) };
    c.submit(of("p", 3));
    (0..3).for_each(|worker| c.beat(worker));
    c.advance(61_000);
    progress(&mut c, 1, &[(map(1, 1, 0), 90)]);
    progress(&mut c, 2, &[(map(1, 2, 0), 90)]);
    c.launches();
    progress(&mut c, 3, &[]);
    assert_eq!(c.launches(), [], "its pool's slots are taken");
    c.submit(of("p", 1));
    c.submit(of("q", 1));
    progress(&mut c, 2, &[(map(1, 2, 0), 100)]);
    assert_eq!(c.launches(), [(2, map(3, 0, 0))], "the pool of which a smaller part is taken");
    c.beat(3);
    assert_eq!(c.launches(), [(3, map(1, 0, 1))]);
}

// simmr, MinEDF: a job gets the fewest slots that meet its deadline.
#[rstest]
#[case("false", None)]
#[case("true", Some((2, map(1, 1, 1))))]
fn second_attempts_count_towards_a_jobs_limit(#[case] spare: &str, #[case] beyond: Option<(u32, AttemptId)>) {
    let mut c = cluster("minedf", &[("speculation", "hadoop"), ("spare", spare)]).workers(3, 1, 0);
    let mut spec = uncommitted(2);
    let minute = PhaseTimes::even(Span::from_secs(60));
    spec.profile = Some(Box::new(JobProfile { map: minute, ..JobProfile::default() }));
    spec.conf.deadline = Some(Span::from_secs(80));
    c.submit(spec);
    (0..3).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches(), [(0, map(1, 0, 0)), (1, map(1, 1, 0))]);
    c.advance(61_000);
    progress(&mut c, 0, &[(map(1, 0, 0), 90)]);
    c.beat(2);
    assert_eq!(c.launches(), Vec::from_iter(beyond), "two slots are enough");
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    let within = beyond.is_none().then_some((0, map(1, 1, 1)));
    assert_eq!(c.launches(), Vec::from_iter(within), "one of its slots is free");
}
