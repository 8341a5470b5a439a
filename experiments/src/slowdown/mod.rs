//! `slowdown`: the simulations of the slowdown paper, Figures 4 to 13 and Table I.
//!
//! 100 workers of 6 + 2 slots that send a heartbeat whenever a slot is free, the stand-in for the paper's 1,121 jobs, loads of
//! 0.7 and 0.9, three repeats. Limits and partition sizes are sought as §VI-A does and used in the later figures;
//! the paper's own are set beside them. What the paper leaves open is swept at the end.

mod bench;
mod figures;
mod further;
mod page;
mod partition_use;
mod policy;
mod readings;
mod runs;
mod scatter;
mod sweep;
pub(crate) mod validation;

use std::path::PathBuf;

use anyhow::Result;

use crate::framework::{About, Experiment, Lab, Needs, Outcome, papers};
use bench::{Bench, MAIN};
use page::Findings;

/// The experiment.
pub(crate) struct Slowdown;

impl Experiment for Slowdown {
    fn about(&self) -> About {
        About {
            name: "slowdown",
            line: "Slowdown and its variability under FIFO, FBQ, TAGS, SITA and COMP",
            paper: papers::SLOWDOWN_VARIABILITY,
            figure: "Figures 4 to 13, Table I",
            needs: Needs::Simulation,
            estimate_s: [900, 45],
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let repeats = lab.repeats.map_or(lab.size(3, 1), |n| n as usize).max(1);
        self.run_with(lab, repeats, lab.size(None, Some(250)))
    }
}

impl Slowdown {
    /// With so many repeats of so many jobs, or of the recipe's own number.
    fn run_with(&self, lab: &Lab<'_>, repeats: usize, jobs: Option<usize>) -> Result<Outcome> {
        lab.progress.step("making the workloads, and each job alone");
        let bench = Bench::new(lab.seed, repeats, jobs, MAIN)?;
        let mut files: Vec<PathBuf> = Vec::new();
        files.extend(figures::workload(lab, &bench)?);
        let sweeps = sweep::run(lab, &bench)?;
        files.extend(figures::sweeps(lab, &sweeps)?);
        let uses = partition_use::run(lab, &bench, &sweeps)?;
        files.extend(figures::partition_use(lab, &uses)?);
        let main = scatter::run(lab, &bench, &sweeps)?;
        files.extend(figures::main(lab, &main)?);
        let readings = readings::run(lab, repeats, jobs)?;
        files.push(lab.write("slowdown-readings.csv", &readings.table().csv())?);
        let further = further::run(lab, repeats, jobs)?;
        files.push(lab.write("slowdown-wider.csv", &further.table().csv())?);
        let checks = main.checks(!lab.quick);
        let findings = Findings { bench, sweeps, uses, main, readings, further };
        let text = page::page(&self.about(), lab, &findings, &checks);
        files.insert(0, lab.write("slowdown.md", &text)?);
        Ok(Outcome { files, checks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Progress;

    struct Quiet;

    impl Progress for Quiet {
        fn step(&self, _: &str) {}
        fn tick(&self, _: &str) {}
    }

    #[test]
    fn every_picture_of_the_page_is_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let lab = Lab {
            dir: dir.path().to_owned(),
            quick: true,
            seed: 1,
            program: PathBuf::new(),
            schedulers: Vec::new(),
            repeats: None,
            progress: &Quiet,
        };
        let outcome = Slowdown.run_with(&lab, 1, Some(10)).expect("it runs");
        let page = std::fs::read_to_string(&outcome.files[0]).expect("the page comes first");
        let mut pictures = 0;
        for name in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(dir.path().join(name).is_file(), "no {name}");
            pictures += 1;
        }
        assert!(pictures > 20, "{page}");
        for word in [
            "Table I",
            "23.8",
            "16.35",
            "figure only",
            "12,000 s",
            "waiting reduce",
            "*TAGS at a load of 0.9*",
            "*FBQ at a load of 0.9*",
            "*Draws*: of 2 draws",
        ] {
            assert!(page.contains(word), "no `{word}` in {page}");
        }
        assert_eq!(outcome.missed().count(), 0, "a quick run is not judged");
    }
}
