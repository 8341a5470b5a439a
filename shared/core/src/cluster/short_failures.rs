//! Attempts that failed on one worker soon after their start, one after another since it last succeeded at anything, and which
//! of their tasks other workers have done since.
//!
//! Whether that makes the worker a black hole is the JobTracker's business (`job_tracker/black_holes.rs`). **Invariants: at most
//! [`MOST_KEPT`] are kept; those that nobody has done are of jobs that are not over.**

use crate::job::{JobId, TaskId};

/// Kept of one worker.
pub(crate) const MOST_KEPT: usize = 16;
/// Of these, the first ones of a row, which are the first that others try.
const FIRST_KEPT: usize = 8;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortFailure {
    /// What failed.
    pub(crate) task: TaskId,
    /// Whether another worker has done it since.
    pub(crate) done: bool,
}

/// Those of one worker, in order; nearly always none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShortFailures(Vec<ShortFailure>);

impl ShortFailures {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ShortFailure> {
        self.0.iter()
    }

    /// One more. Where there is no room, one that came in the middle and that nobody has done makes it.
    pub(crate) fn add(&mut self, task: TaskId) {
        if self.0.len() >= MOST_KEPT {
            let later = &self.0[FIRST_KEPT..];
            let Some(oldest) = later.iter().position(|failure| !failure.done) else { return };
            self.0.remove(FIRST_KEPT + oldest);
        }
        self.0.push(ShortFailure { task, done: false });
    }

    /// Another worker has done the task; true if it was among them and that is news.
    pub(crate) fn note_done(&mut self, task: TaskId) -> bool {
        let mut news = false;
        for failure in self.0.iter_mut().filter(|failure| failure.task == task && !failure.done) {
            failure.done = true;
            news = true;
        }
        news
    }

    /// The job is over: nobody will do what is left of it.
    pub(crate) fn forget_job(&mut self, job: JobId) {
        self.0.retain(|failure| failure.done || failure.task.job != job);
    }
}

impl FromIterator<ShortFailure> for ShortFailures {
    fn from_iter<I: IntoIterator<Item = ShortFailure>>(all: I) -> ShortFailures {
        ShortFailures(all.into_iter().collect())
    }
}
