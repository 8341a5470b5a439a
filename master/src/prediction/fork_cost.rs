//! A state with the rows that a master keeps beside it, so that `howdah bench predict` measures all that a fork takes of the
//! core's thread.

use std::collections::BTreeMap;

use howdah_core::cluster::{ClusterState, Job};
use howdah_core::job::{App, ClusterId, InputFormat, JobFile, JobSpec, OutputFormat};
use howdah_core::tracker::JobTracker;
use howdah_proto::v1;

use super::fork::Forked;
use crate::config::Limits;
use crate::engine::View;
use crate::tables::{JobMeta, JobRow, Tables};

/// What a master knows of a cluster's workers and jobs.
#[derive(Debug)]
pub struct Rows(Tables);

/// What the core's thread hands over; whoever drops it is not the core's thread.
pub struct Handed(#[expect(dead_code, reason = "it is held until somebody drops it")] Forked);

impl Rows {
    /// Of the workers and jobs of a state, all of which run this application.
    pub fn of(state: &ClusterState, app: &str) -> Rows {
        let mut tables = Tables::new(ClusterId(1), &Limits::default());
        for worker in state.workers() {
            let request = v1::RegisterRequest { name: worker.name().to_owned(), ..v1::RegisterRequest::default() };
            tables.register(worker.id(), request, 0, state.now());
        }
        for job in state.jobs() {
            let meta = JobMeta::new(job.id(), file(job, app), false);
            tables.submit(job.id(), JobRow::new(meta, job.submitted()));
        }
        Rows(tables)
    }

    /// Forks the tracker as the core's thread does for a forecast.
    pub fn fork(&self, tracker: &JobTracker) -> Handed {
        Handed(Forked::of(&View { tracker, tables: &self.0, now: tracker.state().now() }))
    }
}

fn file(job: &Job, app: &str) -> JobFile {
    JobFile {
        id: ClusterId(1).job(job.id()),
        submit_ms_epoch: job.submitted().as_ms(),
        spec: JobSpec::clone(job.spec()),
        app: App::BuiltIn { name: app.to_owned() },
        input_format: InputFormat::Text,
        splits: Vec::new(),
        output: OutputFormat::None,
        marked: false,
        properties: BTreeMap::new(),
        token: String::new(),
    }
}
