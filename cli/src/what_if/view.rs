//! Two courses side by side: when each job ends in either, and by how much deadlines are met or missed.

use howdah_json::{ForecastView, JobView};

use crate::output::Screen;
use crate::output::table::Grid;
use crate::predict::view::{END_COLUMNS, by_id, end_cells, has_ends, id, interval, left, legend, name, signed};
use crate::units;

/// Everything of both courses.
pub(super) fn table(screen: &Screen, present: &ForecastView, changed: &ForecastView) -> String {
    let ends = ends(screen, present, changed);
    match deadlines(screen, present, changed) {
        Some(deadlines) => format!("{ends}\n\n{deadlines}"),
        None => ends,
    }
}

/// All jobs, each with its place in the present course and in the other, as far as it is there.
fn pairs<'a>(present: &'a ForecastView, changed: &'a ForecastView) -> Vec<(Option<&'a JobView>, Option<&'a JobView>)> {
    let [before, after] = [present, changed].map(by_id);
    let both = changed.jobs.iter().map(|job| (job.job.as_deref().and_then(|id| before.get(id).copied()), Some(job)));
    let gone = present.jobs.iter().filter(|job| job.job.as_deref().is_none_or(|id| !after.contains_key(id)));
    both.chain(gone.map(|job| (Some(job), None))).collect()
}

fn ends(screen: &Screen, present: &ForecastView, changed: &ForecastView) -> String {
    let with_ends = has_ends(present);
    let mut columns = vec!["job", "name", ">ends in", ">then in", ">between", ">later by"];
    columns.extend(END_COLUMNS.iter().filter(|_| with_ends));
    let mut grid = Grid::new(&columns).leaving(&["between"]);
    let mut row = |told: [String; 6], ended: [String; 2]| {
        grid.row(told.into_iter().chain(ended.into_iter().filter(|_| with_ends)));
    };
    for (before, after) in pairs(present, changed) {
        let Some(job) = after.or(before) else { continue };
        let now = before.map_or_else(|| "-".to_owned(), left);
        let then = after.map_or_else(|| "gone".to_owned(), left);
        let between = after.map_or_else(String::new, |job| interval(job, changed.at_ms_epoch));
        let by = before.zip(after).and_then(|(before, after)| difference(before.left_s, after.left_s));
        row(
            [id(job), name(job), now, then, between, by.unwrap_or_default()],
            before.map_or_else(Default::default, end_cells),
        );
    }
    let all = |forecast: &ForecastView| forecast.makespan_s.map_or_else(|| "beyond".to_owned(), units::seconds);
    let by = difference(present.makespan_s, changed.makespan_s).unwrap_or_default();
    row(["all".to_owned(), String::new(), all(present), all(changed), String::new(), by], all_ended(present));
    grid.render(screen) + &legend(present.jobs.iter().chain(&changed.jobs))
}

/// When the last job ended, if all have, and how far off that was, if nobody was killed or failed.
fn all_ended(present: &ForecastView) -> [String; 2] {
    let ends: Option<Vec<f64>> = present.jobs.iter().map(|job| job.ended_in_s).collect();
    let Some(last) = ends.and_then(|ends| ends.into_iter().reduce(f64::max)) else { return Default::default() };
    let succeeded = present.jobs.iter().all(|job| job.ended_as.as_deref() == Some("SUCCEEDED"));
    let error = present.makespan_s.filter(|_| succeeded).map(|told| signed(told - last));
    [units::seconds(last), error.unwrap_or_default()]
}

/// Who has a deadline, and by how much each meets it in either course; `None` if nobody has one.
fn deadlines(screen: &Screen, present: &ForecastView, changed: &ForecastView) -> Option<String> {
    let mut grid = Grid::new(&["deadline of", "name", ">due in", ">as it is", ">in time", ">then", ">in time"]);
    let mut any = false;
    for (before, after) in pairs(present, changed) {
        let Some(job) = after.or(before) else { continue };
        let Some(due) = job.deadline_ms_epoch else { continue };
        let due_s = (due as f64 - changed.at_ms_epoch as f64) / 1e3;
        let due = if due_s < 0.0 { format!("{} ago", units::seconds(-due_s)) } else { units::seconds(due_s) };
        let [[now, now_share], [then, then_share]] = [before, after].map(|job| job.map_or_else(none, margin));
        grid.row([id(job), name(job), due, now, now_share, then, then_share]);
        any = true;
    }
    any.then(|| grid.render(screen))
}

fn none() -> [String; 2] {
    ["-".to_owned(), String::new()]
}

/// By how much a job meets its deadline, and in which share of the simulations.
fn margin(job: &JobView) -> [String; 2] {
    let by = match job.spare_s {
        Some(spare) if spare >= 0.0 => format!("{} early", units::seconds(spare)),
        Some(spare) => format!("{} late", units::seconds(-spare)),
        None => "beyond".to_owned(),
    };
    [by, job.in_time.map_or_else(String::new, units::percent)]
}

fn difference(before: Option<f64>, after: Option<f64>) -> Option<String> {
    Some(signed(after? - before?))
}
