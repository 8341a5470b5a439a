//! The jobs of the queues: they come, are initialised when their queue and user may have one more, and go.

use std::collections::BTreeSet;

use super::by_user::Place;
use super::{Capacity, Entry};
use crate::cluster::{ClusterState, Job};
use crate::job::{JobId, Priority, TaskKind};

impl Capacity {
    /// The queue of a job. One whose queue is not configured (it came under another policy) goes to `default`, or
    /// else to the first one by name, so that nothing waits for ever.
    fn queue_of(&self, job: &Job) -> u16 {
        let named = |name: &str| self.numbers.get(name).copied();
        named(&job.spec().queue).or_else(|| named("default")).unwrap_or(0)
    }

    fn place(&self, job: &Job, queue: u16) -> Place {
        let by_priority = self.queues[queue as usize].conf.by_priority;
        let priority = if by_priority { job.priority() } else { Priority::Normal };
        (priority, job.submitted(), job.id())
    }

    /// Notes a job without initialising it.
    fn register(&mut self, job: &Job) -> u16 {
        let number = self.queue_of(job);
        let place = self.place(job, number);
        let queue = &mut self.queues[number as usize];
        let user = queue.user(&job.spec().user);
        let slots = TaskKind::ALL.map(|kind| job.slots(kind).into());
        queue.jobs += 1;
        queue.users[user as usize].jobs += 1;
        queue.high_memory += u32::from(slots != [1; 2]);
        queue.uninitialised.insert(user, place);
        let hosts: BTreeSet<&String> = job.spec().split_hosts.hosts.iter().collect();
        let tasks = u64::from(job.spec().n_maps) + u64::from(job.spec().n_reduces);
        let hosts = hosts.len() as u32;
        let held = [0; 2];
        let entry = Entry { queue: number, user, place, slots, held, tasks, initialised: false, chances: 0, hosts };
        self.jobs.insert(job.id(), entry);
        number
    }

    pub(super) fn enter(&mut self, id: JobId, state: &ClusterState) {
        if let Some(job) = state.job(id) {
            let queue = self.register(job);
            self.initialise_some(queue, state);
        }
    }

    /// Initialises the jobs that may be, in order. The queue's limit ends the search; a user's limit leaves out all
    /// jobs of that user, so that they keep their order.
    fn initialise_some(&mut self, number: u16, state: &ClusterState) {
        loop {
            let queue = &self.queues[number as usize];
            let tasks = |job: JobId| self.jobs.get(job).map_or(0, |entry| entry.tasks);
            let next = queue
                .uninitialised
                .fronts()
                .take_while(|&(job, _)| queue.may_initialise(tasks(job)))
                .find(|&(job, user)| queue.may_initialise_for(user, tasks(job)));
            let Some((job, _)) = next else { return };
            self.initialise(job, state);
        }
    }

    fn initialise(&mut self, id: JobId, state: &ClusterState) {
        let (Some(job), Some(entry)) = (state.job(id), self.jobs.get_mut(id)) else { return };
        let queue = &mut self.queues[entry.queue as usize];
        entry.initialised = true;
        queue.uninitialised.remove(entry.user, entry.place);
        let user = &mut queue.users[entry.user as usize];
        queue.initialised += 1;
        user.initialised += 1;
        queue.active_tasks += entry.tasks;
        user.active_tasks += entry.tasks;
        if self.offer.speculates() {
            queue.live.insert(entry.user, entry.place);
        }
        for kind in TaskKind::ALL.into_iter().filter(|&kind| job.offerable(kind)) {
            queue.offers[kind].insert(entry.user, entry.place);
        }
    }

    /// Takes a job out of the queue's sets, and its tasks out of the sums.
    fn take_out(&mut self, entry: &Entry) {
        let queue = &mut self.queues[entry.queue as usize];
        for set in queue.offers.iter_mut().chain([&mut queue.uninitialised, &mut queue.live]) {
            set.remove(entry.user, entry.place);
        }
    }

    pub(super) fn leave(&mut self, id: JobId, state: &ClusterState) {
        self.release_all(id);
        // A job that fails is told to be over before the end of the attempt that made it fail.
        let held = self.jobs.get(id).map_or([0; 2], |entry| entry.held);
        for kind in TaskKind::ALL {
            (0..held[kind]).for_each(|_| self.give_back(id, kind));
        }
        let Some(entry) = self.jobs.remove(id) else { return };
        self.take_out(&entry);
        let queue = &mut self.queues[entry.queue as usize];
        let user = &mut queue.users[entry.user as usize];
        queue.jobs -= 1;
        user.jobs -= 1;
        queue.high_memory -= u32::from(entry.slots != [1; 2]);
        if entry.initialised {
            queue.initialised -= 1;
            user.initialised -= 1;
            queue.active_tasks -= entry.tasks;
            user.active_tasks -= entry.tasks;
        }
        self.initialise_some(entry.queue, state);
    }

    /// The job's priority is another.
    pub(super) fn rank_again(&mut self, id: JobId, state: &ClusterState) {
        let (Some(job), Some(entry)) = (state.job(id), self.jobs.get(id)) else { return };
        let place = self.place(job, entry.queue);
        if place == entry.place {
            return;
        }
        let (old, number) = (entry.clone(), entry.queue);
        self.take_out(&old);
        let queue = &mut self.queues[number as usize];
        if !old.initialised {
            queue.uninitialised.insert(old.user, place);
        } else if self.offer.speculates() {
            queue.live.insert(old.user, place);
        }
        for kind in TaskKind::ALL.into_iter().filter(|&kind| old.initialised && job.offerable(kind)) {
            queue.offers[kind].insert(old.user, place);
        }
        if let Some(entry) = self.jobs.get_mut(id) {
            entry.place = place;
        }
        self.initialise_some(number, state);
    }

    /// The job is another queue's, with the slots that its attempts have. One that has begun stays initialised, whatever the limits
    /// of its new queue say; workers that were kept for it are let go.
    pub(super) fn move_to_its_queue(&mut self, id: JobId, state: &ClusterState) {
        let (Some(job), Some(old)) = (state.job(id), self.jobs.get(id).cloned()) else { return };
        if self.queue_of(job) == old.queue {
            return;
        }
        self.leave(id, state);
        let queue = self.register(job);
        if let Some(entry) = self.jobs.get_mut(id) {
            entry.chances = old.chances;
        }
        if job.launched().is_some() {
            self.initialise(id, state);
        }
        for kind in TaskKind::ALL {
            (0..job.tasks(kind).n_attempts()).for_each(|_| self.hold(id, kind));
        }
        self.initialise_some(queue, state);
    }

    /// The job has something to offer, or nothing any more.
    pub(super) fn offers(&mut self, id: JobId, kind: TaskKind, offerable: bool) {
        let Some(entry) = self.jobs.get(id).filter(|entry| entry.initialised) else { return };
        let offers = &mut self.queues[entry.queue as usize].offers[kind];
        if offerable {
            offers.insert(entry.user, entry.place);
        } else {
            offers.remove(entry.user, entry.place);
            self.release_kind(id, kind);
        }
    }

    /// Begins with the jobs of a running cluster. Those that have `begun` stay initialised, whatever the limits say.
    pub(super) fn take_over(&mut self, state: &ClusterState, begun: impl Fn(&Job) -> bool) {
        self.offer.attach(state);
        self.resize(state);
        for job in state.jobs() {
            self.register(job);
            if begun(job) {
                self.initialise(job.id(), state);
            }
            for kind in TaskKind::ALL {
                (0..job.tasks(kind).n_attempts()).for_each(|_| self.hold(job.id(), kind));
            }
        }
        self.take_over_reservations(state);
        (0..self.queues.len() as u16).for_each(|queue| self.initialise_some(queue, state));
    }
}
