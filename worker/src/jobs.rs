//! The files of the jobs that this worker has attempts of, fetched once each.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use howdah_core::job::JobFile;

/// By printed job id; shared by the driver and the shuffle server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs(Arc<RwLock<HashMap<String, Arc<JobFile>>>>);

impl Jobs {
    pub(crate) fn get(&self, job: &str) -> Option<Arc<JobFile>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(job).cloned()
    }

    pub(crate) fn put(&self, file: Arc<JobFile>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(file.id.clone(), file);
    }

    pub(crate) fn forget(&self, job: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(job);
    }
}
