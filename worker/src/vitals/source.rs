//! Where vitals come from: which part of the machine is measured, and the frequencies that the cores can have.

use std::fs;

use serde::{Deserialize, Serialize};

/// What the load in a worker's vitals is measured of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VitalsSource {
    /// The worker's control group where it has a quota, else the host.
    #[default]
    Auto,
    /// The whole machine.
    Host,
    /// The worker's own control group, which it makes: several workers on one machine then differ.
    Cgroup,
    /// The whole machine, but for what the program of `vitals_script` says.
    Script,
}

/// Highest frequency of the cores, their mean, in kHz; `None` where frequencies do not change.
pub(super) fn max_khz(n_cpus: usize) -> Option<u32> {
    let of_core = |core: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{core}/cpufreq/cpuinfo_max_freq");
        fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()
    };
    let known: Vec<u64> = (0..n_cpus).filter_map(of_core).collect();
    let sum: u64 = known.iter().sum();
    u32::try_from(sum / (known.len() as u64).max(1)).ok().filter(|&khz| khz > 0)
}
