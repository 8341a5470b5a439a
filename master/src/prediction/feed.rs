//! What the core's thread hands to the prediction thread: each finished task, as a small message.

use std::sync::Arc;

use howdah_core::cluster::ClusterState;
use howdah_core::job::{JobId, JobState};
use howdah_core::time::Time;
use howdah_core::tracker::Effect;
use howdah_planning::prediction::{Learned, Learner};
use tokio::sync::Notify;

use super::application_name;
use super::inbox::Inbox;
use crate::tables::Tables;

/// The core's thread's end.
#[derive(Debug)]
pub(crate) struct Feed {
    learner: Learner,
    inbox: Arc<Inbox>,
    /// What was learnt of the batch that is looked at; empty between two.
    batch: Vec<Learned>,
    /// Notifies who makes forecasts that the world changed.
    changed: Arc<Notify>,
}

/// Whether an effect makes the last forecast old: a job or a worker came or went.
fn changes_world(effect: &Effect) -> bool {
    match effect {
        Effect::JobState { state, .. } => state.is_final() || *state == JobState::Prep,
        Effect::WorkerState { .. }
        | Effect::TaskFailed { .. }
        | Effect::MapOutputLost { .. }
        | Effect::OutputKept { .. }
        | Effect::OutputGone { .. } => true,
        _ => false,
    }
}

impl Feed {
    pub(super) fn new(inbox: Arc<Inbox>) -> Feed {
        Feed { learner: Learner::default(), inbox, batch: Vec::new(), changed: Arc::default() }
    }

    /// Hears when the world changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Looks at a batch's effects and the state after them.
    pub(crate) fn follow(&mut self, now: Time, effects: &[Effect], state: &ClusterState, tables: &Tables) {
        let application =
            |job: JobId| tables.jobs.get(&job).map_or_else(String::new, |row| application_name(&row.meta.file.app));
        let batch = &mut self.batch;
        self.learner.follow(now, effects, state, application, |learned| batch.push(learned));
        if !batch.is_empty() {
            self.inbox.put(batch.drain(..));
        }
        if effects.iter().any(changes_world) {
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
impl Feed {
    /// As if the core had seen it.
    pub(super) fn put_for_tests(&self, learned: Learned) {
        self.inbox.put(std::iter::once(learned));
    }
}
