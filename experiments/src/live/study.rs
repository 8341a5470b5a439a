//! One workload, run live several times: in repeats on one cluster under each policy, and once on each other cluster.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::cluster::{Cluster, Policy, Shape};
use super::program::Program;
use super::record::{Recorded, record};
use super::workload::{Submission, drive};
use crate::framework::{Lab, make_folder};

/// What to run where.
pub(crate) struct Study<'a> {
    /// Of its directories.
    pub(crate) name: &'static str,
    /// Where repeats run.
    pub(crate) base: Shape,
    /// Where the same workload runs once more under the first policy.
    pub(crate) others: &'a [Other],
    /// Repeats on the base under each policy.
    pub(crate) repeats: u32,
    /// The workload, for outputs below this directory.
    pub(crate) workload: &'a dyn Fn(&Path) -> Vec<Submission>,
    /// No run takes longer on a machine that works.
    pub(crate) bound: Duration,
}

/// Another cluster for the same workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    /// Of its directory.
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// Whether predictions of it are held against the bars.
    pub(crate) judged: bool,
}

/// One live run.
#[derive(Clone, Debug)]
pub(crate) struct LiveRun {
    pub(crate) label: String,
    pub(crate) shape: Shape,
    pub(crate) scheduler: String,
    /// Whether predictions of it are held against the bars.
    pub(crate) judged: bool,
    pub(crate) recorded: Recorded,
}

impl Study<'_> {
    /// Runs it all, one cluster after the other; each is gone when this returns, whatever happened.
    ///
    /// # Errors
    /// When a run fails.
    pub(crate) fn run(&self, lab: &Lab<'_>) -> Result<Vec<LiveRun>> {
        let mut plan: Vec<(String, Shape, String, bool)> = Vec::new();
        for scheduler in &lab.schedulers {
            for n in 1..=self.repeats {
                plan.push((format!("{}-{scheduler}-{n}", self.name), self.base, scheduler.clone(), true));
            }
        }
        for (other, first) in self.others.iter().zip(lab.schedulers.first().into_iter().cycle()) {
            let label = format!("{}-{first}-{}", self.name, other.name);
            plan.push((label, other.shape, first.clone(), other.judged));
        }
        let all = plan.len();
        let mut runs = Vec::new();
        for (n, (label, shape, scheduler, judged)) in plan.into_iter().enumerate() {
            lab.progress.step(&format!("run {} of {all}: {label}, {shape}", n + 1));
            let recorded = self.one(lab, &label, shape, &scheduler).with_context(|| format!("run {label}"))?;
            runs.push(LiveRun { label, shape, scheduler, judged, recorded });
        }
        Ok(runs)
    }

    fn one(&self, lab: &Lab<'_>, label: &str, shape: Shape, scheduler: &str) -> Result<Recorded> {
        run_once(lab, label, shape, &Policy::plain(scheduler), self.workload, self.bound)
    }
}

/// One workload on one cluster, which is gone when this returns, whatever happened.
///
/// # Errors
/// When the run fails.
pub(crate) fn run_once(
    lab: &Lab<'_>,
    label: &str,
    shape: Shape,
    policy: &Policy,
    workload: &dyn Fn(&Path) -> Vec<Submission>,
    bound: Duration,
) -> Result<Recorded> {
    let program = Program::new(&lab.program);
    let dir = fresh(&lab.dir.join("runs").join(label))?;
    let results = tempfile::tempdir_in(&lab.dir).context("make a directory for the jobs' results")?;
    let submissions = workload(results.path());
    let mut cluster = Cluster::start(&program, &dir, shape, policy)?;
    drive(&mut cluster, &submissions, bound, lab.progress, label)?;
    cluster.stop()?;
    record(&program, &dir)
}

/// An empty directory; what an earlier run of the experiment left there goes.
pub(crate) fn fresh(dir: &Path) -> Result<PathBuf> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).with_context(|| format!("remove `{}` of an earlier run", dir.display()))?;
    }
    make_folder(dir)
}
