//! Running attempts as plain data, and the arena made of it.
//!
//! Slots are kept as they are, so that policies meet attempts in the same order; chains and what workers hold follow from the
//! attempts. **Invariant: whatever the data says, an arena that is made of it has each attempt on its worker's list, and on
//! its task's unless it is detached.**

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, Attempts};
use super::{ClusterState, EndCause, TaskState, WorkerState};
use crate::job::{AttemptId, AttemptState, JobId, Locality, PerKind, Phase, Progress, TaskKind, WorkerId};
use crate::time::Time;

/// Nobody ever launched so many.
const MOST: u64 = u64::MAX / 2;

/// All that run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedAttempts {
    /// Attempts that were ever launched.
    launched: u64,
    /// Free slots; the last one is taken next.
    free: Vec<u32>,
    /// Ascending by slot.
    running: Vec<SavedAttempt>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedAttempt {
    slot: u32,
    launch: u64,
    job: JobId,
    kind: TaskKind,
    index: u32,
    number: u16,
    worker: WorkerId,
    position: u32,
    started: Time,
    locality: Locality,
    state: AttemptState,
    phase: Phase,
    phases_from: [Time; 2],
    progress: Progress,
    speculative: bool,
    kill: Option<EndCause>,
    kill_sent: bool,
    kill_fails: bool,
    commit: bool,
    detached: bool,
    slots: u16,
    seen: u32,
}

impl SavedAttempts {
    /// Speculative ones that their tasks still wait for.
    pub(crate) fn running_copies(&self) -> u32 {
        self.running.iter().filter(|attempt| attempt.speculative && !attempt.detached).count() as u32
    }

    pub(crate) fn of(attempts: &Attempts) -> SavedAttempts {
        let (launched, free) = attempts.past();
        let running = attempts.iter().map(|(reference, attempt)| {
            let Attempt { worker, started, locality, state, phase, phases_from, progress, speculative, .. } = *attempt;
            let Attempt { kill, kill_sent, kill_fails, commit, detached, slots, position, seen, .. } = *attempt;
            let AttemptId { job, kind, index, number } = attempt.id;
            SavedAttempt {
                slot: reference.slot,
                launch: reference.launch,
                job,
                kind,
                index,
                number,
                worker,
                position,
                started,
                locality,
                state,
                phase,
                phases_from,
                progress,
                speculative,
                kill,
                kill_sent,
                kill_fails,
                commit,
                detached,
                slots,
                seen,
            }
        });
        SavedAttempts { launched, free: free.to_vec(), running: running.collect() }
    }
}

impl SavedAttempt {
    fn restored(&self) -> Attempt {
        let id = AttemptId { job: self.job, kind: self.kind, index: self.index, number: self.number };
        let mut attempt = Attempt::new(id, self.worker, self.started, self.locality, self.state);
        (attempt.phase, attempt.phases_from, attempt.progress) = (self.phase, self.phases_from, self.progress);
        (attempt.kill, attempt.kill_sent, attempt.kill_fails) = (self.kill, self.kill_sent, self.kill_fails);
        (attempt.speculative, attempt.commit, attempt.detached) = (self.speculative, self.commit, self.detached);
        (attempt.slots, attempt.position, attempt.seen) = (self.slots, self.position, self.seen);
        attempt
    }

    fn can_be(&self, now: Time) -> bool {
        let past = self.started <= now && self.phases_from.iter().all(|&from| from <= now);
        past && !self.state.is_final() && self.slots > 0 && (!self.detached || self.kill.is_some())
    }
}

impl ClusterState {
    /// Puts attempts on workers and tasks that have none, each running task's among them.
    ///
    /// # Errors
    /// Says what cannot be.
    pub(crate) fn restore_attempts(&mut self, saved: SavedAttempts) -> Result<(), String> {
        let SavedAttempts { launched, free, running } = saved;
        let mut ids = BTreeSet::new();
        let mut occupied: Vec<PerKind<u32>> = vec![[0; 2]; self.workers.len()];
        for attempt in &running {
            let AttemptId { job, kind, index, number } = attempt.restored().id;
            let wrong = |what: &str| Err(format!("attempt {number} of {kind} {index} of job {}: {what}", job.0));
            if !attempt.can_be(self.now) || attempt.launch >= launched || launched > MOST {
                return wrong("it cannot be");
            }
            let Some(worker) = self.workers.get(attempt.worker.0 as usize) else {
                return wrong("it runs on a worker that there is not");
            };
            let held = &mut occupied[attempt.worker.0 as usize][kind];
            *held += u32::from(attempt.slots);
            if worker.state == WorkerState::Lost || *held > u32::from(worker.slots[kind]) {
                return wrong("its worker has no slot for it");
            }
            if !ids.insert((attempt.worker, attempt.detached, job, kind, index, number)) {
                return wrong("it runs twice");
            }
            if attempt.detached {
                continue;
            }
            let task = self.job(job).and_then(|job| job.tasks[kind].tasks.get(index as usize));
            if task.is_none_or(|task| task.state != TaskState::Running || number >= task.next_number) {
                return wrong("its task does not run");
            }
        }
        let slots = running.iter().map(|attempt| (attempt.slot, attempt.launch, attempt.restored())).collect();
        self.attempts = Attempts::restored(launched, free, slots)?;
        // A chain has the youngest first.
        let mut by_launch: Vec<&SavedAttempt> = running.iter().filter(|attempt| !attempt.detached).collect();
        by_launch.sort_by_key(|attempt| attempt.launch);
        for SavedAttempt { slot, job, kind, index, .. } in by_launch {
            let tasks = &mut self.jobs.get_mut(*job).expect("found above").tasks[*kind];
            let head = tasks.tasks[*index as usize].head;
            if tasks.tasks[*index as usize].n_running == u8::MAX {
                return Err(format!("{kind} {index} of job {} has too many attempts", job.0));
            }
            tasks.attempt_starts(*index, *slot);
            self.attempts.at_mut(*slot).next = head;
        }
        let mut by_position: Vec<&SavedAttempt> = running.iter().collect();
        by_position.sort_by_key(|attempt| (attempt.worker, attempt.position));
        for attempt in by_position {
            let worker = &mut self.workers[attempt.worker.0 as usize];
            worker.attempts.push(attempt.slot);
            worker.occupied[attempt.kind] += attempt.slots;
            self.totals.running[attempt.kind] += 1;
        }
        self.add_up_progress();
        Ok(())
    }

    /// Sums up the progress of each job's running tasks.
    fn add_up_progress(&mut self) {
        let mut sums: Vec<(JobId, TaskKind, u64)> = Vec::new();
        for (reference, attempt) in self.attempts.iter() {
            // Each task once: with the head of its chain.
            let task = attempt.id.task();
            if !attempt.detached && self.chain(task) == reference.slot {
                sums.push((task.job, task.kind, self.best_progress(task)));
            }
        }
        for (job, kind, best) in sums {
            if let Some(job) = self.jobs.get_mut(job) {
                job.tasks[kind].running_progress += best;
            }
        }
    }
}

impl Attempts {
    /// With these in their slots.
    fn restored(launched: u64, free: Vec<u32>, running: Vec<(u32, u64, Attempt)>) -> Result<Attempts, String> {
        let n = free.len() + running.len();
        let mut places: Vec<Option<(u64, Attempt)>> = vec![None; n];
        let mut taken = vec![false; n];
        let slots = free.iter().copied().chain(running.iter().map(|(slot, ..)| *slot));
        for slot in slots {
            match taken.get_mut(slot as usize) {
                Some(taken) if !*taken => *taken = true,
                _ => return Err(format!("attempts have no slot {slot}, or have it twice, of {n}")),
            }
        }
        for (slot, launch, attempt) in running {
            places[slot as usize] = Some((launch, attempt));
        }
        let launches: BTreeSet<u64> = places.iter().flatten().map(|(launch, _)| *launch).collect();
        if launches.len() + free.len() != n {
            return Err("two attempts have one launch".to_owned());
        }
        Ok(Attempts::of_slots(launched, free, places))
    }
}
