//! What came of forecasts, by run and by the scheduler that was in charge when they were made, and of all together.

use std::collections::BTreeSet;
use std::path::Path;

use howdah_core::job::JobState;
use howdah_core::time::Span;
use howdah_planning::prediction::{JobError, RunScore, StartError, TaskError, WindowScore, job_error, score_starts};
use serde::Serialize;

use super::follow::Followed;
use crate::failure::{Failure, Outcome};

/// Windows after each forecast in which starts are looked at.
const WINDOWS: [Span; 2] = [Span::from_secs(30), Span::from_secs(60)];

/// Forecasts against the truth.
#[derive(Debug, Default)]
struct Judged {
    forecasts: u64,
    tasks: Vec<TaskError>,
    /// By window.
    starts: [Vec<StartError>; WINDOWS.len()],
    jobs: Vec<JobError>,
    /// Of the run, or of all runs.
    length: Span,
}

impl Judged {
    fn score(&self) -> RunScore {
        let windows = WINDOWS.iter().zip(&self.starts).map(|(&window, errors)| WindowScore::of(window, errors));
        RunScore::new(self.forecasts, &self.tasks, windows.collect(), &self.jobs, self.length)
    }

    /// All of these parts together.
    fn of<'a>(parts: impl Iterator<Item = &'a Part>) -> Judged {
        let (mut all, mut runs) = (Judged::default(), BTreeSet::new());
        for Part { number, judged, .. } in parts {
            all.forecasts += judged.forecasts;
            all.tasks.extend_from_slice(&judged.tasks);
            all.jobs.extend_from_slice(&judged.jobs);
            all.starts.iter_mut().zip(&judged.starts).for_each(|(all, own)| all.extend_from_slice(own));
            if runs.insert(*number) {
                all.length = all.length + judged.length;
            }
        }
        all
    }
}

/// What one run has of one scheduler.
#[derive(Debug)]
pub(super) struct Part {
    /// The run's place among those that were asked about.
    number: usize,
    run: String,
    scheduler: String,
    judged: Judged,
}

/// The parts of a run, in the order in which their schedulers came to be in charge.
pub(super) fn parts(number: usize, dir: &Path, followed: Followed) -> Outcome<Vec<Part>> {
    let Followed { predictions, tasks, run } = followed;
    let Some(start) = run.start else {
        return Err(Failure::usage(format!("run `{}`: no job was submitted in it", dir.display())));
    };
    let last = run.finishes.values().map(|&(at, _)| at).max().unwrap_or(start);
    let length = last.since(start);
    let mut parts = Parts { number, dir, length, list: Vec::new() };
    for one in &predictions {
        let judged = parts.of(&one.scheduler);
        judged.forecasts += 1;
        for (starts, window) in judged.starts.iter_mut().zip(WINDOWS) {
            starts.extend(score_starts(one.at, window, &one.starts, &run.launches));
        }
        // Nobody predicts kills and failures.
        judged.jobs.extend(one.jobs.iter().filter_map(|job| match run.finishes.get(&job.job) {
            Some(&(end, JobState::Succeeded)) => Some(job_error(start, one.at, job, end, length)),
            _ => None,
        }));
    }
    tasks.into_iter().for_each(|(scheduler, task)| parts.of(&scheduler).tasks.push(task));
    Ok(parts.list)
}

/// Those of one run: one part for each scheduler.
struct Parts<'a> {
    number: usize,
    dir: &'a Path,
    length: Span,
    list: Vec<Part>,
}

impl Parts<'_> {
    fn of(&mut self, scheduler: &str) -> &mut Judged {
        let found = self.list.iter().position(|part| part.scheduler == scheduler);
        let at = found.unwrap_or(self.list.len());
        if found.is_none() {
            let judged = Judged { length: self.length, ..Judged::default() };
            let (number, run) = (self.number, self.dir.display().to_string());
            self.list.push(Part { number, run, scheduler: scheduler.to_owned(), judged });
        }
        &mut self.list[at].judged
    }
}

/// The figures of one run under one scheduler.
#[derive(Debug, Serialize)]
pub(super) struct OfRun {
    pub(super) run: String,
    pub(super) scheduler: String,
    pub(super) score: RunScore,
}

/// The figures of one scheduler over all runs.
#[derive(Debug, Serialize)]
pub(super) struct OfScheduler {
    pub(super) scheduler: String,
    pub(super) score: RunScore,
}

/// One job's end as one forecast predicted it, and where that was.
#[derive(Debug, Serialize)]
struct OfJob {
    run: String,
    scheduler: String,
    #[serde(flatten)]
    error: JobError,
}

/// Everything that is said.
#[derive(Debug, Serialize)]
pub(super) struct Scores {
    /// Of all runs under all schedulers.
    pub(super) score: RunScore,
    pub(super) schedulers: Vec<OfScheduler>,
    pub(super) runs: Vec<OfRun>,
    jobs: Vec<OfJob>,
}

impl Scores {
    /// Of these parts.
    pub(super) fn of(parts: &[Part]) -> Scores {
        let names: BTreeSet<&str> = parts.iter().map(|part| part.scheduler.as_str()).collect();
        let of_scheduler = |scheduler: &str| {
            let own = parts.iter().filter(|part| part.scheduler == scheduler);
            OfScheduler { scheduler: scheduler.to_owned(), score: Judged::of(own).score() }
        };
        let of_run = |part: &Part| OfRun {
            run: part.run.clone(),
            scheduler: part.scheduler.clone(),
            score: part.judged.score(),
        };
        let of_jobs = |part: &Part| -> Vec<OfJob> {
            let of_job = |error: &JobError| OfJob {
                run: part.run.clone(),
                scheduler: part.scheduler.clone(),
                error: error.clone(),
            };
            part.judged.jobs.iter().map(of_job).collect()
        };
        Scores {
            score: Judged::of(parts.iter()).score(),
            schedulers: names.into_iter().map(of_scheduler).collect(),
            runs: parts.iter().map(of_run).collect(),
            jobs: parts.iter().flat_map(of_jobs).collect(),
        }
    }
}
