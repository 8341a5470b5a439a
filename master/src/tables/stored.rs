//! The row of a job that is not over or whose history is not on disk, as a snapshot keeps it, and the row made of that.
//!
//! What the core and the job's file know is not stored again. Winners and how many tasks are done follow from the attempts.
//! **Invariants: the events of map outputs keep their numbers, as workers read on from where they were. Whatever is stored, the
//! row has no attempts of tasks that its job has not, and takes no more room than they do.**

use std::sync::Arc;

use howdah_core::cluster::{Job, SpeculationCosts};
use howdah_core::job::{
    AttemptId, AttemptState, ClusterId, JobId, JobState, Locality, Phase, Progress, TaskId, TaskKind, WorkerId,
};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::EndCause;
use howdah_proto::v1;

use super::ended::{key, put_words, words_of};
use super::events::EventLog;
use super::{AttemptRecord, JobMeta, JobRow, LiveAttempt, PackedCounters};

const STATES: [AttemptState; 6] = [
    AttemptState::Launching,
    AttemptState::Running,
    AttemptState::CommitPending,
    AttemptState::Succeeded,
    AttemptState::Failed,
    AttemptState::Killed,
];
const PHASES: [Phase; 5] = [Phase::Starting, Phase::Map, Phase::Shuffle, Phase::Sort, Phase::Reduce];
const LOCALITIES: [Locality; 4] = [Locality::Node, Locality::Rack, Locality::OffRack, Locality::Unknown];
const ENDS: [JobState; 3] = [JobState::Succeeded, JobState::Failed, JobState::Killed];
const CAUSES: [EndCause; 13] = [
    EndCause::Reported,
    EndCause::LostRace,
    EndCause::JobEnded,
    EndCause::Requested,
    EndCause::WorkerLost,
    EndCause::LaunchExpired,
    EndCause::TooManyFetchFailures,
    EndCause::Preempted,
    EndCause::Vanished,
    EndCause::Unserved,
    EndCause::Unreachable,
    EndCause::OutputGone,
    EndCause::TooManyWorkerLosses,
];

/// The value of this number.
fn numbered<T: Copy>(values: &[T], number: u32) -> Option<T> {
    values.get(number as usize).copied()
}

/// The first values, zeros where there are fewer.
fn first<T: Copy + Default, const N: usize>(values: &[T]) -> [T; N] {
    std::array::from_fn(|place| values.get(place).copied().unwrap_or_default())
}

impl JobRow {
    pub(super) fn stored(&self) -> v1::SnapshotJob {
        let (mut places, mut attempts) = self.ended.stored();
        for live in self.live.values() {
            let AttemptRecord { id, worker, host, rack, .. } = &live.record;
            let place =
                v1::SnapshotPlace { worker: worker.to_string(), host: host.to_string(), rack: rack.to_string() };
            let known = places.iter().rposition(|known| *known == place);
            let place = known.unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            });
            let record = &live.record;
            attempts.push(v1::SnapshotAttempt {
                reduce: id.kind == TaskKind::Reduce,
                index: id.index,
                number: id.number.into(),
                state: record.state as u32,
                phase: record.phase as u32,
                progress_parts: record.progress.parts().into(),
                place: place as u32,
                locality: record.locality as u32,
                speculative: record.speculative,
                assigned_us: record.assigned.as_us(),
                ended_us: record.ended.as_us(),
                cause: record.cause.map_or(0, |cause| cause as u32 + 1),
                worker: live.worker_id.0,
                words: words_of(record),
            });
        }
        let (addresses, events) = self.events.stored();
        let failed_task = |task: TaskId| v1::SnapshotTask { reduce: task.kind == TaskKind::Reduce, index: task.index };
        v1::SnapshotJob {
            job: self.meta.id.0,
            maps_done_us: self.maps_done.as_us(),
            launched: self.tally.launched.to_vec(),
            failed: self.tally.failed.to_vec(),
            killed: self.tally.killed.to_vec(),
            slot_us: self.tally.slot_us.to_vec(),
            maps_by_locality: self.tally.maps_by_locality.to_vec(),
            restarts: self.restarts,
            failed_task: self.failed_task.map(failed_task),
            commit_problem: self.commit_problem.clone().unwrap_or_default(),
            places,
            attempts,
            addresses,
            events,
            status: None,
            told_late: false,
        }
    }

    /// Of a job that is over.
    pub(super) fn stored_end(&self, cluster: ClusterId) -> v1::SnapshotJob {
        v1::SnapshotJob { status: Some(self.status(cluster)), told_late: self.was_told_late, ..self.stored() }
    }

    /// The row of a job as the core has it.
    pub(super) fn restored(mut meta: JobMeta, stored: v1::SnapshotJob, job: &Job) -> JobRow {
        // The file has the queue that it was submitted to.
        meta.file.spec.queue.clone_from(&job.spec().queue);
        let mut row = JobRow::new(meta, job.submitted());
        (row.state, row.priority, row.costs) = (job.state(), job.priority(), *job.costs());
        row.launched = job.launched().unwrap_or(Time::ZERO);
        row.take_stored(stored);
        row
    }

    /// The row of a job that is over, of which the core knows no more; `None` if nothing says how it ended.
    pub(super) fn restored_end(meta: JobMeta, stored: v1::SnapshotJob, status: &v1::JobStatus) -> Option<JobRow> {
        let state = ENDS.into_iter().find(|state| state.name() == status.state)?;
        let mut row = JobRow::new(meta, Time::from_ms(status.submit_ms_epoch));
        (row.state, row.priority) = (state, status.priority.parse().ok()?);
        row.launched = Time::from_ms(status.launch_ms_epoch);
        row.finished = Time::from_ms(status.finish_ms_epoch);
        row.why.clone_from(&status.why);
        row.was_told_late = stored.told_late;
        if let Some(v1::SpeculationCosts { launched, won, lost, wasted_slot_ms }) = status.speculation {
            row.costs = SpeculationCosts { launched, won, lost, wasted: Span::from_ms(wasted_slot_ms) };
        }
        row.take_stored(stored);
        row.events.close();
        row.announce();
        Some(row)
    }

    fn take_stored(&mut self, stored: v1::SnapshotJob) {
        let id = self.meta.id;
        let row = self;
        row.maps_done = Time::from_us(stored.maps_done_us);
        row.tally.launched = first(&stored.launched);
        row.tally.failed = first(&stored.failed);
        row.tally.killed = first(&stored.killed);
        row.tally.slot_us = first(&stored.slot_us);
        row.tally.maps_by_locality = first(&stored.maps_by_locality);
        row.restarts = stored.restarts;
        row.failed_task = stored.failed_task.map(|task| TaskId { job: id, kind: kind(task.reduce), index: task.index });
        row.commit_problem = Some(stored.commit_problem).filter(|problem| !problem.is_empty());
        row.events = Arc::new(EventLog::restored(id, stored.addresses, &stored.events));
        let places: Vec<[Arc<str>; 3]> = stored
            .places
            .into_iter()
            .map(|v1::SnapshotPlace { worker, host, rack }| [worker.into(), host.into(), rack.into()])
            .collect();
        let n_tasks = [row.meta.file.spec.n_maps, row.meta.file.spec.n_reduces];
        for attempt in stored.attempts {
            let is_its = |record: &AttemptRecord| record.id.index < n_tasks[record.id.kind];
            let Some(record) = record(id, &attempt, &places).filter(is_its) else { continue };
            if !record.state.is_final() {
                let live = LiveAttempt { worker_id: WorkerId(attempt.worker), record };
                row.live.insert(key(live.record.id), live);
                continue;
            }
            if record.state == AttemptState::Succeeded && Arc::make_mut(&mut row.winners).set(record.id) {
                row.done[record.id.kind] += 1;
            }
            row.ended.put(record);
        }
    }
}

fn kind(reduce: bool) -> TaskKind {
    if reduce { TaskKind::Reduce } else { TaskKind::Map }
}

/// `None` of one that names what there is not.
fn record(job: JobId, stored: &v1::SnapshotAttempt, places: &[[Arc<str>; 3]]) -> Option<AttemptRecord> {
    let [worker, host, rack] = places.get(stored.place as usize)?.clone();
    let number = u16::try_from(stored.number).ok()?;
    let mut record = AttemptRecord {
        id: AttemptId { job, index: stored.index, number, kind: kind(stored.reduce) },
        state: numbered(&STATES, stored.state)?,
        phase: numbered(&PHASES, stored.phase)?,
        progress: Progress::from_parts(u16::try_from(stored.progress_parts).ok()?),
        worker,
        host,
        rack,
        locality: numbered(&LOCALITIES, stored.locality)?,
        speculative: stored.speculative,
        assigned: Time::from_us(stored.assigned_us),
        ended: Time::from_us(stored.ended_us),
        cause: stored.cause.checked_sub(1).and_then(|cause| numbered(&CAUSES, cause)),
        end: None,
        counters: PackedCounters::default(),
        message: String::new(),
    };
    put_words(&mut record, &stored.words);
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_encoding_of_effects() {
        assert!(STATES.iter().zip(0..).all(|(state, n)| *state as u32 == n));
        assert!(PHASES.iter().zip(0..).all(|(phase, n)| *phase as u32 == n));
        assert!(LOCALITIES.iter().zip(0..).all(|(locality, n)| *locality as u32 == n));
        assert!(CAUSES.iter().zip(0..).all(|(cause, n)| *cause as u32 == n));
    }
}
