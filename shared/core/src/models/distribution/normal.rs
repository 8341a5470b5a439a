//! The standard normal distribution, by `libm` alone.

/// Standard normal distribution function.
pub(super) fn standard_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Standard normal density.
pub(super) fn standard_density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / std::f64::consts::TAU.sqrt()
}
