//! The invariants of the whole state, recounted from nothing. Slow, for tests and for `--check` runs.

use std::collections::BTreeMap;

use super::{ClusterState, Job, MOST_KEPT, NONE, TaskState, Totals, Worker};
use crate::job::requirement::MAX_ATTRIBUTES;
use crate::job::{JobState, TaskId, TaskKind};

/// Returns the formatted message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err(format!($($message)*));
        }
    };
}

impl ClusterState {
    /// Recounts everything.
    ///
    /// # Errors
    /// Names the first invariant that is violated.
    pub fn check(&self) -> Result<(), String> {
        for job in self.jobs() {
            self.check_job(job)?;
        }
        for worker in &self.workers {
            self.check_worker(worker)?;
        }
        self.check_totals()
    }

    fn check_job(&self, job: &Job) -> Result<(), String> {
        let id = job.id.0;
        ensure!(!job.state.is_final(), "job {id} is over but not retired");
        for kind in TaskKind::ALL {
            self.check_tasks(job, kind)?;
            let (flag, truth) = (job.offerable[kind], job.computes_offerable(kind));
            ensure!(flag == truth, "job {id}: offerable {kind}s is {flag}, should be {truth}");
            let (flag, truth) = (job.plain[kind], job.computes_plain(kind));
            ensure!(flag == truth, "job {id}: plain {kind}s is {flag}, should be {truth}");
        }
        let max = job.spec.conf.max_tracker_failures;
        let (flaky, counted) = (job.n_flaky_workers(), job.worker_failures().filter(|&(_, n)| n >= max).count());
        ensure!(flaky as usize == counted, "job {id}: {flaky} flaky workers, counted {counted}");
        if let Some(places) = &job.locality {
            ensure!(places.check(&job.tasks[0].pending), "job {id}: a locality cursor is off its first pending map");
        }
        let copies = self.attempts.iter().filter(|(_, a)| a.id.job == job.id && a.speculative && !a.detached).count();
        let counted = job.costs.running() as usize;
        ensure!(copies == counted, "job {id}: {copies} speculative attempts run, its costs say {counted}");
        if job.state == JobState::Committing {
            let running = job.tasks.iter().map(|t| t.n_attempts).sum::<u32>();
            ensure!(running == 0, "job {id} is committing with {running} running attempts");
        }
        for &map in job.failures.get().into_iter().flat_map(|failures| failures.of_fetches.keys()) {
            ensure!(job.tasks[0].winner(map).is_some(), "job {id}: fetch failures of map {map} without output");
        }
        for &(kind, index) in job.failures.get().into_iter().flat_map(|failures| failures.of_losses.keys()) {
            ensure!(index < job.tasks[kind].n, "job {id}: workers were lost with {kind} {index}, which it has not");
        }
        for &map in job.failures.get().into_iter().flat_map(|failures| failures.left.keys()) {
            let waits = map < job.spec.n_maps && job.tasks[0].winner(map).is_none();
            ensure!(waits, "job {id}: map {map} has output, and an earlier one may come back");
        }
        Ok(())
    }

    fn check_tasks(&self, job: &Job, kind: TaskKind) -> Result<(), String> {
        let tasks = &job.tasks[kind];
        let what = format!("job {} {kind}s", job.id.0);
        let mut counts = [0u32; 4];
        let (mut attempts, mut progress) = (0, 0);
        let made = tasks.tasks.len() as u32;
        ensure!(made == 0 || made == tasks.n, "{what}: a table of {made} for {} tasks", tasks.n);
        for index in 0..tasks.n {
            let task = tasks.task(index);
            counts[task.state as usize] += 1;
            let pending = tasks.pending.contains(index);
            ensure!(
                pending == (task.state == TaskState::Pending),
                "{what}: task {index} is {:?}, bit {pending}",
                task.state
            );
            let chain = self.attempts_of(TaskId { job: job.id, kind, index }).count();
            ensure!(
                chain == usize::from(task.n_running),
                "{what}: task {index} counts {} attempts of {chain}",
                task.n_running
            );
            ensure!(
                (chain > 0) == (task.state == TaskState::Running),
                "{what}: task {index} is {:?} with {chain} attempts",
                task.state
            );
            attempts += chain as u32;
            progress += self.best_progress(TaskId { job: job.id, kind, index });
        }
        let recorded = [tasks.pending.count(), tasks.n_running, tasks.n_succeeded, tasks.n_failed];
        ensure!(recorded == counts, "{what}: counts are {recorded:?}, should be {counts:?}");
        ensure!(tasks.n_attempts == attempts, "{what}: {} attempts, counted {attempts}", tasks.n_attempts);
        ensure!(
            tasks.running_progress == progress,
            "{what}: progress sum {}, counted {progress}",
            tasks.running_progress
        );
        for &(failures, index) in tasks.failed_first.get().into_iter().flatten() {
            ensure!(tasks.pending.contains(index), "{what}: task {index} is to be offered first but not pending");
            ensure!(tasks.failures(index) == failures.0, "{what}: task {index} is queued with other failures");
        }
        Ok(())
    }

    fn check_worker(&self, worker: &Worker) -> Result<(), String> {
        let name = &worker.name;
        let mut occupied = [0u16; 2];
        for (position, &slot) in worker.attempts.iter().enumerate() {
            let attempt = self.attempts.at(slot);
            ensure!(attempt.worker == worker.id, "worker {name} lists an attempt of another worker");
            ensure!(attempt.position as usize == position, "worker {name}: an attempt does not know its position");
            ensure!(!attempt.state.is_final(), "worker {name} runs an attempt that is over");
            let chained = self.find(attempt.id) == Some(slot);
            ensure!(chained != attempt.detached, "worker {name}: attempt {:?} is lost to its task", attempt.id);
            ensure!(!attempt.detached || attempt.next == NONE, "worker {name}: a detached attempt has a chain");
            ensure!(!attempt.detached || attempt.kill.is_some(), "worker {name}: a detached attempt is not stopped");
            occupied[attempt.id.kind] += attempt.slots;
        }
        ensure!(occupied == worker.occupied, "worker {name}: {:?} occupied, counted {occupied:?}", worker.occupied);
        let fits = occupied.iter().zip(&worker.slots).all(|(occupied, slots)| occupied <= slots);
        ensure!(fits, "worker {name} runs more than its slots");
        let ascending = worker.attributes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        ensure!(ascending, "worker {name}: its attributes are not ascending by name");
        ensure!(worker.attributes.len() <= MAX_ATTRIBUTES, "worker {name} has too many attributes");
        let lost = worker.state == super::WorkerState::Lost;
        ensure!(!lost || worker.attempts.is_empty(), "lost worker {name} still runs attempts");
        ensure!(!lost || worker.parked.is_none(), "lost worker {name} is parked");
        ensure!(!worker.black_hole || worker.blacklisted, "worker {name} is a black hole and not blacklisted");
        ensure!(
            worker.parked.is_none() || !worker.news,
            "worker {name} is parked although there are directives for it"
        );
        Ok(())
    }

    fn check_totals(&self) -> Result<(), String> {
        let mut totals = Totals::default();
        let mut listed = BTreeMap::new();
        for worker in &self.workers {
            totals.count(worker, true);
            for &slot in &worker.attempts {
                ensure!(listed.insert(slot, worker.id).is_none(), "attempt slot {slot} is listed twice");
                totals.running[self.attempts.at(slot).id.kind] += 1;
            }
        }
        for job in self.jobs() {
            for kind in 0..2 {
                totals.offerable_jobs[kind] += u32::from(job.offerable[kind]);
            }
        }
        for (&worker, short) in &self.failing {
            ensure!(
                self.worker(worker).is_some(),
                "{} short failures of worker {}, which is not there",
                short.len(),
                worker.0
            );
            let worker = &self.workers[worker.0 as usize];
            let (name, lost) = (&worker.name, worker.state == super::WorkerState::Lost);
            ensure!((1..=MOST_KEPT).contains(&short.len()), "worker {name} keeps {} short failures", short.len());
            ensure!(!(lost || worker.blacklisted), "worker {name} gets no tasks and keeps short failures");
            let over = short.iter().find(|failure| !failure.done && self.job(failure.task.job).is_none());
            ensure!(over.is_none(), "worker {name} waits for {over:?} of a job that is over");
        }
        ensure!(totals == self.totals, "totals are {:?}, should be {totals:?}", self.totals);
        let n = self.attempts.len();
        ensure!(n == listed.len(), "{n} attempts in the arena, workers list {}", listed.len());
        Ok(())
    }
}
