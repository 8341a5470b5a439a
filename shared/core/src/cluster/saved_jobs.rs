//! Live jobs as plain data, and jobs made of it.
//!
//! Only what nothing else tells is kept: which tasks are pending, what may be offered, where splits lie and all counts follow
//! from it. Chains of attempts are the business of `saved_attempts.rs`. **Invariant: whatever the data says, a job that is
//! made of it has tables of its specification's size and names known workers only.**

use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::job::{Job, JobFailures};
use super::locality::LocalityIndex;
use super::tasks::{Task, TaskState, Tasks};
use super::{SpeculationCosts, Topology};
use crate::job::{JobId, JobSpec, JobState, PerKind, Priority, TaskKind, WorkerId};
use crate::time::Time;

/// Nothing was ever counted so often.
const MOST: u32 = u32::MAX / 2;
/// Nor did a worker ever fail so often for one job.
const MOST_FAILURES: u16 = u16::MAX / 2;

/// A job that is not over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedJob {
    pub(crate) id: JobId,
    #[serde(serialize_with = "write_spec", deserialize_with = "read_spec")]
    spec: Arc<JobSpec>,
    state: JobState,
    ending: Option<JobState>,
    priority: Priority,
    submitted: Time,
    launched: Option<Time>,
    maps_done: Option<Time>,
    tasks: PerKind<SavedTasks>,
    costs: SpeculationCosts,
    launched_at: [u32; 4],
    failures: SavedFailures,
    /// Ascending.
    touched: Vec<u32>,
}

/// Tasks of one kind that ever started, by state and ascending by index: each its index, the number of its next attempt and
/// its failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SavedTasks {
    attempts_failed: u32,
    attempts_killed: u32,
    pending: Vec<(u32, u16, u16)>,
    running: Vec<(u32, u16, u16)>,
    failed: Vec<(u32, u16, u16)>,
    /// With the winner's worker and number.
    succeeded: Vec<(u32, u16, u16, u32, u16)>,
}

/// What went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SavedFailures {
    by_worker: Vec<(WorkerId, u16)>,
    of_task: Vec<(TaskKind, u32, Vec<WorkerId>)>,
    blind: Vec<WorkerId>,
    of_fetches: Vec<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<(u32, WorkerId, u16)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    of_losses: Vec<(TaskKind, u32, u16)>,
}

fn write_spec<S: Serializer>(spec: &Arc<JobSpec>, to: S) -> Result<S::Ok, S::Error> {
    spec.serialize(to)
}

fn read_spec<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<JobSpec>, D::Error> {
    JobSpec::deserialize(from).map(Arc::new)
}

impl SavedJob {
    pub(crate) fn of(job: &Job) -> SavedJob {
        let failures = job.failures.get().map_or_else(SavedFailures::default, |failures| SavedFailures {
            by_worker: failures.by_worker.iter().map(|(&worker, &n)| (worker, n)).collect(),
            of_task: failures.of_task.iter().map(|(&(kind, index), on)| (kind, index, on.to_vec())).collect(),
            blind: failures.blind.iter().copied().collect(),
            of_fetches: failures.of_fetches.iter().map(|(&map, &n)| (map, n)).collect(),
            left: failures.left.iter().map(|(&map, &(worker, number))| (map, worker, number)).collect(),
            of_losses: failures.of_losses.iter().map(|(&(kind, index), &n)| (kind, index, n)).collect(),
        });
        SavedJob {
            id: job.id,
            spec: Arc::clone(&job.spec),
            state: job.state,
            ending: job.ending,
            priority: job.priority,
            submitted: job.submitted,
            launched: job.launched,
            maps_done: job.maps_done,
            tasks: [SavedTasks::of(&job.tasks[0]), SavedTasks::of(&job.tasks[1])],
            costs: job.costs,
            launched_at: job.launched_at,
            failures,
            touched: job.touched.iter().collect(),
        }
    }

    /// Whether it says what only the third form of snapshots has.
    pub(crate) fn counts_losses(&self) -> bool {
        !self.failures.of_losses.is_empty()
    }

    /// The job, without its running attempts; hosts that its splits name are known to `topology` afterwards.
    ///
    /// # Errors
    /// Says what cannot be.
    pub(crate) fn restored(
        self,
        now: Time,
        n_workers: usize,
        most_tasks: u32,
        topology: &mut Topology,
    ) -> Result<Job, String> {
        let id = self.id.0;
        let wrong = |what: &str| format!("job {id}: {what}");
        self.spec.check().map_err(|error| wrong(&error.to_string()))?;
        if self.spec.n_maps > most_tasks || self.spec.n_reduces > most_tasks {
            return Err(wrong("it has too many tasks"));
        }
        let ends = |state: &JobState| matches!(state, JobState::Failed | JobState::Killed);
        if self.state.is_final() || !self.ending.iter().all(ends) {
            return Err(wrong("its state is none of a job that is not over"));
        }
        let times = [Some(self.submitted), self.launched, self.maps_done];
        if times.into_iter().flatten().any(|time| time > now) {
            return Err(wrong("it knows times that have not come"));
        }
        let known = |worker: &WorkerId| (worker.0 as usize) < n_workers;
        let any_failures = self.failures != SavedFailures::default();
        let SavedFailures { by_worker, of_task, blind, of_fetches, left, of_losses } = self.failures;
        let workers = by_worker.iter().map(|(worker, _)| worker).chain(&blind);
        let workers = workers.chain(left.iter().map(|(_, worker, _)| worker));
        let all_known = workers.chain(of_task.iter().flat_map(|(_, _, on)| on)).all(known)
            && self.touched.iter().all(|&worker| known(&WorkerId(worker)));
        if !all_known {
            return Err(wrong("it names a worker that there is not"));
        }
        let counts = self.launched_at.iter().chain(of_fetches.iter().map(|(_, n)| n));
        let tasks = of_task.iter().map(|&(kind, index, _)| (kind, index));
        let mut tasks = tasks.chain(of_losses.iter().map(|&(kind, index, _)| (kind, index)));
        let costs = &self.costs;
        let in_bounds = counts.copied().all(|n| n <= MOST)
            && by_worker.iter().all(|&(_, n)| n <= MOST_FAILURES)
            && tasks.all(|(kind, index)| index < [self.spec.n_maps, self.spec.n_reduces][kind])
            && costs.launched <= MOST
            && costs.won.checked_add(costs.lost).is_some_and(|over| over <= costs.launched);
        if !in_bounds {
            return Err(wrong("its counts contradict each other"));
        }
        let mut job = Job::new(self.id, self.spec, self.submitted);
        (job.state, job.ending, job.priority) = (self.state, self.ending, self.priority);
        (job.launched, job.maps_done) = (self.launched, self.maps_done);
        (job.costs, job.launched_at) = (self.costs, self.launched_at);
        for (tasks, saved) in job.tasks.iter_mut().zip(self.tasks) {
            saved.restore(tasks, n_workers).map_err(|what| wrong(&what))?;
        }
        for worker in self.touched {
            job.touched.grow(worker + 1);
            job.touched.insert(worker);
        }
        if any_failures {
            let max = job.spec.conf.max_tracker_failures;
            *job.failures.make() = JobFailures {
                flaky: by_worker.iter().filter(|&&(_, n)| n >= max).count() as u32,
                by_worker: by_worker.into_iter().collect(),
                of_task: of_task.into_iter().map(|(kind, index, on)| ((kind, index), on.into())).collect(),
                blind: blind.into_iter().collect(),
                of_fetches: of_fetches.into_iter().collect(),
                left: left.into_iter().map(|(map, worker, number)| (map, (worker, number))).collect(),
                of_losses: of_losses.into_iter().map(|(kind, index, n)| ((kind, index), n)).collect(),
            };
            // Of a list with a worker twice one is left.
            let flaky = job.worker_failures().filter(|&(_, n)| n >= max).count() as u32;
            job.failures.make().flaky = flaky;
        }
        job.locality = LocalityIndex::new(&job.spec, &job.tasks[0].pending, topology).map(Box::new);
        job.note_plain();
        Ok(job)
    }
}

impl SavedTasks {
    fn of(tasks: &Tasks) -> SavedTasks {
        let mut saved = SavedTasks {
            attempts_failed: tasks.attempts_failed,
            attempts_killed: tasks.attempts_killed,
            ..SavedTasks::default()
        };
        for (index, task) in (0..).zip(&tasks.tasks) {
            let Task { next_number, failures, winner_worker, winner_number, .. } = *task;
            let plain = (index, next_number, failures);
            match task.state {
                TaskState::Pending if next_number == 0 && failures == 0 => {}
                TaskState::Pending => saved.pending.push(plain),
                TaskState::Running => saved.running.push(plain),
                TaskState::Failed => saved.failed.push(plain),
                TaskState::Succeeded => {
                    saved.succeeded.push((index, next_number, failures, winner_worker, winner_number));
                }
            }
        }
        saved
    }

    /// Into tasks of which none has started. Those that run have no attempts yet.
    fn restore(self, tasks: &mut Tasks, n_workers: usize) -> Result<(), String> {
        let in_bounds = self.attempts_failed <= MOST && self.attempts_killed <= MOST;
        let known = self.succeeded.iter().all(|&(_, _, _, worker, _)| (worker as usize) < n_workers);
        if !in_bounds || !known {
            return Err("its attempts cannot be".to_owned());
        }
        (tasks.attempts_failed, tasks.attempts_killed) = (self.attempts_failed, self.attempts_killed);
        let mut seen = super::BitSet::empty(tasks.n);
        let mut put = |tasks: &mut Tasks, (index, next_number, failures): (u32, u16, u16), state| {
            if index >= tasks.n || !seen.insert(index) {
                return Err(format!("its task {index} of {} cannot be", tasks.n));
            }
            let task = tasks.starting(index).expect("it is below their number");
            (task.next_number, task.failures, task.state) = (next_number, failures, state);
            if state == TaskState::Pending {
                // It ran before, so it is offered before those that never did.
                tasks.failed_first.make().insert((Reverse(failures), index));
            } else {
                tasks.pending.remove(index);
            }
            Ok(())
        };
        for task in self.pending {
            put(tasks, task, TaskState::Pending)?;
        }
        for task in self.running {
            put(tasks, task, TaskState::Running)?;
        }
        for task in self.failed {
            put(tasks, task, TaskState::Failed)?;
            tasks.n_failed += 1;
        }
        for (index, next_number, failures, worker, number) in self.succeeded {
            put(tasks, (index, next_number, failures), TaskState::Succeeded)?;
            let task = &mut tasks.tasks[index as usize];
            (task.winner_worker, task.winner_number) = (worker, number);
            tasks.n_succeeded += 1;
        }
        Ok(())
    }
}
