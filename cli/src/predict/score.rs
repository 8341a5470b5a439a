//! `predict score`: forecasts at intervals over a recorded run, beside what then happened.

use std::cell::RefCell;
use std::path::Path;

use howdah_core::time::{Span, Time};
use howdah_json::Listing;
use howdah_master::prediction::{self, RecordedRun};
use howdah_planning::prediction::{
    Changes, Fallback, Forecast, ForecastOptions, RunScore, Speeds, StartError, TaskError, TaskHistory, TaskPredictor,
    WindowScore, forecast, job_error, score_starts,
};
use serde_json::json;

use super::recorded::{span, unreadable};
use crate::args::{ClusterArgs, Format};
use crate::config::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::predict::args::ScoreArgs;
use crate::units;

/// Windows after each forecast in which starts are looked at.
const WINDOWS: [Span; 2] = [Span::from_secs(30), Span::from_secs(60)];

/// What came of a run and of the forecasts that were made on the way.
struct Scored {
    predictions: Vec<Forecast>,
    tasks: Vec<TaskError>,
    run: RecordedRun,
}

/// `howdah predict score`
pub(super) fn score(context: &Context, args: &ScoreArgs) -> Outcome {
    let config = context.client(&ClusterArgs::default(), args.format.output)?;
    let screen = Screen::new(config.color);
    let history = match &args.train {
        Some(train) => follow(train, TaskHistory::default(), args)?.run.history,
        None => TaskHistory::default(),
    };
    let Scored { predictions, tasks, run } = follow(&args.dir, history, args)?;
    let Some(start) = run.start else {
        return Err(Failure::usage(format!("run `{}`: no job was submitted in it", args.dir.display())));
    };
    let last = run.finishes.values().max().copied().unwrap_or(start);
    let errors = |window| -> Vec<StartError> {
        predictions.iter().flat_map(|one| score_starts(one.at, window, &one.starts, &run.launches)).collect()
    };
    let windows = WINDOWS.map(|window| WindowScore::of(window, &errors(window))).to_vec();
    let jobs: Vec<_> = predictions.iter().flat_map(|one| errors_of_jobs(start, one, &run.finishes)).collect();
    let score = RunScore::new(predictions.len() as u64, &tasks, windows, &jobs, last.since(start));
    match config.output {
        Format::Json => screen.json(&Listing::new("prediction-score", json!({ "score": score, "jobs": jobs })))?,
        Format::Table => screen.line(text(&screen, &score))?,
    }
    Ok(Exit::Done)
}

/// Goes through a recorded run with a forecast every so often; what it teaches of times and of forecasts is in its history.
fn follow(dir: &Path, history: TaskHistory, args: &ScoreArgs) -> Outcome<Scored> {
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
    let mut predictions: Vec<Forecast> = Vec::new();
    let mut tasks: Vec<TaskError> = Vec::new();
    let mut failed = None;
    // As they were at the last forecast.
    let speeds: RefCell<Option<Speeds>> = RefCell::new(None);
    let run = prediction::read_run(
        dir,
        history,
        |last| Some(last.map_or(Span::ZERO, |last| last + every)),
        |moment| {
            let predictor = TaskPredictor::new(moment.history, &*model, Fallback::default());
            let mut fork = moment.tracker.fork();
            *speeds.borrow_mut() = Speeds::of(&mut fork).filter(|_| !args.alike_workers);
            match forecast(fork, &predictor, moment.application, &Changes::default(), &options) {
                Ok(forecast) if !forecast.jobs.is_empty() => predictions.push(forecast),
                Ok(_) => return None,
                Err(error) => {
                    failed = Some(error);
                    return None;
                }
            }
            predictions.last().cloned()
        },
        |history, class, sample| {
            let predictor = TaskPredictor::new(history, &*model, Fallback::default());
            let by_speeds = speeds.borrow().clone().map(|speeds| predictor.at(speeds));
            let told = by_speeds.as_ref().unwrap_or(&predictor).estimate_of(class, sample);
            tasks.push(TaskError::new(class, told, sample.time));
        },
    );
    match failed {
        Some(error) => Err(Failure::broke(error.to_string())),
        None => Ok(Scored { predictions, tasks, run: run.map_err(unreadable)? }),
    }
}

fn errors_of_jobs(
    start: Time,
    prediction: &Forecast,
    finishes: &std::collections::BTreeMap<howdah_core::job::JobId, Time>,
) -> Vec<howdah_planning::prediction::JobError> {
    let ended = |job: &howdah_planning::prediction::JobForecast| {
        Some(job_error(start, prediction.at, job, *finishes.get(&job.job)?))
    };
    prediction.jobs.iter().filter_map(ended).collect()
}

fn text(screen: &Screen, score: &RunScore) -> String {
    let mut grid = Grid::new(&["what", ">n", ">mean error", ">within", "of"]);
    let tasks = &score.tasks;
    let error = |percent: f64| format!("{percent:.1} %");
    grid.row([
        "task times".to_owned(),
        tasks.n.to_string(),
        error(tasks.mean_percent),
        units::percent(tasks.within_10_percent),
        format!("10 %; 95 % within {:.1} %", tasks.p95_percent),
    ]);
    for window in &score.windows {
        grid.row([
            format!("starts in {} s", window.window_s),
            window.starts.to_string(),
            units::seconds(window.mean_error_s),
            units::percent(window.within_2s),
            "2 s, maps on the right worker".to_owned(),
        ]);
    }
    let stated = units::percent(score.stated);
    grid.row([
        "their intervals".to_owned(),
        tasks.n.to_string(),
        String::new(),
        units::percent(score.tasks_within_interval),
        format!("stated {stated}; {:.1} % of the time wide", score.tasks_interval_percent),
    ]);
    grid.row([
        "job ends".to_owned(),
        score.forecasts.to_string(),
        error(score.job_error_percent),
        String::new(),
        format!("worst {:.1} % of the run's {}", score.job_error_max_percent, units::seconds(score.length_s)),
    ]);
    grid.row([
        "their intervals".to_owned(),
        score.forecasts.to_string(),
        String::new(),
        units::percent(score.job_within_interval),
        format!("stated {stated}; {} wide", units::seconds(score.job_interval_s)),
    ]);
    let unseen = match score.unseen_tasks {
        0 => String::new(),
        n => format!("\n\n{} were the first of their class and are in no figure", units::counted(n, "task")),
    };
    grid.render(screen) + &unseen
}
