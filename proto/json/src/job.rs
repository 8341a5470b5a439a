//! A job in listings, and one job alone.

use std::collections::BTreeMap;

use howdah_proto::v1::{GetJobResponse, JobStatus, PredictedEnd, SpeculationCosts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::forecast::JobView;
use crate::listing::{CounterMap, Shape, counter_map, given, reached, span_s};
use crate::properties::Unread;

/// What speculative attempts cost.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Speculation {
    pub launched: u32,
    pub won: u32,
    pub lost: u32,
    /// Slot time of losers, originals and copies.
    pub wasted_slot_s: f64,
}

impl From<Option<SpeculationCosts>> for Speculation {
    fn from(costs: Option<SpeculationCosts>) -> Speculation {
        let SpeculationCosts { launched, won, lost, wasted_slot_ms } = costs.unwrap_or_default();
        Speculation { launched, won, lost, wasted_slot_s: wasted_slot_ms as f64 / 1e3 }
    }
}

/// A job's end as the master's last round of forecasts predicted it; null beyond the horizon.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Predicted {
    pub at_ms_epoch: u64,
    pub finish_ms_epoch: Option<u64>,
    pub low_ms_epoch: Option<u64>,
    pub high_ms_epoch: Option<u64>,
    /// Whether tasks like its own, with about as much input, were seen before.
    pub seen: bool,
}

impl From<PredictedEnd> for Predicted {
    fn from(end: PredictedEnd) -> Predicted {
        Predicted {
            at_ms_epoch: end.at_ms_epoch,
            finish_ms_epoch: reached(end.finish_ms_epoch),
            low_ms_epoch: reached(end.low_ms_epoch),
            high_ms_epoch: reached(end.high_ms_epoch),
            seen: end.seen,
        }
    }
}

/// A job as programs see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Job {
    pub job: String,
    pub name: String,
    pub user: String,
    pub queue: String,
    pub priority: String,
    /// PREP, RUNNING, COMMITTING, SUCCEEDED, FAILED or KILLED.
    pub state: String,
    pub maps: u32,
    pub reduces: u32,
    pub maps_done: u32,
    pub reduces_done: u32,
    pub maps_running: u32,
    pub reduces_running: u32,
    /// 0 to 1.
    pub map_progress: f64,
    pub reduce_progress: f64,
    pub failed_attempts: u32,
    pub killed_attempts: u32,
    /// How often the master was started again while it was not over.
    pub master_restarts: u32,
    pub submit_ms_epoch: Option<u64>,
    pub launch_ms_epoch: Option<u64>,
    pub maps_done_ms_epoch: Option<u64>,
    pub finish_ms_epoch: Option<u64>,
    /// From submission to the end.
    pub completion_s: Option<f64>,
    pub output: Option<String>,
    pub why: Option<String>,
    pub node_local_maps: u32,
    pub rack_local_maps: u32,
    pub off_rack_maps: u32,
    pub unplaced_maps: u32,
    pub speculation: Speculation,
    /// One each, such as `gpu>=1`.
    pub requires: Vec<String>,
    /// Of one that is not over. Listings say it beside the job.
    #[serde(skip)]
    pub predicted: Option<Predicted>,
}

impl From<&JobStatus> for Job {
    fn from(s: &JobStatus) -> Job {
        Job {
            job: s.job.clone(),
            name: s.name.clone(),
            user: s.user.clone(),
            queue: s.queue.clone(),
            priority: s.priority.clone(),
            state: s.state.clone(),
            maps: s.n_maps,
            reduces: s.n_reduces,
            maps_done: s.maps_done,
            reduces_done: s.reduces_done,
            maps_running: s.maps_running,
            reduces_running: s.reduces_running,
            map_progress: s.map_progress,
            reduce_progress: s.reduce_progress,
            failed_attempts: s.failed_attempts,
            killed_attempts: s.killed_attempts,
            master_restarts: s.master_restarts,
            submit_ms_epoch: reached(s.submit_ms_epoch),
            launch_ms_epoch: reached(s.launch_ms_epoch),
            maps_done_ms_epoch: reached(s.maps_done_ms_epoch),
            finish_ms_epoch: reached(s.finish_ms_epoch),
            completion_s: span_s(s.submit_ms_epoch, s.finish_ms_epoch),
            output: given(&s.output),
            why: given(&s.why),
            node_local_maps: s.node_local_maps,
            rack_local_maps: s.rack_local_maps,
            off_rack_maps: s.off_rack_maps,
            unplaced_maps: s.unplaced_maps,
            speculation: s.speculation.into(),
            requires: s.requires.clone(),
            predicted: s.predicted.map(Predicted::from),
        }
    }
}

/// A job with its predicted end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Listed {
    #[serde(flatten)]
    pub job: Job,
    /// Of one that is not over, by the last round of forecasts.
    pub predicted: Option<Predicted>,
}

impl From<Job> for Listed {
    fn from(job: Job) -> Listed {
        let predicted = job.predicted;
        Listed { job, predicted }
    }
}

/// Jobs, newest last: schema `howdah/jobs/v1`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Jobs {
    pub jobs: Vec<Listed>,
}

impl Shape for Jobs {
    const NAME: &'static str = "jobs";
}

/// Everything about one job but its attempts: schema `howdah/job-status/v1`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OneJob {
    #[serde(flatten)]
    pub job: Job,
    pub counters: CounterMap,
    /// As the job was submitted.
    pub properties: BTreeMap<String, String>,
    /// Of these, those that howdah does not read; the job's own commands may.
    pub unread_properties: Vec<Unread>,
    /// Of one that is not over: when it will be.
    pub predicted: Option<JobView>,
}

impl Shape for OneJob {
    const NAME: &'static str = "job-status";
}

impl OneJob {
    /// `None` if the answer holds no status.
    pub fn new(answer: GetJobResponse, unread_properties: Vec<Unread>, predicted: Option<JobView>) -> Option<OneJob> {
        Some(OneJob {
            job: Job::from(&answer.status?),
            counters: counter_map(answer.counters.as_ref()),
            properties: answer.properties.into_iter().collect(),
            unread_properties,
            predicted,
        })
    }
}
