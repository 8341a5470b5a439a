//! Dense ids inside, Hadoop's names outside.
//!
//! The core indexes arrays with these; people and files see `job_202611201200_0001`,
//! `task_202611201200_0001_m_000005` and `attempt_202611201200_0001_m_000005_0`. The middle part names the
//! cluster's run and is the same for all of its jobs, so it lives once in a [`ClusterId`].
//! Clients of Hadoop read four digits at the end. So after 9,999 jobs the middle part moves on, by six more digits that
//! count how often it did, and the number starts again: `job_202611201200_9999` is followed by
//! `job_202611201200000001_0001`. No start of a cluster has such a stamp, so these ids are nobody else's.
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

/// Jobs whose printed ids share their middle part.
const JOBS_OF_A_STAMP: u32 = 9_999;
/// Makes room behind a cluster's own digits for how often the middle part moved on: there are fewer than that many turns.
const TURNS: u64 = 1_000_000;
/// Minutes are written with twelve digits, so what is larger has turns in it.
const FIRST_WITH_TURNS: u64 = 1_000_000_000_000_000;

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
    /// Middle part and number of a job's printed id.
    fn printed(self, job: JobId) -> (u64, u32) {
        let before = job.0.saturating_sub(1);
        match before / JOBS_OF_A_STAMP {
            0 => (self.0, job.0),
            turn => {
                let stamp = self.0.saturating_mul(TURNS).saturating_add(u64::from(turn));
                (stamp, before % JOBS_OF_A_STAMP + 1)
            }
        }
    }

    /// `job_202611201200_0001`.
    pub fn job(self, job: JobId) -> String {
        let (stamp, number) = self.printed(job);
        format!("job_{stamp}_{number:04}")
    }

    /// `task_202611201200_0001_m_000005`.
    pub fn task(self, task: TaskId) -> String {
        let (stamp, number) = self.printed(task.job);
        format!("task_{stamp}_{number:04}_{}_{:06}", task.kind.letter(), task.index)
    }

    /// `attempt_202611201200_0001_m_000005_0`.
    pub fn attempt(self, attempt: AttemptId) -> String {
        let (stamp, number) = self.printed(attempt.job);
        format!("attempt_{stamp}_{number:04}_{}_{:06}_{}", attempt.kind.letter(), attempt.index, attempt.number)
    }

    /// Reads a job id back, also one of more than four digits, as they were printed before.
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
        self.resolve(cluster, job).ok_or_else(|| self.other("job id", text, cluster))
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
        let job = self.resolve(cluster, job).ok_or_else(|| self.other("attempt id", text, cluster))?;
        Ok(AttemptId { job, index, number: tries, kind })
    }

    /// An attempt id of whichever cluster it names.
    pub fn of_attempt(text: &str) -> Option<(ClusterId, AttemptId)> {
        let stamp = number(text.strip_prefix("attempt_")?.split('_').next())?;
        let cluster = ClusterId(if stamp < FIRST_WITH_TURNS { stamp } else { stamp / TURNS });
        Some((cluster, cluster.parse_attempt(text).ok()?))
    }

    /// The job with this middle part and number, if it is one of this cluster's.
    fn resolve(self, stamp: u64, number: u32) -> Option<JobId> {
        if stamp == self.0 {
            return Some(JobId(number));
        }
        let turn = u32::try_from(stamp % TURNS).ok().filter(|&turn| turn > 0)?;
        if self.0 == 0 || stamp / TURNS != self.0 || !(1..=JOBS_OF_A_STAMP).contains(&number) {
            return None;
        }
        Some(JobId(turn.checked_mul(JOBS_OF_A_STAMP)?.checked_add(number)?))
    }

    fn other(self, what: &'static str, text: &str, theirs: u64) -> IdError {
        IdError::OtherCluster { what, text: text.to_owned(), theirs, ours: self.0 }
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
    fn the_ten_thousandth_job_has_four_digits_and_another_stamp() {
        assert_eq!(CLUSTER.job(JobId(9_999)), "job_202611201200_9999");
        assert_eq!(CLUSTER.job(JobId(10_000)), "job_202611201200000001_0001");
        assert_eq!(CLUSTER.job(JobId(19_999)), "job_202611201200000002_0001");
        let mut printed = std::collections::BTreeSet::new();
        let numbers = (1..30_000).chain([u32::MAX - 1, u32::MAX]).map(JobId);
        for job in numbers {
            let text = CLUSTER.job(job);
            let (stamp, digits) = text["job_".len()..].split_once('_').expect("two parts");
            assert!(digits.len() == 4 && stamp.parse::<u64>().is_ok(), "{text}");
            assert_eq!(CLUSTER.parse_job(&text), Ok(job));
            let attempt = TaskId { job, kind: TaskKind::Reduce, index: 7 }.attempt(1_002);
            assert_eq!(ClusterId::of_attempt(&CLUSTER.attempt(attempt)), Some((CLUSTER, attempt)), "{text}");
            assert!(printed.insert(text), "an id twice");
        }
        // As earlier versions printed it.
        assert_eq!(CLUSTER.parse_job("job_202611201200_10000"), Ok(JobId(10_000)));
        for text in ["job_202611201200000000_0001", "job_202611201200000001_0000", "job_202611201200000001_10000"] {
            assert!(CLUSTER.parse_job(text).is_err(), "{text}");
        }
        assert!(CLUSTER.parse_job("job_202611201200999999_0001").is_err(), "beyond the last job");
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
