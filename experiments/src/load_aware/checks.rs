//! What must hold of the replays; live runs are too short and too few to be judged, and stand beside them.

use super::Compared;
use super::live::Measured;
use super::rule::Rule;
use super::scenario::Section;
use crate::framework::Check;

/// Fewer second attempts of Hadoop than this show nothing.
const ENOUGH: f64 = 10.0;
/// Most of Hadoop's second attempts that Load-Aware may launch where several jobs run.
const THIRD: f64 = 1.0 / 3.0;
/// A clear win.
const CLEAR: f64 = 0.95;
/// As good as another.
const ALIKE: f64 = 1.02;

pub(super) fn checks(section: Section, simulated: &[Compared], live: &[Measured], judged: bool) -> Vec<Check> {
    let mut checks: Vec<Check> = simulated.iter().flat_map(|one| of_point(section, one, judged)).collect();
    let (compared, identical) = live.iter().fold((0, 0), |sum, one| (sum.0 + one.decisions.0, sum.1 + one.decisions.1));
    if compared > 0 {
        let found = compared.saturating_sub(identical) as f64 / compared as f64;
        let what = "live: decisions that replay differently".to_owned();
        checks.push(Check { what, found, bar: 0.0, judged: true });
    }
    checks
}

fn of_point(section: Section, one: &Compared, judged: bool) -> Vec<Check> {
    let (hadoop, late, none, ours) =
        (one.of(Rule::Hadoop), one.of(Rule::Late), one.of(Rule::None), one.of(Rule::LoadAware));
    let label = &one.point.label;
    let check = |what: String, found: f64, bar: f64| Check { what, found, bar, judged };
    let mut checks = Vec::new();
    if one.point.has_several() {
        let what = format!("{label}: {ENOUGH} second attempts as a share of Hadoop's");
        checks.push(check(what, ENOUGH / hadoop.launched() as f64, 1.0));
        let what = format!("{label}: Load-Aware's second attempts as a share of Hadoop's");
        checks.push(check(what, ours.launched() as f64 / hadoop.launched().max(1) as f64, THIRD));
    }
    for (rule, other) in [(Rule::None, &none), (Rule::Hadoop, &hadoop), (Rule::Late, &late)] {
        let what = format!("{label}: total time, Load-Aware against {}", rule.name());
        let spread = ours.spread().max(other.spread());
        checks.push(check(what, ours.total() / other.total(), 1.0 + spread));
    }
    if section.is_won() {
        let what = format!("{label}: Load-Aware against Hadoop, a clear win");
        checks.push(check(what, ours.total() / hadoop.total(), CLEAR));
    }
    if !one.point.has_several() {
        let what = format!("{label} job alone: Load-Aware as good as LATE");
        checks.push(check(what, ours.total() / late.total(), ALIKE));
        let what = format!("{label} job alone: Load-Aware better than none");
        checks.push(check(what, ours.total() / none.total(), CLEAR));
    }
    checks
}
