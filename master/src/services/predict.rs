//! Forecasts on request: a fork from the core's thread, simulations on the prediction thread.

use std::time::{Duration, Instant};

use howdah_core::time::Span;
use howdah_planning::prediction::{ForecastOptions, MODELS, by_name};
use howdah_proto::v1;
use tonic::Status;

use super::{SharedRef, status};
use crate::prediction::{Applications, Ask, AskError, Told, changes, forecast_message, score_message};

/// The longest look ahead, in milliseconds: a week.
const MOST_HORIZON_MS: u64 = 7 * 24 * 3_600_000;
/// Most starts that one answer tells.
const MOST_STARTS: usize = 100_000;
/// With more tasks than this, fewer simulations give the intervals.
const MANY_TASKS: u64 = 20_000;

/// Answers a request.
pub(super) async fn predict(shared: &SharedRef, request: v1::PredictRequest) -> Result<v1::PredictResponse, Status> {
    let v1::PredictRequest { horizon_ms, starts, model, changes: wanted } = request;
    if !model.is_empty() && by_name(&model).is_none() {
        let known = MODELS.join(", ");
        return Err(Status::invalid_argument(format!("model `{model}`: no such model, expected one of {known}")));
    }
    let (changes, hypothetical) = changes(shared.cluster, wanted)?;
    let forked = shared.core.ask(|view| {
        let started = Instant::now();
        let fork = view.tracker.fork();
        let applications = Applications::of(view.tables, view.tracker.state());
        (fork, applications, started.elapsed())
    });
    let (fork, applications, fork_took) = forked.await.map_err(status::core)?;
    let defaults = ForecastOptions::default();
    let horizon = match horizon_ms {
        0 => defaults.horizon,
        ms => Span::from_ms(ms.min(MOST_HORIZON_MS)),
    };
    let tasks: u64 =
        fork.state().jobs().map(|job| u64::from(job.spec().n_maps) + u64::from(job.spec().n_reduces)).sum();
    let draws = if tasks > MANY_TASKS { defaults.draws / 2 } else { defaults.draws };
    let options = ForecastOptions { horizon, draws, starts: (starts as usize).min(MOST_STARTS), ..defaults };
    let names = fork.fork();
    let ask = Ask { fork: Box::new(fork), applications, options, model, changes, hypothetical };
    let told = shared.prediction.ask(ask).await.map_err(refused)?;
    Ok(answer(shared, &names, told, fork_took))
}

fn answer(
    shared: &SharedRef,
    tracker: &howdah_core::tracker::JobTracker,
    told: Told,
    fork_took: Duration,
) -> v1::PredictResponse {
    let us = |took: Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let score = score_message(&told);
    v1::PredictResponse {
        fork_us: us(fork_took),
        simulated_us: us(told.took),
        tasks_learnt: told.learnt,
        score: Some(score),
        present: Some(forecast_message(told.present, shared.cluster, tracker)),
        changed: told.changed.map(|changed| forecast_message(changed, shared.cluster, tracker)),
    }
}

fn refused(error: AskError) -> Status {
    match error {
        AskError::Full => Status::resource_exhausted(error.to_string()),
        AskError::Stopped => Status::unavailable(error.to_string()),
        AskError::Changes(_) => Status::invalid_argument(error.to_string()),
    }
}
