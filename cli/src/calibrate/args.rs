//! Flags of `calibrate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::FormatArgs;
use crate::units::parse_duration;

/// `howdah calibrate`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
The same work runs again and again while `howdah load` keeps so many other tasks busy; two
curves are fitted to its times, and the better one is what a load-aware cluster is configured with.
Where frequencies can be set it also runs at several of them. That needs root, and whatever ends
it, they are put back.

  howdah calibrate -o w1.toml --plot w1.svg
  howdah scheduler set load-aware -D load-aware.curve=below=0.02,linear=1.01

More:
  howdah calibrate --mapper './solve.py' --input puzzles.txt      a job's own program instead of sudokus
  howdah calibrate --loads 0,1,2,4,8 --repeats 5 --task 5s
  howdah calibrate --frequency quota --frequency-plot f1.svg      slower cores by quotas, on any machine
  howdah calibrate --group /sys/fs/cgroup/cpu/howdah-worker       as the tasks of a worker with a quota")]
pub(crate) struct CalibrateArgs {
    /// Busy tasks beside the work [default: none, half of the cores, and 1, 2 and 3 times the cores]
    #[arg(long, value_name = "LIST", value_parser = parse_loads)]
    pub(crate) loads: Option<Loads>,
    /// Runs at each load, by turns
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeats: u32,
    /// How long the sudokus are to take without load
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "2s", conflicts_with = "mapper")]
    pub(crate) task: Duration,
    /// Measure this program instead of sudokus, run by the shell
    #[arg(long, value_name = "CMD", requires = "input")]
    pub(crate) mapper: Option<String>,
    /// The program's standard input
    #[arg(long, value_name = "FILE", requires = "mapper")]
    pub(crate) input: Option<PathBuf>,
    /// Also measure time against frequency: set by the cores' governor, or played by quotas
    #[arg(long, value_name = "HOW", value_enum, default_value_t = How::Auto)]
    pub(crate) frequency: How,
    /// Shares of the highest frequency to measure at [default: 1,0.75,0.5,0.35,0.25]
    #[arg(long, value_name = "LIST", value_parser = parse_shares)]
    pub(crate) frequencies: Option<Shares>,
    /// Run work and load in this control group; of several lines, as in a worker's file `cgroup`, the first counts
    #[arg(long, value_name = "PATH", value_parser = parse_group)]
    pub(crate) group: Option<PathBuf>,
    /// Write the curve and its measurements (TOML)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Draw measurements and curves (.svg)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw measurements against frequency (.svg)
    #[arg(long, value_name = "FILE")]
    pub(crate) frequency_plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Be who sets frequencies and puts them back when standard input ends
    #[arg(long, hide = true)]
    pub(crate) guard: bool,
    /// Where the kernel's folder of cores is
    #[arg(long, value_name = "DIR", hide = true, default_value = howdah_experiments::calibration::CORES)]
    pub(crate) cores_in: PathBuf,
    /// Be the work: so many rounds of sudoku, then end
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) rounds: Option<u64>,
    /// Say how many of the machine's N cores a process may use, in thousandths, then end
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) usable_cores: Option<u32>,
}

/// `--frequency`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum How {
    /// The governor if it permits; else frequency is left out, and the page says why
    Auto,
    /// Through the kernel's cpufreq files; needs root, and cores whose frequency can be set
    Governor,
    /// A control group's quota leaves the work so many cycles as a slower core would
    Quota,
    /// Frequency is left out
    None,
}

impl How {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            How::Auto => "auto",
            How::Governor => "governor",
            How::Quota => "quota",
            How::None => "none",
        }
    }
}

/// A worker of control groups of version 1 has one for each controller, and names that with the quota first.
fn parse_group(text: &str) -> Result<PathBuf, String> {
    match text.lines().next().map(str::trim) {
        Some(first) if !first.is_empty() => Ok(PathBuf::from(first)),
        _ => Err("expected the directory of a control group".to_owned()),
    }
}

/// Shares of a frequency, at least two different ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shares(pub(crate) Vec<f64>);

/// The smallest share: below a twentieth of a core there is no quota.
const LEAST_SHARE: f64 = 0.05;

fn parse_shares(text: &str) -> Result<Shares, String> {
    let one = |word: &str| word.trim().parse::<f64>().ok().filter(|share| (LEAST_SHARE..=1.0).contains(share));
    match text.split(',').map(one).collect::<Option<Vec<f64>>>() {
        Some(shares) if shares.iter().any(|share| *share != shares[0]) => Ok(Shares(shares)),
        _ => Err("expected two or more different numbers from 0.05 to 1 with commas, such as 1,0.5,0.25".to_owned()),
    }
}

/// Foreign loads, at least two different ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loads(pub(crate) Vec<f64>);

fn parse_loads(text: &str) -> Result<Loads, String> {
    let one = |word: &str| word.trim().parse::<f64>().ok().filter(|load| (0.0..=1_000.0).contains(load));
    let loads: Option<Vec<f64>> = text.split(',').map(one).collect();
    match loads {
        Some(loads) if loads.iter().any(|load| *load != loads[0]) => Ok(Loads(loads)),
        _ => Err("expected two or more different numbers from 0 to 1000 with commas, such as 0,1,2,4".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_two_or_more_different_numbers() {
        assert_eq!(parse_loads("0, 1.5,4"), Ok(Loads(vec![0.0, 1.5, 4.0])));
        for wrong in ["", "1", "2,2", "1,x", "-1,2", "0,NaN", "0,inf"] {
            assert!(parse_loads(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_group_is_the_first_line_of_what_a_worker_says_of_its_own() {
        let group = Ok(PathBuf::from("/sys/fs/cgroup/cpu/howdah-7"));
        assert_eq!(parse_group("/sys/fs/cgroup/cpu/howdah-7\n/sys/fs/cgroup/cpuacct/howdah-7\n"), group);
        assert_eq!(parse_group("/sys/fs/cgroup/cpu/howdah-7"), group);
        for wrong in ["", "\n/sys/fs/cgroup/cpuacct/howdah-7"] {
            assert_eq!(parse_group(wrong), Err("expected the directory of a control group".to_owned()), "{wrong:?}");
        }
    }

    #[test]
    fn shares_are_two_or_more_different_parts_of_one() {
        assert_eq!(parse_shares("1, 0.5"), Ok(Shares(vec![1.0, 0.5])));
        for wrong in ["", "1", "0.5,0.5", "1,0", "1,1.5", "1,x", "1,NaN"] {
            assert!(parse_shares(wrong).is_err(), "{wrong}");
        }
    }
}
