//! Pools while they are in use, and which one a job belongs to.
//!
//! Pools are made as jobs name them and stay. Each has a place among the names, with gaps, so that ties are broken by
//! name without comparing texts in the order of pools.

use std::collections::BTreeMap;

use super::allocations::{Allocations, PoolConf};
use super::settings::{PoolProperty, Settings};
use super::starvation::Starvation;
use crate::job::{JobSpec, PerKind, TaskKind};
use crate::schedulers::{QueueView, Waiting};
use crate::time::Time;

/// A pool's number, in order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolId(pub(super) u32);

/// A job's rank within its pool: a ratio of tasks to weight, or a priority; then the time of submission.
pub(super) type JobRank = (u64, Time);

/// A pool's rank: those below their minimum share first (false), by the ratio, by name.
pub(super) type PoolRank = (bool, u64, u64);

#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) name: String,
    /// Place among the names.
    pub(super) key: u64,
    pub(super) conf: PoolConf,
    /// Live jobs.
    pub(super) jobs: u32,
    /// Jobs with something to offer that may run.
    pub(super) waiting: Waiting<JobRank>,
    pub(super) kinds: PerKind<OfKind>,
}

/// A pool's maps or reduces.
#[derive(Clone, Debug, Default)]
pub(super) struct OfKind {
    /// Running attempts.
    pub(super) running: u32,
    /// What its jobs want, as of the last update.
    pub(super) wanted: u32,
    /// Its place in the order of pools, while it has jobs that wait and is below its maximum.
    pub(super) rank: Option<PoolRank>,
    /// Since when it gets too little.
    pub(super) starvation: Starvation,
}

/// All pools, by number and by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools {
    list: Vec<Pool>,
    names: BTreeMap<String, PoolId>,
}

/// The name of the pool for jobs that name none.
pub(super) const DEFAULT: &str = "default";

/// The distance between neighbours' places among the names, at first.
const GAP: u64 = 1 << 32;

/// The pool that a job belongs to: the one it names, else by its user or queue. Source: `docs/hadoop.md#fair`.
pub(super) fn pool_name<'a>(spec: &'a JobSpec, settings: &Settings) -> &'a str {
    if settings.pool_property == PoolProperty::Nothing {
        return DEFAULT;
    }
    let named = spec.conf.pool.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let by_property = match &settings.pool_property {
        PoolProperty::User => spec.user.trim(),
        PoolProperty::Queue => spec.queue.trim(),
        // Its value is given as the pool that the job names.
        PoolProperty::Other(_) | PoolProperty::PoolOnly | PoolProperty::Nothing => "",
    };
    match named.unwrap_or(by_property) {
        "" => DEFAULT,
        name => name,
    }
}

impl Pools {
    /// The pool of this name, if there is one.
    pub(super) fn find(&self, name: &str) -> Option<PoolId> {
        self.names.get(name).copied()
    }

    /// The pool of this name, and whether it was made just now.
    pub(super) fn named(&mut self, name: &str, allocations: &Allocations, now: Time) -> (PoolId, bool) {
        if let Some(id) = self.find(name) {
            return (id, false);
        }
        let id = PoolId(self.list.len() as u32);
        self.names.insert(name.to_owned(), id);
        let starved = || OfKind { starvation: Starvation::new(now), ..OfKind::default() };
        self.list.push(Pool {
            name: name.to_owned(),
            key: 0,
            conf: allocations.pool(name),
            jobs: 0,
            waiting: Waiting::default(),
            kinds: [starved(), starved()],
        });
        (id, true)
    }

    /// Finds a place among the names for a new pool; false if there was no gap, and all places are new.
    pub(super) fn place(&mut self, id: PoolId) -> bool {
        use std::ops::Bound::{Excluded, Unbounded};
        let name = self.get(id).name.clone();
        let key = |found: Option<(&String, &PoolId)>| found.map(|(_, &id)| self.get(id).key);
        let before = key(self.names.range::<str, _>((Unbounded, Excluded(name.as_str()))).next_back()).unwrap_or(0);
        let after = key(self.names.range::<str, _>((Excluded(name.as_str()), Unbounded)).next());
        let key = match after {
            None => before.saturating_add(GAP),
            Some(after) => before + (after - before) / 2,
        };
        if key > before && after.is_none_or(|after| key < after) {
            self.get_mut(id).key = key;
            return true;
        }
        for (place, id) in (1..).zip(self.names.values()) {
            self.list[id.0 as usize].key = place * GAP;
        }
        false
    }

    pub(super) fn get(&self, id: PoolId) -> &Pool {
        &self.list[id.0 as usize]
    }

    pub(super) fn get_mut(&mut self, id: PoolId) -> &mut Pool {
        &mut self.list[id.0 as usize]
    }

    /// All, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PoolId, &Pool)> {
        (0..).map(PoolId).zip(&self.list)
    }

    /// All, by number, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pool> {
        self.list.iter_mut()
    }

    #[cfg(test)]
    pub(super) fn by_name(&self) -> impl Iterator<Item = &Pool> {
        self.names.values().map(|&id| self.get(id))
    }
}

impl Pool {
    /// Its configuration and number of jobs, for listings.
    pub(super) fn view(&self) -> QueueView {
        let PoolConf { min, max, weight, .. } = self.conf;
        QueueView { name: self.name.clone(), jobs: self.jobs, min, max, weight, ..QueueView::default() }
    }

    /// What its jobs want as of the last update, up to its maximum.
    pub(super) fn demand(&self, kind: TaskKind) -> u32 {
        self.kinds[kind].wanted.min(self.conf.max[kind].unwrap_or(u32::MAX))
    }

    /// Whether it runs as many as it may.
    pub(super) fn is_full(&self, kind: TaskKind) -> bool {
        self.conf.max[kind].is_some_and(|max| self.kinds[kind].running >= max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_stand_in_the_order_of_their_names_however_they_come() {
        let (mut pools, mut fresh) = (Pools::default(), 0);
        let names: Vec<String> = (0..200).map(|i| format!("pool-{:03}", i * 7919 % 200)).collect();
        // Always just after the first one: the gap between them runs out.
        let squeezed = (0..60).rev().map(|i| format!("a{}", "0".repeat(i + 1)));
        for name in squeezed.chain(names) {
            let (id, new) = pools.named(&name, &Allocations::default(), Time::ZERO);
            assert!(new && !pools.named(&name, &Allocations::default(), Time::ZERO).1);
            fresh += u32::from(!pools.place(id));
        }
        let keys: Vec<u64> = pools.by_name().map(|pool| pool.key).collect();
        assert_eq!(keys.len(), 260);
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((1..20).contains(&fresh), "{fresh}");
    }
}
