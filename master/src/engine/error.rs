//! Why the core did not do what was asked.

use howdah_core::tracker::Rejection;
use howdah_proto::convert::ConvertError;

/// Why the core did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CoreError {
    #[error("the master is stopping")]
    Stopped,
    #[error("the master stopped before it said whether it took the job; its next start knows")]
    Unanswered,
    #[error("the master has too much to do: its inbox is full")]
    Full,
    #[error("the master cannot write its journal now: {0}")]
    Journal(String),
    #[error(transparent)]
    Malformed(ConvertError),
    #[error("the cluster has {0} workers, its most (`workers` in [master.limits])")]
    TooManyWorkers(usize),
    #[error("worker `{name}` is alive at {there}; this one is at {here}")]
    NameTaken { name: String, there: String, here: String },
    #[error("the core refused it: {0:?}")]
    Rejected(Rejection),
}
