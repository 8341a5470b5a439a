//! One job as people see it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use howdah_core::cluster::SpeculationCosts;
use howdah_core::job::{
    AttemptId, AttemptState, ClusterId, JobFile, JobId, JobState, Locality, OutputFormat, Priority, TaskId, TaskKind,
    WorkerId,
};
use howdah_core::time::Time;
use howdah_core::tracker::{AttemptReport, EndCause};
use howdah_proto::v1;
use tokio::sync::watch;

use super::attempt::{AttemptRecord, Extra, LiveAttempt};
use super::ended::{Attempts, Ended, key};
use super::events::EventLog;
use super::index::Key;
use super::inputs::Inputs;
use super::why::why;
use super::winners::Winners;

/// What does not change after submission.
#[derive(Clone, Debug)]
pub(crate) struct JobMeta {
    pub(crate) id: JobId,
    /// Without its splits, which only attempts need: they have them from the file on disk.
    pub(crate) file: JobFile,
    /// What is kept of the splits.
    pub(crate) inputs: Inputs,
    /// The output directory was made for this job, so an abort may remove it.
    pub(crate) created_output: bool,
}

impl JobMeta {
    pub(crate) fn new(id: JobId, mut file: JobFile, created_output: bool) -> JobMeta {
        let inputs = Inputs::new(&std::mem::take(&mut file.splits));
        JobMeta { id, file, inputs, created_output }
    }
}

/// Wakes watchers of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pulse {
    pub(crate) version: u64,
    pub(crate) is_final: bool,
}

/// Sums over a job's attempts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// By kind.
    pub(crate) launched: [u32; 2],
    pub(crate) failed: [u32; 2],
    pub(crate) killed: [u32; 2],
    pub(crate) slot_us: [u64; 2],
    /// Launched maps by locality: node, rack, off-rack, unknown.
    pub(crate) maps_by_locality: [u32; 4],
}

#[derive(Debug)]
pub(crate) struct JobRow {
    pub(crate) meta: Arc<JobMeta>,
    pub(crate) priority: Priority,
    pub(crate) state: JobState,
    pub(super) submitted: Time,
    pub(super) launched: Time,
    pub(super) maps_done: Time,
    /// Since when its output is put in its place.
    pub(crate) committing: Time,
    pub(super) finished: Time,
    pub(super) tally: Tally,
    /// As the core counts them.
    pub(crate) costs: SpeculationCosts,
    pub(super) live: BTreeMap<Key, LiveAttempt>,
    pub(super) ended: Ended,
    /// Shared with answers and histories that are being made.
    pub(super) winners: Arc<Winners>,
    pub(super) done: [u32; 2],
    pub(crate) events: Arc<EventLog>,
    pulse: watch::Sender<Pulse>,
    pub(super) why: String,
    /// Masters that took the job over from the one before.
    pub(super) restarts: u32,
    /// The first task that ran out of attempts.
    pub(super) failed_task: Option<TaskId>,
    /// Why promoting its output failed.
    pub(crate) commit_problem: Option<String>,
    /// All that is known of it is on disk.
    pub(super) is_written: bool,
    /// Of an attempt of it that was stopped for another one's success, its worker said how it ended when the job was over.
    pub(super) was_told_late: bool,
    /// Its end as the last round of forecasts predicted it.
    pub(crate) predicted: Option<v1::PredictedEnd>,
}

/// What a page, an answer or the history needs of a job, taken in one go.
#[derive(Debug)]
pub(crate) struct JobSnapshot {
    pub(crate) meta: Arc<JobMeta>,
    pub(crate) status: v1::JobStatus,
    pub(crate) state: JobState,
    pub(crate) priority: Priority,
    pub(crate) tally: Tally,
    pub(crate) costs: SpeculationCosts,
    /// By kind and index.
    pub(crate) winners: Arc<Winners>,
    pub(crate) attempts: Attempts,
}

impl JobRow {
    pub(crate) fn new(meta: JobMeta, now: Time) -> JobRow {
        JobRow {
            priority: meta.file.spec.priority,
            meta: Arc::new(meta),
            state: JobState::Prep,
            submitted: now,
            launched: Time::ZERO,
            maps_done: Time::ZERO,
            committing: Time::ZERO,
            finished: Time::ZERO,
            tally: Tally::default(),
            costs: SpeculationCosts::default(),
            live: BTreeMap::new(),
            ended: Ended::default(),
            winners: Arc::default(),
            done: [0; 2],
            events: Arc::new(EventLog::new()),
            pulse: watch::Sender::new(Pulse::default()),
            why: String::new(),
            restarts: 0,
            failed_task: None,
            commit_problem: None,
            is_written: false,
            was_told_late: false,
            predicted: None,
        }
    }

    /// Follows the job's changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Pulse> {
        self.pulse.subscribe()
    }

    pub(crate) fn announce(&mut self) {
        let is_final = self.state.is_final();
        self.pulse.send_modify(|pulse| {
            pulse.version += 1;
            pulse.is_final = is_final;
        });
    }

    /// A launch; false when it is a directive repeated.
    pub(crate) fn launched(&mut self, attempt: AttemptId, live: LiveAttempt) -> bool {
        let key = key(attempt);
        if self.live.contains_key(&key) || self.ended.contains(&key) {
            return false;
        }
        self.tally.launched[attempt.kind] += 1;
        if attempt.kind == TaskKind::Map {
            self.tally.maps_by_locality[live.record.locality as usize] += 1;
        }
        if self.launched == Time::ZERO {
            self.launched = live.record.assigned;
        }
        self.live.insert(key, live);
        true
    }

    /// Progress in a report; false when nothing changed.
    pub(crate) fn progress(&mut self, status: &AttemptReport, worker: WorkerId) -> bool {
        let Some(live) = self.live.get_mut(&key(status.attempt)).filter(|live| live.worker_id == worker) else {
            return false;
        };
        let record = &mut live.record;
        let same = record.progress == status.progress && record.phase == status.phase && record.state == status.state;
        record.progress = status.progress;
        record.phase = status.phase;
        if !status.state.is_final() {
            record.state = status.state;
        }
        !same
    }

    /// What only people read of a report, also when it comes after the end; true when it says how an attempt ended whose job was
    /// over by then.
    pub(crate) fn extra(&mut self, extra: Extra, worker: WorkerId) -> bool {
        let key = key(extra.attempt);
        if let Some(live) = self.live.get_mut(&key) {
            if live.worker_id == worker {
                live.record.take(extra);
            }
        } else if let Some(mut record) = self.ended.get(extra.attempt).filter(|record| record.end.is_none()) {
            record.take(extra);
            let is_late = record.end.is_some() && self.state.is_final();
            self.ended.put(record);
            self.was_told_late |= is_late;
            return is_late;
        }
        false
    }

    /// Whether an attempt is not over.
    pub(crate) fn is_live(&self, attempt: AttemptId) -> bool {
        self.live.contains_key(&key(attempt))
    }

    /// An attempt is over; false when it is not known.
    pub(crate) fn ended(&mut self, attempt: AttemptId, state: AttemptState, cause: EndCause, now: Time) -> bool {
        let key = key(attempt);
        let kind = attempt.kind;
        let cause = (state != AttemptState::Succeeded).then_some(cause);
        let Some(LiveAttempt { mut record, .. }) = self.live.remove(&key) else { return false };
        match state {
            AttemptState::Failed => self.tally.failed[kind] += 1,
            AttemptState::Killed => self.tally.killed[kind] += 1,
            _ => {}
        }
        record.state = state;
        record.cause = cause;
        record.ended = now;
        self.tally.slot_us[kind] += now.since(record.assigned).as_us();
        self.ended.put(record);
        if state == AttemptState::Succeeded && Arc::make_mut(&mut self.winners).set(attempt) {
            self.done[kind] += 1;
            if attempt.kind == TaskKind::Map && self.done[kind] == self.meta.file.spec.n_maps {
                self.maps_done = now;
            }
        }
        true
    }

    /// A finished task has to run again: its attempt did not succeed after all. `why` may be empty.
    pub(crate) fn output_lost(&mut self, attempt: AttemptId, cause: EndCause, why: &str) {
        if !Arc::make_mut(&mut self.winners).unset(attempt) {
            return;
        }
        self.done[attempt.kind] -= 1;
        if cause != EndCause::OutputGone {
            // Readers learn with an empty address that this output is obsolete.
            self.events.push(attempt, String::new());
        }
        let failed = matches!(cause, EndCause::TooManyFetchFailures | EndCause::OutputGone);
        let tally = if failed { &mut self.tally.failed } else { &mut self.tally.killed };
        tally[attempt.kind] += 1;
        self.ended.correct(attempt, if failed { AttemptState::Failed } else { AttemptState::Killed }, Some(cause), why);
    }

    /// A map's output is at this address from now on; the attempt has succeeded after all if that had been taken back.
    pub(crate) fn output_kept(&mut self, attempt: AttemptId, address: String, now: Time) {
        self.events.push(attempt, address);
        if self.winners.has(attempt.kind, attempt.index) {
            return;
        }
        Arc::make_mut(&mut self.winners).set(attempt);
        self.done[attempt.kind] += 1;
        if self.done[attempt.kind] == self.meta.file.spec.n_maps {
            self.maps_done = now;
        }
        self.tally.killed[attempt.kind] = self.tally.killed[attempt.kind].saturating_sub(1);
        self.ended.correct(attempt, AttemptState::Succeeded, None, "");
    }

    /// A task is out of attempts.
    pub(crate) fn task_failed(&mut self, task: TaskId) {
        self.failed_task.get_or_insert(task);
        if task.kind == TaskKind::Map {
            self.events.push_failed(task);
        }
    }

    /// The master was started again; what is over has nothing to do with that any more.
    pub(super) fn taken_over(&mut self) {
        if !self.state.is_final() {
            self.restarts += 1;
        }
    }

    /// Whether it is over and no attempt of it is still to end.
    pub(super) fn is_settled(&self) -> bool {
        self.state.is_final() && self.live.is_empty()
    }

    pub(crate) fn set_state(&mut self, state: JobState, now: Time, cluster: ClusterId) {
        self.state = state;
        if state.is_final() {
            self.finished = now;
        }
        if state == JobState::Committing {
            self.committing = now;
        }
        if state == JobState::Failed {
            let failed = self.ended.failed(self.meta.id, self.failed_task);
            self.why = why(failed, self.failed_task, self.commit_problem.as_deref(), cluster);
        }
    }

    /// The attempt's record, running or over.
    pub(crate) fn attempt(&self, attempt: AttemptId) -> Option<AttemptRecord> {
        let live = self.live.get(&key(attempt)).map(|live| live.record.clone());
        live.or_else(|| self.ended.get(attempt))
    }

    /// Whether a history of it may lack how an attempt ended, which was said after the job's end.
    pub(crate) fn was_told_late(&self) -> bool {
        self.was_told_late
    }

    /// Winners of the tasks that write the job's output.
    pub(crate) fn output_winners(&self) -> Vec<AttemptId> {
        let last = if self.meta.file.spec.n_reduces > 0 { TaskKind::Reduce } else { TaskKind::Map };
        self.winners.iter(self.meta.id).filter(|winner| winner.kind == last).collect()
    }

    /// Tasks of both kinds.
    pub(crate) fn n_tasks(&self) -> usize {
        (self.meta.file.spec.n_maps + self.meta.file.spec.n_reduces) as usize
    }

    pub(crate) fn status(&self, cluster: ClusterId) -> v1::JobStatus {
        let file = &self.meta.file;
        let spec = &file.spec;
        let tally = &self.tally;
        let mut running = [0; 2];
        // The best attempt of each unfinished task, in ten-thousandths.
        let mut parts = [0_u64; 2];
        let mut previous = None;
        let mut best = 0;
        for ((kind, index, _), live) in &self.live {
            running[*kind] += 1;
            if self.winners.has(*kind, *index) {
                continue;
            }
            if previous != Some((*kind, *index)) {
                best = 0;
                previous = Some((*kind, *index));
            }
            let now = u64::from(live.record.progress.parts());
            if now > best {
                parts[*kind] += now - best;
                best = now;
            }
        }
        let mean = |kind: TaskKind, n: u32| match n {
            0 if self.state == JobState::Succeeded => 1.0,
            0 => 0.0,
            n => (f64::from(self.done[kind]) + parts[kind] as f64 / 1e4) / f64::from(n),
        };
        v1::JobStatus {
            job: cluster.job(self.meta.id),
            name: spec.name.to_string(),
            user: spec.user.to_string(),
            queue: spec.queue.to_string(),
            priority: self.priority.name().to_owned(),
            state: self.state.name().to_owned(),
            n_maps: spec.n_maps,
            n_reduces: spec.n_reduces,
            maps_done: self.done[0],
            reduces_done: self.done[1],
            maps_running: running[0],
            reduces_running: running[1],
            failed_attempts: tally.failed.iter().sum(),
            killed_attempts: tally.killed.iter().sum(),
            map_progress: mean(TaskKind::Map, spec.n_maps),
            reduce_progress: mean(TaskKind::Reduce, spec.n_reduces),
            submit_ms_epoch: self.submitted.as_ms(),
            launch_ms_epoch: self.launched.as_ms(),
            maps_done_ms_epoch: self.maps_done.as_ms(),
            finish_ms_epoch: self.finished.as_ms(),
            output: match &file.output {
                OutputFormat::Files { directory } => directory.clone(),
                OutputFormat::None => String::new(),
            },
            why: self.why.clone(),
            node_local_maps: tally.maps_by_locality[Locality::Node as usize],
            rack_local_maps: tally.maps_by_locality[Locality::Rack as usize],
            off_rack_maps: tally.maps_by_locality[Locality::OffRack as usize],
            unplaced_maps: tally.maps_by_locality[Locality::Unknown as usize],
            requires: spec.conf.requires.texts(),
            speculation: Some(self.costs.into()),
            predicted: self.predicted.filter(|_| !self.state.is_final()),
            master_restarts: self.restarts,
            now_ms_epoch: 0,
        }
    }

    /// Cheap enough for the core's thread: finished attempts are shared in blocks and pages, running ones are few.
    pub(crate) fn snapshot(&self, cluster: ClusterId) -> JobSnapshot {
        let live = self.live.values().map(|live| live.record.clone()).collect();
        JobSnapshot {
            meta: Arc::clone(&self.meta),
            status: self.status(cluster),
            state: self.state,
            priority: self.priority,
            tally: self.tally,
            costs: self.costs,
            winners: Arc::clone(&self.winners),
            attempts: self.ended.beside(self.meta.id, live),
        }
    }
    /// The attempts of these places, in the order of a snapshot.
    pub(crate) fn page(&self, places: Range<usize>) -> Attempts {
        self.ended.page(self.meta.id, &self.live, places)
    }
}
