//! What the worker measures of its machine: load, use of each core, frequency, memory, disk.
//!
//! Sampled on a beat of its own and quantised here, at the edge; a heartbeat copies the newest sample.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use howdah_shared::tracker::Vitals;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::directory::Directory;

/// The newest sample and the use of each core in ten-thousandths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) vitals: Vitals,
    pub(crate) core_use_parts: Vec<u32>,
}

/// Shared by the sampler and the driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct VitalsCell(Arc<Mutex<Sample>>);

impl VitalsCell {
    pub(crate) fn get(&self) -> Sample {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, sample: Sample) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = sample;
    }
}

/// Samples now, so that the first heartbeat has values, then on a beat until the runtime ends.
pub(crate) fn start(directory: Directory, every: Duration) -> anyhow::Result<VitalsCell> {
    let cell = VitalsCell::default();
    let cpu = CpuRefreshKind::nothing().with_usage().with_frequency();
    let memory = MemoryRefreshKind::nothing().with_ram();
    let kinds = RefreshKind::nothing().with_cpu(cpu).with_memory(memory);
    let mut system = System::new_with_specifics(kinds).context("measure this machine")?;
    cell.set(sample(&system, &directory));
    let shared = cell.clone();
    tokio::spawn(async move {
        let mut beat = tokio::time::interval(every.max(Duration::from_millis(200)));
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        beat.tick().await;
        loop {
            beat.tick().await;
            system.refresh_specifics(kinds);
            shared.set(sample(&system, &directory));
        }
    });
    Ok(cell)
}

fn sample(system: &System, directory: &Directory) -> Sample {
    let load = System::load_average().unwrap_or_default();
    let cpus = system.cpus();
    let core_use_parts: Vec<u32> = cpus.iter().map(|cpu| (cpu.usage().clamp(0.0, 100.0) * 100.0) as u32).collect();
    let count = core_use_parts.len().max(1) as u64;
    let mean_khz = cpus.iter().map(|cpu| cpu.frequency() * 1_000).sum::<u64>() / count;
    let vitals = Vitals {
        load1_milli: milli(load.one),
        load5_milli: milli(load.five),
        load15_milli: milli(load.fifteen),
        cpu_use_parts: (core_use_parts.iter().map(|&parts| u64::from(parts)).sum::<u64>() / count) as u16,
        n_cpus: core_use_parts.len().min(usize::from(u16::MAX)) as u16,
        cpus_milli: u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(1_000),
        run_queue_milli: milli(load.one),
        foreign_milli: 0,
        cpu_khz: u32::try_from(mean_khz).unwrap_or(u32::MAX),
        max_khz: 0,
        effective_khz: u32::try_from(mean_khz).unwrap_or(u32::MAX),
        memory_total_kib: system.total_memory() / 1_024,
        memory_free_kib: system.available_memory() / 1_024,
        disk_free_kib: directory.free_bytes() / 1_024,
    };
    Sample { vitals, core_use_parts }
}

fn milli(load: f64) -> u32 {
    (load.max(0.0) * 1_000.0).min(f64::from(u32::MAX)) as u32
}
