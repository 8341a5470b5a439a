//! Who is there: silent workers, closed connections, names that are taken, and what the log says of all that.
//!
//! Nothing here changes a decision but by an input: of a worker whose connection closed, and that did not come back within
//! seconds, the core is told that it is gone.

use howdah_core::job::{JobState, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Effect, Input, WorkerState};
use howdah_guards::Guard;
use howdah_proto::v1;

use super::{Caller, CoreError, Engine};
use crate::tables::{Going, why_listed};

/// How long a worker whose connection closed may take to come back through another.
const COMES_BACK: Span = Span::from_secs(3);
impl Engine {
    /// Notes that the workers which spoke through a connection have none now.
    pub(super) fn connection_closed(&mut self, connection: u64) {
        let now = self.clock.read();
        for row in &mut self.tables.workers {
            if row.presence.connection == connection && row.state != WorkerState::Lost {
                row.presence.closed = Some(now);
            }
        }
    }

    /// Finds the workers that are silent by now, and those that are gone.
    pub(super) fn look(&mut self) {
        let now = self.clock.read();
        let trusts_silence = now >= self.trust_from;
        let interval_ms = self.recorder.tracker().interval_ms();
        let mut gone = Vec::new();
        for (number, row) in self.tables.workers.iter_mut().enumerate() {
            if row.state == WorkerState::Lost {
                continue;
            }
            let quiet = now.since(row.last_contact.max(self.trust_from));
            let silent = quiet > row.presence.patience(interval_ms);
            if trusts_silence && silent != std::mem::replace(&mut row.presence.silent, silent) {
                let (worker, seconds) = (&*row.name, quiet.as_secs_f64());
                if silent {
                    tracing::warn!(worker, "a worker is silent: no heartbeat for {seconds:.1} s");
                } else {
                    tracing::info!(worker, "a worker sends heartbeats again");
                }
            }
            let due = row.presence.back_by(row.last_contact, self.trust_closings_from, COMES_BACK);
            if due.is_some_and(|due| due <= now) {
                row.presence.going.get_or_insert(Going::Closed);
                row.presence.closed = None;
                gone.push(Input::Gone { worker: WorkerId(number as u32), incarnation: row.incarnation });
            }
        }
        gone.into_iter().for_each(|input| self.record(input));
    }

    /// Why a worker may not register under its name: one of that name is alive, and this is not the same process.
    pub(super) fn name_taken(
        &self,
        worker: WorkerId,
        request: &v1::RegisterRequest,
        from: Caller,
    ) -> Option<CoreError> {
        let row = self.tables.worker(worker).filter(|row| row.state != WorkerState::Lost)?;
        let presence = &row.presence;
        let same = presence.connection == from.connection || presence.connection == 0 || from.connection == 0;
        let quiet = self.clock.read().since(row.last_contact);
        let alive = presence.closed.is_none() && quiet <= presence.patience(self.recorder.tracker().interval_ms());
        if same || !alive || !Guard::WorkerNames.stands() {
            return None;
        }
        let place = |host: &str, http: &str| format!("host `{host}`, HTTP address {http}");
        let peer = from.address.map_or_else(String::new, |ip| format!(", speaking from {ip}"));
        Some(CoreError::NameTaken {
            name: request.name.clone(),
            there: place(&row.host, &row.http_address),
            here: place(&request.host, &request.http_address) + &peer,
        })
    }

    /// Whether the core refuses a registration as an earlier run of the worker.
    pub(super) fn is_stale(&self, worker: WorkerId, incarnation: u64) -> bool {
        let free = self.recorder.tracker().config().free_lost_names;
        let Some(row) = self.tables.worker(worker) else { return false };
        incarnation < row.incarnation && !(free && row.state == WorkerState::Lost)
    }

    /// Tells the log of workers that go and of jobs that end; the tables do not know yet.
    pub(super) fn log(&self, effect: &Effect, now: Time) {
        match *effect {
            Effect::WorkerState { worker, state } => self.log_worker(worker, state, now),
            Effect::JobState { job, state } if state.is_final() => {
                let Some(row) = self.tables.jobs.get(&job) else { return };
                let (id, name) = (&row.meta.file.id, &*row.meta.file.spec.name);
                let seconds = now.since(Time::from_ms(row.meta.file.submit_ms_epoch)).as_secs_f64();
                let state_name = state.name();
                if state == JobState::Succeeded {
                    tracing::info!(job = id, name, "a job succeeded after {seconds:.1} s");
                } else {
                    tracing::warn!(job = id, name, state = state_name, "a job ended after {seconds:.1} s");
                }
            }
            _ => {}
        }
    }

    fn log_worker(&self, worker: WorkerId, state: WorkerState, now: Time) {
        let Some(row) = self.tables.worker(worker) else { return };
        let (name, attempts) = (&*row.name, row.running.iter().sum::<u32>());
        match state {
            WorkerState::Lost => match row.presence.going {
                Some(Going::Stopped) => tracing::info!(worker = name, "a worker stopped"),
                Some(Going::Closed) => {
                    tracing::warn!(worker = name, attempts, "a worker is lost: its connection closed");
                }
                Some(Going::Removed) => tracing::warn!(worker = name, attempts, "a worker was removed"),
                Some(Going::Again) => {}
                None => {
                    let seconds = now.since(row.last_contact).as_secs_f64();
                    tracing::warn!(worker = name, attempts, "a worker is lost: no heartbeat for {seconds:.1} s");
                }
            },
            WorkerState::Blacklisted => {
                let why = why_listed(self.recorder.tracker().state().worker(worker));
                tracing::warn!(worker = name, "a worker is blacklisted: {why}");
            }
            WorkerState::Draining => tracing::info!(worker = name, "a worker gets no more tasks"),
            WorkerState::Live => {}
        }
    }
}
