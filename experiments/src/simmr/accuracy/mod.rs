//! `simmr-accuracy`: simulated against measured completion times, after SimMR Fig. 5.
//!
//! Two workloads run live: one whose tasks sleep, on more workers than there are cores, where every error is ours;
//! and one that computes, on no more slots of a kind than cores, where repeats differ by themselves. Each is
//! predicted from its own profile, from another repeat's, and from a run on another cluster or under another policy.
//!
//! On a machine whose cores have other tenants repeats of the second would differ by more than a simulation is off. So its
//! cores are held at one speed: see [`crate::live`]'s `steady`. How steady they were then is on the page as well: each
//! repeat also stands as it was for a prediction of the others, several runs are predicted together from several
//! others, and each run is predicted once more with the speed that its cores had, which a fixed piece of work beside it
//! measures. None of it replaces the plain reading: one run's profile for one other run.

mod bar;
mod bars;
mod cpu;
mod errors;
mod notes;
mod page;
mod sleep;

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::framework::{About, Experiment, Lab, Needs, Outcome, papers};
use crate::live::{Other, Shape, Study};
use errors::Findings;

/// The experiment.
pub(crate) struct SimMrAccuracy;

impl Experiment for SimMrAccuracy {
    fn about(&self) -> About {
        About {
            name: "simmr-accuracy",
            line: "How far simulated completion times are from those of live runs",
            paper: papers::SIMMR,
            figure: "Figure 5",
            needs: Needs::LiveRuns,
            estimate_s: [1_500, 150],
        }
    }

    fn takes_schedulers(&self) -> bool {
        true
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        ensure!(!lab.schedulers.is_empty(), "no scheduler was named, expected at least one");
        let repeats = |full: u32| lab.repeats.unwrap_or(lab.size(full, 2)).max(1);
        let jobs = sleep::jobs(lab)?;
        let sleep = Study {
            name: "sleep",
            base: Shape::even(16, 2, 2),
            others: &[Other { name: "half", shape: Shape::even(8, 2, 2), judged: true }],
            repeats: repeats(3),
            workload: &|_| jobs.clone(),
            steady: false,
            bound: Duration::from_secs(300),
        };
        let sleep = Findings::of(&sleep.run(lab)?, false)?;
        lab.progress.step("making the input of the computing workload");
        let inputs = cpu::Inputs::make(lab)?;
        let cpu = Study {
            name: "cpu",
            base: cpu::BASE,
            others: &cpu::OTHERS,
            // Two against two when several are taken together.
            repeats: repeats(4),
            workload: &|results| cpu::jobs(&inputs, lab.seed, results),
            steady: true,
            bound: Duration::from_secs(900),
        };
        let cpu = Findings::of(&cpu.run(lab)?, true)?;
        let mut checks = sleep.checks("sleep", &sleep::BARS, !lab.quick);
        checks.extend(cpu.checks("cpu", &cpu::BARS, !lab.quick));
        let workloads = [("sleep", &sleep, &sleep::BARS), ("cpu", &cpu, &cpu::BARS)];
        let undecided: Vec<String> =
            workloads.iter().filter_map(|(name, findings, bars)| findings.undecided(name, &bars[..])).collect();
        undecided.iter().for_each(|text| lab.progress.step(&text.replace("**", "")));
        let workloads = workloads.map(|(name, findings, _)| (name, findings));
        let files = page::write(lab, &self.about(), &workloads, &checks, &undecided)?;
        Ok(Outcome { files, checks })
    }
}
