//! Delay scheduling: a job waits a little for a worker that holds its data.
//!
//! ```text
//!  NODE ──(node wait)──► RACK ──(rack wait)──► ANY        a launch sets the level to its own and the wait to zero
//! ```
//!
//! A job's wait grows by the time between two heartbeats of any workers if it was visited at the first and launched
//! no map. `Deviation:` of any workers with a free map slot: where heartbeats come at the same instants, as in virtual
//! time, one of another worker right behind would make every wait a wait of nothing, and the job never start.
//! `Deviation:` heartbeats may be held back here until something happens, so the next wait that ends is a
//! deadline. Source: `docs/hadoop.md#fair`.

use super::map_times::MapTimes;
use super::member::Member;
use super::settings::Settings;
use super::wait::Wait;
use crate::cluster::ClusterState;
use crate::job::{JobId, Locality};
use crate::schedulers::PerJob;
use crate::time::{Span, Time};

/// A wait that is computed is never longer.
const MOST_AUTO: Span = Span::from_ms(15_000);

/// The waits of all jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Delay {
    /// Of any worker.
    last_heartbeat: Option<Time>,
    /// Jobs that this round visited for maps.
    visited: Vec<JobId>,
    /// Jobs that the last round visited in vain.
    skipped: Vec<JobId>,
    /// When the first of them may go further.
    due: Option<Time>,
    /// What the maps of all jobs have taken, where it is looked ahead.
    pub(super) maps: MapTimes,
}

/// The waits for a node-local and a rack-local map, as they are now.
pub(super) fn waits(settings: &Settings, state: &ClusterState) -> [Span; 2] {
    let n = state.totals().present;
    if n <= 1 {
        // `Deviation:` Hadoop waits here too, although there is no other worker to wait for.
        return [Span::ZERO; 2];
    }
    // Hadoop 1.2.1's heartbeat interval; the driver's own is not for policies to see.
    let auto = || {
        let interval = settings.heartbeat.unwrap_or(Span::from_ms((10 * u64::from(n)).max(300)));
        Span::from_us(interval.as_us().saturating_mul(3) / 2).min(MOST_AUTO)
    };
    settings.waits.map(|wait| wait.unwrap_or_else(auto))
}

impl Delay {
    /// A worker's turn begins: those skipped at the last one have waited since.
    pub(super) fn begin_round(&mut self, now: Time, jobs: &mut PerJob<Member>) {
        let passed = self.last_heartbeat.map_or(Span::ZERO, |last| now - last);
        self.last_heartbeat = Some(now);
        for id in self.skipped.drain(..) {
            if let Some(member) = jobs.get_mut(id) {
                member.wait.waited = member.wait.waited + passed;
            }
        }
        self.due = None;
    }

    /// The job is visited for a map: how far it may go.
    pub(super) fn visit(&mut self, id: JobId, wait: &mut Wait, waits: [Span; 2]) -> Locality {
        if !wait.visited {
            wait.visited = true;
            self.visited.push(id);
        }
        wait.allowed(waits).0
    }

    /// The waits begin again; what maps take is as it was.
    pub(super) fn restart(&mut self) {
        *self = Delay { maps: self.maps, ..Delay::default() };
    }

    /// A map of a job has succeeded.
    pub(super) fn succeeded(&mut self, wait: &mut Wait, time: Span) {
        wait.maps.add(time);
        self.maps.add(time);
    }

    /// A map of the job was launched at this distance.
    pub(super) fn launched(wait: &mut Wait, locality: Locality) {
        *wait = Wait { level: locality, waited: Span::ZERO, launched: true, ..*wait };
    }

    /// The turn is over.
    pub(super) fn end_round(&mut self, now: Time, waits: [Span; 2], jobs: &mut PerJob<Member>) {
        for id in self.visited.drain(..) {
            let Some(member) = jobs.get_mut(id) else { continue };
            let wait = &mut member.wait;
            let skipped = !wait.launched;
            (wait.visited, wait.launched) = (false, false);
            if skipped {
                self.skipped.push(id);
                let ends = wait.allowed(waits).1.map(|left| now + left);
                self.due = [self.due, ends].into_iter().flatten().min();
            }
        }
    }

    /// When a job may go further away than it may now.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// A wait has ended; the next round looks again.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        let ended = self.due.is_some_and(|due| due <= now);
        if ended {
            self.due = None;
        }
        ended
    }

    /// How long a job that was skipped still has to wait, and in all; `None` if it does not wait.
    pub(super) fn waiting(&self, id: JobId, wait: &Wait, waits: [Span; 2], now: Time) -> Option<(Locality, Span)> {
        let last = self.last_heartbeat.filter(|_| self.skipped.contains(&id))?;
        let (level, left) = wait.allowed(waits);
        let left = left?.as_us().saturating_sub((now - last).as_us());
        (left > 0).then_some((level, Span::from_us(left)))
    }
}
