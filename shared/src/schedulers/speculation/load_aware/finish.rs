//! When running attempts will end, and whether a job's own slots will have done all of it by some time.
//!
//! *An attempt*: what it has left takes as long as what it has done, corrected by how its worker's load was then and is
//! now: `told + (1 − p) ÷ p × work × f(load now)`, where `work` is the time that it would have needed so far at no
//! load. A load that moved shows at once. Without progress it ends after the estimate for its worker; never before now.
//! Progress is known in ten-thousandths, rounded down; each question takes it as the answer "start" or "do not copy"
//! needs it, so that of equal ends none seems earlier.
//!
//! *A job*, of each kind by itself, as maps hold reduces up and would otherwise never matter: list scheduling on the
//! slots that it has. A slot is free when its task's first attempt ends, and then takes one pending task after the
//! other, each for the estimated time on its worker, but for as many as there are. The finish is the end of the last.
//! It is not computed: whether it comes before an instant takes one look at each running attempt.

use super::LoadAware;
use super::jobs::{Known, Run};
use super::strain::place_of;
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{Progress, TaskKind, WorkerId};
use crate::time::{Span, Time};

/// Which end of what a rounded progress may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Earliest,
    Latest,
}

/// A slot of the job: when it is free, and what one more task takes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    free: Time,
    task_us: u64,
}

/// Where a pending task would hold its job up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Objection {
    /// When a task would end on the worker.
    pub(super) end: Time,
    /// When the job's own slots will have done everything.
    pub(super) finish: Time,
    /// Slots that it has.
    pub(super) slots: usize,
    /// Tasks that wait.
    pub(super) pending: u32,
}

impl LoadAware {
    /// How long a task of the job takes on a worker beside what runs there; `None` while none has finished.
    pub(super) fn time_on(&self, known: &Known, worker: &Worker, state: &ClusterState) -> Option<Span> {
        let reference = known.reference(worker.id())?;
        Some(Span::from_us(self.formula.time_us(reference, &place_of(worker, state, 1))))
    }

    /// The same for the next task in the slot of one that runs there.
    fn time_in_slot(&self, known: &Known, worker: WorkerId) -> Option<u64> {
        let (reference, strain) = (known.reference(worker)?, self.strains.get(worker)?);
        Some(self.formula.time_us(reference, strain.place()))
    }

    /// When a running attempt ends; `None` where nothing tells.
    pub(super) fn end_of(&self, known: &Known, run: &Run, state: &ClusterState, end: End) -> Option<Time> {
        let progress = state.attempts().get(run.reference)?.progress();
        let end = if progress == Progress::ZERO {
            run.started + Span::from_us(self.time_in_slot(known, run.worker)?)
        } else {
            let all = u128::from(Progress::DONE.parts());
            let done = (u128::from(progress.parts()) + u128::from(end == End::Earliest)).min(all);
            let factor = u128::from(self.formula.factor_ppm(self.strains.get(run.worker)?.place()));
            let us = (all - done) * u128::from(run.work_us) * factor / done / 1_000_000;
            run.told + Span::from_us(u64::try_from(us).unwrap_or(u64::MAX))
        };
        Some(end.max(state.now()))
    }

    /// The slots of the job, those of attempts that are being stopped left out; `None` where an end is unknown.
    fn slots(&self, known: &Known, state: &ClusterState) -> Option<Vec<Slot>> {
        let mut slots: Vec<Slot> = Vec::with_capacity(known.runs.len());
        let (mut task, mut first_of_task) = (None, 0);
        for (&(index, _), run) in &known.runs {
            let stops = state.attempts().get(run.reference).is_none_or(|attempt| attempt.being_killed().is_some());
            if stops {
                continue;
            }
            if task != Some(index) {
                (task, first_of_task) = (Some(index), slots.len());
            }
            let (free, task_us) = (self.end_of(known, run, state, End::Latest)?, self.time_in_slot(known, run.worker)?);
            slots.push(Slot { free, task_us: task_us.max(1) });
            // The winner's end frees the losers' slots too.
            let end = slots[first_of_task..].iter().map(|slot| slot.free).min().unwrap_or(free);
            slots[first_of_task..].iter_mut().for_each(|slot| slot.free = end);
        }
        Some(slots)
    }

    /// Whether a pending task on the worker would end later than the job without it.
    pub(super) fn objects(&self, state: &ClusterState, job: &Job, kind: TaskKind, worker: WorkerId) -> bool {
        self.without_it(state, job, kind, worker).is_some_and(|(end, pending, slots)| done_before(&slots, pending, end))
    }

    /// The same, with what it is based on.
    pub(super) fn objection(
        &self,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<Objection> {
        let (end, pending, slots) = self.without_it(state, job, kind, worker)?;
        let (mut early, mut late) = (state.now().as_us(), end.as_us());
        if !done_before(&slots, pending, end) {
            return None;
        }
        while early < late {
            let middle = early + (late - early) / 2;
            match done_before(&slots, pending, Time::from_us(middle + 1)) {
                true => late = middle,
                false => early = middle + 1,
            }
        }
        Some(Objection { end, finish: Time::from_us(late), slots: slots.len(), pending })
    }

    /// When a pending task would end on the worker, how many wait, and the slots without it.
    fn without_it(
        &self,
        state: &ClusterState,
        job: &Job,
        kind: TaskKind,
        worker: WorkerId,
    ) -> Option<(Time, u32, Vec<Slot>)> {
        let known = self.jobs.get(job.id(), kind)?;
        let end = state.now() + self.time_on(known, state.worker(worker)?, state)?;
        let slots = self.slots(known, state).filter(|slots| !slots.is_empty())?;
        Some((end, job.tasks(kind).pending().count(), slots))
    }
}

/// Whether the slots will have done what runs in them and so many tasks more before an instant.
fn done_before(slots: &[Slot], pending: u32, instant: Time) -> bool {
    let mut can = 0u64;
    for slot in slots {
        if slot.free >= instant {
            return false;
        }
        can = can.saturating_add((instant.since(slot.free).as_us() - 1) / slot.task_us);
    }
    can >= u64::from(pending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(free: u64, task_us: u64) -> Slot {
        Slot { free: Time::from_us(free), task_us }
    }

    #[test]
    fn a_job_is_done_when_its_slots_have_taken_what_waits() {
        let slots = [slot(100, 50), slot(120, 100)];
        let before = |pending, instant| done_before(&slots, pending, Time::from_us(instant));
        assert_eq!((before(0, 120), before(0, 121)), (false, true), "the end of the last that runs");
        assert_eq!((before(1, 150), before(1, 151)), (false, true), "100 + 50");
        assert_eq!(
            (before(3, 220), before(3, 221)),
            (false, true),
            "two in the first slot, one in the second until 220"
        );
        assert_eq!((before(4, 250), before(4, 251)), (false, true));
    }
}
