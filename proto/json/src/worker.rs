//! Workers, and what they said of their machines.

use std::collections::BTreeMap;

use howdah_proto::v1::WorkerInfo;
use schemars::JsonSchema;
use serde::Serialize;

use crate::listing::{Shape, reached};

/// A worker as programs see it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Worker {
    pub worker: u32,
    pub name: String,
    pub host: String,
    pub rack: String,
    /// LIVE, SILENT, LOW_DISK, UNREACHABLE, DRAINING, BLACKLISTED, STOPPED or LOST.
    pub state: String,
    pub map_slots: u32,
    pub reduce_slots: u32,
    pub maps_running: u32,
    pub reduces_running: u32,
    pub last_heartbeat_ms_epoch: Option<u64>,
    /// Its clock less the master's; null before its first vitals.
    pub clock_offset_ms: Option<i64>,
    pub http_address: String,
    /// Of howdah, and which executable of it.
    pub version: String,
    pub build: String,
    /// What keeps it from being of full use, in sentences.
    pub problems: Vec<String>,
    pub failures: u32,
    pub attributes: BTreeMap<String, String>,
    /// Why probes have no value now, by probe.
    pub probe_warnings: BTreeMap<String, String>,
    pub vitals: Option<Vitals>,
}

/// What a worker said of its machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Vitals {
    pub load1: f64,
    pub load5: f64,
    pub load15: f64,
    /// 0 to 1, mean of all cores.
    pub cpu_use: f64,
    pub n_cpus: u32,
    /// Cores that the worker may use: its quota, or all of them.
    pub cpus: f64,
    /// Tasks that run or wait for a core, smoothed.
    pub run_queue: f64,
    /// Of these not the worker's own attempts.
    pub foreign_load: f64,
    /// Frequencies: null when unknown.
    pub cpu_khz: Option<u32>,
    pub max_khz: Option<u32>,
    /// Thousands of cycles a second that one task may use when all map slots run.
    pub effective_khz: Option<u32>,
    pub memory_total_kib: u64,
    pub memory_free_kib: u64,
    pub disk_free_kib: u64,
    /// 0 to 1 for each core.
    pub core_use: Vec<f64>,
    /// host, cgroup or script; null until the worker said.
    pub source: Option<String>,
    #[serde(flatten)]
    pub details: Details,
}

/// What no policy reads of a worker's vitals.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Details {
    /// Of the whole machine, in bytes a second, smoothed.
    pub disk_read_per_s: u64,
    pub disk_written_per_s: u64,
    pub net_received_per_s: u64,
    pub net_sent_per_s: u64,
    /// Share of the last ten seconds in which some task was held up for want of it, 0 to 1; null when unknown.
    pub pressure_cpu: Option<f64>,
    pub pressure_memory: Option<f64>,
    pub pressure_io: Option<f64>,
    /// What came of input that was read ahead; null where the worker does not.
    pub prefetch: Option<Prefetch>,
}

/// Input that was read before its maps started, since the worker's start.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Prefetch {
    pub hits: u64,
    pub misses: u64,
    pub announced_bytes: u64,
    pub wasted_bytes: u64,
    pub retained_hits: u64,
    pub retained_bytes: u64,
    pub dropped_bytes: u64,
}

impl From<howdah_proto::v1::PrefetchCosts> for Prefetch {
    fn from(costs: howdah_proto::v1::PrefetchCosts) -> Prefetch {
        let howdah_proto::v1::PrefetchCosts {
            hits,
            misses,
            announced_bytes,
            wasted_bytes,
            retained_hits,
            retained_bytes,
            dropped_bytes,
        } = costs;
        Prefetch { hits, misses, announced_bytes, wasted_bytes, retained_hits, retained_bytes, dropped_bytes }
    }
}

impl From<&howdah_proto::v1::VitalsDetails> for Details {
    fn from(details: &howdah_proto::v1::VitalsDetails) -> Details {
        let share = |parts: Option<u32>| parts.map(|parts| f64::from(parts) / 1e4);
        Details {
            disk_read_per_s: details.disk_read_per_s,
            disk_written_per_s: details.disk_written_per_s,
            net_received_per_s: details.net_received_per_s,
            net_sent_per_s: details.net_sent_per_s,
            pressure_cpu: share(details.pressure_cpu_parts),
            pressure_memory: share(details.pressure_memory_parts),
            pressure_io: share(details.pressure_io_parts),
            prefetch: details.prefetch.map(Prefetch::from),
        }
    }
}

/// A worker's vitals at one heartbeat.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct PastVitals {
    pub at_ms_epoch: u64,
    /// Attempts that it ran.
    pub running: u32,
    pub load1: f64,
    pub load5: f64,
    pub load15: f64,
    pub run_queue: f64,
    pub foreign_load: f64,
    /// 0 to 1.
    pub cpu_use: f64,
    /// Null when unknown.
    pub cpu_khz: Option<u32>,
    pub effective_khz: Option<u32>,
    pub memory_free_kib: u64,
    pub disk_free_kib: u64,
    #[serde(flatten)]
    pub details: Details,
}

impl From<&howdah_proto::v1::PastVitals> for PastVitals {
    fn from(v: &howdah_proto::v1::PastVitals) -> PastVitals {
        PastVitals {
            at_ms_epoch: v.at_ms_epoch,
            running: v.running,
            load1: f64::from(v.load1_milli) / 1e3,
            load5: f64::from(v.load5_milli) / 1e3,
            load15: f64::from(v.load15_milli) / 1e3,
            run_queue: f64::from(v.run_queue_milli) / 1e3,
            foreign_load: f64::from(v.foreign_milli) / 1e3,
            cpu_use: f64::from(v.cpu_use_parts) / 1e4,
            cpu_khz: (v.cpu_khz > 0).then_some(v.cpu_khz),
            effective_khz: (v.effective_khz > 0).then_some(v.effective_khz),
            memory_free_kib: v.memory_free_kib,
            disk_free_kib: v.disk_free_kib,
            details: v.details.as_ref().map(Details::from).unwrap_or_default(),
        }
    }
}

impl From<&WorkerInfo> for Worker {
    fn from(w: &WorkerInfo) -> Worker {
        Worker {
            worker: w.worker,
            name: w.name.clone(),
            host: w.host.clone(),
            rack: w.rack.clone(),
            state: w.state.clone(),
            map_slots: w.map_slots,
            reduce_slots: w.reduce_slots,
            maps_running: w.maps_running,
            reduces_running: w.reduces_running,
            last_heartbeat_ms_epoch: reached(w.last_heartbeat_ms_epoch),
            clock_offset_ms: w.clock_offset_ms,
            http_address: w.http_address.clone(),
            version: w.version.clone(),
            build: w.build.clone(),
            problems: w.problems.clone(),
            failures: w.failures,
            attributes: w.attributes.clone().into_iter().collect(),
            probe_warnings: w.probe_warnings.clone().into_iter().collect(),
            vitals: w.vitals.as_ref().map(Vitals::from),
        }
    }
}

impl From<&howdah_proto::v1::Vitals> for Vitals {
    fn from(v: &howdah_proto::v1::Vitals) -> Vitals {
        Vitals {
            load1: f64::from(v.load1_milli) / 1e3,
            load5: f64::from(v.load5_milli) / 1e3,
            load15: f64::from(v.load15_milli) / 1e3,
            cpu_use: f64::from(v.cpu_use_parts) / 1e4,
            n_cpus: v.n_cpus,
            cpus: f64::from(v.cpus_milli) / 1e3,
            run_queue: f64::from(v.run_queue_milli) / 1e3,
            foreign_load: f64::from(v.foreign_milli) / 1e3,
            cpu_khz: (v.cpu_khz > 0).then_some(v.cpu_khz),
            max_khz: (v.max_khz > 0).then_some(v.max_khz),
            effective_khz: (v.effective_khz > 0).then_some(v.effective_khz),
            memory_total_kib: v.memory_total_kib,
            memory_free_kib: v.memory_free_kib,
            disk_free_kib: v.disk_free_kib,
            core_use: v.core_use_parts.iter().map(|&parts| f64::from(parts) / 1e4).collect(),
            source: v.details.as_ref().map(|details| details.source.clone()).filter(|source| !source.is_empty()),
            details: v.details.as_ref().map(Details::from).unwrap_or_default(),
        }
    }
}

/// Workers, in the order of their numbers: schema `howdah/workers/v1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Workers {
    pub workers: Vec<Worker>,
}

impl Shape for Workers {
    const NAME: &'static str = "workers";
}
