//! The durations of Facebook's tasks that SimMR fits.

use howdah_core::models::Distribution;

/// Maps, in milliseconds.
pub(super) const MAP_MS: Distribution = Distribution::LogNormal { mu: 9.9511, sigma: 1.6764 };

/// Reduces with their shuffle, in milliseconds.
pub(super) const REDUCE_MS: Distribution = Distribution::LogNormal { mu: 12.375, sigma: 1.6262 };
