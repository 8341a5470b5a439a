//! Workers that stop and come back, and when the master learns of it.
//!
//! ```text
//!  up ──(at)──► down ──(at + expiry)──► down, and the master knows
//!   ▲             │                        │
//!   └─────────────┴──(at + back_after)─────┘  registers as a new run
//! ```
//!
//! A stopped worker says nothing: the master believes in it until its expiry, or until it registers again if that
//! is earlier; then all that the old run had is lost. A loss of a worker that is down at that time is no loss. At
//! one instant, what is noticed comes first, then who comes back, then who stops.

use std::collections::BTreeSet;

use super::options::WorkerLoss;
use crate::job::WorkerId;
use crate::time::Time;
use crate::tracker::{Input, Registration};

/// What happens to a worker, by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The master has waited for this run of it for long enough.
    Expires {
        incarnation: u64,
    },
    Returns,
    /// By its place in the plan.
    Stops {
        loss: u32,
    },
}

/// What has happened to a worker.
#[derive(Debug)]
pub(super) enum Change {
    /// It is down. The master does not know it yet.
    Stopped(WorkerId),
    /// The master has noticed.
    Noticed(Input),
    /// It is up and registers.
    Back(WorkerId, Input),
}

/// Present state of one worker.
#[derive(Clone, Debug)]
struct Run {
    /// Its last registration.
    hello: Registration,
    down: bool,
}

/// All workers that ever stop, and what is to come. Empty without losses.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    plan: Vec<WorkerLoss>,
    events: BTreeSet<(Time, Event, WorkerId)>,
    /// By worker.
    runs: Vec<Run>,
}

impl Losses {
    /// `workers` are their first registrations, which the losses' numbers count.
    pub(super) fn new(plan: &[WorkerLoss], workers: impl Iterator<Item = Registration>) -> Losses {
        if plan.is_empty() {
            return Losses::default();
        }
        let stop =
            |(index, loss): (usize, &WorkerLoss)| (loss.at, Event::Stops { loss: index as u32 }, WorkerId(loss.worker));
        Losses {
            plan: plan.to_vec(),
            events: plan.iter().enumerate().map(stop).collect(),
            runs: workers.map(|hello| Run { hello, down: false }).collect(),
        }
    }

    /// Whether any worker is ever lost.
    pub(super) fn any(&self) -> bool {
        !self.plan.is_empty()
    }

    #[inline]
    pub(super) fn is_down(&self, worker: WorkerId) -> bool {
        self.runs.get(worker.0 as usize).is_some_and(|run| run.down)
    }

    /// What a worker says of itself, from its next registration on. Whether it can be reported now.
    pub(super) fn set_attributes(&mut self, worker: WorkerId, attributes: &[(String, String)]) -> bool {
        let Some(run) = self.runs.get_mut(worker.0 as usize) else { return true };
        run.hello.attributes = attributes.to_vec();
        !run.down
    }

    /// When something next happens; [`Time::MAX`] when nothing does.
    pub(super) fn next_time(&self) -> Time {
        self.events.first().map_or(Time::MAX, |event| event.0)
    }

    /// The next thing that happens at `now`.
    pub(super) fn change_at(&mut self, now: Time) -> Option<Change> {
        while self.next_time() <= now && now < Time::MAX {
            let (at, event, worker) = self.events.pop_first()?;
            let run = &mut self.runs[worker.0 as usize];
            let incarnation = run.hello.incarnation;
            match event {
                Event::Stops { loss } if !run.down => {
                    run.down = true;
                    let WorkerLoss { expiry, back_after, .. } = self.plan[loss as usize];
                    self.events.insert((at + expiry, Event::Expires { incarnation }, worker));
                    self.events.extend(back_after.map(|after| (at + after, Event::Returns, worker)));
                    return Some(Change::Stopped(worker));
                }
                Event::Expires { incarnation: silent } if silent == incarnation => {
                    return Some(Change::Noticed(Input::Goodbye { worker, incarnation }));
                }
                Event::Returns => {
                    run.down = false;
                    run.hello.incarnation += 1;
                    return Some(Change::Back(worker, Input::Register(Box::new(run.hello.clone()))));
                }
                Event::Stops { .. } | Event::Expires { .. } => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn losses(plan: &[(u32, u64, u64, Option<u64>)]) -> Losses {
        let loss = |&(worker, at, expiry, back): &(u32, u64, u64, Option<u64>)| WorkerLoss {
            worker,
            at: Time::from_ms(at),
            expiry: Span::from_ms(expiry),
            back_after: back.map(Span::from_ms),
        };
        let hello = |worker| Registration {
            worker: WorkerId(worker),
            incarnation: 1,
            starts: false,
            name: format!("w{worker}"),
            host: String::new(),
            rack: String::new(),
            map_slots: 1,
            reduce_slots: 1,
            attributes: Vec::new(),
            kept: Vec::new(),
        };
        let plan: Vec<WorkerLoss> = plan.iter().map(loss).collect();
        Losses::new(&plan, (0..3).map(hello))
    }

    /// All that happens, in short.
    fn story(mut losses: Losses) -> Vec<String> {
        let mut lines = Vec::new();
        while losses.next_time() < Time::MAX {
            let now = losses.next_time();
            while let Some(change) = losses.change_at(now) {
                lines.push(match change {
                    Change::Stopped(worker) => format!("{} w{} stops", now.as_ms(), worker.0),
                    Change::Noticed(Input::Goodbye { worker, incarnation }) => {
                        format!("{} w{} run {incarnation} is lost", now.as_ms(), worker.0)
                    }
                    Change::Back(_, Input::Register(hello)) => {
                        format!("{} w{} run {} registers", now.as_ms(), hello.worker.0, hello.incarnation)
                    }
                    other => panic!("{other:?}"),
                });
            }
        }
        lines
    }

    #[test]
    fn the_master_notices_after_the_expiry_and_hears_of_the_return() {
        let story = story(losses(&[(1, 10, 5, Some(20)), (0, 12, 100, None)]));
        assert_eq!(
            story,
            ["10 w1 stops", "12 w0 stops", "15 w1 run 1 is lost", "30 w1 run 2 registers", "112 w0 run 1 is lost"]
        );
    }

    #[test]
    fn a_return_before_the_expiry_is_all_that_the_master_hears() {
        assert_eq!(story(losses(&[(2, 10, 50, Some(7))])), ["10 w2 stops", "17 w2 run 2 registers"]);
    }

    #[test]
    fn a_worker_that_is_down_cannot_stop_and_one_that_is_back_can() {
        let story = story(losses(&[(0, 10, 1, Some(10)), (0, 15, 1, Some(1)), (0, 20, 1, None)]));
        assert_eq!(
            story,
            ["10 w0 stops", "11 w0 run 1 is lost", "20 w0 run 2 registers", "20 w0 stops", "21 w0 run 2 is lost"]
        );
    }

    #[test]
    fn an_endless_expiry_never_comes() {
        let mut silent = losses(&[(0, 10, 0, None)]);
        silent.plan[0].expiry = Span::MAX;
        assert_eq!(story(silent), ["10 w0 stops"]);
    }
}
