//! A job in a table, and on a card.

use std::time::UNIX_EPOCH;

use howdah_guards::clock as wall;
use howdah_json::{Job, Predicted, Speculation};

use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// What speculative attempts cost, in a line, if there were any.
pub(crate) fn speculation_line(costs: &Speculation) -> Option<String> {
    let Speculation { launched, won, lost, wasted_slot_s } = *costs;
    let wasted = units::seconds(wasted_slot_s);
    (launched > 0).then(|| format!("{launched} launched, {won} won, {lost} lost; {wasted} of slot time wasted"))
}

/// In how long a job ends, in a table: `2 min 05 s (1 min 50 s to 2 min 30 s)`. A `?` marks what nothing like it was seen of;
/// `overdue` says that the whole interval lies behind.
fn predicted_cell(predicted: &Predicted, now_ms: u64) -> String {
    let left =
        |ms: Option<u64>| ms.map_or("beyond".to_owned(), |ms| units::seconds(ms.saturating_sub(now_ms) as f64 / 1e3));
    let Predicted { finish_ms_epoch, low_ms_epoch, high_ms_epoch, seen, .. } = *predicted;
    let doubt = if seen { "" } else { " ?" };
    if low_ms_epoch.is_none() {
        return format!("beyond{doubt}");
    }
    if high_ms_epoch.is_some_and(|high| high <= now_ms) {
        return format!("overdue{doubt}");
    }
    format!("{} ({} to {}){doubt}", left(finish_ms_epoch), left(low_ms_epoch), left(high_ms_epoch))
}

/// Jobs in a table; `now_ms` dates those that are not over.
pub(crate) fn table(jobs: &[Job], now_ms: u64) -> Grid {
    let mut columns = vec!["job", "name", "state", "priority", "queue", ">maps", ">reduces", ">time"];
    // Jobs that are over have no forecast.
    let any_predicted = jobs.iter().any(|job| job.predicted.is_some());
    columns.extend(any_predicted.then_some(">ends in"));
    let mut grid = Grid::new(&columns).leaving(&["ends in", "priority", "queue", "reduces"]);
    for job in jobs {
        let end = job.finish_ms_epoch.unwrap_or(now_ms);
        let time =
            job.submit_ms_epoch.map_or("-".to_owned(), |from| units::seconds(end.saturating_sub(from) as f64 / 1e3));
        grid.row([
            job.job.clone(),
            job.name.clone(),
            job.state.clone(),
            job.priority.clone(),
            job.queue.clone(),
            format!("{}/{}", job.maps_done, job.maps),
            format!("{}/{}", job.reduces_done, job.reduces),
            time,
            job.predicted.as_ref().map_or_else(String::new, |predicted| predicted_cell(predicted, now_ms)),
        ]);
        if let Some(style) = state_style(&job.state) {
            grid.style(2, style);
        }
    }
    grid
}

/// How a state is coloured.
pub(crate) fn state_style(state: &str) -> Option<Style> {
    match state {
        "SUCCEEDED" | "LIVE" => Some(Style::Good),
        "FAILED" | "LOST" | "UNREACHABLE" => Some(Style::Bad),
        "KILLED" | "BLACKLISTED" | "DRAINING" | "SILENT" | "LOW_DISK" => Some(Style::Warn),
        "RUNNING" | "COMMITTING" | "COMMIT_PENDING" => Some(Style::Accent),
        _ => None,
    }
}

/// One job in a few lines.
pub(crate) fn card(screen: &Screen, job: &Job, now_ms: u64) -> String {
    let state = match state_style(&job.state) {
        Some(style) => screen.paint(style, &job.state),
        None => job.state.clone(),
    };
    let mut rows = vec![
        ("job", screen.paint(Style::Bold, &job.job)),
        ("name", job.name.clone()),
        ("state", state),
        ("user", job.user.clone()),
        ("queue", format!("{}, priority {}", job.queue, job.priority)),
        ("maps", phase(job.map_progress, job.maps_done, job.maps, job.maps_running)),
        ("reduces", phase(job.reduce_progress, job.reduces_done, job.reduces, job.reduces_running)),
    ];
    if !job.requires.is_empty() {
        rows.push(("requires", job.requires.join(", ")));
    }
    if job.failed_attempts + job.killed_attempts > 0 {
        rows.push(("attempts", format!("{} failed, {} killed", job.failed_attempts, job.killed_attempts)));
    }
    if let Some(line) = restarts(job.master_restarts) {
        rows.push(("master", line));
    }
    if let Some(line) = speculation_line(&job.speculation) {
        rows.push(("copies", line));
    }
    if job.node_local_maps + job.rack_local_maps + job.off_rack_maps > 0 {
        rows.push(("locality", locality(job)));
    }
    if let Some(submit) = job.submit_ms_epoch {
        rows.push(("submitted", clock(submit)));
        let end = job.finish_ms_epoch.unwrap_or(now_ms);
        let verb = if job.finish_ms_epoch.is_some() { "took" } else { "so far" };
        rows.push((verb, units::seconds(end.saturating_sub(submit) as f64 / 1e3)));
    }
    if let Some(output) = &job.output {
        rows.push(("output", output.clone()));
    }
    if let Some(why) = &job.why {
        rows.push(("why", screen.paint(Style::Bad, why)));
    }
    rows.into_iter()
        .map(|(name, value)| format!("{} {}", screen.paint(Style::Dim, format!("{name:>10}")), one_line(&value)))
        .collect::<Vec<_>>()
        .join("\n")
}

/// How often the master was started again under the job, unless it never was.
fn restarts(n: u32) -> Option<String> {
    let times = match n {
        0 => return None,
        1 => "once".to_owned(),
        n => format!("{n} times"),
    };
    Some(format!("started again {times} meanwhile"))
}

fn phase(progress: f64, done: u32, all: u32, running: u32) -> String {
    if all == 0 {
        return "none".to_owned();
    }
    format!("{} ({done} of {all} done, {running} running)", units::percent(progress))
}

/// Where the maps ran, seen from their data.
pub(crate) fn locality(job: &Job) -> String {
    let mut parts = Vec::new();
    let named = [
        (job.node_local_maps, "node-local"),
        (job.rack_local_maps, "rack-local"),
        (job.off_rack_maps, "off-rack"),
        (job.unplaced_maps, "anywhere"),
    ];
    for (n, name) in named {
        if n > 0 {
            parts.push(format!("{n} {name}"));
        }
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

/// A date and time of day in this machine's zone.
pub(crate) fn clock(ms_epoch: u64) -> String {
    match jiff::Timestamp::from_millisecond(ms_epoch as i64) {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "-".to_owned(),
    }
}

/// Milliseconds since the epoch, now, on this machine's clock. Ages of what the master tells of are not counted by it: see
/// [`at_master`].
pub(crate) fn now_ms() -> u64 {
    wall::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Now on the master's clock, as its answer says; this machine's where a master of before says nothing.
pub(crate) fn at_master(now_ms_epoch: u64) -> u64 {
    if now_ms_epoch > 0 { now_ms_epoch } else { now_ms() }
}

#[cfg(test)]
mod tests {
    use howdah_proto::v1::{JobStatus, SpeculationCosts};

    use super::*;

    #[test]
    fn a_forecast_that_lies_behind_is_overdue_and_not_an_end_in_no_time() {
        let predicted = howdah_proto::v1::PredictedEnd {
            at_ms_epoch: 1,
            finish_ms_epoch: 60_000,
            low_ms_epoch: 50_000,
            high_ms_epoch: 70_000,
            seen: true,
        };
        let job = Job::from(&JobStatus { predicted: Some(predicted), ..JobStatus::default() });
        let cell = |now_ms| predicted_cell(job.predicted.as_ref().expect("it is there"), now_ms);
        assert_eq!(
            [cell(40_000), cell(65_000), cell(70_000)],
            ["20.0 s (10.0 s to 30.0 s)", "0 s (0 s to 5.00 s)", "overdue"]
        );
    }

    #[test]
    fn a_job_in_a_table_and_on_a_card() {
        let status = JobStatus {
            job: "job_202611201200_0001".to_owned(),
            name: "wordcount".to_owned(),
            user: "ann".to_owned(),
            queue: "default".to_owned(),
            priority: "NORMAL".to_owned(),
            state: "FAILED".to_owned(),
            n_maps: 5,
            n_reduces: 2,
            maps_done: 4,
            maps_running: 1,
            failed_attempts: 4,
            master_restarts: 2,
            map_progress: 0.875,
            submit_ms_epoch: 1_000_000,
            launch_ms_epoch: 1_000_050,
            finish_ms_epoch: 1_012_500,
            output: "/data/out".to_owned(),
            why: "task_202611201200_0001_m_000003 failed 4 times".to_owned(),
            node_local_maps: 3,
            unplaced_maps: 2,
            speculation: Some(SpeculationCosts { launched: 3, won: 1, lost: 2, wasted_slot_ms: 12_500 }),
            ..JobStatus::default()
        };
        let job = Job::from(&status);
        let screen = Screen::new(crate::args::Colour::Never);
        insta::assert_snapshot!("jobs-table", table(std::slice::from_ref(&job), 0).render(&screen));
        insta::assert_snapshot!("job-card", card(&screen, &job, 0).replace(&clock(1_000_000), "(date)"));
    }
}
