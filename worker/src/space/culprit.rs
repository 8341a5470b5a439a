//! Which attempt fails when the disk is almost full.

use std::sync::Arc;

use howdah_core::job::{AttemptId, ClusterId};

use super::writer::Writer;

/// What a running attempt takes of the disk.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) writer: Arc<dyn Writer>,
    pub(super) cluster: ClusterId,
    pub(super) attempt: AttemptId,
    /// Its directory and its logs.
    pub(super) bytes: u64,
    /// All directories of its job here, and its logs.
    pub(super) job_bytes: u64,
}

/// The attempt that takes most, of the job that takes most: none where nobody takes anything.
pub(super) fn culprit(running: &[Running]) -> Option<usize> {
    let taking = running.iter().enumerate().filter(|(_, running)| running.bytes > 0);
    // The job of one attempt takes what the job of another takes, but for the attempts' logs.
    let most = |job| {
        let attempts = running.iter().filter(|running| running.attempt.job == job);
        attempts.map(|running| running.job_bytes).max()
    };
    taking.max_by_key(|(_, running)| (most(running.attempt.job), running.bytes)).map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use howdah_core::job::{JobId, TaskId, TaskKind};

    use super::*;

    #[derive(Debug)]
    struct Nobody;

    impl Writer for Nobody {
        fn current(&self) -> Option<(ClusterId, AttemptId)> {
            None
        }

        fn fail(&self, _reason: String) {}
    }

    fn running(job: u32, index: u32, bytes: u64, job_bytes: u64) -> Running {
        let attempt = TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0);
        Running { writer: Arc::new(Nobody), cluster: ClusterId(1), attempt, bytes, job_bytes }
    }

    #[test]
    fn it_is_the_largest_of_the_job_that_takes_most() {
        assert_eq!(culprit(&[]), None);
        assert_eq!(culprit(&[running(1, 0, 0, 900)]), None, "its end would free nothing");
        // The second job has many small attempts, the first one a larger one.
        let all = [running(1, 0, 50, 50), running(2, 0, 30, 90), running(2, 1, 40, 90), running(2, 2, 20, 90)];
        assert_eq!(culprit(&all), Some(2));
    }
}
