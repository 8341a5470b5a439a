//! The decision log: every launch, and every order to stop an attempt, one JSON object a line.
//!
//! Live it is always on, as the journal holds all that decided: reading it replays the decisions. Replays write the
//! same lines as they go.

use std::collections::BTreeSet;
use std::path::Path;

use howdah_core::cluster::EndCause;
use howdah_core::job::{AttemptId, Locality, TaskKind, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::{Effect, JobTracker};
use howdah_proto::convert::cause_text;
use serde::Serialize;

use crate::policies;
use crate::replay::{DecisionReport, ReplayError, replay_seen};

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Seconds: since the epoch in a recorded run, since the trace's start in a replay.
    pub at_s: f64,
    /// `launch` or `stop`.
    pub decision: &'static str,
    /// Printed id.
    pub job: String,
    /// `map` or `reduce`.
    pub kind: &'static str,
    /// The task's index.
    pub task: u32,
    /// The attempt's number.
    pub number: u16,
    /// The worker's name.
    pub worker: String,
    /// Of a launched map: `node`, `rack` or `off-rack`; null when its data has no known place.
    pub locality: Option<&'static str>,
    /// Of a launch: whether another attempt of the task ran.
    pub speculative: Option<bool>,
    /// Of a stop: why.
    pub why: Option<&'static str>,
}

/// What a launch or a stop has that the other has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An attempt starts.
    Launch {
        /// How close to its data.
        locality: Locality,
        /// Whether another attempt of the task runs.
        speculative: bool,
    },
    /// An attempt is to stop.
    Stop(EndCause),
}

impl Decision {
    /// The line of a decision on an attempt of a job with this printed id.
    pub fn new(at: Time, job: String, attempt: AttemptId, worker: String, what: What) -> Decision {
        let (locality, speculative, why) = match what {
            What::Launch { locality, speculative } => (place(attempt.kind, locality), Some(speculative), None),
            What::Stop(cause) => (None, None, Some(cause_text(cause))),
        };
        Decision {
            at_s: at.as_us() as f64 / 1e6,
            decision: if why.is_some() { "stop" } else { "launch" },
            job,
            kind: attempt.kind.name(),
            task: attempt.index,
            number: attempt.number,
            worker,
            locality,
            speculative,
            why,
        }
    }
}

fn place(kind: TaskKind, locality: Locality) -> Option<&'static str> {
    match (kind, locality) {
        (TaskKind::Map, Locality::Node) => Some("node"),
        (TaskKind::Map, Locality::Rack) => Some("rack"),
        (TaskKind::Map, Locality::OffRack) => Some("off-rack"),
        _ => None,
    }
}

/// Decides the run in `dir` again and tells every decision in order; directives that were repeated count once.
///
/// # Errors
/// When the run does not read.
pub fn read(dir: &Path, mut tell: impl FnMut(Decision)) -> Result<DecisionReport, ReplayError> {
    let mut answered = BTreeSet::new();
    replay_seen(dir, policies::make, |cluster, at, effects, tracker| {
        for effect in effects {
            let (worker, attempt, what) = match *effect {
                Effect::Launch { worker, attempt, locality, speculative } => {
                    (worker, attempt, What::Launch { locality, speculative })
                }
                Effect::Kill { worker, attempt, cause } => (worker, attempt, What::Stop(cause)),
                _ => continue,
            };
            if answered.insert((attempt, matches!(what, What::Stop(_)))) {
                tell(Decision::new(at, cluster.job(attempt.job), attempt, name(tracker, worker), what));
            }
        }
    })
}

fn name(tracker: &JobTracker, worker: WorkerId) -> String {
    tracker.state().worker(worker).map(|worker| worker.name().to_owned()).unwrap_or_default()
}
