//! What a master that goes on with a run has to see to first.

use std::collections::BTreeMap;
use std::path::PathBuf;

use howdah_core::job::JobId;
use howdah_core::tracker::SchedulerChoice;

use crate::commit::Output;

/// Output by its directory's one spelling, and whose it was.
pub(crate) type Aborts = BTreeMap<PathBuf, (JobId, Output)>;

/// What the engine has to see to first.
#[derive(Debug, Default)]
pub(crate) struct Unfinished {
    /// The policy that is to decide from now on, if that is another one.
    pub(crate) scheduler: Option<SchedulerChoice>,
    /// Jobs whose output was being promoted, or was promoted without anybody being notified.
    pub(crate) promotions: Vec<JobId>,
    /// Finished jobs that have no history on disk, or one that lacks something.
    pub(crate) histories: Vec<JobId>,
    /// Output of jobs that ended otherwise since the last start and may not have been cleared away.
    pub(crate) aborts: Aborts,
    /// Spools of submissions that go as soon as the jobs' own files are on disk.
    pub(crate) spools: Vec<PathBuf>,
}
