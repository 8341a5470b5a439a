//! Slot time by queue: who had the cluster.
//!
//! The report knows slot time per kind only; this observer adds each attempt's to its job, and jobs to queues at
//! the end. It costs an addition per attempt.

use crate::job::PerKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::job::profile::{JobTemplate, Trace};
use crate::replay::{AttemptRecord, Observer, ReplayReport};
use crate::time::Span;

/// What one queue had.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueUsage {
    /// Its name; `default` for jobs that name none.
    pub queue: String,
    /// Its jobs.
    pub jobs: u64,
    /// Slot time of its map and reduce attempts, lost ones included.
    pub busy: PerKind<Span>,
    /// Of it, slot time of attempts that did not succeed.
    pub wasted: PerKind<Span>,
    /// `busy` as a share of all slots of the kind over the makespan.
    pub utilisation: PerKind<f64>,
}

/// Busy and wasted microseconds of a job, maps first.
#[derive(Clone, Copy, Debug, Default)]
struct JobUsage {
    busy_us: PerKind<u64>,
    wasted_us: PerKind<u64>,
}

/// The observer. Clones share what they have seen, so that one can be given away and the other asked.
#[derive(Clone, Debug, Default)]
pub struct UsageByQueue {
    jobs: Rc<RefCell<Vec<JobUsage>>>,
}

/// Slots that each of the job's maps and reduces takes.
pub(super) fn slots_of_tasks(job: &JobTemplate) -> PerKind<u64> {
    [job.slots_per_map, job.slots_per_reduce].map(|slots| u64::from(slots.max(1)))
}

impl Observer for UsageByQueue {
    fn attempt(&mut self, record: &AttemptRecord) {
        let mut jobs = self.jobs.borrow_mut();
        let index = record.attempt.job.0 as usize;
        if jobs.len() <= index {
            jobs.resize(index + 1, JobUsage::default());
        }
        let us = record.end.since(record.start).as_us();
        let kind = record.attempt.kind;
        jobs[index].busy_us[kind] += us;
        if record.state != crate::job::AttemptState::Succeeded {
            jobs[index].wasted_us[kind] += us;
        }
    }
}

impl UsageByQueue {
    /// By name, ascending.
    pub fn queues(&self, report: &ReplayReport, trace: &Trace) -> Vec<QueueUsage> {
        let seen = self.jobs.borrow();
        let mut queues: BTreeMap<&str, (u64, JobUsage)> = BTreeMap::new();
        for job in &report.jobs {
            let name = trace.jobs.get(job.template as usize).map_or("", |template| template.queue.as_str());
            let usage = seen.get(job.id.0 as usize).copied().unwrap_or_default();
            let (jobs, sum) = queues.entry(if name.is_empty() { "default" } else { name }).or_default();
            *jobs += 1;
            let slots = trace.jobs.get(job.template as usize).map_or([1; 2], slots_of_tasks);
            for (kind, slots) in slots.into_iter().enumerate() {
                sum.busy_us[kind] += usage.busy_us[kind] * slots;
                sum.wasted_us[kind] += usage.wasted_us[kind] * slots;
            }
        }
        let share = |busy_us: u64, slots: u32| {
            let all = f64::from(slots) * report.makespan.as_us() as f64;
            if all > 0.0 { busy_us as f64 / all } else { 0.0 }
        };
        let usage = |(queue, (jobs, sum)): (&str, (u64, JobUsage))| QueueUsage {
            queue: queue.to_owned(),
            jobs,
            busy: sum.busy_us.map(Span::from_us),
            wasted: sum.wasted_us.map(Span::from_us),
            utilisation: [0, 1].map(|kind| share(sum.busy_us[kind], report.slots[kind])),
        };
        queues.into_iter().map(usage).collect()
    }
}
