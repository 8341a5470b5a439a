//! Fits of the common distributions to a sample, ranked by their Kolmogorov–Smirnov distance to it.
//!
//! Each fit is the maximum-likelihood one. Lognormal, Weibull, gamma and Pareto know no value at or below 0: they
//! are fitted to the values above 0, and the distance, taken over the whole sample, then counts the others against
//! them. SimMR §V-C did the same with a commercial tool and more distributions, to the cumulative distribution read
//! off a plot; it found the lognormal best for Facebook's task durations.

use statrs::function::gamma::digamma;

use super::distribution::{Distribution, Negative};
use super::ks;
use super::moments::Moments;

/// One fitted distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// With the parameters found.
    pub distribution: Distribution,
    /// Kolmogorov–Smirnov distance to the sample: 0 is perfect, 1 is hopeless.
    pub distance: f64,
}

/// All fits that the sample allows, the closest first; equal distances keep the order normal, lognormal,
/// exponential, Weibull, gamma, Pareto, uniform. A sample without spread gives one fit, the constant. Values that
/// are not finite are left out. Empty for an empty sample.
pub fn fit(sample: &[f64]) -> Vec<Fit> {
    let mut values: Vec<f64> = sample.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let moments = Moments::of(&values);
    let Some(first) = values.first().copied() else { return Vec::new() };
    if moments.min == moments.max {
        return vec![Fit { distribution: Distribution::Constant(first), distance: 0.0 }];
    }
    let positive = &values[values.partition_point(|value| *value <= 0.0)..];
    let logs: Vec<f64> = positive.iter().map(|value| libm::log(*value)).collect();
    let candidates = [
        Some(Distribution::Normal { mean: moments.mean, sd: moments.sd(), negative: Negative::Keep }),
        lognormal(&logs),
        (moments.min >= 0.0).then_some(Distribution::Exponential { mean: moments.mean }),
        weibull(&logs),
        gamma(positive, &logs),
        pareto(&logs),
        Some(Distribution::Uniform { low: moments.min, high: moments.max }),
    ];
    let mut fits: Vec<Fit> = candidates
        .into_iter()
        .flatten()
        .filter_map(|candidate| candidate.check().ok())
        .map(|distribution| {
            let distance = ks::against(&mut values, &distribution);
            Fit { distribution, distance }
        })
        .collect();
    fits.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    fits
}

/// Whether the logarithms vary enough to be fitted.
fn spread(logs: &[f64]) -> Option<Moments> {
    let moments = Moments::of(logs);
    (moments.count > 1 && moments.variance > 0.0).then_some(moments)
}

fn lognormal(logs: &[f64]) -> Option<Distribution> {
    let moments = spread(logs)?;
    Some(Distribution::LogNormal { mu: moments.mean, sigma: moments.sd() })
}

/// The shape solves `Σ xᵏ ln x / Σ xᵏ − 1/k = mean ln x`, whose left side grows with k.
fn weibull(logs: &[f64]) -> Option<Distribution> {
    let moments = spread(logs)?;
    // Relative to the largest value, so that powers stay below 1.
    let excess = |shape: f64| {
        let (mut sum, mut weighted) = (0.0, 0.0);
        for log in logs {
            let power = libm::exp(shape * (log - moments.max));
            sum += power;
            weighted += power * log;
        }
        weighted / sum - 1.0 / shape - moments.mean
    };
    let shape = root(excess)?;
    let mean_power = logs.iter().map(|log| libm::exp(shape * (log - moments.max))).sum::<f64>() / logs.len() as f64;
    Some(Distribution::Weibull { shape, scale: libm::exp(moments.max + libm::log(mean_power) / shape) })
}

/// The shape solves `ln k − ψ(k) = ln mean x − mean ln x`, whose left side shrinks with k.
fn gamma(positive: &[f64], logs: &[f64]) -> Option<Distribution> {
    let of_logs = spread(logs)?;
    let mean = Moments::of(positive).mean;
    let gap = libm::log(mean) - of_logs.mean;
    let shape = root(|shape| gap - (libm::log(shape) - digamma(shape)))?;
    Some(Distribution::Gamma { shape, scale: mean / shape })
}

fn pareto(logs: &[f64]) -> Option<Distribution> {
    let moments = spread(logs)?;
    Some(Distribution::Pareto { minimum: libm::exp(moments.min), shape: 1.0 / (moments.mean - moments.min) })
}

/// Where a growing function crosses 0, between a thousandth and ten thousand; by halving on a logarithmic scale.
fn root(function: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (1e-3_f64, 1e4_f64);
    if function(low) > 0.0 || function(high) < 0.0 {
        return None;
    }
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if function(middle) < 0.0 { low = middle } else { high = middle }
    }
    Some((low * high).sqrt())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::models::random::Random;

    fn draws(text: &str, count: usize) -> Vec<f64> {
        let distribution: Distribution = text.parse().expect(text);
        let mut random = Random::new(11, 0);
        (0..count).map(|_| distribution.sample(&mut random)).collect()
    }

    #[rstest]
    #[case("lognormal(9.9511,1.6764)", [9.9511, 1.6764])]
    #[case("weibull(0.7,30)", [0.7, 30.0])]
    #[case("weibull(2.5,4000)", [2.5, 4000.0])]
    #[case("gamma(3,20)", [3.0, 20.0])]
    #[case("gamma(0.5,20)", [0.5, 20.0])]
    #[case("pareto(10,1.5)", [10.0, 1.5])]
    #[case("normal(100,10)", [100.0, 10.0])]
    #[case("uniform(5,50)", [5.0, 50.0])]
    fn the_best_fit_is_the_distribution_that_was_drawn_from(#[case] text: &str, #[case] parameters: [f64; 2]) {
        let fits = fit(&draws(text, 20_000));
        let found = fits[0].distribution.to_string();
        assert!(found.starts_with(text.split('(').next().expect("a name")), "{text}: {fits:#?}");
        let numbers: Vec<f64> = found[found.find('(').expect("open") + 1..found.len() - 1]
            .split(',')
            .map(|number| number.parse().expect("a number"))
            .collect();
        for (number, expected) in numbers.iter().zip(parameters) {
            assert!((number / expected - 1.0).abs() < 0.03, "{text}: {found}");
        }
        assert!(fits[0].distance < 0.01, "{text}: {}", fits[0].distance);
        assert!(fits.windows(2).all(|pair| pair[0].distance <= pair[1].distance));
    }

    #[test]
    fn an_exponential_sample_is_fitted_by_it_and_by_its_generalisations() {
        let fits = fit(&draws("exponential(40)", 20_000));
        let exponential = fits.iter().find(|fit| matches!(fit.distribution, Distribution::Exponential { .. }));
        assert!(exponential.expect("it is tried").distance < 0.01);
        // Weibull and gamma hold it as the case of shape 1, so the three come first in any order.
        assert!(fits[..3].iter().all(|fit| fit.distance < 0.01));
    }

    #[test]
    fn samples_without_spread_are_constants_and_empty_ones_nothing() {
        assert_eq!(fit(&[5.0, 5.0]), [Fit { distribution: Distribution::Constant(5.0), distance: 0.0 }]);
        assert!(fit(&[]).is_empty());
        assert!(fit(&[f64::NAN]).is_empty());
    }

    #[test]
    fn zeros_count_against_those_that_know_none() {
        let mut values = draws("lognormal(3,1)", 1000);
        values.extend([0.0; 1000]);
        let fits = fit(&values);
        let lognormal = fits.iter().find(|fit| matches!(fit.distribution, Distribution::LogNormal { .. }));
        assert!(lognormal.expect("it is fitted to the rest").distance >= 0.49);
    }
}
