//! A worker's settings, with Hadoop's defaults where Hadoop has them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use howdah_core::job::requirement::{EXPECTED_NAME, MAX_ATTRIBUTE_VALUE_BYTES, is_attribute_name, is_attribute_value};
use howdah_proto::names::HostPort;
use serde::{Deserialize, Serialize};

use crate::probes::file;
use crate::process::Cores;
use crate::vitals::VitalsSource;

/// Quotas that control groups take, in cores.
const QUOTAS: RangeInclusive<f64> = 0.05..=1_024.0;

/// Settings of one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// The master's `host:port`; port 9001 where it is left out.
    pub master: String,
    /// Its directory; made if missing. No two workers may share one.
    pub dir: PathBuf,
    /// Unique in the cluster and stable over restarts; empty makes it the host's name and the directory's.
    pub name: String,
    /// This host as split locations name it; empty takes the host's own name.
    pub host: String,
    /// Rack path.
    pub rack: String,
    /// Where the shuffle and log server listens, `host:port`, port 0 takes any. Empty: any port, on loopback
    /// when `master` is an address there, else on all addresses.
    pub listen: String,
    /// `host:port` that others reach that server by; the master must reach it, too. Empty: the port it listens on, at the
    /// address from which the master sees the worker come, found anew at every registration.
    pub advertise: String,
    /// Whether it may run as root and listen on more than loopback.
    pub as_root: bool,
    /// `mapred.tasktracker.map.tasks.maximum`
    pub map_slots: u16,
    /// `mapred.tasktracker.reduce.tasks.maximum`
    pub reduce_slots: u16,
    /// Named attributes that jobs may require.
    pub attributes: BTreeMap<String, String>,
    /// Commands for `/bin/sh` that print an attribute's value, by the attribute's name.
    pub probes: BTreeMap<String, String>,
    /// File of more of them, followed while the worker runs; empty takes `probes.toml` in `dir`, if there is one.
    pub probes_file: PathBuf,
    /// From the start of a probe to its next start.
    pub probe_interval_ms: u64,
    /// How long a probe may take before it is killed.
    pub probe_timeout_ms: u64,
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
    /// Below this much free disk the attempt that takes most of it fails (`mapred.local.dir.minspacekill`); at most
    /// `min_free_disk_bytes`.
    pub min_free_disk_kill_bytes: u64,
    /// Memory for input that is read before its maps start, as the master's forecasts say; 0 for none.
    pub prefetch_bytes: u64,
    /// How often use, frequency, memory and disk are sampled; the run queue is looked at several times a second.
    pub vitals_interval_ms: u64,
    /// Time constant with which the run queue and the foreign load are smoothed.
    pub vitals_smoothing_ms: u64,
    /// What load is measured of.
    pub vitals_source: VitalsSource,
    /// With the source `script`: a command of the shell that prints vitals, on the beat of `vitals_interval_ms`.
    pub vitals_script: String,
    /// Cores that the worker and its attempts may use together, by a control group of its own; 0 for no limit.
    pub cpu_quota: f64,
    /// Cores that maps may use, such as `0-3,8`; empty for all.
    pub map_cores: String,
    /// Cores that reduces may use.
    pub reduce_cores: String,
    /// How long the logs of finished attempts are kept (`mapred.userlog.retain.hours`).
    pub userlog_retain_hours: u64,
    /// What the logs of one job's finished attempts may take on this worker. One file has at most an eighth of what is left
    /// of it: of a longer one the first half and the last are kept.
    pub userlog_job_bytes: u64,
    /// What a running attempt may have written to its logs before it fails; 0 for any amount
    /// (`yarn.nodemanager.container-log-monitor.dir-size-limit-bytes`).
    pub attempt_log_bytes: u64,
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
            as_root: false,
            map_slots: 2,
            reduce_slots: 2,
            attributes: BTreeMap::new(),
            probes: BTreeMap::new(),
            probes_file: PathBuf::new(),
            probe_interval_ms: 30_000,
            probe_timeout_ms: 10_000,
            task_command: Vec::new(),
            kill_grace_ms: 5_000,
            reuse_idle_ms: 2_000,
            drain_grace_ms: 60_000,
            retry_max_ms: 10_000,
            min_free_disk_bytes: 64 << 20,
            min_free_disk_kill_bytes: 32 << 20,
            prefetch_bytes: 0,
            vitals_interval_ms: 2_000,
            vitals_smoothing_ms: 3_000,
            vitals_source: VitalsSource::Auto,
            vitals_script: String::new(),
            cpu_quota: 0.0,
            map_cores: String::new(),
            reduce_cores: String::new(),
            userlog_retain_hours: 24,
            userlog_job_bytes: 1 << 30,
            attempt_log_bytes: 1 << 30,
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
    /// The quota in thousandths of a core; `None` without one.
    pub(crate) fn quota_milli(&self) -> Option<u32> {
        (self.cpu_quota > 0.0).then_some((self.cpu_quota * 1_000.0).round() as u32)
    }

    /// The setting by which other machines get at it, and its value: a worker of a master elsewhere listens on all addresses.
    pub fn serves_others(&self) -> Option<(&'static str, &str)> {
        let said = if self.listen.is_empty() { ("master", &*self.master) } else { ("listen", &*self.listen) };
        HostPort::others_reach(said.1).then_some(said)
    }

    /// Whether load is measured of the worker's control group.
    pub(crate) fn measures_group(&self) -> bool {
        match self.vitals_source {
            VitalsSource::Auto => self.cpu_quota > 0.0,
            VitalsSource::Cgroup => true,
            VitalsSource::Host | VitalsSource::Script => false,
        }
    }

    /// The cores of each kind of task; `None` for all.
    pub(crate) fn cores(&self) -> Result<[Option<Cores>; 2], ConfigError> {
        let read = |key, text: &str| match text.trim() {
            "" => Ok(None),
            text => Cores::parse(text).map(Some).map_err(|problem| ConfigError { key, problem }),
        };
        Ok([read("map_cores", &self.map_cores)?, read("reduce_cores", &self.reduce_cores)?])
    }

    fn check_attributes(&self) -> Result<(), ConfigError> {
        for (name, value) in &self.attributes {
            if !is_attribute_name(name) {
                let problem = format!("`{name}` is no attribute's name, {EXPECTED_NAME}");
                return Err(ConfigError { key: "attributes", problem });
            }
            if !is_attribute_value(value) {
                let expected =
                    format!("expected at most {MAX_ATTRIBUTE_VALUE_BYTES} printable bytes without blanks around");
                return Err(ConfigError {
                    key: "attributes",
                    problem: format!("the value of `{name}` will not do, {expected}"),
                });
            }
        }
        file::check(&self.attributes, &self.probes)
            .map_err(|error| ConfigError { key: "probes", problem: error.to_string() })?;
        for (key, ms, least) in
            [("probe_interval_ms", self.probe_interval_ms, 100), ("probe_timeout_ms", self.probe_timeout_ms, 1)]
        {
            if ms < least {
                return Err(ConfigError { key, problem: format!("{ms} is too short, expected at least {least}") });
            }
        }
        Ok(())
    }

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
        self.check_attributes()?;
        if !self.rack.starts_with('/') {
            let problem = format!("`{}` is no rack path, expected one such as /default-rack", self.rack);
            return Err(ConfigError { key: "rack", problem });
        }
        let scripted = self.vitals_source == VitalsSource::Script;
        if scripted && self.vitals_script.trim().is_empty() {
            return wrong("vitals_script", "is not set, expected a command, since `vitals_source` is script");
        }
        if !scripted && !self.vitals_script.is_empty() {
            let problem = format!("is `{}`, expected `vitals_source` = script with it", self.vitals_script);
            return Err(ConfigError { key: "vitals_script", problem });
        }
        if self.cpu_quota != 0.0 && !QUOTAS.contains(&self.cpu_quota) {
            let (value, least, most) = (self.cpu_quota, QUOTAS.start(), QUOTAS.end());
            let problem = format!("is {value}, expected cores between {least} and {most}, or 0 for no limit");
            return Err(ConfigError { key: "cpu_quota", problem });
        }
        self.cores()?;
        for (key, address) in [("master", &self.master), ("listen", &self.listen), ("advertise", &self.advertise)] {
            if !address.is_empty() {
                let parsed = address.parse::<HostPort>();
                parsed.map_err(|error| ConfigError { key, problem: error.to_string() })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> WorkerConfig {
        WorkerConfig { master: "m:1".to_owned(), dir: PathBuf::from("w"), ..WorkerConfig::default() }
    }

    #[test]
    fn a_quota_is_in_cores_and_within_what_control_groups_take() {
        assert_eq!(config().quota_milli(), None);
        let half = WorkerConfig { cpu_quota: 0.5, ..config() };
        assert!(half.check().is_ok() && half.measures_group());
        assert_eq!(half.quota_milli(), Some(500));
        for wrong in [-1.0, 0.01, f64::NAN, f64::INFINITY] {
            let error = WorkerConfig { cpu_quota: wrong, ..config() }.check().unwrap_err().to_string();
            assert!(
                error.starts_with("setting `cpu_quota`: is ") && error.contains("expected cores between"),
                "{error}"
            );
        }
    }

    #[test]
    fn cores_of_tasks_are_a_list_as_the_kernel_writes_it() {
        assert_eq!(config().cores().expect("none are named"), [None, None]);
        let both = WorkerConfig { map_cores: "0-2,5".to_owned(), reduce_cores: "3".to_owned(), ..config() };
        assert!(both.check().is_ok() && both.cores().is_ok_and(|cores| cores.iter().all(Option::is_some)));
        let wrong = WorkerConfig { reduce_cores: "0-x".to_owned(), ..config() };
        let error = wrong.check().unwrap_err().to_string();
        assert_eq!(error, "setting `reduce_cores`: `x` in `0-x` is no core's number, expected a list such as 0-3,8");
    }

    #[test]
    fn the_source_follows_the_quota_unless_it_is_named() {
        assert!(!config().measures_group());
        assert!(WorkerConfig { vitals_source: VitalsSource::Cgroup, ..config() }.measures_group());
        let host = WorkerConfig { vitals_source: VitalsSource::Host, cpu_quota: 2.0, ..config() };
        assert!(!host.measures_group());
    }

    #[test]
    fn a_script_and_its_source_belong_together() {
        let source = WorkerConfig { vitals_source: VitalsSource::Script, ..config() };
        let error = source.check().unwrap_err().to_string();
        assert!(error.starts_with("setting `vitals_script`: is not set, expected a command"), "{error}");
        let script = WorkerConfig { vitals_script: "cat /proc/x".to_owned(), ..config() };
        let error = script.check().unwrap_err().to_string();
        assert_eq!(error, "setting `vitals_script`: is `cat /proc/x`, expected `vitals_source` = script with it");
        let both = WorkerConfig { vitals_source: VitalsSource::Script, ..script };
        assert!(both.check().is_ok() && !both.measures_group());
    }
}
