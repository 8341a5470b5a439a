//! The capacity scheduler: queues with guaranteed shares of the cluster, which may use what others leave idle.
//!
//! A free slot goes to the queue that uses the smallest part of its own capacity, there to the first job whose user
//! is within the limit. Per heartbeat, maps fill the worker's slots, but only one of them runs far from its data, and
//! one reduce starts. A job waits for a worker near its data for as many chances as it wants workers. Nothing is
//! preempted. Source: `docs/hadoop.md#capacity`, MR1 CapacityTaskScheduler.
//!
//! `Deviation:` jobs are initialised at once, not by a thread that polls. Queues that are equally full go by name;
//! in Hadoop, by the order in which they were before.

mod by_user;
mod config;
mod explain;
mod from_toml;
mod from_xml;
mod jobs;
mod queue;
mod reservations;
mod reserve;
mod serve;
#[cfg(test)]
mod tests;
mod turn;

pub(super) use self::config::PREFIX;

use std::collections::BTreeMap;

use self::by_user::Place;
use self::config::{Names, Settings, Share};
use self::queue::Queue;
use self::reservations::Reservations;
use self::turn::Turn;
use super::hadoop_xml::is_xml;
use super::params::{Allocations, Params, Reader, SchedulerError, read};
use super::{Actions, Assignment, Capabilities, Change, Offer, PerJob, QueueView, Queues, Reason, Round, Scheduler};
use crate::cluster::ClusterState;
use crate::job::{JobId, JobSpec, PerKind, TaskKind};
use crate::time::{Span, Time};

/// How long a job that waits for a worker near its data waits at most for anybody to speak: Hadoop's shortest
/// heartbeat interval.
const LOCALITY_CHANCE: Span = Span::from_ms(300);

/// The policy.
#[derive(Clone)]
pub struct Capacity {
    settings: Settings,
    origin: Origin,
    offer: Offer,
    /// By name.
    queues: Vec<Queue>,
    numbers: BTreeMap<String, u16>,
    jobs: PerJob<Entry>,
    /// Queues by kind, emptiest first, equally full ones by name.
    order: PerKind<Vec<u16>>,
    /// Whether queues may have to change places in it.
    moved: PerKind<bool>,
    /// Map and reduce slots of the cluster for which the queues' capacities hold.
    slots: PerKind<u32>,
    /// Hosts of workers that are not lost; `None` after workers changed.
    hosts: Option<u32>,
    reservations: Reservations,
    turn: Option<Turn>,
    /// When workers are offered work again, because a job waits for one near its data.
    chance: Option<Time>,
}

/// Where the settings come from, for messages.
#[derive(Clone, Debug)]
struct Origin {
    file: String,
    names: Names,
}

/// One live job.
#[derive(Clone, Debug)]
struct Entry {
    queue: u16,
    user: u32,
    place: Place,
    /// Of one task of each kind.
    slots: PerKind<u32>,
    /// Attempts that run and workers that are kept, by kind.
    held: PerKind<u32>,
    /// Tasks of both kinds.
    tasks: u64,
    initialised: bool,
    /// Times that it was asked for a map since it last had one near its data.
    chances: u32,
    /// Hosts that hold its splits.
    hosts: u32,
}

impl Capacity {
    /// Reads `allocations` (with its name in `allocation.file`) and `speculation`.
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Capacity, SchedulerError> {
        let offer = Offer::from_params(params)?;
        let (settings, origin) = match params.allocations() {
            None => (Settings::plain(), Origin { file: "no file".to_owned(), names: Names::Toml }),
            Some(Allocations { file, text }) => {
                let settings = settings(&text).map_err(|problem| params.bad_file(&file, problem))?;
                (settings, Origin { file, names: if is_xml(&text) { Names::Hadoop } else { Names::Toml } })
            }
        };
        Ok(Capacity::new(settings, origin, offer))
    }

    fn new(settings: Settings, origin: Origin, offer: Offer) -> Capacity {
        let queues: Vec<Queue> = settings.queues.keys().map(|name| Queue::new(name, &settings)).collect();
        let all: Vec<u16> = (0..queues.len() as u16).collect();
        Capacity {
            numbers: settings.queues.keys().cloned().zip(0..).collect(),
            queues,
            settings,
            origin,
            offer,
            jobs: PerJob::default(),
            order: [all.clone(), all],
            moved: [true; 2],
            slots: [u32::MAX; 2],
            hosts: None,
            reservations: Reservations::default(),
            turn: None,
            chance: None,
        }
    }

    /// Brings the queues' capacities up to date.
    fn resize(&mut self, state: &ClusterState) {
        let slots = state.totals().slots;
        if self.slots != slots {
            self.slots = slots;
            self.queues.iter_mut().for_each(|queue| queue.resize(slots));
            self.moved = [true; 2];
        }
    }

    /// Slots that an attempt or a reservation takes from its queue and user.
    fn hold(&mut self, job: JobId, kind: TaskKind) {
        if let Some(entry) = self.jobs.get_mut(job) {
            entry.held[kind] += 1;
            self.queues[entry.queue as usize].hold(kind, entry.user, entry.slots[kind]);
            self.moved[kind] = true;
        }
    }

    /// The same slots when they are free again.
    fn give_back(&mut self, job: JobId, kind: TaskKind) {
        if let Some(entry) = self.jobs.get_mut(job) {
            entry.held[kind] -= 1;
            self.queues[entry.queue as usize].give_back(kind, entry.user, entry.slots[kind]);
            self.moved[kind] = true;
        }
    }
}

/// Whether a file's text holds together.
///
/// # Errors
/// Names the key, its value and what was expected.
pub(super) fn check(text: &str) -> Result<(), String> {
    settings(text).map(drop)
}

/// The settings of a file's text.
fn settings(text: &str) -> Result<Settings, String> {
    if is_xml(text) {
        Settings::check(from_xml::read(text.trim_start_matches('\u{feff}').trim_start())?, Names::Hadoop)
    } else {
        Settings::check(from_toml::read(text)?, Names::Toml)
    }
}

impl Queues for Capacity {
    fn accepts(&self, job: &JobSpec) -> Result<(), String> {
        let Some(&number) = self.numbers.get(job.queue.as_str()) else {
            let known = self.numbers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(format!("queue `{}` does not exist, expected one of {known}", job.queue));
        };
        if let Share::Slots(most) = self.queues[number as usize].conf.share {
            let large = [(job.conf.slots_per_map, "map"), (job.conf.slots_per_reduce, "reduce")];
            if let Some(((slots, kind), most)) =
                large.into_iter().zip(most).find(|((slots, _), most)| u32::from(*slots) > (*most).max(1))
            {
                return Err(format!("each {kind} takes {slots} slots, and queue `{}` has {most}", job.queue));
            }
        }
        let tasks = u64::from(job.n_maps) + u64::from(job.n_reduces);
        self.queues[number as usize].accepts(&job.user, tasks)
    }

    fn room(&self, job: &JobSpec) -> Option<u64> {
        self.numbers.get(job.queue.as_str()).map(|&number| self.queues[number as usize].room(&job.user))
    }

    fn validate_capacity(&self, slots: PerKind<u32>) -> Result<(), SchedulerError> {
        let Origin { file, names } = &self.origin;
        self.settings.fit(slots, *names).map_err(|problem| SchedulerError::BadFile {
            scheduler: "capacity".to_owned(),
            file: file.clone(),
            problem,
        })
    }

    fn list(&self, state: &ClusterState) -> Vec<QueueView> {
        self.views(state)
    }
}

impl Scheduler for Capacity {
    fn name(&self) -> &'static str {
        "capacity"
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        match *change {
            Change::Submitted { job } => self.enter(job, state),
            Change::JobOver { job, .. } => self.leave(job, state),
            Change::Priority { job, .. } => self.rank_again(job, state),
            Change::Queue { job } => self.move_to_its_queue(job, state),
            Change::Offerable { job, kind, offerable } => self.offers(job, kind, offerable),
            Change::Launched { attempt, .. } => self.hold(attempt.job, attempt.kind),
            Change::Ended { attempt, .. } => self.give_back(attempt.job, attempt.kind),
            Change::Worker { worker } => {
                self.hosts = None;
                self.release_lost(worker, state);
            }
            _ => {}
        }
    }

    fn begin_round(&mut self, round: &Round, state: &ClusterState) {
        self.resize(state);
        self.turn = Some(Turn::new(*round, &self.settings));
    }

    fn assign(&mut self, _round: &Round, state: &ClusterState) -> Option<Assignment> {
        let mut turn = self.turn.take()?;
        let found = self.serve(&mut turn, state);
        self.turn = Some(turn);
        found
    }

    fn end_round(&mut self, _state: &ClusterState, actions: &mut Actions) {
        self.reservations.carry_out(actions);
        if let Some(turn) = self.turn.take()
            && turn.waits_for_locality()
        {
            self.chance = Some(self.chance.map_or(turn.now() + LOCALITY_CHANCE, |old| old));
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.chance
    }

    fn tick(&mut self, now: Time, _state: &ClusterState, actions: &mut Actions) {
        if self.chance.is_some_and(|due| due <= now) {
            self.chance = None;
            actions.wake_parked();
        }
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        // Slots of a queue or a user that was at a limit, or another job that may be initialised, in its old or its new queue.
        matches!(change, Change::Ended { .. } | Change::JobOver { .. } | Change::Queue { .. })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            reads_profiles: false,
            reads_queues: true,
            limits_rounds: true,
            may_speculate: self.offer.speculates(),
            ..Capabilities::default()
        }
    }

    fn queues(&self) -> &dyn Queues {
        self
    }

    fn explain(&self, job: JobId, state: &ClusterState) -> Reason {
        Reason::common(job, state).unwrap_or_else(|| self.offer.explain(self.why(job, state), job, state))
    }

    fn attach(&mut self, state: &ClusterState) {
        *self = Capacity::new(self.settings.clone(), self.origin.clone(), self.offer.clone());
        self.take_over(state, |job| job.launched().is_some());
    }

    /// Another file: queues may come and change, but none may go.
    fn reconfigure(&mut self, params: &Params, state: &ClusterState) -> Result<bool, SchedulerError> {
        let mut made = read("capacity", params, |reader| {
            let made = Capacity::from_params(reader)?;
            match self.settings.queues.keys().find(|name| !made.settings.queues.contains_key(*name)) {
                None => Ok(made),
                Some(gone) => {
                    let file = reader.allocations().map_or_else(|| "no file".to_owned(), |given| given.file);
                    let problem = format!("queue `{gone}` is not there any more; expected all queues that there were");
                    Err(reader.bad_file(&file, problem))
                }
            }
        })?;
        std::mem::swap(self, &mut made);
        let old = made;
        self.reservations.tell_as(&old.reservations);
        self.take_over(state, |job| old.jobs.get(job.id()).is_some_and(|entry| entry.initialised));
        self.offer.inherit(&old.offer);
        for (id, entry) in old.jobs.iter() {
            self.jobs.get_mut(id).into_iter().for_each(|new| new.chances = entry.chances);
        }
        Ok(true)
    }

    fn offer(&mut self) -> Option<&mut Offer> {
        Some(&mut self.offer)
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
