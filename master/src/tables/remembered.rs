//! What the tables say beside a snapshot of the core, and tables made of that.
//!
//! Of jobs that are over the rows go, as they do when there are too many: people find the rest of them in their histories.
//! Those of other jobs are stored (`stored.rs`), and so are those whose histories could not be written yet. **Invariant: as many
//! jobs as may be listed are listed after a start on it, the last ones.**

use std::collections::HashMap;

use howdah_core::cluster::ClusterState;
use howdah_core::job::{JobId, WorkerId};
use howdah_core::time::Time;
use howdah_proto::v1;

use super::{JobMeta, JobRow, Tables, WorkerRow};

impl Tables {
    /// What a snapshot keeps of them; what the core and its driver know is not filled in.
    pub(crate) fn remembered(&self, state: &ClusterState) -> v1::JournalSnapshot {
        let worker = |(number, row): (usize, &WorkerRow)| {
            let known = state.worker(WorkerId(number as u32));
            row.remembered(known.map_or(&[], |worker| worker.attributes()))
        };
        let unwritten = self.jobs.values().filter(|row| row.state.is_final() && !row.is_written);
        v1::JournalSnapshot {
            workers: self.workers.iter().enumerate().map(worker).collect(),
            jobs: self.statuses_of(|row| row.is_written),
            live_jobs: self.jobs.values().filter(|row| !row.state.is_final()).map(JobRow::stored).collect(),
            unwritten_jobs: unwritten.map(|row| row.stored_end(self.cluster)).collect(),
            jobs_done: self.jobs_done,
            ..v1::JournalSnapshot::default()
        }
    }

    /// Takes over what a snapshot kept, into tables that are empty. `state` is the core's state of that moment; a worker
    /// that the one knows and the other does not is nobody's.
    /// `meta` gives what does not change of a job whose row was stored.
    pub(crate) fn remember(
        &mut self,
        snapshot: v1::JournalSnapshot,
        state: &ClusterState,
        mut meta: impl FnMut(JobId) -> Option<JobMeta>,
    ) {
        let unknown = v1::SnapshotWorker::default();
        for (number, worker) in state.workers().iter().enumerate() {
            let known = snapshot.workers.get(number).unwrap_or(&unknown);
            let mut request = known.request.clone().unwrap_or_default();
            // These decide, so they are as the core has them.
            request.name = worker.name().to_owned();
            request.incarnation = worker.incarnation();
            self.register(WorkerId(number as u32), request, 0, worker.last_contact());
            if let Some(row) = self.workers.last_mut() {
                row.remember(known, worker);
            }
        }
        for stored in snapshot.live_jobs {
            let id = JobId(stored.job);
            let Some((job, meta)) = state.job(id).zip(meta(id)) else { continue };
            self.users.entered(&meta.file.spec.user);
            self.put_row(id, JobRow::restored(meta, stored, job));
        }
        self.retired.extend(snapshot.jobs);
        for mut stored in snapshot.unwritten_jobs {
            let (id, status) = (JobId(stored.job), stored.status.take().unwrap_or_default());
            match meta(id).and_then(|meta| JobRow::restored_end(meta, stored, &status)) {
                Some(row) => {
                    self.over.jobs += 1;
                    self.over.tasks += row.n_tasks();
                    self.put_row(id, row);
                }
                // Without the job's file there can be no history.
                None => self.retired.push_back(status),
            }
        }
        self.jobs_done = snapshot.jobs_done;
        // Of the retired jobs the first ones go if they are too many.
        drop(self.retire());
    }

    fn put_row(&mut self, id: JobId, row: JobRow) {
        for live in row.live.values() {
            if let Some(worker) = self.workers.get_mut(live.worker_id.0 as usize) {
                worker.running[live.record.id.kind] += 1;
            }
        }
        self.jobs.insert(id, row);
    }
}

impl WorkerRow {
    fn remembered(&self, attributes: &[(String, String)]) -> v1::SnapshotWorker {
        let [map_slots, reduce_slots] = self.slots;
        v1::SnapshotWorker {
            request: Some(v1::RegisterRequest {
                name: self.name.to_string(),
                host: self.host.to_string(),
                rack: self.rack.to_string(),
                map_slots,
                reduce_slots,
                http_address: self.http_address.to_string(),
                incarnation: self.incarnation,
                attributes: attributes.iter().cloned().collect::<HashMap<_, _>>(),
                version: self.version.clone(),
                directory: self.directory.clone(),
                build: self.build.clone(),
                ..v1::RegisterRequest::default()
            }),
            sequence: self.sequence,
            failures: self.failures,
            drained: self.presence.drained,
            unreachable: self.unreachable.clone().unwrap_or_default(),
            gone_us: self.presence.gone.map_or(0, Time::as_us),
            stopped: matches!(self.presence.going, Some(super::Going::Stopped)),
            interval_us: self.presence.interval.as_us(),
            directives: self.directives.clone(),
        }
    }

    fn remember(&mut self, known: &v1::SnapshotWorker, worker: &howdah_core::cluster::Worker) {
        self.state = worker.state();
        self.vitals = v1::Vitals::from(worker.vitals());
        self.sequence = known.sequence;
        self.directives.clone_from(&known.directives);
        self.failures = known.failures;
        self.unreachable = Some(known.unreachable.clone()).filter(|why| !why.is_empty());
        self.presence.drained = known.drained;
        self.presence.gone = (known.gone_us > 0).then(|| Time::from_us(known.gone_us));
        self.presence.going = known.stopped.then_some(super::Going::Stopped);
        self.presence.interval = howdah_core::time::Span::from_us(known.interval_us);
    }
}
