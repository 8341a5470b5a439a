//! `makespan-testbed`: three schedules of one batch on real daemons, and in simulation (balanced-pools Fig. 14, §4.3).
//!
//! The batch runs once to be profiled, then five times under each schedule, each time by one command
//! (`howdah submit --batch`) on a fresh cluster. Simulated are the same plans, from the profile alone.

mod jobs;
mod page;
mod schedule;

pub(super) use self::schedule::{SHAPE, SLOTS, Schedule};

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_core::job::profile::Trace;
use howdah_planning::accuracy::measured_makespan_s;
use howdah_planning::optimize::{Batch, Method, plan};

use crate::framework::{About, Check, Experiment, Lab, Needs, Outcome, papers};
use crate::live::{BatchRun, Recorded};

/// The experiment.
pub(crate) struct MakespanTestbed;

/// Stated in the paper's text (§4.3).
const ERROR: f64 = 0.04;
/// Name, `--order`, scheduler, method.
const SCHEDULES: [(&str, &str, &str, Method); 3] = [
    ("R-Johnson", "reverse-johnson", "fifo", Method::ReverseJohnson),
    ("Johnson", "johnson", "fifo", Method::Johnson),
    ("BalancedPools", "balanced-pools", "balanced-pools", Method::BALANCED_POOLS),
];

impl Experiment for MakespanTestbed {
    fn about(&self) -> About {
        About {
            name: "makespan-testbed",
            line: "Three schedules of one batch on real daemons, and how near simulation comes to them",
            paper: papers::BALANCED_POOLS,
            figure: "Figure 14",
            needs: Needs::LiveRuns,
            estimate_s: [660, 100],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let (seed, jobs) = jobs::with_an_effect(lab.seed, lab.quick)?;
        let file = lab.write(
            "makespan-testbed-batch.toml",
            &jobs::batch_file(&jobs, "makespan-testbed-profile.jsonl", &lab.dir),
        )?;
        lab.progress.step("a run to profile");
        let profile = live(lab, &file, "profile", "asis", "fifo")?.trace;
        lab.write("makespan-testbed-profile.jsonl", &text(&profile)?)?;
        let mut schedules = Vec::new();
        for (name, _, _, method) in SCHEDULES {
            let plan = plan(&Batch::new(&profile, SLOTS), method).with_context(|| format!("simulate {name}"))?;
            schedules.push(Schedule { name, plan, measured: Vec::new(), decisions: (0, 0) });
        }
        let trials = lab.repeats.unwrap_or(lab.size(5, 2)).max(1);
        for trial in 1..=trials {
            // By turns, so that whatever else the machine does meets all three.
            for (schedule, (name, order, scheduler, _)) in schedules.iter_mut().zip(SCHEDULES) {
                lab.progress.step(&format!("trial {trial} of {trials}: {name}"));
                let recorded = live(lab, &file, &format!("{order}-{trial}"), order, scheduler)?;
                schedule.measured.push(measured_makespan_s(&recorded.trace));
                schedule.decisions.0 += recorded.compared;
                schedule.decisions.1 += recorded.identical;
            }
        }
        let checks = checks(lab, &schedules);
        let files = page::write(lab, &self.about(), &profile, seed, &schedules, &checks)?;
        Ok(Outcome { files, checks })
    }
}

fn live(lab: &Lab<'_>, file: &PathBuf, label: &str, order: &str, scheduler: &str) -> Result<Recorded> {
    BatchRun { label, shape: SHAPE, scheduler, file, order, bound: Duration::from_secs(300) }.run(lab)
}

/// A trace in the project's format.
fn text(trace: &Trace) -> Result<String> {
    let mut bytes = Vec::new();
    howdah_traces::howdah::write(trace, &mut bytes).context("write the profile")?;
    String::from_utf8(bytes).context("write the profile")
}

fn checks(lab: &Lab<'_>, schedules: &[Schedule]) -> Vec<Check> {
    let judged = !lab.quick;
    let mut checks: Vec<Check> = schedules
        .iter()
        .map(|schedule| Check {
            what: format!("{}: simulated against measured makespan", schedule.name),
            found: schedule.error().abs(),
            bar: ERROR,
            judged,
        })
        .collect();
    for pair in schedules.windows(2) {
        let [slower, faster] = pair else { continue };
        checks.push(Check {
            what: format!("slowest {} as a share of the fastest {}", faster.name, slower.name),
            found: faster.most() / slower.least(),
            bar: 1.0,
            judged,
        });
    }
    checks.push(Check::decisions("", schedules.iter().map(|one| one.decisions)));
    checks
}
