//! How often workers report.
//!
//! The rules of Hadoop 0.20.2 and 1.2.1 grow with the cluster (`docs/hadoop.md#heartbeats`). The adaptive rule
//! follows the wish of Load-Aware ch. 5 (dynamic adjustment of the heartbeat interval, since jobs of a few
//! minutes lose a large part of their time waiting for heartbeats): an idle cluster reports rarely, a busy
//! one about twice for each task that ends on a worker, one where small jobs wait as often as is allowed.

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};
use crate::tracker::HeartbeatRule;

/// A job with at most so many tasks is small: it should not wait for heartbeats.
pub(super) const SMALL_JOB_TASKS: u32 = 20;
/// Length of one window of counting, in microseconds.
const WINDOW_US: u64 = 10_000_000;

/// How often tasks end, by counting in two windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pace {
    window: u64,
    current: u64,
    previous: u64,
}

impl Pace {
    fn turn(&mut self, now: Time) {
        let window = now.as_us() / WINDOW_US;
        if window == self.window {
            return;
        }
        self.previous = if window == self.window + 1 { self.current } else { 0 };
        (self.window, self.current) = (window, 0);
    }

    /// Whether it is one of some time until now.
    pub(super) fn check(&self, now: Time) -> bool {
        let most = u64::from(u32::MAX);
        self.window <= now.as_us() / WINDOW_US && self.current <= most && self.previous <= most
    }

    /// Notes that an attempt ended.
    pub(super) fn ended(&mut self, now: Time) {
        self.turn(now);
        self.current += 1;
    }

    /// Attempts that ended in the last window's length: all of the current window and a share of the previous.
    fn ends(&mut self, now: Time) -> u64 {
        self.turn(now);
        let left = WINDOW_US - now.as_us() % WINDOW_US;
        self.current + self.previous * left / WINDOW_US
    }
}

/// The interval in milliseconds, at least 1.
///
/// `workers` are those not lost; `small_waiting` says whether a small job has tasks that could start.
pub(super) fn interval_ms(rule: &HeartbeatRule, workers: u32, small_waiting: bool, pace: &mut Pace, now: Time) -> u32 {
    let workers = u64::from(workers);
    let by_rate = |per_second: u32| 1_000 * workers / u64::from(per_second.max(1));
    let ms = match *rule {
        HeartbeatRule::Hadoop0202 => (1_000 * workers.div_ceil(100)).max(3_000),
        HeartbeatRule::Hadoop121 { heartbeats_in_second } => by_rate(heartbeats_in_second).max(300),
        HeartbeatRule::Fixed { interval_ms } => u64::from(interval_ms),
        HeartbeatRule::Adaptive { min_ms, max_ms, heartbeats_in_second } => {
            let min = u64::from(min_ms).max(by_rate(heartbeats_in_second));
            let max = u64::from(max_ms).max(min);
            let ends = pace.ends(now);
            let between_ends = (WINDOW_US / 1_000 * workers).checked_div(2 * ends).unwrap_or(max);
            if small_waiting { min } else { between_ends.clamp(min, max) }
        }
    };
    ms.clamp(1, u64::from(u32::MAX)) as u32
}

/// The longest interval that the rule names for so many workers, in milliseconds.
pub(super) fn longest_ms(rule: &HeartbeatRule, workers: u32) -> u64 {
    // Only the adaptive rule looks at more than the workers, and its longest is that of a cluster at rest.
    interval_ms(rule, workers, false, &mut Pace::default(), Time::ZERO).into()
}

/// The same as a span.
pub(super) fn span(ms: u32) -> Span {
    Span::from_ms(u64::from(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rule: &HeartbeatRule, workers: u32) -> u32 {
        interval_ms(rule, workers, false, &mut Pace::default(), Time::ZERO)
    }

    #[test]
    fn hadoop_0_20_2_adds_a_second_per_hundred_workers_beyond_three_hundred() {
        let rule = HeartbeatRule::Hadoop0202;
        assert_eq!([1, 300, 301, 1_000].map(|n| at(&rule, n)), [3_000, 3_000, 4_000, 10_000]);
    }

    #[test]
    fn hadoop_1_2_1_takes_a_hundred_heartbeats_a_second() {
        let rule = HeartbeatRule::Hadoop121 { heartbeats_in_second: 100 };
        assert_eq!([1, 30, 31, 1_000].map(|n| at(&rule, n)), [300, 300, 310, 10_000]);
    }

    #[test]
    fn the_longest_interval_is_that_of_a_cluster_at_rest() {
        let adaptive = HeartbeatRule::Adaptive { min_ms: 100, max_ms: 10_000, heartbeats_in_second: 100 };
        let hadoop = HeartbeatRule::Hadoop121 { heartbeats_in_second: 100 };
        assert_eq!([4, 3_000].map(|n| longest_ms(&adaptive, n)), [10_000, 30_000]);
        assert_eq!([4, 3_000].map(|n| longest_ms(&hadoop, n)), [300, 30_000]);
    }

    #[test]
    fn adaptive_is_long_when_nothing_moves_and_short_when_tasks_end_often_or_small_jobs_wait() {
        let rule = HeartbeatRule::Adaptive { min_ms: 100, max_ms: 10_000, heartbeats_in_second: 100 };
        let mut pace = Pace::default();
        let now = Time::from_ms(5_000);
        assert_eq!(interval_ms(&rule, 4, false, &mut pace, now), 10_000);
        assert_eq!(interval_ms(&rule, 4, true, &mut pace, now), 100);
        for _ in 0..40 {
            pace.ended(now);
        }
        assert_eq!(interval_ms(&rule, 4, false, &mut pace, now), 500, "an end a second on each worker");
        assert_eq!(interval_ms(&rule, 4, false, &mut pace, Time::from_ms(60_000)), 10_000, "forgotten later");
    }
}
