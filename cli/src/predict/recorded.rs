//! The same from a recorded run: the state that its master had, rebuilt from its journal.

use std::path::Path;
use std::time::{Duration, Instant};

use howdah_core::job::{JobId, JobState};
use howdah_core::time::{Span, Time};
use howdah_json::Ended;
use howdah_master::prediction::{self, Moment};
use howdah_planning::prediction::{Changes, Fallback, ForecastOptions, TaskHistory, TaskPredictor, forecast};
use howdah_proto::v1::{PredictChanges, PredictResponse};

use crate::failure::{Failure, Outcome};
use crate::predict::args::LookArgs;
use crate::predict::looked::{Looked, named_jobs};

/// What a run recorded of task times.
pub(super) fn learn_from(dir: Option<&Path>) -> Outcome<TaskHistory> {
    let Some(dir) = dir else { return Ok(TaskHistory::default()) };
    let run = prediction::read_run(dir, TaskHistory::default(), |_| None, |_| None, |_, _, _, _| {});
    Ok(run.map_err(unreadable)?.history)
}

/// A run that does not read.
pub(super) fn unreadable(error: howdah_master::replay::ReplayError) -> Failure {
    Failure::usage(format!("{:#}", anyhow::Error::new(error)))
}

/// A length of time as the core counts it.
pub(super) fn span(duration: Duration) -> Span {
    Span::from_us(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

/// Forecasts of a recorded moment, and what then happened.
pub(super) fn look(dir: &Path, at: Duration, args: &LookArgs, changes: Option<PredictChanges>) -> Outcome<Looked> {
    let history = learn_from(args.train.as_deref())?;
    let mut answer = None;
    let wanted = span(at);
    let mut once = Some(wanted);
    let run = prediction::read_run(
        dir,
        history,
        |_| once.take(),
        |moment| {
            answer = Some(tell(moment, args, changes.clone()).map(|answer| (moment.cluster, answer)));
            None
        },
        |_, _, _, _| {},
    );
    let run = run.map_err(unreadable)?;
    let (cluster, answer) = answer.unwrap_or_else(|| {
        if let (Some(start), Some(gone)) = (run.start, run.gone_until)
            && start + wanted <= gone
        {
            let from = gone.since(start);
            return Err(Failure::usage(format!(
                "--at {}: the inputs of the first {from} after the first submission are gone",
                at_text(at)
            ))
            .help("[master.keep_inputs] says how much of the journal a master keeps"));
        }
        let length = run.start.map_or(Span::ZERO, |start| run.end.since(start));
        Err(Failure::usage(format!("--at {}: the run ends {} after its first submission", at_text(at), length)))
    })?;
    let ended = |(&job, &(at, state)): (&JobId, &(Time, JobState))| {
        (cluster.job(job), Ended { at_ms_epoch: at.as_ms(), state: state.name().to_owned() })
    };
    Ok(Looked { answer, ends: run.finishes.iter().map(ended).collect() })
}

/// As people write it.
pub(super) fn at_text(at: Duration) -> String {
    crate::units::seconds(at.as_secs_f64())
}

fn tell(moment: &Moment<'_>, args: &LookArgs, changes: Option<PredictChanges>) -> Outcome<PredictResponse> {
    let model = args.model.unwrap_or_default().model();
    let predictor = TaskPredictor::new(moment.history, &*model, Fallback::default());
    let options =
        ForecastOptions { horizon: span(args.horizon), starts: args.starts as usize, ..ForecastOptions::default() };
    let (changes, thought_of) = changes_of(moment, changes)?;
    let options = options.enough_for(&changes);
    let first = moment.tracker.state().last_job() + 1;
    let application = |job: JobId| match job.0.checked_sub(first) {
        Some(index) => thought_of.get(index as usize).cloned().unwrap_or_default(),
        None => (moment.application)(job),
    };
    let started = Instant::now();
    let fork = moment.tracker.fork();
    let fork_us = started.elapsed().as_micros() as u64;
    let started = Instant::now();
    let look = |changes: &Changes| {
        let outlook = forecast(fork.fork(), &predictor, &application, changes, &options);
        outlook.map_err(|error| Failure::usage(error.to_string()))
    };
    let mut present = look(&Changes::default())?;
    present.hold_to(&changes.deadlines);
    let changed = if changes.is_empty() { None } else { Some(look(&changes)?) };
    let message = |forecast| prediction::forecast_message(forecast, moment.cluster, moment.tracker);
    Ok(PredictResponse {
        simulated_us: started.elapsed().as_micros() as u64,
        present: Some(message(present)),
        changed: changed.map(message),
        fork_us,
        tasks_learnt: moment.history.seen(),
        score: None,
    })
}

fn changes_of(moment: &Moment<'_>, mut changes: Option<PredictChanges>) -> Outcome<(Changes, Vec<String>)> {
    for job in changes.iter_mut().flat_map(named_jobs) {
        if let Ok(number) = job.parse() {
            *job = moment.cluster.job(JobId(number));
        }
    }
    prediction::changes(moment.cluster, changes).map_err(|status| Failure::usage(status.message().to_owned()))
}
