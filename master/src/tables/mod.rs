//! What the driver knows beside the core: names, addresses, counters, diagnostics, times.
//!
//! The core decides with dense numbers only. Everything that people read, and that workers need to find each
//! other, is kept here, fed by the same reports and by the core's effects. The core's thread owns it; nothing
//! here decides anything.

mod attempt;
mod ended;
mod events;
mod extras;
mod job;
mod packed;
mod presence;
mod remembered;
mod vitals;
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
pub(crate) use events::EventLog;
pub(crate) use extras::extras;
pub(crate) use job::{JobMeta, JobRow, JobSnapshot};
pub(crate) use packed::PackedCounters;
pub(crate) use presence::Going;
pub(crate) use vitals::PageVitals;
pub(crate) use worker::WorkerRow;

/// Workers, jobs and attempts as people see them.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) cluster: ClusterId,
    pub(crate) workers: Vec<WorkerRow>,
    numbers: HashMap<String, WorkerId>,
    pub(crate) jobs: BTreeMap<JobId, JobRow>,
    /// Finished jobs in `jobs`, oldest first.
    finished: VecDeque<JobId>,
    /// Tasks of the finished jobs in `jobs`.
    finished_tasks: usize,
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

/// Notes that pages show; the log has all.
const MOST_NOTES: usize = 50;

impl Tables {
    pub(crate) fn new(cluster: ClusterId, limits: &Limits) -> Tables {
        Tables {
            cluster,
            workers: Vec::new(),
            numbers: HashMap::new(),
            jobs: BTreeMap::new(),
            finished: VecDeque::new(),
            finished_tasks: 0,
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

    /// A run of a worker said goodbye.
    pub(crate) fn goodbye(&mut self, worker: WorkerId, incarnation: u64) {
        if let Some(row) = self.worker_mut(worker).filter(|row| row.incarnation == incarnation) {
            row.presence.going.get_or_insert(Going::Stopped);
        }
    }

    /// The core was told that the master was started again.
    pub(crate) fn recovered(&mut self) {
        self.jobs.values_mut().for_each(JobRow::taken_over);
    }

    /// A job entered the core.
    pub(crate) fn submit(&mut self, job: JobId, row: JobRow) {
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
            if let Some(job) = self.jobs.get_mut(&extra.attempt.job) {
                job.extra(extra, report.worker);
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
            Effect::MapOutputLost { attempt, cause, .. } => {
                if let Some(job) = self.jobs.get_mut(&attempt.job) {
                    job.output_lost(attempt, cause);
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
            self.finished_tasks += job.n_tasks();
            self.finished.push_back(id);
        }
    }

    /// Lets go of finished jobs beyond the limit; their history stays on disk.
    pub(crate) fn retire(&mut self) {
        // The last one stays, however large: people look at it now.
        let crowded = |tables: &Tables| {
            let n = tables.finished.len();
            n > tables.finished_jobs_max || (n > 1 && tables.finished_tasks > tables.finished_tasks_max)
        };
        while crowded(self) {
            let Some(oldest) = self.finished.pop_front() else { break };
            if let Some(row) = self.jobs.remove(&oldest) {
                self.finished_tasks = self.finished_tasks.saturating_sub(row.n_tasks());
                self.retired.push_back(row.status(self.cluster));
            }
        }
        while self.retired.len() > self.listed_jobs_max {
            self.retired.pop_front();
        }
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

    /// All jobs that are still listed, by number.
    pub(crate) fn statuses(&self) -> Vec<v1::JobStatus> {
        let live = self.jobs.values().map(|row| row.status(self.cluster));
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

    /// Jobs that are not over.
    pub(crate) fn live_jobs(&self) -> usize {
        self.jobs.len() - self.finished.len()
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
