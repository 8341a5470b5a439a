//! What the queues' own books say: why a job waits, and what each queue has and may have.

use super::config::{Share, WHOLE};
use super::queue::Queue;
use super::serve::locality_wait;
use super::{Capacity, Entry};
use crate::cluster::{ClusterState, Job};
use crate::job::{JobId, TaskKind};
use crate::schedulers::reason::{count, count_slots, its_user, rivals, waiting_kind};
use crate::schedulers::{QueueView, Reason};

impl Capacity {
    /// The reason, where it does not lie with the job or the workers.
    pub(super) fn why(&self, id: JobId, state: &ClusterState) -> Reason {
        let (Some(job), Some(entry), Some(kind)) = (state.job(id), self.jobs.get(id), waiting_kind(id, state)) else {
            return Reason::Unknown;
        };
        let limit = self.uninitialised(entry).or_else(|| self.limit(entry, kind));
        if let Some(text) = limit {
            return Reason::Limit(text);
        }
        let queue = &self.queues[entry.queue as usize];
        let ahead = queue.offers[kind].ahead(entry.place, |other| self.rivals(id, other, kind, state));
        let totals = state.totals();
        let free = totals.running[kind] < totals.slots[kind];
        if ahead.is_none()
            && free
            && let Some(text) = self.waits_for_data(entry, kind, job, state)
        {
            return Reason::Limit(text);
        }
        if ahead.is_none()
            && !free
            && let Some(other) = self.emptier(id, entry.queue, kind, state)
        {
            return Reason::Limit(format!(
                "All {kind} slots are taken, and queue `{other}` uses less of its capacity than `{}`: the next free \
                 slot is for it.",
                queue.name
            ));
        }
        Reason::in_order(kind, ahead, state)
    }

    /// All queues by name, those without jobs too: they are what a job may name.
    pub(super) fn views(&self, state: &ClusterState) -> Vec<QueueView> {
        let mut views: Vec<QueueView> = self.queues.iter().map(view).collect();
        for (id, entry) in self.jobs.iter() {
            let Some(job) = state.job(id) else { continue };
            let view = &mut views[entry.queue as usize];
            for kind in TaskKind::ALL {
                let tasks = job.tasks(kind);
                view.running[kind] += tasks.n_attempts();
                view.demand[kind] += tasks.n_left() * entry.slots[kind];
            }
        }
        views
    }

    /// Why a job is not initialised.
    fn uninitialised(&self, entry: &Entry) -> Option<String> {
        if entry.initialised {
            return None;
        }
        let queue = &self.queues[entry.queue as usize];
        let (user, limits, name) = (&queue.users[entry.user as usize], &queue.limits, &queue.name);
        if user.initialised >= limits.initialised_per_user {
            let (user, jobs) = (its_user(&user.name), count(user.initialised as u32, "job", "jobs"));
            return Some(format!(
                "{user} has {jobs} under way in queue `{name}`, as many as one user may (minimum-user-limit-percent)."
            ));
        }
        if queue.initialised >= limits.initialised {
            let jobs = count(queue.initialised as u32, "job", "jobs");
            return Some(format!("Queue `{name}` has {jobs} under way, as many as it may (maximum-system-jobs)."));
        }
        let (of_user, of_queue) = (queue.conf.active_tasks_per_user, queue.conf.active_tasks);
        let of_whom = if user.name.is_empty() { "its user".to_owned() } else { format!("user `{}`", user.name) };
        Some(format!(
            "Queue `{name}` has {} tasks under way, of {of_whom} {}; with this job's {} they would be more than the \
             {of_queue} of the queue or the {of_user} of one user, or an earlier job waits for that.",
            queue.active_tasks, user.active_tasks, entry.tasks
        ))
    }

    /// A limit of slots.
    fn limit(&self, entry: &Entry, kind: TaskKind) -> Option<String> {
        let queue = &self.queues[entry.queue as usize];
        let (slots, name, user) = (entry.slots[kind], &queue.name, &queue.users[entry.user as usize]);
        if !queue.has_room(kind, slots) {
            let (held, most) = (count_slots(queue.occupied[kind], kind), queue.maximum[kind]);
            return Some(format!("Queue `{name}` holds {held} and may have {most} at most."));
        }
        if !queue.user_may(kind, entry.user, slots) {
            let (held, most) = (count_slots(user.occupied[kind], kind), queue.user_limit(kind, slots));
            let user = its_user(&user.name);
            return Some(format!("{user} holds {held} in queue `{name}`, and one user may have {most} there now."));
        }
        None
    }

    fn waits_for_data(&self, entry: &Entry, kind: TaskKind, job: &Job, state: &ClusterState) -> Option<String> {
        if kind == TaskKind::Reduce || entry.slots[0] > 1 {
            return None;
        }
        let (missed, wanted, of) = locality_wait(entry, &mut self.hosts.clone(), state, job);
        let chances = wanted / of + 1;
        (u64::from(missed) < chances && wanted > 0).then(|| {
            format!(
                "It waits for a worker near its data: it has let {missed} chances pass and takes any worker at the \
                 {chances}th."
            )
        })
    }

    /// Whether another job may take a slot from this one: neither the workers nor a limit keep it back.
    fn rivals(&self, id: JobId, other: JobId, kind: TaskKind, state: &ClusterState) -> bool {
        self.jobs.get(other).is_some_and(|entry| self.limit(entry, kind).is_none()) && rivals(id, kind, state)(other)
    }

    /// The first queue that is to be served before this job's and has something waiting that may take its slot.
    fn emptier(&self, id: JobId, number: u16, kind: TaskKind, state: &ClusterState) -> Option<&str> {
        let ours = &self.queues[number as usize];
        let wants = |queue: &&Queue| {
            queue.emptier_than(ours, kind) && queue.offers[kind].jobs().any(|other| self.rivals(id, other, kind, state))
        };
        self.queues.iter().find(wants).map(|queue| queue.name.as_str())
    }
}

/// A queue without its jobs' tasks. Its weight is its capacity in percent; a queue of slots has none.
fn view(queue: &Queue) -> QueueView {
    let weight = match queue.conf.share {
        Share::Percent { capacity, .. } => capacity as f64 * 100.0 / WHOLE as f64,
        Share::Slots(_) => 0.0,
    };
    QueueView {
        name: queue.name.clone(),
        jobs: queue.jobs as u32,
        held_jobs: (queue.jobs - queue.initialised) as u32,
        min: queue.capacity,
        max: queue.maximum.map(|slots| (slots < u32::MAX).then_some(slots)),
        share: queue.capacity.map(f64::from),
        weight,
        ..QueueView::default()
    }
}
