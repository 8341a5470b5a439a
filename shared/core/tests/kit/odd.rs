//! A policy for tests: FIFO, plus speculative attempts wherever they are possible and, if it is to be wild, choices
//! that make no sense, preemption, reservations and deadlines at random. The core must stand all of it.

use std::collections::BTreeMap;

use howdah_core::cluster::{ClusterState, Vitals};
use howdah_core::job::{JobId, Locality, Progress, TaskKind, WorkerId};
use howdah_core::schedulers::{Actions, Assignment, Change, Reason, Round, Scheduler, by_name};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::Report;

pub struct Odd {
    fifo: Box<dyn Scheduler>,
    /// 0 for one that is merely eager.
    random: u64,
    deadline: Option<Time>,
}

impl Odd {
    pub fn eager() -> Odd {
        let fifo = by_name("fifo", &BTreeMap::new()).expect("fifo exists");
        Odd { fifo, random: 0, deadline: None }
    }

    pub fn wild(seed: u32) -> Odd {
        Odd { random: u64::from(seed) | 1, ..Odd::eager() }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) % n
    }

    fn second(round: &Round, state: &ClusterState) -> Option<Assignment> {
        let worker = round.worker;
        let free = state.worker(worker)?;
        let fits = |a: &&howdah_core::cluster::Attempt| {
            let task = a.id().task();
            !a.detached()
                && free.free(task.kind) > 0
                && state.attempts_of(task).count() < 2
                && a.worker() != worker
                && state.job(task.job).is_some_and(|job| {
                    job.ending().is_none()
                        && state.job_may_use(job, task.kind, free)
                        && !state.task_avoids(job, task.kind, task.index, worker)
                })
        };
        let task = state.attempts().iter().map(|(_, a)| a).find(fits)?.id().task();
        let job = state.job(task.job)?;
        let locality = state.locality(job, task.kind, task.index, free);
        Some(Assignment { job: task.job, kind: task.kind, index: task.index, locality, speculative: true })
    }
}

impl Scheduler for Odd {
    fn name(&self) -> &'static str {
        "odd"
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.fifo.observe(change, state);
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        self.fifo.begin_round(round, state);
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        if self.random != 0 && self.below(10) == 0 {
            return Some(Assignment {
                job: JobId(self.below(15) as u32),
                kind: TaskKind::ALL[self.below(2) as usize],
                index: self.below(8) as u32,
                locality: Locality::Rack,
                speculative: self.below(2) == 0,
            });
        }
        self.fifo.assign(round, state).or_else(|| Odd::second(round, state))
    }

    fn end_round(&mut self, _state: &ClusterState, actions: &mut Actions) {
        if self.random != 0 {
            let (worker, kind) = (WorkerId(self.below(8) as u32), TaskKind::ALL[self.below(2) as usize]);
            match self.below(40) {
                0 => actions.reserve(worker, kind, JobId(self.below(15) as u32)),
                1..=4 => actions.release(worker, kind),
                5 => actions.wake_parked(),
                _ => {}
            }
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        if self.random == 0 {
            return;
        }
        for kind in TaskKind::ALL {
            for worker in 0..8 {
                actions.release(WorkerId(worker), kind);
            }
        }
        let wait = self.below(3_000);
        self.deadline = Some(now + Span::from_ms(wait));
        if self.below(4) == 0
            && let Some((attempt, _)) = state.attempts().iter().next()
        {
            actions.preempt(attempt);
        }
    }

    fn wakes_parked(&self, _change: &Change) -> bool {
        true
    }

    fn explain(&self, job: JobId, state: &ClusterState) -> Reason {
        self.fifo.explain(job, state)
    }

    fn attach(&mut self, state: &ClusterState) {
        self.fifo.attach(state);
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(Odd { fifo: self.fifo.fork(), ..*self })
    }
}

/// Vitals and progress that mean nothing: the same for the same worker and time, and often at the ends of their ranges.
pub fn make_noise(report: &mut Report, now: Time) {
    let mut seed = now.as_us() ^ (u64::from(report.worker.0) << 48);
    let mut below = |n: u64| {
        // splitmix64
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % n
    };
    report.vitals = Vitals {
        n_cpus: [0, 1, 4, u16::MAX][below(4) as usize],
        cpus_milli: [0, 1, 1_000, 4_000, u32::MAX][below(5) as usize],
        foreign_milli: [0, 0, 3_000, 50_000, u32::MAX][below(5) as usize],
        effective_khz: [0, 1, 2_000_000, 2_000_000, u32::MAX][below(5) as usize],
        ..Vitals::default()
    };
    for status in report.attempts.iter_mut().filter(|status| !status.state.is_final()) {
        status.progress = Progress::from_parts([0, 1, below(10_001) as u16, 10_000][below(4) as usize]);
    }
}
