//! What must hold of the replays; live runs are too short and too few to be judged, and stand beside them.
//!
//! Total times are judged pair by pair ([`Paired`](super::paired::Paired)). *Not to lose* is a middle difference within the differences' own
//! spread. *To win clearly* is to be shorter in three seeds of four, which of twenty equal rules one in fifty does.

use super::Compared;
use super::live::Measured;
use super::rule::Rule;
use super::scenario::Section;
use crate::framework::Check;

/// Fewer second attempts of Hadoop than this show nothing.
pub(super) const ENOUGH: u64 = 10;
/// Most of Hadoop's second attempts that Load-Aware may launch where several jobs run.
const THIRD: f64 = 1.0 / 3.0;
/// Most of the seeds that a clear win may leave to others.
const LEFT: f64 = 0.25;
/// What second attempts are worth to a job alone, at least.
const HELPED: f64 = -0.05;
/// As good as another.
const ALIKE: f64 = 0.02;

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
    let (hadoop, ours) = (one.of(Rule::Hadoop), one.of(Rule::LoadAware));
    let against = |rule| one.paired(Rule::LoadAware, rule);
    let label = &one.point.label;
    let check = |what: String, found: f64, bar: f64| Check { what, found, bar, judged };
    let mut checks = Vec::new();
    if one.point.has_several() {
        let what = format!("{label}: {ENOUGH} second attempts as a share of Hadoop's");
        checks.push(check(what, ENOUGH as f64 / hadoop.launched() as f64, 1.0));
        let what = format!("{label}: Load-Aware's second attempts as a share of Hadoop's");
        checks.push(check(what, ours.launched() as f64 / hadoop.launched().max(1) as f64, THIRD));
    }
    for rule in [Rule::None, Rule::Hadoop, Rule::Late] {
        let paired = against(rule);
        let what = format!("{label}: total time, Load-Aware against {}, against the spread", rule.name());
        checks.push(check(what, paired.median(), paired.spread()));
    }
    if section.is_won() {
        let what = format!("{label}: seeds that Load-Aware does not win against Hadoop");
        checks.push(check(what, against(Rule::Hadoop).not_won(), LEFT));
    }
    if !one.point.has_several() {
        let what = format!("{label} job alone: total time, Load-Aware against LATE");
        checks.push(check(what, against(Rule::Late).median(), ALIKE));
        let what = format!("{label} job alone: total time, Load-Aware against none");
        checks.push(check(what, against(Rule::None).median(), HELPED));
    }
    checks
}
