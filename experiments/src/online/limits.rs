//! How well anybody could predict where and when tasks start: the same run, forecast by those who know more than a predictor
//! can learn.
//!
//! Three of them. Who knows every task's time sees what happens: the simulation itself adds no error. Who knows the line of
//! each application exactly, but not how far a task will lie from it, knows all that a task's past and input can tell; that
//! one simulates the expected times, as the predictor does. The third knows the same and names for each task the worker
//! that most of many drawn futures start it on: **no forecast from lines can do better than that, on average and but for
//! the number of draws**, as a task's scatter is drawn anew and nothing but its time so far tells of it before it ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{Context, Result};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{TaskId, TaskKind, WorkerId};
use howdah_core::models::Random;
use howdah_core::replay::Simulation;
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::{
    Forecast, ForecastOptions, Heartbeats, OfJob, Part, StartError, TaskStart, TaskTimes, WindowScore, outlook,
    score_starts,
};

use super::judge::{Notes, Noting};
use super::world::{Reporting, line_ms, options, scattered_ms};

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
}

impl Knows {
    pub(super) const ALL: [Knows; 3] = [Knows::Lines, Knows::LinesAndScatter, Knows::Everything];

    /// For tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Knows::Everything => "every task's own time",
            Knows::Lines => "the exact lines",
            Knows::LinesAndScatter => "the exact lines and scatter, the likeliest worker",
        }
    }
}

/// The starts in a window after each forecast of a run, as each of [`Knows::ALL`] would have predicted them.
pub(super) fn limits(
    trace: &Trace,
    (scheduler, reporting): (&str, Reporting),
    (every, window): (Span, Span),
    draws: u64,
) -> Result<[WindowScore; 3]> {
    let mut run = Simulation::new(trace, &options(scheduler, reporting)).context("make the cluster")?;
    let notes = Rc::new(RefCell::new(Notes::default()));
    run.observe(Box::new(Noting(Rc::clone(&notes))));
    let mut predicted: Vec<(Time, [Vec<TaskStart>; 3])> = Vec::new();
    let mut at = Time::ZERO;
    loop {
        run.run_until(at);
        if run.tracker().state().n_jobs() > 0 {
            let look = Look { run: &run, trace, reporting, window };
            // Windows begin where those of the predictor's forecasts do, at the state's last event.
            predicted.push((run.tracker().state().now(), Knows::ALL.map(|knows| look.starts(knows, draws))));
        }
        if run.next_time().is_none() {
            break;
        }
        at += every;
    }
    let launches = &notes.borrow().launches;
    Ok([0, 1, 2].map(|of| {
        let each = predicted.iter().map(|(at, starts)| score_starts(*at, window, &starts[of], launches));
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
}

impl Look<'_> {
    fn starts(&self, knows: Knows, draws: u64) -> Vec<TaskStart> {
        let central = |knows| self.simulate(knows, None).starts;
        match knows {
            Knows::Everything | Knows::Lines => central(knows),
            Knows::LinesAndScatter => {
                let mut futures: BTreeMap<TaskId, BTreeMap<WorkerId, Vec<Time>>> = BTreeMap::new();
                for draw in 0..draws {
                    let random = Random::new(draw, self.run.tracker().state().now().as_us());
                    for start in self.simulate(knows, Some(random)).starts {
                        let workers = futures.entry(start.attempt.task()).or_default();
                        workers.entry(start.worker).or_default().push(start.at);
                    }
                }
                // When it starts there: the middle of the futures that start it there.
                let mut starts = central(Knows::Lines);
                for start in &mut starts {
                    let workers = futures.get(&start.attempt.task());
                    let likeliest = workers.and_then(|workers| workers.iter().max_by_key(|(_, at)| at.len()));
                    if let Some((&worker, at)) = likeliest {
                        let mut at = at.clone();
                        at.sort_unstable();
                        (start.worker, start.at) = (worker, at[at.len() / 2]);
                    }
                }
                starts
            }
        }
    }

    fn simulate(&self, knows: Knows, random: Option<Random>) -> Forecast {
        let fork = self.run.tracker().fork();
        // A start predicted a little late may still be one in the window.
        let horizon = self.window + Span::from_secs(30);
        let heartbeats = Heartbeats::Given(self.reporting.heartbeat());
        let options = ForecastOptions { horizon, heartbeats, draws: 0, ..ForecastOptions::default() };
        let running = fork.state().attempts().iter();
        let passed = running.map(|(_, running)| (running.id().task(), fork.state().now().since(running.started())));
        let passed = passed.collect();
        let places = self.run.report().jobs.iter().map(|job| job.template as usize).collect();
        outlook(fork, &mut Times { trace: self.trace, places, passed, knows, random }, &[], &options)
    }
}

/// Task times as somebody knows them.
struct Times<'a> {
    trace: &'a Trace,
    /// The trace's place of each job, by number less 1.
    places: Vec<usize>,
    /// How long running tasks have been running.
    passed: BTreeMap<TaskId, Span>,
    knows: Knows,
    random: Option<Random>,
}

impl Times<'_> {
    fn template(&self, of: OfJob<'_>) -> &JobTemplate {
        &self.trace.jobs[self.places[of.job.0 as usize - 1]]
    }
}

impl TaskTimes for Times<'_> {
    fn time(&mut self, of: OfJob<'_>, part: Part, index: u32, _worker: Option<&str>) -> Span {
        let kind = if part == Part::Map { TaskKind::Map } else { TaskKind::Reduce };
        let template = self.template(of);
        if self.knows == Knows::Everything {
            let times = if kind == TaskKind::Map { &template.map_ms } else { &template.reduce_ms };
            return Span::from_ms(times[index as usize]);
        }
        let line = line_ms(template, kind, index);
        let passed = self.passed.get(&TaskId { job: of.job, kind, index }).copied().unwrap_or(Span::ZERO);
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
        if self.knows == Knows::Everything { Span::ZERO } else { SOON }
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
            let [_, _, all] = limits(&trace, ("fifo", reporting), (Span::from_secs(20), window), 0).unwrap();
            assert!(all.starts > 50 && all.within_1s == 1.0 && all.mean_error_s == 0.0, "{all:?}");
        }
        let at_once = ("fifo", Reporting::AtOnce);
        let [lines, likeliest, _] = limits(&trace, at_once, (Span::from_secs(20), window), 20).unwrap();
        assert!(lines.anywhere_2s > 0.95 && lines.within_2s < 0.9, "{lines:?}");
        assert!(likeliest.within_2s > 0.4 && likeliest.within_2s < 0.9, "{likeliest:?}");
    }
}
