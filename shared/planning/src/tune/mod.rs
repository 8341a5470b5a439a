//! Time limits and partition sizes of the size-based policies, found by simulation.
//!
//! As slowdown-variability §VI-A does it: for each size of the first partition the time limit with the lowest slowdown
//! variability is sought, and the best pair is the optimum. Limits are tried on a grid of equal factors over the middle
//! of the jobs' sizes, then on a finer one around the best. With more than two queues, of which the paper says that
//! "there may be other better values", one limit after the other is moved over the grid while the others stay, twice.

mod candidate;
mod choice;
mod grid;
mod runs;

pub use self::choice::{Objective, Tried, Tune, Tuned, best_of};
pub use candidate::{Candidate, time};
pub use grid::{default_limits, default_shares};
pub use runs::{Figures, Listener, Played, Run, play, play_all};

use howdah_core::replay::{ReplayError, ReplayOptions};
use howdah_core::time::Span;

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
