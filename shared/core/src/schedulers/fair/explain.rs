//! Why a job is not running more (its limits, its pool's, the wait for its data, or who goes first), and what pools have.

use super::admission::held;
use super::delay::waits;
use super::pools::{Pool, PoolId};
use super::preemption::pool_shares;
use super::{Fair, Member};
use crate::cluster::ClusterState;
use crate::job::{JobId, Locality, TaskKind};
use crate::schedulers::reason::{count_slots, rivals, waiting_kind};
use crate::schedulers::waiting::tally;
use crate::schedulers::{QueueView, Reason};

impl Fair {
    pub(super) fn why(&self, id: JobId, state: &ClusterState) -> Reason {
        if let Some(reason) = Reason::common(id, state) {
            return reason;
        }
        let (Some(job), Some(kind), Some(member)) = (state.job(id), waiting_kind(id, state), self.jobs.get(id)) else {
            return Reason::Unknown;
        };
        let pool = self.pools.get(member.pool);
        if let Some(reason) = held(&self.limits, member.place, job, &pool.name) {
            return reason;
        }
        if pool.is_full(kind) {
            let max = pool.conf.max[kind].unwrap_or_default();
            let slots = count_slots(max, kind);
            return Reason::Limit(format!("Its pool `{}` has the {slots} that it may have.", pool.name));
        }
        if let Some(text) = self.delayed(id, kind, member, state) {
            return Reason::Limit(text);
        }
        let (Some(rank), Some(pool_rank)) = (member.rank[kind], pool.kinds[kind].rank) else {
            return Reason::Limit("It waits for the Fair scheduler's next update.".to_owned());
        };
        let before = self.order[kind].range(..(pool_rank, member.pool));
        let before = before.flat_map(|&(_, pool)| self.pools.get(pool).waiting.iter(kind));
        let ahead =
            tally(before.chain(pool.waiting.before(kind, rank, id)).filter(|&job| rivals(id, kind, state)(job)));
        self.offer.explain(Reason::in_order(kind, ahead, state), id, state)
    }

    /// The pools that have jobs, by name.
    pub(super) fn views(&self, state: &ClusterState) -> Vec<QueueView> {
        let shares = TaskKind::ALL.map(|kind| pool_shares(&self.pools, kind, state.totals().slots[kind]));
        let of_pool = |(id, pool): (PoolId, &Pool)| QueueView {
            running: TaskKind::ALL.map(|kind| pool.kinds[kind].running),
            demand: TaskKind::ALL.map(|kind| pool.demand(kind)),
            share: TaskKind::ALL.map(|kind| shares[kind][id.0 as usize]),
            ..pool.view()
        };
        let mut views: Vec<QueueView> = self.pools.iter().map(of_pool).collect();
        for (_, member) in self.jobs.iter().filter(|(id, _)| self.limits.is_held(*id)) {
            views[member.pool.0 as usize].held_jobs += 1;
        }
        views.retain(|view| view.jobs > 0);
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }

    /// The sentence for a job that waits for a worker near its data.
    fn delayed(&self, id: JobId, kind: TaskKind, member: &Member, state: &ClusterState) -> Option<String> {
        if kind != TaskKind::Map || !member.wait.applies {
            return None;
        }
        let waits = waits(&self.settings, state);
        let (level, left) = self.delay.waiting(id, &member.wait, waits, state.now())?;
        let place =
            if level == Locality::Node { "on a worker that holds its data" } else { "in a rack that holds its data" };
        Some(format!("It waits up to {left} more for a slot {place} (delay scheduling)."))
    }
}
