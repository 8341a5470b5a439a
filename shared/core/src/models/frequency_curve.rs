//! How the time of a CPU-bound task changes with the frequency of its core.
//!
//! A part of a task's time goes with the core's cycles, a part does not (it waits for memory, or for a disk):
//!
//! ```text
//! t(f) = a + b ÷ f        as the Load-Aware thesis draws it (§3.3, Fig. 3.5), a = 0 where time is all cycles
//!      ∝ fixed + (1 − fixed) × reference ÷ f
//! ```
//!
//! *fixed* is the share of the first part at the reference frequency. The frequency is the effective one, so that a quota
//! counts as the slower core that it makes. Shares are whole millionths, so that a policy's comparisons are those of
//! integers on every machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::load_curve::FEWEST_POINTS;

/// One, in millionths.
const ONE: u128 = 1_000_000;
/// Times above it are not told apart.
const MOST_US: u128 = 1 << 90;

/// Time against frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FrequencyCurve {
    /// Share of the time at the reference frequency that no frequency changes, in millionths, at most 1,000,000.
    pub fixed_ppm: u32,
    /// The reference frequency in kHz, at least 1; of no meaning where `fixed_ppm` is 0.
    pub khz: u32,
}

impl Default for FrequencyCurve {
    /// Inverse in frequency: what a task does of which nothing was measured.
    fn default() -> FrequencyCurve {
        FrequencyCurve { fixed_ppm: 0, khz: 1_000_000 }
    }
}

impl FrequencyCurve {
    /// What a time at one frequency is at another one, both in kHz and at least 1; rounded down.
    pub fn time_us(&self, time_us: u128, from_khz: u32, to_khz: u32) -> u128 {
        let (from, to) = (u128::from(from_khz.max(1)), u128::from(to_khz.max(1)));
        if self.fixed_ppm == 0 {
            return time_us.min(MOST_US) * from / to;
        }
        // t(f) × f, so that nothing is divided before the end.
        let cycles = |khz: u128| {
            let fixed = u128::from(self.fixed_ppm).min(ONE);
            fixed * khz + (ONE - fixed) * u128::from(self.khz.max(1))
        };
        // Below 2^60 × 2^53; the products of longer times are cut where nobody tells them apart.
        let at = (time_us.min(1 << 60) * cycles(to) / cycles(from)).min(MOST_US);
        at * from / to
    }

    /// The frequency in kHz at which a task whose time is inverse to it would take as long as this one at `khz`, where
    /// both take the same at `plain_khz`: at least 1.
    pub fn as_inverse_khz(&self, khz: u32, plain_khz: u32) -> u32 {
        const LONG: u128 = 1 << 40;
        if self.fixed_ppm == 0 {
            return khz.max(1);
        }
        let time = self.time_us(LONG, plain_khz, khz).max(1);
        let inverse = (LONG * u128::from(plain_khz) + time / 2) / time;
        u32::try_from(inverse).unwrap_or(u32::MAX).max(1)
    }
}

/// A measured time of the same work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrequencyPoint {
    /// Effective, in kHz.
    pub khz: f64,
    /// Any unit of time.
    pub time: f64,
}

/// A curve and how well it meets the points it was made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrequencyFit {
    /// The curve; its reference is the highest frequency of the points.
    pub curve: FrequencyCurve,
    /// Time at the reference frequency, in the points' unit.
    pub base: f64,
    /// Share of the points' variance that the curve explains, at most 1.
    pub r_squared: f64,
    /// Mean of |fitted − measured| ÷ measured.
    pub mean_error: f64,
    /// The largest of these.
    pub max_error: f64,
}

impl FrequencyFit {
    /// The time at a frequency in kHz, in the points' unit.
    pub fn time(&self, khz: f64) -> f64 {
        let fixed = f64::from(self.curve.fixed_ppm) / 1e6;
        self.base * (fixed + (1.0 - fixed) * f64::from(self.curve.khz) / khz)
    }
}

/// The curve with the smallest squared relative errors; `None` with fewer than three points, without two different
/// frequencies, or with one that is no positive number.
pub fn fit_frequency(points: &[FrequencyPoint]) -> Option<FrequencyFit> {
    let usable = |x: f64| x.is_finite() && x > 0.0;
    let different = points.iter().any(|point| point.khz != points[0].khz);
    if points.len() < FEWEST_POINTS || !different || !points.iter().all(|p| usable(p.khz) && usable(p.time)) {
        return None;
    }
    let reference = points.iter().map(|point| point.khz).fold(0.0, f64::max);
    // With x = reference ÷ f: the least Σ ((a + b·x) ÷ t − 1)².
    let [mut aa, mut ab, mut bb, mut a1, mut b1] = [0.0; 5];
    for point in points {
        let (a, b) = (1.0 / point.time, reference / point.khz / point.time);
        aa += a * a;
        ab += a * b;
        bb += b * b;
        a1 += a;
        b1 += b;
    }
    let determinant = aa * bb - ab * ab;
    let (a, b) = ((a1 * bb - b1 * ab) / determinant, (b1 * aa - a1 * ab) / determinant);
    // Neither part of a time is negative.
    let (a, b) = match (a, b) {
        (a, _) if a < 0.0 => (0.0, b1 / bb),
        (_, b) if b < 0.0 => (a1 / aa, 0.0),
        both => both,
    };
    let fixed_ppm = libm::round(a / (a + b) * 1e6) as u32;
    let curve = FrequencyCurve { fixed_ppm, khz: libm::round(reference).clamp(1.0, f64::from(u32::MAX)) as u32 };
    Some(judged(FrequencyFit { curve, base: a + b, r_squared: 0.0, mean_error: 0.0, max_error: 0.0 }, points))
}

fn judged(fit: FrequencyFit, points: &[FrequencyPoint]) -> FrequencyFit {
    let n = points.len() as f64;
    let mean = points.iter().map(|point| point.time).sum::<f64>() / n;
    let (mut left, mut spread, mut sum, mut max_error) = (0.0, 0.0, 0.0, 0.0f64);
    for point in points {
        let off = fit.time(point.khz) - point.time;
        left += off * off;
        spread += (point.time - mean) * (point.time - mean);
        sum += off.abs() / point.time;
        max_error = max_error.max(off.abs() / point.time);
    }
    let r_squared = if spread == 0.0 { 0.0 } else { 1.0 - left / spread };
    FrequencyFit { r_squared, mean_error: sum / n, max_error, ..fit }
}

/// As `fixed=0.12,khz=2268000`.
impl fmt::Display for FrequencyCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fixed={},khz={}", f64::from(self.fixed_ppm) / 1e6, self.khz)
    }
}

/// A curve that does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no frequency curve, expected one such as fixed=0.12,khz=2268000")]
pub struct FrequencyCurveError(String);

impl FromStr for FrequencyCurve {
    type Err = FrequencyCurveError;

    fn from_str(text: &str) -> Result<FrequencyCurve, FrequencyCurveError> {
        parse(text).ok_or_else(|| FrequencyCurveError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<FrequencyCurve> {
    let (fixed, khz) = text.trim().split_once(',')?;
    let fixed: f64 = fixed.trim().strip_prefix("fixed=")?.trim().parse().ok()?;
    let khz: u32 = khz.trim().strip_prefix("khz=")?.trim().parse().ok()?;
    let fits = (0.0..=1.0).contains(&fixed) && khz > 0;
    fits.then(|| FrequencyCurve { fixed_ppm: libm::round(fixed * 1e6) as u32, khz })
}

impl TryFrom<String> for FrequencyCurve {
    type Error = FrequencyCurveError;

    fn try_from(text: String) -> Result<FrequencyCurve, FrequencyCurveError> {
        text.parse()
    }
}

impl From<FrequencyCurve> for String {
    fn from(curve: FrequencyCurve) -> String {
        curve.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(text: &str) -> FrequencyCurve {
        text.parse().expect("it reads")
    }

    /// Thesis §4.1 slows a worker from 2268 to 1416 MHz.
    #[test]
    fn time_is_inverse_in_frequency_but_for_its_fixed_part() {
        let inverse = FrequencyCurve::default();
        assert_eq!(inverse.time_us(60_000_000, 2_268_000, 1_416_000), 96_101_694, "60 s × 2268 ÷ 1416");
        assert_eq!(inverse.time_us(96_101_694, 1_416_000, 2_268_000), 59_999_999);
        let half = curve("fixed=0.5,khz=2268000");
        assert_eq!(half.time_us(60_000_000, 2_268_000, 1_134_000), 90_000_000, "30 s, and 30 s at half the speed");
        assert_eq!(half.time_us(90_000_000, 1_134_000, 2_268_000), 60_000_000);
        assert_eq!(half.time_us(90_000_000, 1_134_000, 1_134_000), 90_000_000);
        assert_eq!(curve("fixed=1,khz=5").time_us(77, 1, u32::MAX), 77, "no frequency changes it");
    }

    #[test]
    fn absurd_numbers_end_somewhere() {
        for text in ["fixed=0,khz=1", "fixed=0.000001,khz=4294967295", "fixed=1,khz=4294967295"] {
            for (from, to) in [(1, u32::MAX), (u32::MAX, 1), (0, 0)] {
                assert!(curve(text).time_us(u128::MAX, from, to) <= MOST_US << 32, "{text}");
            }
        }
    }

    #[test]
    fn a_frequency_stands_for_the_one_at_which_an_inverse_task_takes_as_long() {
        let inverse = FrequencyCurve::default();
        for khz in [1, 700_000, 1_416_000, 4_000_000_000] {
            assert_eq!(inverse.as_inverse_khz(khz, 2_268_000), khz);
        }
        let half = curve("fixed=0.5,khz=2000000");
        assert_eq!(half.as_inverse_khz(1_000_000, 2_000_000), 1_333_333, "1.5 times the time");
        assert_eq!(half.as_inverse_khz(2_000_000, 2_000_000), 2_000_000);
        assert_eq!(half.as_inverse_khz(u32::MAX, 2_000_000), 3_998_138, "at most twice as fast");
    }

    #[test]
    fn a_fit_finds_the_curve_that_made_the_points() {
        for (fixed, base) in [(0.0, 7.5), (0.3, 2.0), (1.0, 1.0)] {
            let time = |khz: f64| base * (fixed + (1.0 - fixed) * 2.6e6 / khz);
            let points = [2.6e6, 1.9e6, 1.3e6, 0.6e6].map(|khz| FrequencyPoint { khz, time: time(khz) });
            let fit = fit_frequency(&points).expect("points enough");
            assert_eq!(fit.curve, FrequencyCurve { fixed_ppm: (fixed * 1e6) as u32, khz: 2_600_000 });
            assert!((fit.base - base).abs() < 1e-9 && fit.max_error < 1e-6, "{fit:?}");
            assert!(fixed == 1.0 || fit.r_squared > 0.999_999, "{fit:?}");
            assert!((fit.time(1e6) - time(1e6)).abs() < 1e-5);
        }
    }

    #[test]
    fn no_part_of_a_time_is_negative_and_errors_are_reported() {
        let point = |khz, time| FrequencyPoint { khz, time };
        // Steeper than inverse, and falling where it should grow.
        let steep = fit_frequency(&[point(2e6, 1.0), point(1e6, 2.2), point(0.5e6, 4.9)]).expect("points enough");
        assert_eq!(steep.curve.fixed_ppm, 0);
        assert!(steep.max_error > 0.05 && steep.mean_error > 0.03 && steep.r_squared < 1.0, "{steep:?}");
        let flat = fit_frequency(&[point(2e6, 1.2), point(1e6, 1.1), point(0.5e6, 1.0)]).expect("points enough");
        assert_eq!(flat.curve.fixed_ppm, 1_000_000);
    }

    #[test]
    fn a_fit_wants_points_that_can_tell() {
        let point = |khz, time| FrequencyPoint { khz, time };
        assert_eq!(fit_frequency(&[point(1.0, 1.0), point(2.0, 2.0)]), None);
        assert_eq!(fit_frequency(&[point(1.0, 1.0); 5]), None);
        assert_eq!(fit_frequency(&[point(1.0, 1.0), point(2.0, 0.0), point(3.0, 1.0)]), None);
        assert_eq!(fit_frequency(&[point(0.0, 1.0), point(2.0, 1.0), point(3.0, 1.0)]), None);
    }

    #[test]
    fn curves_read_as_they_are_written() {
        for text in ["fixed=0,khz=1000000", "fixed=0.12,khz=2268000", "fixed=1,khz=1"] {
            assert_eq!(curve(text).to_string(), text);
        }
        for wrong in ["", "fixed=0.1", "khz=5", "fixed=1.1,khz=5", "fixed=-0.1,khz=5", "fixed=0,khz=0", "fixed=x,khz=5"]
        {
            let error = wrong.parse::<FrequencyCurve>().expect_err(wrong).to_string();
            assert!(error.contains("expected one such as fixed=0.12"), "{error}");
        }
    }
}
