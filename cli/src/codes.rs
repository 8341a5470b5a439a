//! Which exit code each gRPC code becomes, and how a status reads on the terminal.
//!
//! The master's message is one line, its advice follows after `\nhelp: `; both are printed as they came.

use tonic::{Code, Status};

use crate::client::innermost;
use crate::exit::Exit;
use crate::failure::Failure;

/// The table. Whatever is the asker's fault is wrong usage; whatever is the cluster's is a broken cluster.
pub(crate) fn exit_of(code: Code) -> Exit {
    match code {
        Code::Ok => Exit::Done,
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::PermissionDenied
        | Code::Unauthenticated => Exit::Usage,
        Code::DeadlineExceeded => Exit::TimedOut,
        Code::Unavailable
        | Code::Cancelled
        | Code::Unknown
        | Code::ResourceExhausted
        | Code::Aborted
        | Code::Unimplemented
        | Code::Internal
        | Code::DataLoss => Exit::Broke,
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        let text = status.message();
        let mut parts = text.split("\nhelp: ");
        let first = parts.next().unwrap_or_default().trim();
        let lost =
            matches!(status.code(), Code::Unavailable | Code::Unknown) && std::error::Error::source(&status).is_some();
        let message = match (first.is_empty(), status.code()) {
            // tonic's words are those of its layers; the innermost cause is the system's.
            _ if lost => format!("the master went away: {}", innermost(&status)),
            (false, Code::Internal | Code::Unknown) => format!("the cluster answered: {first}"),
            (false, _) => first.to_owned(),
            (true, code) => format!("the cluster answered `{code}` without a word"),
        };
        let failure =
            parts.filter(|_| !lost).fold(Failure::new(exit_of(status.code()), message), |f, help| f.help(help.trim()));
        if lost { failure.help("is the master still running? `howdah cluster` tells") } else { failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_askers_fault_is_wrong_usage_and_the_clusters_is_not() {
        assert_eq!(exit_of(Code::NotFound), Exit::Usage);
        assert_eq!(exit_of(Code::AlreadyExists), Exit::Usage);
        assert_eq!(exit_of(Code::Unavailable), Exit::Broke);
        assert_eq!(exit_of(Code::DeadlineExceeded), Exit::TimedOut);
    }

    #[test]
    fn advice_in_a_status_becomes_a_help_line() {
        let failure = Failure::from(Status::not_found("no job `job_1_0001`\nhelp: `howdah job list` shows them all"));
        assert_eq!(failure.to_string(), "error: no job `job_1_0001`\nhelp: `howdah job list` shows them all");
        assert_eq!(failure.exit(), Exit::Usage);
    }
}
