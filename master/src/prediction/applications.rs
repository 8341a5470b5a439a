//! What the jobs of a state run, for a forecast of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use howdah_core::cluster::ClusterState;
use howdah_core::job::JobId;

use super::application_name;
use crate::tables::{JobMeta, Tables};

/// What the jobs of a state run, for a forecast of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Applications(BTreeMap<JobId, Arc<JobMeta>>);

impl Applications {
    /// Of all jobs that are not over.
    pub(crate) fn of(tables: &Tables, state: &ClusterState) -> Applications {
        let meta = |job: &howdah_core::cluster::Job| Some((job.id(), Arc::clone(&tables.jobs.get(&job.id())?.meta)));
        Applications(state.jobs().filter_map(meta).collect())
    }

    /// Of one; empty if it is not among them.
    pub(super) fn name(&self, job: JobId) -> String {
        self.0.get(&job).map_or_else(String::new, |meta| application_name(&meta.file.app))
    }
}
