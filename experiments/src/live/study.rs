//! One workload, run live several times: in repeats on one cluster under each policy, and on other clusters.
//!
//! Repeats take turns: the first of each kind, then the second of each. What changes slowly on the machine so meets all
//! kinds alike, and not the repeats of one more than those of the next.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::cluster::{Cluster, Policy, Shape};
use super::program::Program;
use super::record::{Recorded, record};
use super::speed::Speed;
use super::workload::{Submission, drive};
use super::yardstick::{OFTEN, Yardstick};
use crate::framework::{Lab, make_folder};

/// A core whose other thread is in use was seen to take half as long again for the same work. Cores are held below that.
const HELD: f64 = 1.8;

/// What a piece of work takes on cores that are held, after a run that was measured on cores as they are.
pub(crate) fn held_ms(before: &Speed) -> f64 {
    before.pace().ms[0] * HELD
}

/// What to run where.
pub(crate) struct Study<'a> {
    /// Of its directories.
    pub(crate) name: &'static str,
    /// Where repeats run.
    pub(crate) base: Shape,
    /// Where the same workload runs under the first policy, too.
    pub(crate) others: &'a [Other],
    /// Repeats on the base under each policy, and on each other cluster that is judged; the rest run once.
    pub(crate) repeats: u32,
    /// The workload, for outputs below this directory.
    pub(crate) workload: &'a dyn Fn(&Path) -> Vec<Submission>,
    /// Whether each core is held at one speed while a run goes on, the same for all of them. Before them comes a run whose
    /// jobs nobody looks at: it tells how fast the cores can be, and what a virtual machine has never touched of its
    /// memory is slow once.
    pub(crate) steady: bool,
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

#[derive(Clone, Debug)]
pub(crate) struct LiveRun {
    pub(crate) label: String,
    pub(crate) shape: Shape,
    pub(crate) scheduler: String,
    /// Whether predictions of it are held against the bars.
    pub(crate) judged: bool,
    pub(crate) recorded: Recorded,
    /// How fast the machine was meanwhile.
    pub(crate) speed: Speed,
}

impl Study<'_> {
    /// Runs it all, one cluster after the other; each is gone when this returns, whatever happened.
    ///
    /// # Errors
    /// When a run fails.
    pub(crate) fn run(&self, lab: &Lab<'_>) -> Result<Vec<LiveRun>> {
        let plan = self.plan(&lab.schedulers);
        let all = plan.len();
        let first = plan.first().filter(|_| self.steady);
        let held_ms = first.map(|(_, shape, scheduler, _)| self.before(lab, *shape, scheduler)).transpose()?;
        let mut runs = Vec::new();
        for (n, (label, shape, scheduler, judged)) in plan.into_iter().enumerate() {
            lab.progress.step(&format!("run {} of {all}: {label}, {shape}", n + 1));
            let yardstick = held_ms.map_or_else(|| Yardstick::start(OFTEN), |ms| Yardstick::hold(OFTEN, ms));
            let recorded = self.one(lab, &label, shape, &scheduler).with_context(|| format!("run {label}"))?;
            runs.push(LiveRun { label, shape, scheduler, judged, recorded, speed: yardstick.stop() });
        }
        Ok(runs)
    }

    /// Label, cluster, policy of each run in order, and whether it is judged. The first is the first policy's on the base.
    fn plan(&self, schedulers: &[String]) -> Vec<(String, Shape, String, bool)> {
        let name = self.name;
        let mut plan = Vec::new();
        for n in 1..=self.repeats {
            for scheduler in schedulers {
                plan.push((format!("{name}-{scheduler}-{n}"), self.base, scheduler.clone(), true));
            }
            for (other, first) in self.others.iter().zip(schedulers.first().into_iter().cycle()) {
                if other.judged || n == 1 {
                    let label = format!("{name}-{first}-{}-{n}", other.name);
                    plan.push((label, other.shape, first.clone(), other.judged));
                }
            }
        }
        plan
    }

    /// The run before the others; what a piece of work takes at the speed that cores are held at.
    fn before(&self, lab: &Lab<'_>, shape: Shape, scheduler: &str) -> Result<f64> {
        lab.progress.step(&format!("a run before the others, {shape}"));
        let yardstick = Yardstick::start(OFTEN);
        self.one(lab, &format!("{}-before", self.name), shape, scheduler).context("run before the others")?;
        let speed = yardstick.stop();
        let (fast_ms, held_ms) = (speed.pace().ms[0], held_ms(&speed));
        lab.progress.step(&format!("cores do the fixed work in {fast_ms:.3} ms and are held at {held_ms:.3} ms"));
        Ok(held_ms)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_take_turns_and_a_cluster_that_is_not_judged_runs_once() {
        let study = Study {
            name: "cpu",
            base: Shape::even(2, 1, 1),
            others: &[
                Other { name: "joined", shape: Shape::even(1, 1, 1), judged: true },
                Other { name: "crowded", shape: Shape::even(2, 2, 2), judged: false },
            ],
            repeats: 2,
            workload: &|_| Vec::new(),
            steady: false,
            bound: Duration::ZERO,
        };
        let plan = study.plan(&["fifo".to_owned(), "fair".to_owned()]);
        let labels: Vec<_> = plan.iter().map(|(label, ..)| &label[..]).collect();
        assert_eq!(
            labels,
            [
                "cpu-fifo-1",
                "cpu-fair-1",
                "cpu-fifo-joined-1",
                "cpu-fifo-crowded-1",
                "cpu-fifo-2",
                "cpu-fair-2",
                "cpu-fifo-joined-2"
            ]
        );
        assert!(plan.iter().all(|(label, _, scheduler, judged)| {
            label.contains(scheduler.as_str()) && *judged != label.contains("crowded")
        }));
    }
}
