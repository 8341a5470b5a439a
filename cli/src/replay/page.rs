//! The answer for people: the figures first, then who had the cluster, then the jobs.

use howdah_charts::timeline::shortened;
use howdah_core::job::JobState;
use howdah_core::replay::{JobOutcome, View};
use howdah_core::time::{Span, Time};
use howdah_master::policies::ALLOCATIONS;

use super::replayed::{Replayed, job_id};
use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units::{count, counted, seconds, share};

/// Rows of the jobs' table unless all are asked for.
const MOST_JOBS: usize = 20;

/// Everything, without a line feed at the end.
pub(super) fn page(screen: &Screen, replayed: &Replayed<'_>, all: bool) -> String {
    let mut parts = vec![figures(screen, replayed)];
    let mut add = |title: &str, grid: Option<Grid>| {
        if let Some(grid) = grid {
            parts.push(format!("{}\n{}", screen.paint(Style::Bold, title), grid.render(screen)));
        }
    };
    add("Slowdown by size of job (slot time)", by_size(replayed));
    add("Queues", queues(replayed));
    add("Partitions", partitions(replayed));
    add("Jobs", Some(jobs(replayed, all)));
    let left = replayed.report.jobs.len().saturating_sub(MOST_JOBS);
    let mut text = parts.join("\n\n");
    if !all && left > 0 {
        let more = format!("… and {} more jobs; --all shows them, --output json too", count(left as u64));
        text.push('\n');
        text.push_str(&screen.paint(Style::Dim, more));
    }
    text
}

fn figures(screen: &Screen, replayed: &Replayed<'_>) -> String {
    let Replayed { trace, report, summary, options, .. } = replayed;
    let of_jobs = |n: fn(&howdah_core::job::profile::JobTemplate) -> u32| -> u64 {
        report.jobs.iter().map(|job| u64::from(n(&trace.jobs[job.template as usize]))).sum()
    };
    let mut lines = Vec::new();
    let mut line = |name: &str, text: String| lines.push(format!("{name:<12}{text}"));
    let (maps, reduces) = (counted(of_jobs(|job| job.n_maps), "map"), counted(of_jobs(|job| job.n_reduces), "reduce"));
    line("trace", format!("{}, {maps}, {reduces}", counted(report.jobs.len() as u64, "job")));
    line("cluster", cluster(&options.view, report.slots));
    // The text of a file is no one's idea of a line; its name stands beside it.
    let shown = options.scheduler_params.iter().filter(|(key, _)| *key != ALLOCATIONS);
    let params = shown.map(|(key, value)| format!(", {key}={value}")).collect::<String>();
    line("scheduler", format!("{}{params}", options.scheduler));
    let makespan = report.makespan.as_secs_f64();
    let exact = if makespan >= 100.0 { format!(" ({makespan:.3} s)") } else { String::new() };
    line("makespan", screen.paint(Style::Bold, format!("{}{exact}", seconds(makespan))));
    if let Some(at) = replayed.stopped_at {
        let at = seconds(at.since(Time::ZERO).as_secs_f64());
        line("stopped", screen.paint(Style::Warn, format!("at {at} of the trace's time; later jobs are missing here")));
    }
    line("jobs", job_counts(screen, replayed));
    if let Some(c) = &summary.completion {
        let (median, p95, mean) = (seconds(c.median_s), seconds(c.p95_s), seconds(c.mean_s));
        line("completion", format!("median {median}, 95th percentile {p95}, mean {mean}"));
    }
    if let Some(s) = &summary.slowdown {
        let values =
            s.percentiles.iter().map(|p| format!("{} at {} ({})", factor(p.slowdown), p.q, factor(p.variability)));
        let (median, mean, v) = (factor(s.median), factor(s.mean), factor(s.variability()));
        line("slowdown", format!("median {median}, mean {mean}, variability at the 95th percentile {v}"));
        line("", format!("percentiles (with variability): {}", values.collect::<Vec<_>>().join(", ")));
    }
    if summary.with_deadline > 0 {
        let (missed, of) = (count(summary.deadlines_missed), count(summary.with_deadline));
        let sum = summary.relative_deadline_exceeded;
        line("deadlines", format!("{missed} of {of} missed, exceeded by {sum:.3} of the deadlines in sum"));
    }
    let [map, reduce] = summary.utilisation.map(share);
    line("slots busy", format!("{map} of the maps', {reduce} of the reduces' over the makespan"));
    if let Some(text) = lost(replayed) {
        line("lost", text);
    }
    let rate = if replayed.wall_s > 0.0 { report.events as f64 / replayed.wall_s } else { 0.0 };
    let wall = seconds(replayed.wall_s);
    line("simulated", format!("{} in {wall}, {} events/s", counted(report.events, "event"), count(rate as u64)));
    line("decisions", screen.paint(Style::Dim, &report.decisions_digest));
    lines.join("\n")
}

fn cluster(view: &View, [maps, reduces]: [u32; 2]) -> String {
    let slots = format!("{} and {}", counted(maps.into(), "map slot"), counted(reduces.into(), "reduce slot"));
    match view {
        View::Slots { .. } => format!("{slots}, one pool"),
        View::Workers(view) => {
            let heartbeats = match (view.heartbeat.interval, view.heartbeat.out_of_band) {
                (Span::ZERO, _) => "immediate heartbeats".to_owned(),
                (every, true) => format!("heartbeats every {} and when an attempt ends", seconds(every.as_secs_f64())),
                (every, false) => format!("heartbeats every {}", seconds(every.as_secs_f64())),
            };
            format!("{} with {slots} in all, {heartbeats}", counted(view.workers.len() as u64, "worker"))
        }
    }
}

fn job_counts(screen: &Screen, replayed: &Replayed<'_>) -> String {
    let jobs = &replayed.summary.jobs;
    let all = [
        (jobs.succeeded, "succeeded", None),
        (jobs.failed, "failed", Some(Style::Bad)),
        (jobs.killed, "killed", Some(Style::Warn)),
        (jobs.unfinished, "not finished", Some(Style::Warn)),
    ];
    let values = all.iter().filter(|(n, ..)| *n > 0).map(|(n, what, style)| {
        let text = format!("{} {what}", count(*n));
        style.map_or(text.clone(), |style| screen.paint(style, text))
    });
    values.collect::<Vec<_>>().join(", ")
}

/// Attempts that did not count; nothing if all did.
fn lost(replayed: &Replayed<'_>) -> Option<String> {
    let (report, summary) = (&replayed.report, &replayed.summary);
    if summary.failed_attempts + summary.killed_attempts + u64::from(report.costs.launched) == 0 {
        return None;
    }
    let (failed, killed) = (count(summary.failed_attempts), count(summary.killed_attempts));
    let wasted: u64 = report.wasted_us.iter().sum();
    let busy: u64 = report.busy_us.iter().sum();
    let part = share(wasted as f64 / busy.max(1) as f64);
    let mut text = format!("{failed} failed and {killed} killed attempts, {part} of the slots' busy time");
    let costs = &report.costs;
    if costs.launched > 0 {
        let [launched, won, lost] = [costs.launched, costs.won, costs.lost].map(|n| count(n.into()));
        let wasted = crate::units::seconds(costs.wasted.as_secs_f64());
        text += &format!("; {launched} speculative, {won} won, {lost} lost, {wasted} of slot time wasted by them");
    }
    Some(text)
}

/// Nothing if all jobs are of one size.
fn by_size(replayed: &Replayed<'_>) -> Option<Grid> {
    let classes = &replayed.summary.slowdown.as_ref()?.by_size;
    if classes.len() < 2 {
        return None;
    }
    let mut grid = Grid::new(&["from", "below", ">jobs", ">mean", ">median", ">95 %", ">worst", ">variability"]);
    for class in classes {
        let (from, below) = (seconds(class.from.as_secs_f64()), seconds(class.below.as_secs_f64()));
        let factors = [class.mean, class.median, class.p95, class.max, class.variability()].map(factor);
        grid.row([from, below, count(class.jobs)].into_iter().chain(factors));
    }
    Some(grid)
}

fn queues(replayed: &Replayed<'_>) -> Option<Grid> {
    let queues = &replayed.queues;
    if queues.len() < 2 {
        return None;
    }
    let mut grid = Grid::new(&["queue", ">jobs", ">map slots", ">reduce slots", ">wasted"]);
    for queue in queues {
        let [map, reduce] = queue.utilisation.map(share);
        let wasted: f64 = queue.wasted.iter().map(|span| span.as_secs_f64()).sum();
        grid.row([queue.queue.clone(), count(queue.jobs), map, reduce, seconds(wasted)]);
    }
    Some(grid)
}

/// Nothing under a policy that does not divide the slots.
fn partitions(replayed: &Replayed<'_>) -> Option<Grid> {
    let partitions = &replayed.partitions;
    if partitions.is_empty() {
        return None;
    }
    let mut grid = Grid::new(&["partition", ">map slots", ">busy", ">reduce slots", ">busy", ">attempts"]);
    for part in partitions {
        let slots = part.slots.map(|slots| slots.map_or("-".to_owned(), |slots| count(slots.into())));
        let ([maps, reduces], [map, reduce]) = (slots, part.utilisation.map(share));
        grid.row([part.name.clone(), maps, map, reduces, reduce, count(part.attempts.iter().sum())]);
    }
    Some(grid)
}

fn jobs(replayed: &Replayed<'_>, all: bool) -> Grid {
    let (report, summary) = (&replayed.report, &replayed.summary);
    let deadlines = summary.with_deadline > 0;
    let states = summary.jobs.succeeded < report.jobs.len() as u64;
    let names = report.jobs.iter().any(|job| !replayed.trace.jobs[job.template as usize].name.is_empty());
    let mut columns = vec!["job"];
    columns.extend(names.then_some("name"));
    columns.extend([">maps", ">reduces", ">submit", ">start", ">maps done", ">finish", ">completion", ">slowdown"]);
    columns.extend(deadlines.then_some(">deadline"));
    columns.extend(states.then_some("state"));
    let mut grid = Grid::new(&columns).leaving(&["start", "maps done", "submit", "reduces", "maps"]);
    let shown = if all { report.jobs.len() } else { MOST_JOBS };
    for (job, slowdown) in report.jobs.iter().zip(&summary.slowdowns).take(shown) {
        let template = &replayed.trace.jobs[job.template as usize];
        let over = job.state.is_final();
        let mut row = vec![job_id(template, job.template)];
        row.extend(names.then(|| shortened(&template.name, 32)));
        row.extend([
            count(template.n_maps.into()),
            count(template.n_reduces.into()),
            instant(Some(job.submit)),
            instant(job.start),
            instant(job.maps_done),
            instant(over.then_some(job.finish)),
            if over { seconds(job.completion().as_secs_f64()) } else { "-".to_owned() },
            slowdown.map_or("-".to_owned(), factor),
        ]);
        row.extend(deadlines.then(|| job.deadline.map_or("-".to_owned(), |d| seconds(d.as_secs_f64()))));
        row.extend(states.then(|| job.state.name().to_owned()));
        let n = row.len();
        grid.row(row);
        mark(&mut grid, job, n, deadlines, states);
    }
    grid
}

/// Late and lost jobs stand out.
fn mark(grid: &mut Grid, job: &JobOutcome, columns: usize, deadlines: bool, states: bool) {
    let state = states.then(|| columns - 1);
    let deadline = deadlines.then(|| columns - 1 - usize::from(states));
    if let (Some(column), Some(due)) = (deadline, job.deadline)
        && job.completion() > due
    {
        grid.style(column, Style::Bad);
    }
    if let Some(column) = state
        && job.state != JobState::Succeeded
    {
        grid.style(column, if job.state == JobState::Failed { Style::Bad } else { Style::Warn });
    }
}

fn instant(at: Option<Time>) -> String {
    at.map_or("-".to_owned(), |at| seconds(at.since(Time::ZERO).as_secs_f64()))
}

/// `1.00`, `12.3`, `1,234`.
fn factor(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => count(v.round() as u64),
    }
}
