//! Workers come, go, are drained and get lost.
//!
//! A lost worker's running attempts are killed, and so are its finished maps where a reduce may still need
//! their output; neither counts towards the tasks' attempts, but each job concerned charges the worker with
//! one failure. Source: `docs/hadoop.md#heartbeats`. Tasks that take one worker after another down are the business of
//! `worker_losses.rs`.

use std::collections::BTreeSet;

use super::parting::Parting;
use super::{JobTracker, attributes};
use crate::cluster::{EndCause, Worker, WorkerState};
use crate::job::{AttemptState, JobId, JobState, TaskId, TaskKind, WorkerId};
use crate::schedulers::Change;
use crate::tracker::planted::{Fault, planted};
use crate::tracker::{Effect, Registration, Rejection};

impl JobTracker {
    /// A worker says hello. Whatever ran under its name before is lost at once: a younger run of it has none of the attempts,
    /// and one that registers again was told to drop them. Map output that it still has is another matter: `kept_outputs.rs`.
    pub(super) fn on_register(&mut self, registration: &Registration) {
        let id = registration.worker;
        let known = self.state.names.get(&registration.name).copied();
        if known.unwrap_or(WorkerId(self.state.workers.len() as u32)) != id {
            self.reject(None, Rejection::WorkerOutOfOrder(id));
            return;
        }
        if known.is_some() {
            let lost = self.state.workers[id.0 as usize].state == WorkerState::Lost;
            let stale = registration.incarnation < self.state.workers[id.0 as usize].incarnation;
            if stale && !(lost && self.config.free_lost_names) {
                self.reject(Some(id), Rejection::StaleIncarnation(id));
                return;
            }
            if !lost {
                let kept = self.kept_of(registration);
                self.lose_worker_but(id, &kept, Parting::Unasked);
            }
        }
        let fresh = self.new_worker(registration);
        match known {
            None => {
                self.state.names.insert(registration.name.clone(), id);
                self.state.workers.push(fresh);
            }
            Some(_) => {
                let old = &mut self.state.workers[id.0 as usize];
                let faults = std::mem::take(&mut old.faults);
                let Worker { blacklisted, black_hole, fell_silent, .. } = *old;
                *old = Worker { faults, blacklisted, black_hole, fell_silent, ..fresh };
                if registration.starts {
                    self.trust_again(id);
                }
            }
        }
        self.forget_blindness(id);
        self.place_host(id);
        self.liveness.note_contact(id, self.state.now);
        self.state.settle_worker(id, false);
        let state = self.state.workers[id.0 as usize].state;
        self.out.push(Effect::WorkerState { worker: id, state });
        self.observe(Change::Worker { worker: id });
        self.keep_outputs(registration);
    }

    fn new_worker(&mut self, registration: &Registration) -> Worker {
        Worker {
            id: registration.worker,
            name: registration.name.clone(),
            host: self.state.topology.intern_host(&registration.host),
            host_name: registration.host.clone(),
            rack: self.state.topology.intern_rack(&registration.rack),
            rack_name: registration.rack.clone(),
            incarnation: registration.incarnation,
            attributes: attributes::in_order(&registration.attributes),
            attributes_version: 0,
            state: WorkerState::Lost,
            draining: false,
            blacklisted: false,
            black_hole: false,
            fell_silent: None,
            unreachable: false,
            slots: [registration.map_slots, registration.reduce_slots],
            occupied: [0; 2],
            free: if self.direct { [registration.map_slots, registration.reduce_slots] } else { [0; 2] },
            accepts: self.direct,
            attempts: Default::default(),
            last_contact: self.state.now,
            vitals: Default::default(),
            response_id: 0,
            parked: None,
            news: false,
            calling: 0,
            may_park: false,
            forget: Default::default(),
            strays: Default::default(),
            faults: Default::default(),
            reserved: [None; 2],
        }
    }

    /// Notes the rack of the worker's host, and tells the jobs with data there if that is news.
    fn place_host(&mut self, id: WorkerId) {
        let (host, rack) = (self.state.workers[id.0 as usize].host, self.state.workers[id.0 as usize].rack);
        if !self.state.topology.place(host, rack) {
            return;
        }
        let ids: Vec<JobId> = self.state.jobs().map(|job| job.id).collect();
        for id in ids {
            let Some(job) = self.state.jobs.get_mut(id) else { continue };
            if let Some(places) = job.locality.as_mut().filter(|places| places.names(host)) {
                places.place_racks(&job.spec, &job.tasks[0].pending, &self.state.topology);
            }
        }
    }

    /// The worker stops of its own accord, or is known to be gone.
    pub(super) fn on_goodbye(&mut self, id: WorkerId, incarnation: u64, parting: Parting) {
        match self.state.worker(id) {
            Some(worker) if worker.state != WorkerState::Lost => {
                if worker.incarnation == incarnation {
                    self.lose_worker(id, parting);
                } else {
                    self.reject(Some(id), Rejection::StaleIncarnation(id));
                }
            }
            _ => self.reject(Some(id), Rejection::UnknownWorker(id)),
        }
    }

    pub(super) fn on_drain(&mut self, id: WorkerId, drain: bool) {
        match self.state.workers.get_mut(id.0 as usize).filter(|worker| worker.state != WorkerState::Lost) {
            Some(worker) => {
                worker.draining = drain;
                self.settle_worker(id);
            }
            None => self.reject(None, Rejection::UnknownWorker(id)),
        }
    }

    /// Brings a worker's state up to date after one of its flags changed.
    pub(super) fn settle_worker(&mut self, id: WorkerId) {
        let lost = self.state.workers[id.0 as usize].state == WorkerState::Lost;
        if !self.state.settle_worker(id, lost) {
            return;
        }
        let state = self.state.workers[id.0 as usize].state;
        self.out.push(Effect::WorkerState { worker: id, state });
        self.observe(Change::Worker { worker: id });
        // It may take work now, or what only it could not run before may go elsewhere.
        self.wake = [true; 2];
    }

    /// A worker is gone with all that runs on it and the map output that it serves.
    pub(super) fn lose_worker(&mut self, id: WorkerId, parting: Parting) {
        self.lose_worker_but(id, &BTreeSet::new(), parting);
    }

    /// As [`JobTracker::lose_worker`], but for these map outputs.
    fn lose_worker_but(&mut self, id: WorkerId, kept: &BTreeSet<TaskId>, parting: Parting) {
        self.liveness.remove(id);
        self.state.failing.remove(&id);
        let worker = &mut self.state.workers[id.0 as usize];
        let was_parked = self.parking.leave(worker);
        let was_calling = std::mem::take(&mut worker.calling) != 0;
        let was_drained = std::mem::take(&mut worker.draining);
        worker.news = false;
        worker.free = [0; 2];
        worker.forget.clear();
        worker.strays.clear();
        worker.reserved = [None; 2];
        let response_id = worker.response_id;
        if was_parked || was_calling {
            self.out.push(Effect::Reinit { worker: id });
            self.out.push(Effect::Answer { worker: id, response_id, interval_ms: 0 });
        }
        self.state.settle_worker(id, true);
        self.out.push(Effect::WorkerState { worker: id, state: WorkerState::Lost });
        self.observe(Change::Worker { worker: id });
        let concerned = self.charge_for_loss(id, kept);
        let was_asked = was_drained || parting == Parting::Asked;
        let last_straw = if was_asked { None } else { self.charge_tasks(id) };
        while let Some(&slot) = self.state.workers[id.0 as usize].attempts.last() {
            let attempt = self.state.attempts.at(slot);
            if Some(attempt.id) == last_straw && !attempt.detached {
                self.use_up(attempt.id.task());
                self.end_attempt(slot, AttemptState::Failed, EndCause::TooManyWorkerLosses);
            } else {
                self.end_attempt(slot, AttemptState::Killed, EndCause::WorkerLost);
            }
        }
        for (job, maps) in concerned {
            for map in maps.into_iter().filter(|_| !planted(Fault::ForgetLostMap)) {
                self.lose_output(job, map, EndCause::WorkerLost);
            }
        }
        self.state.workers[id.0 as usize].news = false;
        // What others left to it, as it had failed on them, is theirs now.
        self.wake = [true; 2];
    }

    /// Charges the loss to the jobs that have something on the worker; returns the map outputs that each of
    /// them loses.
    fn charge_for_loss(&mut self, id: WorkerId, kept: &BTreeSet<TaskId>) -> Vec<(JobId, Vec<u32>)> {
        let running: BTreeSet<JobId> =
            self.state.attempts_on(id).filter(|attempt| !attempt.detached).map(|attempt| attempt.id.job).collect();
        let mut concerned = Vec::new();
        for job in self.jobs_that_used(id) {
            let mut maps = self.outputs_on(job, id);
            maps.retain(|&index| !kept.contains(&TaskId { job, kind: TaskKind::Map, index }));
            if running.contains(&job) || !maps.is_empty() {
                self.charge_worker(job, id);
                concerned.push((job, maps));
            }
        }
        concerned
    }

    /// Maps of a job whose output lies on a worker and may still be fetched.
    pub(super) fn outputs_on(&self, job: JobId, worker: WorkerId) -> Vec<u32> {
        let Some(job) = self.state.job(job) else { return Vec::new() };
        let [maps, reduces] = &job.tasks;
        let needed = job.state == JobState::Running && job.ending.is_none();
        if !needed || reduces.is_empty() || reduces.all_done() {
            return Vec::new();
        }
        (0..maps.len()).filter(|&map| maps.winner(map).is_some_and(|(winner, _)| winner == worker)).collect()
    }
}
