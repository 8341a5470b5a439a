//! The Fair scheduler of Hadoop 1.2.1, rule by rule.
//!
//! Sources: docs/hadoop.md#allocation-files (allocation file, keys) and docs/hadoop.md#fair (rules), unless a test
//! names another.

use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{AttemptId, JobId, JobSpec, Priority, SplitHosts, TaskKind, WorkerId};
use howdah_core::schedulers::{QueueView, Scheduler, by_name};
use howdah_core::time::Span;
use howdah_core::tracker::{ClusterConfig, Effect, HeartbeatRule, Input, SchedulerChoice};
use rstest::rstest;

use crate::kit::*;
use crate::play::{in_slots, on, params, replay};

pub(crate) fn fair(pairs: &[(&str, &str)]) -> Box<dyn Scheduler> {
    by_name("fair", &params(pairs)).unwrap_or_else(|error| panic!("{error}"))
}

/// One worker with so many slots under the policy.
pub(crate) fn one_worker(pairs: &[(&str, &str)], maps: u16, reduces: u16) -> Cluster {
    Cluster::made(|_| {}, fair(pairs)).workers(1, maps, reduces)
}

pub(crate) fn of(user: &str, maps: u32, reduces: u32) -> JobSpec {
    JobSpec { user: user.into(), ..job_with(maps, reduces, |conf| conf.commits_output = false) }
}

/// Running attempts of each job, maps or reduces.
pub(crate) fn running(c: &Cluster, kind: TaskKind) -> Vec<u32> {
    c.state().jobs().map(|job| job.tasks(kind).n_attempts()).collect()
}

pub(crate) fn maps(c: &Cluster) -> Vec<u32> {
    running(c, TaskKind::Map)
}

/// Ends an attempt on a worker and has its heartbeat.
pub(crate) fn end(c: &mut Cluster, worker: u32, attempt: AttemptId) {
    c.report(worker, &[(attempt, Succeeded)]);
}

// BalancedPools §3.1, Figure 5: two equal jobs of (10, 10) on 30 + 30 slots take 30 under FIFO and 40 under Fair.
#[rstest]
#[case::fifo("fifo", "", 30)]
#[case::fair("fair", "1.2.1", 40)]
#[case::naive("fair", "naive", 40)]
fn two_equal_jobs_take_longer_under_fair_than_under_fifo(
    #[case] scheduler: &str,
    #[case] dialect: &str,
    #[case] expected: u64,
) {
    let job = |user: &str| JobTemplate {
        n_maps: 30,
        n_reduces: 30,
        map_ms: vec![10_000],
        reduce_ms: vec![10_000],
        user: user.to_owned(),
        ..JobTemplate::default()
    };
    let mut options = in_slots(scheduler, &[], (30, 30));
    if !dialect.is_empty() {
        options.scheduler_params = params(&[("dialect", dialect)]);
    }
    assert_eq!(replay(vec![job("ann"), job("bob")], &options).makespan, Span::from_secs(expected));
}

// docs/hadoop.md#fair: pools are sorted before jobs, by running/weight.
#[test]
fn pools_share_alike_whatever_their_number_of_jobs() {
    let mut c = one_worker(&[], 8, 0);
    for user in ["ann", "ann", "ann", "bob"] {
        c.submit(of(user, 50, 0));
    }
    c.beat(0);
    let ran = maps(&c);
    assert_eq!((ran[..3].iter().sum::<u32>(), ran[3]), (4, 4));
    assert_eq!(ran[..3], [2, 1, 1], "within a pool the jobs share alike, the oldest first");
}

// docs/hadoop.md#fair: pool = `mapred.fairscheduler.pool`, else the property that poolnameproperty names
// (docs/hadoop.md#allocation-files).
#[rstest]
#[case::user(&[], [4, 0, 4, 0])]
#[case::queue(&[("poolnameproperty", "mapred.job.queue.name")], [4, 4, 0, 0])]
#[case::pool_only(&[("mapred.fairscheduler.poolnameproperty", "mapred.fairscheduler.pool")], [8, 0, 0, 0])]
fn a_job_is_in_the_pool_of_its_property(#[case] pairs: &[(&str, &str)], #[case] expected: [u32; 4]) {
    // In FIFO pools the first job of each pool takes all that the pool gets.
    let mut c = one_worker(&[pairs, &[("allocations", "defaultPoolSchedulingMode = \"fifo\"")]].concat(), 8, 0);
    for (user, queue) in [("ann", "q1"), ("ann", "q2"), ("bob", "q1"), ("bob", "q2")] {
        c.submit(JobSpec { queue: queue.into(), ..of(user, 50, 0) });
    }
    c.beat(0);
    assert_eq!(maps(&c), expected);
}

// docs/hadoop.md#allocation-files: poolnameproperty is any property; whoever accepts a job hands its value over, as the
// core keeps none.
#[test]
fn another_property_is_asked_for_and_its_value_is_the_pool() {
    for dialect in ["1.2.1", "0.20.2"] {
        let asked = |pairs: &[(&str, &str)]| {
            let policy = fair(&[pairs, &[("dialect", dialect)]].concat());
            (policy.queues().pool_property().map(str::to_owned), policy.capabilities().reads_queues)
        };
        assert_eq!(asked(&[("poolnameproperty", " group.name ")]), (Some("group.name".to_owned()), false));
        assert_eq!(asked(&[("poolnameproperty", "mapreduce.job.queuename")]), (None, true));
        assert_eq!(asked(&[]), (None, false));
    }
    let mut c = one_worker(&[("poolnameproperty", "group.name")], 8, 0);
    for (user, group) in [("ann", Some("red")), ("bob", Some("red")), ("cat", None), ("dan", None)] {
        let mut spec = of(user, 50, 0);
        spec.conf.pool = group.map(str::to_owned);
        c.submit(spec);
    }
    c.beat(0);
    assert_eq!(maps(&c), [2, 2, 2, 2], "two pools: red and default");
    let own = c.tracker.scheduler().queues().list(c.tracker.state());
    assert_eq!(
        own.iter().map(|pool| (pool.name.as_str(), pool.jobs)).collect::<Vec<_>>(),
        [("default", 2), ("red", 2)]
    );
}

// docs/hadoop.md#fair: `mapred.fairscheduler.pool` goes before the property.
#[test]
fn a_job_that_names_its_pool_is_in_that_one() {
    let mut c = one_worker(&[("allocations", "[pool.research]\nweight = 3.0")], 8, 0);
    c.submit(of("ann", 50, 0));
    let mut spec = of("ann", 50, 0);
    spec.conf.pool = Some("research".to_owned());
    c.submit(spec);
    c.beat(0);
    assert_eq!(maps(&c), [2, 6]);
}

// docs/hadoop.md#fair: running/weight; docs/hadoop.md#allocation-files: `weight` of a pool, 1.0 unless given.
#[test]
fn weights_divide_the_slots() {
    let mut c = one_worker(&[("allocations", "[pool.ann]\nweight = 3.0\n[pool.bob]\nweight = 0.5")], 9, 0);
    for user in ["ann", "bob", "cat"] {
        c.submit(of(user, 50, 0));
    }
    c.beat(0);
    assert_eq!(maps(&c), [6, 1, 2]);
}

// docs/hadoop.md#fair: below-min-share first, by running/min(minShare, demand).
#[test]
fn minimum_shares_are_filled_first_and_only_as_far_as_they_are_wanted() {
    let text = "<allocations><pool name=\"bob\"><minMaps>6</minMaps></pool><pool name=\"cat\"><minMaps>9</minMaps></pool></allocations>";
    let mut c = one_worker(&[("allocations", text)], 10, 0);
    for (user, maps) in [("ann", 50), ("bob", 50), ("cat", 1)] {
        c.submit(of(user, maps, 0));
    }
    c.beat(0);
    assert_eq!(maps(&c), [3, 6, 1]);
}

// docs/hadoop.md#fair: demand is capped at maxMaps and maxReduces.
#[test]
fn a_pool_never_has_more_than_its_maximum_though_slots_are_free() {
    let mut c = one_worker(&[("allocations", "[pool.ann]\nmaxMaps = 3\nmaxReduces = 0")], 10, 2);
    let first = c.submit(of("ann", 50, 5));
    c.beat(0);
    assert_eq!(maps(&c), [3]);
    assert_eq!(c.tracker.explain(first).to_string(), "Its pool `ann` has the 3 map slots that it may have.");
    for (index, next) in [(0, 3), (1, 4), (2, 5)] {
        end(&mut c, 0, map(1, index, 0));
        assert!(c.launches().contains(&(0, map(1, next, 0))), "the slot goes on to the pool's next map");
    }
    assert_eq!(running(&c, TaskKind::Reduce), [0], "slow start was reached, but the pool may have no reduce");
}

// docs/hadoop.md#fair: jobs sorted FIFO; user and pool running-job limits. The next one may run from the next update on
// (500 ms).
#[rstest]
#[case::of_a_user(
    "userMaxJobsDefault = 9\n[user.ann]\nmaxRunningJobs = 1",
    "User `ann` runs 1 job, as many as allowed;"
)]
#[case::of_users("userMaxJobsDefault = 1", "User `ann` runs 1 job, as many as allowed;")]
#[case::of_a_pool("[pool.ann]\nmaxRunningJobs = 1", "Its pool `ann` runs 1 job, as many as it may;")]
#[case::of_pools("poolMaxJobsDefault = 1", "Its pool `ann` runs 1 job, as many as it may;")]
fn only_so_many_jobs_run_at_a_time(#[case] limits: &str, #[case] why: &str) {
    let mut c = one_worker(&[("allocations", limits)], 4, 0).parking();
    c.submit(of("ann", 2, 0));
    let second = c.submit(of("ann", 2, 0));
    c.submit(of("bob", 1, 0));
    c.beat(0);
    assert_eq!(maps(&c), [2, 0, 1]);
    let said = c.tracker.explain(second).to_string();
    assert_eq!(said, format!("{why} it waits for one of them to end."));
    c.advance(1);
    c.report(0, &[(map(1, 0, 0), Succeeded), (map(1, 1, 0), Succeeded)]);
    c.launches();
    c.beat(0);
    c.apply(&[Input::JobCommitted { job: JobId(1), ok: true }]);
    assert_eq!(maps(&c), [0, 1]);
    c.advance(498);
    assert_eq!(maps(&c), [0, 1]);
    c.advance(1);
    assert_eq!(maps(&c), [2, 1], "the update lets it run and wakes the worker");
}

// docs/hadoop.md#allocation-files: allow.undeclared.pools.
#[test]
fn an_undeclared_pool_gets_nothing_where_such_pools_are_not_allowed() {
    let pairs = [("allow.undeclared.pools", "false"), ("allocations", "[pool.ann]\n")];
    let refused = "pool `bob` is not in the allocation file, and `allow.undeclared.pools` is false";
    assert_eq!(fair(&pairs).queues().accepts(&of("bob", 1, 0)), Err(refused.to_owned()));
    assert_eq!(fair(&pairs).queues().accepts(&of("ann", 1, 0)), Ok(()));
    let mut c = one_worker(&pairs, 4, 0);
    c.submit(of("ann", 1, 0));
    let bob = c.submit(of("bob", 1, 0));
    c.beat(0);
    assert_eq!(maps(&c), [1, 0]);
    assert!(
        c.tracker.explain(bob).to_string().contains("Its pool `bob` may run no jobs: it is not in the allocation file")
    );
}

// docs/hadoop.md#allocation-files: schedulingMode fifo.
#[test]
fn a_fifo_pool_serves_its_jobs_by_priority_and_time() {
    let mut c = one_worker(&[("allocations", "[pool.ann]\nschedulingMode = \"fifo\"")], 5, 0);
    c.submit(of("ann", 3, 0));
    c.submit(of("ann", 50, 0));
    let urgent = c.submit(of("ann", 1, 0));
    c.apply(&[Input::SetPriority { job: urgent, priority: Priority::High }]);
    let last = c.submit(of("ann", 50, 0));
    c.beat(0);
    assert_eq!(maps(&c), [3, 1, 1, 0]);
    let said = c.tracker.explain(last).to_string();
    assert_eq!(said, "It is behind job 2, which still has maps waiting.");
}

// docs/hadoop.md#fair: job weight = priority 4, 2, 1, 0.5, 0.25.
#[test]
fn priorities_are_weights_within_a_pool() {
    let mut c = one_worker(&[], 62, 0);
    for priority in Priority::ALL {
        c.submit(JobSpec { priority, ..of("ann", 100, 0) });
    }
    c.beat(0);
    assert_eq!(maps(&c), [32, 16, 8, 4, 2], "4 : 2 : 1 : 1/2 : 1/4");
}

// docs/hadoop.md#fair: times log2(1 + demand) if sizebasedweight.
#[test]
fn larger_jobs_weigh_more_if_size_counts() {
    let mut c = one_worker(&[("sizebasedweight", "true")], 20, 0);
    c.submit(of("ann", 7, 0));
    c.submit(of("ann", 127, 0));
    c.beat(0);
    assert_eq!(maps(&c), [6, 14], "log2(8) = 3 to log2(128) = 7");
}

// docs/hadoop.md#fair: NewJobWeightBooster, × 3 for 5 minutes.
#[test]
fn a_new_job_weighs_three_times_as_much_for_five_minutes() {
    let mut c = one_worker(&[("weightadjuster", "org.apache.hadoop.mapred.NewJobWeightBooster")], 8, 0);
    c.submit(of("ann", 100, 0));
    c.advance(300_000);
    c.submit(of("ann", 100, 0));
    c.beat(0);
    assert_eq!(maps(&c), [2, 6]);
    c.advance(299_999);
    c.report(0, &[(map(2, 0, 0), Succeeded), (map(2, 1, 0), Succeeded)]);
    assert_eq!(maps(&c), [2, 6], "still new");
    c.advance(1);
    c.report(0, &[(map(2, 2, 0), Succeeded), (map(2, 3, 0), Succeeded)]);
    assert_eq!(maps(&c), [4, 4]);
}

// docs/hadoop.md#fair: the type of which the worker runs fewer, maps on ties; one task at a time.
#[test]
fn maps_and_reduces_take_turns() {
    let mut c = one_worker(&[], 3, 3);
    c.submit(job_with(9, 9, |conf| conf.slowstart_ppm = 0));
    c.beat(0);
    let kinds: Vec<char> = c.launches().iter().map(|(_, attempt)| attempt.kind.letter()).collect();
    // The answer lists attempts in the order of their launch.
    assert_eq!(kinds, ['m', 'r', 'm', 'r', 'm', 'r']);
}

// docs/hadoop.md#allocation-files: assignmultiple and its caps; docs/hadoop.md#fair: a type stops at its cap.
#[rstest]
#[case::one_task(&[("assignmultiple", "false")], [1, 0])]
#[case::caps(&[("assignmultiple.maps", "2"), ("mapred.fairscheduler.assignmultiple.reduces", "1")], [2, 1])]
#[case::no_cap(&[], [3, 3])]
fn a_heartbeat_brings_as_many_tasks_as_the_caps_say(#[case] pairs: &[(&str, &str)], #[case] expected: [u32; 2]) {
    let mut c = one_worker(pairs, 3, 3);
    c.submit(job_with(9, 9, |conf| conf.slowstart_ppm = 0));
    c.beat(0);
    assert_eq!([maps(&c)[0], running(&c, TaskKind::Reduce)[0]], expected);
}

// docs/hadoop.md#fair: cap = ceil(trackerSlots · min(1, load.max.diff + runnable/totalSlots)).
#[rstest]
#[case::spread("0.0", 2)]
#[case::half("0.25", 3)]
#[case::clumped("1", 4)]
fn few_tasks_are_spread_over_the_workers(#[case] diff: &str, #[case] expected: u32) {
    let mut c = Cluster::made(|_| {}, fair(&[("load.max.diff", diff)])).workers(4, 4, 0);
    c.submit(of("ann", 8, 0));
    c.beat(0);
    assert_eq!(maps(&c), [expected]);
    (1..4).for_each(|worker| c.beat(worker));
    assert_eq!(maps(&c), [8], "all of them run in the end");
}

// docs/hadoop.md#fair and docs/hadoop.md#allocation-files: demands are as of the last update, every 500 ms.
#[rstest]
#[case::hadoops_interval(&[], 499)]
#[case::at_once(&[("update.interval", "0")], 0)]
fn reduces_that_reach_slow_start_wait_for_the_next_update(#[case] pairs: &[(&str, &str)], #[case] after_ms: u64) {
    let mut c = one_worker(pairs, 1, 1).parking();
    c.submit(job_with(2, 1, |conf| conf.slowstart_ppm = 500_000));
    c.beat(0);
    // The clock of updates started with the policy, at time zero: a change just after a tick waits longest.
    c.advance(1);
    end(&mut c, 0, map(1, 0, 0));
    if after_ms > 0 {
        assert_eq!(running(&c, TaskKind::Reduce), [0]);
        c.beat(0);
        c.advance(after_ms - 1);
        assert_eq!(running(&c, TaskKind::Reduce), [0]);
        c.advance(1);
    }
    assert_eq!(running(&c, TaskKind::Reduce), [1]);
}

/// Workers on hosts `h0` and `h1` in rack `/r`, and `h2` in rack `/s`, one map slot each.
fn three_places(pairs: &[(&str, &str)]) -> Cluster {
    let mut c = Cluster::made(|_| {}, fair(pairs)).parking();
    for (host, rack) in [("h0", "/r"), ("h1", "/r"), ("h2", "/s")] {
        c.add_worker(host, rack, 1, 0);
    }
    c.effects.clear();
    c
}

pub(crate) const DELAYS: [(&str, &str); 2] = [("locality.delay.node", "5000"), ("locality.delay.rack", "2000")];

// docs/hadoop.md#fair: NODE → RACK → ANY; node wait, then rack wait.
#[test]
fn a_job_waits_for_its_host_then_for_its_rack_then_takes_any_slot() {
    let mut c = three_places(&DELAYS);
    let id = c.submit(job_on(&[&["h0"], &["h0"], &["h0"]]));
    // Heartbeats are held back far longer than the waits here; only the policy's own deadlines wake the workers.
    c.beat(2);
    c.beat(1);
    assert_eq!(c.launches(), []);
    assert_eq!(
        c.tracker.explain(id).to_string(),
        "It waits up to 5.000 s more for a slot on a worker that holds its data (delay scheduling)."
    );
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))], "node-local at once");
    c.beat(1);
    c.beat(2);
    let launched = |c: &mut Cluster, ms: u64| {
        for _ in 0..ms / 100 {
            c.advance(100);
            c.beat(1);
            c.beat(2);
        }
        c.launches()
    };
    assert_eq!(launched(&mut c, 4_900), []);
    assert_eq!(launched(&mut c, 100), [(1, map(1, 1, 0))], "rack-local after 5 s");
    c.puppets[1].slots = [0, 0];
    let take_launches = |c: &mut Cluster| c.launches();
    for _ in 0..19 {
        c.advance(100);
        c.beat(2);
    }
    assert_eq!(take_launches(&mut c), []);
    c.advance(100);
    c.beat(2);
    assert_eq!(take_launches(&mut c), [(2, map(1, 2, 0))], "anywhere after 2 s more, as its last map was rack-local");
}

/// Two workers whose heartbeats may be held back for minutes.
fn silent(pairs: &[(&str, &str)]) -> Cluster {
    let patient = |config: &mut ClusterConfig| {
        config.heartbeat = HeartbeatRule::Fixed { interval_ms: 600_000 };
        config.max_parking_ms = 600_000;
    };
    let mut c = Cluster::made(patient, fair(pairs)).parking();
    c.add_worker("h0", "/r", 1, 0);
    c.add_worker("h1", "/r", 1, 0);
    c.effects.clear();
    c
}

// docs/hadoop.md#fair: the node wait; where nobody speaks, its end alone must bring the slot.
#[test]
fn a_wait_that_ends_wakes_the_parked_workers() {
    let mut c = silent(&DELAYS);
    c.beat(1);
    c.submit(job_on(&[&["h9"], &["h9"]]));
    assert_eq!(c.launches(), []);
    c.advance(6_999);
    assert_eq!(c.launches(), []);
    c.advance(1);
    assert_eq!(c.launches(), [(1, map(1, 0, 0))], "5 s for the host and 2 s for the rack");
}

// docs/hadoop.md#fair: no delay if the job has maps without a place.
#[test]
fn a_job_with_a_map_without_a_place_does_not_wait() {
    let mut c = three_places(&DELAYS);
    c.submit(job_on(&[&["h0"], &[]]));
    c.beat(2);
    assert_eq!(c.launches().len(), 1);
}

// docs/hadoop.md#fair: auto = min(15 s, 1.5 × heartbeat interval).
#[rstest]
#[case::of_hadoop_1_2_1(&[], 450)]
#[case::given(&[("heartbeat.interval", "3000")], 4_500)]
#[case::capped(&[("heartbeat.interval", "100000")], 15_000)]
fn waits_are_computed_from_the_heartbeat_interval(#[case] pairs: &[(&str, &str)], #[case] wait_ms: u64) {
    let mut c = silent(pairs);
    c.beat(1);
    c.submit(job_on(&[&["h0"]]));
    c.advance(wait_ms - 1);
    assert_eq!(c.launches(), []);
    c.advance(1);
    assert_eq!(c.launches().len(), 1, "rack-local after the node wait");
}

// docs/hadoop.md#fair: no delay if the pool is starved past its timeouts.
#[test]
fn a_starved_pool_does_not_wait_for_its_data() {
    let text = "[pool.ann]\nminMaps = 1\nminSharePreemptionTimeout = 1";
    let pairs = [DELAYS.as_slice(), &[("allocations", text)]].concat();
    let mut c = three_places(&pairs);
    c.submit(JobSpec { split_hosts: SplitHosts::new([["h0"]]), ..of("ann", 1, 0) });
    c.beat(2);
    assert_eq!(c.launches(), []);
    c.advance(1_600);
    c.beat(2);
    assert_eq!(c.launches(), [(2, map(1, 0, 0))], "after 1 s below its minimum share");
}

const PREEMPTING: &str = "
fairSharePreemptionTimeout = 60
[pool.bob]
minMaps = 3
minSharePreemptionTimeout = 10
";

/// Ann's job takes all ten slots, two a second; then Bob's comes.
pub(crate) fn crowded(extra: &[(&str, &str)], allocations: &str) -> Cluster {
    let pairs = [&[("preemption", "true"), ("allocations", allocations)], extra].concat();
    let mut c = Cluster::made(|_| {}, fair(&pairs)).workers(5, 2, 0);
    c.submit(of("ann", 20, 0));
    for worker in 0..5 {
        c.beat(worker);
        c.advance(1_000);
    }
    c.launches();
    assert_eq!(maps(&c), [10]);
    c
}

pub(crate) fn killed(c: &mut Cluster) -> Vec<u32> {
    // Directives leave with the answers.
    (0..5).for_each(|worker| c.beat(worker));
    let mut indexes = c.take(|effect| match *effect {
        Effect::Kill { attempt, .. } => Some(attempt.index),
        _ => None,
    });
    indexes.sort_unstable();
    indexes.dedup();
    indexes
}

// docs/hadoop.md#fair: min-share starved longer than its timeout; check every 15 s; youngest attempts first.
#[test]
fn a_pool_below_its_minimum_share_takes_the_youngest_attempts_of_others() {
    let mut c = crowded(&[], PREEMPTING);
    c.submit(of("bob", 10, 0));
    // Looks are half a second after each quarter of a minute: the next one is 500 ms from now, too early.
    c.advance(15_499);
    assert_eq!(killed(&mut c), [0; 0]);
    c.advance(1);
    assert_eq!(killed(&mut c), [7, 8, 9]);
    assert_eq!(c.tracker.take_notes(), ["preemption of 3 map attempts (3 for pool `bob`): 3 ordered to stop"]);
    c.advance(15_000);
    assert_eq!(killed(&mut c), [7, 8, 9], "those that are being stopped already count");
    for (worker, index) in [(3, 7), (4, 8), (4, 9)] {
        c.report(worker, &[(map(1, index, 0), Killed)]);
    }
    assert_eq!(maps(&c), [7, 3]);
    assert_eq!(c.state().job(JobId(1)).expect("it runs").tasks(TaskKind::Map).attempts_failed(), 0, "no failure");
}

// docs/hadoop.md#fair: fair starved: running < floor(min(fairShare/2, demand)); amount up to the full fair share.
#[test]
fn a_pool_below_half_its_fair_share_takes_up_to_its_fair_share_later() {
    let mut c = crowded(&[], "fairSharePreemptionTimeout = 20");
    c.submit(of("bob", 10, 0));
    c.advance(15_600);
    assert_eq!(killed(&mut c), [0; 0]);
    c.advance(15_000);
    assert_eq!(killed(&mut c), [5, 6, 7, 8, 9], "half of ten slots, and no pool falls below its own half");
}

// docs/hadoop.md#allocation-files: preemption.only.log.
#[test]
fn a_dry_run_only_notes_what_it_would_do() {
    let mut c = crowded(&[("preemption.only.log", "true")], PREEMPTING);
    c.submit(of("bob", 10, 0));
    c.advance(31_000);
    assert_eq!(killed(&mut c), [0; 0]);
    let note = "preemption of 3 map attempts (3 for pool `bob`): only noted";
    assert_eq!(c.tracker.take_notes(), [note, note], "after 15.5 s and after 30.5 s");
}

// docs/hadoop.md#fair: preemption is off, and timeouts are infinite, unless given.
#[test]
fn without_preemption_or_timeouts_nobody_is_stopped() {
    for (pairs, text) in [(&[("preemption", "false")][..], PREEMPTING), (&[], "[pool.bob]\nminMaps = 3")] {
        let mut c = crowded(pairs, text);
        c.submit(of("bob", 10, 0));
        c.advance(100_000);
        assert_eq!(killed(&mut c), [0; 0]);
    }
}

// docs/hadoop.md#fair: a bad file keeps the old allocation.
#[test]
fn a_reloaded_allocation_file_holds_at_once_and_a_bad_one_changes_nothing() {
    let good = params(&[("allocations", "[pool.ann]\nmaxMaps = 1"), ("allocation.file", "fair.toml")]);
    let mut policy = by_name("fair", &good).expect("it reads");
    let mut c = one_worker(&[("allocations", "[pool.ann]\nmaxMaps = 1")], 4, 0);
    c.submit(of("ann", 9, 0));
    c.beat(0);
    assert_eq!(maps(&c), [1]);
    policy.attach(c.state());
    let bad = params(&[("allocations", "[pool.ann]\nmaxMaps = 3\nminMaps = x"), ("allocation.file", "fair.toml")]);
    let error = policy.reconfigure(&bad, c.state()).expect_err("it does not read").to_string();
    assert!(error.starts_with("scheduler `fair`: allocation file `fair.toml`: line 3: expected TOML"), "{error}");
    assert!(policy.explain(JobId(1), c.state()).to_string().contains("has the 1 map slot that"), "the old one holds");
    let better = params(&[("allocations", "[pool.ann]\nmaxMaps = 3")]);
    assert_eq!(policy.reconfigure(&better, c.state()), Ok(true));
    c.tracker.switch_scheduler(policy);
    c.beat(0);
    assert_eq!(maps(&c), [3], "the job is still there and its pool may have more");
}

#[rstest]
#[case(&[("preemption", "maybe")], "parameter `preemption`: `maybe` is not true or false")]
#[case(&[("mapred.fairscheduler.update.interval", "-1")], "`-1` is not a number of milliseconds")]
#[case(&[("locality.delay", "-2")], "`-2` is not -1 or a number of milliseconds")]
#[case(&[("assignmultiple.maps", "0")], "`0` is not -1 or a number of tasks from 1")]
#[case(&[("poolnameproperty", " ")], "` ` is not the name of a job's property, such as user.name")]
#[case(&[("preemption", "true"), ("mapred.fairscheduler.preemption", "false")],
    "parameter `preemption`: `true` is not to be given beside `mapred.fairscheduler.preemption`, which is the same")]
#[case(&[("dialect", "1.0.4")], "parameter `dialect`: `1.0.4` is not 1.2.1 or 0.20.2 or naive")]
#[case(&[("load.max.diff", "2")], "`2` is not a share from 0 to 1")]
#[case(&[("weightadjuster", "Mine")], "`Mine` is not none, new-job or NewJobWeightBooster")]
#[case(&[("preemptions", "true")], "unknown parameter `preemptions`")]
#[case(&[("dialect", "0.20.2"), ("preemption", "true")], "unknown parameter `preemption`")]
#[case(&[("allocations", "<allocations>"), ("allocation.file", "f.xml")], "allocation file `f.xml`: line 1: not well-formed XML")]
fn a_wrong_parameter_is_named_with_what_was_expected(#[case] pairs: &[(&str, &str)], #[case] expected: &str) {
    let error = by_name("fair", &params(pairs)).err().expect("it is wrong").to_string();
    assert!(error.contains(expected), "{error}");
}

// docs/hadoop.md#allocation-files: an unknown element is a warning, not an error.
#[test]
fn doubts_about_the_allocation_file_are_reported_once() {
    let mut policy = fair(&[("allocations", "[pool.a]\nvcores = 3")]);
    assert_eq!(
        policy.take_notes(),
        ["allocation file `allocations`, line 2: unknown element `vcores` of pool `a`; it is ignored"]
    );
    assert_eq!(policy.take_notes(), [""; 0]);
}

// MR1 FairSchedulerServlet: `/scheduler` shows what each pool runs, its fair share and its weight.
#[test]
fn pools_are_listed_with_what_they_have_and_are_due() {
    let text = "[pool.bob]\nweight = 3.0\nminMaps = 1\nmaxMaps = 9\nmaxRunningJobs = 1";
    let mut c = one_worker(&[("allocations", text)], 8, 2);
    for user in ["cat", "bob", "bob"] {
        c.submit(of(user, 50, 1));
    }
    c.beat(0);
    let pools = c.tracker.scheduler().queues().list(c.state());
    let names: Vec<&str> = pools.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(names, ["bob", "cat"]);
    let bob = &pools[0];
    assert_eq!((bob.jobs, bob.held_jobs, bob.weight), (2, 1, 3.0));
    assert_eq!((bob.running, bob.demand, bob.min, bob.max), ([6, 0], [9, 0], [1, 0], [Some(9), None]));
    let rounded = |pool: &QueueView| (pool.share[0] * 100.0).round() / 100.0;
    assert_eq!((rounded(bob), rounded(&pools[1])), (6.0, 2.0));
}

// online-prediction §II-B: "naive fair scheduler as discussed in [9]": the job with the fewest running tasks goes
// first, local tasks before others, and nobody waits for a better slot.
#[test]
fn the_naive_one_serves_the_job_with_the_fewest_running_tasks_and_never_waits() {
    let policy = by_name("naive-fair", &params(&[])).expect("it exists");
    let mut c = Cluster::made(|_| {}, policy).workers(2, 6, 0);
    for user in ["ann", "ann", "bob"] {
        c.submit(JobSpec { priority: Priority::VeryHigh, ..of(user, 50, 0) });
    }
    c.apply(&[Input::SetPriority { job: JobId(1), priority: Priority::VeryLow }]);
    c.beat(0);
    assert_eq!(maps(&c), [2, 2, 2], "pools and priorities do not count");
    let local = c.submit(job_on(&[&["h0"], &["h1"], &["h0"]]));
    c.beat(1);
    assert_eq!(maps(&c), [3, 3, 3, 3], "the job that is furthest behind gets slots until it is level");
    let on_h1: Vec<u32> = c.running_on(1).iter().filter(|id| id.job == local).map(|id| id.index).collect();
    assert_eq!(on_h1, [0, 1, 2], "the local one of them first, then the others without a wait");
    let attempts = c.state().attempts_on(WorkerId(1)).filter(|a| a.id().job == local);
    let first = attempts.min_by_key(|a| a.id().index != 1).expect("it runs");
    assert_eq!(first.locality(), howdah_core::job::Locality::Node);
}

// docs/hadoop.md#fair, reload. A file that was read again while a pool had no jobs must not forget how the pool is
// made.
#[test]
fn a_pool_without_jobs_comes_back_after_the_file_was_read_again() {
    for dialect in ["1.2.1", "0.20.2", "naive"] {
        let mut c = one_worker(&[("dialect", dialect)], 2, 0);
        let gone = c.submit(of("ada", 1, 0));
        c.beat(0);
        end(&mut c, 0, map(gone.0, 0, 0));
        c.apply(&[Input::JobCommitted { job: gone, ok: true }]);
        let choice = SchedulerChoice { name: "fair".to_owned(), params: params(&[("dialect", dialect)]) };
        c.apply(&[Input::SetScheduler(Box::new(choice))]);
        c.effects.clear();
        let back = c.submit(of("ada", 1, 0));
        c.advance(1_000);
        c.beat(0);
        assert_eq!(c.launches(), [(0, map(back.0, 0, 0))], "{dialect}");
    }
}

// docs/hadoop.md#fair: a wait accrues only where the job was visited.
#[test]
fn a_job_waits_for_its_data_while_workers_without_a_free_map_slot_speak_at_the_same_instants() {
    let mut c = Cluster::made(|_| {}, fair(&[]));
    c.add_worker("h0", "/r0", 1, 0);
    c.add_worker("h1", "/r1", 0, 1);
    c.submit(on(&["h9"]));
    let mut started = 0;
    for second in 1..=20 {
        (0..2).for_each(|worker| c.beat(worker));
        if started == 0 && !c.launches().is_empty() {
            started = second;
        }
        c.advance(1_000);
    }
    // Two waits of 450 ms each, the second one from the first heartbeat on.
    assert_eq!(started, 2);
}
