//! What must hold of the replays; live runs are too short and too few to be judged, and stand beside them.
//!
//! Total times are judged pair by pair ([`Paired`]). *Not to lose* is a middle difference of at most a fiftieth,
//! however much the seeds differ. *To win clearly* is to be shorter in three seeds of four, which of twenty equal rules
//! one in fifty does.

use super::bars::{ALIKE, HELPED, OTHERS, few_attempts, not_lost, wins};
use super::compared::Compared;
use super::figures::Runs;
use super::live::Measured;
use super::rule::Rule;
use super::scenario::Section;
use super::sweep::Sweep;
use crate::framework::Check;

/// Fewer speculative attempts of Hadoop than this show nothing.
pub(super) const ENOUGH: u64 = 10;
/// What a bar of live runs begins with.
const LIVE: &str = "live: ";

/// All of them; `live` is `None` where the live half could not run.
pub(super) fn checks(
    section: Section,
    simulated: &[Compared],
    sweeps: &[Sweep],
    live: Option<&[Measured]>,
    judged: bool,
) -> Vec<Check> {
    let mut checks: Vec<Check> = simulated.iter().flat_map(|one| of_point(section, one, judged)).collect();
    checks.extend(sweeps.iter().flat_map(|sweep| sweep.checks(judged)));
    checks.push(match live {
        Some(live) => Check::decisions(LIVE, live.iter().map(|one| one.decisions)),
        None => Check::without_anything(format!("{LIVE}decisions that replay differently")),
    });
    checks
}

fn of_point(section: Section, one: &Compared, judged: bool) -> Vec<Check> {
    let (hadoop, ours) = (one.of(Rule::Hadoop), one.of(Rule::LoadAware));
    let against = |rule| one.paired(Rule::LoadAware, rule);
    let label = &one.point.label;
    let check = |what: String, found: f64, bar: f64| Check { what, found, bar, judged };
    let mut checks = Vec::new();
    if one.point.has_several() {
        checks.push(enough(label, &hadoop, judged));
        checks.push(few_attempts(format!("{label}: "), &ours, &hadoop, judged));
    }
    for rule in OTHERS {
        checks.push(not_lost(label.clone(), rule, &against(rule), judged));
    }
    if section == Section::Dynamic {
        checks.extend(wins(&format!("{label}: seeds"), &[Rule::Hadoop], &against, judged));
    }
    if !one.point.has_several() {
        let alone = if section == Section::Jobs { format!("{label} job alone") } else { label.clone() };
        let what = format!("{alone}: total time, Load-Aware against LATE");
        checks.push(check(what, against(Rule::Late).median(), ALIKE));
        let (what, bar) = match one.point.slow_enough() {
            Some(false) => ("none, which no copy can be better than here", ALIKE),
            _ => ("none", HELPED),
        };
        checks.push(check(
            format!("{alone}: total time, Load-Aware against {what}"),
            against(Rule::None).median(),
            bar,
        ));
    }
    checks
}

/// Enough speculative attempts of Hadoop's for anything to be avoided: in every run where its runs have so many, else
/// in all runs together. A job of one map a worker has one straggler or two, so that a run of two such jobs cannot have
/// ten.
fn enough(label: &str, hadoop: &Runs, judged: bool) -> Check {
    let runs = hadoop.0.len();
    let (fewest, mean) = (hadoop.at(0.0, |one| one.launched as f64), hadoop.mean(|one| one.launched as f64));
    let (of, launched) = match fewest >= ENOUGH as f64 {
        true => ("in each run".to_owned(), fewest),
        false => (format!("in its {runs} runs together, {mean:.1} in one"), hadoop.launched() as f64),
    };
    let what = format!("{label}: {ENOUGH} speculative attempts as a share of Hadoop's {of}");
    Check { what, found: ENOUGH as f64 / launched, bar: 1.0, judged }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Figures;
    use super::super::paired::Paired;
    use super::*;

    fn launched(counts: &[u64]) -> Runs {
        Runs(counts.iter().map(|&launched| Figures { launched, ..Figures::default() }).collect())
    }

    #[test]
    fn hadoops_attempts_are_judged_run_by_run_where_each_has_enough() {
        let each = enough("p", &launched(&[20, 10, 40]), true);
        assert_eq!((each.found, each.holds()), (1.0, true));
        assert!(each.what.ends_with("Hadoop's in each run"), "{}", each.what);
        let together = enough("p", &launched(&[3, 2, 4]), true);
        assert!(together.what.ends_with("in its 3 runs together, 3.0 in one"), "{}", together.what);
        assert!(!together.holds(), "nine are too few");
        assert!(!enough("p", &Runs::default(), true).holds());
    }

    #[test]
    fn a_win_is_required_against_some_and_reported_against_the_rest() {
        let totals = |all: [f64; 4]| Runs(all.map(|total_s| Figures { total_s, ..Figures::default() }).to_vec());
        let ours = totals([9.0; 4]);
        let against = |other| {
            let theirs = if other == Rule::Hadoop { totals([10.0; 4]) } else { totals([9.0; 4]) };
            Paired::new(&ours, &theirs)
        };
        let found = |clear: &[Rule]| {
            let checks = wins("seeds", clear, &against, true);
            checks.iter().map(|check| (check.judged, check.found)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[Rule::Hadoop]), [(true, 0.0), (false, 1.0), (false, 1.0)]);
        assert_eq!(found(&OTHERS), [(true, 0.0), (true, 1.0), (true, 1.0)]);
    }
}
