//! What a keeper does with the logs of its attempts, from their beginning to the container.

use std::path::Path;

use howdah_core::job::{AttemptId, ClusterId};

use super::Logs;
use super::live::LiveLogs;

impl Logs {
    /// Makes an attempt's log files, or takes those of one that is over. The error names the path.
    pub(crate) fn start(&self, cluster: ClusterId, attempt: AttemptId) -> Result<LiveLogs, String> {
        let path = self.live(cluster, attempt);
        self.spares.take(&path).map_or_else(|| LiveLogs::create(&path), Ok)
    }

    /// Adds an attempt's logs to its job's container; what comes after that is the next attempt's of the same process.
    pub(crate) fn collect(&self, live: &mut LiveLogs, cluster: ClusterId, attempt: AttemptId) -> bool {
        live.collect(&self.live(cluster, attempt), |sources| self.append(cluster, attempt, sources))
    }

    /// What was written since the attempt's logs were collected, if anything.
    pub(crate) fn collect_rest(&self, live: &mut LiveLogs, cluster: ClusterId, attempt: AttemptId) -> bool {
        live.is_collected() || self.collect(live, cluster, attempt)
    }

    /// The process is over and all is collected: the files go to the job's next process, or are deleted. `path` is where
    /// their directory is by now.
    pub(crate) fn retire(&self, live: LiveLogs, path: &Path) {
        if live.is_short() && live.is_as_made(path) {
            self.spares.put(path, live);
        } else {
            live.delete(path);
        }
    }
}
