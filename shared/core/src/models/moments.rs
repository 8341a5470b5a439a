//! Numbers that describe a sample, each with one definition for the whole project.
//!
//! **Percentile**: linear interpolation between the two nearest order statistics, at position `(n − 1) · q` of the
//! ascending sample counted from 0 (type 7 of Hyndman and Fan, 1996, and what R, NumPy and spreadsheets do). So the
//! median of an even number of values is the mean of the middle two. **Variance**: divided by n, as for a whole
//! population, because a trace is all there is. **Squared coefficient of variation**: variance over squared mean.

/// What a sample is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many values.
    pub count: usize,
    /// Their sum.
    pub sum: f64,
    /// Arithmetic mean; 0 for no values.
    pub mean: f64,
    /// Divided by the count; 0 for no values.
    pub variance: f64,
    /// Smallest; 0 for no values.
    pub min: f64,
    /// Largest; 0 for no values.
    pub max: f64,
}

impl Moments {
    /// Of all values, in two passes, so that large means do not swallow small variances.
    pub fn of(values: &[f64]) -> Moments {
        if values.is_empty() {
            return Moments::default();
        }
        let count = values.len();
        let sum: f64 = values.iter().sum();
        let mean = sum / count as f64;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count as f64;
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Moments { count, sum, mean, variance, min, max }
    }

    /// Standard deviation.
    pub fn sd(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Squared coefficient of variation; 0 where the mean is 0.
    pub fn scv(&self) -> f64 {
        if self.mean == 0.0 { 0.0 } else { self.variance / (self.mean * self.mean) }
    }
}

/// The values in ascending order, as [`percentile`] wants them.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The value below which `percent` of an ascending sample lies; see the header for the definition. `percent` is
/// from 0 to 100 and is cut to it. `None` for no values.
pub fn percentile(ascending: &[f64], percent: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let position = last as f64 * (percent.clamp(0.0, 100.0) / 100.0);
    let below = position.floor() as usize;
    let (low, high) = (ascending[below], ascending[(below + 1).min(last)]);
    Some(low + (high - low) * (position - below as f64))
}

/// The middle of an ascending sample.
pub fn median(ascending: &[f64]) -> Option<f64> {
    percentile(ascending, 50.0)
}

/// The smallest share of the values, largest first, that together make at least `part` of the sum. 0 where the sum
/// is 0. "Fewer than 8 % of jobs hold half of the load" is `share_holding(sizes, 0.5) < 0.08`.
pub fn share_holding(values: &[f64], part: f64) -> f64 {
    let mut descending = values.to_vec();
    descending.sort_unstable_by(|a, b| b.total_cmp(a));
    let wanted = descending.iter().sum::<f64>() * part;
    if wanted <= 0.0 {
        return 0.0;
    }
    let mut held = 0.0;
    for (index, value) in descending.iter().enumerate() {
        held += value;
        if held >= wanted {
            return (index + 1) as f64 / descending.len() as f64;
        }
    }
    1.0
}

/// Pearson's correlation; `None` where one of the two does not vary or the lengths differ.
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let (of_a, of_b) = (Moments::of(a), Moments::of(b));
    let spread = of_a.sd() * of_b.sd();
    if spread == 0.0 {
        return None;
    }
    let joint = a.iter().zip(b).map(|(x, y)| (x - of_a.mean) * (y - of_b.mean)).sum::<f64>() / a.len() as f64;
    Some(joint / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_small_sample_are_those_computed_by_hand() {
        let moments = Moments::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((moments.count, moments.sum, moments.mean), (8, 40.0, 5.0));
        assert_eq!((moments.variance, moments.sd(), moments.scv()), (4.0, 2.0, 0.16));
        assert_eq!((moments.min, moments.max), (2.0, 9.0));
        assert_eq!(Moments::of(&[]), Moments::default());
    }

    #[test]
    fn percentiles_interpolate_between_order_statistics() {
        let sample = sorted([40.0, 10.0, 30.0, 20.0]);
        assert_eq!(percentile(&sample, 0.0), Some(10.0));
        assert_eq!(median(&sample), Some(25.0));
        assert_eq!(percentile(&sample, 95.0), Some(38.5));
        assert_eq!(percentile(&sample, 100.0), Some(40.0));
        assert_eq!(percentile(&sample, 250.0), Some(40.0));
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&[3.0], 95.0), Some(3.0));
    }

    #[test]
    fn one_of_ten_jobs_may_hold_half_of_the_load() {
        let mut sizes = vec![1.0; 9];
        sizes.push(9.0);
        assert_eq!(share_holding(&sizes, 0.5), 0.1);
        assert_eq!(share_holding(&sizes, 1.0), 1.0);
        assert_eq!(share_holding(&[0.0, 0.0], 0.5), 0.0);
    }

    #[test]
    fn correlation_is_one_on_a_line_and_nothing_without_spread() {
        let line = correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]).expect("both vary");
        assert!((line - 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(correlation(&[1.0], &[1.0, 2.0]), None);
    }
}
