//! Weighted fair shares with minimum shares and demands.
//!
//! A ratio R is sought such that everyone gets `weight × R`, but at least the minimum share and at most the demand,
//! and all slots that are wanted are given out: by doubling R from 1, then 25 bisections. Only sums, products and
//! comparisons of doubles, so every machine finds the same R. Source: `docs/hadoop.md#fair` (computeFairShares).

/// Bisections after the doubling; Hadoop's number.
const BISECTIONS: u32 = 25;

/// One that wants slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Claim {
    /// Above 0.
    pub(super) weight: f64,
    pub(super) min: u32,
    pub(super) demand: u32,
}

impl Claim {
    /// The share at a ratio of slots to weight. The demand wins over the minimum share.
    fn share(&self, ratio: f64) -> f64 {
        (self.weight * ratio).max(f64::from(self.min)).min(f64::from(self.demand))
    }
}

/// The fair share of each claim, in their order.
pub(super) fn fair_shares(claims: &[Claim], slots: f64) -> Vec<f64> {
    let used = |ratio: f64| claims.iter().map(|claim| claim.share(ratio)).sum::<f64>();
    let wanted: f64 = claims.iter().map(|claim| f64::from(claim.demand)).sum();
    let goal = wanted.min(slots);
    let mut most = 1.0;
    while used(most) < goal {
        most *= 2.0;
    }
    let (mut low, mut high) = (0.0, most);
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if used(middle) < goal {
            low = middle;
        } else {
            high = middle;
        }
    }
    claims.iter().map(|claim| claim.share(high)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn claim(weight: f64, min: u32, demand: u32) -> Claim {
        Claim { weight, min, demand }
    }

    fn shares(claims: &[Claim], slots: f64) -> Vec<f64> {
        let close = |share: &f64| libm::round(share * 1e4) / 1e4;
        fair_shares(claims, slots).iter().map(close).collect()
    }

    // docs/hadoop.md#fair.
    #[test]
    fn equal_claims_get_equal_shares_and_weights_divide_the_rest() {
        assert_eq!(shares(&[claim(1.0, 0, 100); 4], 40.0), [10.0; 4]);
        assert_eq!(shares(&[claim(3.0, 0, 100), claim(1.0, 0, 100)], 40.0), [30.0, 10.0]);
    }

    #[test]
    fn who_wants_little_leaves_the_rest_to_the_others() {
        assert_eq!(shares(&[claim(1.0, 0, 4), claim(1.0, 0, 100), claim(1.0, 0, 100)], 40.0), [4.0, 18.0, 18.0]);
        assert_eq!(shares(&[claim(1.0, 0, 4), claim(1.0, 0, 5)], 40.0), [4.0, 5.0], "all demands are met");
    }

    #[test]
    fn minimum_shares_come_first_but_never_above_the_demand() {
        assert_eq!(shares(&[claim(1.0, 30, 100), claim(1.0, 0, 100)], 40.0), [30.0, 10.0]);
        assert_eq!(shares(&[claim(1.0, 30, 7), claim(1.0, 0, 100)], 40.0), [7.0, 33.0]);
        assert_eq!(shares(&[claim(1.0, 30, 100), claim(1.0, 30, 100)], 40.0), [30.0, 30.0], "too much was promised");
    }

    #[test]
    fn nobody_and_nothing_are_fine() {
        assert_eq!(shares(&[], 40.0), [0.0; 0]);
        assert_eq!(shares(&[claim(1.0, 5, 0)], 40.0), [0.0]);
        assert_eq!(shares(&[claim(1.0, 0, 9)], 0.0), [0.0]);
    }

    // The bisections leave R within most/2^25 above its value; a share is then within weight × that.
    proptest! {
        #[test]
        fn shares_add_up_and_are_fair(
            claims in prop::collection::vec((1u32..1000, 0u32..50, 0u32..500), 1..40),
            slots in 0u32..2000,
        ) {
            let claims: Vec<Claim> = claims.iter().map(|&(w, min, demand)| claim(f64::from(w) / 100.0, min, demand)).collect();
            let shares = fair_shares(&claims, f64::from(slots));
            let sum: f64 = shares.iter().sum();
            let wanted: f64 = claims.iter().map(|c| f64::from(c.demand)).sum();
            let promised: f64 = claims.iter().map(|c| f64::from(c.min.min(c.demand))).sum();
            let goal = wanted.min(f64::from(slots)).max(promised);
            prop_assert!((sum - goal).abs() < 0.1, "{sum} of {goal}");
            for (a, share) in claims.iter().zip(&shares) {
                prop_assert!(*share <= f64::from(a.demand));
                prop_assert!(*share >= f64::from(a.min.min(a.demand)));
                // Whoever is below its demand has at least the ratio of anyone above its minimum.
                for (b, other) in claims.iter().zip(&shares) {
                    if *share < f64::from(a.demand) && *other > f64::from(b.min) {
                        prop_assert!(share / a.weight >= other / b.weight - 1e-6);
                    }
                }
            }
        }
    }
}
