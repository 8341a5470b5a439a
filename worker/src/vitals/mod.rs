//! What the worker measures of its machine: load, use of each core, frequency, memory, disk.
//!
//! A thread of its own looks at the run queue several times a second and at everything else on a slower beat;
//! everything is quantised here, at the edge, and a heartbeat copies the newest sample. What can be measured for a
//! part of the machine has a source: the host, or the worker's control group.

mod details;
mod means;
mod milli;
pub(crate) mod proc;
mod queue;
mod script;
mod smooth;
mod source;

pub(crate) use queue::OwnProcesses;
pub use source::VitalsSource;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::Context;
use howdah_core::tracker::Vitals;
use howdah_proto::v1;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::cgroup::{WorkerGroup, cpus_milli};
use crate::directory::Directory;
use details::Details;
use means::CoreMeans;
use proc::LoadAverage;
use queue::{RunQueue, Scope};
use script::Script;

/// Between two looks at the run queue, on average.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The newest sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Counts the full samples: what is not the run queue is new when it is larger.
    pub(crate) number: u64,
    pub(crate) vitals: Vitals,
    /// Use of each core in ten-thousandths.
    pub(crate) core_use_parts: Vec<u32>,
    pub(crate) details: v1::VitalsDetails,
    /// Why the script's last run said nothing.
    pub(crate) script_trouble: Option<String>,
}

/// Shared by the sampler and the driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct VitalsCell(Arc<Mutex<Sample>>);

impl VitalsCell {
    pub(crate) fn get(&self) -> Sample {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What to sample and how.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Of what is not the run queue.
    pub(crate) every: Duration,
    /// Time constant of what is noisy: the run queue, the cores' use and frequency, rates of disks and network.
    pub(crate) smoothing: Duration,
    pub(crate) map_slots: u16,
    pub(crate) directory: Directory,
    /// Of the attempts.
    pub(crate) own: OwnProcesses,
    /// The group to measure instead of the host.
    pub(crate) group: Option<WorkerGroup>,
    /// A command whose answers replace what is measured.
    pub(crate) script: Option<String>,
}

/// Samples now, so that the first heartbeat has values, then on both beats until the last cell is gone.
pub(crate) fn start(plan: Plan) -> anyhow::Result<VitalsCell> {
    let mut sampler = Sampler::new(plan)?;
    let cell = VitalsCell(Arc::new(Mutex::new(sampler.sample())));
    let shared = Arc::downgrade(&cell.0);
    let thread = std::thread::Builder::new().name("vitals".to_owned());
    thread.spawn(move || sampler.run(&shared)).context("start the thread that samples vitals")?;
    Ok(cell)
}

struct Sampler {
    plan: Plan,
    scope: Scope,
    kinds: RefreshKind,
    system: System,
    queue: RunQueue,
    machine: LoadAverage,
    looked: Instant,
    details: Details,
    script: Option<Script>,
    samples: u64,
    cores: CoreMeans,
    /// CPU time of the group at the last full sample.
    group_use: Option<(Instant, u64)>,
    looks: u32,
    /// What the cores may have at most, at the last full sample.
    limit_khz: Option<u32>,
}

impl Sampler {
    fn new(plan: Plan) -> anyhow::Result<Sampler> {
        let cpu = CpuRefreshKind::nothing().with_usage().with_frequency();
        let kinds = RefreshKind::nothing().with_cpu(cpu).with_memory(MemoryRefreshKind::nothing().with_ram());
        let group = plan.group.as_ref().and_then(|group| group.dirs().first());
        let start = |command: &String| Script::start(command.clone(), plan.every, plan.own.clone());
        let script = plan.script.as_ref().map(start).transpose();
        Ok(Sampler {
            details: Details::new(plan.smoothing),
            cores: CoreMeans::new(plan.smoothing),
            script: script.context("start the thread of the vitals' script")?,
            samples: 0,
            scope: group.map_or(Scope::Host, |dir| Scope::Group(dir.clone())),
            kinds,
            system: System::new_with_specifics(kinds).context("measure this machine")?,
            queue: RunQueue::new(plan.smoothing),
            machine: LoadAverage::default(),
            looked: Instant::now(),
            group_use: None,
            looks: 0,
            limit_khz: None,
            plan,
        })
    }

    fn run(mut self, cell: &Weak<Mutex<Sample>>) {
        let mut sampled = Instant::now();
        loop {
            // Uneven, or what happens at the same pace would always or never be seen.
            self.looks = self.looks.wrapping_add(1);
            let uneven = self.looks.wrapping_mul(0x9E37_79B1) >> 25;
            std::thread::sleep(LOOK_EVERY - Duration::from_millis(64) + Duration::from_millis(uneven.into()));
            let Some(cell) = cell.upgrade() else { return };
            if sampled.elapsed() >= self.plan.every {
                sampled = Instant::now();
                self.system.refresh_specifics(self.kinds);
                let sample = self.sample();
                *cell.lock().unwrap_or_else(PoisonError::into_inner) = sample;
            } else {
                self.look();
                let mut sample = cell.lock().unwrap_or_else(PoisonError::into_inner);
                self.put_queue(&mut sample.vitals);
            }
        }
    }

    /// Counts tasks.
    fn look(&mut self) {
        self.machine = proc::load_average().unwrap_or_default();
        let counts = self.scope.count(&self.plan.own, &self.machine);
        self.queue.add(counts, self.looked.elapsed());
        self.looked = Instant::now();
    }

    fn put_queue(&self, vitals: &mut Vitals) {
        let averages = match self.scope {
            Scope::Host => self.machine.milli,
            Scope::Group(_) => self.queue.averages_milli(),
        };
        [vitals.load1_milli, vitals.load5_milli, vitals.load15_milli] = averages;
        vitals.run_queue_milli = self.queue.all_milli();
        vitals.foreign_milli = self.queue.foreign_milli();
        let mut limit_khz = self.limit_khz;
        if let Some(script) = &self.script {
            let own = vitals.run_queue_milli.saturating_sub(vitals.foreign_milli);
            let said = script.said();
            said.put(vitals, own);
            limit_khz = limit_khz.filter(|_| !said.has_frequency());
        }
        vitals.effective_khz = source::effective_khz(vitals, limit_khz, self.plan.map_slots);
    }

    /// Everything, of what `system` read last.
    fn sample(&mut self) -> Sample {
        self.look();
        let count = self.system.cpus().len().max(1) as u64;
        let cpus_milli = cpus_milli(count as u32);
        let group_use = self.group_use(cpus_milli);
        self.cores.add(self.system.cpus(), group_use);
        let cpu_khz = self.cores.khz();
        let cores = std::path::Path::new(source::CORES);
        self.limit_khz = source::limit_khz(cores, count as usize);
        let mut vitals = Vitals {
            cpu_use_parts: self.cores.all_parts(),
            n_cpus: count.min(u64::from(u16::MAX)) as u16,
            cpus_milli,
            cpu_khz,
            max_khz: source::max_khz(cores, count as usize).unwrap_or(cpu_khz),
            memory_total_kib: self.system.total_memory() / 1_024,
            memory_free_kib: self.system.available_memory() / 1_024,
            disk_free_kib: self.plan.directory.free_bytes().unwrap_or(0) / 1_024,
            ..Vitals::default()
        };
        self.put_queue(&mut vitals);
        let (source, group) = match &self.scope {
            _ if self.script.is_some() => ("script", None),
            Scope::Host => ("host", None),
            Scope::Group(dir) => ("cgroup", Some(dir.as_path())),
        };
        self.samples += 1;
        let details = self.details.read(source, group);
        let script_trouble = self.script.as_ref().and_then(Script::trouble);
        Sample { number: self.samples, vitals, core_use_parts: self.cores.each_parts(), details, script_trouble }
    }

    /// The share that the group used since the last call of the cores that it may use; `None` without a group, or where
    /// it does not count.
    fn group_use(&mut self, cpus_milli: u32) -> Option<f64> {
        let now = (Instant::now(), self.plan.group.as_ref()?.cpu_us()?);
        let before = self.group_use.replace(now).unwrap_or(now);
        let possible_us = now.0.duration_since(before.0).as_secs_f64() * 1e3 * f64::from(cpus_milli);
        Some(now.1.saturating_sub(before.1) as f64 / possible_us.max(1.0))
    }
}
