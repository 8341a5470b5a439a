//! Forecasts on a timer, and soon after jobs or workers came or went, for everybody who looks at jobs.
//!
//! Each round takes a fork on the core's thread, has the prediction thread simulate it, and puts every job's predicted end
//! into its row. **The rest after a round is at least 19 times what it took, 5 % of a core at most, and 499 times what the
//! fork took of the core's thread**, however large the cluster and however often it changes. Source: Wang et al., ICPADS 2013, §II-B and Table I.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use howdah_core::job::JobId;
use howdah_core::time::Time;
use howdah_planning::prediction::{ForecastOptions, JobForecast};
use howdah_proto::v1;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::answer::score_message;
use super::fork::Forked;
use super::message::{Ask, AskError, Coverage, ForecastAnswer};
use super::prefetch;
use super::switching::Switching;
use super::thread::PredictionHandle;
use crate::engine::{CoreError, CoreHandle, View};
use crate::policies;

/// Rest after a round, in times of its length.
const REST: u32 = 19;
/// And in times of what it took of the core's thread alone: 0.2 % of it at most, as heartbeats wait for a fork.
const FORK_REST: u32 = 499;
/// Least rest: what comes together is forecast together.
const LEAST_REST: Duration = Duration::from_millis(500);
/// How long a change waits for others.
const SETTLE: Duration = Duration::from_millis(100);

/// Starts that are told in each round: what workers read ahead, and what is scored.
const STARTS: usize = 2_000;

/// What rounds have cost, for metrics.
#[derive(Debug, Default)]
pub(crate) struct RoundCosts {
    /// Rounds that predicted something.
    pub(crate) rounds: AtomicU64,
    /// Time on the core's thread, all together.
    pub(crate) fork_us: AtomicU64,
    /// The longest of these.
    pub(crate) fork_max_us: AtomicU64,
    /// Time on the prediction thread, all together.
    pub(crate) simulated_us: AtomicU64,
    /// How well tasks had been predicted, at the last round.
    pub(crate) score: Mutex<v1::TaskTimeScore>,
    /// How many truths intervals had held, at the last round.
    pub(crate) coverage: Mutex<Coverage>,
}

/// What rounds need.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) core: CoreHandle,
    pub(crate) prediction: PredictionHandle,
    /// Between two.
    pub(crate) every: Duration,
    /// Jobs or workers came or went.
    pub(crate) changed: Arc<Notify>,
    pub(crate) costs: Arc<RoundCosts>,
    /// Who chooses the scheduler, if anybody does.
    pub(crate) switching: Option<Switching>,
}

/// A fork, if there is anything to tell. A policy that is a program of somebody's is not started many times in every round.
fn fork(view: &View<'_>) -> Option<Forked> {
    let wanted = view.tables.live_jobs() > 0 && view.tracker.scheduler().name() != policies::EXTERNAL;
    wanted.then(|| Forked::of(view))
}

impl Rounds {
    /// Goes on until the master stops.
    pub(crate) async fn run(mut self) {
        loop {
            let began = Instant::now();
            let Ok((fork, simulated)) = self.round().await else { return };
            let rest = rest_after(fork, simulated);
            let due = began + self.every.max(rest);
            tokio::time::sleep(rest).await;
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                () = self.changed.notified() => tokio::time::sleep(SETTLE).await,
            }
        }
    }

    /// One round, and what it took of the core's and the prediction's thread; fails when the master stops.
    async fn round(&mut self) -> Result<(Duration, Duration), ()> {
        if let Some(switching) = &self.switching {
            switching.score(&self.core).await;
        }
        let forked = match self.core.ask(fork).await {
            Ok(Some(forked)) => forked,
            // An idle cluster has nothing to tell, and one with too much to do must not do more.
            Ok(None) | Err(CoreError::Full) => return Ok((Duration::ZERO, Duration::ZERO)),
            Err(_) => return Err(()),
        };
        let alone = self.switching.as_ref().is_some_and(Switching::compares_slowdowns);
        let (fork_took, prefetches) = (forked.took, forked.prefetches);
        let options = ForecastOptions { alone, ..forked.options() };
        let others = self.switching.as_ref().map_or_else(Vec::new, |switching| switching.others(&options));
        let ask = Ask {
            options: ForecastOptions { starts: STARTS, ..options },
            others,
            fork: Box::new(forked.tracker),
            applications: forked.applications,
            model: None,
            hypothetical: Vec::new(),
        };
        let mut latest = match self.prediction.ask(ask).await {
            Ok(latest) => latest,
            Err(AskError::Stopped) => return Err(()),
            Err(error) => {
                tracing::debug!(%error, "no forecast this time");
                return Ok((fork_took, Duration::ZERO));
            }
        };
        self.note(fork_took, &latest);
        let at = latest.present.at;
        let ends: Vec<(JobId, v1::PredictedEnd)> =
            latest.present.jobs.iter().map(|job| (job.job, predicted_end(at, job))).collect();
        let starts = if prefetches { std::mem::take(&mut latest.present.starts) } else { Vec::new() };
        let published = self.core.change(move |tables| {
            prefetch::name(tables, at, &starts);
            for (job, end) in ends {
                if let Some(row) = tables.jobs.get_mut(&job) {
                    row.predicted = Some(end);
                }
            }
        });
        match published.await {
            Ok(()) | Err(CoreError::Full) => {}
            Err(_) => return Err(()),
        }
        if let Some(switching) = &mut self.switching {
            switching.consider(&self.core, &latest.present, latest.others).await;
        }
        Ok((fork_took, latest.took))
    }

    fn note(&self, fork: Duration, latest: &ForecastAnswer) {
        let us = |took: Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.costs.rounds.fetch_add(1, Ordering::Relaxed);
        self.costs.fork_us.fetch_add(us(fork), Ordering::Relaxed);
        self.costs.fork_max_us.fetch_max(us(fork), Ordering::Relaxed);
        self.costs.simulated_us.fetch_add(us(latest.took), Ordering::Relaxed);
        *self.costs.score.lock().unwrap_or_else(PoisonError::into_inner) = score_message(latest);
        *self.costs.coverage.lock().unwrap_or_else(PoisonError::into_inner) = latest.coverage.clone();
    }
}

fn rest_after(fork: Duration, simulated: Duration) -> Duration {
    ((fork + simulated) * REST).max(fork * FORK_REST).max(LEAST_REST)
}

/// A job's end as its row keeps it.
fn predicted_end(at: Time, job: &JobForecast) -> v1::PredictedEnd {
    let ms = |at: Option<Time>| at.map_or(0, Time::as_ms);
    v1::PredictedEnd {
        at_ms_epoch: at.as_ms(),
        finish_ms_epoch: ms(job.finish),
        low_ms_epoch: ms(job.low),
        high_ms_epoch: ms(job.high),
        seen: job.seen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_take_a_twentieth_of_a_core_and_a_five_hundredth_of_the_cores_thread_at_most() {
        for ms in [0, 1, 30, 500, 60_000] {
            let took = Duration::from_millis(ms);
            let rest = rest_after(Duration::ZERO, took);
            assert!(took * 20 <= took + rest, "{took:?} and {rest:?} of rest");
            assert!(rest >= LEAST_REST);
            let rest = rest_after(took, Duration::ZERO);
            assert!(took * 500 <= took + rest, "{took:?} of the core's thread and {rest:?} of rest");
        }
    }
}
