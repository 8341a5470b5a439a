//! The cluster's settings that decisions read. They stand in the header of every recorded run.
//!
//! Defaults are Hadoop 1.2.1's where it has the setting. Source: `docs/hadoop.md#properties`,
//! `docs/hadoop.md#heartbeats` and `docs/hadoop.md#faulty-workers`.

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// Settings of the JobTracker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterConfig {
    /// `mapred.tasktracker.expiry.interval`: milliseconds of silence after which a worker is lost.
    pub expiry_ms: u64,
    /// So many heartbeat intervals of silence lose no worker, whatever `expiry_ms` says: a large cluster's intervals
    /// are long. 0, as in Hadoop and in recordings made before there was this setting, leaves it to `expiry_ms`.
    pub expiry_beats: u32,
    /// Whether a lost worker's name is free for any run of it, also for one that counts its runs lower. False in
    /// recordings made before there was this setting: then a run with the highest number locks its name for good.
    pub free_lost_names: bool,
    /// Milliseconds after which an attempt that its worker never reported has failed; 0 never.
    pub launch_expiry_ms: u64,
    /// How often workers report.
    pub heartbeat: HeartbeatRule,
    /// Longest time in milliseconds that a heartbeat is held back; the heartbeat interval if that is shorter.
    /// 0 holds none back.
    pub max_parking_ms: u64,
    /// Which workers get no tasks because they fail too often.
    pub blacklist: Blacklist,
    /// Workers that may be lost while they run a task before it fails, where its job does not say. 0, as in Hadoop and in
    /// recordings made before there was this setting, is any number.
    pub max_worker_losses: u16,
}

impl Default for ClusterConfig {
    fn default() -> ClusterConfig {
        ClusterConfig {
            expiry_ms: 600_000,
            expiry_beats: 0,
            free_lost_names: false,
            launch_expiry_ms: 600_000,
            heartbeat: HeartbeatRule::default(),
            max_parking_ms: 60_000,
            blacklist: Blacklist::default(),
            max_worker_losses: 0,
        }
    }
}

impl ClusterConfig {
    /// Silence after which a worker is lost; at least a millisecond.
    pub(crate) fn expiry(&self) -> Span {
        Span::from_us(self.expiry_ms.max(1).saturating_mul(1_000))
    }

    /// How soon after its start an attempt's failure is a short one.
    pub(crate) fn short_failure(&self) -> Span {
        Span::from_us(self.blacklist.short_failure_ms.saturating_mul(1_000))
    }

    /// Time for a launch to be reported, if limited.
    pub(crate) fn launch_expiry(&self) -> Option<Span> {
        (self.launch_expiry_ms > 0).then(|| Span::from_us(self.launch_expiry_ms.saturating_mul(1_000)))
    }
}

/// How often workers report; the numbers are in `job_tracker/interval.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum HeartbeatRule {
    /// Hadoop 0.20.2: `max(3 s, 1 s × ceil(workers / 100))`.
    #[serde(rename = "hadoop-0.20.2")]
    Hadoop0202,
    /// Hadoop 1.2.1: `max(0.3 s, 1 s × workers / heartbeats_in_second)`.
    #[serde(rename = "hadoop-1.2.1")]
    Hadoop121 {
        /// `mapred.heartbeats.in.second`, at least 1.
        heartbeats_in_second: u32,
    },
    /// Always the same.
    Fixed {
        /// Milliseconds, at least 1.
        interval_ms: u32,
    },
    /// Short while small jobs wait or tasks end often, long when nothing moves.
    Adaptive {
        /// Shortest interval in milliseconds.
        min_ms: u32,
        /// Longest interval in milliseconds.
        max_ms: u32,
        /// Heartbeats a second that the master takes at most, as in 1.2.1's rule.
        heartbeats_in_second: u32,
    },
}

impl Default for HeartbeatRule {
    fn default() -> HeartbeatRule {
        HeartbeatRule::Hadoop121 { heartbeats_in_second: 100 }
    }
}

/// The cluster's blacklist. Faults count only when the job they happened in succeeds.
///
/// `Deviation:` the default is 0.20.2's consequence (no tasks) with 1.2.1's memory of faults (a window); in
/// 1.2.1 the list is advisory only, in 0.20.2 a fault is forgiven each day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Blacklist {
    /// Whether listed workers get no tasks (0.20.2); otherwise faults are only counted (1.2.1).
    pub enforced: bool,
    /// `mapred.max.tracker.blacklists`: faults from which on a worker is listed, at least 1.
    pub max_faults: u32,
    /// A worker is listed only if its faults exceed the mean by this share of it, in percent.
    pub over_average_percent: u32,
    /// Workers are listed only while the listed ones are less than this share of the cluster, in percent.
    pub max_listed_percent: u32,
    /// How faults are forgotten.
    pub memory: FaultMemory,
    /// Attempts in a row that failed on a worker soon after their start, from which on it is listed at once if other workers
    /// do what it fails. 0, as in Hadoop and in recordings made before there was this setting, never lists one for that.
    pub short_failures: u32,
    /// Milliseconds from its assignment within which an attempt's failure counts as such a one.
    pub short_failure_ms: u64,
}

impl Default for Blacklist {
    fn default() -> Blacklist {
        Blacklist {
            enforced: true,
            max_faults: 4,
            over_average_percent: 50,
            max_listed_percent: 50,
            memory: FaultMemory::default(),
            short_failures: 0,
            short_failure_ms: 10_000,
        }
    }
}

/// How a worker's faults are forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultMemory {
    /// 1.2.1: faults count in buckets of time and leave with their bucket.
    Window {
        /// `mapred.jobtracker.blacklist.fault-timeout-window` in milliseconds.
        window_ms: u64,
        /// `mapred.jobtracker.blacklist.fault-bucket-width` in milliseconds, at least 1.
        bucket_ms: u64,
    },
    /// 0.20.2: one fault is forgiven each time this much has passed since the last fault or forgiving.
    Forgive {
        /// Milliseconds, at least 1; a day in Hadoop.
        every_ms: u64,
    },
}

impl Default for FaultMemory {
    fn default() -> FaultMemory {
        FaultMemory::Window { window_ms: 180 * 60_000, bucket_ms: 15 * 60_000 }
    }
}
