//! Hadoop's update thread: every 500 ms it decides anew which jobs may run and what everyone wants.
//!
//! Nothing changes at an update that no event has changed before it, so updates only happen after events: at the next
//! multiple of the interval since the start, or, when no worker can be waiting for it, just before anybody looks. With
//! an interval of zero everything is up to date at once. A submission updates at once, as in Hadoop.
//! Source: `docs/hadoop.md#fair` and `docs/hadoop.md#allocation-files` (`update.interval`, `preemption.interval`).

use super::Fair;
use super::clock::Clock;
use super::settings::{Preempting, Settings};
use crate::cluster::ClusterState;
use crate::job::TaskKind;
use crate::schedulers::SchedulerError;
use crate::schedulers::params::{Params, read};
use crate::time::{Span, Time};

impl Fair {
    /// Everything is as of `now`. True if a worker that got nothing may get something now.
    pub(super) fn update(&mut self, now: Time, state: &ClusterState) -> bool {
        let mut more = false;
        for (id, may_run) in self.limits.settle() {
            if let Some(member) = self.jobs.get_mut(id) {
                member.may_run = may_run;
                more |= may_run;
            }
            self.touch_both(id, state);
        }
        let mut stale = std::mem::take(&mut self.clock.stale);
        for id in stale.drain(..) {
            let Some(member) = self.jobs.get_mut(id) else { continue };
            member.stale = false;
            let (pool, before, wants) = (member.pool, member.demand, member.wants);
            member.demand = wants;
            for kind in TaskKind::ALL {
                if before[kind] != wants[kind] {
                    more |= wants[kind] > before[kind];
                    self.set_wanted(pool, kind, |wanted| wanted - before[kind] + wants[kind]);
                    if self.settings.size_based_weight {
                        self.touch(id, kind, state);
                    }
                }
            }
        }
        self.clock.stale = stale;
        if self.tracks() {
            let before = self.clock.before(now);
            let starved = self.note_starvation(before, state);
            if starved && !self.clock.starved {
                // While nobody was, looks were left out.
                self.clock.checked = self.clock.checked.max(before);
            }
            self.clock.starved = starved;
        }
        (self.clock.since, self.clock.wanted, self.clock.last) = (None, false, now);
        more
    }

    /// Jobs that are no longer new weigh less.
    pub(super) fn end_boosts(&mut self, now: Time, state: &ClusterState) {
        while let Some(&(until, id)) = self.boosted.first().filter(|(until, _)| *until <= now) {
            self.boosted.remove(&(until, id));
            if let Some(member) = self.jobs.get_mut(id) {
                member.boosted = false;
            }
            self.touch_both(id, state);
        }
    }

    /// When it is next looked whether to preempt: with the first update at least an interval after the last time.
    pub(super) fn next_check(&self) -> Time {
        let step = self.clock.interval.as_us().max(1);
        let interval = self.settings.preemption_interval.as_us().max(1).div_ceil(step).saturating_mul(step);
        // Looks at which nothing was wrong have been left out.
        let next = self.clock.checked + Span::from_us(1);
        let first = self.clock.start + Span::from_us(step);
        let passed = (next.max(first) - first).as_us();
        first + Span::from_us(passed.div_ceil(interval).saturating_mul(interval))
    }

    /// Forgets everything but the settings, and begins with what is there.
    pub(super) fn rebuild(&mut self, state: &ClusterState) {
        let notes = std::mem::take(&mut self.notes);
        *self = Fair::new(self.settings.clone(), self.allocations.clone(), self.offer.clone());
        self.offer.attach(state);
        self.notes = notes;
        self.clock = Clock::new(state.now(), self.settings.update_interval);
        for job in state.jobs() {
            self.enter(job, state);
        }
        self.update(state.now(), state);
    }

    /// Takes new parameters while jobs run. What waits goes on waiting, and what was starved still is.
    pub(super) fn reload(&mut self, params: &Params, state: &ClusterState) -> Result<bool, SchedulerError> {
        let name = self.settings.name;
        let (settings, allocations, offer) = read(name, params, |reader| Settings::from_params(name, reader))?;
        if settings.dialect != self.settings.dialect {
            return Ok(false);
        }
        let mut new = Fair::new(settings, allocations, offer);
        new.rebuild(state);
        new.offer.inherit(&self.offer);
        new.delay = self.delay.clone();
        new.preempted = self.preempted;
        for pool in self.pools.iter().map(|(_, pool)| pool) {
            // One that no live job needs is made again when one does.
            let Some(id) = new.pools.find(&pool.name) else { continue };
            for k in 0..2 {
                new.pools.get_mut(id).kinds[k].starvation = pool.kinds[k].starvation;
            }
        }
        let waits: Vec<_> = self.jobs.iter().map(|(id, member)| (id, member.wait)).collect();
        for (id, wait) in waits {
            if let Some(member) = new.jobs.get_mut(id) {
                member.wait = wait;
            }
        }
        let mut notes = std::mem::take(&mut self.notes);
        notes.append(&mut new.notes);
        new.notes = notes;
        *self = new;
        if self.tracks() && self.settings.preempting != Preempting::Off {
            self.clock.changed(state.now(), true);
        }
        Ok(true)
    }
}
