//! Forecasts as messages, and changes from messages.

use howdah_core::job::{ClusterId, JobId, Priority};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{JobTracker, SchedulerChoice};
use howdah_planning::prediction::{Changes, Forecast, Hypothetical, JobForecast};
use howdah_proto::v1;
use tonic::Status;

use super::message::ForecastAnswer;
use crate::services::status;

/// What is to be different, and what the jobs run that are only thought of. Whole jobs are the caller's business, who knows
/// the files that they read.
///
/// # Errors
/// INVALID_ARGUMENT names what does not read.
pub fn changes(cluster: ClusterId, message: Option<v1::PredictChanges>) -> Result<(Changes, Vec<String>), Status> {
    let Some(v1::PredictChanges { scheduler, workers, submit, kill, enter: _, deadlines }) = message else {
        return Ok((Changes::default(), Vec::new()));
    };
    let mut applications = Vec::new();
    let mut jobs = Vec::new();
    for job in submit {
        let priority = if job.priority.is_empty() { "NORMAL" } else { &job.priority };
        let priority: Priority = priority.parse().map_err(|e| status::spec(&e))?;
        jobs.push(Hypothetical {
            name: job.name,
            application: job.application.clone(),
            user: job.user,
            queue: job.queue,
            priority,
            n_maps: job.n_maps,
            n_reduces: job.n_reduces,
            bytes_per_map: job.bytes_per_map,
            deadline: (job.deadline_ms > 0).then(|| Span::from_ms(job.deadline_ms)),
        });
        applications.push(job.application);
    }
    let id = |job: &str| cluster.parse_job(job).map_err(|e| status::id(&e));
    let kill = kill.iter().map(|job| id(job)).collect::<Result<Vec<JobId>, Status>>()?;
    let within = |one: &v1::JobDeadline| Ok((id(&one.job)?, Span::from_ms(one.deadline_ms)));
    let deadlines = deadlines.iter().map(within).collect::<Result<Vec<_>, Status>>()?;
    let scheduler = scheduler.as_ref().map(SchedulerChoice::from);
    Ok((Changes { scheduler, workers, submit: jobs, enter: Vec::new(), kill, deadlines }, applications))
}

/// A forecast as it is sent. `tracker` is the state that it was made from.
pub fn forecast_message(forecast: Forecast, cluster: ClusterId, tracker: &JobTracker) -> v1::Forecast {
    let state = tracker.state();
    let job = |job: JobForecast| v1::JobForecast {
        deadline_ms_epoch: ms(job.due()),
        job: if job.hypothetical { String::new() } else { cluster.job(job.job) },
        state: state.job(job.job).map_or_else(String::new, |live| live.state().name().to_owned()),
        name: job.name,
        start_ms_epoch: ms(job.start),
        finish_ms_epoch: ms(job.finish),
        low_ms_epoch: ms(job.low),
        high_ms_epoch: ms(job.high),
        seen: job.seen,
        hypothetical: job.hypothetical,
        in_time: job.in_time,
    };
    let starts = forecast.starts.iter().map(|start| v1::PredictedStart {
        attempt: cluster.attempt(start.attempt),
        worker: worker_name(tracker, start.worker),
        at_ms_epoch: start.at.as_ms(),
    });
    v1::Forecast {
        at_ms_epoch: forecast.at.as_ms(),
        until_ms_epoch: forecast.until.as_ms(),
        scheduler: forecast.scheduler,
        starts: starts.collect(),
        events: forecast.events,
        jobs: forecast.jobs.into_iter().map(job).collect(),
    }
}

/// One that was only thought of has the number that follows the last one.
fn worker_name(tracker: &JobTracker, worker: howdah_core::job::WorkerId) -> String {
    let state = tracker.state();
    match state.worker(worker) {
        Some(worker) => worker.name().to_owned(),
        None => format!("what-if-{}", worker.0 as usize - state.workers().len() + 1),
    }
}

/// The score as it is sent.
pub(crate) fn score_message(answer: &ForecastAnswer) -> v1::TaskTimeScore {
    v1::TaskTimeScore {
        tasks: answer.score.n,
        within_5_percent: answer.score.within_5_percent,
        within_10_percent: answer.score.within_10_percent,
        p95_percent: answer.score.p95_percent,
        unseen: answer.unseen,
    }
}

fn ms(at: Option<Time>) -> u64 {
    at.map_or(0, Time::as_ms)
}
