//! What heartbeats take while a workload runs: those of a worker without slots, sent by a process of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::cluster::Cluster;
use super::program::described;
use super::workload::Leashed;

/// Between two heartbeats.
const PAUSE: Duration = Duration::from_millis(10);

/// What they took, in microseconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub(crate) struct HeartbeatTimes {
    pub(crate) n: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// A process that sends them.
pub(crate) struct HeartbeatTimer {
    said: String,
    child: Leashed,
    /// Made to stop it.
    stop: PathBuf,
}

impl HeartbeatTimer {
    /// Joins a cluster; `dir` is the run's own.
    ///
    /// # Errors
    /// When the process does not start.
    pub(crate) fn start(cluster: &Cluster, dir: &Path) -> Result<HeartbeatTimer> {
        let stop = dir.join("stop-heartbeats");
        let mut command = cluster.program().command();
        command.args(["bench", "heartbeat-times", cluster.address(), &PAUSE.as_millis().to_string()]).arg(&stop);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let said = described(&command);
        let child = Leashed::start(&mut command, &said)?;
        Ok(HeartbeatTimer { said, child, stop })
    }

    /// Ends it; what its heartbeats took.
    ///
    /// # Errors
    /// When it had failed before.
    pub(crate) fn finish(self) -> Result<HeartbeatTimes> {
        std::fs::write(&self.stop, "").with_context(|| format!("write `{}`", self.stop.display()))?;
        let text = self.child.answer(&self.said)?;
        serde_json::from_str(&text).with_context(|| format!("read the answer of {}", self.said))
    }
}
