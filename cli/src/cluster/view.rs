//! Workers, queues and the cluster in JSON.

use std::collections::BTreeMap;

use howdah_proto::v1::{GetClusterResponse, QueueInfo, SpeculationRule, WorkerInfo};
use serde::Serialize;

use crate::job::view::Speculation;
use crate::listing::reached;

/// A worker as programs see it.
#[derive(Debug, Serialize)]
pub(crate) struct Worker {
    pub(crate) worker: u32,
    pub(crate) name: String,
    pub(crate) host: String,
    pub(crate) rack: String,
    /// LIVE, SILENT, LOW_DISK, UNREACHABLE, DRAINING, BLACKLISTED, STOPPED or LOST.
    pub(crate) state: String,
    pub(crate) map_slots: u32,
    pub(crate) reduce_slots: u32,
    pub(crate) maps_running: u32,
    pub(crate) reduces_running: u32,
    pub(crate) last_heartbeat_ms_epoch: Option<u64>,
    pub(crate) http_address: String,
    /// Of howdah, and which executable of it.
    pub(crate) version: String,
    pub(crate) build: String,
    /// What keeps it from being of full use, in sentences.
    pub(crate) problems: Vec<String>,
    pub(crate) failures: u32,
    pub(crate) attributes: BTreeMap<String, String>,
    /// Why probes have no value now, by probe.
    pub(crate) probe_warnings: BTreeMap<String, String>,
    pub(crate) vitals: Option<Vitals>,
}

/// What a worker said of its machine.
#[derive(Debug, Serialize)]
pub(crate) struct Vitals {
    pub(crate) load1: f64,
    pub(crate) load5: f64,
    pub(crate) load15: f64,
    /// 0 to 1, mean of all cores.
    pub(crate) cpu_use: f64,
    pub(crate) n_cpus: u32,
    /// Cores that the worker may use: its quota, or all of them.
    pub(crate) cpus: f64,
    /// Tasks that run or wait for a core, smoothed.
    pub(crate) run_queue: f64,
    /// Of these not the worker's own attempts.
    pub(crate) foreign_load: f64,
    /// Frequencies: null when unknown.
    pub(crate) cpu_khz: Option<u32>,
    pub(crate) max_khz: Option<u32>,
    /// Thousands of cycles a second that one task may use when all map slots run.
    pub(crate) effective_khz: Option<u32>,
    pub(crate) memory_total_kib: u64,
    pub(crate) memory_free_kib: u64,
    pub(crate) disk_free_kib: u64,
    /// 0 to 1 for each core.
    pub(crate) core_use: Vec<f64>,
    /// host, cgroup or script; null until the worker said.
    pub(crate) source: Option<String>,
    #[serde(flatten)]
    pub(crate) details: Details,
}

/// What no policy reads of a worker's vitals.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Details {
    /// Of the whole machine, in bytes a second, smoothed.
    pub(crate) disk_read_per_s: u64,
    pub(crate) disk_written_per_s: u64,
    pub(crate) net_received_per_s: u64,
    pub(crate) net_sent_per_s: u64,
    /// Share of the last ten seconds in which some task was held up for want of it, 0 to 1; null when unknown.
    pub(crate) pressure_cpu: Option<f64>,
    pub(crate) pressure_memory: Option<f64>,
    pub(crate) pressure_io: Option<f64>,
    /// What came of input that was read ahead; null where the worker does not.
    pub(crate) prefetch: Option<Prefetch>,
}

/// Input that was read before its maps started, since the worker's start.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Prefetch {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) announced_bytes: u64,
    pub(crate) wasted_bytes: u64,
    pub(crate) retained_hits: u64,
    pub(crate) retained_bytes: u64,
    pub(crate) dropped_bytes: u64,
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
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct PastVitals {
    pub(crate) at_ms_epoch: u64,
    /// Attempts that it ran.
    pub(crate) running: u32,
    pub(crate) load1: f64,
    pub(crate) load5: f64,
    pub(crate) load15: f64,
    pub(crate) run_queue: f64,
    pub(crate) foreign_load: f64,
    /// 0 to 1.
    pub(crate) cpu_use: f64,
    /// Null when unknown.
    pub(crate) cpu_khz: Option<u32>,
    pub(crate) effective_khz: Option<u32>,
    pub(crate) memory_free_kib: u64,
    pub(crate) disk_free_kib: u64,
    #[serde(flatten)]
    pub(crate) details: Details,
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

/// A queue as programs see it.
#[derive(Debug, Serialize)]
pub(crate) struct Queue {
    pub(crate) name: String,
    pub(crate) waiting_jobs: u32,
    pub(crate) running_jobs: u32,
    /// Only of schedulers with queues or pools of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) share: Option<Share>,
}

/// What such a queue has, wants and is due, in slots.
#[derive(Debug, Serialize)]
pub(crate) struct Share {
    pub(crate) running_maps: u32,
    pub(crate) running_reduces: u32,
    pub(crate) demand_maps: u32,
    pub(crate) demand_reduces: u32,
    pub(crate) share_maps: f64,
    pub(crate) share_reduces: f64,
    pub(crate) weight: f64,
}

impl From<&QueueInfo> for Queue {
    fn from(q: &QueueInfo) -> Queue {
        let share = q.share.map(|s| Share {
            running_maps: s.running_maps,
            running_reduces: s.running_reduces,
            demand_maps: s.demand_maps,
            demand_reduces: s.demand_reduces,
            share_maps: s.share_maps,
            share_reduces: s.share_reduces,
            weight: s.weight,
        });
        Queue { name: q.name.clone(), waiting_jobs: q.waiting_jobs, running_jobs: q.running_jobs, share }
    }
}

/// The cluster as programs see it.
#[derive(Debug, Serialize)]
pub(crate) struct Cluster {
    pub(crate) master: String,
    pub(crate) cluster_id: u64,
    pub(crate) version: String,
    pub(crate) scheduler: String,
    /// As they were given; all others have their defaults.
    pub(crate) scheduler_params: BTreeMap<String, String>,
    pub(crate) second_attempts: SpeculationPolicy,
    pub(crate) started_ms_epoch: Option<u64>,
    pub(crate) live_workers: u32,
    pub(crate) lost_workers: u32,
    pub(crate) blacklisted_workers: u32,
    pub(crate) draining_workers: u32,
    /// Without a message for some heartbeats, and not lost yet.
    pub(crate) silent_workers: u32,
    pub(crate) map_slots: u32,
    pub(crate) reduce_slots: u32,
    pub(crate) maps_running: u32,
    pub(crate) reduces_running: u32,
    pub(crate) jobs_prep: u32,
    pub(crate) jobs_running: u32,
    pub(crate) jobs_done: u32,
    pub(crate) interval_ms: u32,
    /// Of all jobs since the master started.
    pub(crate) speculation: Speculation,
    /// What the scheduler noted last, oldest first.
    pub(crate) notes: Vec<Note>,
    /// What it promises and the cluster as it is has not.
    pub(crate) warnings: Vec<String>,
}

/// When a task that runs gets a speculative attempt.
#[derive(Debug, Serialize)]
pub(crate) struct SpeculationPolicy {
    /// none, hadoop, hadoop-0.21, late or load-aware.
    pub(crate) rule: String,
    /// none, a number of attempts, or a share of the slots.
    pub(crate) cap: String,
    pub(crate) dry_run: bool,
}

impl From<SpeculationRule> for SpeculationPolicy {
    fn from(SpeculationRule { rule, cap, dry_run }: SpeculationRule) -> SpeculationPolicy {
        SpeculationPolicy { rule, cap, dry_run }
    }
}

impl SpeculationPolicy {
    /// For people.
    pub(crate) fn line(&self) -> String {
        if self.rule == "none" || self.rule.is_empty() {
            return "none".to_owned();
        }
        let cap = match self.cap.as_str() {
            "none" => "no cap".to_owned(),
            cap => format!("at most {cap} at a time"),
        };
        format!("{}, {cap}{}", self.rule, if self.dry_run { ", dry run: only noted" } else { "" })
    }
}

/// What a scheduler noted.
#[derive(Debug, Serialize)]
pub(crate) struct Note {
    pub(crate) at_ms_epoch: u64,
    pub(crate) text: String,
}

impl Cluster {
    /// As the master at `address` answered.
    pub(crate) fn new(address: &str, c: &GetClusterResponse) -> Cluster {
        Cluster {
            master: address.to_owned(),
            cluster_id: c.cluster_id,
            version: c.version.clone(),
            scheduler: c.scheduler.clone(),
            scheduler_params: c.scheduler_params.clone().into_iter().collect(),
            second_attempts: SpeculationPolicy::from(c.second_attempts.clone().unwrap_or_default()),
            started_ms_epoch: reached(c.started_ms_epoch),
            live_workers: c.live_workers,
            lost_workers: c.lost_workers,
            blacklisted_workers: c.blacklisted_workers,
            draining_workers: c.draining_workers,
            silent_workers: c.silent_workers,
            map_slots: c.map_slots,
            reduce_slots: c.reduce_slots,
            maps_running: c.maps_running,
            reduces_running: c.reduces_running,
            jobs_prep: c.jobs_prep,
            jobs_running: c.jobs_running,
            jobs_done: c.jobs_done,
            interval_ms: c.interval_ms,
            speculation: c.speculation.into(),
            notes: c.notes.iter().map(|n| Note { at_ms_epoch: n.at_ms_epoch, text: n.text.clone() }).collect(),
            warnings: c.warnings.clone(),
        }
    }
}
