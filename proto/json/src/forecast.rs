//! When jobs will end, and what the forecast cost and rests on.

use std::collections::BTreeMap;

use howdah_proto::v1::{Forecast, JobForecast, PredictResponse};
use schemars::JsonSchema;
use serde::Serialize;

use crate::listing::{Shape, given, reached, span_s};

/// What is notified of one job; null beyond the horizon.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ForecastJob")]
pub struct JobView {
    pub job: Option<String>,
    pub name: String,
    pub state: Option<String>,
    pub start_ms_epoch: Option<u64>,
    pub finish_ms_epoch: Option<u64>,
    pub low_ms_epoch: Option<u64>,
    pub high_ms_epoch: Option<u64>,
    /// From the forecast's instant.
    pub left_s: Option<f64>,
    /// Of all simulations, the share in which it meets its deadline; null without one.
    pub in_time: Option<f64>,
    /// The deadline that it is held to: its own, or the one that was asked about; null without one.
    pub deadline_ms_epoch: Option<u64>,
    /// From its predicted end to its deadline, negative where it is late; null without one, and beyond the horizon.
    pub spare_s: Option<f64>,
    /// When it then ended, from the forecast's instant; null except of a recorded run that has its end.
    pub ended_in_s: Option<f64>,
    /// How it then ended: `SUCCEEDED`, `FAILED` or `KILLED`; null likewise.
    pub ended_as: Option<String>,
    /// Its predicted end less the one that came, in seconds; null where it did not succeed, too, and beyond the horizon.
    pub error_s: Option<f64>,
    /// Whether tasks like its own, with about as much input, were seen before.
    pub seen: bool,
    /// Whether it was only thought of.
    pub hypothetical: bool,
}

/// A start of a task that waits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ForecastStart")]
pub struct StartView {
    pub attempt: String,
    pub worker: String,
    pub at_ms_epoch: u64,
    pub in_s: f64,
}

/// What a forecast tells of the whole queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ForecastAtOneTime")]
pub struct ForecastView {
    pub at_ms_epoch: u64,
    pub until_ms_epoch: u64,
    pub scheduler: String,
    /// Until the last job is over; null beyond the horizon.
    pub makespan_s: Option<f64>,
    pub jobs: Vec<JobView>,
    pub starts: Vec<StartView>,
}

/// What it cost and rests on.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Made {
    pub fork_us: u64,
    pub simulated_us: u64,
    pub tasks_learnt: u64,
    pub scored_tasks: u64,
    pub within_10_percent: f64,
    pub error_p95_percent: f64,
    pub unseen_tasks: u64,
}

impl From<&Forecast> for ForecastView {
    fn from(forecast: &Forecast) -> ForecastView {
        let at = forecast.at_ms_epoch;
        let since = |ms: u64| (ms as f64 - at as f64) / 1e3;
        let job = |job: &JobForecast| JobView {
            job: given(&job.job),
            name: job.name.clone(),
            state: given(&job.state),
            start_ms_epoch: reached(job.start_ms_epoch),
            finish_ms_epoch: reached(job.finish_ms_epoch),
            low_ms_epoch: reached(job.low_ms_epoch),
            high_ms_epoch: reached(job.high_ms_epoch),
            left_s: reached(job.finish_ms_epoch).map(since),
            in_time: job.in_time,
            deadline_ms_epoch: reached(job.deadline_ms_epoch),
            spare_s: span_s(job.finish_ms_epoch, job.deadline_ms_epoch),
            ended_in_s: None,
            ended_as: None,
            error_s: None,
            seen: job.seen,
            hypothetical: job.hypothetical,
        };
        let starts = forecast.starts.iter().map(|start| StartView {
            attempt: start.attempt.clone(),
            worker: start.worker.clone(),
            at_ms_epoch: start.at_ms_epoch,
            in_s: since(start.at_ms_epoch),
        });
        let jobs: Vec<JobView> = forecast.jobs.iter().map(job).collect();
        let ends: Option<Vec<f64>> = jobs.iter().map(|job| job.left_s).collect();
        ForecastView {
            at_ms_epoch: at,
            until_ms_epoch: forecast.until_ms_epoch,
            scheduler: forecast.scheduler.clone(),
            makespan_s: ends.map(|ends| ends.into_iter().fold(0.0, f64::max)),
            starts: starts.collect(),
            jobs,
        }
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub at_ms_epoch: u64,
    /// `SUCCEEDED`, `FAILED` or `KILLED`.
    pub state: String,
}

impl ForecastView {
    /// Sets what then happened beside what was predicted, by printed ids.
    pub fn note_ends(&mut self, ends: &BTreeMap<String, Ended>) {
        for job in &mut self.jobs {
            let Some(end) = job.job.as_ref().and_then(|id| ends.get(id)) else { continue };
            job.ended_in_s = Some((end.at_ms_epoch as f64 - self.at_ms_epoch as f64) / 1e3);
            job.ended_as = Some(end.state.clone());
            // Nobody predicts a kill or a failure.
            let succeeded = end.state == "SUCCEEDED";
            job.error_s = job.finish_ms_epoch.and_then(|told| span_s(end.at_ms_epoch, told)).filter(|_| succeeded);
        }
    }
}

impl From<&PredictResponse> for Made {
    fn from(answer: &PredictResponse) -> Made {
        let score = answer.score.unwrap_or_default();
        Made {
            fork_us: answer.fork_us,
            simulated_us: answer.simulated_us,
            tasks_learnt: answer.tasks_learnt,
            scored_tasks: score.tasks,
            within_10_percent: score.within_10_percent,
            error_p95_percent: score.p95_percent,
            unseen_tasks: score.unseen,
        }
    }
}

/// A forecast and what it rests on: schema `howdah/forecast/v1`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Prediction {
    pub forecast: ForecastView,
    pub made: Made,
}

impl Shape for Prediction {
    const NAME: &'static str = "forecast";
}

impl Prediction {
    /// `None` if the answer holds no forecast.
    pub fn new(answer: &PredictResponse) -> Option<Prediction> {
        Some(Prediction { forecast: ForecastView::from(answer.present.as_ref()?), made: Made::from(answer) })
    }
}
