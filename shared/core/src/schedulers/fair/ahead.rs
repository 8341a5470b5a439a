//! Delay scheduling that looks ahead: whether a slot beside each of a job's waiting maps comes free in time.
//!
//! A running map is expected to take what its job's finished maps took on average, or all maps where none of that job's
//! has finished. The waiting maps are put on the slots beside their data in the order in which these come free, behind those of
//! jobs that came before; if one of them would get its slot too late, a wait for it would be lost. All of this is the
//! policy's own knowledge, so that a replay and a forecast decide as the live cluster does. Progress is not looked at:
//! under most policies a replay has none. What later jobs will take is not foreseen, therefore a wait is looked at
//! again when the slots should have come. Source: the online-prediction paper, §I.

use std::collections::BTreeMap;

use super::map_times::MapTimes;
use super::member::Member;
use super::wait::{Ahead, Wait};
use crate::cluster::{ClusterState, HostId, Job, LocalityIndex, Worker, WorkerState};
use crate::job::{JobId, Locality, TaskKind};
use crate::schedulers::{NearestFirst, PerJob};
use crate::time::Span;

/// Waiting maps that are looked at, the first of the job.
const MOST_MAPS: usize = 256;
/// A wait is looked at again after this at the earliest.
const LEAST_WAIT: Span = Span::from_ms(100);

/// Looks ahead for a job that is visited for a map on a worker and would wait `node` in all. `None`: there is a map for
/// the worker, or nothing is known of any map yet, so that the wait stands as it is given.
pub(super) fn look(
    state: &ClusterState,
    job: &Job,
    worker: &Worker,
    jobs: &PerJob<Member>,
    all: &MapTimes,
    node: Span,
) -> Option<Ahead> {
    if NearestFirst::within(state, job, TaskKind::Map, worker, Locality::Node).is_ok() {
        return None;
    }
    let wait: &Wait = &jobs.get(job.id()).filter(|member| member.wait.applies)?.wait;
    let left = Span::from_us(node.as_us().saturating_sub(wait.waited.as_us()));
    let time_of = |id: JobId| jobs.get(id).and_then(|member| member.wait.maps.mean()).or(all.mean());
    let own = time_of(job.id())?;
    let places = job.locality()?;
    let mut slots = Slots::of(state, job, places, time_of);
    // Who came before takes its own first.
    let waits = |other: &&Job| other.id() < job.id() && jobs.get(other.id()).is_some_and(|member| member.wait.applies);
    let before = state.jobs().filter(waits).filter_map(|other| Some((other, other.locality()?, time_of(other.id())?)));
    let maps = before.flat_map(|(other, places, time)| {
        other.tasks(TaskKind::Map).pending().iter().map(move |map| (other, places, time, map))
    });
    for (other, places, time, map) in maps.take(MOST_MAPS) {
        slots.take(places.hosts_of(other.spec(), map), time);
    }
    let mut last = Span::ZERO;
    for map in job.tasks(TaskKind::Map).pending().iter().take(MOST_MAPS) {
        match slots.take(places.hosts_of(job.spec(), map), own) {
            Some(free_in) if free_in < left => last = last.max(free_in),
            _ => return Some(Ahead::Late),
        }
    }
    Some(Ahead::InTime((last + overdue(own)).max(LEAST_WAIT)))
}

/// How much longer a map takes that has taken its whole time already: a tenth of it.
fn overdue(time: Span) -> Span {
    Span::from_us(time.as_us() / 10)
}

/// In how long the map slots of the workers on each host come free.
struct Slots {
    by_host: BTreeMap<HostId, Vec<Span>>,
}

impl Slots {
    fn of(state: &ClusterState, job: &Job, places: &LocalityIndex, time_of: impl Fn(JobId) -> Option<Span>) -> Slots {
        let mut by_host: BTreeMap<HostId, Vec<Span>> = BTreeMap::new();
        let usable = |worker: &&Worker| {
            worker.state() == WorkerState::Live
                && places.names(worker.host())
                && state.job_may_use(job, TaskKind::Map, worker)
        };
        for worker in state.workers().iter().filter(usable) {
            let slots = by_host.entry(worker.host()).or_default();
            let free = worker.slots(TaskKind::Map).saturating_sub(worker.occupied(TaskKind::Map));
            slots.extend((0..free).map(|_| Span::ZERO));
            for attempt in state.attempts_on(worker.id()).filter(|attempt| attempt.id().kind == TaskKind::Map) {
                let Some(time) = time_of(attempt.id().job) else { continue };
                let passed = state.now().since(attempt.started());
                let left = Span::from_us(time.as_us().saturating_sub(passed.as_us())).max(overdue(time));
                slots.extend((0..attempt.slots()).map(|_| left));
            }
        }
        Slots { by_host }
    }

    /// Gives a map the slot that comes free first on any of its hosts, and says in how long; the next one has it a
    /// map's time later.
    fn take(&mut self, hosts: impl Iterator<Item = HostId>, time: Span) -> Option<Span> {
        let earliest = |host: HostId| {
            let slots = self.by_host.get(&host)?;
            let (at, free_in) = slots.iter().enumerate().min_by_key(|(_, free_in)| **free_in)?;
            Some((*free_in, host, at))
        };
        let (free_in, host, at) = hosts.filter_map(earliest).min()?;
        self.by_host.get_mut(&host)?[at] = free_in + time;
        Some(free_in)
    }
}
