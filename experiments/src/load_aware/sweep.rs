//! §4.1 for every number of maps that its jobs may have had.
//!
//! The thesis states neither that number nor the slots of a node. That one machine takes 500 s for games of which a map
//! takes 60 s speaks for one map a worker, and there hardly anything can be won. Total time goes by waves of a map's
//! time: slots that speculative attempts hold cost nothing while they would have been idle, and a whole wave once they
//! push a job's last maps into it. Whether they do hangs on how many maps are left over for the last wave. So the
//! numbers from one to two maps a worker are run, and a clear win is asked of their sum.

use std::ops::RangeInclusive;

use anyhow::Result;

use super::bars;
use super::bound::Bounds;
use super::compared::{Compared, compare};
use super::figures::Runs;
use super::paired::Paired;
use super::rule::Rule;
use super::scenario::{Point, Section};
use super::signed::signed;
use super::simulated::{USUAL, WORKERS};
use crate::framework::{Check, Curve, Lab, Plot, Table};

/// Maps of each job.
const MAPS: RangeInclusive<u32> = WORKERS..=2 * WORKERS;
/// Those whose totals are compared.
const RULES: [Rule; 4] = [Rule::None, Rule::Hadoop, Rule::Late, Rule::LoadAware];

/// One kind of trouble, under all numbers of maps.
pub(super) struct Sweep {
    label: String,
    /// By number of maps, ascending.
    points: Vec<(u32, Compared)>,
}

/// A point under all numbers of maps.
pub(super) fn sweep(point: &Point, seeds: std::ops::Range<u64>) -> Result<Sweep> {
    let with = |maps: u32| -> Result<(u32, Compared)> {
        let jobs = vec![f64::from(maps) / f64::from(WORKERS); point.jobs.len()];
        Ok((maps, compare(&Point { jobs, ..point.clone() }, &RULES, seeds.clone(), &USUAL)?))
    };
    Ok(Sweep { label: point.label.clone(), points: MAPS.map(with).collect::<Result<_>>()? })
}

impl Sweep {
    /// All numbers together: one run for each seed.
    fn together(&self, rule: Rule) -> Runs {
        Runs::together(self.points.iter().map(|(_, one)| one.of(rule)))
    }

    /// What must hold of it.
    pub(super) fn checks(&self, judged: bool) -> Vec<Check> {
        let what = |text: &str| format!("{}, {} to {} maps a job: {text}", self.label, MAPS.start(), MAPS.end());
        let (ours, hadoop) = (self.together(Rule::LoadAware), self.together(Rule::Hadoop));
        let against = |other| Paired::new(&ours, &self.together(other));
        let mut all = bars::wins(&what("seeds"), &bars::OTHERS, &against, judged);
        all.push(bars::few_attempts(what(""), &ours, &hadoop, judged));
        // The number of maps at which it comes nearest to losing.
        for other in bars::OTHERS {
            let pairs = self.points.iter().map(|(maps, one)| (*maps, one.paired(Rule::LoadAware, other)));
            if let Some((maps, paired)) = pairs.max_by(|(_, one), (_, two)| one.median().total_cmp(&two.median())) {
                all.push(bars::not_lost(format!("{}, {maps} maps a job", self.label), other, &paired, judged));
            }
        }
        all
    }
}

/// Writes its part of the page.
pub(super) fn table(sweeps: &[Sweep]) -> Table {
    let mut table = Table::new(&[
        "",
        ">maps a job",
        ">Hadoop",
        ">none",
        ">LATE",
        ">Load-Aware",
        ">faster in",
        ">attempts, Hadoop",
        ">attempts, Load-Aware",
        ">listed",
        ">least",
    ]);
    for sweep in sweeps {
        for (place, (maps, one)) in sweep.points.iter().enumerate() {
            let label = if place == 0 { sweep.label.clone() } else { String::new() };
            let of = |rule| one.of(rule);
            row(&mut table, [label, maps.to_string()], &of, [one.bound(|b| b.listed_s), one.bound(|b| b.least_s)]);
        }
        let all = |of: fn(&Bounds) -> f64| Runs::together(sweep.points.iter().map(|(_, one)| one.bound(of)));
        let ends = [all(|b| b.listed_s), all(|b| b.least_s)];
        row(&mut table, [String::new(), "all".to_owned()], &|rule| sweep.together(rule), ends);
    }
    table
}

fn row(table: &mut Table, name: [String; 2], of: &dyn Fn(Rule) -> Runs, ends: [Runs; 2]) {
    let hadoop = of(Rule::Hadoop);
    let against = |runs: &Runs| signed(Paired::new(runs, &hadoop).median());
    let ours = of(Rule::LoadAware);
    let paired = Paired::new(&ours, &hadoop);
    let launched = |runs: &Runs| format!("{:.1}", runs.mean(|figures| figures.launched as f64));
    let [label, maps] = name;
    table.row([
        label,
        maps,
        format!("{:.1} s", hadoop.total()),
        against(&of(Rule::None)),
        against(&of(Rule::Late)),
        against(&ours),
        format!("{} of {}", paired.won(), paired.n()),
        launched(&hadoop),
        launched(&ours),
        against(&ends[0]),
        against(&ends[1]),
    ]);
}

/// Differences from Hadoop's total over the number of maps.
pub(super) fn figure(sweeps: &[Sweep]) -> Plot {
    let curve = |sweep: &Sweep, name: &str, of: &dyn Fn(&Compared) -> Runs| Curve {
        name: format!("{name}, {}", sweep.label),
        points: sweep
            .points
            .iter()
            .map(|(maps, one)| (f64::from(*maps), 100.0 * Paired::new(&of(one), &one.of(Rule::Hadoop)).median()))
            .collect(),
        joined: true,
    };
    let both = |sweep: &Sweep| {
        [
            curve(sweep, Rule::LoadAware.name(), &|one| one.of(Rule::LoadAware)),
            curve(sweep, "listed", &|one| one.bound(|b| b.listed_s)),
        ]
    };
    Plot {
        title: "Total time against Hadoop's".to_owned(),
        x_label: "maps of a job, on eight workers".to_owned(),
        y_label: "difference in percent".to_owned(),
        x_log: false,
        y_log: false,
        curves: sweeps.iter().flat_map(both).collect(),
        across: Vec::new(),
    }
}

/// The section that leaves its number of maps open, swept.
pub(super) fn of_section(lab: &Lab<'_>, section: Section, seeds: std::ops::Range<u64>) -> Result<Vec<Sweep>> {
    if section != Section::Unnecessary {
        return Ok(Vec::new());
    }
    let step = |point: &Point| {
        lab.progress.step(&format!("replay: {}, {} to {} maps a job", point.label, MAPS.start(), MAPS.end()));
        sweep(point, seeds.clone())
    };
    section.points().iter().filter(|point| point.has_several()).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With ten maps for eight workers the slots that Hadoop wastes cost a wave more; with eight they hardly cost
    /// anything.
    #[test]
    fn what_is_won_hangs_on_the_maps_that_are_left_for_the_last_wave() {
        let points = Section::Unnecessary.points().into_iter().filter(Point::has_several).collect::<Vec<_>>();
        let [loaded, slowed] = points.try_into().expect("two points");
        let loaded = sweep(&loaded, 0..20).expect("it runs");
        let against_hadoop =
            |maps: u32| loaded.points[(maps - WORKERS) as usize].1.paired(Rule::LoadAware, Rule::Hadoop).median();
        assert!(against_hadoop(10) < -0.12, "{}", against_hadoop(10));
        assert!(against_hadoop(8) > -0.06, "{}", against_hadoop(8));
        for sweep in [loaded, sweep(&slowed, 0..20).expect("it runs")] {
            for check in sweep.checks(true) {
                assert!(check.holds(), "{}: {} of {}", check.what, check.found, check.bar);
            }
            for (_, one) in &sweep.points {
                assert_eq!(Paired::new(&one.bound(|b| b.least_s), &one.of(Rule::LoadAware)).not_won(), 0.0);
            }
        }
    }
}
