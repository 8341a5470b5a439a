//! The attempts that run here, for those who ask over HTTP: the driver tells, the node's pages read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use howdah_core::job::{AttemptId, ClusterId, JobFile, TaskKind};

/// An attempt, as Hadoop's clients see it: a container.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    cluster: ClusterId,
    pub(crate) attempt: AttemptId,
    pub(crate) job: Arc<JobFile>,
}

impl Container {
    /// `container_202611201200_0001_01_000002`. Tries of a task differ where Hadoop has the number of the application's
    /// attempt, tasks in the last part, whose 1 is the application's master: so no two have the same, wherever they run.
    pub(crate) fn id(&self) -> String {
        let number = 2 * u64::from(self.attempt.index) + 2 + u64::from(self.attempt.kind == TaskKind::Reduce);
        format!("container{}_{:02}_{number:06}", self.numbers(), u32::from(self.attempt.number) + 1)
    }

    /// `application_202611201200_0001`
    pub(crate) fn application(&self) -> String {
        format!("application{}", self.numbers())
    }

    /// `attempt_202611201200_0001_m_000000_0`
    pub(crate) fn attempt_id(&self) -> String {
        self.cluster.attempt(self.attempt)
    }

    fn numbers(&self) -> &str {
        self.job.id.strip_prefix("job").unwrap_or(&self.job.id)
    }
}

/// Those that run, in order of their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Containers(Arc<Mutex<Vec<Container>>>);

impl Containers {
    fn all(&self) -> MutexGuard<'_, Vec<Container>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn start(&self, cluster: ClusterId, attempt: AttemptId, job: Arc<JobFile>) {
        self.all().push(Container { cluster, attempt, job });
    }

    pub(crate) fn end(&self, attempt: AttemptId) {
        self.all().retain(|container| container.attempt != attempt);
    }

    /// Drops those that nobody reports any more: their master forgot them.
    pub(crate) fn keep(&self, is_held: impl Fn(AttemptId) -> bool) {
        self.all().retain(|container| is_held(container.attempt));
    }

    pub(crate) fn list(&self) -> Vec<Container> {
        self.all().clone()
    }
}
