//! Which limits and partition sizes are tried, round by round.

use howdah_core::job::profile::Trace;
use howdah_core::models::moments::{percentile, sorted};
use howdah_core::replay::summary::size;
use howdah_core::time::Span;

use super::Figures;
use super::candidate::Candidate;
use super::choice::{Tried, Tune, best_of};

/// Rounds in which every limit of more than two queues is moved once.
const PASSES: usize = 2;
/// Limits between two neighbours of the coarse grid in the finer one.
const FINER: u32 = 3;

/// Limits of equal factors, two to the doubling, over the middle of the jobs' sizes: from the size of which a tenth is
/// smaller to that of which one in two hundred is larger.
pub fn default_limits(trace: &Trace) -> Vec<Span> {
    let sizes = sorted(trace.jobs.iter().map(|job| size(job).as_secs_f64()).filter(|&size| size > 0.0));
    let (Some(low), Some(high)) = (percentile(&sizes, 10.0), percentile(&sizes, 99.5)) else { return Vec::new() };
    let mut limits = Vec::new();
    let mut at = low.max(0.001);
    while at <= high * 1.001 || limits.is_empty() {
        limits.push(two_digits(at));
        at *= std::f64::consts::SQRT_2;
    }
    limits.dedup();
    limits
}

/// The sizes of partition 1 that the paper's Fig. 5 tries.
pub fn default_shares() -> Vec<u32> {
    vec![10, 20, 30, 40, 50]
}

/// To two significant digits, and to a millisecond at least: a limit that can be typed.
fn two_digits(seconds: f64) -> Span {
    let mut unit_ms = 1.0;
    while seconds * 1000.0 / unit_ms >= 100.0 {
        unit_ms *= 10.0;
    }
    Span::from_ms(((seconds * 1000.0 / unit_ms).round() * unit_ms).max(1.0) as u64)
}

/// How often there is something new to try, at most.
pub(super) fn rounds(tune: &Tune<'_>) -> usize {
    if tune.queues == 2 { 2 } else { 1 + PASSES * (tune.queues - 1) }
}

/// What to try next.
pub(super) fn round(tune: &Tune<'_>, tried: &[Tried], fifo: &Figures, round: usize) -> Vec<Candidate> {
    let shares: Vec<Option<u32>> =
        if tune.shares.is_empty() { vec![None] } else { tune.shares.iter().copied().map(Some).collect() };
    let new = |share: Option<u32>| -> Vec<Vec<Span>> {
        let of_share: Vec<&Tried> = tried.iter().filter(|one| one.candidate.share == share).collect();
        let figures: Vec<Figures> = of_share.iter().map(|one| one.figures).collect();
        let best = best_of(&figures, fifo, tune.objective).map(|place| of_share[place].candidate.limits.clone());
        match (tune.queues, best) {
            (2, None) => tune.limits.iter().map(|&limit| vec![limit]).collect(),
            (2, Some(best)) if round == 1 && tune.refine => finer(&tune.limits, best[0]),
            (2, _) => Vec::new(),
            (queues, None) => vec![spread(&tune.limits, queues - 1)],
            (queues, Some(best)) => moved(&tune.limits, &best, round.saturating_sub(1) % (queues - 1)),
        }
    };
    let known = |candidate: &Candidate| tried.iter().any(|one| one.candidate == *candidate);
    let of_share = |share: Option<u32>| new(share).into_iter().map(move |limits| Candidate { share, limits });
    shares.into_iter().flat_map(of_share).filter(|candidate| !known(candidate)).collect()
}

/// Between the best and its neighbours.
fn finer(grid: &[Span], best: Span) -> Vec<Vec<Span>> {
    let Some(place) = grid.iter().position(|&limit| limit == best) else { return Vec::new() };
    let between = |from: Span, to: Span| {
        let (from, to) = (from.as_us(), to.as_us());
        let step = to.saturating_sub(from) / u64::from(FINER + 1);
        (1..=u64::from(FINER)).map(move |n| vec![Span::from_us(from + n * step)])
    };
    let below = place.checked_sub(1).map(|below| between(grid[below], best));
    let above = grid.get(place + 1).map(|&above| between(best, above));
    let to_ms = |limits: Vec<Span>| limits.into_iter().map(|limit| Span::from_ms(limit.as_ms().max(1))).collect();
    below.into_iter().flatten().chain(above.into_iter().flatten()).map(to_ms).collect()
}

/// So many limits, evenly over the grid.
fn spread(grid: &[Span], n: usize) -> Vec<Span> {
    let mut limits: Vec<Span> = (1..=n).filter_map(|k| grid.get(k * grid.len() / (n + 1)).copied()).collect();
    limits.dedup();
    limits
}

/// One limit anywhere between its neighbours.
fn moved(grid: &[Span], best: &[Span], which: usize) -> Vec<Vec<Span>> {
    let low = which.checked_sub(1).map_or(Span::ZERO, |below| best[below]);
    let high = best.get(which + 1).copied().unwrap_or(Span::MAX);
    let put = |&limit: &Span| {
        let mut limits = best.to_vec();
        limits[which] = limit;
        limits
    };
    grid.iter().filter(|&&limit| limit > low && limit < high).map(put).collect()
}
