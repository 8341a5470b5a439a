//! How well anybody could predict where and when tasks start: the same run, forecast by those who know more than a predictor
//! can learn.
//!
//! Four of them. Who knows every task's time sees what happens: the simulation itself adds no error. Who knows the line of
//! each application exactly, but not how far a task will lie from it, knows all that a task's past and input can tell; that
//! one simulates the expected times, as the predictor does. The third knows the same and names for each task the worker
//! that most of many drawn futures start it on: **no forecast from lines can do better than that, on average and but for
//! the number of draws**, as a task's scatter is drawn anew and nothing but its time so far tells of it before it ends. Progress reports would: the
//! fourth knows the lines and when each running task will end, which is the most that its progress could tell.

use std::collections::BTreeMap;

use anyhow::Result;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{TaskId, TaskKind, WorkerId};
use howdah_core::models::Random;
use howdah_core::replay::Simulation;
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::{
    ForecastOptions, Heartbeats, OfJob, Part, StartError, TaskStart, TaskTimes, WindowScore, outlook, score_starts,
};

use super::judge::follow;
use super::world::{Reporting, line_ms, scattered_ms};

/// A running task's time is drawn this often, until it is longer than what has passed.
const TRIES: u32 = 200;
/// Left of a task that has taken longer than anybody expected.
const SOON: Span = Span::from_ms(10);

/// What somebody knows of task times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knows {
    /// Every task's own.
    Everything,
    /// The lines.
    Lines,
    /// The lines and how tasks scatter; the likeliest of many futures counts.
    LinesAndScatter,
    /// The lines, and when each running task will end.
    LinesAndRunning,
}

impl Knows {
    pub(super) const ALL: [Knows; 4] =
        [Knows::Lines, Knows::LinesAndScatter, Knows::LinesAndRunning, Knows::Everything];

    /// For tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Knows::Everything => "every task's own time",
            Knows::Lines => "the exact lines",
            Knows::LinesAndScatter => "the exact lines and scatter, the likeliest worker",
            Knows::LinesAndRunning => "the exact lines, and the end of each running task",
        }
    }
}

/// The starts in a window after each forecast of a run, as each of [`Knows::ALL`] would have predicted them.
pub(super) fn limits(
    trace: &Trace,
    (scheduler, reporting): (&str, Reporting),
    (every, window): (Span, Span),
    draws: u64,
) -> Result<[WindowScore; 4]> {
    let mut predicted: Vec<(Time, [Vec<TaskStart>; 4])> = Vec::new();
    let (_, notes) = follow(trace, (scheduler, reporting), every, |run, _| {
        if run.tracker().state().n_jobs() > 0 {
            let look = Look::new(run, trace, reporting, window);
            // Windows begin where those of the predictor's forecasts do, at the state's last event.
            predicted.push((run.tracker().state().now(), look.starts(draws)));
        }
        Ok(())
    })?;
    Ok([0, 1, 2, 3].map(|of| {
        let each = predicted.iter().map(|(at, starts)| score_starts(*at, window, &starts[of], &notes.launches));
        let errors: Vec<StartError> = each.flatten().collect();
        WindowScore::of(window, &errors)
    }))
}

/// One moment of a run.
struct Look<'a> {
    run: &'a Simulation<'a>,
    trace: &'a Trace,
    reporting: Reporting,
    window: Span,
    /// The trace's place of each job, by number less 1.
    places: Vec<usize>,
    /// How long running tasks have been running.
    passed: BTreeMap<TaskId, Span>,
}

impl<'a> Look<'a> {
    fn new(run: &'a Simulation<'a>, trace: &'a Trace, reporting: Reporting, window: Span) -> Look<'a> {
        let state = run.tracker().state();
        let running = state.attempts().iter();
        Look {
            places: run.report().jobs.iter().map(|job| job.template as usize).collect(),
            passed: running.map(|(_, one)| (one.id().task(), state.now().since(one.started()))).collect(),
            run,
            trace,
            reporting,
            window,
        }
    }

    /// By [`Knows::ALL`].
    fn starts(&self, draws: u64) -> [Vec<TaskStart>; 4] {
        let lines = self.simulate(Knows::Lines, None);
        let likeliest = self.likeliest(lines.clone(), draws);
        [lines, likeliest, self.simulate(Knows::LinesAndRunning, None), self.simulate(Knows::Everything, None)]
    }

    /// The starts, each moved to where most of the drawn futures have it, and to the middle of those.
    fn likeliest(&self, mut starts: Vec<TaskStart>, draws: u64) -> Vec<TaskStart> {
        let mut futures: BTreeMap<TaskId, BTreeMap<WorkerId, Vec<Time>>> = BTreeMap::new();
        for draw in 0..draws {
            let random = Random::new(draw, self.run.tracker().state().now().as_us());
            for start in self.simulate(Knows::LinesAndScatter, Some(random)) {
                let workers = futures.entry(start.attempt.task()).or_default();
                workers.entry(start.worker).or_default().push(start.at);
            }
        }
        for start in &mut starts {
            let Some(workers) = futures.get_mut(&start.attempt.task()) else { continue };
            if let Some((&worker, at)) = workers.iter_mut().max_by_key(|(_, at)| at.len()) {
                at.sort_unstable();
                (start.worker, start.at) = (worker, at[at.len() / 2]);
            }
        }
        starts
    }

    fn simulate(&self, knows: Knows, random: Option<Random>) -> Vec<TaskStart> {
        let fork = self.run.tracker().fork();
        // A start predicted a little late may still be one in the window.
        let horizon = self.window + Span::from_secs(30);
        let heartbeats = Heartbeats::Given(self.reporting.heartbeat());
        let options = ForecastOptions { horizon, heartbeats, draws: 0, ..ForecastOptions::default() };
        outlook(fork, &mut Times { look: self, knows, random }, &[], &options).starts
    }
}

/// Task times as somebody knows them.
struct Times<'a> {
    look: &'a Look<'a>,
    knows: Knows,
    random: Option<Random>,
}

impl Times<'_> {
    fn template(&self, of: OfJob<'_>) -> &JobTemplate {
        &self.look.trace.jobs[self.look.places[of.job.0 as usize - 1]]
    }
}

impl TaskTimes for Times<'_> {
    fn time(&mut self, of: OfJob<'_>, part: Part, index: u32, _worker: Option<&str>) -> Span {
        let kind = if part == Part::Map { TaskKind::Map } else { TaskKind::Reduce };
        let template = self.template(of);
        let passed = self.look.passed.get(&TaskId { job: of.job, kind, index }).copied();
        if self.knows == Knows::Everything || (self.knows == Knows::LinesAndRunning && passed.is_some()) {
            let times = if kind == TaskKind::Map { &template.map_ms } else { &template.reduce_ms };
            return Span::from_ms(times[index as usize]);
        }
        let line = line_ms(template, kind, index);
        let passed = passed.unwrap_or(Span::ZERO);
        let Some(random) = &mut self.random else { return Span::from_ms(scattered_ms(line, 0.0)) };
        let mut drawn = (0..TRIES).map(|_| Span::from_ms(scattered_ms(line, random.normal())));
        drawn.find(|&time| time > passed).unwrap_or(passed + SOON)
    }

    fn varies(&self) -> bool {
        true
    }

    fn commit(&mut self, _of: OfJob<'_>) -> Span {
        Span::ZERO
    }

    fn overdue(&mut self, _expected: Span) -> Span {
        if matches!(self.knows, Knows::Everything | Knows::LinesAndRunning) { Span::ZERO } else { SOON }
    }
}

#[cfg(test)]
mod tests {
    use super::super::world::{Jobs, workload};
    use super::*;

    #[test]
    fn who_knows_all_times_predicts_every_start_and_who_knows_the_lines_misses_workers_only() {
        let trace = workload(Jobs::WordCount, 7, 2, 2);
        let window = Span::from_secs(30);
        for reporting in [Reporting::AtOnce, Reporting::Regularly] {
            let [_, _, _, all] = limits(&trace, ("fifo", reporting), (Span::from_secs(20), window), 0).unwrap();
            assert!(all.starts > 50 && all.within_1s == 1.0 && all.mean_error_s == 0.0, "{all:?}");
        }
        let at_once = ("fifo", Reporting::AtOnce);
        let [lines, likeliest, running, _] = limits(&trace, at_once, (Span::from_secs(20), window), 20).unwrap();
        assert!(lines.anywhere_2s > 0.95 && lines.within_2s < 0.9, "{lines:?}");
        assert!(likeliest.within_2s > 0.4 && likeliest.within_2s < 0.9, "{likeliest:?}");
        assert!(running.within_2s > lines.within_2s && running.within_2s < 1.0, "{running:?} {lines:?}");
    }
}
