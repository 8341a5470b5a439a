//! The tasks of one kind of one job, as compact arrays.
//!
//! ```text
//!  Pending ──► Running ──► Succeeded        Succeeded ──► Pending  (a map's output was lost)
//!     ▲           │  │
//!     └───────────┘  └───► Failed           (out of attempts)
//! ```
//!
//! **Invariants: a task is `Pending` exactly if its bit is set, and `Running` exactly if its chain of attempts
//! is not empty; `failed_first` is a subset of the pending tasks; all counts equal a recount; the table is there if any
//! task ever started.**

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::attempt::NONE;
use super::bits::BitSet;
use super::rare::Rare;
use crate::job::{Progress, WorkerId};

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TaskState {
    /// Waits for a slot.
    Pending,
    /// At least one attempt runs.
    Running,
    /// One attempt succeeded and its output is there.
    Succeeded,
    /// Out of attempts.
    Failed,
}

/// One task: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// First running attempt's slot.
    pub(crate) head: u32,
    /// Where the winner ran; only while `Succeeded`.
    pub(crate) winner_worker: u32,
    pub(crate) winner_number: u16,
    pub(crate) next_number: u16,
    pub(crate) failures: u16,
    pub(crate) state: TaskState,
    pub(crate) n_running: u8,
}

const _: () = assert!(std::mem::size_of::<Task>() <= 16, "tasks are counted in tens of millions");

/// A task that nobody has touched.
const FRESH: Task = Task {
    head: NONE,
    winner_worker: NONE,
    winner_number: 0,
    next_number: 0,
    failures: 0,
    state: TaskState::Pending,
    n_running: 0,
};

/// All tasks of one kind of one job.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// One for each, made when the first of them starts: thousands of jobs that wait need none, and a table that was
    /// made long before it is used has left the processor's cache.
    pub(crate) tasks: Vec<Task>,
    /// Number of tasks.
    pub(crate) n: u32,
    pub(crate) pending: BitSet,
    /// Pending tasks that ran before: most failures first, then by index.
    pub(crate) failed_first: Rare<BTreeSet<(Reverse<u16>, u32)>>,
    pub(crate) n_running: u32,
    pub(crate) n_attempts: u32,
    pub(crate) n_succeeded: u32,
    pub(crate) n_failed: u32,
    pub(crate) attempts_failed: u32,
    pub(crate) attempts_killed: u32,
    /// Sum of the best progress of every running task, in ten-thousandths.
    pub(crate) running_progress: u64,
}

impl Tasks {
    pub(crate) fn new(n: u32) -> Tasks {
        Tasks {
            tasks: Vec::new(),
            n,
            pending: BitSet::full(n),
            failed_first: Rare::default(),
            n_running: 0,
            n_attempts: 0,
            n_succeeded: 0,
            n_failed: 0,
            attempts_failed: 0,
            attempts_killed: 0,
            running_progress: 0,
        }
    }

    /// Number of tasks.
    pub fn len(&self) -> u32 {
        self.n
    }

    /// Whether the job has none of this kind.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The tasks that wait for a slot.
    pub fn pending(&self) -> &BitSet {
        &self.pending
    }

    /// Pending tasks that ran before, most failures first, then by index. They are offered before all others.
    pub fn failed_first(&self) -> impl Iterator<Item = u32> + '_ {
        self.failed_first.get().into_iter().flatten().map(|&(_, index)| index)
    }

    /// Tasks with at least one running attempt.
    pub fn n_running(&self) -> u32 {
        self.n_running
    }

    /// Running attempts; more than running tasks where some are speculative.
    pub fn n_attempts(&self) -> u32 {
        self.n_attempts
    }

    /// Tasks that succeeded.
    pub fn n_succeeded(&self) -> u32 {
        self.n_succeeded
    }

    /// Tasks out of attempts.
    pub fn n_failed(&self) -> u32 {
        self.n_failed
    }

    /// Tasks that are over: that succeeded or are out of attempts.
    pub fn n_done(&self) -> u32 {
        self.n_succeeded + self.n_failed
    }

    /// Tasks that are not.
    pub fn n_left(&self) -> u32 {
        self.len() - self.n_done()
    }

    /// Attempts that failed so far.
    pub fn attempts_failed(&self) -> u32 {
        self.attempts_failed
    }

    /// Attempts that were killed or lost so far.
    pub fn attempts_killed(&self) -> u32 {
        self.attempts_killed
    }

    /// Whether every task has succeeded or is out of attempts.
    pub fn all_done(&self) -> bool {
        self.n_left() == 0
    }

    /// Mean progress over all tasks, unstarted 0 and finished 1; 1 without tasks.
    pub fn progress(&self) -> Progress {
        if self.is_empty() {
            return Progress::DONE;
        }
        let done = u64::from(Progress::DONE.parts());
        let sum = u64::from(self.n_done()) * done + self.running_progress;
        Progress::from_parts((sum / u64::from(self.len())).min(done) as u16)
    }

    /// The state of one task; `None` beyond the job's number of tasks.
    pub fn state(&self, index: u32) -> Option<TaskState> {
        (index < self.n).then(|| self.task(index).state)
    }

    /// Failed attempts of one task; 0 beyond the job's number of tasks.
    pub fn failures(&self, index: u32) -> u16 {
        self.tasks.get(index as usize).map_or(0, |t| t.failures)
    }

    /// Where the successful attempt ran, and its number, while the task counts as succeeded.
    pub fn winner(&self, index: u32) -> Option<(WorkerId, u16)> {
        let task = self.tasks.get(index as usize)?;
        (task.state == TaskState::Succeeded).then_some((WorkerId(task.winner_worker), task.winner_number))
    }

    /// A task below their number.
    pub(crate) fn task(&self, index: u32) -> Task {
        self.tasks.get(index as usize).copied().unwrap_or(FRESH)
    }

    /// A task that is to start, if there is such a one.
    #[inline(always)]
    pub(crate) fn starting(&mut self, index: u32) -> Option<&mut Task> {
        if self.tasks.is_empty() {
            self.make_table();
        }
        self.tasks.get_mut(index as usize)
    }

    #[inline(never)]
    fn make_table(&mut self) {
        self.tasks = vec![FRESH; self.n as usize];
    }

    /// The number of a pending task's next attempt, which is at least `first`; `None` if the task is not pending.
    #[inline(always)]
    pub(crate) fn next_number(&mut self, index: u32, first: u16) -> Option<u16> {
        let task = self.starting(index)?;
        let may_start = task.state == TaskState::Pending && task.next_number < u16::MAX;
        may_start.then(|| task.next_number.max(first))
    }

    /// The attempt with the next number of a pending task, in this slot: what `take_pending` and `attempt_starts` do where
    /// no task ever failed.
    #[inline(always)]
    pub(crate) fn start_alone(&mut self, index: u32, number: u16, slot: u32) {
        debug_assert!(self.failed_first().next().is_none(), "for jobs without failures");
        let task = &mut self.tasks[index as usize];
        *task = Task { head: slot, next_number: number + 1, state: TaskState::Running, n_running: 1, ..*task };
        self.n_running += 1;
        self.n_attempts += 1;
        self.pending.remove(index);
    }

    /// One attempt of a task more, in this slot: the new head of its chain.
    #[inline]
    pub(crate) fn attempt_starts(&mut self, index: u32, slot: u32) {
        let task = &mut self.tasks[index as usize];
        task.head = slot;
        if task.n_running == 0 {
            task.state = TaskState::Running;
            self.n_running += 1;
        }
        task.n_running += 1;
        self.n_attempts += 1;
    }

    /// One attempt of a task less; its chain and, after the last one, its state are the caller's business.
    #[inline]
    pub(crate) fn attempt_stops(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        task.n_running -= 1;
        if task.n_running == 0 {
            self.n_running -= 1;
        }
        self.n_attempts -= 1;
    }

    /// The first success of a task; true if it was the last one that the job waited for.
    #[inline]
    pub(crate) fn succeed(&mut self, index: u32, worker: WorkerId, number: u16) -> bool {
        let task = &mut self.tasks[index as usize];
        task.state = TaskState::Succeeded;
        task.winner_worker = worker.0;
        task.winner_number = number;
        self.n_succeeded += 1;
        self.all_done()
    }

    /// The first success of a task whose only attempt it was, so far by its last report; true if it was the last one that
    /// the job waited for. What `attempt_stops` and `succeed` do. `None`, and nothing done, if it was not the only one.
    #[inline(always)]
    pub(crate) fn succeed_alone(
        &mut self,
        index: u32,
        worker: WorkerId,
        number: u16,
        so_far: Progress,
    ) -> Option<bool> {
        let task = self.tasks.get_mut(index as usize).filter(|task| task.n_running == 1)?;
        *task = Task {
            head: NONE,
            winner_worker: worker.0,
            winner_number: number,
            state: TaskState::Succeeded,
            n_running: 0,
            ..*task
        };
        self.n_running -= 1;
        self.n_attempts -= 1;
        // It was its task's best, as the only one.
        self.running_progress -= u64::from(so_far.parts());
        self.n_succeeded += 1;
        Some(self.all_done())
    }

    /// Makes a task wait again after an attempt ended, ahead of those that never ran.
    pub(crate) fn return_to_pending(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        task.state = TaskState::Pending;
        self.failed_first.make().insert((Reverse(task.failures), index));
        self.pending.insert(index);
    }

    /// Takes a task out of the pending ones.
    #[inline(always)]
    pub(crate) fn take_pending(&mut self, index: u32) {
        self.pending.remove(index);
        if let Some(failed_first) = self.failed_first.get_mut() {
            let failures = self.tasks[index as usize].failures;
            failed_first.remove(&(Reverse(failures), index));
        }
    }
}
