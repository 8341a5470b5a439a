//! Draws from distributions.

use super::{Distribution, Negative};
use crate::models::random::Random;

impl Distribution {
    /// One draw.
    pub fn sample(&self, random: &mut Random) -> f64 {
        match self {
            Distribution::Constant(value) => *value,
            Distribution::Uniform { low, high } => low + (high - low) * random.unit(),
            Distribution::Exponential { mean } => -mean * libm::log(random.unit()),
            Distribution::Normal { mean, sd, negative } => normal(*mean, *sd, *negative, random),
            Distribution::LogNormal { mu, sigma } => libm::exp(mu + sigma * random.normal()),
            Distribution::Weibull { shape, scale } => scale * libm::pow(-libm::log(random.unit()), 1.0 / shape),
            Distribution::Gamma { shape, scale } => scale * gamma(*shape, random),
            Distribution::Pareto { minimum, shape } => minimum * libm::pow(random.unit(), -1.0 / shape),
            Distribution::Empirical(values) => values[random.below(values.len())],
            Distribution::Mixture(parts) => {
                let whole: f64 = parts.iter().map(|(weight, _)| weight).sum();
                let mut left = whole * random.unit();
                for (weight, part) in parts {
                    left -= weight;
                    if left < 0.0 {
                        return part.sample(random);
                    }
                }
                // Rounding left a crumb over: it belongs to the last part.
                parts.last().expect("a mixture has parts").1.sample(random)
            }
        }
    }

    /// One draw rounded to the nearest whole number, not below 0: a duration in milliseconds or a count.
    pub fn sample_whole(&self, random: &mut Random) -> u64 {
        // `as` cuts: negative and not-a-number become 0, too large the largest.
        self.sample(random).round() as u64
    }
}

fn normal(mean: f64, sd: f64, negative: Negative, random: &mut Random) -> f64 {
    loop {
        let value = mean + sd * random.normal();
        match negative {
            Negative::Keep => return value,
            Negative::Clamp => return value.max(0.0),
            Negative::Absolute => return value.abs(),
            // Ends: `check` refuses means so far below zero that hardly any draw would do.
            Negative::Redraw if value >= 0.0 || sd == 0.0 => return value.max(0.0),
            Negative::Redraw => {}
        }
    }
}

/// Marsaglia and Tsang's method (2000) for shape at least 1; below, a draw of shape + 1 times a power of a uniform.
fn gamma(shape: f64, random: &mut Random) -> f64 {
    if shape < 1.0 {
        let factor = libm::pow(random.unit(), 1.0 / shape);
        return gamma(shape + 1.0, random) * factor;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = random.normal();
        let cube = 1.0 + c * x;
        let v = cube * cube * cube;
        if v > 0.0 && libm::log(random.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::models::moments::Moments;

    #[rstest]
    #[case("constant(7)")]
    #[case("uniform(3,9)")]
    #[case("exponential(40)")]
    #[case("normal(154,58)")]
    #[case("normal(154,558)")]
    #[case("normal(154,558,clamp)")]
    #[case("normal(154,558,redraw)")]
    #[case("normal(154,558,absolute)")]
    #[case("normal(-10,20,redraw)")]
    #[case("lognormal(2,0.7)")]
    #[case("weibull(0.8,20)")]
    #[case("weibull(3,20)")]
    #[case("gamma(0.5,10)")]
    #[case("gamma(4,10)")]
    #[case("pareto(10,5)")]
    #[case("empirical(1,2,3,100)")]
    #[case("mixture(0.8:uniform(1,2),0.2:uniform(8,10))")]
    fn draws_have_the_moments_that_the_formulas_say(#[case] text: &str) {
        let distribution: Distribution = text.parse().expect(text);
        let mut random = Random::new(42, 0);
        let draws: Vec<f64> = (0..50_000).map(|_| distribution.sample(&mut random)).collect();
        let moments = Moments::of(&draws);
        let sd = distribution.variance().sqrt();
        // Five standard errors of the mean; 5 % of the deviation, which converges slower.
        let room = 5.0 * sd / (draws.len() as f64).sqrt() + 1e-9;
        assert!(
            (moments.mean - distribution.mean()).abs() <= room,
            "{text}: {moments:?}, mean {}",
            distribution.mean()
        );
        assert!((moments.sd() - sd).abs() <= 0.05 * sd + 1e-9, "{text}: {}, deviation {sd}", moments.sd());
        assert!(crate::models::ks::against(&mut draws.clone(), &distribution) < 0.01, "{text}");
    }

    #[test]
    fn whole_draws_are_rounded_and_never_negative() {
        let mut random = Random::new(0, 0);
        assert_eq!(Distribution::Constant(2.5).sample_whole(&mut random), 3);
        assert_eq!(Distribution::Constant(-4.0).sample_whole(&mut random), 0);
        assert_eq!(Distribution::Constant(f64::NAN).sample_whole(&mut random), 0);
    }

    #[test]
    fn the_first_draws_of_a_seed_are_frozen() {
        let mut random = Random::new(5, 3);
        let draws = ["lognormal(9.9511,1.6764)", "gamma(2,3)", "weibull(2,3)", "pareto(1,2)", "normal(0,1)"]
            .map(|text| text.parse::<Distribution>().expect(text).sample(&mut random).to_bits());
        assert_eq!(
            draws,
            [
                4_656_798_140_475_911_221,
                4_615_093_431_838_547_934,
                4_612_346_845_523_839_508,
                4_607_569_346_882_871_122,
                4_594_084_631_137_394_776
            ]
        );
    }
}
