//! Holds forecasts of jobs' ends against the ends that come, so that the history knows how far off they were; and what they
//! were told by the progress of running tasks against what these then took.
//!
//! A job's forecasts wait here until it is over, each with how far its drawn interval went; of a long job they are evenly
//! thinned out. What then goes into the history are errors in widths of those intervals.

use std::collections::BTreeMap;

use super::calibration::OF_ONE_JOB;
use super::end_score::EndScore;
use super::forecast::{Forecast, JobForecast};
use super::history::TaskHistory;
use super::looks::Looks;
use howdah_core::job::{AttemptId, JobId};
use howdah_core::time::{Span, Time};

/// Policies whose forecasts are scored.
pub(super) const POLICIES: usize = 16;

/// An end as it was predicted, with how far before and after it the drawn interval went.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Predicted {
    finish: Time,
    /// As it was published.
    interval: [Time; 2],
    halves_us: [f64; 2],
}

impl Predicted {
    fn of(job: &JobForecast) -> Option<Predicted> {
        Some(Predicted {
            finish: job.finish?,
            interval: [job.low.unwrap_or(Time::ZERO), job.high.unwrap_or(Time::from_us(u64::MAX))],
            halves_us: job.drawn.map(|halves| halves.map(|half| half.as_us() as f64))?,
        })
    }

    /// How far off it was, in halves of the interval: 1 at its ends.
    fn error(&self, actual: Time) -> f64 {
        let [before, after] = self.halves_us;
        if actual < self.finish {
            self.finish.since(actual).as_us() as f64 / before.max(1.0)
        } else {
            actual.since(self.finish).as_us() as f64 / after.max(1.0)
        }
    }
}

/// What was predicted of a job that is not over.
#[derive(Clone, Debug, Default)]
struct Pending {
    policy: String,
    predicted: Vec<Predicted>,
    /// One forecast of so many is kept.
    one_of: usize,
    skipped: usize,
}

impl Pending {
    fn add(&mut self, predicted: Predicted) {
        self.skipped += 1;
        if self.skipped < self.one_of {
            return;
        }
        self.skipped = 0;
        if self.predicted.len() >= OF_ONE_JOB {
            let mut keep = false;
            self.predicted.retain(|_| {
                keep = !keep;
                keep
            });
            self.one_of = self.one_of.max(1) * 2;
        }
        self.predicted.push(predicted);
    }
}

/// Holds forecasts of ends against the ends that come.
#[derive(Clone, Debug, Default)]
pub struct EndWatch {
    pending: BTreeMap<JobId, Pending>,
    scores: BTreeMap<String, EndScore>,
    looks: Looks,
}

impl EndWatch {
    /// A forecast of the present course was made.
    pub fn predicted(&mut self, forecast: &Forecast) {
        self.looks.add(forecast);
        for job in forecast.jobs.iter().filter(|job| !job.hypothetical) {
            let Some(predicted) = Predicted::of(job) else { continue };
            let pending = self.pending.entry(job.job).or_default();
            if pending.policy != forecast.scheduler {
                *pending = Pending { policy: forecast.scheduler.clone(), ..Pending::default() };
            }
            pending.add(predicted);
        }
    }

    /// A job is over: all its tasks are done, or it was killed or failed (`None`), which nobody predicts.
    pub fn ended(&mut self, job: JobId, succeeded: Option<Time>, history: &mut TaskHistory) {
        let Some(Pending { policy, predicted, .. }) = self.pending.remove(&job) else { return };
        if let Some(at) = succeeded {
            if self.scores.contains_key(&policy) || self.scores.len() < POLICIES {
                let score = self.scores.entry(policy.clone()).or_default();
                score.jobs += 1;
                predicted.iter().for_each(|one| score.add(one.finish, one.interval, at));
            }
            history.end_errors.add(policy, predicted.iter().map(|one| one.error(at)).collect());
        }
    }

    /// An attempt has done its task's work in so long.
    pub fn task_ended(&mut self, attempt: AttemptId, time: Span, history: &mut TaskHistory) {
        self.looks.ended(attempt, time, history);
    }

    /// How good the forecasts of the ends that came were, by policy.
    pub fn scores(&self) -> &BTreeMap<String, EndScore> {
        &self.scores
    }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::ENOUGH;
    use howdah_core::time::Span;

    use super::*;

    fn forecast(job: u32, finish_s: u64, halves_s: [u64; 2]) -> Forecast {
        let finish = Some(Time::from_ms(finish_s * 1_000));
        let drawn = Some(halves_s.map(Span::from_secs));
        let job = JobForecast { job: JobId(job), drawn, ..JobForecast::told(finish) };
        Forecast {
            at: Time::ZERO,
            until: Time::from_ms(3_600_000),
            scheduler: "fifo".to_owned(),
            jobs: vec![job],
            starts: Vec::new(),
            events: 0,
            running: Vec::new(),
        }
    }

    #[test]
    fn the_scale_is_what_earlier_intervals_had_needed_and_there_is_none_before_enough_jobs_ended() {
        let (mut watch, mut history) = (EndWatch::default(), TaskHistory::default());
        for job in 1..=10 {
            assert_eq!(history.end_errors.scale("fifo").is_some(), job > ENOUGH as u32, "job {job}");
            // Early ends are counted in the part before, late ones in the part after.
            watch.predicted(&forecast(job, 100, [20, 40]));
            let ends_s = if job % 2 == 0 { 90 } else { 120 };
            watch.ended(JobId(job), Some(Time::from_ms(ends_s * 1_000)), &mut history);
        }
        assert_eq!(history.end_errors.scale("fifo"), Some(0.5));
        assert_eq!(history.end_errors.scale("fair"), None, "another policy is another matter");
    }

    #[test]
    fn forecasts_are_scored_by_the_interval_that_was_published() {
        let (mut watch, mut history) = (EndWatch::default(), TaskHistory::default());
        for (job, ends_s) in [(1, 90), (2, 130)] {
            let mut told = forecast(job, 100, [1, 1]);
            told.jobs[0].low = Some(Time::from_ms(85_000));
            told.jobs[0].high = Some(Time::from_ms(125_000));
            watch.predicted(&told);
            watch.ended(JobId(job), Some(Time::from_ms(ends_s * 1_000)), &mut history);
        }
        watch.predicted(&forecast(3, 100, [1, 1]));
        watch.ended(JobId(3), None, &mut history);
        let score = watch.scores()["fifo"];
        assert_eq!((score.jobs, score.forecasts, score.within_interval), (2, 2, 1));
        assert_eq!((score.error, score.coverage()), (Span::from_secs(40), Some(0.5)));
        assert_eq!(EndScore::default().coverage(), None);
    }

    #[test]
    fn a_killed_job_tells_nothing_and_one_of_many_forecasts_is_thinned_out() {
        let (mut watch, mut history) = (EndWatch::default(), TaskHistory::default());
        watch.predicted(&forecast(1, 100, [20, 40]));
        watch.ended(JobId(1), None, &mut history);
        assert_eq!(history, TaskHistory::default());
        for _ in 0..10_000 {
            watch.predicted(&forecast(2, 100, [20, 40]));
        }
        let kept = watch.pending[&JobId(2)].predicted.len();
        assert!((OF_ONE_JOB / 2..=OF_ONE_JOB).contains(&kept), "{kept}");
    }
}
