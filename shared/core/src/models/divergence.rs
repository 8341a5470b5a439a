//! SimMR's distance between the durations of two runs: the symmetric Kullback–Leibler divergence.
//!
//! `D'(P,Q) = ½ (D(P‖Q) + D(Q‖P))` with `D(P‖Q) = Σ P(i) · ln(P(i) / Q(i))` (SimMR §II). The paper leaves two things
//! open, and both move the number, so both are choices here:
//!
//! - *Bins.* Its Table I says "in seconds" and no width. Ours are logarithmic, ten to a decade, unless set
//!   otherwise: a bin holds durations within 26 % of each other whatever their scale.
//!   Deviation: fixed widths, the paper's likely choice, are selectable but tell nothing about tasks below a width.
//! - *Bins that one of the two does not reach*, where the logarithm has no value. A probability of 0 is replaced by
//!   a millionth where it stands below, so that one bin out of reach costs at most `ln 10⁶ = 13.8` in all. Table I's
//!   comparison of different applications ends at 13.49, which fits such a floor, though the paper does not say it.

use std::collections::BTreeMap;

/// How durations become outcomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bins {
    /// All of this width, the first starting at 0; above 0.
    Width(f64),
    /// This many to a factor of ten, at least 1; values at or below 0 have one bin together.
    PerDecade(u32),
    /// This many of equal width, at least 1, between the smallest and the largest value of both samples.
    Count(u32),
}

/// What becomes of bins that only one of the two samples reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EmptyBins {
    /// A probability of 0 below the fraction bar counts as this, which is above 0.
    Floor(f64),
    /// This count, above 0, is added to every bin that one of the two reaches.
    Add(f64),
    /// They are left out. Understates: two samples without a common bin get 0.
    Skip,
}

/// How to compute a divergence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// Of the durations.
    pub bins: Bins,
    /// For bins that one of the two does not reach.
    pub empty: EmptyBins,
}

impl Default for Divergence {
    fn default() -> Divergence {
        Divergence { bins: Bins::PerDecade(10), empty: EmptyBins::Floor(1e-6) }
    }
}

impl Divergence {
    /// The symmetric divergence of two samples, 0 for equal ones. `None` if one is empty.
    pub fn symmetric(&self, p: &[f64], q: &[f64]) -> Option<f64> {
        if p.is_empty() || q.is_empty() {
            return None;
        }
        let bins = self.histogram(p, q);
        Some((self.directed(&bins, 0) + self.directed(&bins, 1)) / 2.0)
    }

    /// How many values of each sample are in each bin that at least one reaches.
    fn histogram(&self, p: &[f64], q: &[f64]) -> Vec<[f64; 2]> {
        let both = || p.iter().chain(q).copied();
        let low = both().fold(f64::INFINITY, f64::min);
        let span = both().fold(f64::NEG_INFINITY, f64::max) - low;
        let bin = |value: f64| -> i64 {
            match self.bins {
                Bins::Width(width) => (value / width).floor() as i64,
                Bins::PerDecade(_) if value <= 0.0 => i64::MIN,
                Bins::PerDecade(count) => (libm::log10(value) * f64::from(count)).floor() as i64,
                Bins::Count(count) if span > 0.0 => {
                    (((value - low) / span * f64::from(count)) as i64).min(i64::from(count) - 1)
                }
                Bins::Count(_) => 0,
            }
        };
        let mut counts: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for (side, sample) in [p, q].into_iter().enumerate() {
            for value in sample {
                counts.entry(bin(*value)).or_default()[side] += 1.0;
            }
        }
        counts.into_values().collect()
    }

    /// D of one side from the other. Never below 0, where a floor alone could push it by its own size.
    fn directed(&self, bins: &[[f64; 2]], from: usize) -> f64 {
        let added = if let EmptyBins::Add(count) = self.empty { count } else { 0.0 };
        let whole = |side: usize| bins.iter().map(|bin| bin[side] + added).sum::<f64>();
        let (of_p, of_q) = (whole(from), whole(1 - from));
        let mut sum = 0.0;
        for bin in bins {
            let p = (bin[from] + added) / of_p;
            let mut q = (bin[1 - from] + added) / of_q;
            if p == 0.0 {
                continue;
            }
            if q == 0.0 {
                match self.empty {
                    EmptyBins::Floor(floor) => q = floor,
                    EmptyBins::Add(_) | EmptyBins::Skip => continue,
                }
            }
            sum += p * libm::log(p / q);
        }
        sum.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ln(x: f64) -> f64 {
        libm::log(x)
    }

    const SECONDS: Bins = Bins::Width(1.0);

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("two samples");
        assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
    }

    #[test]
    fn two_bins_give_the_number_computed_by_hand() {
        // P = (3/4, 1/4), Q = (1/4, 3/4): both directions are 3/4 ln 3 − 1/4 ln 3 = ½ ln 3.
        let kl = Divergence { bins: SECONDS, ..Divergence::default() };
        close(kl.symmetric(&[0.1, 0.2, 0.3, 1.5], &[0.5, 1.1, 1.2, 1.3]), 0.5 * ln(3.0));
        // P = (1/2, 1/2), Q = (1/4, 3/4).
        let expected = 0.5 * (0.5 * ln(2.0) + 0.5 * ln(2.0 / 3.0) + 0.25 * ln(0.5) + 0.75 * ln(1.5));
        close(kl.symmetric(&[0.0, 1.0], &[0.0, 1.0, 1.0, 1.0]), expected);
    }

    #[test]
    fn equal_samples_have_no_distance_and_empty_ones_none_at_all() {
        let kl = Divergence::default();
        close(kl.symmetric(&[5.0, 50.0, 0.0], &[0.0, 5.0, 50.0]), 0.0);
        assert_eq!(kl.symmetric(&[], &[1.0]), None);
    }

    #[test]
    fn out_of_reach_costs_what_the_choice_says() {
        let with = |empty| Divergence { bins: SECONDS, empty };
        close(with(EmptyBins::Floor(1e-6)).symmetric(&[1.0], &[9.0]), ln(1e6));
        close(with(EmptyBins::Skip).symmetric(&[1.0], &[9.0]), 0.0);
        // Counts (1+1, 0+1) and (0+1, 1+1): (2/3, 1/3) against (1/3, 2/3).
        close(with(EmptyBins::Add(1.0)).symmetric(&[1.0], &[9.0]), ln(2.0) / 3.0);
    }

    #[test]
    fn it_is_symmetric_whatever_the_bins() {
        let (a, b) = ([1.0, 2.0, 30.0, 400.0], [1.5, 2.0, 2.5, 3000.0, 0.0]);
        for bins in [Bins::Width(2.0), Bins::PerDecade(10), Bins::Count(7)] {
            let kl = Divergence { bins, ..Divergence::default() };
            assert_eq!(kl.symmetric(&a, &b), kl.symmetric(&b, &a));
            assert!(kl.symmetric(&a, &b) > Some(0.0));
        }
    }

    #[test]
    fn logarithmic_bins_see_shapes_of_any_scale_alike() {
        let kl = Divergence::default();
        let (a, b) = ([1.0, 2.0, 3.0, 5.0], [2.0, 2.0, 3.0, 7.0]);
        let scaled = |values: [f64; 4]| values.map(|value| value * 1000.0);
        assert_eq!(kl.symmetric(&a, &b), kl.symmetric(&scaled(a), &scaled(b)));
    }
}
