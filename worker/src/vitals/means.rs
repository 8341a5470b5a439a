//! What of a full sample is noisy, smoothed: the use of the cores, and their present frequency.
//!
//! Both are of an instant or of the two seconds since the sample before, and jump with every short task. They are smoothed
//! as the run queue is, so that all that a policy compares is of the same seconds. Load averages and pressure are the
//! kernel's own means; memory and disk are levels, of which the newest is the best.

use std::time::{Duration, Instant};

use sysinfo::Cpu;

use super::smooth::Smoothed;

#[derive(Debug)]
pub(super) struct CoreMeans {
    constant: Duration,
    /// Share of each core, 0 to 1.
    each: Vec<Smoothed>,
    /// Share of all that the worker measures.
    all: Smoothed,
    /// Present frequency in kHz, mean of the cores.
    khz: Smoothed,
    /// When they were last added to; the first look has no use of the cores, which takes two.
    looked: Option<Instant>,
}

impl CoreMeans {
    pub(super) fn new(constant: Duration) -> CoreMeans {
        let none = Smoothed::new(constant);
        CoreMeans { constant, each: Vec::new(), all: none, khz: none, looked: None }
    }

    /// Takes what was measured; `group_use` is the share of its cores that the measured group used, and `None` of the host.
    pub(super) fn add(&mut self, cpus: &[Cpu], group_use: Option<f64>) {
        let uses: Vec<f64> = cpus.iter().map(|cpu| f64::from(cpu.usage()) / 100.0).collect();
        let khz = cpus.iter().map(|cpu| cpu.frequency() as f64 * 1e3).sum::<f64>() / cpus.len().max(1) as f64;
        let passed = self.looked.map(|looked| looked.elapsed());
        self.looked = Some(Instant::now());
        self.take(&uses, khz, group_use, passed);
    }

    fn take(&mut self, uses: &[f64], khz: f64, group_use: Option<f64>, passed: Option<Duration>) {
        self.khz.add(khz, passed.unwrap_or_default());
        self.each.resize(uses.len(), Smoothed::new(self.constant));
        let Some(passed) = passed else { return };
        let uses = uses.iter().map(|share| share.clamp(0.0, 1.0));
        let mean = uses.clone().sum::<f64>() / self.each.len().max(1) as f64;
        self.each.iter_mut().zip(uses).for_each(|(core, share)| core.add(share, passed));
        self.all.add(group_use.map_or(mean, |share| share.clamp(0.0, 1.0)), passed);
    }

    /// Of each core in ten-thousandths.
    pub(super) fn each_parts(&self) -> Vec<u32> {
        self.each.iter().map(|core| parts(core.get())).collect()
    }

    /// Of all cores, or of those that the group may use, in ten-thousandths.
    pub(super) fn all_parts(&self) -> u16 {
        parts(self.all.get()) as u16
    }

    /// In kHz; 0 when unknown.
    pub(super) fn khz(&self) -> u32 {
        self.khz.get().round().min(f64::from(u32::MAX)) as u32
    }
}

fn parts(share: f64) -> u32 {
    (share * 1e4).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Option<Duration> = Some(Duration::from_secs(2));

    #[test]
    fn a_burst_shows_by_half_after_two_seconds_and_nothing_before_there_were_two_looks() {
        let mut means = CoreMeans::new(Duration::from_secs(3));
        means.take(&[1.0, 1.0], 2e6, None, None);
        assert_eq!((means.all_parts(), means.each_parts(), means.khz()), (0, vec![0, 0], 2_000_000));
        means.take(&[0.0, 0.5], 2e6, None, TWO);
        assert_eq!((means.all_parts(), means.each_parts()), (2_500, vec![0, 5_000]), "the first use counts in full");
        means.take(&[1.0, 0.5], 1e6, None, TWO);
        // 1 − e^(−2 ÷ 3) = 0.4866.
        assert_eq!((means.all_parts(), means.each_parts()), (4_933, vec![4_866, 5_000]));
        assert_eq!(means.khz(), 1_513_417);
    }

    #[test]
    fn a_groups_use_takes_the_place_of_the_hosts_and_cores_stay_the_hosts() {
        let mut means = CoreMeans::new(Duration::from_secs(3));
        means.take(&[1.0, 0.0], 0.0, Some(0.0), None);
        means.take(&[1.0, 0.0], 0.0, Some(0.25), TWO);
        assert_eq!((means.all_parts(), means.each_parts(), means.khz()), (2_500, vec![10_000, 0], 0));
    }
}
