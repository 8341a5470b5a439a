//! The attempt that counts for each finished task of one job.

use howdah_core::job::{AttemptId, JobId, TaskKind};

/// Of a task that is not finished: no attempt has this number.
const NONE: u32 = u32::MAX;

/// The winner's number, by kind and task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Winners([Vec<u32>; 2]);

impl Winners {
    /// Whether the task had no winner before.
    pub(super) fn set(&mut self, attempt: AttemptId) -> bool {
        let (numbers, index) = (&mut self.0[attempt.kind], attempt.index as usize);
        if numbers.len() <= index {
            numbers.resize(index + 1, NONE);
        }
        std::mem::replace(&mut numbers[index], attempt.number.into()) == NONE
    }

    /// The task has none any more; false unless it was this one.
    pub(super) fn unset(&mut self, attempt: AttemptId) -> bool {
        let number = self.0[attempt.kind].get_mut(attempt.index as usize);
        let Some(number) = number.filter(|number| **number == u32::from(attempt.number)) else { return false };
        *number = NONE;
        true
    }

    pub(super) fn has(&self, kind: TaskKind, index: u32) -> bool {
        self.0[kind].get(index as usize).is_some_and(|number| *number != NONE)
    }

    /// By kind and index.
    pub(crate) fn iter(&self, job: JobId) -> impl Iterator<Item = AttemptId> + '_ {
        TaskKind::ALL.into_iter().flat_map(move |kind| {
            let known = self.0[kind].iter().zip(0..).filter(|(number, _)| **number != NONE);
            known.map(move |(number, index)| AttemptId { job, index, number: *number as u16, kind })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_one_winner_until_that_is_taken_back() {
        let attempt = |kind, index, number| AttemptId { job: JobId(1), index, number, kind };
        let (map, reduce) = (attempt(TaskKind::Map, 5, u16::MAX), attempt(TaskKind::Reduce, 0, 1));
        let mut winners = Winners::default();
        assert!(winners.set(reduce) && winners.set(map) && !winners.set(map));
        assert_eq!(winners.iter(JobId(1)).collect::<Vec<_>>(), [map, reduce]);
        assert!(winners.has(TaskKind::Map, 5) && !winners.has(TaskKind::Map, 4) && !winners.has(TaskKind::Map, 6));
        assert!(!winners.unset(attempt(TaskKind::Map, 5, 0)) && !winners.unset(attempt(TaskKind::Map, 9, 0)));
        assert!(winners.unset(map) && !winners.unset(map) && winners.set(map));
    }
}
