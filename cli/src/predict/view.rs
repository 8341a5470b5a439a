//! Forecasts for people.

use std::collections::BTreeMap;

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

/// What `seen: false` means.
const UNSEEN: &str = "nothing like it with so much input was seen before";

/// The end of a sentence about a job; nothing if its like was seen.
pub(crate) fn doubt(seen: bool) -> String {
    if seen { String::new() } else { format!("; {UNSEEN}") }
}

/// The mark's meaning, for below a table; nothing if no job has it.
pub(crate) fn legend<'a>(jobs: impl IntoIterator<Item = &'a JobView>) -> String {
    if jobs.into_iter().all(|job| job.seen) { String::new() } else { format!("\n? {UNSEEN}") }
}

/// Its name in a table, with a mark where nothing like it was seen before.
pub(crate) fn name(job: &JobView) -> String {
    if job.seen { job.name.clone() } else { format!("{} ?", job.name) }
}

/// The jobs that have an id.
pub(crate) fn by_id(forecast: &ForecastView) -> BTreeMap<&str, &JobView> {
    forecast.jobs.iter().filter_map(|job| Some((job.job.as_deref()?, job))).collect()
}

/// When a job will end; `None` if it never does as things are, or beyond the horizon.
pub(crate) fn end_sentence(job: &JobView) -> Option<String> {
    let at = job.finish_ms_epoch? as f64 - job.left_s? * 1e3;
    let interval = interval(job, at.max(0.0) as u64);
    Some(format!("ends in about {}, between {interval}{}", left(job), doubt(job.seen)))
}

/// From when to when a job may end, counted from a moment.
pub(crate) fn interval(job: &JobView, at: u64) -> String {
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

/// What then happened, of a recorded run, and how far off the forecast was.
pub(crate) const END_COLUMNS: [&str; 2] = [">ended in", ">error"];

/// Whether what then happened is known of any job.
pub(crate) fn has_ends(forecast: &ForecastView) -> bool {
    forecast.jobs.iter().any(|job| job.ended_in_s.is_some())
}

/// Of one job; the error is positive if a later end was predicted.
pub(crate) fn end_cells(job: &JobView) -> [String; 2] {
    let ended = match (job.ended_in_s, job.ended_as.as_deref()) {
        (Some(s), Some("SUCCEEDED")) => units::seconds(s),
        (Some(s), Some(state)) => format!("{} {}", state.to_lowercase(), units::seconds(s)),
        _ => "-".to_owned(),
    };
    [ended, job.error_s.map_or_else(String::new, signed)]
}

/// A length of time with its sign.
pub(crate) fn signed(by_s: f64) -> String {
    let sign = if by_s < 0.0 { "-" } else { "+" };
    if by_s.abs() < 0.001 { "0".to_owned() } else { format!("{sign}{}", units::seconds(by_s.abs())) }
}

/// The whole queue, and the next starts.
pub(crate) fn table(screen: &Screen, forecast: &ForecastView) -> String {
    if forecast.jobs.is_empty() {
        return "no jobs that are not over".to_owned();
    }
    let with_ends = has_ends(forecast);
    let mut columns = vec!["job", "name", "state", ">ends in", ">between", "at"];
    columns.extend(END_COLUMNS.iter().filter(|_| with_ends));
    let mut grid = Grid::new(&columns).leaving(&["at"]);
    for job in &forecast.jobs {
        let state = job.state.clone().unwrap_or_default();
        let at = job.finish_ms_epoch.map_or_else(String::new, clock);
        let told = [id(job), name(job), state.clone(), left(job), interval(job, forecast.at_ms_epoch), at];
        grid.row(told.into_iter().chain(end_cells(job).into_iter().filter(|_| with_ends)));
        if let Some(style) = state_style(&state) {
            grid.style(2, style);
        }
    }
    let mut text = grid.render(screen) + &legend(&forecast.jobs);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// At the origin, to end in 40 s.
    fn job() -> JobView {
        JobView {
            job: Some("job_1_0001".to_owned()),
            name: "count".to_owned(),
            state: Some("RUNNING".to_owned()),
            start_ms_epoch: None,
            finish_ms_epoch: Some(1_040_000),
            low_ms_epoch: Some(1_035_000),
            high_ms_epoch: Some(1_052_000),
            left_s: Some(40.0),
            in_time: None,
            deadline_ms_epoch: None,
            spare_s: None,
            ended_in_s: None,
            ended_as: None,
            error_s: None,
            seen: true,
            hypothetical: false,
        }
    }

    #[test]
    fn a_sentence_says_in_how_long_a_job_ends_and_how_sure_that_is() {
        let sentence = "ends in about 40.0 s, between 35.0 s and 52.0 s";
        assert_eq!(end_sentence(&job()).as_deref(), Some(sentence));
        let unseen = format!("{sentence}; nothing like it with so much input was seen before");
        assert_eq!(end_sentence(&JobView { seen: false, ..job() }), Some(unseen));
        let open = end_sentence(&JobView { high_ms_epoch: None, ..job() });
        assert_eq!(open.as_deref(), Some("ends in about 40.0 s, between 35.0 s and beyond"));
        assert_eq!(end_sentence(&JobView { finish_ms_epoch: None, left_s: None, ..job() }), None);
    }

    #[test]
    fn what_then_happened_is_told_with_how_it_ended() {
        let ended = |s, state: &str, error_s| {
            end_cells(&JobView { ended_in_s: Some(s), ended_as: Some(state.to_owned()), error_s, ..job() })
        };
        assert_eq!(ended(38.0, "SUCCEEDED", Some(2.0)), ["38.0 s", "+2.00 s"]);
        assert_eq!(ended(41.5, "SUCCEEDED", Some(-1.5)), ["41.5 s", "-1.50 s"]);
        assert_eq!(ended(3.0, "KILLED", None), ["killed 3.00 s", ""]);
        assert_eq!(end_cells(&job()), ["-", ""]);
    }
}
