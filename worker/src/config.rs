//! A worker's settings, with Hadoop's defaults where Hadoop has them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Settings of one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// The master's `host:port`.
    pub master: String,
    /// Its directory; made if missing. No two workers may share one.
    pub dir: PathBuf,
    /// Unique in the cluster and stable over restarts; empty makes it the host's name and the directory's.
    pub name: String,
    /// This host as split locations name it; empty takes the host's own name.
    pub host: String,
    /// Rack path.
    pub rack: String,
    /// Where the shuffle and log server listens, `address:port`, port 0 takes any. Empty: any port, on loopback
    /// when the master is there, else on all addresses.
    pub listen: String,
    /// `host:port` that others reach that server by. Empty: the port it listens on, at the address that this host
    /// uses towards the master.
    pub advertise: String,
    /// `mapred.tasktracker.map.tasks.maximum`
    pub map_slots: u16,
    /// `mapred.tasktracker.reduce.tasks.maximum`
    pub reduce_slots: u16,
    /// Named attributes that jobs may require.
    pub attributes: BTreeMap<String, String>,
    /// Command that runs built-in and streaming attempts; empty takes this executable with `task`.
    pub task_command: Vec<String>,
    /// From the polite signal to the hard one (`mapred.tasktracker.tasks.sleeptime-before-sigkill`).
    pub kill_grace_ms: u64,
    /// How long a reusable process waits for another attempt of its job.
    pub reuse_idle_ms: u64,
    /// How long a drained worker waits for its running attempts.
    pub drain_grace_ms: u64,
    /// Longest pause between two tries to reach the master.
    pub retry_max_ms: u64,
    /// Below this much free disk it takes no attempts (`mapred.local.dir.minspacestart`).
    pub min_free_disk_bytes: u64,
    /// How often load, frequency and memory are sampled.
    pub vitals_interval_ms: u64,
    /// How long the logs of finished attempts are kept (`mapred.userlog.retain.hours`).
    pub userlog_retain_hours: u64,
    /// Each attempt in a control group of its own (version 2), so that nothing it starts can escape a kill.
    pub cgroups: bool,
}

impl Default for WorkerConfig {
    fn default() -> WorkerConfig {
        WorkerConfig {
            master: String::new(),
            dir: PathBuf::new(),
            name: String::new(),
            host: String::new(),
            rack: "/default-rack".to_owned(),
            listen: String::new(),
            advertise: String::new(),
            map_slots: 2,
            reduce_slots: 2,
            attributes: BTreeMap::new(),
            task_command: Vec::new(),
            kill_grace_ms: 5_000,
            reuse_idle_ms: 2_000,
            drain_grace_ms: 60_000,
            retry_max_ms: 10_000,
            min_free_disk_bytes: 64 << 20,
            vitals_interval_ms: 2_000,
            userlog_retain_hours: 24,
            cgroups: false,
        }
    }
}

/// A setting that cannot be worked with.
#[derive(Debug, thiserror::Error)]
#[error("setting `{key}`: {problem}")]
pub struct ConfigError {
    key: &'static str,
    problem: String,
}

impl WorkerConfig {
    /// Checks what can be checked without touching anything.
    ///
    /// # Errors
    /// Names the setting, its value and what was expected.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key, problem: &str| Err(ConfigError { key, problem: problem.to_owned() });
        if self.master.is_empty() {
            return wrong("master", "is not set, expected the master's host:port");
        }
        if self.dir.as_os_str().is_empty() {
            return wrong("dir", "is not set, expected a directory of the worker's own");
        }
        if self.map_slots == 0 && self.reduce_slots == 0 {
            return wrong("map_slots", "is 0 and so is `reduce_slots`, expected at least one slot");
        }
        if !self.rack.starts_with('/') {
            let problem = format!("`{}` is no rack path, expected one such as /default-rack", self.rack);
            return Err(ConfigError { key: "rack", problem });
        }
        if !self.listen.is_empty() && self.listen.parse::<SocketAddr>().is_err() {
            let problem = format!("`{}` is no socket address, expected one such as 0.0.0.0:50060", self.listen);
            return Err(ConfigError { key: "listen", problem });
        }
        Ok(())
    }
}
