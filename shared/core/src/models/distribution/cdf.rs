//! Cumulative distributions and their inverses.

use statrs::function::gamma::gamma_lr;

use super::normal::standard_cdf;
use super::{Distribution, Negative, weighted};

impl Distribution {
    /// The probability of a value of at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        match self {
            Distribution::Constant(value) => step(x >= *value),
            Distribution::Uniform { low, high } if high > low => ((x - low) / (high - low)).clamp(0.0, 1.0),
            Distribution::Uniform { low, .. } => step(x >= *low),
            Distribution::Exponential { mean } if x > 0.0 => -libm::expm1(-x / mean),
            Distribution::Normal { mean, sd, negative } => normal_cdf(*mean, *sd, *negative, x),
            Distribution::LogNormal { mu, sigma } if x > 0.0 => {
                let z = libm::log(x) - mu;
                if *sigma == 0.0 { step(z >= 0.0) } else { standard_cdf(z / sigma) }
            }
            Distribution::Weibull { shape, scale } if x > 0.0 => -libm::expm1(-libm::pow(x / scale, *shape)),
            Distribution::Gamma { shape, scale } if x > 0.0 => {
                let ratio = x / scale;
                // The function wants a positive finite number, which a quotient of two need not be.
                if ratio.is_finite() && ratio > 0.0 { gamma_lr(*shape, ratio) } else { step(ratio > 0.0) }
            }
            Distribution::Pareto { minimum, shape } if x > *minimum => 1.0 - libm::pow(minimum / x, *shape),
            Distribution::Empirical(values) => values.partition_point(|value| *value <= x) as f64 / values.len() as f64,
            Distribution::Mixture(parts) => weighted(parts, |part| part.cdf(x)),
            // Below the smallest value.
            Distribution::Exponential { .. }
            | Distribution::LogNormal { .. }
            | Distribution::Weibull { .. }
            | Distribution::Gamma { .. }
            | Distribution::Pareto { .. } => 0.0,
        }
    }

    /// The smallest `x` (to the last bits) with `cdf(x) ≥ share`, for shares inside (0, 1). By halving: exact
    /// enough for drawing one value out of each of many equal slices of the distribution.
    pub fn quantile(&self, share: f64) -> f64 {
        match self {
            Distribution::Constant(value) => *value,
            Distribution::Uniform { low, high } => low + (high - low) * share,
            Distribution::Exponential { mean } => -mean * libm::log1p(-share),
            Distribution::Normal { mean, sd, negative: Negative::Keep } => mean + sd * standard_quantile(share),
            Distribution::LogNormal { mu, sigma } => libm::exp(mu + sigma * standard_quantile(share)),
            Distribution::Weibull { shape, scale } => scale * libm::pow(-libm::log1p(-share), 1.0 / shape),
            Distribution::Pareto { minimum, shape } => minimum * libm::pow(1.0 - share, -1.0 / shape),
            Distribution::Empirical(values) => {
                let rank = (share * values.len() as f64).ceil() as usize;
                values[rank.clamp(1, values.len()) - 1]
            }
            Distribution::Normal { .. } | Distribution::Gamma { .. } | Distribution::Mixture(_) => {
                let (mut low, mut high) = (-1.0, 1.0);
                while self.cdf(low) >= share && low > f64::MIN / 4.0 {
                    low *= 2.0;
                }
                while self.cdf(high) < share && high < f64::MAX / 4.0 {
                    high *= 2.0;
                }
                halve(low, high, |x| self.cdf(x) >= share)
            }
        }
    }
}

fn standard_quantile(share: f64) -> f64 {
    halve(-40.0, 40.0, |x| standard_cdf(x) >= share)
}

/// Where `reached` turns true between `low`, where it is false, and `high`, where it is true.
fn halve(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    // Doubles have 53 bits: more halvings than this change nothing in the ranges used here.
    for _ in 0..100 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if reached(middle) { high = middle } else { low = middle }
    }
    high
}

fn normal_cdf(mean: f64, sd: f64, negative: Negative, x: f64) -> f64 {
    if negative != Negative::Keep && x < 0.0 {
        return 0.0;
    }
    if sd == 0.0 {
        let value = match negative {
            Negative::Keep => mean,
            Negative::Clamp | Negative::Redraw => mean.max(0.0),
            Negative::Absolute => mean.abs(),
        };
        return step(x >= value);
    }
    let at_x = standard_cdf((x - mean) / sd);
    match negative {
        Negative::Keep | Negative::Clamp => at_x,
        Negative::Redraw => {
            let below_zero = standard_cdf(-mean / sd);
            (at_x - below_zero) / (1.0 - below_zero)
        }
        Negative::Absolute => at_x - standard_cdf((-x - mean) / sd),
    }
}

fn step(reached: bool) -> f64 {
    if reached { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // Known values: tables of the normal, chi-squared (gamma(k/2, 2)) and exponential distributions.
    #[rstest]
    #[case("normal(0,1)", 1.959963984540054, 0.975)]
    #[case("normal(10,2)", 10.0, 0.5)]
    #[case("lognormal(9.9511,1.6764)", 20975.5, 0.5)]
    #[case("exponential(2)", 2.0, 0.632_120_558_828_557_7)]
    #[case("weibull(1,2)", 2.0, 0.632_120_558_828_557_7)]
    #[case("weibull(2,3)", 3.0, 0.632_120_558_828_557_7)]
    #[case("gamma(1,2)", 2.0, 0.632_120_558_828_557_7)]
    #[case("gamma(2.5,2)", 11.0705, 0.95)]
    #[case("gamma(0.5,2)", 3.841_458_820_694_124, 0.95)]
    #[case("pareto(1,2)", 10.0, 0.99)]
    #[case("uniform(2,6)", 3.0, 0.25)]
    #[case("constant(4)", 4.0, 1.0)]
    #[case("empirical(1,2,3,4)", 2.5, 0.5)]
    #[case("normal(0,1,clamp)", 0.0, 0.5)]
    #[case("normal(0,1,redraw)", 1.959963984540054, 0.95)]
    #[case("normal(0,1,absolute)", 1.959963984540054, 0.95)]
    #[case("mixture(3:constant(1),1:constant(5))", 4.0, 0.75)]
    fn cumulative_distributions_agree_with_known_values(#[case] text: &str, #[case] x: f64, #[case] expected: f64) {
        let distribution: Distribution = text.parse().expect(text);
        assert!((distribution.cdf(x) - expected).abs() < 1e-5, "{text}: {}", distribution.cdf(x));
    }

    #[rstest]
    #[case("lognormal(2,0.7)")]
    #[case("normal(154,558)")]
    #[case("normal(154,558,redraw)")]
    #[case("gamma(2.5,2)")]
    #[case("weibull(0.8,20)")]
    #[case("pareto(10,1.5)")]
    #[case("exponential(3)")]
    #[case("uniform(2,6)")]
    #[case("mixture(0.9:lognormal(0,1),0.1:lognormal(5,0.2))")]
    fn quantiles_invert_the_cumulative_distribution(#[case] text: &str) {
        let distribution: Distribution = text.parse().expect(text);
        for share in [0.001, 0.1, 0.5, 0.9, 0.95, 0.999] {
            let back = distribution.cdf(distribution.quantile(share));
            assert!((back - share).abs() < 1e-9, "{text} at {share}: {back}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_passes_the_check_can_be_drawn_from_and_asked(
            kind in 0..7_u8,
            a in proptest::num::f64::ANY,
            b in proptest::num::f64::ANY,
            share in 0.001..0.999_f64,
        ) {
            let negative = [Negative::Keep, Negative::Clamp, Negative::Redraw, Negative::Absolute][usize::from(kind % 4)];
            let distribution = match kind {
                0 => Distribution::Uniform { low: a, high: b },
                1 => Distribution::Normal { mean: a, sd: b, negative },
                2 => Distribution::LogNormal { mu: a, sigma: b },
                3 => Distribution::Weibull { shape: a, scale: b },
                4 => Distribution::Gamma { shape: a, scale: b },
                5 => Distribution::Pareto { minimum: a, shape: b },
                _ => Distribution::Mixture(vec![(a, Distribution::Exponential { mean: b }), (1.0, Distribution::Constant(b))]),
            };
            if let Ok(distribution) = distribution.check() {
                let mut random = crate::models::Random::new(1, 0);
                distribution.sample_whole(&mut random);
                let at = distribution.cdf(distribution.quantile(share));
                proptest::prop_assert!(at.is_nan() || (-1e-9..=1.0 + 1e-9).contains(&at), "{}", at);
            }
        }
    }
}
