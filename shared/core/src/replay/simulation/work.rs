//! Attempts that share their machines, as the simulation plays them: when they begin and stop to work, and what their
//! workers report of them.
//!
//! An attempt works from its launch until it ends or an order to stop reaches it; a reduce that waits for maps does not
//! work. Under a policy that may speculate, a worker reports whenever it has a turn: its vitals, and how far each attempt
//! is at that instant. A reduce that waits is in its first third by its job's maps that are done.

use super::super::ends::TieBreak;
use super::super::job::Placed;
use super::super::jobs::SimJobs;
use super::super::machine_model::{Event, Run};
use super::stage::Stage;
use super::{Simulation, departing};
use crate::job::{AttemptId, AttemptState, Locality, PerKind, Phase, Progress, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{AttemptProgress, Finished};

impl Simulation<'_> {
    /// What happens on machines at this instant: reduces that have sorted, attempts that end.
    #[inline(never)]
    pub(super) fn work(&mut self) {
        let now = self.stage.now;
        self.stage.sharing.take_at(now, |worker, event| match event {
            Event::Done(Run { attempt, state, .. }) => {
                needs_nothing(&mut self.stage.jobs, attempt, now);
                if let Some(attempt) = self.tracker.state().reference(worker, attempt) {
                    let reported_at = self.stage.heartbeats.reported_at(worker, now);
                    self.stage.ends.plan(reported_at, TieBreak::ByLaunch, Finished { attempt, state });
                }
            }
            Event::Sorted(attempt) => {
                if let Some(watch) = &mut self.stage.watch {
                    watch.sorted(attempt, now);
                }
                needs_nothing(&mut self.stage.jobs, attempt, now);
            }
        });
    }

    /// The attempts of which the master is about to be notified have stopped.
    #[inline(never)]
    pub(super) fn stop_finished(&mut self) {
        for end in &self.finished {
            if let Some(attempt) = self.tracker.state().attempts().get(end.attempt) {
                self.stage.sharing.stop(attempt.worker(), self.stage.now, attempt.id());
            }
        }
    }

    /// An order to stop an attempt leaves at this instant. If the master learns at once that it was followed, the attempt
    /// stops then.
    pub(super) fn stop_when_reached(&mut self, worker: WorkerId, attempt: AttemptId) {
        let reached = self.stage.heartbeats.reached(worker, self.stage.now);
        if reached > self.stage.now {
            self.stage.sharing.stop_at(worker, reached, attempt);
        } else {
            self.stage.sharing.stop(worker, self.stage.now, attempt);
        }
    }

    /// Notifies the core of this instant's ends, then the reports of the workers that have turns, then the rest. Returns
    /// the kinds of which new work appeared.
    #[inline(never)]
    pub(super) fn advance_with_reports(&mut self) -> PerKind<bool> {
        let now = self.stage.now;
        let gathered = self.inputs.len();
        while let Some(input) = self.next_input() {
            self.inputs.push(input);
        }
        let turns = self.stage.heartbeats.turns_at(now, self.tracker.state());
        let ended = self.tracker.advance(now, &self.finished, &[], &[], &mut self.effects);
        if self.inputs.len() > gathered && self.tracker.scheduler().capabilities().counts_departures {
            let departed = departing(&self.tracker, &self.stage.jobs, &self.inputs);
            self.inputs.splice(gathered..gathered, departed);
        }
        for &worker in turns {
            self.reports.clear();
            for attempt in self.tracker.state().attempts_on(worker) {
                let id = attempt.id();
                let job = &self.stage.jobs[id.job.0 as usize - 1];
                let n_maps = self.trace.jobs[job.outcome.template as usize].n_maps;
                let waits =
                    || (id.kind == TaskKind::Reduce && job.maps_left > 0).then(|| fetched(n_maps, job.maps_left));
                let known = self.stage.sharing.progress(worker, now, id).or_else(waits);
                self.reports.extend(known.map(|(phase, progress)| AttemptProgress { attempt: id, phase, progress }));
            }
            let vitals = self.stage.sharing.vitals(worker, now);
            self.tracker.take_report(now, worker, &vitals, &self.reports);
        }
        let rest = self.tracker.advance(now, &[], &self.inputs, turns, &mut self.effects);
        self.finished.clear();
        self.inputs.clear();
        [ended[0] || rest[0], ended[1] || rest[1]]
    }
}

impl Stage<'_> {
    /// An attempt was launched.
    #[inline(never)]
    pub(super) fn launch_sharing(&mut self, launched: Placed, locality: Locality) {
        let Placed { attempt, worker, .. } = launched;
        let job = &mut self.jobs[attempt.job.0 as usize - 1];
        let (shuffle, rest) = match attempt.kind {
            TaskKind::Map => (Span::ZERO, self.machines.at_distance(job.map(attempt.index), locality)),
            TaskKind::Reduce => (job.typical_shuffle(attempt.index), job.reduce(attempt.index)),
        };
        let whole = Run {
            attempt,
            state: AttemptState::Succeeded,
            work: shuffle + rest,
            shuffle,
            total: shuffle + rest,
            waited: false,
            tells_sorted: false,
            since: 0,
        };
        if let Some((state, work)) = self.injector.scripted(job.outcome.template, attempt) {
            self.begin(worker, Run { state, work, ..whole });
        } else if attempt.kind == TaskKind::Map {
            let (state, work) = self.injector.drawn(job.outcome.template, attempt, rest);
            self.begin(worker, Run { state, work, ..whole });
        } else if job.maps_left > 0 {
            self.wait_for_maps(launched);
        } else {
            self.plan_reduce(launched, shuffle, rest, false);
        }
    }

    /// A reduce whose maps are done begins to work.
    pub(super) fn begin_reduce(&mut self, reduce: Placed, shuffle: Span, rest: Span, waited: bool) {
        let Placed { attempt, worker, .. } = reduce;
        let template = self.jobs[attempt.job.0 as usize - 1].outcome.template;
        let total = shuffle + rest;
        let (state, work) = self.injector.drawn(template, attempt, total);
        let tells_sorted = shuffle > Span::ZERO;
        let run = Run { attempt, state, work, shuffle, total, waited, tells_sorted, since: 0 };
        self.begin(worker, run);
    }

    fn begin(&mut self, worker: WorkerId, run: Run) {
        if !self.machines.losses.is_down(worker) {
            self.sharing.begin(worker, self.now, run);
        }
    }
}

/// A reduce has sorted or failed, and does without map outputs from now on.
fn needs_nothing(jobs: &mut SimJobs<'_>, attempt: AttemptId, now: Time) {
    let at_risk = jobs[attempt.job.0 as usize - 1].at_risk.get_mut();
    let mut reducing = at_risk.into_iter().flat_map(|at_risk| &mut at_risk.reducing);
    if let Some(reduce) = reducing.find(|reduce| reduce.attempt.attempt == attempt) {
        reduce.sorted = reduce.sorted.min(now);
    }
}

/// How far a reduce is that waits for so many of its job's maps.
fn fetched(n_maps: u32, left: u32) -> (Phase, Progress) {
    let done = u64::from(n_maps.saturating_sub(left)) * u64::from(Progress::DONE.parts());
    let parts = (done / u64::from(n_maps.max(1)) / 3) as u16;
    (Phase::Shuffle, Progress::from_parts(parts))
}
