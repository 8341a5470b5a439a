//! A control group with a quota for others to enter: work in it runs as on a slower core.

use std::path::Path;

use super::worker::WorkerGroup;

/// Made below this process's group, which stays where it is. Removed when dropped; who is in it goes back.
#[derive(Debug)]
pub struct QuotaGroup(WorkerGroup);

impl QuotaGroup {
    /// Makes it, with a quota in thousandths of a core.
    ///
    /// # Errors
    /// When control groups are not mounted, or may not be made by this user.
    pub fn make(quota_milli: u32) -> anyhow::Result<QuotaGroup> {
        WorkerGroup::make_with(Some(quota_milli)).map(QuotaGroup)
    }

    /// Gives it another quota, in thousandths of a core.
    ///
    /// # Errors
    /// When the quota does not fit into that of the group above.
    pub fn set(&self, quota_milli: u32) -> anyhow::Result<()> {
        self.0.set_quota(quota_milli)
    }

    /// Its directory; whoever is to enter writes itself into `cgroup.procs` there.
    pub fn dir(&self) -> &Path {
        &self.0.dirs()[0]
    }
}

impl Drop for QuotaGroup {
    fn drop(&mut self) {
        self.0.close();
    }
}
