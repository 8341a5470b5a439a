//! Taking slots from pools that have more than their share, for pools that have had too little for too long.
//!
//! A pool is short of its minimum share when it runs less than `min(minShare, demand)`, and of its fair share when it
//! runs less than half of it; each may last as long as its timeout. Victims are the youngest attempts of pools above
//! their fair shares, and no pool falls below it. Timeouts are for ever unless the allocation file gives them.
//! Source: `docs/hadoop.md#fair`.

use std::cmp::Reverse;

use super::Fair;
use super::allocations::Allocations;
use super::pools::{Pool, PoolId, Pools};
use super::settings::Preempting;
use super::shares::{Claim, fair_shares};
use crate::cluster::ClusterState;
use crate::job::TaskKind;
use crate::schedulers::Actions;
use crate::time::{Span, Time};

pub(super) fn timeouts(pool: &Pool, allocations: &Allocations) -> [Option<Span>; 2] {
    [pool.conf.min_share_timeout, allocations.fair_share_timeout]
}

/// Whether a pool has lacked a share for longer than its timeout.
pub(super) fn is_starved(pool: &Pool, allocations: &Allocations, kind: TaskKind, now: Time) -> bool {
    pool.kinds[kind].starvation.past(timeouts(pool, allocations), now) != [false; 2]
}

/// The fair shares of all pools for one kind, by number.
pub(super) fn pool_shares(pools: &Pools, kind: TaskKind, slots: u32) -> Vec<f64> {
    let claim = |pool: &Pool| Claim { weight: pool.conf.weight, min: pool.conf.min[kind], demand: pool.demand(kind) };
    fair_shares(&pools.iter().map(|(_, pool)| claim(pool)).collect::<Vec<_>>(), f64::from(slots))
}

impl Fair {
    /// Notes which pools get too little; true if one does that may do something about it.
    pub(super) fn note_starvation(&mut self, before: Time, state: &ClusterState) -> bool {
        let mut any = false;
        for kind in TaskKind::ALL {
            let shares = pool_shares(&self.pools, kind, state.totals().slots[kind]);
            let allocations = &self.allocations;
            for (pool, share) in self.pools.iter_mut().zip(shares) {
                let (running, demand) = (pool.kinds[kind].running, pool.demand(kind));
                let half = (share / 2.0).min(f64::from(demand)).floor() as u32;
                let lacks = [running < pool.conf.min[kind].min(demand), running < half];
                pool.kinds[kind].starvation.note(lacks, before);
                let limits = timeouts(pool, allocations);
                any |= [0, 1].iter().any(|&index: &usize| lacks[index] && limits[index].is_some());
            }
        }
        any
    }

    /// Looks for pools that may take slots now, and takes them, or notes that it would.
    pub(super) fn preempt(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        for kind in TaskKind::ALL {
            let shares = pool_shares(&self.pools, kind, state.totals().slots[kind]);
            let claims: Vec<(PoolId, u32)> = self
                .pools
                .iter()
                .map(|(id, pool)| (id, self.to_preempt(pool, kind, shares[id.0 as usize], now)))
                .filter(|&(_, n)| n > 0)
                .collect();
            let wanted: u32 = claims.iter().map(|&(_, n)| n).sum();
            if wanted == 0 {
                continue;
            }
            let killed = match self.settings.preempting {
                Preempting::On => self.take_slots(kind, wanted, &shares, state, actions),
                Preempting::LogOnly | Preempting::Off => 0,
            };
            let pools = claims.iter().map(|&(id, n)| format!("{n} for pool `{}`", self.pools.get(id).name));
            let pools = pools.collect::<Vec<_>>().join(", ");
            self.preempted.0 += u64::from(wanted);
            self.preempted.1 += u64::from(killed);
            let done = match self.settings.preempting {
                Preempting::On => format!("{killed} ordered to stop"),
                _ => "only noted".to_owned(),
            };
            self.note(format!("preemption of {wanted} {kind} attempts ({pools}): {done}", kind = kind.name()));
        }
    }

    /// How many attempts of others a pool may have stopped.
    fn to_preempt(&self, pool: &Pool, kind: TaskKind, share: f64, now: Time) -> u32 {
        let [min, fair] = pool.kinds[kind].starvation.past(timeouts(pool, &self.allocations), now);
        let (running, demand) = (pool.kinds[kind].running, pool.demand(kind));
        let lack = |target: u32| target.saturating_sub(running);
        let of_min = if min { lack(pool.conf.min[kind].min(demand)) } else { 0 };
        let of_fair = if fair { lack(share.min(f64::from(demand)) as u32) } else { 0 };
        of_min.max(of_fair)
    }

    /// Stops the youngest attempts of pools above their shares; how many.
    ///
    /// `Deviation:` attempts that are being stopped already count as gone, so that a worker that hangs does not make
    /// the pools lose more at each look. Hadoop leaves the order of equally old attempts open: here the higher number
    /// of job, then of task goes first.
    fn take_slots(
        &self,
        kind: TaskKind,
        wanted: u32,
        shares: &[f64],
        state: &ClusterState,
        actions: &mut Actions,
    ) -> u32 {
        let mut left: Vec<u32> = self.pools.iter().map(|(_, pool)| pool.kinds[kind].running).collect();
        let mut victims = Vec::new();
        let mut under_way = 0;
        for (reference, attempt) in state.attempts().iter() {
            let id = attempt.id();
            if id.kind != kind || attempt.detached() {
                continue;
            }
            let Some(member) = self.jobs.get(id.job) else { continue };
            let pool = member.pool.0 as usize;
            if attempt.being_killed().is_some() {
                under_way += 1;
                left[pool] = left[pool].saturating_sub(1);
            } else {
                victims.push((Reverse((attempt.started(), id.job, id.index, id.number)), pool, reference));
            }
        }
        victims.retain(|&(_, pool, _)| f64::from(left[pool]) > shares[pool]);
        victims.sort_unstable();
        let wanted = wanted.saturating_sub(under_way);
        let mut killed = 0;
        for (_, pool, reference) in victims {
            if killed == wanted {
                break;
            }
            if f64::from(left[pool]) > shares[pool] {
                left[pool] -= 1;
                killed += 1;
                actions.preempt(reference);
            }
        }
        killed
    }
}
