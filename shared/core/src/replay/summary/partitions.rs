//! Slot time by partition: how busy each part of the slots was that a policy divides (slowdown paper §VI-B).
//!
//! Only the policy knows which partition an attempt's slot is from, and it forgets it with the attempt. So launches are
//! noted as they happen and the policy is asked after each instant, when it has decided and the attempts still run;
//! attempts that take no time at all are not seen, and add nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::usage::slots_of_tasks;
use crate::job::profile::Trace;
use crate::job::{AttemptId, JobId, Locality, PerKind, WorkerId};
use crate::replay::{AttemptRecord, Observer, ReplayReport};
use crate::schedulers::Scheduler;
use crate::time::{Span, Time};

/// What one partition had.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionUsage {
    /// As its policy calls it.
    pub name: String,
    /// Its map and reduce slots when an attempt was last launched there; `None` for a kind that is not divided.
    pub slots: PerKind<Option<u32>>,
    /// Attempts of each kind.
    pub attempts: PerKind<u64>,
    /// Their slot time, lost ones included.
    pub busy: PerKind<Span>,
    /// `busy` as a share of the partition's own slots over the makespan, or of the cluster's where the kind is not
    /// divided; above 1 for a partition that borrows.
    pub utilisation: PerKind<f64>,
}

/// The observer. Clones share what they have seen, so that one can be given away and the other asked.
#[derive(Clone, Debug, Default)]
pub struct UsageByPartition {
    seen: Rc<RefCell<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Launched since the policy was last asked.
    fresh: Vec<AttemptId>,
    /// Where the slots of those that run are from.
    places: BTreeMap<AttemptId, usize>,
    by_name: BTreeMap<String, usize>,
    partitions: Vec<Sums>,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    slots: PerKind<Option<u32>>,
    attempts: PerKind<u64>,
    /// Time of attempts by job; how many slots each took is the job's to say.
    held_us: BTreeMap<JobId, [u64; 2]>,
}

impl Observer for UsageByPartition {
    fn launched(&mut self, _at: Time, attempt: AttemptId, _worker: WorkerId, _locality: Locality, _speculative: bool) {
        self.seen.borrow_mut().fresh.push(attempt);
    }

    fn attempt(&mut self, record: &AttemptRecord) {
        let seen = &mut *self.seen.borrow_mut();
        if let Some(place) = seen.places.remove(&record.attempt) {
            let held_us = seen.partitions[place].held_us.entry(record.attempt.job).or_default();
            held_us[record.attempt.kind] += record.end.since(record.start).as_us();
        }
    }
}

impl UsageByPartition {
    /// Asks the policy where the slots of the attempts are from that were launched since the last time. To be called
    /// after each step of the simulation.
    pub fn ask(&self, scheduler: &dyn Scheduler) {
        let Seen { fresh, places, by_name, partitions } = &mut *self.seen.borrow_mut();
        for attempt in fresh.drain(..) {
            let Some(found) = scheduler.queues().partition(attempt.job) else { continue };
            let place = *by_name.entry(found.name).or_insert_with(|| {
                partitions.push(Sums::default());
                partitions.len() - 1
            });
            partitions[place].slots = found.slots;
            partitions[place].attempts[attempt.kind] += 1;
            places.insert(attempt, place);
        }
    }

    /// By name, ascending; only those that had an attempt.
    pub fn partitions(&self, report: &ReplayReport, trace: &Trace) -> Vec<PartitionUsage> {
        let seen = self.seen.borrow();
        let usage = |(name, &place): (&String, &usize)| {
            let Sums { slots, attempts, ref held_us } = seen.partitions[place];
            let mut busy_us = [0; 2];
            for job in &report.jobs {
                let (Some(held), Some(template)) = (held_us.get(&job.id), trace.jobs.get(job.template as usize)) else {
                    continue;
                };
                for (kind, slots) in slots_of_tasks(template).into_iter().enumerate() {
                    busy_us[kind] += held[kind] * slots;
                }
            }
            let share = |kind: usize| {
                let own = slots[kind].unwrap_or(report.slots[kind]);
                let all = f64::from(own) * report.makespan.as_us() as f64;
                if all > 0.0 { busy_us[kind] as f64 / all } else { 0.0 }
            };
            PartitionUsage {
                name: name.clone(),
                slots,
                attempts,
                busy: busy_us.map(Span::from_us),
                utilisation: [share(0), share(1)],
            }
        };
        seen.by_name.iter().map(usage).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::profile::JobTemplate;
    use crate::replay::{ReplayOptions, Simulation, View};

    fn used(scheduler: &str, params: &[(&str, &str)], jobs: Vec<JobTemplate>) -> Vec<PartitionUsage> {
        let trace = Trace { jobs, ..Trace::default() };
        let options = ReplayOptions {
            scheduler: scheduler.to_owned(),
            scheduler_params: params.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
            view: View::Slots { maps: 4, reduces: 2 },
            ..ReplayOptions::default()
        };
        let mut simulation = Simulation::new(&trace, &options).expect("begins");
        let usage = UsageByPartition::default();
        simulation.observe(Box::new(usage.clone()));
        while simulation.step() {
            usage.ask(simulation.tracker().scheduler());
        }
        usage.partitions(&simulation.report(), &trace)
    }

    fn maps(n_maps: u32, map_s: u64, queue: &str) -> JobTemplate {
        JobTemplate { n_maps, map_ms: vec![map_s * 1_000], queue: queue.to_owned(), ..JobTemplate::default() }
    }

    // One of four map slots for jobs that have received less than 10 s, three for the others.
    #[test]
    fn a_job_that_moves_on_takes_its_next_slots_from_the_next_partition() {
        let found = used("tags", &[("limits", "10s"), ("partitions", "0.25")], vec![maps(8, 6, "")]);
        let said = found.iter().map(|p| (&p.name[..], p.slots, p.attempts, p.busy[0].as_us() / 1_000_000));
        // Two maps of 6 s one after the other in the first: the second is on its way when 10 s are over.
        let (first, second) =
            (("queue 1", [Some(1), Some(1)], [2, 0], 12), ("queue 2", [Some(3), Some(1)], [6, 0], 36));
        assert_eq!(said.collect::<Vec<_>>(), [first, second]);
        // 10 s until it moves on, then two waves of three: 22 s in all.
        let shares: Vec<u64> = found.iter().map(|p| (p.utilisation[0] * 1e3).round() as u64).collect();
        assert_eq!(shares, [12_000 / 22, 36_000 / (3 * 22)]);
    }

    #[test]
    fn a_pool_is_held_against_its_own_slots() {
        let found = used("balanced-pools", &[("pools", "a:1+1,b:3+1")], vec![maps(2, 5, "a"), maps(3, 10, "b")]);
        let said: Vec<_> = found.iter().map(|p| (&p.name[..], p.slots[0], p.utilisation[0])).collect();
        assert_eq!(said, [("a", Some(1), 1.0), ("b", Some(3), 1.0)]);
    }

    #[test]
    fn a_task_of_two_slots_holds_two_of_its_pool() {
        let job = JobTemplate { slots_per_map: 2, ..maps(1, 5, "b") };
        let found = used("balanced-pools", &[("pools", "b:2+1")], vec![job]);
        assert_eq!((found[0].busy[0], found[0].utilisation[0]), (Span::from_secs(10), 1.0));
    }

    #[test]
    fn a_policy_of_one_part_has_no_partitions() {
        assert_eq!(used("fifo", &[], vec![maps(2, 5, "")]), []);
    }
}
