//! What the driver knows beside the core: names, addresses, counters, diagnostics, times.
//!
//! The core decides with dense numbers only. Everything that people read, and that workers need to find each
//! other, is kept here, fed by the same reports and by the core's effects. The core's thread owns it; nothing
//! here decides anything.

mod attempt;
mod ended;
mod events;
mod extras;
mod index;
mod inputs;
mod job;
mod packed;
mod presence;
mod remembered;
mod stored;
mod users;
mod vitals;
mod why;
mod winners;
mod worker;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use howdah_core::cluster::ClusterState;
use howdah_core::job::{AttemptId, AttemptState, ClusterId, JobId, JobState, Priority, TaskKind, WorkerId};
use howdah_core::time::Time;
use howdah_core::tracker::{Effect, EndCause, Report};
use howdah_proto::v1;

use crate::config::Limits;

pub(crate) use attempt::{AttemptRecord, Extra, LiveAttempt};
pub(crate) use ended::Attempts;
pub(crate) use extras::extras;
pub(crate) use inputs::Range;
pub(crate) use job::{JobMeta, JobRow, JobSnapshot};
pub(crate) use packed::PackedCounters;
pub(crate) use presence::Going;
pub(crate) use vitals::PageVitals;
pub(crate) use worker::{WorkerRow, why_listed};

/// Workers, jobs and attempts as people see them.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) cluster: ClusterId,
    pub(crate) workers: Vec<WorkerRow>,
    numbers: HashMap<String, WorkerId>,
    pub(crate) jobs: BTreeMap<JobId, JobRow>,
    /// Of those that are not over.
    users: users::Users,
    /// Those in `jobs` that are over.
    over: Held,
    /// Of these the ones whose history is on disk with all that is known of them, as they were written.
    written: VecDeque<JobId>,
    written_tasks: usize,
    /// Why the last history could not be written; none once one could.
    pub(crate) history_problem: Option<String>,
    /// Status of older finished jobs, oldest first.
    retired: VecDeque<v1::JobStatus>,
    /// Jobs touched since the last call of `announce`.
    changed: BTreeSet<JobId>,
    finished_jobs_max: usize,
    finished_tasks_max: usize,
    listed_jobs_max: usize,
    workers_max: usize,
    pub(crate) jobs_done: u32,
    /// The policy's last ones, oldest first.
    pub(crate) notes: VecDeque<(Time, String)>,
}

/// Jobs in memory, and their tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) jobs: usize,
    pub(crate) tasks: usize,
}

/// Notes that pages show; the log has all.
const MOST_NOTES: usize = 50;

impl Tables {
    pub(crate) fn new(cluster: ClusterId, limits: &Limits) -> Tables {
        Tables {
            cluster,
            workers: Vec::new(),
            numbers: HashMap::new(),
            jobs: BTreeMap::new(),
            users: users::Users::default(),
            over: Held::default(),
            written: VecDeque::new(),
            written_tasks: 0,
            history_problem: None,
            retired: VecDeque::new(),
            changed: BTreeSet::new(),
            finished_jobs_max: limits.finished_jobs as usize,
            finished_tasks_max: limits.finished_tasks as usize,
            listed_jobs_max: limits.listed_jobs as usize,
            workers_max: limits.workers as usize,
            jobs_done: 0,
            notes: VecDeque::new(),
        }
    }

    /// The policy noted something.
    pub(crate) fn noted(&mut self, notes: Vec<String>, now: Time) {
        self.notes.extend(notes.into_iter().map(|note| (now, note)));
        let old = self.notes.len().saturating_sub(MOST_NOTES);
        drop(self.notes.drain(..old));
    }

    /// The number of a worker's name: the one it had, or the next free one.
    pub(crate) fn number(&self, name: &str) -> WorkerId {
        self.numbers.get(name).copied().unwrap_or(WorkerId(self.workers.len() as u32))
    }

    /// Whether a worker of this number may register; the limit if not.
    pub(crate) fn has_room_for(&self, worker: WorkerId) -> Result<(), usize> {
        let known = (worker.0 as usize) < self.workers.len();
        if known || self.workers.len() < self.workers_max { Ok(()) } else { Err(self.workers_max) }
    }

    /// The number of a known worker.
    pub(crate) fn worker_named(&self, name: &str) -> Option<WorkerId> {
        self.numbers.get(name).copied()
    }

    pub(crate) fn worker(&self, worker: WorkerId) -> Option<&WorkerRow> {
        self.workers.get(worker.0 as usize)
    }

    fn worker_mut(&mut self, worker: WorkerId) -> Option<&mut WorkerRow> {
        self.workers.get_mut(worker.0 as usize)
    }

    /// A worker said hello; called in the order in which the core receives it.
    pub(crate) fn register(&mut self, worker: WorkerId, request: v1::RegisterRequest, connection: u64, now: Time) {
        let index = worker.0 as usize;
        if index == self.workers.len() {
            self.numbers.insert(request.name.clone(), worker);
            self.workers.push(WorkerRow::new(request, connection, now));
        } else if let Some(row) = self.workers.get_mut(index) {
            row.register(request, connection, now);
        }
    }

    /// A run of a worker said goodbye, or is gone without one.
    pub(crate) fn goes(&mut self, worker: WorkerId, incarnation: u64, how: Going) {
        if let Some(row) = self.worker_mut(worker).filter(|row| row.incarnation == incarnation) {
            row.presence.going.get_or_insert(how);
        }
    }

    /// The core was told that the master was started again.
    pub(crate) fn recovered(&mut self) {
        self.jobs.values_mut().for_each(JobRow::taken_over);
    }

    /// A job entered the core.
    pub(crate) fn submit(&mut self, job: JobId, row: JobRow) {
        self.users.entered(&row.meta.file.spec.user);
        self.jobs.insert(job, row);
        self.changed.insert(job);
    }

    /// The jobs whose files a worker says that it does not see, once each.
    pub(crate) fn unseen(&mut self, report: &Report, extras: &[Extra], now: Time) -> BTreeSet<JobId> {
        let Some(row) = self.workers.get_mut(report.worker.0 as usize) else { return BTreeSet::new() };
        if row.incarnation != report.incarnation {
            return BTreeSet::new();
        }
        let mut jobs = BTreeSet::new();
        for extra in extras {
            let Some(end) = extra.end.as_ref().filter(|end| !end.unseen.is_empty()) else { continue };
            if jobs.insert(extra.attempt.job) {
                let job = self.cluster.job(extra.attempt.job);
                let what = end.diagnostics.lines().next().unwrap_or_default();
                let news = row.unseen.as_ref().is_none_or(|(said, _)| !said.starts_with(&job));
                if news {
                    tracing::warn!(worker = &*row.name, job, path = end.unseen, "a worker does not see a job's files");
                }
                row.unseen = Some((format!("{job}: {what}"), now));
            }
        }
        jobs
    }

    /// What a report says to people: progress, messages, counters, ends.
    pub(crate) fn report(&mut self, report: &Report, extras: Vec<Extra>, pages: PageVitals, now: Time) {
        let Some(row) = self.workers.get_mut(report.worker.0 as usize) else { return };
        if row.incarnation != report.incarnation {
            return;
        }
        row.take_report(report, pages, now);
        for status in &report.attempts {
            let Some(job) = self.jobs.get_mut(&status.attempt.job) else { continue };
            if job.progress(status, report.worker) {
                self.changed.insert(status.attempt.job);
            }
        }
        for extra in extras {
            let id = extra.attempt.job;
            if self.jobs.get_mut(&id).is_some_and(|job| job.extra(extra, report.worker)) {
                self.lacks_history(id);
                self.changed.insert(id);
            }
        }
    }

    /// What an effect says to people.
    pub(crate) fn observe(&mut self, effect: &Effect, now: Time) {
        match *effect {
            Effect::Launch { worker, attempt, locality, speculative } => {
                let Some(job) = self.jobs.get_mut(&attempt.job) else { return };
                let Some(row) = self.workers.get_mut(worker.0 as usize) else { return };
                if job.launched(attempt, LiveAttempt::new(attempt, worker, row, locality, speculative, now)) {
                    row.running[attempt.kind] += 1;
                    self.changed.insert(attempt.job);
                }
            }
            Effect::AttemptEnded { attempt, worker, state, cause, .. } => {
                self.ended(attempt, worker, state, cause, now);
            }
            Effect::MapOutputReady { attempt, worker } => {
                let address = self.worker(worker).map_or_else(String::new, |row| row.http_address.to_string());
                if let Some(job) = self.jobs.get(&attempt.job) {
                    job.events.push(attempt, address);
                }
            }
            Effect::OutputKept { attempt, worker } => {
                let address = self.worker(worker).map_or_else(String::new, |row| row.http_address.to_string());
                if let Some(job) = self.jobs.get_mut(&attempt.job) {
                    job.output_kept(attempt, address, now);
                    self.changed.insert(attempt.job);
                }
            }
            Effect::MapOutputLost { attempt, worker, cause } => {
                let is_of_fetches = matches!(cause, EndCause::Unreachable | EndCause::TooManyFetchFailures);
                let row = self.workers.get(worker.0 as usize).filter(|_| is_of_fetches);
                if let Some(job) = self.jobs.get_mut(&attempt.job) {
                    job.output_lost(attempt, cause, row.and_then(WorkerRow::not_fetched).unwrap_or_default());
                    self.changed.insert(attempt.job);
                }
            }
            Effect::OutputGone { attempt, .. } => {
                if let Some(job) = self.jobs.get_mut(&attempt.job) {
                    job.output_lost(attempt, EndCause::OutputGone, "");
                    self.changed.insert(attempt.job);
                }
            }
            Effect::TaskFailed { task } => {
                if let Some(job) = self.jobs.get_mut(&task.job) {
                    job.task_failed(task);
                    self.changed.insert(task.job);
                }
            }
            Effect::WorkerState { worker, state } => {
                if let Some(row) = self.worker_mut(worker) {
                    row.set_state(state, now);
                }
            }
            Effect::JobState { job, state } => self.job_state(job, state, now),
            _ => {}
        }
    }

    fn ended(&mut self, attempt: AttemptId, worker: WorkerId, state: AttemptState, cause: EndCause, now: Time) {
        let Some(job) = self.jobs.get_mut(&attempt.job) else { return };
        if job.ended(attempt, state, cause, now)
            && let Some(row) = self.workers.get_mut(worker.0 as usize)
        {
            let running = &mut row.running[attempt.kind];
            *running = running.saturating_sub(1);
            row.failures += u32::from(state == AttemptState::Failed);
        }
        self.changed.insert(attempt.job);
    }

    fn job_state(&mut self, id: JobId, state: JobState, now: Time) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.set_state(state, now, self.cluster);
        self.changed.insert(id);
        if state.is_final() {
            job.events.close();
            self.jobs_done += 1;
            self.over.jobs += 1;
            self.over.tasks += job.n_tasks();
            self.users.ended(&job.meta.file.spec.user);
        }
    }

    /// A job's history on disk says all that is known of it, unless attempts of it are still to end: then it is written again.
    pub(crate) fn history_written(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| job.is_settled()) else { return };
        if !std::mem::replace(&mut job.is_written, true) {
            self.written_tasks += job.n_tasks();
            self.written.push_back(id);
        }
    }

    /// A job's history on disk, if there is one, does not say all that is known of it.
    pub(crate) fn lacks_history(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if std::mem::take(&mut job.is_written) {
            self.written_tasks -= job.n_tasks();
            self.written.retain(|written| *written != id);
        }
    }

    /// After a start: of the jobs that are over only these have no history, or one that lacks something.
    pub(crate) fn histories_found(&mut self, missing: &[JobId]) {
        missing.iter().for_each(|&id| self.lacks_history(id));
        let missing: BTreeSet<&JobId> = missing.iter().collect();
        let found: Vec<JobId> = self.jobs.keys().filter(|id| !missing.contains(id)).copied().collect();
        found.into_iter().for_each(|id| self.history_written(id));
    }

    /// Jobs that are over and whose history is not on disk: they stay until it is.
    pub(crate) fn unwritten(&self) -> Held {
        Held { jobs: self.over.jobs - self.written.len(), tasks: self.over.tasks - self.written_tasks }
    }

    /// Takes the jobs out that are over and more than may stay, those first whose histories were written first. Of each its
    /// status stays; the rest is read from its history.
    pub(crate) fn retire(&mut self) -> Vec<JobRow> {
        let mut gone = Vec::new();
        while self.over.jobs > self.finished_jobs_max || self.over.tasks > self.finished_tasks_max {
            let Some(oldest) = self.written.pop_front() else { break };
            if let Some(row) = self.jobs.remove(&oldest) {
                let tasks = row.n_tasks();
                self.written_tasks -= tasks;
                self.over.tasks -= tasks;
                self.over.jobs -= 1;
                self.retired.push_back(row.status(self.cluster));
                gone.push(row);
            }
        }
        while self.retired.len() > self.listed_jobs_max {
            self.retired.pop_front();
        }
        gone
    }

    /// Takes what the core counted of the jobs that changed.
    pub(crate) fn take_costs(&mut self, state: &ClusterState) {
        for &job in &self.changed {
            let ended = || state.ended_job(job).map(|summary| summary.costs);
            let costs = state.job(job).map(|job| *job.costs()).or_else(ended);
            if let (Some(row), Some(costs)) = (self.jobs.get_mut(&job), costs) {
                row.costs = costs;
            }
        }
    }

    /// Wakes those who watch the jobs that changed, and gives those jobs.
    pub(crate) fn announce(&mut self) -> BTreeSet<JobId> {
        let changed = std::mem::take(&mut self.changed);
        for job in &changed {
            if let Some(row) = self.jobs.get_mut(job) {
                row.announce();
            }
        }
        changed
    }

    /// A client changes a job's priority.
    pub(crate) fn set_priority(&mut self, job: JobId, priority: Priority) {
        if let Some(row) = self.jobs.get_mut(&job) {
            row.priority = priority;
            self.changed.insert(job);
        }
    }

    /// A client moves a job to another queue.
    pub(crate) fn set_queue(&mut self, job: JobId, queue: &str) {
        if let Some(row) = self.jobs.get_mut(&job) {
            std::sync::Arc::make_mut(&mut row.meta).file.spec.queue = queue.into();
            self.changed.insert(job);
        }
    }

    /// All jobs that are still listed, by number.
    pub(crate) fn statuses(&self) -> Vec<v1::JobStatus> {
        self.statuses_of(|_| true)
    }

    /// As [`Tables::statuses`], of those in memory only the wanted ones.
    fn statuses_of(&self, wanted: impl Fn(&JobRow) -> bool) -> Vec<v1::JobStatus> {
        let live = self.jobs.values().filter(|row| wanted(row)).map(|row| row.status(self.cluster));
        let mut all: Vec<v1::JobStatus> = self.retired.iter().cloned().chain(live).collect();
        all.sort_by(|a, b| a.job.cmp(&b.job));
        all
    }

    /// The status of one listed job.
    pub(crate) fn status(&self, job: JobId) -> Option<v1::JobStatus> {
        if let Some(row) = self.jobs.get(&job) {
            return Some(row.status(self.cluster));
        }
        let printed = self.cluster.job(job);
        self.retired.iter().find(|status| status.job == printed).cloned()
    }

    /// The state of one listed job.
    pub(crate) fn state(&self, job: JobId) -> Option<&str> {
        if let Some(row) = self.jobs.get(&job) {
            return Some(row.state.name());
        }
        let printed = self.cluster.job(job);
        self.retired.iter().find(|status| status.job == printed).map(|status| &*status.state)
    }

    /// Jobs that are not over.
    pub(crate) fn live_jobs(&self) -> usize {
        self.jobs.len() - self.over.jobs
    }

    /// Of these one user's.
    pub(crate) fn live_jobs_of(&self, user: &str) -> usize {
        self.users.live_jobs(user)
    }

    /// Tasks of one kind running now, over all jobs.
    pub(crate) fn running(&self, kind: TaskKind) -> u32 {
        self.workers.iter().map(|row| row.running[kind]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_notes_are_kept_with_their_times() {
        let mut tables = Tables::new(ClusterId(1), &Limits::default());
        for n in 0..30u64 {
            tables.noted(vec![format!("a {n}"), format!("b {n}")], Time::from_ms(n));
        }
        assert_eq!(tables.notes.len(), MOST_NOTES);
        assert_eq!(tables.notes.front(), Some(&(Time::from_ms(5), "a 5".to_owned())));
        assert_eq!(tables.notes.back(), Some(&(Time::from_ms(29), "b 29".to_owned())));
    }
}
