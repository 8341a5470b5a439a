//! A job in JSON and in a table.

use howdah_proto::v1::{JobStatus, PredictedEnd, SpeculationCosts};
use serde::Serialize;

use crate::listing::{given, reached, span_s};
use crate::output::escape::one_line;
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// What speculative attempts cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Speculation {
    pub(crate) launched: u32,
    pub(crate) won: u32,
    pub(crate) lost: u32,
    /// Slot time of losers, originals and copies.
    pub(crate) wasted_slot_s: f64,
}

impl From<Option<SpeculationCosts>> for Speculation {
    fn from(costs: Option<SpeculationCosts>) -> Speculation {
        let SpeculationCosts { launched, won, lost, wasted_slot_ms } = costs.unwrap_or_default();
        Speculation { launched, won, lost, wasted_slot_s: wasted_slot_ms as f64 / 1e3 }
    }
}

impl Speculation {
    /// In a line, if there were any.
    pub(crate) fn line(&self) -> Option<String> {
        let Speculation { launched, won, lost, wasted_slot_s } = *self;
        let wasted = units::seconds(wasted_slot_s);
        (launched > 0).then(|| format!("{launched} launched, {won} won, {lost} lost; {wasted} of slot time wasted"))
    }

    /// The same where no other line says what is counted.
    pub(crate) fn sentence(&self) -> Option<String> {
        self.line().map(|line| format!("Speculative attempts: {line}"))
    }
}

/// A job's end as the master's last round of forecasts predicted it; null beyond the horizon.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Predicted {
    pub(crate) at_ms_epoch: u64,
    pub(crate) finish_ms_epoch: Option<u64>,
    pub(crate) low_ms_epoch: Option<u64>,
    pub(crate) high_ms_epoch: Option<u64>,
    /// Whether tasks like its own were seen before.
    pub(crate) seen: bool,
}

impl From<PredictedEnd> for Predicted {
    fn from(end: PredictedEnd) -> Predicted {
        Predicted {
            at_ms_epoch: end.at_ms_epoch,
            finish_ms_epoch: reached(end.finish_ms_epoch),
            low_ms_epoch: reached(end.low_ms_epoch),
            high_ms_epoch: reached(end.high_ms_epoch),
            seen: end.seen,
        }
    }
}

impl Predicted {
    /// In how long it ends, in a table: `2 min 05 s (1 min 50 s to 2 min 30 s)`. A `?` marks what nothing like it was seen of.
    fn cell(&self, now_ms: u64) -> String {
        let left = |ms: Option<u64>| {
            ms.map_or("beyond".to_owned(), |ms| units::seconds(ms.saturating_sub(now_ms) as f64 / 1e3))
        };
        let doubt = if self.seen { "" } else { " ?" };
        if self.low_ms_epoch.is_none() {
            return format!("beyond{doubt}");
        }
        format!("{} ({} to {}){doubt}", left(self.finish_ms_epoch), left(self.low_ms_epoch), left(self.high_ms_epoch))
    }
}

/// A job as programs see it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Job {
    pub(crate) job: String,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) queue: String,
    pub(crate) priority: String,
    /// PREP, RUNNING, COMMITTING, SUCCEEDED, FAILED or KILLED.
    pub(crate) state: String,
    pub(crate) maps: u32,
    pub(crate) reduces: u32,
    pub(crate) maps_done: u32,
    pub(crate) reduces_done: u32,
    pub(crate) maps_running: u32,
    pub(crate) reduces_running: u32,
    /// 0 to 1.
    pub(crate) map_progress: f64,
    pub(crate) reduce_progress: f64,
    pub(crate) failed_attempts: u32,
    pub(crate) killed_attempts: u32,
    /// How often the master was started again while it was not over.
    pub(crate) master_restarts: u32,
    pub(crate) submit_ms_epoch: Option<u64>,
    pub(crate) launch_ms_epoch: Option<u64>,
    pub(crate) maps_done_ms_epoch: Option<u64>,
    pub(crate) finish_ms_epoch: Option<u64>,
    /// From submission to the end.
    pub(crate) completion_s: Option<f64>,
    pub(crate) output: Option<String>,
    pub(crate) why: Option<String>,
    pub(crate) node_local_maps: u32,
    pub(crate) rack_local_maps: u32,
    pub(crate) off_rack_maps: u32,
    pub(crate) unplaced_maps: u32,
    pub(crate) speculation: Speculation,
    /// One each, such as `gpu>=1`.
    pub(crate) requires: Vec<String>,
    /// Of one that is not over. Listings say it beside the job.
    #[serde(skip)]
    pub(crate) predicted: Option<Predicted>,
}

impl From<&JobStatus> for Job {
    fn from(s: &JobStatus) -> Job {
        Job {
            job: s.job.clone(),
            name: s.name.clone(),
            user: s.user.clone(),
            queue: s.queue.clone(),
            priority: s.priority.clone(),
            state: s.state.clone(),
            maps: s.n_maps,
            reduces: s.n_reduces,
            maps_done: s.maps_done,
            reduces_done: s.reduces_done,
            maps_running: s.maps_running,
            reduces_running: s.reduces_running,
            map_progress: s.map_progress,
            reduce_progress: s.reduce_progress,
            failed_attempts: s.failed_attempts,
            killed_attempts: s.killed_attempts,
            master_restarts: s.master_restarts,
            submit_ms_epoch: reached(s.submit_ms_epoch),
            launch_ms_epoch: reached(s.launch_ms_epoch),
            maps_done_ms_epoch: reached(s.maps_done_ms_epoch),
            finish_ms_epoch: reached(s.finish_ms_epoch),
            completion_s: span_s(s.submit_ms_epoch, s.finish_ms_epoch),
            output: given(&s.output),
            why: given(&s.why),
            node_local_maps: s.node_local_maps,
            rack_local_maps: s.rack_local_maps,
            off_rack_maps: s.off_rack_maps,
            unplaced_maps: s.unplaced_maps,
            speculation: s.speculation.into(),
            requires: s.requires.clone(),
            predicted: s.predicted.map(Predicted::from),
        }
    }
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
            job.predicted.map_or_else(String::new, |predicted| predicted.cell(now_ms)),
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
    if let Some(line) = job.speculation.line() {
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

/// Milliseconds since the epoch, now.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
}
