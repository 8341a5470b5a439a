//! The machine that is calibrated: its cores, its frequency, what its hypervisor takes.

use anyhow::{Context, Result};

use super::place::Place;
use crate::live::{Program, checked, columns, described};

/// Ticks of `/proc/stat` in a second: fixed by Linux's interface to programs.
const TICKS: f64 = 100.0;

/// What a task shares with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Cores of the machine.
    pub n_cpus: usize,
    /// Cores that tasks in the place may use: all, or a control group's quota.
    pub cores: f64,
    /// Their frequency in kHz; 0 when unknown.
    pub khz: u64,
}

impl Machine {
    /// This one, as tasks in `place` see it.
    ///
    /// # Errors
    /// When the kernel does not say how many cores there are, or no process can start in `place`.
    pub(super) fn look(program: &Program, place: &Place) -> Result<Machine> {
        let n_cpus = cpus_in(&stat()?);
        // A process there is asked: the worker's own reading of quotas and permitted cores is the one that counts.
        let mut command = program.command();
        command.args(["calibrate", "--usable-cores", &n_cpus.to_string()]);
        place.join(&mut command);
        let said = described(&command);
        let answer = checked(&said, &command.output().with_context(|| format!("start {said}"))?)?;
        let milli: u32 = answer.trim().parse().with_context(|| format!("read the answer of {said}: `{answer}`"))?;
        let cores = f64::from(milli) / 1e3;
        Ok(Machine { n_cpus, cores, khz: nominal_khz() })
    }
}

/// What the cores say of their frequency now, their mean, in kHz; 0 where they say nothing.
pub fn nominal_khz() -> u64 {
    khz_in(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// What the cores have done so far.
fn stat() -> Result<String> {
    std::fs::read_to_string("/proc/stat").context("read `/proc/stat`")
}

/// A line `cpuN` for each.
fn cpus_in(stat: &str) -> usize {
    let is_one =
        |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    stat.lines().filter(is_one).count().max(1)
}

/// Mean of the cores' present frequencies, which some architectures and most virtual machines do not change.
fn khz_in(cpuinfo: &str) -> u64 {
    let value = |line: &str| line.strip_prefix("cpu MHz")?.split_once(':')?.1.trim().parse::<f64>().ok();
    let all: Vec<f64> = cpuinfo.lines().filter_map(value).collect();
    if all.is_empty() { 0 } else { (all.iter().sum::<f64>() / all.len() as f64 * 1e3) as u64 }
}

/// Seconds that the hypervisor has taken from all cores together since they started.
pub(super) fn stolen() -> Result<f64> {
    stolen_in(&stat()?).context("read `/proc/stat`: its first line has no number of stolen ticks")
}

fn stolen_in(stat: &str) -> Option<f64> {
    Some(*columns(stat, "cpu")?.get(7)? as f64 / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_ticks_are_the_eighth_number_of_all_cores() {
        assert_eq!(stolen_in("cpu  10 20 30 40 50 60 70 250 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"), Some(2.5));
        assert_eq!(stolen_in("cpu  10 20 30\n"), None);
        assert_eq!(cpus_in("cpu  10 20\ncpu0 1 1\ncpu11 1 1\nintr 5\n"), 2);
        assert!(stolen().expect("this is Linux") >= 0.0);
    }

    #[test]
    fn the_frequency_is_the_mean_of_the_cores_and_0_where_none_is_named() {
        assert_eq!(khz_in("processor : 0\ncpu MHz\t\t: 2000.5\ncpu MHz\t\t: 1000.5\n"), 1_500_500);
        assert_eq!(khz_in("processor : 0\nBogoMIPS : 50.00\n"), 0);
    }
}
