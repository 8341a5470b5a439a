//! What happens to workers, as the simulation plays it: they stop and come back, map outputs go with them, attributes
//! change.
//!
//! From the instant at which a worker stops nothing that runs on it ends, and its map outputs cannot be fetched,
//! though the master believes in both until it notices. Reduces of the jobs concerned that have not sorted yet wait:
//! they hold their slots as fillers until those maps have run again, and then pay their first shuffle anew, as the
//! trace does not say which outputs they had already. Reduces that have sorted go on. Under the `mumak` model
//! reduces that have all maps need nothing more. `Deviation:` in Hadoop, reduces that cannot fetch tell the master,
//! which may run the maps again before the worker's expiry; here it waits for the expiry or the worker's return.

use super::super::ends::TieBreak;
use super::super::job::SimJob;
use super::super::losses::Change;
use super::{Order, Simulation};
use crate::job::{AttemptState, JobState, TaskKind, WorkerId};
use crate::tracker::Finished;

impl Simulation<'_> {
    /// Workers go and come.
    pub(super) fn change_workers(&mut self) {
        while let Some(change) = self.stage.machines.losses.change_at(self.stage.now) {
            match change {
                Change::Stopped(worker) => {
                    self.stage.heartbeats.silence(worker);
                    let attempts = self.tracker.state().attempts();
                    self.stage
                        .ends
                        .forget(|end| attempts.get(end.attempt).is_some_and(|attempt| attempt.worker() == worker));
                    self.stage.sharing.stop_all(worker, self.stage.now);
                    self.orders.retain(|order| order.worker != worker);
                    self.stopped.push(worker);
                }
                Change::Noticed(goodbye) => self.inputs.push(goodbye),
                Change::Back(worker, hello) => {
                    self.inputs.push(hello);
                    self.stage.heartbeats.speak(worker);
                }
            }
        }
    }

    /// Workers that have something else to say of themselves do so at once, as live ones do.
    pub(super) fn change_attributes(&mut self) {
        for (_, worker, attributes) in self.attributes.take_at(self.stage.now) {
            if self.stage.machines.losses.set_attributes(*worker, attributes) {
                self.stage.heartbeats.turn(*worker);
                self.saying.push((*worker, attributes.clone()));
            }
        }
    }

    /// Gives the workers that are answered at this instant their orders. What was planned for later comes to nothing.
    #[inline(never)]
    pub(super) fn hand_out_orders(&mut self) {
        let now = self.stage.now;
        self.orders.retain(|order| order.at > now);
        for Order { worker, attempt, .. } in
            self.orders.extract_if(.., |order| self.stage.heartbeats.is_answered(order.worker))
        {
            if let Some(attempt) = self.tracker.state().reference(worker, attempt) {
                self.stage.ends.plan(now, TieBreak::Last, Finished { attempt, state: AttemptState::Killed });
            }
        }
    }

    /// Takes the map outputs of the workers that stopped at this instant from the reduces that need them. What
    /// ended at the instant itself has been reported before.
    #[inline(never)]
    pub(super) fn take_outputs(&mut self) {
        for worker in std::mem::take(&mut self.stopped) {
            for (job, map) in self.outputs_on(worker) {
                if self.stage.jobs[job].at_risk.make().unreachable.insert(map) {
                    self.output_gone(job);
                }
            }
        }
    }

    /// Map outputs that lie on a worker and that reduces may need, by place of the job and index.
    fn outputs_on(&self, worker: WorkerId) -> Vec<(usize, u32)> {
        let mut outputs = Vec::new();
        for job in self.tracker.state().jobs() {
            let (maps, reduces) = (job.tasks(TaskKind::Map), job.tasks(TaskKind::Reduce));
            let needed = job.state() == JobState::Running && !reduces.is_empty() && !reduces.all_done();
            if needed && job.touched.contains(worker.0) {
                let lost = (0..maps.len()).filter(|&map| maps.winner(map).is_some_and(|winner| winner.0 == worker));
                outputs.extend(lost.map(|map| (job.id().0 as usize - 1, map)));
            }
        }
        outputs
    }

    /// The master has noticed: the map runs again.
    pub(super) fn on_output_lost(&mut self, job: usize, map: u32) {
        self.stage.tasks_done -= 1;
        let at_risk = self.stage.jobs[job].at_risk.get_mut();
        if !at_risk.is_some_and(|at_risk| at_risk.unreachable.remove(&map)) {
            self.output_gone(job);
        }
    }

    /// One map output less: reduces that have not sorted wait for it.
    fn output_gone(&mut self, job: usize) {
        let now = self.stage.now;
        let SimJob { maps_left, at_risk, .. } = &mut self.stage.jobs[job];
        *maps_left += 1;
        let reducing = &mut at_risk.make().reducing;
        let (sorted, waiting): (Vec<_>, Vec<_>) = reducing.drain(..).partition(|reduce| reduce.sorted <= now);
        *reducing = sorted;
        if waiting.is_empty() {
            return;
        }
        for reduce in &waiting {
            self.stage.wait_for_maps(reduce.attempt);
            if self.stage.sharing.is_active() {
                self.stage.sharing.stop(reduce.attempt.worker, now, reduce.attempt.attempt);
            }
            if let Some(watch) = &mut self.stage.watch {
                watch.waits(reduce.attempt.attempt);
            }
        }
        self.stage.jobs[job].fillers.sort_by_key(|filler| filler.reference.launch);
        let is_void = |attempt| waiting.iter().any(|reduce| reduce.attempt.reference == attempt);
        // An order to stop stays on its way.
        self.stage.ends.forget(|end| end.state != AttemptState::Killed && is_void(end.attempt));
    }
}
