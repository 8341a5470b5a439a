//! `calibrate --guard`: sets frequencies for a calibration, by the governor or by a quota, until its input ends.

use std::io::{stdin, stdout};
use std::path::Path;

use anyhow::Context as _;
use howdah_experiments::calibration::{Cpufreq, Frequency, Hello, Slows, USUAL_SHARES, guard, nominal_khz};
use howdah_worker::{QuotaGroup, cpus_milli};
use tokio::signal::unix::{SignalKind, signal};

use crate::calibrate::args::{CalibrateArgs, How};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Does so.
pub(super) fn be_the_guard(args: &CalibrateArgs) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broke(format!("listen for signals: {error}")))?;
    // Whoever ends the calibration may mean this process too; it ends with its input, not before it has put all back.
    let deaf = {
        let _inside = runtime.enter();
        [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal)
    };
    let shares = args.frequencies.as_ref().map_or(&USUAL_SHARES[..], |shares| &shares.0);
    let mut slows: Box<dyn Slows> = match args.frequency {
        How::Quota => Box::new(Quota::new(shares)?),
        _ => Box::new(Governor::new(&args.cores_in, shares)?),
    };
    guard(&mut *slows, stdin().lock(), stdout().lock())?;
    drop(deaf);
    Ok(Exit::Done)
}

/// The kernel's governor.
struct Governor {
    cpufreq: Cpufreq,
    khz: Vec<u64>,
}

impl Governor {
    fn new(cores: &Path, shares: &[f64]) -> anyhow::Result<Governor> {
        let cpufreq = Cpufreq::open(cores)?;
        let khz = cpufreq.nearest(shares);
        if khz.len() < 2 {
            anyhow::bail!("the cores have one frequency near those asked for, {} kHz, expected two or more", khz[0]);
        }
        Ok(Governor { cpufreq, khz })
    }
}

impl Slows for Governor {
    fn hello(&self) -> Hello {
        let at = |&khz: &u64| Frequency { nominal_khz: khz, effective_khz: khz };
        Hello { group: None, frequencies: self.khz.iter().map(at).collect() }
    }

    fn set(&mut self, place: usize) -> anyhow::Result<()> {
        self.cpufreq.pin(self.khz[place]).map(drop)
    }

    fn release(&mut self) -> anyhow::Result<()> {
        self.cpufreq.restore()
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.cpufreq.restore()
    }
}

/// A group with a quota: the core stays as fast as it is, and the work has it for a part of the time.
struct Quota {
    group: Option<QuotaGroup>,
    khz: u64,
    /// Of one core, in thousandths; descending.
    milli: Vec<u32>,
}

impl Quota {
    fn new(shares: &[f64]) -> anyhow::Result<Quota> {
        let khz = nominal_khz();
        if khz == 0 {
            anyhow::bail!("this machine does not tell its cores' frequency, expected `cpu MHz` in `/proc/cpuinfo`");
        }
        // In a group that has less than a core the whole is what it has.
        let n_cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        let whole = cpus_milli(n_cpus).min(1_000);
        let mut milli: Vec<u32> = shares.iter().map(|share| (share * f64::from(whole)).round() as u32).collect();
        milli.sort_unstable_by(|a, b| b.cmp(a));
        milli.dedup();
        Ok(Quota { group: Some(QuotaGroup::make(milli[0])?), khz, milli })
    }
}

impl Slows for Quota {
    fn hello(&self) -> Hello {
        let at = |&milli: &u32| Frequency { nominal_khz: self.khz, effective_khz: self.khz * u64::from(milli) / 1_000 };
        let group = self.group.as_ref().map(|group| group.dir().to_owned());
        Hello { group, frequencies: self.milli.iter().map(at).collect() }
    }

    fn set(&mut self, place: usize) -> anyhow::Result<()> {
        self.group.as_ref().context("the group is gone")?.set(self.milli[place])
    }

    fn release(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let dir = group.dir().to_owned();
        drop(group);
        anyhow::ensure!(!dir.exists(), "control group `{}` is left, expected it to be removed", dir.display());
        Ok(())
    }
}
