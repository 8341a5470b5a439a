//! Why a workload cannot be generated.

use howdah_core::models::distribution::DistributionError;

/// A wish that cannot be granted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// No such workload.
    #[error("workload `{name}`: expected one of the names that `howdah trace generate --list` prints")]
    Unknown {
        /// As typed.
        name: String,
    },
    /// A workload without jobs.
    #[error("jobs: expected at least 1, found 0")]
    NoJobs,
    /// The number of jobs is part of the workload.
    #[error("workload `{name}`: expected its own {jobs} jobs, found {asked}")]
    FixedSize {
        name: &'static str,
        /// Its number of jobs.
        jobs: usize,
        /// The number asked for.
        asked: usize,
    },
    /// A description that is not TOML or has the wrong fields.
    #[error("{0}")]
    Description(String),
    /// A description with a value out of range.
    #[error("{field}: expected {expected}, found {found}")]
    Field {
        /// Such as `class 2 (large), maps`.
        field: String,
        /// A noun phrase.
        expected: &'static str,
        /// As given.
        found: String,
    },
    /// A distribution that makes no sense.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
}
