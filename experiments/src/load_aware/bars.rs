//! Bars that the comparisons and the sweeps share.

use super::figures::Runs;
use super::paired::Paired;
use super::rule::Rule;
use crate::framework::Check;

/// Most of Hadoop's speculative attempts that Load-Aware may launch where several jobs run.
pub(super) const THIRD: f64 = 1.0 / 3.0;

/// Most of the seeds that a clear win may leave to others.
pub(super) const LEFT: f64 = 0.25;

/// What speculative attempts are worth to a job alone, at least.
pub(super) const HELPED: f64 = -0.05;

/// What Load-Aware is compared with.
pub(super) const OTHERS: [Rule; 3] = [Rule::Hadoop, Rule::Late, Rule::None];

/// As good as another.
pub(super) const ALIKE: f64 = 0.02;

/// Few speculative attempts where several jobs run.
pub(super) fn few_attempts(of: String, ours: &Runs, hadoop: &Runs, judged: bool) -> Check {
    let what = format!("{of}Load-Aware's speculative attempts as a share of Hadoop's");
    Check { what, found: ours.launched() as f64 / hadoop.launched().max(1) as f64, bar: THIRD, judged }
}

/// No longer a total time than another rule's, but for what counts as alike.
pub(super) fn not_lost(of: String, other: Rule, paired: &Paired, judged: bool) -> Check {
    let what = format!("{of}: total time, Load-Aware against {}", other.name());
    Check { what, found: paired.median(), bar: ALIKE, judged }
}

/// A shorter total time than the others' on nearly every seed. Judged against `clear`, reported against the rest, which is
/// not to be lost to. The thesis says of §4.1 that it beats *the other schedulers*, its `default` (Hadoop's rule) and
/// LATE; and of §4.2 that it gains up to 15 %, while LATE with its cap of 2 is better than the default by itself. No
/// speculation at all, which has no attempts in vain either, it does not compare.
pub(super) fn wins(seeds: &str, clear: &[Rule], against: &dyn Fn(Rule) -> Paired, judged: bool) -> Vec<Check> {
    let win = |other: Rule| {
        let is_asked = clear.contains(&other);
        let why = match other {
            Rule::Hadoop => " (the thesis's default)",
            Rule::Late if !is_asked => ", whose cap avoids most of them too",
            Rule::None if !is_asked => ", which has none to avoid",
            _ => "",
        };
        let what = format!("{seeds} that Load-Aware does not win against {}{why}", other.name());
        Check { what, found: against(other).not_won(), bar: LEFT, judged: judged && is_asked }
    };
    OTHERS.map(win).into()
}
