//! How the time of a CPU-bound task grows with the load of its machine.
//!
//! *Load* is the number of tasks that run or wait for a core, the task itself included; *cores* are what they share.
//! Up to the cores, time grows linearly with the load (shared caches, hyper-threads); beyond them, exponentially as the
//! Load-Aware thesis measured (§3.3), or linearly as a scheduler that is fair to tasks makes it. Both come with one
//! parameter, and a fit says which of them the measurements follow:
//!
//! ```text
//! f(L) = 1 + below · min(L, c) / c            up to the cores
//!      × exp(rate · (L − c))                  beyond, `Beyond::Exponential`
//!      × (1 + slope · (L − c) / c)            beyond, `Beyond::Linear`; slope 1 is a fair share
//! ```
//!
//! Factors are whole millionths, so that a policy's comparisons are those of integers on every machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One, in millionths.
pub const ONE_PPM: u64 = 1_000_000;
/// No factor is larger: a task that takes a million times its time stands still.
const MOST_PPM: u64 = ONE_PPM * 1_000_000;

/// Time against load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LoadCurve {
    /// Growth from an idle machine to one with a task on each core, in millionths of the time on the idle one.
    pub below_ppm: u32,
    /// Growth from there on.
    pub beyond: Beyond,
}

/// Growth where tasks outnumber cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// By this rate for each task more, in millionths (thesis §3.3: 0.12 on eight cores).
    Exponential {
        /// Of the exponent.
        rate_ppm: u32,
    },
    /// In proportion to the tasks for each core, in millionths; 1,000,000 is a fair share.
    Linear {
        /// Of the proportion.
        slope_ppm: u32,
    },
}

impl Default for LoadCurve {
    /// A fair share of equal cores: what a machine does of which nothing was measured.
    fn default() -> LoadCurve {
        LoadCurve { below_ppm: 0, beyond: Beyond::Linear { slope_ppm: ONE_PPM as u32 } }
    }
}

impl LoadCurve {
    /// What a task's time is multiplied by, in millionths, at least 1,000,000. `cores_milli` of 0 counts as one core.
    pub fn factor_ppm(&self, load_milli: u32, cores_milli: u32) -> u64 {
        let cores = if cores_milli == 0 { 1_000 } else { u64::from(cores_milli) };
        let load = u64::from(load_milli);
        let below = ONE_PPM + u64::from(self.below_ppm) * load.min(cores) / cores;
        let more = load.saturating_sub(cores);
        if more == 0 {
            return below;
        }
        let factor = match self.beyond {
            Beyond::Linear { slope_ppm } => {
                u128::from(ONE_PPM) + u128::from(slope_ppm) * u128::from(more) / u128::from(cores)
            }
            Beyond::Exponential { rate_ppm } => {
                let exponent = f64::from(rate_ppm) * more as f64 / 1e9;
                libm::round(libm::exp(exponent.min(14.0)) * 1e6) as u128
            }
        };
        let product = u128::from(below) * factor / u128::from(ONE_PPM);
        u64::try_from(product).unwrap_or(MOST_PPM).min(MOST_PPM)
    }
}

/// A measured time of the same work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// Tasks that ran or waited, the measured one included.
    pub load: f64,
    /// Any unit of time.
    pub time: f64,
}

/// A curve and how well it meets the points it was made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadFit {
    /// The curve.
    pub curve: LoadCurve,
    /// Time at no load, in the points' unit.
    pub base: f64,
    /// Share of the points' variance that the curve explains, at most 1.
    pub r_squared: f64,
    /// Mean of |fitted − measured| ÷ measured.
    pub mean_error: f64,
    /// The largest of these.
    pub max_error: f64,
}

/// A curve has two numbers; with as few points nothing would tell how well it fits.
pub const FEWEST_POINTS: usize = 3;

/// Both fits to the points, the better one first; `None` with fewer than [`FEWEST_POINTS`], without two different loads,
/// or with one that is no positive number.
pub fn fit_load(points: &[LoadPoint], cores: f64) -> Option<[LoadFit; 2]> {
    let usable = |x: f64| x.is_finite() && x > 0.0;
    let different = points.iter().any(|point| point.load != points[0].load);
    if points.len() < FEWEST_POINTS
        || !different
        || !usable(cores)
        || !points.iter().all(|p| usable(p.load) && usable(p.time))
    {
        return None;
    }
    let linear = search(points, cores, 8.0, |slope| Beyond::Linear { slope_ppm: ppm(slope) });
    let exponential = search(points, cores, 4.0, |rate| Beyond::Exponential { rate_ppm: ppm(rate) });
    Some(if exponential.mean_error < linear.mean_error { [exponential, linear] } else { [linear, exponential] })
}

/// The best pair of parameters on a grid that closes in on it.
fn search(points: &[LoadPoint], cores: f64, most: f64, beyond: impl Fn(f64) -> Beyond) -> LoadFit {
    const STEPS: u32 = 20;
    const ROUNDS: u32 = 16;
    let (mut below, mut grows) = ((0.0, 2.0), (0.0, most));
    let mut best: Option<(f64, f64, f64, LoadFit)> = None;
    for _ in 0..ROUNDS {
        for i in 0..=STEPS {
            for j in 0..=STEPS {
                let at = |(low, high): (f64, f64), k| low + (high - low) * f64::from(k) / f64::from(STEPS);
                let (a, b) = (at(below, i), at(grows, j));
                let curve = LoadCurve { below_ppm: ppm(a), beyond: beyond(b) };
                let (squares, fit) = judge(points, cores, curve);
                if best.is_none_or(|(least, ..)| squares < least) {
                    best = Some((squares, a, b, fit));
                }
            }
        }
        let (_, a, b, _) = best.expect("the grid is not empty");
        below = around(a, below);
        grows = around(b, grows);
    }
    best.expect("the grid is not empty").3
}

/// Half of the range around its best point, never below 0: the two parameters trade for each other along a valley, and a
/// range that closes faster leaves it.
fn around(best: f64, (low, high): (f64, f64)) -> (f64, f64) {
    let half = (high - low) / 4.0;
    ((best - half).max(0.0), best + half)
}

/// The sum of squared relative errors under the base time that makes it smallest, and the fit.
fn judge(points: &[LoadPoint], cores: f64, curve: LoadCurve) -> (f64, LoadFit) {
    let cores_milli = milli(cores);
    let factor = |point: &LoadPoint| curve.factor_ppm(milli(point.load), cores_milli) as f64 / 1e6;
    let (mut top, mut bottom) = (0.0, 0.0);
    for point in points {
        let share = factor(point) / point.time;
        top += share;
        bottom += share * share;
    }
    let base = top / bottom;
    let mean = points.iter().map(|point| point.time).sum::<f64>() / points.len() as f64;
    let (mut squares, mut left, mut spread, mut sum, mut max) = (0.0, 0.0, 0.0, 0.0, 0.0f64);
    for point in points {
        let fitted = base * factor(point);
        let error = (fitted - point.time).abs() / point.time;
        squares += error * error;
        left += (fitted - point.time) * (fitted - point.time);
        spread += (point.time - mean) * (point.time - mean);
        sum += error;
        max = max.max(error);
    }
    let r_squared = if spread == 0.0 { 0.0 } else { 1.0 - left / spread };
    (squares, LoadFit { curve, base, r_squared, mean_error: sum / points.len() as f64, max_error: max })
}

fn ppm(share: f64) -> u32 {
    libm::round(share * 1e6) as u32
}

fn milli(number: f64) -> u32 {
    libm::round(number * 1e3) as u32
}

/// As `below=0.05,linear=1` or `below=0.05,exponential=0.12`.
impl fmt::Display for LoadCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |ppm: u32| f64::from(ppm) / 1e6;
        write!(f, "below={}", share(self.below_ppm))?;
        match self.beyond {
            Beyond::Linear { slope_ppm } => write!(f, ",linear={}", share(slope_ppm)),
            Beyond::Exponential { rate_ppm } => write!(f, ",exponential={}", share(rate_ppm)),
        }
    }
}

/// A curve that does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no load curve, expected one such as below=0.05,linear=1 or below=0.05,exponential=0.12")]
pub struct LoadCurveError(String);

impl FromStr for LoadCurve {
    type Err = LoadCurveError;

    fn from_str(text: &str) -> Result<LoadCurve, LoadCurveError> {
        parse(text).ok_or_else(|| LoadCurveError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<LoadCurve> {
    let (below, beyond) = text.trim().split_once(',')?;
    let share = |text: &str| -> Option<u32> {
        let share: f64 = text.trim().parse().ok()?;
        (0.0..=1_000.0).contains(&share).then(|| ppm(share))
    };
    let below_ppm = share(below.trim().strip_prefix("below=")?)?;
    let (kind, number) = beyond.trim().split_once('=')?;
    let beyond = match kind.trim() {
        "linear" => Beyond::Linear { slope_ppm: share(number)? },
        "exponential" => Beyond::Exponential { rate_ppm: share(number)? },
        _ => return None,
    };
    Some(LoadCurve { below_ppm, beyond })
}

impl TryFrom<String> for LoadCurve {
    type Error = LoadCurveError;

    fn try_from(text: String) -> Result<LoadCurve, LoadCurveError> {
        text.parse()
    }
}

impl From<LoadCurve> for String {
    fn from(curve: LoadCurve) -> String {
        curve.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fair_share_is_the_load_for_each_core() {
        let factors =
            |cores: u32| [500, 1_000, 2_000, 3_000, 8_000].map(|load| LoadCurve::default().factor_ppm(load, cores));
        assert_eq!(factors(2_000), [ONE_PPM, ONE_PPM, ONE_PPM, 1_500_000, 4_000_000]);
        assert_eq!(factors(500), [ONE_PPM, 2_000_000, 4_000_000, 6_000_000, 16_000_000]);
        assert_eq!(factors(0), factors(1_000), "an unknown number of cores is one");
    }

    /// Thesis §3.3: `Time' = Time × e^(0.12 (Load' − Load))` where the machine is overloaded.
    #[test]
    fn beyond_the_cores_the_thesis_grows_by_its_exponent() {
        let curve: LoadCurve = "below=0.3,exponential=0.12".parse().expect("it reads");
        let [ten, fifteen] = [10_000, 15_000].map(|load| curve.factor_ppm(load, 8_000) as f64);
        assert!((fifteen / ten - libm::exp(0.12 * 5.0)).abs() < 1e-4);
        assert_eq!(curve.factor_ppm(4_000, 8_000), 1_150_000, "half of the growth at half of the cores");
        assert_eq!(curve.factor_ppm(8_000, 8_000), 1_300_000);
        assert!(curve.factor_ppm(u32::MAX, 1) <= MOST_PPM, "it saturates");
    }

    #[test]
    fn a_fit_finds_the_curve_and_the_form_that_made_the_points() {
        for text in ["below=0.1,linear=0.9", "below=0.25,exponential=0.12"] {
            let curve: LoadCurve = text.parse().expect("it reads");
            let points: Vec<LoadPoint> = (1..=24)
                .map(|half| f64::from(half) / 2.0)
                .map(|load| LoadPoint { load, time: 7.5 * curve.factor_ppm(milli(load), 4_000) as f64 / 1e6 })
                .collect();
            let [best, other] = fit_load(&points, 4.0).expect("points enough");
            assert!(best.max_error < 0.005, "{text}: {best:?}");
            assert!((best.base - 7.5).abs() < 0.05 && best.r_squared > 0.999, "{best:?}");
            assert!(other.mean_error > 0.02, "{other:?}");
            assert_eq!(std::mem::discriminant(&best.curve.beyond), std::mem::discriminant(&curve.beyond));
        }
    }

    #[test]
    fn a_fit_wants_points_that_can_tell() {
        let point = |load, time| LoadPoint { load, time };
        assert_eq!(fit_load(&[point(1.0, 1.0), point(2.0, 2.0)], 2.0), None);
        assert_eq!(fit_load(&[point(1.0, 1.0); 5], 2.0), None);
        assert_eq!(fit_load(&[point(1.0, 1.0), point(2.0, 0.0), point(3.0, 1.0)], 2.0), None);
        assert_eq!(fit_load(&[point(1.0, 1.0), point(2.0, 2.0), point(f64::NAN, 1.0)], 2.0), None);
    }

    #[test]
    fn curves_read_as_they_are_written() {
        for text in ["below=0,linear=1", "below=0.05,exponential=0.12"] {
            assert_eq!(text.parse::<LoadCurve>().map(|curve| curve.to_string()), Ok(text.to_owned()));
        }
        for wrong in ["", "linear=1", "below=0", "below=-1,linear=1", "below=0,cubic=1", "below=0,linear=x"] {
            assert!(wrong.parse::<LoadCurve>().is_err(), "{wrong}");
        }
    }
}
