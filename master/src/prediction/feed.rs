//! What the core's thread hands to the prediction thread: each finished task, as a small message.

use std::sync::Arc;

use crossbeam_channel::Sender;
use howdah_core::cluster::ClusterState;
use howdah_core::job::{JobId, JobState};
use howdah_core::time::Time;
use howdah_core::tracker::Effect;
use howdah_planning::prediction::Learner;
use tokio::sync::Notify;

use super::application_name;
use super::message::Message;
use crate::tables::Tables;

/// The core's thread's end.
#[derive(Debug)]
pub(crate) struct Feed {
    learner: Learner,
    send: Sender<Message>,
    /// Notifies who makes forecasts that the world changed.
    changed: Arc<Notify>,
}

/// Whether an effect makes the last forecast old: a job or a worker came or went.
fn changes_world(effect: &Effect) -> bool {
    match effect {
        Effect::JobState { state, .. } => state.is_final() || *state == JobState::Prep,
        Effect::WorkerState { .. } | Effect::TaskFailed { .. } | Effect::MapOutputLost { .. } => true,
        _ => false,
    }
}

impl Feed {
    pub(super) fn new(send: Sender<Message>) -> Feed {
        Feed { learner: Learner::default(), send, changed: Arc::default() }
    }

    /// Hears when the world changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Looks at a batch's effects and the state after them.
    pub(crate) fn follow(&mut self, now: Time, effects: &[Effect], state: &ClusterState, tables: &Tables) {
        let application =
            |job: JobId| tables.jobs.get(&job).map_or_else(String::new, |row| application_name(&row.meta.file.app));
        let send = &self.send;
        self.learner.follow(now, effects, state, application, |learned| {
            // A thread that is behind by so much does without some: the core never waits for it.
            let _ = send.try_send(Message::Learned(learned));
        });
        if effects.iter().any(changes_world) {
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
impl Feed {
    /// As if the core had seen it.
    pub(super) fn send_for_tests(&self, learned: howdah_planning::prediction::Learned) {
        self.send.send(Message::Learned(learned)).unwrap();
    }
}
