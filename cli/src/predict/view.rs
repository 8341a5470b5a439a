//! Forecasts for people and programs.

use howdah_proto::v1::{Forecast, JobForecast, PredictResponse};
use serde::Serialize;

use crate::job::view::{clock, state_style};
use crate::listing::{given, reached};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::units;

/// What is notified of one job; null beyond the horizon.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JobView {
    pub(crate) job: Option<String>,
    pub(crate) name: String,
    pub(crate) state: Option<String>,
    pub(crate) start_ms_epoch: Option<u64>,
    pub(crate) finish_ms_epoch: Option<u64>,
    pub(crate) low_ms_epoch: Option<u64>,
    pub(crate) high_ms_epoch: Option<u64>,
    /// From the forecast's instant.
    pub(crate) left_s: Option<f64>,
    /// Of all simulations, the share in which it meets its deadline; null without one.
    pub(crate) in_time: Option<f64>,
    /// Whether tasks like its own were seen before.
    pub(crate) seen: bool,
    /// Whether it was only thought of.
    pub(crate) hypothetical: bool,
}

/// A start of a task that waits.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StartView {
    pub(crate) attempt: String,
    pub(crate) worker: String,
    pub(crate) at_ms_epoch: u64,
    pub(crate) in_s: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ForecastView {
    pub(crate) at_ms_epoch: u64,
    pub(crate) until_ms_epoch: u64,
    pub(crate) scheduler: String,
    /// Until the last job is over; null beyond the horizon.
    pub(crate) makespan_s: Option<f64>,
    pub(crate) jobs: Vec<JobView>,
    pub(crate) starts: Vec<StartView>,
}

/// What it cost and rests on.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Made {
    fork_us: u64,
    simulated_us: u64,
    tasks_learnt: u64,
    scored_tasks: u64,
    within_10_percent: f64,
    error_p95_percent: f64,
    unseen_tasks: u64,
}

impl From<&Forecast> for ForecastView {
    fn from(forecast: &Forecast) -> ForecastView {
        let at = forecast.at_ms_epoch;
        let since = |ms: u64| (ms as f64 - at as f64) / 1e3;
        let job = |job: &JobForecast| JobView {
            job: given(&job.job),
            name: job.name.clone(),
            state: given(&job.state),
            start_ms_epoch: reached(job.start_ms_epoch),
            finish_ms_epoch: reached(job.finish_ms_epoch),
            low_ms_epoch: reached(job.low_ms_epoch),
            high_ms_epoch: reached(job.high_ms_epoch),
            left_s: reached(job.finish_ms_epoch).map(since),
            in_time: job.in_time,
            seen: job.seen,
            hypothetical: job.hypothetical,
        };
        let starts = forecast.starts.iter().map(|start| StartView {
            attempt: start.attempt.clone(),
            worker: start.worker.clone(),
            at_ms_epoch: start.at_ms_epoch,
            in_s: since(start.at_ms_epoch),
        });
        let jobs: Vec<JobView> = forecast.jobs.iter().map(job).collect();
        let ends: Option<Vec<f64>> = jobs.iter().map(|job| job.left_s).collect();
        ForecastView {
            at_ms_epoch: at,
            until_ms_epoch: forecast.until_ms_epoch,
            scheduler: forecast.scheduler.clone(),
            makespan_s: ends.map(|ends| ends.into_iter().fold(0.0, f64::max)),
            starts: starts.collect(),
            jobs,
        }
    }
}

impl From<&PredictResponse> for Made {
    fn from(answer: &PredictResponse) -> Made {
        let score = answer.score.unwrap_or_default();
        Made {
            fork_us: answer.fork_us,
            simulated_us: answer.simulated_us,
            tasks_learnt: answer.tasks_learnt,
            scored_tasks: score.tasks,
            within_10_percent: score.within_10_percent,
            error_p95_percent: score.p95_percent,
            unseen_tasks: score.unseen,
        }
    }
}

impl Made {
    /// For people.
    pub(crate) fn sentence(&self) -> String {
        let learnt = units::counted(self.tasks_learnt, "finished task");
        let took = units::seconds(self.simulated_us as f64 / 1e6);
        let score = match self.scored_tasks {
            0 => String::new(),
            _ => format!(
                "; of {} predicted before their end, {} were within 10 %",
                units::counted(self.scored_tasks, "time"),
                units::percent(self.within_10_percent)
            ),
        };
        format!("\nfrom {learnt}, simulated in {took}{score}")
    }
}

impl JobView {
    /// How it is called in a table; one that was only thought of has no id.
    pub(crate) fn id(&self) -> String {
        self.job.clone().unwrap_or_else(|| "(if submitted)".to_owned())
    }

    /// When it will end, for people; `None` if it never does as things are, or beyond the horizon.
    pub(crate) fn sentence(&self) -> Option<String> {
        let at = self.finish_ms_epoch? as f64 - self.left_s? * 1e3;
        let interval = self.interval(at.max(0.0) as u64);
        let doubt = if self.seen { "" } else { "; nothing like it was seen before" };
        Some(format!("ends in about {}, between {interval}{doubt}", left(self)))
    }

    fn interval(&self, at: u64) -> String {
        let end = |ms: Option<u64>| ms.map_or_else(|| "beyond".to_owned(), |ms| seconds_after(at, ms));
        match (self.low_ms_epoch, self.high_ms_epoch) {
            (None, None) => String::new(),
            (low, high) => format!("{} and {}", end(low), end(high)),
        }
    }
}

fn seconds_after(at: u64, ms: u64) -> String {
    units::seconds((ms as f64 - at as f64) / 1e3)
}

/// In how long, for people.
pub(crate) fn left(job: &JobView) -> String {
    job.left_s.map_or_else(|| "beyond".to_owned(), units::seconds)
}

/// The whole queue, and the next starts.
pub(crate) fn table(screen: &Screen, forecast: &ForecastView) -> String {
    if forecast.jobs.is_empty() {
        return "no jobs that are not over".to_owned();
    }
    let mut grid = Grid::new(&["job", "name", "state", ">ends in", ">between", "at"]);
    for job in &forecast.jobs {
        let name = if job.seen { job.name.clone() } else { format!("{} ?", job.name) };
        let state = job.state.clone().unwrap_or_default();
        let at = job.finish_ms_epoch.map_or_else(String::new, clock);
        grid.row([job.id(), name, state.clone(), left(job), job.interval(forecast.at_ms_epoch), at]);
        if let Some(style) = state_style(&state) {
            grid.style(2, style);
        }
    }
    let mut text = grid.render(screen);
    if !forecast.starts.is_empty() {
        let mut starts = Grid::new(&["next start", "on", ">in"]);
        for start in &forecast.starts {
            starts.row([start.attempt.clone(), start.worker.clone(), units::seconds(start.in_s)]);
        }
        text += "\n\n";
        text += &starts.render(screen);
    }
    text
}
