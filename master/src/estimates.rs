//! What the rule for speculative execution estimated of each attempt, as the run went, beside what came of it.
//!
//! The recorded run is replayed, and after each batch its own policy is asked: at launch, and whenever an attempt's
//! worker has reported, with the vitals and the progress that the live master had. So it is the system that decided
//! which is held against the times that followed, not a formula beside it.

use std::collections::BTreeSet;
use std::path::Path;

use howdah_core::cluster::AttemptRef;
use howdah_core::job::{AttemptId, AttemptState, Progress, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::{Effect, JobTracker};
use serde::Serialize;

use crate::policies;
use crate::replay::{DecisionReport, ReplayError, replay_seen};

/// One attempt at one instant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Seconds since the epoch.
    pub at_s: f64,
    /// `launch`, `report` or `end`.
    pub event: &'static str,
    /// Printed id of the job.
    pub job: String,
    /// `map` or `reduce`.
    pub kind: &'static str,
    /// The task's index.
    pub task: u32,
    /// The attempt's number.
    pub number: u16,
    /// The worker's name.
    pub worker: String,
    /// Seconds since its launch; of an end, what it took.
    pub ran_s: f64,
    /// Share of its work that is done, 0 to 1.
    pub progress: f64,
    /// What it takes in all by the estimate, in seconds; null of an end, and where nothing tells.
    pub estimate_s: Option<f64>,
    /// Of an end: whether it succeeded.
    pub succeeded: Option<bool>,
}

/// Decides the run in `dir` again and tells of every attempt at its launch, with each report of its worker, and at its end.
///
/// # Errors
/// When the run does not read.
pub fn read(dir: &Path, mut tell: impl FnMut(Estimate)) -> Result<DecisionReport, ReplayError> {
    let mut launched: BTreeSet<AttemptId> = BTreeSet::new();
    replay_seen(dir, policies::make, |cluster, at, effects, tracker| {
        let line = |id: AttemptId, worker: String, started: Time, event| Estimate {
            at_s: at.as_us() as f64 / 1e6,
            event,
            job: cluster.job(id.job),
            kind: id.kind.name(),
            task: id.index,
            number: id.number,
            worker,
            ran_s: seconds(started, at),
            progress: 1.0,
            estimate_s: None,
            succeeded: None,
        };
        for effect in effects {
            if let Effect::AttemptEnded { attempt, worker, state, started, .. } = *effect {
                let worker = name_of(tracker, worker);
                let succeeded = Some(state == AttemptState::Succeeded);
                tell(Estimate { succeeded, ..line(attempt, worker, started, "end") });
            }
        }
        for reference in just_reported(tracker, at, &launched) {
            let estimate_s = tracker.expected_end(reference);
            let Some(attempt) = tracker.state().attempts().get(reference) else { continue };
            let worker = name_of(tracker, attempt.worker());
            let event = if launched.insert(attempt.id()) { "launch" } else { "report" };
            tell(Estimate {
                progress: f64::from(attempt.progress().parts()) / f64::from(Progress::DONE.parts()),
                estimate_s: estimate_s.map(|end| seconds(attempt.started(), end)),
                ..line(attempt.id(), worker, attempt.started(), event)
            });
        }
    })
}

/// Attempts that are new, or whose worker has just reported.
fn just_reported(tracker: &JobTracker, now: Time, launched: &BTreeSet<AttemptId>) -> Vec<AttemptRef> {
    let state = tracker.state();
    let running = state.attempts().iter().filter(|(_, attempt)| !attempt.detached());
    let news = running.filter(|(_, attempt)| {
        let reported = state.worker(attempt.worker()).is_some_and(|worker| worker.last_contact() == now);
        reported || !launched.contains(&attempt.id())
    });
    news.map(|(reference, _)| reference).collect()
}

fn name_of(tracker: &JobTracker, worker: WorkerId) -> String {
    tracker.state().worker(worker).map_or_else(String::new, |worker| worker.name().to_owned())
}

fn seconds(from: Time, to: Time) -> f64 {
    to.since(from).as_us() as f64 / 1e6
}
