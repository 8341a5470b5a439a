//! Hadoop 0.20.2's updates: when they come, and what each does to deficits, weights, minima and shares.

use super::super::order::{priority_factor, size_factor};
use super::super::pools::PoolId;
use super::{Account, DeficitFair};
use crate::cluster::ClusterState;
use crate::job::{JobId, TaskKind};
use crate::schedulers::PerJob;
use crate::time::{Span, Time};

impl DeficitFair {
    fn step(&self) -> Span {
        Span::from_us(self.settings.update_interval.as_us().max(1))
    }

    /// The last tick of the clock that is not after `at`.
    pub(super) fn tick_before(&self, at: Time) -> Time {
        let step = self.step().as_us();
        self.start + Span::from_us((at - self.start).as_us() / step * step)
    }

    /// The first tick of the clock that is not before `at`.
    pub(super) fn tick_after(&self, at: Time) -> Time {
        let tick = self.tick_before(at);
        if tick == at { tick } else { tick + self.step() }
    }

    /// The updates that the clock should have brought until now. Between two changes all updates do the same, so that
    /// the first one after a change and the last one stand for them.
    pub(super) fn catch_up(&mut self, until: Time, state: &ClusterState) {
        if let Some(at) = self.submitted.take() {
            self.update(at, state);
        }
        let tick = self.tick_before(until);
        if let Some(first) = self.changed.map(|changed| self.tick_after(changed)).filter(|&first| first < tick) {
            self.update(first, state);
        }
        if tick > self.last {
            self.update(tick, state);
        }
    }

    /// Everything is as of `now`: deficits, who may run, weights, minimum and fair shares.
    pub(super) fn update(&mut self, now: Time, state: &ClusterState) {
        let passed_ms = (now - self.last).as_us() as f64 / 1_000.0;
        (self.last, self.changed, self.wanted) = (now, None, None);
        for (id, may_run) in self.limits.settle() {
            if let Some(account) = self.jobs.get_mut(id) {
                account.may_run = may_run;
            }
        }
        for account in self.jobs.iter_mut().map(|(_, account)| account) {
            for kind in &mut account.kinds {
                kind.deficit += ((kind.share - f64::from(kind.counted)) * passed_ms) as i64;
                kind.counted = kind.running;
                kind.needed = if account.may_run { kind.ready } else { 0 };
            }
        }
        for kind in TaskKind::ALL {
            self.weigh(kind, now, state);
            self.share_minima(kind);
            self.share_slots(kind, state.totals().slots[kind]);
            self.runnable[kind] = self.jobs.iter().map(|(_, account)| account.kinds[kind].runnable()).sum();
            let all: Vec<JobId> = self.jobs.iter().map(|(id, _)| id).collect();
            all.into_iter().for_each(|id| self.rank(id, kind));
        }
    }

    /// Weights: a job's own, scaled so that the jobs of a pool have the pool's together.
    fn weigh(&mut self, kind: TaskKind, now: Time, state: &ClusterState) {
        let mut sums = vec![0.0; self.pools.iter().count()];
        for (id, account) in self.jobs.iter_mut() {
            let runnable = account.kinds[kind].runnable();
            let mut weight = 0.0;
            if account.may_run
                && let Some(job) = state.job(id)
            {
                weight = priority_factor(job.priority());
                if self.settings.size_based_weight {
                    weight *= size_factor(runnable);
                }
                if let Some((factor, span)) = self.settings.boost
                    && now < job.submitted() + span
                {
                    weight *= factor;
                }
                sums[account.pool.0 as usize] += if runnable > 0 { weight } else { 0.0 };
            }
            account.kinds[kind].weight = weight;
        }
        for account in self.jobs.iter_mut().map(|(_, account)| account) {
            let sum: f64 = sums[account.pool.0 as usize];
            let weight = &mut account.kinds[kind].weight;
            *weight = if sum > 0.0 { *weight * self.pools.get(account.pool).conf.weight / sum } else { 0.0 };
        }
    }

    /// Divides each pool's minimum share among its jobs: by weight, whole slots, then what is left one by one.
    fn share_minima(&mut self, kind: TaskKind) {
        let mut by_pool = vec![Vec::new(); self.pools.iter().count()];
        for (id, account) in self.jobs.iter_mut() {
            account.kinds[kind].min = 0;
            if account.may_run {
                by_pool[account.pool.0 as usize].push(id);
            }
        }
        for (pool, jobs) in by_pool.into_iter().enumerate() {
            let min = self.pools.get(PoolId(pool as u32)).conf.min[kind];
            if min > 0 {
                self.share_minimum(kind, min, jobs);
            }
        }
    }

    fn share_minimum(&mut self, kind: TaskKind, mut left: u32, mut jobs: Vec<JobId>) {
        while left > 0 {
            let lacks = |account: &Account| account.kinds[kind].runnable() > account.kinds[kind].min;
            jobs.retain(|&id| self.jobs.get(id).is_some_and(lacks));
            let weight =
                |jobs: &PerJob<Account>, id: JobId| jobs.get(id).map_or(0.0, |account| account.kinds[kind].weight);
            let total: f64 = jobs.iter().map(|&id| weight(&self.jobs, id)).sum();
            if total <= 0.0 {
                return;
            }
            let before = left;
            for &id in &jobs {
                let part = f64::from(before) * weight(&self.jobs, id) / total;
                left -= self.give_minimum(kind, id, left.min(part.floor() as u32));
            }
            if left == before {
                // Nobody's part is a whole slot: the heaviest first, then the one with the larger deficit.
                let deficit = |id: JobId| self.jobs.get(id).map_or(0, |account| account.kinds[kind].deficit);
                jobs.sort_by(|&a, &b| {
                    weight(&self.jobs, b).total_cmp(&weight(&self.jobs, a)).then(deficit(b).cmp(&deficit(a)))
                });
                for &id in &jobs {
                    let part = f64::from(before) * weight(&self.jobs, id) / total;
                    left -= self.give_minimum(kind, id, left.min(part.ceil() as u32));
                }
                return;
            }
        }
    }

    /// Adds to a job's minimum share what it can use of so many slots; how many those are.
    fn give_minimum(&mut self, kind: TaskKind, id: JobId, slots: u32) -> u32 {
        let Some(account) = self.jobs.get_mut(id) else { return 0 };
        let kind = &mut account.kinds[kind];
        let given = slots.min(kind.runnable() - kind.min);
        kind.min += given;
        given
    }

    /// Fair shares by weight; who has a larger minimum share gets that, and the others divide the rest.
    fn share_slots(&mut self, kind: TaskKind, slots: u32) {
        let mut left = Vec::new();
        for (id, account) in self.jobs.iter_mut() {
            account.kinds[kind].share = 0.0;
            if account.may_run && account.kinds[kind].runnable() > 0 {
                left.push(id);
            }
        }
        let mut slots = f64::from(slots);
        loop {
            let weights = left.iter().filter_map(|&id| self.jobs.get(id)).map(|account| account.kinds[kind].weight);
            let total: f64 = weights.sum();
            if left.is_empty() || total <= 0.0 {
                return;
            }
            let (before, n) = (slots, left.len());
            left.retain(|&id| {
                let Some(kind) = self.jobs.get_mut(id).map(|account| &mut account.kinds[kind]) else { return false };
                let above = f64::from(kind.min) > kind.weight / total * before;
                if above {
                    kind.share = f64::from(kind.min);
                    slots -= kind.share;
                }
                !above
            });
            if left.len() == n {
                for id in left {
                    if let Some(account) = self.jobs.get_mut(id) {
                        account.kinds[kind].share = account.kinds[kind].weight / total * before;
                    }
                }
                return;
            }
        }
    }
}
