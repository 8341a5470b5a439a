//! What must hold of the replays; live runs are too short and too few to be judged, and stand beside them.
//!
//! Total times are judged pair by pair ([`Paired`]). *Not to lose* is a middle difference within the differences' own
//! spread. *To win clearly* is to be shorter in three seeds of four, which of twenty equal rules one in fifty does.

use super::Compared;
use super::figures::Runs;
use super::live::Measured;
use super::paired::Paired;
use super::rule::Rule;
use super::scenario::Section;
use super::sweep::Sweep;
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
        let what = format!("{label}: {ENOUGH} second attempts as a share of Hadoop's");
        checks.push(check(what, ENOUGH as f64 / hadoop.launched() as f64, 1.0));
        checks.push(few_attempts(format!("{label}: "), &ours, &hadoop, judged));
    }
    for rule in [Rule::None, Rule::Hadoop, Rule::Late] {
        checks.push(not_lost(label.clone(), rule, &against(rule), judged));
    }
    if section == Section::Dynamic {
        checks.push(clear_win(format!("{label}: seeds"), &against(Rule::Hadoop), judged));
    }
    if !one.point.has_several() {
        let what = format!("{label} job alone: total time, Load-Aware against LATE");
        checks.push(check(what, against(Rule::Late).median(), ALIKE));
        let what = format!("{label} job alone: total time, Load-Aware against none");
        checks.push(check(what, against(Rule::None).median(), HELPED));
    }
    checks
}

/// Few second attempts where several jobs run.
pub(super) fn few_attempts(of: String, ours: &Runs, hadoop: &Runs, judged: bool) -> Check {
    let what = format!("{of}Load-Aware's second attempts as a share of Hadoop's");
    Check { what, found: ours.launched() as f64 / hadoop.launched().max(1) as f64, bar: THIRD, judged }
}

/// No longer a total time than another rule's, beyond the spread of the differences.
pub(super) fn not_lost(of: String, other: Rule, paired: &Paired, judged: bool) -> Check {
    let what = format!("{of}: total time, Load-Aware against {}; at most the spread", other.name());
    Check { what, found: paired.median(), bar: paired.spread(), judged }
}

/// A shorter total time than Hadoop's on nearly every seed.
pub(super) fn clear_win(seeds: String, paired: &Paired, judged: bool) -> Check {
    let what = format!("{seeds} that Load-Aware does not win against Hadoop");
    Check { what, found: paired.not_won(), bar: LEFT, judged }
}
