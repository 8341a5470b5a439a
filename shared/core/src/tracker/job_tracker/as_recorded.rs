//! Decisions that were made before: a start of the master applies them where it would decide otherwise.
//!
//! What workers run was decided once, by another build perhaps or by a program that does not answer alike twice. The
//! policy is notified of everything and asked nothing: launches, preemptions and reservations come from the record, in the
//! order in which they were made. All else follows from the inputs as ever, so the effects are those of the record too, and
//! whoever calls this compares them.

use super::JobTracker;
use super::heartbeat_rounds::Answered;
use crate::cluster::{EndCause, WorkerState};
use crate::job::{AttemptId, WorkerId};
use crate::schedulers::{Assignment, Round};
use crate::time::Time;
use crate::tracker::{Effect, Input, Preemption, Recorded, RecordedLaunch, Reservation};

impl JobTracker {
    /// As [`apply`](JobTracker::apply), but with what was decided then instead of what the policy decides now. The
    /// effects differ from those of the record where that does not fit the state.
    pub fn apply_recorded(&mut self, now: Time, inputs: &[Input], recorded: Recorded, effects: &mut Vec<Effect>) {
        self.recorded = Some(Box::new(recorded));
        self.apply(now, inputs, effects);
        self.recorded = None;
    }

    /// What the policy preempted in the last batch.
    pub fn preempted(&self) -> &[Preemption] {
        &self.preempted
    }

    /// The slots that the policy kept for a job in the last batch, or let go.
    pub fn reserved(&self) -> &[Reservation] {
        &self.reserved
    }

    /// Offers parked workers what they were given then.
    pub(super) fn offer_recorded(&mut self) {
        while let Some(next) = self.recorded.as_ref().and_then(|recorded| recorded.launches.front()) {
            let id = next.worker;
            let parked = self.state.worker(id).is_some_and(|worker| worker.parked.is_some());
            if !parked || self.run_recorded_round(id, true) == 0 {
                break;
            }
            self.answer(id, false);
        }
        self.wake = [false; 2];
        self.wake_all = false;
    }

    /// A worker's turn, in which it gets what it got then.
    pub(super) fn run_recorded_round(&mut self, id: WorkerId, parked: bool) -> u32 {
        let worker = &self.state.workers[id.0 as usize];
        if worker.state != WorkerState::Live || !worker.accepts || worker.free == [0, 0] {
            return 0;
        }
        let [free_maps, free_reduces] = worker.free;
        let round = Round { now: self.state.now, worker: id, free_maps, free_reduces, parked };
        self.scheduler.begin_round(&round, &self.state);
        let mut launched = 0;
        while let Some(RecordedLaunch { attempt, locality, speculative, .. }) = self.next_recorded(id) {
            let AttemptId { job, kind, index, .. } = attempt;
            if !self.launch(id, &Assignment { job, kind, index, locality, speculative }, &mut Answered) {
                break;
            }
            launched += 1;
        }
        self.scheduler.end_round(&self.state, &mut self.actions);
        self.apply_actions(Some(id));
        launched
    }

    /// The next launch that the worker is sent before any other worker is, and that it was not sent before.
    fn next_recorded(&self, id: WorkerId) -> Option<RecordedLaunch> {
        let launches = &self.recorded.as_ref()?.launches;
        let mut own = launches.iter().take_while(|launch| launch.worker == id);
        own.find(|launch| self.state.find_on(id, launch.attempt).is_none()).copied()
    }

    /// Preempts and reserves what was preempted and reserved then after this turn; what the policy asks for now is
    /// dropped.
    pub(super) fn act_as_recorded(&mut self, turn: Option<WorkerId>) {
        self.actions.list.clear();
        let Some(recorded) = &mut self.recorded else { return };
        let of_turn = |preemption: &mut Preemption| preemption.turn == turn;
        let preempted: Vec<Preemption> = recorded.preemptions.extract_if(.., of_turn).collect();
        let of_turn = |reservation: &mut Reservation| reservation.turn == turn;
        let reserved: Vec<Reservation> = recorded.reservations.extract_if(.., of_turn).collect();
        for preemption in preempted {
            if let Some(slot) = self.state.find(preemption.attempt) {
                self.preempted.push(preemption);
                self.order_kill(slot, EndCause::Preempted, false);
            }
        }
        reserved.into_iter().for_each(|reservation| self.reserve(reservation));
    }
}
