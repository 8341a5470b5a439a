//! What the queues' own books say: why a job waits, and what each queue has and may have.

use super::config::{Share, WHOLE};
use super::queue::Queue;
use super::serve::locality_wait;
use super::{Capacity, Entry};
use crate::cluster::{ClusterState, Job};
use crate::job::{JobId, TaskKind};
use crate::schedulers::reason::waiting_kind;
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
        let ahead = queue.offers[kind as usize].ahead(entry.place);
        let totals = state.totals();
        let free = totals.running[kind as usize] < totals.slots[kind as usize];
        if ahead.is_none()
            && free
            && let Some(text) = self.waits_for_data(entry, kind, job, state)
        {
            return Reason::Limit(text);
        }
        if ahead.is_none()
            && !free
            && let Some(other) = self.emptier(entry.queue, kind)
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
                view.running[kind as usize] += tasks.n_attempts();
                view.demand[kind as usize] += tasks.n_left() * entry.slots[kind as usize];
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
            return Some(format!(
                "User `{}` has {} jobs under way in queue `{name}`, as many as one user may (minimum-user-limit-percent).",
                user.name, user.initialised
            ));
        }
        if queue.initialised >= limits.initialised {
            return Some(format!(
                "Queue `{name}` has {} jobs under way, as many as it may (maximum-system-jobs).",
                queue.initialised
            ));
        }
        let (of_user, of_queue) = (queue.conf.active_tasks_per_user, queue.conf.active_tasks);
        Some(format!(
            "Queue `{name}` has {} tasks under way, of user `{}` {}; with this job's {} they would be more than the \
             {of_queue} of the queue or the {of_user} of one user, or an earlier job waits for that.",
            queue.active_tasks, user.name, user.active_tasks, entry.tasks
        ))
    }

    /// A limit of slots.
    fn limit(&self, entry: &Entry, kind: TaskKind) -> Option<String> {
        let queue = &self.queues[entry.queue as usize];
        let (slots, name, user) = (entry.slots[kind as usize], &queue.name, &queue.users[entry.user as usize]);
        if !queue.has_room(kind, slots) {
            let (held, most) = (queue.occupied[kind as usize], queue.maximum[kind as usize]);
            return Some(format!("Queue `{name}` holds {held} {kind} slots and may have {most} at most."));
        }
        if !queue.user_may(kind, entry.user, slots) {
            let (held, most) = (user.occupied[kind as usize], queue.user_limit(kind, slots));
            return Some(format!(
                "User `{}` holds {held} {kind} slots in queue `{name}`, and one user may have {most} there now.",
                user.name
            ));
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

    /// The first queue that is to be served before this one and has something waiting.
    fn emptier(&self, number: u16, kind: TaskKind) -> Option<&str> {
        let ours = &self.queues[number as usize];
        let wants = |queue: &&super::Queue| {
            !queue.offers[kind as usize].is_empty() && queue.has_room(kind, 1) && queue.emptier_than(ours, kind)
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
