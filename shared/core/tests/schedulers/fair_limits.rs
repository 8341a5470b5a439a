//! How much the Fair scheduler of Hadoop 1.2.1 takes from others, and how long it waits for data. Source of each rule:
//! `docs/hadoop.md#fair`.

use crate::fair::{DELAYS, crowded, fair, killed, maps, of};
use crate::kit::*;

// docs/hadoop.md#fair: fair starved is running < floor(min(fairShare/2, demand)).
#[test]
fn a_pool_with_half_of_its_fair_share_takes_nothing() {
    let mut c = crowded(&[], "fairSharePreemptionTimeout = 20");
    c.submit(of("bob", 10, 0));
    c.report(0, &[(map(1, 0, 0), Succeeded), (map(1, 1, 0), Succeeded)]);
    assert_eq!(maps(&c), [8, 2]);
    c.advance(46_000);
    assert_eq!(killed(&mut c), [0; 0], "5 are its share, and 2 are half of it, rounded down");
}

// docs/hadoop.md#fair: amount = max(minDeficit, min(fairShare, demand) − running).
#[test]
fn a_pool_short_of_both_shares_takes_the_larger_lack() {
    let text = "fairSharePreemptionTimeout = 10\n[pool.bob]\nminMaps = 2\nminSharePreemptionTimeout = 10";
    let mut c = crowded(&[], text);
    c.submit(of("bob", 10, 0));
    c.advance(15_500);
    assert_eq!(killed(&mut c), [5, 6, 7, 8, 9]);
    assert_eq!(c.tracker.take_notes(), ["preemption of 5 map attempts (5 for pool `bob`): 5 ordered to stop"]);
}

// docs/hadoop.md#fair: "victims: youngest attempts of pools with running > fairShare, never below fair share".
#[test]
fn nobody_falls_below_the_fair_share_though_more_was_promised_than_there_is() {
    let text = "[pool.ann]\nminMaps = 6\n[pool.bob]\nminMaps = 8\nminSharePreemptionTimeout = 10";
    let mut c = crowded(&[], text);
    c.submit(of("bob", 10, 0));
    c.advance(15_500);
    assert_eq!(killed(&mut c), [6, 7, 8, 9], "Bob lacks 8, and 6 of 10 are Ann's");
    assert_eq!(c.tracker.take_notes(), ["preemption of 8 map attempts (8 for pool `bob`): 4 ordered to stop"]);
}

// docs/hadoop.md#fair: wait accrues only if the job launched no map in the last heartbeat.
#[test]
fn a_heartbeat_that_launched_a_map_begins_no_wait() {
    let mut c = Cluster::made(|_| {}, fair(&DELAYS));
    c.add_worker("h0", "/r", 2, 0);
    c.add_worker("h1", "/r", 1, 0);
    c.effects.clear();
    c.submit(job_on(&[&["h0"], &["h9"]]));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))], "the second slot stays free");
    c.advance(3_000);
    c.beat(1);
    for _ in 0..69 {
        c.advance(100);
        c.beat(1);
        assert_eq!(c.launches(), []);
    }
    c.advance(100);
    c.beat(1);
    assert_eq!(c.launches(), [(1, map(1, 1, 0))], "5 s and 2 s from the heartbeat that brought nothing");
}

// docs/hadoop.md#fair: auto = 1.5 × heartbeat interval, which in 1.2.1 (docs/hadoop.md#heartbeats) is max(300 ms, 1000
// · n / 100).
#[test]
fn on_a_large_cluster_the_waits_follow_its_heartbeats() {
    let mut c = Cluster::made(|_| {}, fair(&[])).workers(40, 1, 0);
    c.submit(job_on(&[&["h99"]]));
    c.beat(0);
    let mut waited_ms = 0;
    while c.launches().is_empty() && waited_ms < 5_000 {
        c.advance(50);
        c.beat(0);
        waited_ms += 50;
    }
    assert_eq!(waited_ms, 1_200, "600 ms for the host and as long for the rack");
}
