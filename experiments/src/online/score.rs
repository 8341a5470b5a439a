//! Scores of kinds of tasks.

use howdah_planning::prediction::{Score, TaskError};

/// Of the tasks of a kind whose class had been seen.
pub(super) fn score_of(tasks: &[TaskError], kind: &str) -> Score {
    Score::of(tasks.iter().filter(|task| task.seen && task.part.ends_with(kind)).map(TaskError::percent))
}
