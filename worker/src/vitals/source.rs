//! Where vitals come from: which part of the machine is measured, and the frequencies that the cores can have.

use std::fs;
use std::path::Path;

use howdah_core::tracker::Vitals;
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

/// Where the kernel has a folder for each core.
pub(super) const CORES: &str = "/sys/devices/system/cpu";

/// Highest frequency of the cores, their mean, in kHz; `None` where frequencies do not change.
pub(super) fn max_khz(cores: &Path, n_cpus: usize) -> Option<u32> {
    mean_khz(cores, n_cpus, "cpuinfo_max_freq")
}

/// Highest frequency that the cores may have now, their mean, in kHz; `None` where frequencies do not change. An idle core
/// is slower than that, and is as fast once a task runs on it.
pub(super) fn limit_khz(cores: &Path, n_cpus: usize) -> Option<u32> {
    mean_khz(cores, n_cpus, "scaling_max_freq")
}

fn mean_khz(cores: &Path, n_cpus: usize, name: &str) -> Option<u32> {
    let of_core = |core: usize| {
        let path = cores.join(format!("cpu{core}/cpufreq/{name}"));
        fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()
    };
    let known: Vec<u64> = (0..n_cpus).filter_map(of_core).collect();
    let sum: u64 = known.iter().sum();
    u32::try_from(sum / (known.len() as u64).max(1)).ok().filter(|&khz| khz > 0)
}

/// The effective frequency: of the limit in force, or of the present frequency where there is none.
pub(super) fn effective_khz(vitals: &Vitals, limit_khz: Option<u32>, map_slots: u16) -> u32 {
    let may = Vitals { cpu_khz: limit_khz.unwrap_or(vitals.cpu_khz), ..*vitals };
    may.effective_khz_for(map_slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_worker_is_as_fast_as_its_cores_may_be() {
        let dir = tempfile::tempdir().unwrap();
        for (core, limit) in [("cpu0", "2000000\n"), ("cpu1", "1000000\n")] {
            let folder = dir.path().join(core).join("cpufreq");
            fs::create_dir_all(&folder).unwrap();
            for (name, khz) in
                [("scaling_max_freq", limit), ("cpuinfo_max_freq", "2268000\n"), ("scaling_cur_freq", "400000\n")]
            {
                fs::write(folder.join(name), khz).unwrap();
            }
        }
        let limit = limit_khz(dir.path(), 2);
        assert_eq!((limit, max_khz(dir.path(), 2)), (Some(1_500_000), Some(2_268_000)));
        let idle = Vitals { n_cpus: 2, cpus_milli: 2_000, cpu_khz: 400_000, ..Vitals::default() };
        assert_eq!(effective_khz(&idle, limit, 2), 1_500_000);
        assert_eq!(effective_khz(&Vitals { cpus_milli: 500, ..idle }, limit, 1), 750_000, "a quota still counts");
        let none = limit_khz(&dir.path().join("cpu0"), 2);
        assert_eq!((none, effective_khz(&idle, none, 2)), (None, 400_000), "frequencies that do not change");
    }
}
