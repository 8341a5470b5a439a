//! Holds the starts of tasks against the last forecast before each, in numbers that can be added up while a cluster runs.
//!
//! A start counts if it comes within [`WINDOW`] after the forecast; one that the forecast did not tell counts as not predicted.
//! Source: §III-B, where a map counts only if it ran where it was predicted to.

use std::collections::BTreeMap;

use super::forecast::{Forecast, TaskStart};
use super::score::{StartError, start_error};
use super::watch::POLICIES;
use howdah_core::job::{AttemptId, TaskId, WorkerId};
use howdah_core::time::{Span, Time};

/// So long after a forecast its starts are judged by it.
const WINDOW: Span = Span::from_secs(30);
/// An error up to this is a good one.
const NEAR: Span = Span::from_secs(2);

/// Starts that came, under one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartScore {
    /// All of them.
    pub starts: u64,
    /// Those that the forecast told, wherever they ran.
    pub predicted: u64,
    /// Maps among these that ran on another worker.
    pub elsewhere: u64,
    /// Those that came within 2 s of the predicted time, maps where they were predicted to run.
    pub near: u64,
    /// By how much those that were told were off, all together.
    pub error: Span,
}

impl StartScore {
    fn add(&mut self, error: StartError) {
        self.starts += 1;
        self.predicted += u64::from(error.by.is_some());
        self.elsewhere += u64::from(error.elsewhere);
        self.near += u64::from(error.is_within(NEAR));
        self.error = self.error + error.by.unwrap_or(Span::ZERO);
    }
}

/// What the last forecast told.
#[derive(Clone, Debug)]
struct Told {
    policy: String,
    at: Time,
    /// What starts after this was not asked for, or does not count any more.
    until: Time,
    starts: BTreeMap<TaskId, TaskStart>,
}

/// Holds starts against forecasts.
#[derive(Clone, Debug, Default)]
pub struct StartWatch {
    told: Option<Told>,
    scores: BTreeMap<String, StartScore>,
}

impl StartWatch {
    /// A forecast of the present course was made, of which `most` starts were asked for: none tells nothing.
    pub fn predicted(&mut self, forecast: &Forecast, most: usize) {
        if most == 0 {
            return;
        }
        let end = (forecast.at + WINDOW).min(forecast.until);
        // A list that is full goes on somewhere beyond its end.
        let last = forecast.starts.last().filter(|_| forecast.starts.len() >= most);
        let until = last.map_or(end, |last| end.min(last.at));
        let soon = forecast.starts.iter().rev().map(|start| (start.attempt.task(), *start));
        self.told = Some(Told { policy: forecast.scheduler.clone(), at: forecast.at, until, starts: soon.collect() });
    }

    /// An attempt was launched.
    pub fn started(&mut self, attempt: AttemptId, at: Time, worker: WorkerId) {
        let Some(told) = self.told.as_ref().filter(|told| told.at < at && at <= told.until) else { return };
        if self.scores.contains_key(&told.policy) || self.scores.len() < POLICIES {
            let error = start_error(told.starts.get(&attempt.task()), at, attempt, worker);
            self.scores.entry(told.policy.clone()).or_default().add(error);
        }
    }

    /// How good the forecasts of the starts that came were, by policy.
    pub fn scores(&self) -> &BTreeMap<String, StartScore> {
        &self.scores
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::{JobId, TaskKind};

    use super::*;

    fn attempt(kind: TaskKind, index: u32) -> AttemptId {
        TaskId { job: JobId(1), kind, index }.attempt(0)
    }

    /// At 100 s, of tasks that start so many seconds later, on worker 0.
    fn told(starts: &[(TaskKind, u32, u64)]) -> Forecast {
        let at = Time::from_ms(100_000);
        let starts = starts.iter().map(|&(kind, index, after)| TaskStart {
            attempt: attempt(kind, index),
            at: at + Span::from_secs(after),
            worker: WorkerId(0),
        });
        Forecast {
            at,
            until: Time::from_ms(3_700_000),
            scheduler: "fifo".to_owned(),
            jobs: Vec::new(),
            starts: starts.collect(),
            events: 0,
            running: Vec::new(),
        }
    }

    #[test]
    fn a_start_is_near_if_it_comes_in_time_and_a_map_where_it_was_told() {
        let mut watch = StartWatch::default();
        let (map, reduce) = (TaskKind::Map, TaskKind::Reduce);
        watch.predicted(&told(&[(map, 0, 1), (map, 1, 1), (reduce, 0, 2), (map, 2, 5)]), 100);
        for (attempt, s, worker) in [
            (attempt(map, 0), 102, 0),
            (attempt(map, 1), 102, 1),
            (attempt(reduce, 0), 102, 1),
            (attempt(map, 2), 109, 0),
            (attempt(map, 9), 110, 0),
        ] {
            watch.started(attempt, Time::from_ms(s * 1_000), WorkerId(worker));
        }
        let expected = StartScore { starts: 5, predicted: 4, elsewhere: 1, near: 2, error: Span::from_secs(6) };
        assert_eq!(watch.scores()["fifo"], expected);
    }

    #[test]
    fn what_no_forecast_could_tell_is_not_judged() {
        let mut watch = StartWatch::default();
        let start =
            |watch: &mut StartWatch, ms| watch.started(attempt(TaskKind::Map, 0), Time::from_ms(ms), WorkerId(0));
        start(&mut watch, 1_000);
        watch.predicted(&told(&[]), 0);
        start(&mut watch, 101_000);
        assert!(watch.scores().is_empty(), "there was none, or none was asked for starts");
        let full = told(&[(TaskKind::Map, 0, 1), (TaskKind::Map, 1, 3)]);
        watch.predicted(&full, 2);
        [100_000, 103_001, 131_000].into_iter().for_each(|ms| start(&mut watch, ms));
        assert!(watch.scores().is_empty(), "it was of before, or the list was full");
        watch.predicted(&full, 3);
        [103_001, 130_000, 130_001].into_iter().for_each(|ms| start(&mut watch, ms));
        assert_eq!(watch.scores()["fifo"].starts, 2);
    }
}
