//! Distributions of durations, counts and gaps, with draws that are the same on every machine.
//!
//! Draws use ChaCha words and `libm` only (see [`Random`](super::Random)); square roots are exact by IEEE 754. The cumulative
//! distribution of the gamma comes from `statrs`, whose last bits may differ between machines: no draw and no
//! decision depends on it, only printed distances do. Values have no unit here; whoever uses them says it.
//!
//! The text form is in `text`: `lognormal(9.9511,1.6764)`, `normal(154,558,redraw)`, `mixture(0.8:…,0.2:…)`.

mod cdf;
mod normal;
mod sample;
mod text;

pub use text::DistributionError;

use self::normal::{standard_cdf, standard_density};
use super::moments::Moments;

/// What becomes of a normal draw below zero, where the thing drawn cannot be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negative {
    /// It stays.
    #[default]
    Keep,
    /// It counts as 0: many zeros where the deviation is large.
    Clamp,
    /// It is drawn again: the normal distribution given that it is not negative.
    Redraw,
    /// Its sign is dropped.
    Absolute,
}

/// A distribution of one number. Parameters are finite; [`Distribution::check`] says which values make sense.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Even between two bounds.
    Uniform {
        /// Lower bound.
        low: f64,
        /// Upper bound, at least `low`.
        high: f64,
    },
    /// Gaps of a Poisson process.
    Exponential {
        /// Above 0.
        mean: f64,
    },
    /// Gauss's.
    Normal {
        /// Before the treatment of negative draws.
        mean: f64,
        /// Standard deviation before that treatment, not negative.
        sd: f64,
        /// What becomes of draws below zero.
        negative: Negative,
    },
    /// Its logarithm is normal.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm, not negative.
        sigma: f64,
    },
    /// Weibull's.
    Weibull {
        /// Above 0; below 1 the tail is heavier than exponential.
        shape: f64,
        /// Above 0.
        scale: f64,
    },
    /// Gamma.
    Gamma {
        /// Above 0.
        shape: f64,
        /// Above 0.
        scale: f64,
    },
    /// Pareto's, of the first kind.
    Pareto {
        /// Smallest value, above 0.
        minimum: f64,
        /// Above 0; the mean exists above 1, the variance above 2.
        shape: f64,
    },
    /// One of these values, each as likely; ascending, not empty.
    Empirical(Vec<f64>),
    /// One of several, by weight; weights above 0, not empty. They need not add up to 1.
    Mixture(Vec<(f64, Distribution)>),
}

impl Distribution {
    /// Of these values, each as likely.
    pub fn empirical(values: impl IntoIterator<Item = f64>) -> Distribution {
        Distribution::Empirical(super::moments::sorted(values))
    }

    /// Expected value; infinite where it does not exist.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant(value) => *value,
            Distribution::Uniform { low, high } => (low + high) / 2.0,
            Distribution::Exponential { mean } => *mean,
            Distribution::Normal { mean, sd, negative } => normal_moments(*mean, *sd, *negative).0,
            Distribution::LogNormal { mu, sigma } => libm::exp(mu + sigma * sigma / 2.0),
            Distribution::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Distribution::Gamma { shape, scale } => shape * scale,
            Distribution::Pareto { minimum, shape } if *shape > 1.0 => shape * minimum / (shape - 1.0),
            Distribution::Pareto { .. } => f64::INFINITY,
            Distribution::Empirical(values) => Moments::of(values).mean,
            Distribution::Mixture(parts) => weighted(parts, Distribution::mean),
        }
    }

    /// Variance; infinite where it does not exist.
    pub fn variance(&self) -> f64 {
        match self {
            Distribution::Constant(_) => 0.0,
            Distribution::Uniform { low, high } => (high - low) * (high - low) / 12.0,
            Distribution::Exponential { mean } => mean * mean,
            Distribution::Normal { mean, sd, negative } => normal_moments(*mean, *sd, *negative).1,
            Distribution::LogNormal { mu, sigma } => {
                let square = sigma * sigma;
                libm::expm1(square) * libm::exp(2.0 * mu + square)
            }
            Distribution::Weibull { shape, scale } => {
                let first = libm::tgamma(1.0 + 1.0 / shape);
                scale * scale * (libm::tgamma(1.0 + 2.0 / shape) - first * first)
            }
            Distribution::Gamma { shape, scale } => shape * scale * scale,
            Distribution::Pareto { minimum, shape } if *shape > 2.0 => {
                minimum * minimum * shape / ((shape - 1.0) * (shape - 1.0) * (shape - 2.0))
            }
            Distribution::Pareto { .. } => f64::INFINITY,
            Distribution::Empirical(values) => Moments::of(values).variance,
            Distribution::Mixture(parts) => {
                let mean = self.mean();
                weighted(parts, |part| part.variance() + part.mean() * part.mean()) - mean * mean
            }
        }
    }

    /// Squared coefficient of variation: variance over squared mean; 0 where the mean is 0.
    pub fn scv(&self) -> f64 {
        let mean = self.mean();
        if mean == 0.0 { 0.0 } else { self.variance() / (mean * mean) }
    }
}

/// The average of a number over the parts of a mixture.
fn weighted(parts: &[(f64, Distribution)], number: impl Fn(&Distribution) -> f64) -> f64 {
    let whole: f64 = parts.iter().map(|(weight, _)| weight).sum();
    parts.iter().map(|(weight, part)| weight * number(part)).sum::<f64>() / whole
}

/// Mean and variance of a normal distribution after its negative draws were treated.
fn normal_moments(mean: f64, sd: f64, negative: Negative) -> (f64, f64) {
    if sd == 0.0 {
        let value = match negative {
            Negative::Keep => mean,
            Negative::Clamp | Negative::Redraw => mean.max(0.0),
            Negative::Absolute => mean.abs(),
        };
        return (value, 0.0);
    }
    let ratio = mean / sd;
    let (above, density) = (standard_cdf(ratio), standard_density(ratio));
    match negative {
        Negative::Keep => (mean, sd * sd),
        Negative::Clamp => {
            let first = mean * above + sd * density;
            (first, (mean * mean + sd * sd) * above + mean * sd * density - first * first)
        }
        Negative::Redraw => {
            let hazard = density / above;
            (mean + sd * hazard, sd * sd * (1.0 - ratio * hazard - hazard * hazard))
        }
        Negative::Absolute => {
            let first = mean * (2.0 * above - 1.0) + 2.0 * sd * density;
            (first, mean * mean + sd * sd - first * first)
        }
    }
}
