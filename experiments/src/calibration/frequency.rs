//! How long the work takes at the frequencies that a guard can set (thesis Fig. 3.5).

use anyhow::{Context, Result};
use howdah_core::models::frequency_curve::{FrequencyFit, FrequencyPoint, fit_frequency};

use super::Bench;
use super::guard::{Frequency, Throttle};
use super::measured::Measured;
use crate::framework::{Curve, Plot};

/// Shares of the highest frequency that are measured where nobody names others.
pub const USUAL_SHARES: [f64; 5] = [1.0, 0.75, 0.5, 0.35, 0.25];
/// Steps of a drawn curve.
const STEPS: u32 = 120;

/// One run of the work at one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtFrequency {
    /// What was set.
    pub frequency: Frequency,
    /// The run, without foreign load.
    pub run: Measured,
}

/// Measures the work once at each frequency, and puts back what there was; `on_run` is notified of each run before it begins.
///
/// # Errors
/// When a frequency cannot be set or the work fails; the guard puts everything back in any case.
pub fn measure_frequencies(
    bench: &Bench,
    throttle: &mut Throttle,
    mut on_run: impl FnMut(Frequency),
) -> Result<Vec<AtFrequency>> {
    let bench = bench.at(throttle.place(bench.place()));
    let frequencies = throttle.hello().frequencies.clone();
    let mut measured = Vec::new();
    for (place, &frequency) in frequencies.iter().enumerate() {
        on_run(frequency);
        throttle.set(place)?;
        measured.push(AtFrequency { frequency, run: bench.measure_as_it_is(0.0)? });
    }
    throttle.release()?;
    Ok(measured)
}

/// Fits the measurements.
///
/// # Errors
/// When they are too few or all at one frequency.
pub fn fit_at(measured: &[AtFrequency]) -> Result<FrequencyFit> {
    let point = |at: &AtFrequency| FrequencyPoint { khz: at.frequency.effective_khz as f64, time: at.run.time_s };
    let points: Vec<FrequencyPoint> = measured.iter().map(point).collect();
    let n = points.len();
    fit_frequency(&points)
        .with_context(|| format!("fit {n} measurements: expected three or more, at two different frequencies"))
}

/// Time against effective frequency: the measurements, and the curve through them.
///
/// # Errors
/// When there is nothing to draw.
pub fn frequency_figure(method: &str, measured: &[AtFrequency], fit: &FrequencyFit) -> Result<String> {
    let khz = || measured.iter().map(|at| at.frequency.effective_khz as f64);
    let (least, most) = (khz().fold(f64::INFINITY, f64::min), khz().fold(0.0, f64::max));
    let at = |step: u32| least + (most - least) * f64::from(step) / f64::from(STEPS);
    let points = measured.iter().map(|at| (at.frequency.effective_khz as f64 / 1e3, at.run.time_s)).collect();
    let through = (0..=STEPS).map(at).map(|khz| (khz / 1e3, fit.time(khz))).collect();
    let name = format!("a + b ÷ frequency, mean error {:.1} %", 100.0 * fit.mean_error);
    Plot {
        title: format!("Time of the same work against frequency, set by {method}"),
        x_label: "effective frequency in MHz".to_owned(),
        y_label: "seconds".to_owned(),
        x_log: false,
        y_log: false,
        curves: vec![
            Curve { name: "measured".to_owned(), points, joined: false },
            Curve { name, points: through, joined: true },
        ],
        across: Vec::new(),
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(effective_khz: u64, time_s: f64) -> AtFrequency {
        let run = Measured { foreign: 0.0, time_s, stolen_s: 0.0, others: 0.0, speed: 1.0 };
        AtFrequency { frequency: Frequency { nominal_khz: 2_000_000, effective_khz }, run }
    }

    #[test]
    fn times_are_fitted_against_the_effective_frequency() {
        let measured = [at(2_000_000, 1.0), at(1_000_000, 2.0), at(500_000, 4.0)];
        let fit = fit_at(&measured).expect("points enough");
        assert_eq!(fit.curve.to_string(), "fixed=0,khz=2000000");
        assert!((fit.base - 1.0).abs() < 1e-9 && fit.r_squared > 0.999_999, "{fit:?}");
        let svg = frequency_figure("quota", &measured, &fit).expect("drawn");
        assert!(svg.starts_with("<svg") && svg.contains("set by quota"));
        let error = fit_at(&measured[..2]).expect_err("two points").to_string();
        assert!(error.starts_with("fit 2 measurements: expected three or more"), "{error}");
    }
}
