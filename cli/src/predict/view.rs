//! Forecasts for people.

use howdah_json::{ForecastView, JobView, Made};

use crate::job::view::{clock, state_style};
use crate::output::Screen;
use crate::output::table::Grid;
use crate::units;

/// What a forecast cost and rests on.
pub(crate) fn made_sentence(made: &Made) -> String {
    let learnt = units::counted(made.tasks_learnt, "finished task");
    let took = units::seconds(made.simulated_us as f64 / 1e6);
    let score = match made.scored_tasks {
        0 => String::new(),
        _ => format!(
            "; of {} predicted before their end, {} were within 10 %",
            units::counted(made.scored_tasks, "time"),
            units::percent(made.within_10_percent)
        ),
    };
    format!("\nfrom {learnt}, simulated in {took}{score}")
}

/// How a job is called in a table; one that was only thought of has no id.
pub(crate) fn id(job: &JobView) -> String {
    job.job.clone().unwrap_or_else(|| "(if submitted)".to_owned())
}

/// When a job will end; `None` if it never does as things are, or beyond the horizon.
pub(crate) fn end_sentence(job: &JobView) -> Option<String> {
    let at = job.finish_ms_epoch? as f64 - job.left_s? * 1e3;
    let interval = interval(job, at.max(0.0) as u64);
    let doubt = if job.seen { "" } else { "; nothing like it was seen before" };
    Some(format!("ends in about {}, between {interval}{doubt}", left(job)))
}

fn interval(job: &JobView, at: u64) -> String {
    let end = |ms: Option<u64>| ms.map_or_else(|| "beyond".to_owned(), |ms| seconds_after(at, ms));
    match (job.low_ms_epoch, job.high_ms_epoch) {
        (None, None) => String::new(),
        (low, high) => format!("{} and {}", end(low), end(high)),
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
        grid.row([id(job), name, state.clone(), left(job), interval(job, forecast.at_ms_epoch), at]);
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
