//! Goes through a recorded run with a forecast every so often, as a live master would, and keeps what is to be judged of them.

use std::cell::RefCell;
use std::path::Path;

use howdah_core::time::Span;
use howdah_master::prediction::{self, RecordedRun};
use howdah_planning::prediction::{
    Changes, Fallback, Forecast, ForecastOptions, Speeds, TaskError, TaskHistory, TaskPredictor, forecast,
};

use crate::failure::{Failure, Outcome};
use crate::predict::args::ScoreArgs;
use crate::predict::recorded::{at_text, span, unreadable};

/// What of a run is judged, counted from its first submission.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Period {
    from: Span,
    to: Option<Span>,
}

impl Period {
    /// As the flags say.
    pub(super) fn of(args: &ScoreArgs) -> Outcome<Period> {
        if let (Some(from), Some(to)) = (args.from, args.to)
            && from > to
        {
            let (from, to) = (at_text(from), at_text(to));
            return Err(Failure::usage(format!("--from {from}: expected no more than --to {to}")));
        }
        Ok(Period { from: args.from.map_or(Span::ZERO, span), to: args.to.map(span) })
    }

    fn is_over(&self, since_start: Span) -> bool {
        self.to.is_some_and(|to| since_start > to)
    }

    fn holds(&self, since_start: Span) -> bool {
        self.from <= since_start && !self.is_over(since_start)
    }
}

/// What came of a run and of the forecasts that were made on the way.
pub(super) struct Followed {
    /// Those of the period.
    pub(super) predictions: Vec<Forecast>,
    /// Those of the period, each with the scheduler that was in charge at the last forecast before its end.
    pub(super) tasks: Vec<(String, TaskError)>,
    pub(super) run: RecordedRun,
}

/// What a run teaches of times and of forecasts is in its history. Forecasts before the period are made as well: intervals are
/// scaled by what came of them.
pub(super) fn follow(dir: &Path, history: TaskHistory, args: &ScoreArgs, period: Period) -> Outcome<Followed> {
    let model = args.model.model();
    let every = span(args.every).max(Span::from_ms(1));
    let options = ForecastOptions {
        horizon: span(args.horizon),
        starts: 100_000,
        whole_reduces: args.whole_reduces,
        without_progress: args.without_progress,
        alike_workers: args.alike_workers,
        ..ForecastOptions::default()
    };
    let (mut predictions, mut tasks) = (Vec::new(), Vec::new());
    let mut failed = None;
    // As they were at the last forecast.
    let (speeds, scheduler) = (RefCell::new(None), RefCell::new(String::new()));
    let run = prediction::read_run(
        dir,
        history,
        |last| Some(last.map_or(Span::ZERO, |last| last + every)).filter(|&next| !period.is_over(next)),
        |moment| {
            let predictor = TaskPredictor::new(moment.history, &*model, Fallback::default());
            let mut fork = moment.tracker.fork();
            *speeds.borrow_mut() = Speeds::of(&mut fork).filter(|_| !args.alike_workers);
            moment.tracker.scheduler().name().clone_into(&mut scheduler.borrow_mut());
            match forecast(fork, &predictor, moment.application, &Changes::default(), &options) {
                Ok(forecast) if !forecast.jobs.is_empty() => {
                    if period.holds(forecast.at.since(moment.start)) {
                        predictions.push(forecast.clone());
                    }
                    Some(forecast)
                }
                Ok(_) => None,
                Err(error) => {
                    failed = Some(error);
                    None
                }
            }
        },
        |since_start, history, class, sample| {
            if period.holds(since_start) {
                let predictor = TaskPredictor::new(history, &*model, Fallback::default());
                let by_speeds = speeds.borrow().clone().map(|speeds: Speeds| predictor.at(speeds));
                let told = by_speeds.as_ref().unwrap_or(&predictor).estimate_of(class, sample);
                tasks.push((scheduler.borrow().clone(), TaskError::new(class, told, sample.time)));
            }
        },
    );
    match failed {
        Some(error) => Err(Failure::broke(error.to_string())),
        None => Ok(Followed { predictions, tasks, run: run.map_err(unreadable)? }),
    }
}
