//! Figure 9: how busy the two partitions are, from the attempts alone.
//!
//! Where an attempt ran is found without asking the policy: under SITA from its job's predicted size, under TAGS from
//! what the attempts of its job had received when it began.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use howdah_core::job::TaskKind;
use howdah_core::replay::{AttemptRecord, Observer, Simulation};
use howdah_core::time::{Span, Time};

use super::bench::{Bench, MAIN, SLOTS, Set, predicted_us};
use super::runs::LOADS;
use super::sweep::{Sweeps, two_queues};
use crate::framework::Lab;

/// One size of partition 1, with its best limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) scheduler: &'static str,
    pub(super) share: u32,
    pub(super) limit: Span,
    /// Share of each partition's slots that was busy, maps' and reduces' together.
    pub(super) busy: [f64; 2],
    /// Share of all work that partition 1 did.
    pub(super) work_in_first: f64,
}

/// Kind, start, start of service, end.
type Slot = (TaskKind, Time, Time, Time);

#[derive(Clone, Default)]
struct Memory(Rc<RefCell<BTreeMap<u32, Vec<Slot>>>>);

impl Observer for Memory {
    fn attempt(&mut self, a: &AttemptRecord) {
        let slot = (a.attempt.kind, a.start, a.maps_done.unwrap_or(a.start), a.end);
        self.0.borrow_mut().entry(a.attempt.job.0).or_default().push(slot);
    }
}

/// Each size of partition 1 with its best limit, at a load of 0.7, on the first repeat.
pub(super) fn run(lab: &Lab<'_>, bench: &Bench, sweeps: &Sweeps) -> Result<Vec<Use>> {
    lab.progress.step("Figure 9: use of the partitions");
    let Some(set) = bench.sets.first() else { return Ok(Vec::new()) };
    let mut shares: Vec<u32> = sweeps.points.iter().map(|point| point.share).filter(|&share| share > 0).collect();
    shares.sort_unstable();
    shares.dedup();
    let mut all = Vec::new();
    for scheduler in ["tags", "sita"] {
        for &share in &shares {
            if let Some(best) = sweeps.best(&sweeps.of(scheduler, LOADS[0], Some(share))) {
                all.push(one(set, scheduler, share, best.limit)?);
            }
        }
    }
    Ok(all)
}

fn one(set: &Set, scheduler: &'static str, share: u32, limit: Span) -> Result<Use> {
    let options = set.options(&two_queues(scheduler, share, limit), LOADS[0], MAIN);
    let mut simulation = Simulation::new(&set.trace, &options)?;
    let memory = Memory::default();
    simulation.observe(Box::new(memory.clone()));
    simulation.run();
    let report = simulation.report();
    let line = set.line();
    let mut busy_us = [0u64; 2];
    for job in &report.jobs {
        let slots = memory.0.borrow().get(&job.id.0).cloned().unwrap_or_default();
        let moved_on = match scheduler {
            "tags" => moved_on(&slots, limit),
            _ if predicted_us(&line, &set.trace.jobs[job.template as usize]) > limit.as_us() => Some(Time::ZERO),
            _ => None,
        };
        for (_, start, _, end) in slots {
            let second = moved_on.is_some_and(|at| start >= at);
            busy_us[usize::from(second)] += end.since(start).as_us();
        }
    }
    let slots = SLOTS.iter().map(|&slots| f64::from(slots)).sum::<f64>();
    let first = slots * f64::from(share) / 100.0;
    let time_us = report.makespan.as_us() as f64;
    let [a, b] = busy_us.map(|us| us as f64);
    let busy = [a / (first * time_us), b / ((slots - first) * time_us)];
    Ok(Use { scheduler, share, limit, busy, work_in_first: a / (a + b) })
}

/// When the attempts had received so much service.
fn moved_on(slots: &[Slot], limit: Span) -> Option<Time> {
    let mut changes: Vec<(Time, i64)> = slots.iter().flat_map(|&(_, _, from, to)| [(from, 1), (to, -1)]).collect();
    changes.sort_unstable();
    let (mut at, mut running, mut received) = (Time::ZERO, 0i64, 0u64);
    for (time, change) in changes {
        let grown = time.since(at).as_us() * running.unsigned_abs();
        if received + grown >= limit.as_us() && running > 0 {
            let wait = (limit.as_us() - received).div_ceil(running.unsigned_abs());
            return Some(at + Span::from_us(wait));
        }
        received += grown;
        at = time;
        running += change;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_moves_on_when_its_attempts_have_received_the_limit() {
        let s = |s: u64| Time::from_ms(s * 1_000);
        // Two maps from 0 to 10 s, and a reduce that holds its slot from 5 s on and is served from 10 s on.
        let slots = [
            (TaskKind::Map, s(0), s(0), s(10)),
            (TaskKind::Map, s(0), s(0), s(10)),
            (TaskKind::Reduce, s(5), s(10), s(20)),
        ];
        assert_eq!(moved_on(&slots, Span::from_secs(15)), Some(Time::from_ms(7_500)));
        assert_eq!(moved_on(&slots, Span::from_secs(24)), Some(s(14)));
        assert_eq!(moved_on(&slots, Span::from_secs(31)), None);
    }
}
