//! Forecasts on request: a fork from the core's thread, simulations on the prediction thread.

use std::time::Duration;

use howdah_core::time::Span;
use howdah_planning::prediction::{ForecastOptions, ModelName, NoSuchName};
use howdah_proto::v1;
use tonic::Status;

use super::walk::Cancel;
use super::{SharedRef, status, submit};
use crate::prediction::{
    Ask, AskError, ForecastAnswer, Forked, application_name, changes, forecast_message, score_message,
};

/// The longest look ahead, in milliseconds: a week.
const MOST_HORIZON_MS: u64 = 7 * 24 * 3_600_000;
/// Most starts that one answer tells.
const MOST_STARTS: usize = 100_000;

/// Whole jobs that may be thought of at a time: the input of each is listed.
const MOST_ENTERING: usize = 8;

/// Answers a request.
pub(super) async fn predict(
    shared: &SharedRef,
    request: v1::PredictRequest,
    cancel: Cancel,
) -> Result<v1::PredictResponse, Status> {
    let v1::PredictRequest { horizon_ms, starts, model, changes: wanted } = request;
    let model = chosen(&model)?;
    let enter = wanted.as_ref().map_or_else(Vec::new, |wanted| wanted.enter.clone());
    let (mut changes, mut hypothetical) = changes(shared.cluster, wanted)?;
    if enter.len() > MOST_ENTERING {
        let n = enter.len();
        return Err(Status::invalid_argument(format!("{n} whole jobs, expected at most {MOST_ENTERING}")));
    }
    for request in enter {
        let (spec, app) = submit::would_enter(shared, request, cancel.clone()).await?;
        changes.enter.push(spec);
        hypothetical.push(application_name(&app));
    }
    let forked = shared.questions.ask(Forked::of).await.map_err(status::core)?;
    let defaults = forked.options();
    let Forked { tracker: fork, applications, took: fork_took, .. } = forked;
    let horizon = match horizon_ms {
        0 => defaults.horizon,
        ms => Span::from_ms(ms.min(MOST_HORIZON_MS)),
    };
    let options = ForecastOptions { horizon, starts: (starts as usize).min(MOST_STARTS), ..defaults };
    let (options, deadlines) = (options.enough_for(&changes), changes.deadlines.clone());
    let names = fork.fork();
    let others = if changes.is_empty() { Vec::new() } else { vec![(changes, options)] };
    let ask = Ask { fork: Box::new(fork), applications, options, model, others, hypothetical };
    let mut forecast_answer = shared.prediction.ask(ask).await.map_err(refused)?;
    forecast_answer.present.hold_to(&deadlines);
    Ok(answer(shared, &names, forecast_answer, fork_took))
}

/// The model of a request; `None` where it leaves that to the master.
fn chosen(model: &str) -> Result<Option<ModelName>, Status> {
    let refused = |error: NoSuchName| Status::invalid_argument(format!("model `{model}`: {error}"));
    (!model.is_empty()).then(|| model.parse().map_err(refused)).transpose()
}

fn answer(
    shared: &SharedRef,
    tracker: &howdah_core::tracker::JobTracker,
    forecast_answer: ForecastAnswer,
    fork_took: Duration,
) -> v1::PredictResponse {
    let us = |took: Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let score = score_message(&forecast_answer);
    v1::PredictResponse {
        fork_us: us(fork_took),
        simulated_us: us(forecast_answer.took),
        tasks_learnt: forecast_answer.learnt,
        score: Some(score),
        present: Some(forecast_message(forecast_answer.present, shared.cluster, tracker)),
        changed: forecast_answer
            .others
            .into_iter()
            .next()
            .map(|changed| forecast_message(changed, shared.cluster, tracker)),
    }
}

fn refused(error: AskError) -> Status {
    match error {
        AskError::Full => Status::resource_exhausted(error.to_string()),
        AskError::Stopped => Status::unavailable(error.to_string()),
        AskError::Changes(_) => Status::invalid_argument(error.to_string()),
    }
}
