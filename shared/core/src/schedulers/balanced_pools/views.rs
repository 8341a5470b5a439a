//! What the pools have and want, for listings.

use super::BalancedPools;
use crate::cluster::ClusterState;
use crate::job::{JobId, TaskKind};
use crate::schedulers::{Partition, QueueView};

impl BalancedPools {
    /// The pool of a live job; the one for all others has what is left, which is no number of its own.
    pub(super) fn partition_of(&self, job: JobId) -> Option<Partition> {
        let pool = self.pools.get(self.jobs.get(job)?.pool)?;
        Some(Partition { name: pool.name.clone(), slots: pool.slots.map_or([None; 2], |slots| slots.map(Some)) })
    }

    /// The pools that there are, by name: given ones, those that jobs brought, and the one for all others.
    pub(super) fn views(&self, state: &ClusterState) -> Vec<QueueView> {
        let view = |number: usize| {
            let (pool, slots) = (&self.pools[number], TaskKind::ALL.map(|kind| self.limit(number, kind)));
            QueueView {
                name: pool.name.clone(),
                jobs: pool.jobs,
                running: pool.running,
                min: slots,
                max: if self.lends { [None; 2] } else { slots.map(Some) },
                share: slots.map(f64::from),
                ..QueueView::default()
            }
        };
        let mut views: Vec<QueueView> = (0..self.pools.len()).map(view).collect();
        for (id, entry) in self.jobs.iter() {
            let Some(job) = state.job(id) else { continue };
            TaskKind::ALL.into_iter().for_each(|kind| views[entry.pool].demand[kind] += job.tasks(kind).n_left());
        }
        let there = self.pools.iter().map(|pool| pool.fixed || pool.jobs > 0);
        let mut views: Vec<QueueView> =
            views.into_iter().zip(there).filter_map(|(view, there)| there.then_some(view)).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }
}
