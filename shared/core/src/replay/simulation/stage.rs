//! Where the attempts of a simulation run: each launch is given its end, each end is counted.

use super::super::digest::DecisionDigest;
use super::super::ends::{Ends, TieBreak};
use super::super::fault_injector::FaultInjector;
use super::super::heartbeat_schedule::HeartbeatSchedule;
use super::super::job::{Placed, Reducing};
use super::super::jobs::SimJobs;
use super::super::options::ShuffleModel;
use super::super::report::ReplayReport;
use super::super::sharing::Sharing;
use super::super::watch::Watch;
use super::super::workers::Machines;
use crate::cluster::AttemptRef;
use crate::job::{AttemptId, AttemptState, JobId, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{Driver, EndCause, Ended, Finished, Launched};

/// Machines, what runs on them, and what came of it.
pub(super) struct Stage<'t> {
    pub(super) now: Time,
    pub(super) shuffle: ShuffleModel,
    pub(super) heartbeats: HeartbeatSchedule,
    pub(super) machines: Machines,
    /// Where attempts work, if they slow each other down or their progress is reported.
    pub(super) sharing: Sharing,
    pub(super) injector: FaultInjector,
    pub(super) ends: Ends,
    /// By number of job, less 1.
    pub(super) jobs: SimJobs<'t>,
    /// Empty lists for fillers of jobs to come: no more than jobs had any at a time.
    pub(super) spare_fillers: Vec<Vec<Placed>>,
    /// Attempts launched so far.
    pub(super) launches: u64,
    pub(super) tasks_done: u64,
    pub(super) report: ReplayReport,
    pub(super) digest: DecisionDigest,
    pub(super) watch: Option<Watch<'t>>,
    /// What [`Stage::computes_plain`] finds.
    pub(super) plain: bool,
}

impl Driver for Stage<'_> {
    /// Its end is planned, unless it has to wait for maps.
    #[inline(always)]
    fn launched(&mut self, worker: WorkerId, launched: &Launched) {
        let attempt = &launched.attempt;
        self.digest.launch(self.now, worker, attempt, launched.locality, launched.speculative);
        self.launches += 1;
        if !self.plain {
            return self.launched_specially(worker, &launched.rebuilt());
        }
        let job = &mut self.jobs[attempt.job.0 as usize - 1];
        let work = match attempt.kind {
            TaskKind::Map => job.map(attempt.index),
            TaskKind::Reduce if job.maps_left > 0 => {
                let Launched { attempt, reference, .. } = launched.rebuilt();
                return self.wait_for_maps(Placed { attempt, reference, worker });
            }
            TaskKind::Reduce => self.shuffle.of(job.typical_shuffle(attempt.index)) + job.reduce(attempt.index),
        };
        self.plan_plainly(launched.reference, work);
    }

    #[inline(always)]
    fn ended(&mut self, ended: Ended) {
        let Ended { attempt: id, started, .. } = ended;
        if !self.plain {
            self.watch_end(id, AttemptState::Succeeded, EndCause::Reported);
        }
        self.give_back(id, started);
        self.tasks_done += 1;
        if id.kind == TaskKind::Map {
            self.map_done(id.job);
        }
    }
}

impl<'t> Stage<'t> {
    /// An independent copy, not observed.
    pub(super) fn fork(&self) -> Stage<'t> {
        Stage {
            now: self.now,
            shuffle: self.shuffle,
            heartbeats: self.heartbeats.clone(),
            machines: self.machines.clone(),
            sharing: self.sharing.clone(),
            injector: self.injector.clone(),
            ends: self.ends.clone(),
            jobs: self.jobs.clone(),
            spare_fillers: Vec::new(),
            launches: self.launches,
            tasks_done: self.tasks_done,
            report: self.report.clone(),
            digest: self.digest.clone(),
            watch: None,
            plain: false,
        }
    }

    /// Whether an attempt takes just its task's time and is reported at once, and nobody watches: no faults, no
    /// heterogeneous or shared machines, no distance, no waiting for heartbeats.
    pub(super) fn computes_plain(&self) -> bool {
        !self.sharing.is_active()
            && self.watch.is_none()
            && self.injector.are_plain()
            && self.machines.are_plain()
            && self.heartbeats.are_plain()
    }

    /// Plans the end of an attempt that has so much work left from now on, where all is plain.
    #[inline(always)]
    fn plan_plainly(&mut self, attempt: AttemptRef, work: Span) {
        self.ends.plan(self.now + work, TieBreak::ByLaunch, Finished { attempt, state: AttemptState::Succeeded });
    }

    /// A launch where not all is plain.
    #[inline(never)]
    fn launched_specially(&mut self, worker: WorkerId, launched: &Launched) {
        let &Launched { attempt, reference, locality, speculative } = launched;
        self.heartbeats.launched(worker);
        if let Some(watch) = &mut self.watch {
            watch.launched(attempt, worker, self.now, locality, speculative);
        }
        let placed = Placed { attempt, reference, worker };
        if self.sharing.is_active() {
            return self.launch_sharing(placed, locality);
        }
        let job = &mut self.jobs[attempt.job.0 as usize - 1];
        let template = job.outcome.template;
        if let Some((state, after)) = self.injector.scripted(template, attempt) {
            self.plan_at(worker, after, Finished { attempt: reference, state });
            return;
        }
        match attempt.kind {
            TaskKind::Map => {
                let work = self.machines.at_distance(job.map(attempt.index), locality);
                self.plan_end(placed, template, work);
            }
            TaskKind::Reduce if job.maps_left > 0 => self.wait_for_maps(placed),
            TaskKind::Reduce => {
                let (shuffle, reduce) = (job.typical_shuffle(attempt.index), job.reduce(attempt.index));
                self.plan_reduce(placed, shuffle, reduce, false);
            }
        }
    }

    /// Lets a reduce wait for the maps of its job, in a list that another job has left where there is one.
    #[inline(always)]
    pub(super) fn wait_for_maps(&mut self, reduce: Placed) {
        let job = &mut self.jobs[reduce.attempt.job.0 as usize - 1];
        if job.fillers.capacity() == 0 {
            job.fillers = self.spare_fillers.pop().unwrap_or_default();
        }
        job.fillers.push(reduce);
    }

    /// Ends and launches so far.
    pub(super) fn turnover(&self) -> u64 {
        self.launches + self.tasks_done
    }

    /// Plans the end of a reduce whose maps are done; whether it waited for them.
    #[inline(never)]
    pub(super) fn plan_reduce(&mut self, launched: Placed, shuffle: Span, reduce: Span, waited: bool) {
        let Placed { attempt, worker, .. } = launched;
        let shuffle = self.shuffle.of(shuffle);
        let shares = self.sharing.is_active() && shuffle > Span::ZERO;
        // Where machines are shared only time will tell.
        let after = |work| if shares { Time::MAX } else { self.machines.end_of(worker, self.now, work) };
        if let Some(watch) = &mut self.watch {
            watch.shuffles(attempt, self.now, after(shuffle));
        }
        let template = self.jobs[attempt.job.0 as usize - 1].outcome.template;
        if self.machines.losses.any() {
            // One that fails before needs no map from then on, reported or not.
            let (_, end) = self.injector.drawn(template, attempt, shuffle + reduce);
            let reduce = Reducing { attempt: launched, sorted: after(shuffle.min(end)) };
            self.jobs[attempt.job.0 as usize - 1].at_risk.make().reducing.push(reduce);
        }
        if self.sharing.is_active() {
            return self.begin_reduce(launched, shuffle, reduce, waited);
        }
        self.plan_end(launched, template, shuffle + reduce);
    }

    /// Plans the end of an attempt that has so much work left from now on.
    #[inline(always)]
    fn plan_end(&mut self, launched: Placed, template: u32, work: Span) {
        let (state, work) = self.injector.drawn(template, launched.attempt, work);
        self.plan_at(launched.worker, work, Finished { attempt: launched.reference, state });
    }

    /// Plans an end that comes after so much work, unless its worker is down.
    #[inline(always)]
    fn plan_at(&mut self, worker: WorkerId, work: Span, end: Finished) {
        if !self.machines.losses.is_down(worker) {
            let at = self.machines.end_of(worker, self.now, work);
            self.ends.plan(self.heartbeats.reported_at(worker, at), TieBreak::ByLaunch, end);
        }
    }

    /// An attempt came to another end.
    #[inline(never)]
    pub(super) fn on_ended(&mut self, id: AttemptId, state: AttemptState, cause: EndCause, started: Time) {
        self.watch_end(id, state, cause);
        let held = self.give_back(id, started);
        self.report.wasted_us[id.kind] += held;
        let job = &mut self.jobs[id.job.0 as usize - 1];
        match state {
            AttemptState::Failed => job.outcome.failed_attempts += 1,
            _ => job.outcome.killed_attempts += 1,
        }
        job.fillers.retain(|filler| filler.attempt != id);
    }

    /// Notifies those who follow attempts of an end.
    #[inline(never)]
    fn watch_end(&mut self, id: AttemptId, state: AttemptState, cause: EndCause) {
        if let Some(watch) = &mut self.watch {
            watch.ended(id, self.now, state, cause);
        }
        if id.kind == TaskKind::Reduce
            && self.machines.losses.any()
            && let Some(at_risk) = self.jobs[id.job.0 as usize - 1].at_risk.get_mut()
        {
            at_risk.reducing.retain(|reduce| reduce.attempt.attempt != id);
        }
    }

    /// An attempt's slots are free again: how long it held them, in microseconds of one slot.
    #[inline(always)]
    fn give_back(&mut self, id: AttemptId, started: Time) -> u64 {
        let slots = self.jobs[id.job.0 as usize - 1].slots[id.kind];
        let held = self.now.since(started).as_us() * u64::from(slots);
        self.report.busy_us[id.kind] += held;
        held
    }

    /// A map's output is there, or will never be: the last one starts the shuffle of the reduces that wait.
    #[inline(always)]
    pub(super) fn map_done(&mut self, id: JobId) {
        let job = &mut self.jobs[id.0 as usize - 1];
        job.maps_left -= 1;
        if job.maps_left == 0 {
            self.all_maps_done(id);
        }
    }

    #[inline(never)]
    fn all_maps_done(&mut self, id: JobId) {
        let job = &mut self.jobs[id.0 as usize - 1];
        job.outcome.maps_done = Some(self.now);
        let mut fillers = std::mem::take(&mut job.fillers);
        for filler in fillers.drain(..) {
            let (job, index) = (&self.jobs[id.0 as usize - 1], filler.attempt.index);
            let (shuffle, reduce) = (job.first_shuffle(index), job.reduce(index));
            if self.plain {
                self.plan_plainly(filler.reference, self.shuffle.of(shuffle) + reduce);
            } else {
                self.plan_reduce(filler, shuffle, reduce, true);
            }
        }
        if fillers.capacity() > 0 {
            self.spare_fillers.push(fillers);
        }
    }
}
