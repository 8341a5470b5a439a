//! Which gRPC code each error gets. The message is one line; advice follows after "\nhelp: ".

use howdah_core::job::{ClusterId, IdError, JobId, SpecError};
use howdah_proto::convert::ConvertError;
use tonic::Status;

use crate::engine::CoreError;
use crate::reload::SetError;
use crate::tables::Held;

/// A message with advice.
pub(super) fn with_help(message: impl std::fmt::Display, help: impl std::fmt::Display) -> String {
    format!("{message}\nhelp: {help}")
}

pub(super) fn core(error: CoreError) -> Status {
    match error {
        CoreError::Stopped | CoreError::Unanswered | CoreError::Full | CoreError::Journal(_) => {
            Status::unavailable(error.to_string())
        }
        CoreError::TooManyWorkers(_) => Status::resource_exhausted(error.to_string()),
        CoreError::Malformed(_) => Status::invalid_argument(error.to_string()),
        CoreError::Rejected(_) | CoreError::NameTaken { .. } => Status::failed_precondition(error.to_string()),
    }
}

pub(super) fn scheduler(error: SetError) -> Status {
    match error {
        SetError::Core(error) => core(error),
        SetError::Scheduler(_) | SetError::External => Status::invalid_argument(error.to_string()),
    }
}

pub(super) fn convert(error: &ConvertError) -> Status {
    Status::invalid_argument(error.to_string())
}

pub(crate) fn id(error: &IdError) -> Status {
    Status::invalid_argument(error.to_string())
}

pub(crate) fn spec(error: &SpecError) -> Status {
    Status::invalid_argument(error.to_string())
}

pub(super) fn no_job(cluster: ClusterId, job: JobId) -> Status {
    let message = format!("job `{}` is not known here", cluster.job(job));
    Status::not_found(with_help(message, "`howdah job list` shows the jobs of this cluster"))
}

/// A job that is listed and of which nothing else is kept.
pub(super) fn let_go(cluster: ClusterId, job: JobId) -> Status {
    let message = format!("job `{}` is over and its history is not kept any more", cluster.job(job));
    Status::not_found(with_help(message, "[master.keep_jobs] says how many jobs that are over are kept"))
}

/// A disk that is full, or not there for a while: the same may be asked for again.
pub(super) fn unwritten(path: &std::path::Path, error: &std::io::Error) -> Status {
    tracing::warn!(path = %path.display(), %error, "a job's file cannot be written; the job is refused");
    let message = format!("the master cannot write the job's file: {error}");
    Status::unavailable(with_help(message, "nothing was submitted; try again when the master's disk has space"))
}

/// Jobs that are over cannot leave the memory: no other job is taken until they can.
pub(super) fn histories_unwritten(unwritten: Held, problem: &str) -> Status {
    let Held { jobs, tasks } = unwritten;
    let message = format!("{jobs} jobs that are over, of {tasks} tasks, have no history on disk yet: {problem}");
    Status::unavailable(with_help(message, "nothing was submitted; try again when the master's disk can be written"))
}

pub(super) fn internal(action: &str, error: impl std::fmt::Display) -> Status {
    tracing::error!(%error, "failed to {action}");
    Status::internal(format!("failed to {action}: {error}"))
}
