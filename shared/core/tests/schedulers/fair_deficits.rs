//! The Fair scheduler of Hadoop 0.20.2, rule by rule (docs/hadoop.md#fair, "0.20.2").

use howdah_core::job::{JobId, Priority, TaskKind, WorkerId};
use howdah_core::tracker::Input;

use crate::fair::{end, maps, of, one_worker, running};
use crate::kit::*;

const OLD: (&str, &str) = ("dialect", "0.20.2");

fn old(pairs: &[(&str, &str)], maps: u16, reduces: u16) -> Cluster {
    one_worker(&[&[OLD], pairs].concat(), maps, reduces)
}

// docs/hadoop.md#allocation-files: assignmultiple is false by default; docs/hadoop.md#fair: then one task in total.
#[test]
fn a_heartbeat_brings_one_task() {
    let mut c = old(&[], 4, 4);
    c.submit(of("ann", 9, 9));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))]);
    c.beat(0);
    assert_eq!(maps(&c), [2]);
}

// docs/hadoop.md#fair: one map and one reduce at most.
#[test]
fn with_assignmultiple_it_brings_one_map_and_one_reduce() {
    let mut c = old(&[("assignmultiple", "true")], 4, 4);
    c.submit(job_with(4, 9, |conf| conf.slowstart_ppm = 0));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    c.advance(500);
    c.launches();
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 2, 0)), (0, reduce(1, 0, 0))]);
}

// docs/hadoop.md#tasks-and-attempts: its own rule, finished maps ≥ max(1, 0.05 · maps), whatever the job's slow start
// says.
#[test]
fn reduces_wait_for_one_map_and_for_a_twentieth_of_them() {
    let mut c = old(&[("assignmultiple", "true")], 30, 30);
    let id = c.submit(job_with(40, 1, |conf| conf.slowstart_ppm = 0));
    (0..3).for_each(|_| c.beat(0));
    assert_eq!(running(&c, TaskKind::Reduce), [0]);
    end(&mut c, 0, map(1, 0, 0));
    c.advance(500);
    c.beat(0);
    assert_eq!(running(&c, TaskKind::Reduce), [0], "one of forty is less than a twentieth");
    end(&mut c, 0, map(1, 1, 0));
    c.advance(500);
    c.beat(0);
    assert_eq!(running(&c, TaskKind::Reduce), [1]);
    assert!(c.state().job(id).is_some());
}

// docs/hadoop.md#tasks-and-attempts: finished ≥ max(1, 0.05·maps), which a job without maps could never meet.
// `Deviation:` here it may.
#[test]
fn a_job_without_maps_may_start_its_reduces() {
    let mut c = old(&[], 1, 1);
    c.submit(of("ann", 0, 1));
    c.beat(0);
    assert_eq!(running(&c, TaskKind::Reduce), [1]);
}

// docs/hadoop.md#fair: deficit += (fairShare − running) · Δt; the larger deficit goes first.
#[test]
fn the_job_that_ran_less_than_its_share_goes_first() {
    let mut c = old(&[], 4, 0);
    c.submit(of("ann", 50, 0));
    (0..4).for_each(|_| c.beat(0));
    c.advance(10_000);
    c.submit(of("bob", 50, 0));
    assert_eq!(maps(&c), [4, 0]);
    // For 5 s Bob is owed 2 slots and Ann has 2 too many: 10,000 slot-ms each way.
    c.advance(5_000);
    for index in 0..4 {
        end(&mut c, 0, map(1, index, 0));
    }
    assert_eq!(maps(&c), [0, 4], "deficits are as of the last update: no time has passed since");
    // With all four slots Bob's deficit falls by 2 a millisecond, and Ann's grows as soon as an update has seen that
    // hers ended: they are level after some 5 s.
    c.advance(6_000);
    end(&mut c, 0, map(2, 0, 0));
    assert_eq!(maps(&c), [1, 3], "now Ann is owed more");
}

// docs/hadoop.md#fair: needy (running < minSlots) first, whatever the deficits.
#[test]
fn a_job_below_its_minimum_share_goes_before_larger_deficits() {
    let mut c =
        old(&[("allocations", "<allocations><pool name=\"bob\"><minMaps>2</minMaps></pool></allocations>")], 3, 0);
    c.submit(of("ann", 50, 0));
    c.advance(60_000);
    c.submit(of("bob", 50, 0));
    (0..3).for_each(|_| c.beat(0));
    assert_eq!(maps(&c), [1, 2], "Bob's two first, then Ann with her minute of deficit");
}

// docs/hadoop.md#fair: the jobs of a pool share its minimum by weight, whole slots first.
#[test]
fn a_minimum_share_is_divided_among_the_jobs_of_the_pool() {
    let mut c = old(&[("allocations", "[pool.bob]\nminMaps = 3")], 4, 0);
    c.submit(of("ann", 50, 0));
    c.advance(60_000);
    for _ in 0..2 {
        c.submit(of("bob", 50, 0));
    }
    (0..4).for_each(|_| c.beat(0));
    assert_eq!(maps(&c), [1, 2, 1], "one slot each, and the third to one of two equals");
}

// docs/hadoop.md#fair: shares of 0.20.2: who has a larger minimum gets that, the others divide the rest; a pool's
// weight is that of its jobs that want something.
#[test]
fn fair_shares_follow_minima_and_the_weights_of_those_that_want_slots() {
    let shares = |c: &Cluster| -> Vec<f64> {
        let pools = c.tracker.scheduler().queues().list(c.state());
        pools.iter().map(|pool| (pool.share[0] * 1_000.0).round() / 1_000.0).collect()
    };
    let mut c = old(&[("allocations", "[pool.bob]\nminMaps = 6")], 8, 0);
    c.submit(of("ann", 50, 0));
    c.submit(of("bob", 50, 0));
    c.advance(500);
    c.beat(0);
    assert_eq!(shares(&c), [2.0, 6.0]);
    let mut c = old(&[], 8, 0);
    for (user, maps) in [("ann", 50), ("bob", 50), ("bob", 0)] {
        c.submit(of(user, maps, 1));
    }
    c.advance(500);
    c.beat(0);
    assert_eq!(shares(&c), [4.0, 4.0]);
}

// docs/hadoop.md#fair with docs/hadoop.md#allocation-files (weight): the jobs of a pool weigh together what the pool
// weighs.
#[test]
fn over_time_slots_are_divided_by_the_weights_of_pools() {
    let mut c = old(&[("allocations", "[pool.bob]\nweight = 3.0")], 8, 0);
    for user in ["ann", "bob", "bob"] {
        c.submit(of(user, 10_000, 0));
    }
    let mut held = [0u32; 3];
    for second in 0..600 {
        c.advance(1_000);
        let oldest = c.state().attempts_on(WorkerId(0)).min_by_key(|a| (a.started(), a.id())).map(|a| a.id());
        match oldest.filter(|_| second >= 8) {
            Some(oldest) => end(&mut c, 0, oldest),
            None => c.beat(0),
        }
        c.effects.clear();
        held.iter_mut().zip(maps(&c)).for_each(|(held, n)| *held += n);
    }
    let total: u32 = held.iter().sum();
    let parts = held.map(|n| f64::from(n) / f64::from(total));
    // Each of 600 seconds gives one slot; a deficit never grows beyond a few slots' lives of eight seconds.
    let close = |part: f64, expected: f64| (part - expected).abs() < 0.02;
    assert!(close(parts[0], 0.25) && close(parts[1], 0.375) && close(parts[2], 0.375), "{parts:?}");
}

// docs/hadoop.md#allocation-files: 0.20.2 knows maxRunningJobs of users and userMaxJobsDefault.
#[test]
fn user_limits_hold_here_too() {
    let mut c = old(&[("allocations", "userMaxJobsDefault = 1")], 2, 0);
    let first = c.submit(of("ann", 1, 0));
    let second = c.submit(of("ann", 1, 0));
    (0..2).for_each(|_| c.beat(0));
    assert_eq!(maps(&c), [1, 0]);
    assert!(c.tracker.explain(second).to_string().starts_with("User `ann` runs 1 job,"));
    end(&mut c, 0, map(1, 0, 0));
    c.apply(&[Input::JobCommitted { job: first, ok: true }]);
    c.advance(500);
    c.beat(0);
    assert_eq!(maps(&c), [1]);
}

// docs/hadoop.md#fair: weights are those of the last update, every 500 ms.
#[test]
fn a_change_of_priority_changes_the_weight_with_the_next_update() {
    let mut c = old(&[("load.max.diff", "1")], 100, 0);
    let ids = [c.submit(of("ann", 200, 0)), c.submit(of("ann", 200, 0))];
    c.apply(&[Input::SetPriority { job: ids[0], priority: Priority::VeryLow }]);
    c.advance(10_000);
    for _ in 0..50 {
        c.advance(10_000);
        c.beat(0);
    }
    let ran = maps(&c);
    assert!(ran[1] >= 3 * ran[0], "owed 4 : 1 while they run little: {ran:?}");
    assert_eq!(ids, [JobId(1), JobId(2)]);
}

/// Found by random loads: 0.20.2's own slow start wants a finished map, and there will be none.
#[test]
fn reduces_start_where_all_maps_failed_and_the_job_tolerates_it() {
    let mut c = old(&[], 1, 1);
    c.submit(job_with(1, 1, |conf| (conf.max_map_attempts, conf.max_map_failures_percent) = (1, 100)));
    c.beat(0);
    c.report(0, &[(map(1, 0, 0), Failed)]);
    c.advance(1_000);
    c.launches();
    c.beat(0);
    assert_eq!(c.launches(), [(0, reduce(1, 0, 0))]);
}
