//! K queues, served in order or each from its own partition.
//!
//! **Invariants: a live job has one entry; it stands, by kind, in the queue of its entry exactly while it has something
//! to offer; a job whose limit is not the last stands in `demotions` exactly if it will reach it as things are; a
//! running attempt is counted in the partition of the queue that its job was in when it was launched.**

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;
use super::partitions::Partitions;
use super::placement::Placement;
use super::service::{Service, WaitingReduces};
use crate::cluster::{ClusterState, Job, Worker};
use crate::job::{AttemptId, JobId, JobState, Priority, TaskKind};
use crate::schedulers::params::{Params, SchedulerError, read};
use crate::schedulers::reason::{count_slots, rivals, waiting_kind};
use crate::schedulers::waiting::tally;
use crate::schedulers::{
    Actions, Assignment, Capabilities, Change, Offer, Partition, PerJob, Queues, Reason, Round, Scheduler, Waiting,
};
use crate::time::{Span, Time};

/// A job's rank within its queue: smaller runs first.
type Rank = (Priority, u64);

/// Any of the four policies.
#[derive(Clone)]
pub(super) struct SizeBased {
    name: &'static str,
    placement: Placement,
    partitions: Option<Partitions>,
    waiting_reduces: WaitingReduces,
    offer: Offer,
    /// Jobs with something to offer, by queue.
    queues: Vec<Waiting<Rank>>,
    jobs: PerJob<Entry>,
    /// When jobs will have received the service of their queues' limits.
    demotions: BTreeSet<(Time, JobId)>,
    /// Arrivals in queues so far.
    arrivals: u64,
    /// Queue of each running attempt's partition; only kept with partitions.
    places: BTreeMap<AttemptId, usize>,
    /// Live jobs by queue; only kept for a rule that wants speculative attempts.
    live: BTreeSet<(usize, Rank, JobId)>,
}

impl SizeBased {
    pub(super) fn new(
        name: &'static str,
        placement: Placement,
        partitions: Option<Partitions>,
        waiting_reduces: WaitingReduces,
        offer: Offer,
    ) -> SizeBased {
        let queues = vec![Waiting::default(); placement.queues()];
        SizeBased {
            name,
            placement,
            partitions,
            waiting_reduces,
            offer,
            queues,
            jobs: PerJob::default(),
            demotions: BTreeSet::new(),
            arrivals: 0,
            places: BTreeMap::new(),
            live: BTreeSet::new(),
        }
    }

    /// A job comes.
    fn enter(&mut self, job: &Job, now: Time, received_us: u64) {
        let (queue, predicted_us) = self.placement.place(job);
        let mut service = Service::default();
        service.begin_with(received_us);
        service.set_running(now, self.waiting_reduces.served(job));
        let limit_us = self.placement.limit(queue, 0);
        let entry = Entry { queue, place: self.arrivals, service, limit_us, due: None, predicted_us };
        self.arrivals += 1;
        self.jobs.insert(job.id(), entry);
        self.stand(job);
        self.plan(job.id());
    }

    /// Takes all jobs over from the same policy with other parameters: with what they have received, in the order in
    /// which they stood.
    fn take_over(&mut self, old: &SizeBased, state: &ClusterState) {
        self.placement.inherit(&old.placement);
        self.offer.attach(state);
        self.offer.inherit(&old.offer);
        self.arrivals = old.arrivals;
        let mut entries: Vec<(JobId, Entry)> = old.jobs.iter().map(|(id, entry)| (id, *entry)).collect();
        entries.sort_unstable_by_key(|(_, entry)| (entry.queue, entry.place));
        for (id, mut entry) in entries {
            let Some(job) = state.job(id) else { continue };
            let before = entry.queue;
            (entry.queue, entry.limit_us) = self.placement.place_again(&entry, entry.service.at(state.now()));
            if entry.queue != before {
                entry.place = self.arrivals;
                self.arrivals += 1;
            }
            entry.service.set_running(state.now(), self.waiting_reduces.served(job));
            entry.due = None;
            self.jobs.insert(id, entry);
            self.stand(job);
            self.plan(id);
        }
        if let Some(partitions) = &mut self.partitions {
            partitions.resize(state.totals().slots);
        }
        for (_, attempt) in state.attempts().iter().filter(|(_, attempt)| !attempt.detached()) {
            let (id, own) = (attempt.id(), self.jobs.get(attempt.id().job).map(|entry| entry.queue));
            let kept = old.places.get(&id).copied().filter(|_| old.queues.len() == self.queues.len());
            if let (Some(partitions), Some(queue)) = (&mut self.partitions, kept.or(own)) {
                partitions.starts(queue, id.kind);
                self.places.insert(id, queue);
            }
        }
    }

    /// Puts a job where it belongs.
    fn stand(&mut self, job: &Job) {
        let Some(entry) = self.jobs.get(job.id()) else { return };
        let rank = (job.priority(), entry.place);
        for kind in TaskKind::ALL.into_iter().filter(|&kind| job.offerable(kind)) {
            self.queues[entry.queue].insert(kind, rank, job.id());
        }
        if self.offer.speculates() {
            self.live.insert((entry.queue, rank, job.id()));
        }
    }

    /// Takes a job, which had this priority, out of where it stands.
    fn rise(&mut self, id: JobId, priority: Priority) {
        let Some(entry) = self.jobs.get(id) else { return };
        let rank = (priority, entry.place);
        for kind in TaskKind::ALL {
            self.queues[entry.queue].remove(kind, rank, id);
        }
        self.live.remove(&(entry.queue, rank, id));
    }

    /// Brings a job's service up to date after what it has running changed.
    fn account(&mut self, id: JobId, state: &ClusterState) {
        let (Some(job), Some(entry)) = (state.job(id), self.jobs.get_mut(id)) else { return };
        entry.service.set_running(state.now(), self.waiting_reduces.served(job));
        self.plan(id);
    }

    /// Brings a job's place in the list of demotions up to date.
    fn plan(&mut self, id: JobId) {
        let Some(entry) = self.jobs.get_mut(id) else { return };
        let due = entry.moves_on();
        if due == entry.due {
            return;
        }
        if let Some(old) = std::mem::replace(&mut entry.due, due) {
            self.demotions.remove(&(old, id));
        }
        if let Some(due) = due {
            self.demotions.insert((due, id));
        }
    }

    /// Appends a job to the next queue.
    fn demote(&mut self, job: &Job) {
        self.rise(job.id(), job.priority());
        let Some(entry) = self.jobs.get_mut(job.id()) else { return };
        entry.queue += 1;
        entry.place = self.arrivals;
        self.arrivals += 1;
        entry.limit_us = self.placement.limit(entry.queue, entry.limit_us);
        self.stand(job);
        self.plan(job.id());
    }

    fn leave(&mut self, id: JobId, end: JobState, state: &ClusterState) {
        let Some(job) = state.job(id) else { return };
        self.rise(id, job.priority());
        let Some(entry) = self.jobs.remove(id) else { return };
        if let Some(due) = entry.due {
            self.demotions.remove(&(due, id));
        }
        if end == JobState::Succeeded {
            self.placement.departed(job, entry.service.at(state.now()), entry.predicted_us);
        }
    }

    fn launched(&mut self, attempt: AttemptId) {
        let (Some(partitions), Some(entry)) = (&mut self.partitions, self.jobs.get(attempt.job)) else { return };
        partitions.starts(entry.queue, attempt.kind);
        self.places.insert(attempt, entry.queue);
    }

    fn ended(&mut self, attempt: AttemptId) {
        if let (Some(partitions), Some(queue)) = (&mut self.partitions, self.places.remove(&attempt)) {
            partitions.ends(queue, attempt.kind);
        }
    }

    /// A pending task of the first job, in the order of queues, that has one for the worker.
    fn pending(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker) -> Option<Assignment> {
        for queue in 0..self.queues.len() {
            let Some(first) =
                self.queues[queue].first(kind).filter(|_| has_room(self.partitions.as_ref(), queue, kind))
            else {
                continue;
            };
            if let Some(found) = self.offer.pending(state, state.job(first)?, kind, worker) {
                return Some(found);
            }
            for id in self.queues[queue].iter(kind).skip(1) {
                if let Some(found) = self.offer.pending(state, state.job(id)?, kind, worker) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// With speculative attempts: job by job as Hadoop does, or only where nothing pending could be given.
    fn with_second(&mut self, state: &ClusterState, kind: TaskKind, worker: &Worker, now: Time) -> Option<Assignment> {
        let by_job = self.offer.second_before_next_job();
        if !by_job && let Some(found) = self.pending(state, kind, worker) {
            return Some(found);
        }
        for &(queue, _, id) in &self.live {
            if !has_room(self.partitions.as_ref(), queue, kind) {
                continue;
            }
            let job = state.job(id)?;
            let pending = if by_job { self.offer.pending(state, job, kind, worker) } else { None };
            let found = pending.or_else(|| self.offer.second(now, state, job, kind, worker));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// What jobs had received when the policy took over: their running attempts' time. What ended before is unknown.
    fn received(&self, state: &ClusterState) -> BTreeMap<JobId, u64> {
        let now = state.now();
        let mut received = BTreeMap::new();
        for (_, attempt) in state.attempts().iter().filter(|(_, attempt)| !attempt.detached()) {
            let Some(job) = state.job(attempt.id().job) else { continue };
            let mut from = attempt.started();
            if attempt.id().kind == TaskKind::Reduce && self.waiting_reduces == WaitingReduces::Free {
                let done = if job.tasks(TaskKind::Map).all_done() { job.maps_done() } else { Some(now) };
                from = from.max(done.unwrap_or_default());
            }
            *received.entry(job.id()).or_insert(0) += now.since(from).as_us();
        }
        received
    }

    /// Why a job waits that could run: its queue, and who stands before it.
    fn why(&self, id: JobId, state: &ClusterState) -> Reason {
        let (Some(job), Some(kind), Some(entry)) = (state.job(id), waiting_kind(id, state), self.jobs.get(id)) else {
            return Reason::Unknown;
        };
        let (number, of) = (entry.queue + 1, self.queues.len());
        let served = Span::from_us(entry.service.at(state.now()));
        let place = match self.placement {
            Placement::Used(_) => format!("It is in queue {number} of {of}, having received {served} of slot time"),
            _ => {
                let size = Span::from_us(entry.predicted_us);
                format!("It is in queue {number} of {of}, for a predicted {size} of slot time")
            }
        };
        let rank = (job.priority(), entry.place);
        let counts = |&job: &JobId| rivals(id, kind, state)(job);
        let within = self.queues[entry.queue].before(kind, rank, id);
        // A kind with fewer slots than queues has no partitions; its queues are served in order.
        let partition = self
            .partitions
            .as_ref()
            .map(|partitions| (partitions.running(entry.queue, kind), partitions.size(entry.queue, kind)));
        if let Some((runs, size)) = partition.filter(|&(_, size)| size != u32::MAX) {
            let within = tally(within.filter(counts));
            if runs >= size {
                let behind = match within {
                    None => String::new(),
                    Some((1, _)) => "; 1 job waits before it".to_owned(),
                    Some((jobs, _)) => format!("; {jobs} jobs wait before it"),
                };
                // After a change of the shares or of the workers.
                let slots = count_slots(runs, kind);
                return Reason::Limit(if runs > size {
                    format!("{place}. Its partition holds {slots}, more than its {size}, until attempts end{behind}.")
                } else {
                    format!("{place}. {runs} of {size} {kind} slots of its partition are taken{behind}.")
                });
            }
            return Reason::in_order(kind, within, state);
        }
        let earlier = self.queues[..entry.queue].iter().flat_map(|queue| queue.iter(kind));
        match tally(earlier.chain(within).filter(counts)) {
            None => Reason::in_order(kind, None, state),
            Some((jobs, first)) => {
                let (jobs, still) =
                    if jobs == 1 { ("1 job".to_owned(), "has") } else { (format!("{jobs} jobs"), "have") };
                Reason::Limit(format!("{place}. Before it {jobs} {still} {kind}s waiting, first job {}.", first.0))
            }
        }
    }
}

/// Whether a queue may have another task, where each has a partition.
fn has_room(partitions: Option<&Partitions>, queue: usize, kind: TaskKind) -> bool {
    partitions.is_none_or(|partitions| partitions.has_room(queue, kind))
}

impl Queues for SizeBased {
    fn partition(&self, job: JobId) -> Option<Partition> {
        let (partitions, entry) = (self.partitions.as_ref()?, self.jobs.get(job)?);
        let size = |kind| Some(partitions.size(entry.queue, kind)).filter(|&size| size != u32::MAX);
        Some(Partition { name: format!("queue {}", entry.queue + 1), slots: TaskKind::ALL.map(size) })
    }
}

impl Scheduler for SizeBased {
    fn name(&self) -> &'static str {
        self.name
    }

    fn observe(&mut self, change: &Change, state: &ClusterState) {
        self.offer.observe(change, state);
        match *change {
            Change::Submitted { job } => {
                if let Some(job) = state.job(job) {
                    self.enter(job, state.now(), 0);
                }
            }
            Change::JobOver { job, end } => self.leave(job, end, state),
            Change::Priority { job, from } => {
                self.rise(job, from);
                if let Some(job) = state.job(job) {
                    self.stand(job);
                }
            }
            Change::Offerable { job, kind, offerable } => {
                let (Some(job), Some(entry)) = (state.job(job), self.jobs.get(job)) else { return };
                let (queue, rank) = (&mut self.queues[entry.queue], (job.priority(), entry.place));
                if offerable {
                    queue.insert(kind, rank, job.id());
                } else {
                    queue.remove(kind, rank, job.id());
                }
            }
            Change::Launched { attempt, .. } => {
                self.launched(attempt);
                self.account(attempt.job, state);
            }
            Change::Ended { attempt, .. } => {
                self.ended(attempt);
                self.account(attempt.job, state);
            }
            // A map whose output is lost makes the reduces wait again.
            Change::Returned { task } => self.account(task.job, state),
            Change::Worker { .. } => {
                if let Some(partitions) = &mut self.partitions {
                    partitions.resize(state.totals().slots);
                }
            }
            // Its own queues are by size.
            Change::Queue { .. } | Change::Deadline { .. } | Change::Reported { .. } | Change::Recovered => {}
        }
    }

    fn assign(&mut self, round: &Round, state: &ClusterState) -> Option<Assignment> {
        let worker = state.worker(round.worker)?;
        let mut kinds = TaskKind::ALL.into_iter().filter(|&kind| worker.free(kind) > 0);
        kinds.find_map(|kind| match self.offer.speculates() {
            true => self.with_second(state, kind, worker, round.now),
            false => self.pending(state, kind, worker),
        })
    }

    fn next_deadline(&self) -> Option<Time> {
        self.demotions.first().map(|&(due, _)| due)
    }

    fn tick(&mut self, now: Time, state: &ClusterState, actions: &mut Actions) {
        let mut any = false;
        while let Some(&(due, id)) = self.demotions.first()
            && due <= now
        {
            match state.job(id) {
                Some(job) => self.demote(job),
                None => drop(self.demotions.pop_first()),
            }
            any = true;
        }
        // The next queue's partition may have had room for it all the time.
        if any && self.partitions.is_some() {
            actions.wake_parked();
        }
    }

    fn wakes_parked(&self, change: &Change) -> bool {
        (self.partitions.is_some() && matches!(change, Change::Ended { .. })) || self.offer.wakes_parked(change)
    }

    fn capabilities(&self) -> Capabilities {
        let (may_speculate, divides_slots) = (self.offer.speculates(), self.partitions.is_some());
        let counts_departures = !matches!(self.placement, Placement::Used(_));
        Capabilities { may_speculate, divides_slots, counts_departures, ..Capabilities::default() }
    }

    fn queues(&self) -> &dyn Queues {
        self
    }

    fn explain(&self, id: JobId, state: &ClusterState) -> Reason {
        Reason::common(id, state).unwrap_or_else(|| self.offer.explain(self.why(id, state), id, state))
    }

    fn attach(&mut self, state: &ClusterState) {
        let mut placement = self.placement.clone();
        placement.forget();
        let (partitions, offer) = (self.partitions.take(), self.offer.clone());
        *self = SizeBased::new(self.name, placement, partitions, self.waiting_reduces, offer);
        self.offer.attach(state);
        if let Some(partitions) = &mut self.partitions {
            partitions.clear();
            partitions.resize(state.totals().slots);
        }
        let received = self.received(state);
        for job in state.jobs() {
            self.enter(job, state.now(), received.get(&job.id()).copied().unwrap_or(0));
        }
        for (_, attempt) in state.attempts().iter().filter(|(_, attempt)| !attempt.detached()) {
            self.launched(attempt.id());
        }
    }

    fn reconfigure(&mut self, params: &Params, state: &ClusterState) -> Result<bool, SchedulerError> {
        let mut new = read(self.name, params, |reader| SizeBased::made(self.name, reader))?;
        new.take_over(self, state);
        *self = new;
        Ok(true)
    }

    fn offer(&mut self) -> Option<&mut Offer> {
        Some(&mut self.offer)
    }

    fn fork(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
