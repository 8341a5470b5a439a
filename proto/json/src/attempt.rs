//! Attempts of a job.

use howdah_proto::v1::AttemptInfo;
use schemars::JsonSchema;
use serde::Serialize;

use crate::listing::{Shape, given, reached};

/// An attempt as programs see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Attempt {
    pub attempt: String,
    pub task: String,
    /// `map` or `reduce`.
    pub kind: &'static str,
    /// UNASSIGNED, RUNNING, COMMIT_PENDING, SUCCEEDED, FAILED or KILLED.
    pub state: String,
    pub worker: String,
    pub phase: Option<String>,
    /// 0 to 1.
    pub progress: f64,
    pub locality: Option<String>,
    pub speculative: bool,
    pub assigned_ms_epoch: Option<u64>,
    pub ended_ms_epoch: Option<u64>,
    pub cause: Option<String>,
    pub message: Option<String>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub diagnostics: Option<String>,
    pub stderr_tail: Option<String>,
    pub cpu_s: Option<f64>,
    pub peak_memory_kib: Option<u64>,
    /// On the worker's clock.
    pub started_ms_epoch: Option<u64>,
    pub shuffle_done_ms_epoch: Option<u64>,
    pub sort_done_ms_epoch: Option<u64>,
    pub finished_ms_epoch: Option<u64>,
}

impl From<&AttemptInfo> for Attempt {
    fn from(a: &AttemptInfo) -> Attempt {
        let end = a.end.as_ref();
        let at = |pick: fn(&howdah_proto::v1::AttemptEnd) -> u64| end.and_then(|end| reached(pick(end)));
        Attempt {
            attempt: a.attempt.clone(),
            task: a.task.clone(),
            kind: if a.task.contains("_r_") { "reduce" } else { "map" },
            state: a.state.clone(),
            worker: a.worker.clone(),
            phase: given(&a.phase),
            progress: a.progress,
            locality: given(&a.locality),
            speculative: a.speculative,
            assigned_ms_epoch: reached(a.assigned_ms_epoch),
            ended_ms_epoch: reached(a.ended_ms_epoch),
            cause: given(&a.cause),
            message: given(&a.message),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal),
            diagnostics: end.and_then(|end| given(&end.diagnostics)),
            stderr_tail: end.and_then(|end| given(&end.stderr_tail)),
            cpu_s: end.map(|end| end.cpu_us as f64 / 1e6),
            peak_memory_kib: end.map(|end| end.peak_memory_kib),
            started_ms_epoch: at(|end| end.started_ms_epoch),
            shuffle_done_ms_epoch: at(|end| end.shuffle_done_ms_epoch),
            sort_done_ms_epoch: at(|end| end.sort_done_ms_epoch),
            finished_ms_epoch: at(|end| end.finished_ms_epoch),
        }
    }
}

/// A job's attempts, in the order of their tasks: schema `howdah/attempts/v1`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Attempts {
    /// The job's printed id.
    pub job: String,
    pub attempts: Vec<Attempt>,
}

impl Shape for Attempts {
    const NAME: &'static str = "attempts";
}
