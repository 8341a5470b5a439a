//! What is searched for, what was tried, and which of it is best.

use howdah_core::job::profile::Trace;
use howdah_core::replay::ReplayOptions;
use howdah_core::time::Span;

use super::candidate::Candidate;
use super::runs::Figures;

/// What is to be as low as possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The slowdown variability, V_F(95).
    #[default]
    Variability,
    /// The 95th percentile of the slowdown, which a high median cannot hide.
    P95,
    /// The mean slowdown.
    Mean,
}

#[derive(Clone, Debug)]
pub struct Tune<'a> {
    /// The workload.
    pub trace: &'a Trace,
    /// The cluster, arrivals, policy and those of its parameters that stay.
    pub options: ReplayOptions,
    /// K.
    pub queues: usize,
    /// Time limits to try, ascending.
    pub limits: Vec<Span>,
    /// Shares of the first partition to try in percent; empty for policies without partitions.
    pub shares: Vec<u32>,
    /// Simulations of each candidate, with different arrivals.
    pub repeats: u32,
    /// Whether to look closer around the best.
    pub refine: bool,
    /// What counts.
    pub objective: Objective,
}

/// A candidate and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Its parameters.
    pub candidate: Candidate,
    /// Means over the repeats.
    pub figures: Figures,
    /// Over the seeds, the largest minus the smallest of what counts.
    pub spread: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// Everything that was tried, by share and limits.
    pub tried: Vec<Tried>,
    /// The place of the best in `tried`.
    pub best: usize,
    /// FIFO on the same workloads, which is what a first partition of 0 % comes to.
    pub fifo: Figures,
}

impl Objective {
    /// The figure that counts.
    pub fn of(self, figures: &Figures) -> f64 {
        match self {
            Objective::Variability => figures.variability,
            Objective::P95 => figures.p95,
            Objective::Mean => figures.mean,
        }
    }

    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Variability => "variability",
            Objective::P95 => "p95",
            Objective::Mean => "mean",
        }
    }
}

impl Tuned {
    /// Why the best of the candidates is no better than FIFO, if it is not; a clause.
    pub fn doubt(&self, objective: Objective) -> Option<String> {
        let best = &self.tried.get(self.best)?.figures;
        if best.median > self.fifo.median * MEDIAN_MARGIN {
            let margin = 100.0 * (MEDIAN_MARGIN - 1.0);
            return Some(format!(
                "every candidate's median is more than {margin:.0} % above fifo's; of these, the lowest 95th percentile"
            ));
        }
        let (found, fifo) = (objective.of(best), objective.of(&self.fifo));
        (found >= fifo).then(|| format!("no candidate's {} is below fifo's", objective.name()))
    }
}

/// A median this much above FIFO's is "significantly increased" (slowdown-variability §I); the paper names no number.
pub(super) const MEDIAN_MARGIN: f64 = 1.05;

/// The place of the best: the lowest in what counts among those that do not significantly increase FIFO's median (a
/// high median makes a low variability), and among equals that of the lower median; if all increase it, the one with
/// the lowest 95th percentile.
pub fn best_of(all: &[Figures], fifo: &Figures, objective: Objective) -> Option<usize> {
    let lowest = |key: &dyn Fn(&Figures) -> f64, fits: &dyn Fn(&Figures) -> bool| {
        let places = (0..all.len()).filter(|&place| fits(&all[place]));
        places.min_by(|&a, &b| key(&all[a]).total_cmp(&key(&all[b])).then(all[a].median.total_cmp(&all[b].median)))
    };
    let fair = |figures: &Figures| figures.median <= fifo.median * MEDIAN_MARGIN;
    lowest(&|figures| objective.of(figures), &fair).or_else(|| lowest(&|figures| figures.p95, &|_| true))
}
