//! The rule of Hadoop 0.21 (docs/hadoop.md#speculative-execution), with standard deviations computed by hand.

use crate::kit::*;
use crate::speculation::{cluster, progress, uncommitted};

const RULE: (&str, &str) = ("speculation", "hadoop-0.21");

/// Five workers, five maps; at 100 s one is done, three are at 50 % and the last one is at `at`. The first asks last.
fn at_100_s(more: &[(&str, &str)], at: u16) -> Vec<(u32, howdah_core::job::AttemptId)> {
    let mut c = cluster("fifo", &[&[RULE], more].concat()).workers(5, 1, 0);
    c.submit(uncommitted(5));
    (0..5).for_each(|worker| c.beat(worker));
    c.advance(100_000);
    for worker in 1..4 {
        progress(&mut c, worker, &[(map(1, worker, 0), 50)]);
    }
    progress(&mut c, 4, &[(map(1, 4, 0), at)]);
    c.launches();
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    c.launches()
}

// docs/hadoop.md#speculative-execution: mean(progressRate) − rate > 1.0·std.
#[test]
fn a_rate_more_than_one_standard_deviation_below_the_mean_is_slow() {
    // Rates for 100 s: 1, 0.5, 0.5, 0.5 and x. With x = 0.34 the mean is 0.568, the variance (1 + 0.75 + 0.1156) ÷ 5 −
    // 0.568² = 0.050496 and σ = 0.2247: 0.228 below. With x = 0.35: 0.57, σ = 0.2227, and only 0.22 below.
    assert_eq!(at_100_s(&[], 34), [(0, map(1, 4, 1))]);
    assert_eq!(at_100_s(&[], 35), []);
    let half = [("speculation.slow-task-deviations", "0.5")];
    // x = 0.42: the mean is 0.584, the variance 1.9264 ÷ 5 − 0.584² = 0.044224, σ ÷ 2 = 0.1051; 0.164 below.
    assert_eq!(at_100_s(&half, 42), [(0, map(1, 4, 1))]);
    assert_eq!(at_100_s(&[("speculation.age", "101s")], 34), [], "the attempt is 100 s old");
}

// docs/hadoop.md#speculative-execution: mean completion time on it − overall mean > 1.0·std.
/// Four workers: the first two finish their map after 10 s, the third after 40 s, the last is at 1 % after 100 s.
#[test]
fn a_worker_more_than_one_standard_deviation_slower_gets_none() {
    // The workers' means are 10, 10 and 40 s: mean 20 s, σ = √(1800 ÷ 3 − 400) = 14.1 s, and 40 − 20 is more.
    let play = |more: &[(&str, &str)]| {
        let mut c = cluster("fifo", &[&[RULE], more].concat()).workers(4, 1, 0);
        c.submit(uncommitted(4));
        (0..4).for_each(|worker| c.beat(worker));
        c.advance(10_000);
        progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
        progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
        c.advance(30_000);
        progress(&mut c, 2, &[(map(1, 2, 0), 100)]);
        c.advance(60_000);
        progress(&mut c, 3, &[(map(1, 3, 0), 1)]);
        c.launches();
        c.beat(2);
        let slow = c.launches();
        c.beat(0);
        (slow, c.launches())
    };
    assert_eq!(play(&[]), (vec![], vec![(0, map(1, 3, 1))]));
    // 20 s is within one and a half of them.
    let more = [("speculation.slow-node-deviations", "1.5")];
    assert_eq!(play(&more), (vec![(2, map(1, 3, 1))], vec![]));
}

// docs/hadoop.md#speculative-execution: pick the smallest rate/(1 − progress).
#[test]
fn the_smallest_rate_over_what_is_left_goes_first() {
    let mut c = cluster("fifo", &[RULE]).workers(6, 1, 0);
    c.submit(uncommitted(6));
    (0..6).for_each(|worker| c.beat(worker));
    c.advance(10_000);
    (0..3).for_each(|worker| progress(&mut c, worker, &[(map(1, worker, 0), 100)]));
    // The fourth, at 3 % after 110 s, is behind the fifth, at 2 % after as long, but for the time that both have left.
    c.advance(100_000);
    for (worker, percent) in [(3, 3), (4, 2), (5, 60)] {
        progress(&mut c, worker, &[(map(1, worker, 0), percent)]);
    }
    c.launches();
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 4, 1))], "0.02 ÷ 0.98 is less than 0.03 ÷ 0.97");
    c.beat(1);
    assert_eq!(c.launches(), [(1, map(1, 3, 1))]);
}

// docs/hadoop.md#speculative-execution: fewer than 10, or 1 % of slots, or 0.1 of the running ones.
/// Sixty workers; of 42 maps 30 take 10 s, and twelve are at 1 % after 100 s, all of them slow: rates 0.1 and 0.0001 to
/// the second, mean 0.0715, σ 0.0451.
#[test]
fn a_job_has_ten_second_attempts_or_a_tenth_of_its_running_tasks() {
    let play = |more: &[(&str, &str)], workers: u32| {
        let mut c = cluster("fifo", &[&[RULE], more].concat()).workers(workers, 1, 0);
        c.submit(uncommitted(42));
        (0..42).for_each(|worker| c.beat(worker));
        c.advance(10_000);
        (0..30).for_each(|worker| progress(&mut c, worker, &[(map(1, worker, 0), 100)]));
        c.advance(90_000);
        (30..42).for_each(|worker| progress(&mut c, worker, &[(map(1, worker, 0), 1)]));
        c.launches();
        (0..30).for_each(|worker| c.beat(worker));
        c.launches().len()
    };
    assert_eq!(play(&[], 60), 10);
    assert_eq!(play(&[("speculation.running-cap", "0.9")], 60), 11, "10 of 12 are below nine tenths, 11 are not");
    assert_eq!(play(&[], 1_100), 11, "10 are less than 1 % of 1,100 slots, 11 are not");
    assert_eq!(play(&[("speculation.cap", "3")], 60), 3, "the cap that all rules have holds as well");
}
