//! Inputs of the core as the journal records them, each with its way back.

use std::sync::Arc;

use howdah_core::job::{JobId, JobSpec, Locality, Priority, TaskKind, WorkerId};
use howdah_core::tracker::{Effect, Input, Preemption, Recorded, RecordedLaunch, Report, Reservation, SchedulerChoice};

use super::{ConvertError, attempt_id, registration};
use crate::v1;
use crate::v1::journal_input::Kind;

impl From<&Input> for v1::JournalInput {
    fn from(input: &Input) -> v1::JournalInput {
        let kind = match input {
            Input::Submit { job, spec } => {
                // A specification has string keys only, so it always has a JSON form.
                let spec_json = serde_json::to_vec(&**spec).expect("specifications serialise");
                Kind::Submit(v1::JournalSubmit { job: job.0, spec_json })
            }
            Input::Register(registration) => Kind::Register(v1::JournalRegister {
                worker: registration.worker.0,
                request: Some((&**registration).into()),
            }),
            Input::Report(report) => Kind::Report((&**report).into()),
            Input::KillJob { job } => Kind::KillJob(job.0),
            Input::KillAttempt { attempt, fail } => {
                Kind::KillAttempt(v1::JournalKillAttempt { attempt: Some((*attempt).into()), fail: *fail })
            }
            Input::SetPriority { job, priority } => {
                Kind::SetPriority(v1::JournalSetPriority { job: job.0, priority: *priority as u32 })
            }
            Input::SetQueue { job, queue } => {
                Kind::SetQueue(v1::JournalSetQueue { job: job.0, queue: queue.to_string() })
            }
            Input::Drain { worker, drain } => Kind::Drain(v1::JournalDrain { worker: worker.0, drain: *drain }),
            Input::Enable { worker } => Kind::Enable(v1::JournalEnable { worker: worker.0 }),
            Input::CannotServe { worker, job } => {
                Kind::CannotServe(v1::JournalCannotServe { worker: worker.0, job: job.0 })
            }
            Input::Reach { worker, reachable } => {
                Kind::Reach(v1::JournalReach { worker: worker.0, reachable: *reachable })
            }
            Input::SetScheduler(choice) => Kind::SetScheduler((&**choice).into()),
            Input::Goodbye { worker, incarnation } => {
                Kind::Goodbye(v1::GoodbyeRequest { worker: worker.0, incarnation: *incarnation })
            }
            Input::Gone { worker, incarnation } => {
                Kind::Gone(v1::GoodbyeRequest { worker: worker.0, incarnation: *incarnation })
            }
            Input::JobCommitted { job, ok } => {
                Kind::Committed(v1::JournalCommitted { job: job.0, ok: *ok, problem: String::new() })
            }
            Input::OutputGone { job, attempts } => {
                let attempts = attempts.iter().map(|&attempt| attempt.into()).collect();
                Kind::OutputGone(v1::JournalOutputGone { job: job.0, attempts })
            }
            Input::Tick => Kind::Tick(v1::JournalTick {}),
            Input::Snapshot(choice) => Kind::Snapshot((&**choice).into()),
            Input::Recovered => Kind::Recovered(v1::JournalRecovered {}),
        };
        v1::JournalInput { kind: Some(kind) }
    }
}

impl TryFrom<&v1::JournalInput> for Input {
    type Error = ConvertError;

    fn try_from(wire: &v1::JournalInput) -> Result<Input, ConvertError> {
        Ok(match wire.kind.as_ref().ok_or(ConvertError::Missing { field: "inputs.kind" })? {
            Kind::Submit(submit) => {
                let spec: JobSpec = serde_json::from_slice(&submit.spec_json)
                    .map_err(|e| ConvertError::Document { field: "submit.spec_json", problem: e.to_string() })?;
                Input::Submit { job: JobId(submit.job), spec: Arc::new(spec) }
            }
            Kind::Register(register) => {
                let request = register.request.as_ref().ok_or(ConvertError::Missing { field: "register.request" })?;
                Input::Register(Box::new(registration(WorkerId(register.worker), request)?))
            }
            Kind::Report(report) => Input::Report(Box::new(Report::try_from(report)?)),
            Kind::KillJob(job) => Input::KillJob { job: JobId(*job) },
            Kind::KillAttempt(kill) => {
                Input::KillAttempt { attempt: attempt_id("kill_attempt.attempt", kill.attempt)?, fail: kill.fail }
            }
            Kind::SetPriority(set) => Input::SetPriority { job: JobId(set.job), priority: priority(set.priority)? },
            Kind::SetQueue(set) => Input::SetQueue { job: JobId(set.job), queue: set.queue.as_str().into() },
            Kind::Drain(drain) => Input::Drain { worker: WorkerId(drain.worker), drain: drain.drain },
            Kind::Enable(enable) => Input::Enable { worker: WorkerId(enable.worker) },
            Kind::CannotServe(it) => Input::CannotServe { worker: WorkerId(it.worker), job: JobId(it.job) },
            Kind::Reach(it) => Input::Reach { worker: WorkerId(it.worker), reachable: it.reachable },
            Kind::SetScheduler(choice) => Input::SetScheduler(Box::new(choice.into())),
            Kind::Goodbye(goodbye) => {
                Input::Goodbye { worker: WorkerId(goodbye.worker), incarnation: goodbye.incarnation }
            }
            Kind::Gone(gone) => Input::Gone { worker: WorkerId(gone.worker), incarnation: gone.incarnation },
            Kind::Committed(committed) => Input::JobCommitted { job: JobId(committed.job), ok: committed.ok },
            Kind::OutputGone(gone) => {
                let attempt = |&wire: &v1::AttemptId| attempt_id("output_gone.attempts", Some(wire));
                let attempts: Result<Box<[_]>, _> = gone.attempts.iter().map(attempt).collect();
                Input::OutputGone { job: JobId(gone.job), attempts: attempts? }
            }
            Kind::Tick(_) => Input::Tick,
            Kind::Snapshot(choice) => Input::Snapshot(Box::new(choice.into())),
            Kind::Recovered(_) => Input::Recovered,
        })
    }
}

impl From<&SchedulerChoice> for v1::SetSchedulerRequest {
    fn from(choice: &SchedulerChoice) -> v1::SetSchedulerRequest {
        v1::SetSchedulerRequest { name: choice.name.clone(), params: choice.params.clone().into_iter().collect() }
    }
}

impl From<&v1::SetSchedulerRequest> for SchedulerChoice {
    fn from(wire: &v1::SetSchedulerRequest) -> SchedulerChoice {
        SchedulerChoice { name: wire.name.clone(), params: wire.params.clone().into_iter().collect() }
    }
}

fn priority(value: u32) -> Result<Priority, ConvertError> {
    let index = value as usize;
    Priority::ALL.get(index).copied().ok_or(ConvertError::Enum { field: "set_priority.priority", value: value.into() })
}

/// The decision in an effect: a launch. `None` for all others.
pub fn decision(effect: &Effect) -> Option<v1::JournalDecision> {
    let Effect::Launch { worker, attempt, locality, speculative } = *effect else { return None };
    Some(v1::JournalDecision {
        worker: worker.0,
        attempt: Some(attempt.into()),
        locality: locality as u32,
        speculative,
    })
}

/// What a frame says of the decisions of its batch.
///
/// # Errors
/// Names the field that makes no sense.
pub fn recorded(frame: &v1::JournalFrame) -> Result<Recorded, ConvertError> {
    let launch = |launch: &v1::JournalDecision| {
        Ok(RecordedLaunch {
            worker: WorkerId(launch.worker),
            attempt: attempt_id("decisions.attempt", launch.attempt)?,
            locality: locality(launch.locality)?,
            speculative: launch.speculative,
        })
    };
    let preemption = |preempted: &v1::JournalPreemption| {
        let turn = preempted.after_worker.checked_sub(1).map(WorkerId);
        Ok(Preemption { attempt: attempt_id("preempted.attempt", preempted.attempt)?, turn })
    };
    Ok(Recorded {
        launches: frame.decisions.iter().map(launch).collect::<Result<_, ConvertError>>()?,
        preemptions: frame.preempted.iter().map(preemption).collect::<Result<_, ConvertError>>()?,
        reservations: frame.reserved.iter().map(Reservation::from).collect(),
    })
}

impl From<&Preemption> for v1::JournalPreemption {
    fn from(preemption: &Preemption) -> v1::JournalPreemption {
        v1::JournalPreemption {
            attempt: Some(preemption.attempt.into()),
            after_worker: preemption.turn.map_or(0, |worker| worker.0 + 1),
        }
    }
}

impl From<&Reservation> for v1::JournalReservation {
    fn from(reservation: &Reservation) -> v1::JournalReservation {
        v1::JournalReservation {
            worker: reservation.worker.0,
            reduce: reservation.kind == TaskKind::Reduce,
            job: reservation.job.map_or(0, |job| job.0),
            after_worker: reservation.turn.map_or(0, |worker| worker.0 + 1),
        }
    }
}

impl From<&v1::JournalReservation> for Reservation {
    fn from(wire: &v1::JournalReservation) -> Reservation {
        Reservation {
            worker: WorkerId(wire.worker),
            kind: if wire.reduce { TaskKind::Reduce } else { TaskKind::Map },
            job: (wire.job > 0).then_some(JobId(wire.job)),
            turn: wire.after_worker.checked_sub(1).map(WorkerId),
        }
    }
}

/// A locality by its wire number.
///
/// # Errors
/// When the number is unknown.
pub fn locality(value: u32) -> Result<Locality, ConvertError> {
    match value {
        0 => Ok(Locality::Node),
        1 => Ok(Locality::Rack),
        2 => Ok(Locality::OffRack),
        3 => Ok(Locality::Unknown),
        _ => Err(ConvertError::Enum { field: "decisions.locality", value: value.into() }),
    }
}
