//! The deadlines that are drawn, and how two policies compare under them.

pub(super) use super::factors::FACTORS_PPM;

use super::sweep::{Cell, Policy};

/// The sum over all arrival rates of the mean relative deadline exceeded.
pub(super) fn total(cells: &[Cell], policy: Policy, factor_ppm: u32) -> f64 {
    let of = |cell: &&Cell| cell.policy == policy && cell.factor_ppm == factor_ppm;
    cells.iter().filter(of).map(|cell| cell.exceeded.mean()).sum()
}

/// MinEDF's sum as a share of MaxEDF's.
pub(super) fn share(cells: &[Cell], factor_ppm: u32) -> f64 {
    total(cells, Policy::MinEdf, factor_ppm) / total(cells, Policy::MaxEdf, factor_ppm)
}
