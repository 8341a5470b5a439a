//! The cluster's blacklist: workers on which jobs keep failing.
//!
//! A worker gets a fault when a job that *succeeded* had at least its `max_tracker_failures` failed attempts
//! there. With enough faults, more than the mean by a margin, and while few others are listed, it is listed.
//! Faults are forgotten by time, and a worker with too few left is taken off the list. Workers that fail every task at once are
//! listed sooner: `black_holes.rs`.
//! Source: `docs/hadoop.md#faulty-workers`; which dialect is which is in [`Blacklist`](crate::tracker::Blacklist).

use super::JobTracker;
use crate::cluster::{Faults, Worker, WorkerState};
use crate::job::{JobId, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{FaultMemory, Rejection};

impl FaultMemory {
    /// Notes so many faults.
    pub(super) fn add(&self, faults: &mut Faults, more: u32, now: Time) {
        let start = match *self {
            FaultMemory::Window { bucket_ms, .. } => bucket_start(now, bucket_ms),
            FaultMemory::Forgive { .. } => {
                // All faults stand in one entry, dated by the last one.
                let n = faults.iter().map(|&(_, n)| n).sum();
                faults.clear();
                if n > 0 {
                    faults.push((now, n));
                }
                now
            }
        };
        match faults.last_mut() {
            Some(last) if last.0 == start => last.1 += more,
            _ => faults.push((start, more)),
        }
    }

    /// When the next fault is forgotten.
    fn next(&self, faults: &Faults) -> Option<Time> {
        let &(start, _) = faults.first()?;
        Some(match *self {
            FaultMemory::Window { window_ms, bucket_ms } => {
                let buckets = window_ms.div_ceil(bucket_ms.max(1)).max(1);
                start + Span::from_us(buckets.saturating_mul(bucket_ms.max(1)).saturating_mul(1_000))
            }
            FaultMemory::Forgive { every_ms } => start + Span::from_us(every_ms.max(1).saturating_mul(1_000)),
        })
    }

    /// Forgets what is old enough.
    fn forget(&self, faults: &mut Faults, now: Time) {
        while let Some(due) = self.next(faults).filter(|&due| due <= now) {
            match self {
                FaultMemory::Forgive { .. } if faults[0].1 > 1 => faults[0] = (due, faults[0].1 - 1),
                _ => {
                    faults.remove(0);
                }
            }
        }
    }
}

fn bucket_start(now: Time, bucket_ms: u64) -> Time {
    let width = bucket_ms.max(1).saturating_mul(1_000);
    Time::from_us(now.as_us() / width * width)
}

impl JobTracker {
    /// Counts a succeeded job's failures against the workers they happened on.
    pub(super) fn count_faults(&mut self, job: JobId) {
        let Some(job) = self.state.job(job) else { return };
        let max = job.spec().conf.max_tracker_failures;
        let faulty: Vec<WorkerId> = job.worker_failures().filter(|&(_, n)| n >= max).map(|(w, _)| w).collect();
        for id in faulty {
            let now = self.state.now;
            let worker = &mut self.state.workers[id.0 as usize];
            self.config.blacklist.memory.add(&mut worker.faults, 1, now);
            if !worker.blacklisted && self.config.blacklist.enforced && self.exceeds(id) {
                self.state.workers[id.0 as usize].blacklisted = true;
                self.state.failing.remove(&id);
                self.settle_worker(id);
            }
            self.next_forgiving = self.first_forgiving();
        }
    }

    /// Whether a worker's faults put it on the list.
    fn exceeds(&self, id: WorkerId) -> bool {
        let rule = &self.config.blacklist;
        let present = |w: &&Worker| w.state != WorkerState::Lost;
        let faults = u64::from(self.state.workers[id.0 as usize].n_faults());
        let all: u64 = self.state.workers.iter().filter(present).map(|worker| u64::from(worker.n_faults())).sum();
        let n = u64::from(self.state.totals.present);
        faults >= u64::from(rule.max_faults.max(1))
            && faults * n * 100 > all * (100 + u64::from(rule.over_average_percent))
            && self.may_be_listed(id)
    }

    /// Whether the cluster can do without a worker, whatever it did.
    ///
    /// `Deviation:` a worker stays off the list while no other live one has slots of its kinds, or jobs would wait
    /// for hours.
    pub(super) fn may_be_listed(&self, id: WorkerId) -> bool {
        let worker = &self.state.workers[id.0 as usize];
        let replaceable = |kind: usize| {
            let itself = u32::from(worker.state == WorkerState::Live);
            worker.slots[kind] == 0 || self.state.totals.with_slots[kind] > itself
        };
        if !replaceable(0) || !replaceable(1) {
            return false;
        }
        let present = |w: &&Worker| w.state != WorkerState::Lost;
        let listed = self.state.workers.iter().filter(present).filter(|worker| worker.blacklisted).count() as u64;
        listed * 100 < u64::from(self.state.totals.present) * u64::from(self.config.blacklist.max_listed_percent)
    }

    /// Someone vouches for a worker: it is off the list, and starts with no faults.
    pub(super) fn on_enable(&mut self, id: WorkerId) {
        if self.state.worker(id).is_none() {
            self.reject(None, Rejection::UnknownWorker(id));
            return;
        }
        self.trust_again(id);
        if self.state.workers[id.0 as usize].state != WorkerState::Lost {
            self.settle_worker(id);
        }
    }

    /// Somebody has seen to a worker, or started it anew: it has no faults, and its state is settled by the caller.
    pub(super) fn trust_again(&mut self, id: WorkerId) {
        let worker = &mut self.state.workers[id.0 as usize];
        worker.faults.clear();
        (worker.blacklisted, worker.black_hole) = (false, false);
        self.state.failing.remove(&id);
        self.next_forgiving = self.first_forgiving();
    }

    pub(super) fn first_forgiving(&self) -> Option<Time> {
        let memory = &self.config.blacklist.memory;
        self.state.workers.iter().filter_map(|w| memory.next(&w.faults)).min()
    }

    /// Forgets old faults and takes workers off the list.
    pub(super) fn forgive(&mut self) {
        let now = self.state.now;
        if self.next_forgiving.is_none_or(|due| due > now) {
            return;
        }
        let max = self.config.blacklist.max_faults.max(1);
        for index in 0..self.state.workers.len() {
            let worker = &mut self.state.workers[index];
            self.config.blacklist.memory.forget(&mut worker.faults, now);
            if worker.blacklisted && worker.n_faults() < max {
                (worker.blacklisted, worker.black_hole) = (false, false);
                self.settle_worker(WorkerId(index as u32));
            }
        }
        self.next_forgiving = self.first_forgiving();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_forgets_whole_buckets() {
        let memory = FaultMemory::Window { window_ms: 60, bucket_ms: 20 };
        let mut faults = Faults::new();
        for ms in [5, 19, 20, 41] {
            memory.add(&mut faults, 1, Time::from_ms(ms));
        }
        let left = |faults: &mut Faults, ms| {
            memory.forget(faults, Time::from_ms(ms));
            faults.iter().map(|&(_, n)| n).sum::<u32>()
        };
        assert_eq!(memory.next(&faults), Some(Time::from_ms(60)));
        assert_eq!([59, 60, 80, 100].map(|ms| left(&mut faults, ms)), [4, 2, 1, 0]);
    }

    #[test]
    fn forgiving_takes_one_fault_each_time() {
        let memory = FaultMemory::Forgive { every_ms: 10 };
        let mut faults = Faults::new();
        memory.add(&mut faults, 1, Time::from_ms(0));
        memory.add(&mut faults, 1, Time::from_ms(5));
        let left = |faults: &mut Faults, ms| {
            memory.forget(faults, Time::from_ms(ms));
            faults.iter().map(|&(_, n)| n).sum::<u32>()
        };
        assert_eq!([14, 15, 24, 25].map(|ms| left(&mut faults, ms)), [2, 1, 1, 0]);
    }
}
