//! `la-unnecessary`, `la-dynamic`, `la-jobs`, `la-waves`: the thesis's chapter 4 (Load-Aware, §4.1 to §4.4).
//!
//! Each scenario runs under no speculation, Hadoop's, LATE and Load-Aware: at the thesis's size in replay, and on real
//! daemons with real load, as small as this machine wants it. The same seed makes the same maps under every rule.

mod bars;
mod bound;
mod checks;
mod compared;
pub(crate) mod estimate;
mod figures;
mod found;
mod live;
mod page;
mod paired;
mod rule;
mod scenario;
mod signed;
mod simulated;
mod sweep;

use anyhow::Result;

use self::compared::{Compared, compare};
use self::found::Found;
use self::rule::Rule;
use self::scenario::Section;
use self::simulated::Reading;
use crate::framework::{About, Experiment, Lab, Needs, Outcome, papers};

/// One of the four.
pub(crate) struct LoadAware(Section);

impl LoadAware {
    /// All four, in the thesis's order.
    pub(crate) const ALL: [LoadAware; 4] = [
        LoadAware(Section::Unnecessary),
        LoadAware(Section::Dynamic),
        LoadAware(Section::Jobs),
        LoadAware(Section::Waves),
    ];
}

impl Experiment for LoadAware {
    fn about(&self) -> About {
        let about = |name, line, figure, estimate_s| About {
            name,
            line,
            paper: papers::LOAD_AWARE,
            figure,
            needs: Needs::LiveRuns,
            estimate_s,
        };
        match self.0 {
            Section::Unnecessary => about(
                "la-unnecessary",
                "Speculative attempts that help no job, on a cluster with one loaded or slowed worker",
                "Figure 4.1",
                [300, 60],
            ),
            Section::Dynamic => {
                about("la-dynamic", "Four jobs while foreign load moves from worker to worker", "Figure 4.2", [480, 60])
            }
            Section::Jobs => about(
                "la-jobs",
                "Speculative attempts and total time for more and more jobs beside one loaded worker",
                "Figure 4.3",
                [400, 60],
            ),
            Section::Waves => about(
                "la-waves",
                "What avoiding speculative attempts is worth for more and more maps for each worker",
                "Figure 4.4",
                [300, 60],
            ),
        }
    }

    fn run(&self, lab: &Lab<'_>) -> Result<Outcome> {
        let n = lab.size(20, 5);
        let seeds = lab.seed..lab.seed + n;
        let mut simulated = Vec::new();
        for point in self.0.points() {
            lab.progress.step(&format!("replay: {}, {n} seeds under each rule", point.label));
            simulated.push(compare(&point, &Rule::ALL, seeds.clone(), &simulated::USUAL)?);
        }
        let sweeps = sweep::of_section(lab, self.0, seeds.clone())?;
        let readings = if self.0.is_won() { readings(lab, &simulated, seeds)? } else { Vec::new() };
        // Minutes of replays are not thrown away where the live half cannot run: it needs root and control groups.
        let measured = live::runs(lab, self.0).map_err(|error| format!("{error:#}").replace('\n', "; "));
        if let Err(why) = &measured {
            lab.progress.step(&format!("the live half is missing: {why}"));
        }
        let checks = checks::checks(self.0, &simulated, &sweeps, measured.as_deref().ok(), !lab.quick);
        let found = Found { section: self.0, simulated, sweeps, readings, measured, checks };
        let files = page::write(lab, &self.about(), &found)?;
        Ok(Outcome { files, checks: found.checks })
    }
}

/// Points under the other readings, under the rules that the thesis compares.
fn readings(
    lab: &Lab<'_>,
    usual: &[Compared],
    seeds: std::ops::Range<u64>,
) -> Result<Vec<(&'static str, Vec<Compared>)>> {
    let rules = [Rule::None, Rule::Hadoop, Rule::Late, Rule::LoadAware];
    let under = |reading: &Reading| {
        lab.progress.step(&format!("replay, another reading: {}", reading.name));
        let several = usual.iter().filter(|one| one.point.has_several());
        let points = several.map(|one| compare(&one.point, &rules, seeds.clone(), reading));
        Ok((reading.name, points.collect::<Result<_>>()?))
    };
    simulated::READINGS.iter().map(under).collect()
}

#[cfg(test)]
mod tests {
    use super::figures::Runs;
    use super::*;

    fn simulated(section: Section, label: &str, rule: Rule) -> Runs {
        let point = section.points().into_iter().find(|point| point.label == label).expect("a point");
        simulated::runs(&point, rule, 0..3, &simulated::USUAL).expect("it runs")
    }

    /// §4.3: alone, Load-Aware performs like the others; beside other jobs it leaves their slots alone.
    #[test]
    fn a_job_alone_is_helped_and_jobs_beside_each_other_are_not_robbed() {
        let alone = |rule| simulated(Section::Jobs, "1", rule);
        assert_eq!(alone(Rule::LoadAware).total(), alone(Rule::Late).total());
        assert!(alone(Rule::LoadAware).total() < 0.95 * alone(Rule::None).total());
        let slowed = |rule| simulated(Section::Unnecessary, "one job alone, one worker slowed to a third", rule);
        assert_eq!(slowed(Rule::LoadAware).total(), slowed(Rule::Late).total());
        assert!(slowed(Rule::LoadAware).total() < 0.8 * slowed(Rule::None).total());
        let little = |rule| simulated(Section::Unnecessary, "one job alone, one worker slowed", rule);
        assert_eq!(little(Rule::LoadAware).total(), little(Rule::None).total(), "no copy can end first");
        assert_eq!(little(Rule::LoadAware).launched(), 0, "so none is launched");
        let four = |rule| simulated(Section::Jobs, "4", rule);
        assert!(four(Rule::Hadoop).launched() >= 10, "or there is nothing to avoid");
        assert!(3 * four(Rule::LoadAware).launched() <= four(Rule::Hadoop).launched());
        assert!(four(Rule::LoadAware).total() < four(Rule::Hadoop).total());
    }

    /// What nobody can beat, and what is left to win: rules lose to it by the heartbeats they wait for, and by what they
    /// cannot know.
    #[test]
    fn no_rule_is_faster_than_the_bound_on_any_seed() {
        for section in [Section::Unnecessary, Section::Dynamic] {
            for point in section.points() {
                let bounds = simulated::bounds(&point, 0..3, &simulated::USUAL).expect("the curve reads");
                for rule in Rule::ALL {
                    let runs = simulated::runs(&point, rule, 0..3, &simulated::USUAL).expect("it runs");
                    for (run, bound) in runs.0.iter().zip(&bounds) {
                        assert!(run.total_s >= bound.least_s, "{} under {}: {bound:?}", point.label, rule.name());
                        assert!(bound.listed_s >= bound.least_s);
                    }
                }
            }
        }
    }

    /// What it said while it ran.
    #[derive(Default)]
    struct Said(std::sync::Mutex<Vec<String>>);

    impl crate::framework::Progress for Said {
        fn step(&self, text: &str) {
            self.0.lock().expect("nobody panicked").push(text.to_owned());
        }

        fn tick(&self, _: &str) {}
    }

    #[test]
    fn without_a_live_half_the_replays_are_written_and_its_bar_is_missed() {
        let dir = tempfile::tempdir().expect("a directory");
        let said = Said::default();
        let lab = Lab {
            dir: dir.path().to_owned(),
            quick: true,
            seed: 0,
            program: dir.path().join("howdah"),
            schedulers: Vec::new(),
            repeats: None,
            progress: &said,
        };
        let outcome = LoadAware(Section::Waves).run(&lab).expect("half of it is there");
        let page = std::fs::read_to_string(&outcome.files[0]).expect("the page");
        let why = "start `howdah generate sudoku";
        let line = page.lines().find(|line| line.contains(why)).expect("it says why");
        assert!(line.starts_with("The live half is missing: ") && line.ends_with("(os error 2)"), "{line}");
        assert!(
            page.contains("| live: decisions that replay differently |  | 0.00 % | **nothing to judge** |"),
            "{page}"
        );
        let steps = said.0.lock().expect("nobody panicked");
        assert!(steps.last().is_some_and(|step| step.starts_with("the live half is missing: ") && step.contains(why)));
        let points = std::fs::read_to_string(&outcome.files[1]).expect("the points");
        assert!(points.lines().count() > 1 && outcome.files[1].ends_with("la-waves.csv"), "{points}");
        assert_eq!(outcome.missed().count(), 1);
    }

    #[test]
    fn equal_seeds_give_equal_runs() {
        let runs = || simulated(Section::Dynamic, "load that moves", Rule::LoadAware);
        assert_eq!(runs().0, runs().0);
    }
}
