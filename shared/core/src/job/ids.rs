//! Dense ids inside, Hadoop's names outside.
//!
//! The core indexes arrays with these; people and files see `job_202611201200_0001`,
//! `task_202611201200_0001_m_000005` and `attempt_202611201200_0001_m_000005_0`. The middle part names the
//! cluster's run and is the same for all of its jobs, so it lives once in a [`ClusterId`].
//! Source: `docs/hadoop.md#identifiers-and-states`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When this cluster first started, as `yyyyMMddHHmm` in digits: the middle part of every printed id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClusterId(pub u64);

/// A job's serial number on its cluster, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

/// A worker's dense number, from 0, in order of first registration. It survives the worker's restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(pub u32);

/// Map or reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum TaskKind {
    /// Reads one split.
    Map = 0,
    /// Reads one partition of every map's output.
    Reduce = 1,
}

/// One task of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The job it belongs to.
    pub job: JobId,
    /// Map or reduce.
    pub kind: TaskKind,
    /// From 0, below the job's number of tasks of this kind.
    pub index: u32,
}

/// One try at a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The job it belongs to.
    pub job: JobId,
    /// From 0, below the job's number of tasks of this kind.
    pub index: u32,
    /// From 0 in order of launch; after the n-th restart of the master from 1000·n.
    pub number: u16,
    /// Map or reduce.
    pub kind: TaskKind,
}

impl TaskKind {
    /// Both kinds, maps first.
    pub const ALL: [TaskKind; 2] = [TaskKind::Map, TaskKind::Reduce];

    /// `m` or `r`, as in printed ids.
    pub const fn letter(self) -> char {
        match self {
            TaskKind::Map => 'm',
            TaskKind::Reduce => 'r',
        }
    }

    /// `map` or `reduce`.
    pub const fn name(self) -> &'static str {
        match self {
            TaskKind::Map => "map",
            TaskKind::Reduce => "reduce",
        }
    }
}

impl TaskId {
    /// The `number`-th attempt of this task.
    pub const fn attempt(self, number: u16) -> AttemptId {
        AttemptId { job: self.job, index: self.index, number, kind: self.kind }
    }
}

impl AttemptId {
    /// The same made of its parts. A copy of the whole is read in wider pieces than those in which it was written, for
    /// which the processor has to wait.
    #[inline(always)]
    pub(crate) fn rebuilt(&self) -> AttemptId {
        AttemptId { job: self.job, kind: self.kind, index: self.index, number: self.number }
    }

    /// The task that this attempt tries.
    pub const fn task(self) -> TaskId {
        TaskId { job: self.job, kind: self.kind, index: self.index }
    }
}

/// An id that does not read as one of Hadoop's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text has another shape.
    #[error("{what} `{text}`: expected the form {expected}")]
    Form {
        /// `job id` and so on.
        what: &'static str,
        /// The text as given.
        text: String,
        /// An example.
        expected: &'static str,
    },
    /// A well-formed id of another cluster.
    #[error("{what} `{text}`: belongs to cluster {theirs}, this is cluster {ours}")]
    OtherCluster {
        /// `job id` and so on.
        what: &'static str,
        /// The text as given.
        text: String,
        /// The cluster in the text.
        theirs: u64,
        /// The cluster asked.
        ours: u64,
    },
}

impl ClusterId {
    /// `job_202611201200_0001`.
    pub fn job(self, job: JobId) -> String {
        format!("job_{}_{:04}", self.0, job.0)
    }

    /// `task_202611201200_0001_m_000005`.
    pub fn task(self, task: TaskId) -> String {
        format!("task_{}_{:04}_{}_{:06}", self.0, task.job.0, task.kind.letter(), task.index)
    }

    /// `attempt_202611201200_0001_m_000005_0`.
    pub fn attempt(self, attempt: AttemptId) -> String {
        format!(
            "attempt_{}_{:04}_{}_{:06}_{}",
            self.0,
            attempt.job.0,
            attempt.kind.letter(),
            attempt.index,
            attempt.number
        )
    }

    /// Reads a job id back.
    ///
    /// # Errors
    /// When the text has another form or names another cluster.
    pub fn parse_job(self, text: &str) -> Result<JobId, IdError> {
        const FORM: &str = "job_202611201200_0001";
        let form = || IdError::Form { what: "job id", text: text.to_owned(), expected: FORM };
        let mut parts = text.strip_prefix("job_").ok_or_else(form)?.split('_');
        let cluster = number(parts.next()).ok_or_else(form)?;
        let job = number(parts.next()).and_then(|n| u32::try_from(n).ok()).ok_or_else(form)?;
        if parts.next().is_some() {
            return Err(form());
        }
        self.check("job id", text, cluster)?;
        Ok(JobId(job))
    }

    /// Reads an attempt id back.
    ///
    /// # Errors
    /// When the text has another form or names another cluster.
    pub fn parse_attempt(self, text: &str) -> Result<AttemptId, IdError> {
        const FORM: &str = "attempt_202611201200_0001_m_000005_0";
        let form = || IdError::Form { what: "attempt id", text: text.to_owned(), expected: FORM };
        let mut parts = text.strip_prefix("attempt_").ok_or_else(form)?.split('_');
        let cluster = number(parts.next()).ok_or_else(form)?;
        let job = number(parts.next()).and_then(|n| u32::try_from(n).ok()).ok_or_else(form)?;
        let kind = match parts.next() {
            Some("m") => TaskKind::Map,
            Some("r") => TaskKind::Reduce,
            _ => return Err(form()),
        };
        let index = number(parts.next()).and_then(|n| u32::try_from(n).ok()).ok_or_else(form)?;
        let tries = number(parts.next()).and_then(|n| u16::try_from(n).ok()).ok_or_else(form)?;
        if parts.next().is_some() {
            return Err(form());
        }
        self.check("attempt id", text, cluster)?;
        Ok(AttemptId { job: JobId(job), index, number: tries, kind })
    }

    fn check(self, what: &'static str, text: &str, theirs: u64) -> Result<(), IdError> {
        if theirs == self.0 {
            return Ok(());
        }
        Err(IdError::OtherCluster { what, text: text.to_owned(), theirs, ours: self.0 })
    }
}

/// Digits only: `u64::from_str` would also take a sign.
fn number(part: Option<&str>) -> Option<u64> {
    part.filter(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: ClusterId = ClusterId(202_611_201_200);

    #[test]
    fn ids_print_as_hadoops_and_read_back() {
        let attempt = TaskId { job: JobId(1), kind: TaskKind::Map, index: 5 }.attempt(0);
        assert_eq!(CLUSTER.job(JobId(1)), "job_202611201200_0001");
        assert_eq!(CLUSTER.task(attempt.task()), "task_202611201200_0001_m_000005");
        assert_eq!(CLUSTER.attempt(attempt), "attempt_202611201200_0001_m_000005_0");
        assert_eq!(CLUSTER.parse_job("job_202611201200_0001"), Ok(JobId(1)));
        assert_eq!(CLUSTER.parse_attempt("attempt_202611201200_0001_m_000005_0"), Ok(attempt));
    }

    #[test]
    fn wrong_ids_say_what_was_expected() {
        for text in ["", "job_", "job_1", "job_202611201200_+1", "job_202611201200_1_2", "job_202611201200_99999999999"]
        {
            assert!(matches!(CLUSTER.parse_job(text), Err(IdError::Form { .. })), "{text}");
        }
        assert!(matches!(CLUSTER.parse_job("job_1_1"), Err(IdError::OtherCluster { theirs: 1, .. })));
    }
}
