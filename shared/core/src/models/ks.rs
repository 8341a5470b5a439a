//! Kolmogorov–Smirnov distances: how far apart two distributions are at worst, between 0 and 1.

use super::distribution::Distribution;

/// The largest difference between the share of `values` up to a point and what `distribution` says. Sorts the
/// values. 0 for no values. For distributions with steps (constant, empirical, clamped normal) the difference is
/// taken at the steps' upper ends.
pub fn against(values: &mut [f64], distribution: &Distribution) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let stepped = has_steps(distribution);
    let n = values.len() as f64;
    let mut worst: f64 = 0.0;
    let mut below = 0;
    while below < values.len() {
        let value = values[below];
        let upto = below + values[below..].partition_point(|other| *other <= value);
        let expected = distribution.cdf(value);
        worst = worst.max((upto as f64 / n - expected).abs());
        if !stepped {
            worst = worst.max((expected - below as f64 / n).abs());
        }
        below = upto;
    }
    worst
}

fn has_steps(distribution: &Distribution) -> bool {
    match distribution {
        Distribution::Constant(_) | Distribution::Empirical(_) => true,
        Distribution::Normal { sd, negative, .. } => *sd == 0.0 || *negative == super::Negative::Clamp,
        Distribution::LogNormal { sigma, .. } => *sigma == 0.0,
        Distribution::Uniform { low, high } => low == high,
        Distribution::Mixture(parts) => parts.iter().any(|(_, part)| has_steps(part)),
        _ => false,
    }
}

/// The largest difference between the shares of two samples up to a point. Sorts both. 0 if both are empty, 1 if
/// one is.
pub fn between(a: &mut [f64], b: &mut [f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() && b.is_empty() { 0.0 } else { 1.0 };
    }
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (mut i, mut j) = (0, 0);
    let mut worst: f64 = 0.0;
    while i < a.len() && j < b.len() {
        let value = if a[i] <= b[j] { a[i] } else { b[j] };
        i += a[i..].iter().take_while(|other| **other <= value).count();
        j += b[j..].iter().take_while(|other| **other <= value).count();
        worst = worst.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_small_samples_are_those_computed_by_hand() {
        // Against uniform(0,1): after 0.1 the sample is at 1/2, the line at 0.1; before 0.9 1/2 against 0.9.
        let uniform = Distribution::Uniform { low: 0.0, high: 1.0 };
        assert!((against(&mut [0.9, 0.1], &uniform) - 0.4).abs() < 1e-12);
        assert_eq!(against(&mut [2.0, 2.0], &Distribution::Constant(2.0)), 0.0);
        assert_eq!(between(&mut [1.0, 2.0, 3.0], &mut [1.0, 2.0, 3.0]), 0.0);
        assert_eq!(between(&mut [1.0, 2.0], &mut [3.0, 4.0]), 1.0);
        assert_eq!(between(&mut [1.0, 2.0, 3.0, 4.0], &mut [2.0, 4.0]), 0.25);
        assert_eq!(between(&mut [], &mut [1.0]), 1.0);
    }
}
