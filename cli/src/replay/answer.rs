//! The answer for programs, schema `howdah/replay/v1`.
//!
//! Times are seconds from the trace's start; lengths (`deadline_s` and `completion_s`, both from the job's
//! submission, `makespan_s`, slot seconds) are seconds too. What is not known is null. Fields are only added.

use std::collections::BTreeMap;

use howdah_core::replay::summary::{PartitionUsage, QueueUsage, SizeClass, SlowdownPercentile, Summary};
use howdah_core::replay::{JobOutcome, View};
use howdah_core::time::{Span, Time};
use serde::Serialize;

use super::replayed::{Replayed, job_id};

#[derive(Serialize)]
pub(super) struct Answer {
    schema: &'static str,
    scheduler: String,
    scheduler_params: BTreeMap<String, String>,
    seed: u64,
    cluster: Cluster,
    /// False if it was interrupted.
    complete: bool,
    stopped_s: Option<f64>,
    makespan_s: f64,
    events: u64,
    wall_s: f64,
    events_per_s: f64,
    decisions_digest: String,
    jobs: Vec<Job>,
    summary: Figures,
}

#[derive(Serialize)]
struct Cluster {
    /// `slots` or `workers`.
    view: &'static str,
    workers: Option<usize>,
    map_slots: u32,
    reduce_slots: u32,
    /// Zero: immediate.
    heartbeat_s: Option<f64>,
}

#[derive(Serialize)]
struct Job {
    id: String,
    name: String,
    queue: String,
    state: &'static str,
    maps: u32,
    reduces: u32,
    submit_s: f64,
    start_s: Option<f64>,
    maps_done_s: Option<f64>,
    finish_s: Option<f64>,
    completion_s: Option<f64>,
    slowdown: Option<f64>,
    deadline_s: Option<f64>,
    failed_attempts: u32,
    killed_attempts: u32,
}

#[derive(Serialize)]
struct Figures {
    median_slowdown: Option<f64>,
    p95_slowdown: Option<f64>,
    mean_slowdown: Option<f64>,
    slowdown_variability: Option<f64>,
    relative_deadline_exceeded: f64,
    percentiles: Vec<Percentile>,
    size_classes: Vec<Class>,
    jobs_with_deadline: u64,
    deadlines_missed: u64,
    mean_completion_s: Option<f64>,
    median_completion_s: Option<f64>,
    p95_completion_s: Option<f64>,
    jobs_succeeded: u64,
    jobs_failed: u64,
    jobs_killed: u64,
    jobs_unfinished: u64,
    utilisation: PerKind,
    busy_slot_s: PerKind,
    wasted_slot_s: PerKind,
    queues: Vec<Queue>,
    /// Of policies that divide the slots.
    partitions: Vec<Partition>,
    failed_attempts: u64,
    killed_attempts: u64,
    speculative_attempts: u32,
    speculative_won: u32,
    speculative_lost: u32,
    /// Slot time of the losers of races, originals and copies.
    speculative_wasted_slot_s: f64,
}

#[derive(Serialize)]
struct PerKind {
    map: f64,
    reduce: f64,
}

#[derive(Serialize)]
struct Percentile {
    q: f64,
    slowdown: f64,
    variability: f64,
}

#[derive(Serialize)]
struct Class {
    from_slot_s: f64,
    below_slot_s: f64,
    jobs: u64,
    mean_slowdown: f64,
    median_slowdown: f64,
    p95_slowdown: f64,
    max_slowdown: f64,
    slowdown_variability: f64,
}

#[derive(Serialize)]
struct Queue {
    queue: String,
    jobs: u64,
    utilisation: PerKind,
    busy_slot_s: PerKind,
    wasted_slot_s: PerKind,
}

#[derive(Serialize)]
struct Partition {
    name: String,
    /// Null for a kind that is not divided.
    map_slots: Option<u32>,
    reduce_slots: Option<u32>,
    map_attempts: u64,
    reduce_attempts: u64,
    /// Of the partition's own slots.
    utilisation: PerKind,
    busy_slot_s: PerKind,
}

impl Answer {
    pub(super) fn new(replayed: &Replayed<'_>) -> Answer {
        let Replayed { options, report, summary, wall_s, stopped_at, .. } = replayed;
        let with_slowdown = report.jobs.iter().zip(&summary.slowdowns);
        Answer {
            schema: "howdah/replay/v1",
            scheduler: options.scheduler.clone(),
            scheduler_params: options.scheduler_params.clone(),
            seed: options.seed,
            cluster: Cluster::new(&options.view, report.slots),
            complete: stopped_at.is_none(),
            stopped_s: stopped_at.map(instant),
            makespan_s: report.makespan.as_secs_f64(),
            events: report.events,
            wall_s: *wall_s,
            events_per_s: if *wall_s > 0.0 { report.events as f64 / wall_s } else { 0.0 },
            decisions_digest: report.decisions_digest.clone(),
            jobs: with_slowdown.map(|(job, slowdown)| Job::new(replayed, job, *slowdown)).collect(),
            summary: Figures::new(replayed, summary),
        }
    }
}

impl Cluster {
    fn new(view: &View, [map_slots, reduce_slots]: [u32; 2]) -> Cluster {
        match view {
            View::Slots { .. } => Cluster { view: "slots", workers: None, map_slots, reduce_slots, heartbeat_s: None },
            View::Workers(view) => Cluster {
                view: "workers",
                workers: Some(view.workers.len()),
                map_slots,
                reduce_slots,
                heartbeat_s: Some(view.heartbeat.interval.as_secs_f64()),
            },
        }
    }
}

impl Job {
    fn new(replayed: &Replayed<'_>, job: &JobOutcome, slowdown: Option<f64>) -> Job {
        let template = &replayed.trace.jobs[job.template as usize];
        let over = job.state.is_final();
        Job {
            id: job_id(template, job.template),
            name: template.name.clone(),
            queue: if template.queue.is_empty() { "default".to_owned() } else { template.queue.clone() },
            state: job.state.name(),
            maps: template.n_maps,
            reduces: template.n_reduces,
            submit_s: instant(job.submit),
            start_s: job.start.map(instant),
            maps_done_s: job.maps_done.map(instant),
            finish_s: over.then(|| instant(job.finish)),
            completion_s: over.then(|| job.completion().as_secs_f64()),
            slowdown,
            deadline_s: job.deadline.map(Span::as_secs_f64),
            failed_attempts: job.failed_attempts,
            killed_attempts: job.killed_attempts,
        }
    }
}

impl Figures {
    fn new(replayed: &Replayed<'_>, summary: &Summary) -> Figures {
        let report = &replayed.report;
        let slowdown = summary.slowdown.as_ref();
        let completion = summary.completion.as_ref();
        Figures {
            median_slowdown: slowdown.map(|s| s.median),
            p95_slowdown: slowdown.map(|s| s.p95),
            mean_slowdown: slowdown.map(|s| s.mean),
            slowdown_variability: slowdown.map(|s| s.variability()),
            relative_deadline_exceeded: summary.relative_deadline_exceeded,
            percentiles: slowdown.map(|s| s.percentiles.iter().map(Percentile::from).collect()).unwrap_or_default(),
            size_classes: slowdown.map(|s| s.by_size.iter().map(Class::from).collect()).unwrap_or_default(),
            jobs_with_deadline: summary.with_deadline,
            deadlines_missed: summary.deadlines_missed,
            mean_completion_s: completion.map(|c| c.mean_s),
            median_completion_s: completion.map(|c| c.median_s),
            p95_completion_s: completion.map(|c| c.p95_s),
            jobs_succeeded: summary.jobs.succeeded,
            jobs_failed: summary.jobs.failed,
            jobs_killed: summary.jobs.killed,
            jobs_unfinished: summary.jobs.unfinished,
            utilisation: summary.utilisation.into(),
            busy_slot_s: seconds(report.busy_us),
            wasted_slot_s: seconds(report.wasted_us),
            queues: replayed.queues.iter().map(Queue::from).collect(),
            partitions: replayed.partitions.iter().map(Partition::from).collect(),
            failed_attempts: summary.failed_attempts,
            killed_attempts: summary.killed_attempts,
            speculative_attempts: report.costs.launched,
            speculative_won: report.costs.won,
            speculative_lost: report.costs.lost,
            speculative_wasted_slot_s: report.costs.wasted.as_secs_f64(),
        }
    }
}

impl From<[f64; 2]> for PerKind {
    fn from([map, reduce]: [f64; 2]) -> PerKind {
        PerKind { map, reduce }
    }
}

fn seconds(us: [u64; 2]) -> PerKind {
    us.map(|us| us as f64 / 1e6).into()
}

fn instant(at: Time) -> f64 {
    at.as_us() as f64 / 1e6
}

impl From<&SlowdownPercentile> for Percentile {
    fn from(p: &SlowdownPercentile) -> Percentile {
        Percentile { q: p.q, slowdown: p.slowdown, variability: p.variability }
    }
}

impl From<&SizeClass> for Class {
    fn from(class: &SizeClass) -> Class {
        Class {
            from_slot_s: class.from.as_secs_f64(),
            below_slot_s: class.below.as_secs_f64(),
            jobs: class.jobs,
            mean_slowdown: class.mean,
            median_slowdown: class.median,
            p95_slowdown: class.p95,
            max_slowdown: class.max,
            slowdown_variability: class.variability(),
        }
    }
}

impl From<&QueueUsage> for Queue {
    fn from(usage: &QueueUsage) -> Queue {
        Queue {
            queue: usage.queue.clone(),
            jobs: usage.jobs,
            utilisation: usage.utilisation.into(),
            busy_slot_s: seconds(usage.busy.map(Span::as_us)),
            wasted_slot_s: seconds(usage.wasted.map(Span::as_us)),
        }
    }
}

impl From<&PartitionUsage> for Partition {
    fn from(usage: &PartitionUsage) -> Partition {
        let ([map_slots, reduce_slots], [map_attempts, reduce_attempts]) = (usage.slots, usage.attempts);
        Partition {
            name: usage.name.clone(),
            map_slots,
            reduce_slots,
            map_attempts,
            reduce_attempts,
            utilisation: usage.utilisation.into(),
            busy_slot_s: seconds(usage.busy.map(Span::as_us)),
        }
    }
}
