//! When running attempts will end, and whether a job's own slots will have done all of it by some time.
//!
//! *An attempt*: what it has left takes as long as what it has done, corrected by how its worker's load was then and is
//! now: `reported_at + (1 − p) ÷ p × work × f(load now)`, where `work` is the time that it would have needed so far at no
//! load. A load that moved shows at once. Without progress it ends after the estimate for its worker; never before now.
//! One that is past the end that was estimated when its progress last moved needs as long again as it is late.
//! `Deviation:` the thesis does not say what becomes of an attempt that hangs; if it always were to end now, it would get
//! no copy, and its slot would keep slower workers from the job for ever.
//! Progress is known in ten-thousandths, rounded down; each question takes it as the answer "start" or "do not copy"
//! needs it, so that of equal ends none seems earlier.
//!
//! *A job*, of each kind by itself, as maps hold reduces up and would otherwise never matter: list scheduling on the
//! slots that it has. A slot is free when its task's first attempt ends, and then takes one pending task after the
//! other, each for the estimated time on its worker, but for as many as there are; none where its worker gets no more
//! tasks of the job. The finish is the end of the last. It is not computed: whether it comes before an instant takes one
//! look at each running attempt.

use super::jobs::{Known, Run};
use super::strain::place_of;
use super::{End, LoadAware};
use crate::cluster::{ClusterState, Job, Worker, WorkerState};
use crate::job::{Progress, TaskKind, WorkerId};
use crate::time::{Span, Time};

/// A slot of the job: when it is free, and what one more task takes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    free: Time,
    /// [`NEVER`] where it takes none.
    task_us: u64,
}

/// Of a slot whose worker gets no more tasks of the job.
const NEVER: u64 = u64::MAX;

/// Where a pending task would hold its job up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Objection {
    /// When a task would end on the worker.
    pub(super) end: Time,
    /// When the job's own slots will have done everything.
    pub(super) finish: Time,
    /// Slots that it has and that take more of it.
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
        let (progress, now) = (state.attempts().get(run.reference)?.progress(), state.now());
        if progress == Progress::ZERO {
            let end = run.started + Span::from_us(self.time_in_slot(known, run.worker)?);
            return Some(end.max(now + now.since(end)));
        }
        let all = u128::from(Progress::DONE.parts());
        let factor = u128::from(self.formula.factor_ppm(self.strains.get(run.worker)?.place()));
        let end_after = |since: Time, work_us: u64, end: End| {
            let done = (u128::from(progress.parts()) + u128::from(end == End::Earliest)).min(all);
            let us = (all - done) * u128::from(work_us) * factor / done / 1_000_000;
            since + Span::from_us(u64::try_from(us).unwrap_or(u64::MAX))
        };
        let late = now.since(end_after(run.moved, run.work_moved_us, End::Latest));
        Some(end_after(run.reported_at, run.work_us, end).max(now + late))
    }

    /// The slots of the job, those of attempts that are being stopped left out; `None` where an end is unknown.
    fn slots(&self, known: &Known, job: &Job, kind: TaskKind, state: &ClusterState) -> Option<Vec<Slot>> {
        // What failed goes first, and not to where it failed.
        let next = job.tasks(kind).failed_first().next();
        let takes_more = |worker: &Worker| {
            worker.state() == WorkerState::Live
                && state.job_may_use(job, kind, worker)
                && next.is_none_or(|index| !state.task_avoids(job, kind, index, worker.id()))
        };
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
            let more = state.worker(run.worker).is_some_and(takes_more);
            slots.push(Slot { free, task_us: if more { task_us.max(1) } else { NEVER } });
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
        let slots = slots.iter().filter(|slot| slot.task_us != NEVER).count();
        Some(Objection { end, finish: Time::from_us(late), slots, pending })
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
        let slots = self.slots(known, job, kind, state).filter(|slots| !slots.is_empty())?;
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
