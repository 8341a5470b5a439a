//! A trace in figures: how many of what, how long, whose.
//!
//! Durations are those that a replay would use: a list with fewer entries than tasks counts each entry as often as
//! it is used. First and typical shuffles together are all reduces of a recorded job; where they are fewer than its
//! reduces, each list stands for all reduces. Percentiles are the project's one definition (`models::moments`).

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, Trace};
use serde::Serialize;

use crate::output::table::Grid;
use crate::output::{Screen, Style};
use crate::units;

/// A trace as programs see it.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) source: String,
    pub(crate) start_ms_epoch: Option<u64>,
    pub(crate) workers: Option<usize>,
    pub(crate) jobs: u64,
    pub(crate) map_only_jobs: u64,
    pub(crate) maps: u64,
    pub(crate) reduces: u64,
    pub(crate) failed_attempts: u64,
    pub(crate) killed_attempts: u64,
    /// From the first submission to the last.
    pub(crate) submit_span_s: f64,
    /// From the first submission to the last end, where ends were measured.
    pub(crate) span_s: Option<f64>,
    pub(crate) input_bytes: Option<u64>,
    pub(crate) shuffle_bytes: Option<u64>,
    pub(crate) output_bytes: Option<u64>,
    /// Jobs by user, queue and outcome; "" is unknown.
    pub(crate) users: BTreeMap<String, u64>,
    pub(crate) queues: BTreeMap<String, u64>,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) deadlines: u64,
    /// Seconds, by phase.
    pub(crate) durations_s: BTreeMap<&'static str, Spread>,
    /// Maps and reduces of a job.
    pub(crate) tasks_per_job: BTreeMap<&'static str, Spread>,
}

/// Where a set of values lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) count: u64,
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) mean: f64,
    pub(crate) p95: f64,
    pub(crate) max: f64,
}

/// Phases in the order of a job's life, with what people call them.
const PHASES: [(&str, &str); 6] = [
    ("interarrival", "between jobs"),
    ("map", "map"),
    ("first_shuffle", "first shuffle"),
    ("typical_shuffle", "typical shuffle"),
    ("reduce", "reduce"),
    ("completion", "whole job"),
];

impl Summary {
    pub(crate) fn of(trace: &Trace) -> Summary {
        let jobs = &trace.jobs;
        let total = |of: fn(&JobTemplate) -> u64| jobs.iter().map(of).fold(0, u64::saturating_add);
        let bytes = |of: fn(&JobTemplate) -> Option<u64>| {
            jobs.iter().filter_map(of).fold(None, |sum: Option<u64>, n| Some(sum.unwrap_or(0).saturating_add(n)))
        };
        let by = |of: fn(&JobTemplate) -> &str| {
            let mut counts = BTreeMap::new();
            jobs.iter().for_each(|job| *counts.entry(of(job).to_owned()).or_insert(0) += 1);
            counts
        };
        let lost = |job: &JobTemplate, failed| job.lost_attempts.iter().filter(|a| a.failed == failed).count() as u64;
        let first = jobs.first().map_or(0, |job| job.submit_ms);
        let last_end = jobs.iter().filter_map(|job| job.measured.as_ref()).map(|m| m.finish_ms).max();
        Summary {
            source: trace.source.clone(),
            start_ms_epoch: trace.start_ms_epoch,
            workers: trace.cluster.as_ref().map(|cluster| cluster.workers.len()),
            jobs: jobs.len() as u64,
            map_only_jobs: jobs.iter().filter(|job| job.n_reduces == 0).count() as u64,
            maps: total(|job| u64::from(job.n_maps)),
            reduces: total(|job| u64::from(job.n_reduces)),
            failed_attempts: jobs.iter().map(|job| lost(job, true)).sum(),
            killed_attempts: jobs.iter().map(|job| lost(job, false)).sum(),
            submit_span_s: seconds(jobs.last().map_or(0, |job| job.submit_ms) - first),
            span_s: last_end.map(|end| seconds(end.saturating_sub(first))),
            input_bytes: bytes(|job| job.input_bytes),
            shuffle_bytes: bytes(|job| job.shuffle_bytes),
            output_bytes: bytes(|job| job.output_bytes),
            users: by(|job| &job.user),
            queues: by(|job| &job.queue),
            outcomes: by(|job| &job.outcome),
            deadlines: jobs.iter().filter(|job| job.deadline_ms.is_some()).count() as u64,
            durations_s: durations(jobs),
            tasks_per_job: per_job(jobs),
        }
    }

    /// For people.
    pub(crate) fn text(&self, screen: &Screen) -> String {
        let mut rows = vec![
            ("source", self.source.clone()),
            ("jobs", format!("{}, {} of them map-only", units::count(self.jobs), units::count(self.map_only_jobs))),
            ("tasks", format!("{}, {}", units::counted(self.maps, "map"), units::counted(self.reduces, "reduce"))),
            ("submitted", format!("over {}", units::seconds(self.submit_span_s))),
        ];
        if let Some(span_s) = self.span_s {
            rows.push(("measured", format!("{} to the last end", units::seconds(span_s))));
        }
        if self.failed_attempts + self.killed_attempts > 0 {
            let (failed, killed) = (units::count(self.failed_attempts), units::count(self.killed_attempts));
            rows.push(("lost", format!("{failed} failed and {killed} killed attempts")));
        }
        let bytes = [("input", self.input_bytes), ("shuffle", self.shuffle_bytes), ("output", self.output_bytes)];
        rows.extend(bytes.into_iter().filter_map(|(name, bytes)| Some((name, units::bytes(bytes?)))));
        rows.extend(self.workers.map(|workers| ("workers", units::count(workers as u64))));
        for (name, counts) in [("users", &self.users), ("queues", &self.queues), ("outcomes", &self.outcomes)] {
            rows.extend(most(counts).map(|text| (name, text)));
        }
        let dim =
            |(name, value): &(&str, String)| format!("{} {value}", screen.paint(Style::Dim, format!("{name:>9}")));
        let card = rows.iter().map(dim).collect::<Vec<_>>().join("\n");
        format!("{card}\n\n{}", self.grid().render(screen))
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::new(&["", ">count", ">min", ">median", ">mean", ">95 %", ">max"]);
        let mut add = |name: &str, spread: &Spread, write: fn(f64) -> String| {
            let values = [spread.min, spread.median, spread.mean, spread.p95, spread.max].map(write);
            grid.row([vec![name.to_owned(), units::count(spread.count)], values.to_vec()].concat());
        };
        for (key, name) in PHASES {
            if let Some(spread) = self.durations_s.get(key) {
                add(name, spread, units::seconds);
            }
        }
        for (key, name) in [("maps", "maps of a job"), ("reduces", "reduces of a job")] {
            if let Some(spread) = self.tasks_per_job.get(key) {
                add(name, spread, tasks);
            }
        }
        grid
    }
}

/// `3.7`, and `1,204` where a fraction tells nothing.
fn tasks(value: f64) -> String {
    if value < 999.95 { format!("{value:.1}") } else { units::count(value.round() as u64) }
}

/// The most frequent ones; nothing when only unknown ones are there.
fn most(counts: &BTreeMap<String, u64>) -> Option<String> {
    let mut known: Vec<_> = counts.iter().filter(|(name, _)| !name.is_empty()).collect();
    known.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut text: Vec<_> = known.iter().take(5).map(|(name, count)| format!("{name} {count}")).collect();
    if known.len() > 5 {
        text.push(format!("{} more", known.len() - 5));
    }
    (!known.is_empty()).then(|| text.join(", "))
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1e3
}

fn durations(jobs: &[JobTemplate]) -> BTreeMap<&'static str, Spread> {
    let mut values: BTreeMap<&'static str, Vec<(u64, u64)>> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        for (name, list, tasks) in phases(job) {
            values.entry(name).or_default().extend(used(list, tasks));
        }
        values.entry("completion").or_default().extend(job.completion_ms().map(|ms| (ms, 1)));
        if index > 0 {
            let gap = job.submit_ms.saturating_sub(jobs[index - 1].submit_ms);
            values.entry("interarrival").or_default().push((gap, 1));
        }
    }
    values.into_iter().filter_map(|(name, values)| Some((name, spread(values, 1e3)?))).collect()
}

fn per_job(jobs: &[JobTemplate]) -> BTreeMap<&'static str, Spread> {
    let maps = jobs.iter().map(|job| (u64::from(job.n_maps), 1)).collect();
    let reduces = jobs.iter().map(|job| (u64::from(job.n_reduces), 1)).collect();
    [("maps", maps), ("reduces", reduces)].into_iter().filter_map(|(name, v)| Some((name, spread(v, 1.0)?))).collect()
}

/// The four lists of a job by their names, each with the number of tasks that use it.
pub(crate) fn phases(job: &JobTemplate) -> [(&'static str, &[u64], u64); 4] {
    let (first, typical) = (&job.first_shuffle_ms[..], &job.typical_shuffle_ms[..]);
    let (maps, reduces) = (u64::from(job.n_maps), u64::from(job.n_reduces));
    let measured = (first.len() + typical.len()) as u64 >= reduces;
    let users = |list: &[u64]| if measured { list.len() as u64 } else { reduces };
    [
        ("map", &job.map_ms, maps),
        ("first_shuffle", first, users(first)),
        ("typical_shuffle", typical, users(typical)),
        ("reduce", &job.reduce_ms, reduces),
    ]
}

/// Each entry of a list that `tasks` tasks use in turn, with how often it is used.
pub(crate) fn used(list: &[u64], tasks: u64) -> impl Iterator<Item = (u64, u64)> {
    let n = list.len() as u64;
    list.iter().enumerate().map(move |(index, ms)| (*ms, tasks / n + u64::from((index as u64) < tasks % n)))
}

/// Of values with their frequencies; `None` for no values. `unit` divides all.
fn spread(mut values: Vec<(u64, u64)>, unit: f64) -> Option<Spread> {
    values.retain(|(_, times)| *times > 0);
    values.sort_unstable();
    let count: u64 = values.iter().map(|(_, times)| times).sum();
    let sum: f64 = values.iter().map(|(value, times)| *value as f64 * *times as f64).sum();
    let at = |rank: u64| {
        let mut below = 0;
        let found = values.iter().find(|(_, times)| {
            below += times;
            below > rank
        });
        found.or(values.last()).map(|(value, _)| *value as f64 / unit)
    };
    // The definition of `models::moments::percentile`, without writing repeated values out.
    let percentile = |percent: f64| {
        let position = percent / 100.0 * (count - 1) as f64;
        let (low, high) = (at(position.floor() as u64)?, at(position.floor() as u64 + 1)?);
        Some(low + (high - low) * (position - position.floor()))
    };
    if count == 0 {
        return None;
    }
    Some(Spread {
        count,
        min: at(0)?,
        median: percentile(50.0)?,
        mean: sum / count as f64 / unit,
        p95: percentile(95.0)?,
        max: at(count - 1)?,
    })
}

#[cfg(test)]
mod tests {
    use howdah_core::models::moments;

    use super::*;

    #[test]
    fn repeated_values_count_as_if_they_were_written_out() {
        let spread = spread(vec![(7_000, 3), (1_000, 1), (9_000, 0), (4_000, 2)], 1e3).unwrap();
        let all = moments::sorted([7.0, 1.0, 4.0, 7.0, 4.0, 7.0]);
        assert_eq!((spread.count, spread.min, spread.max, spread.mean), (6, 1.0, 7.0, 5.0));
        assert_eq!(Some(spread.median), moments::median(&all));
        assert_eq!(Some(spread.p95), moments::percentile(&all, 95.0));
        assert_eq!(super::spread(vec![(1, 0)], 1.0), None);
    }

    #[test]
    fn one_duration_stands_for_all_tasks_that_use_it() {
        assert_eq!(used(&[5, 6], 5).collect::<Vec<_>>(), [(5, 3), (6, 2)]);
        assert_eq!(used(&[], 5).count(), 0);
        let job = JobTemplate {
            n_maps: 4,
            n_reduces: 3,
            map_ms: vec![1_000, 3_000],
            first_shuffle_ms: vec![500],
            typical_shuffle_ms: vec![700, 900],
            reduce_ms: vec![50],
            ..JobTemplate::default()
        };
        let summary = Summary::of(&Trace { jobs: vec![job], ..Trace::default() });
        let counts: Vec<_> = summary.durations_s.iter().map(|(name, spread)| (*name, spread.count)).collect();
        assert_eq!(counts, [("first_shuffle", 1), ("map", 4), ("reduce", 3), ("typical_shuffle", 2)]);
        assert_eq!((summary.durations_s["map"].mean, summary.maps, summary.reduces), (2.0, 4, 3));
    }
}
