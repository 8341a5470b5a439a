//! Time limits and partition sizes of the size-based policies, found by simulation.
//!
//! As slowdown-variability §VI-A does it: for each size of the first partition the time limit with the lowest slowdown
//! variability is sought, and the best pair is the optimum. Limits are tried on a grid of equal factors over the middle
//! of the jobs' sizes, then on a finer one around the best. With more than two queues, of which the paper says that
//! "there may be other better values", one limit after the other is moved over the grid while the others stay, twice.

mod grid;
mod runs;

pub use grid::time;
pub use grid::{Candidate, default_limits, default_shares};
pub use runs::{Figures, Listener, Played, Run, play, play_all};

use howdah_core::job::profile::Trace;
use howdah_core::replay::{ReplayError, ReplayOptions};
use howdah_core::time::Span;

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

/// What to tune, and how.
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

/// Whether the policy has time limits, and whether it has partitions; `None` for policies without either.
pub fn tunable(scheduler: &str) -> Option<bool> {
    match scheduler {
        "fbq" => Some(false),
        "tags" | "sita" => Some(true),
        _ => None,
    }
}

/// Finds the best. `None` if it was stopped.
///
/// # Errors
/// When a simulation cannot be made.
pub fn tune(tune: &Tune<'_>, listener: &dyn Listener) -> Result<Option<Tuned>, ReplayError> {
    let Some(references) = runs::references(tune.trace, &tune.options, listener)? else { return Ok(None) };
    let fifo =
        ReplayOptions { scheduler: "fifo".to_owned(), scheduler_params: Default::default(), ..tune.options.clone() };
    let Some(fifo) = figures_of(tune, &references, &[fifo], listener)? else { return Ok(None) };
    let fifo = fifo.first().map(|&(figures, _)| figures).unwrap_or_default();
    let mut tried: Vec<Tried> = Vec::new();
    for round in 0..grid::rounds(tune) {
        let candidates: Vec<Candidate> = grid::round(tune, &tried, &fifo, round);
        let options: Vec<ReplayOptions> = candidates.iter().map(|one| one.options(&tune.options)).collect();
        let Some(figures) = figures_of(tune, &references, &options, listener)? else { return Ok(None) };
        tried.extend(candidates.into_iter().zip(figures).map(|(candidate, (figures, spread))| Tried {
            candidate,
            figures,
            spread,
        }));
        tried.sort_by(|a, b| a.candidate.cmp(&b.candidate));
    }
    let figures: Vec<Figures> = tried.iter().map(|one| one.figures).collect();
    let best = best_of(&figures, &fifo, tune.objective).unwrap_or(0);
    Ok(Some(Tuned { tried, best, fifo }))
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
const MEDIAN_MARGIN: f64 = 1.05;

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

/// Means over the repeats, and how far apart these are.
fn figures_of(
    tune: &Tune<'_>,
    references: &[Span],
    options: &[ReplayOptions],
    listener: &dyn Listener,
) -> Result<Option<Vec<(Figures, f64)>>, ReplayError> {
    let repeats = tune.repeats.max(1);
    let seeds = |options: &ReplayOptions| {
        let seed = options.seed;
        (0..u64::from(repeats)).map(move |n| seed.wrapping_add(n)).collect::<Vec<_>>()
    };
    let runs: Vec<Run<'_>> = options
        .iter()
        .flat_map(|options| seeds(options).into_iter().map(move |seed| ReplayOptions { seed, ..options.clone() }))
        .map(|options| Run { trace: tune.trace, references, options })
        .collect();
    let Some(played) = play_all(&runs, listener)? else { return Ok(None) };
    Ok(Some(
        played
            .chunks(repeats as usize)
            .map(|repeats| {
                let figures: Vec<Figures> = repeats.iter().map(Played::figures).collect();
                let values = || figures.iter().map(|figures| tune.objective.of(figures));
                let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
                (Figures::mean_of(&figures), high - low)
            })
            .collect(),
    ))
}

#[cfg(test)]
mod tests;
