//! Clients of the swarm who change jobs that are not over: another priority, another queue.
//!
//! What was acknowledged holds after every start, until somebody changes it again. Whether and what is drawn apart, so that the
//! worlds of before are as they were but for it.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::plan::Dice;
use super::world::{Event, World};
use crate::job::{JobId, Priority};
use crate::time::Span;
use crate::tracker::Input;

/// Queues and priorities that clients ask for; no policy of the swarm refuses any.
const QUEUES: [&str; 3] = ["default", "etl", "night"];
const PRIORITIES: [Priority; 3] = [Priority::VeryLow, Priority::Normal, Priority::VeryHigh];

/// What clients were told of their jobs.
pub(super) struct Changes {
    dice: Dice,
    priorities: BTreeMap<JobId, Priority>,
    queues: BTreeMap<JobId, SmolStr>,
    /// That were acknowledged.
    pub(super) n: u64,
}

impl Changes {
    pub(super) fn new(seed: u64) -> Changes {
        let dice = Dice::new(seed.rotate_left(7) ^ 0x9696);
        Changes { dice, priorities: BTreeMap::new(), queues: BTreeMap::new(), n: 0 }
    }
}

impl World {
    /// In every second world somebody changes a job now and then.
    pub(super) fn begin_changes(&mut self) {
        if self.changes.dice.one_in(2) {
            self.next_change();
        }
    }

    fn next_change(&mut self) {
        let after = Span::from_ms(500 + self.changes.dice.below(10_000));
        self.later(after, Event::Change);
    }

    /// One job, if it is there. A call that broke has changed it or not, and nobody was told.
    pub(super) fn change(&mut self) {
        if !self.faults {
            return;
        }
        self.next_change();
        let job = JobId(1 + self.changes.dice.below(self.plan.jobs.len() as u64) as u32);
        if self.master.as_ref().is_none_or(|master| master.tracker.state().job(job).is_none()) {
            return;
        }
        if self.changes.dice.one_in(2) {
            let priority = self.changes.dice.pick(&PRIORITIES);
            self.changes.priorities.remove(&job);
            if self.master(vec![Input::SetPriority { job, priority }]) {
                self.changes.priorities.insert(job, priority);
                self.changes.n += 1;
            }
        } else {
            let queue = SmolStr::new(self.changes.dice.pick(&QUEUES));
            self.changes.queues.remove(&job);
            if self.master(vec![Input::SetQueue { job, queue: queue.clone() }]) {
                self.changes.queues.insert(job, queue);
                self.changes.n += 1;
            }
        }
    }

    /// Of the jobs that are not over.
    pub(super) fn no_change_is_forgotten(&self) -> Result<(), String> {
        let Some(master) = &self.master else { return Ok(()) };
        let state = master.tracker.state();
        for (&job, &asked) in &self.changes.priorities {
            if let Some(is) = state.job(job).map(|job| job.priority()).filter(|&is| is != asked) {
                return Err(format!("{job:?} was acknowledged to be {asked:?} and is {is:?}"));
            }
        }
        for (&job, asked) in &self.changes.queues {
            if let Some(is) = state.job(job).map(|job| &job.spec().queue).filter(|&is| is != asked) {
                return Err(format!("{job:?} was acknowledged to be in queue `{asked}` and is in `{is}`"));
            }
        }
        Ok(())
    }
}
