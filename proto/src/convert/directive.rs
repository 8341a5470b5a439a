//! What the master tells workers.

use howdah_core::job::WorkerId;
use howdah_core::tracker::{Effect, EndCause};

use crate::v1;
use crate::v1::directive::Kind;

/// The directive in an effect and the worker that it is for; `None` for effects that are no directives.
pub fn directive(effect: &Effect) -> Option<(WorkerId, v1::Directive)> {
    let (worker, kind) = match *effect {
        Effect::Launch { worker, attempt, speculative, .. } => {
            (worker, Kind::Launch(v1::Launch { attempt: Some(attempt.into()), speculative }))
        }
        Effect::Kill { worker, attempt, cause } => {
            (worker, Kind::Kill(v1::Kill { attempt: Some(attempt.into()), why: cause_text(cause).to_owned() }))
        }
        Effect::Commit { worker, attempt } => (worker, Kind::Commit(attempt.into())),
        Effect::ForgetJob { worker, job } => (worker, Kind::ForgetJob(job.0)),
        Effect::Reinit { worker } => (worker, Kind::Reinit(v1::Reinit {})),
        _ => return None,
    };
    Some((worker, v1::Directive { kind: Some(kind) }))
}

/// Why an attempt ends, for people.
pub const fn cause_text(cause: EndCause) -> &'static str {
    match cause {
        EndCause::Reported => "reported by its worker",
        EndCause::LostRace => "another attempt of the task succeeded first",
        EndCause::JobEnded => "the job ended",
        EndCause::Requested => "killed by request",
        EndCause::WorkerLost => "its worker was lost",
        EndCause::LaunchExpired => "the worker never reported the launch",
        EndCause::TooManyFetchFailures => "too many fetch failures of its output",
        EndCause::Preempted => "preempted by the scheduler",
        EndCause::Vanished => "the worker stopped reporting it",
        EndCause::Unserved => "its worker cannot see the job's files",
        EndCause::Unreachable => "nobody can fetch its output from its worker",
        EndCause::OutputGone => "its output was gone when the job's was to be put in its place",
        EndCause::TooManyWorkerLosses => "its worker was lost, and so were the workers of earlier attempts of its task",
    }
}
