//! A run of the workload with forecasts at intervals, and what came of each.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use anyhow::{Context, Result};
use howdah_core::job::profile::Trace;
use howdah_core::job::{AttemptId, AttemptState, JobId, JobState, Locality, TaskKind, WorkerId};
use howdah_core::replay::{AttemptRecord, JobOutcome, Observer, ReplayReport, Simulation};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::JobTracker;
use howdah_planning::prediction::{
    Changes, Class, EndWatch, Fallback, Forecast, ForecastOptions, Heartbeats, JobError, Part, Sample, StartError,
    TaskError, TaskHistory, TaskPredictor, by_name, family, forecast, job_error, score_starts,
};

use super::world::{Reporting, options};

/// What is written down as a run goes.
#[derive(Default)]
pub(super) struct Notes {
    records: Vec<AttemptRecord>,
    pub(super) launches: Vec<(Time, AttemptId, WorkerId)>,
    /// The template of each job, by number less 1.
    ended: usize,
}

struct Noting(Rc<RefCell<Notes>>);

impl Observer for Noting {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, _: Locality, _: bool) {
        self.0.borrow_mut().launches.push((at, attempt, worker));
    }

    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().records.push(*record);
    }
}

/// Everything of one run.
pub(super) struct Judged {
    /// In order of their ends.
    pub(super) tasks: Vec<TaskError>,
    pub(super) forecasts: Vec<Forecast>,
    pub(super) jobs: Vec<JobError>,
    pub(super) launches: Vec<(Time, AttemptId, WorkerId)>,
    pub(super) outcomes: Vec<JobOutcome>,
    pub(super) length: Span,
    /// What was learnt before and in it.
    pub(super) history: TaskHistory,
}

impl Judged {
    /// The starts within a window after each forecast.
    pub(super) fn starts(&self, window: Span) -> Vec<Vec<StartError>> {
        self.forecasts.iter().map(|one| score_starts(one.at, window, &one.starts, &self.launches)).collect()
    }
}

/// Runs the trace under a policy to its end; every so often `look` sees it, with what was written down so far.
pub(super) fn follow(
    trace: &Trace,
    (scheduler, reporting): (&str, Reporting),
    every: Span,
    mut look: impl FnMut(&Simulation<'_>, &mut Notes) -> Result<()>,
) -> Result<(ReplayReport, Notes)> {
    let mut run = Simulation::new(trace, &options(scheduler, reporting)).context("make the cluster")?;
    let notes = Rc::new(RefCell::new(Notes::default()));
    run.observe(Box::new(Noting(Rc::clone(&notes))));
    let mut at = Time::ZERO;
    loop {
        run.run_until(at);
        look(&run, &mut notes.borrow_mut())?;
        if run.next_time().is_none() {
            break;
        }
        at += every;
    }
    Ok((run.report(), notes.take()))
}

/// Runs the trace under a policy, with a forecast every so often; `None` makes none, as in training.
pub(super) fn judge(
    trace: &Trace,
    under: (&str, Reporting),
    every: Option<Span>,
    history: TaskHistory,
) -> Result<Judged> {
    judge_changed(trace, under, every, history, &|_| {})
}

/// The same; `change` is made to each state before it is forecast.
pub(super) fn judge_changed(
    trace: &Trace,
    (scheduler, reporting): (&str, Reporting),
    every: Option<Span>,
    history: TaskHistory,
    change: &dyn Fn(&mut JobTracker),
) -> Result<Judged> {
    let model = by_name("linear").context("find the paper's model")?;
    let mut judged = Judged {
        tasks: Vec::new(),
        forecasts: Vec::new(),
        jobs: Vec::new(),
        launches: Vec::new(),
        outcomes: Vec::new(),
        length: Span::ZERO,
        history,
    };
    let mut watched = Watched::default();
    let (report, notes) = follow(trace, (scheduler, reporting), every.unwrap_or(Span::from_secs(60)), |run, notes| {
        learn(run, trace, notes, &mut judged, &mut watched.watch);
        watched.look(&run.report().jobs, &mut judged.history);
        if every.is_some() && run.tracker().state().n_jobs() > 0 {
            let predictor = TaskPredictor::new(&judged.history, &*model, Fallback::default());
            let options =
                ForecastOptions { heartbeats: Heartbeats::Given(reporting.heartbeat()), ..ForecastOptions::default() };
            let mut fork = run.tracker().fork();
            change(&mut fork);
            let forecast = forecast(fork, &predictor, &|_| String::new(), &Changes::default(), &options)?;
            watched.watch.predicted(&forecast);
            judged.forecasts.push(forecast);
        }
        Ok(())
    })?;
    judged.outcomes = report.jobs;
    judged.length = report.makespan;
    judged.launches = notes.launches;
    for one in &judged.forecasts {
        let errors = one.jobs.iter().filter_map(|job| {
            let ended = judged.outcomes.iter().find(|outcome| outcome.id == job.job)?;
            Some(job_error(Time::ZERO, one.at, job, ended.finish, judged.length))
        });
        judged.jobs.extend(errors);
    }
    Ok(judged)
}

/// Holds forecasts of ends against the ends that come.
#[derive(Default)]
struct Watched {
    watch: EndWatch,
    over: BTreeSet<JobId>,
}

impl Watched {
    fn look(&mut self, jobs: &[JobOutcome], history: &mut TaskHistory) {
        for job in jobs.iter().filter(|job| job.state.is_final()) {
            if self.over.insert(job.id) {
                self.watch.ended(job.id, (job.state == JobState::Succeeded).then_some(job.finish), history);
            }
        }
    }
}

/// Tells the time of each task that has ended since, then learns it.
fn learn(
    run: &Simulation<'_>,
    trace: &Trace,
    Notes { records, ended, .. }: &mut Notes,
    judged: &mut Judged,
    watch: &mut EndWatch,
) {
    let jobs = run.report().jobs;
    let model = by_name("linear").expect("the paper's model is listed");
    for record in &records[*ended..] {
        if record.state != AttemptState::Succeeded {
            continue;
        }
        let id = record.attempt;
        let Some(job) = jobs.get(id.job.0 as usize - 1) else { continue };
        let template = &trace.jobs[job.template as usize];
        let all: u64 = template.map_input_bytes.iter().sum();
        // Reduces come after all maps here. A task's time is what its worker measured, from its start to its end: the wait
        // for the heartbeat that tells of it is none of the task's, and a simulation adds it by itself.
        let (part, bytes, times) = match id.kind {
            TaskKind::Map => (Part::Map, template.map_input_bytes[id.index as usize], &template.map_ms),
            TaskKind::Reduce => (Part::LaterReduce, all / u64::from(template.n_reduces), &template.reduce_ms),
        };
        let class = Class { application: String::new(), family: family(&template.name), part };
        let time = Span::from_ms(times[id.index as usize % times.len()]);
        let sample =
            Sample { bytes: Some(bytes), time, worker: format!("worker-{}", record.worker.0 + 1), place: None };
        let told =
            TaskPredictor::new(&judged.history, &*model, Fallback::default()).estimate(&class, sample.bytes, None);
        judged.tasks.push(TaskError::new(&class, told, sample.time));
        watch.task_ended(id, time, &mut judged.history);
        judged.history.add(class, sample);
    }
    *ended = records.len();
}
