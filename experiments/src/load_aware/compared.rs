//! The same jobs under several rules.

use anyhow::{Context, Result};

use super::bound::Bounds;
use super::figures::{Figures, Runs};
use super::paired::Paired;
use super::rule::Rule;
use super::scenario::Point;
use super::simulated;
use super::simulated::Reading;

/// A point and what each rule made of it.
pub(super) struct Compared {
    pub(super) point: Point,
    /// By rule, in the order of [`Rule::ALL`]; live runs lack the last.
    pub(super) runs: Vec<(Rule, Runs)>,
    /// What any schedule could reach, by seed; empty for live runs, and where a worker has several slots.
    pub(super) bounds: Vec<Bounds>,
}

impl Compared {
    /// Under one rule; no runs where it was left out.
    pub(super) fn of(&self, rule: Rule) -> Runs {
        self.runs.iter().find(|(other, _)| *other == rule).map(|(_, runs)| runs.clone()).unwrap_or_default()
    }

    /// One end of what any schedule could reach, as if it were runs.
    pub(super) fn bound(&self, of: impl Fn(&Bounds) -> f64) -> Runs {
        let run = |bounds| Figures { total_s: of(bounds), ..Figures::default() };
        Runs(self.bounds.iter().map(run).collect())
    }

    /// One rule against another, pair by pair.
    pub(super) fn paired(&self, rule: Rule, other: Rule) -> Paired {
        Paired::new(&self.of(rule), &self.of(other))
    }
}

/// A point under some rules and a reading, on the same seeds.
pub(super) fn compare(
    point: &Point,
    rules: &[Rule],
    seeds: std::ops::Range<u64>,
    reading: &Reading,
) -> Result<Compared> {
    let under = |&rule: &Rule| {
        let runs = simulated::runs(point, rule, seeds.clone(), reading);
        Ok((rule, runs.with_context(|| format!("simulate {} under {}", point.label, rule.name()))?))
    };
    let runs = rules.iter().map(under).collect::<Result<_>>()?;
    Ok(Compared { point: point.clone(), runs, bounds: simulated::bounds(point, seeds, reading)? })
}
