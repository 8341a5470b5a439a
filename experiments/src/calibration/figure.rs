//! The plot of a calibration, after the thesis's Figures 3.3 and 3.4.

use anyhow::Result;
use howdah_core::models::load_curve::{Beyond, LoadFit};

use super::Machine;
use super::measured::Measured;
use crate::framework::{Curve, Plot};

/// Steps of a drawn curve.
const STEPS: u32 = 120;

/// Time against load: the measurements, and the curves through them.
///
/// # Errors
/// When there is nothing to draw.
pub fn figure(machine: &Machine, measured: &[Measured], fits: &[LoadFit]) -> Result<String> {
    let most = measured.iter().map(|m| m.foreign + 1.0).fold(1.0, f64::max);
    let curve = |fit: &LoadFit| {
        let at = |step: u32| 1.0 + (most - 1.0) * f64::from(step) / f64::from(STEPS);
        let milli = |number: f64| libm::round(number * 1e3) as u32;
        let time = |load: f64| fit.base * fit.curve.factor_ppm(milli(load), milli(machine.cores)) as f64 / 1e6;
        Curve { name: name(fit), points: (0..=STEPS).map(at).map(|x| (x, time(x))).collect(), joined: true }
    };
    let points = measured.iter().map(|m| (m.foreign + 1.0, m.time_s)).collect();
    let mut curves = vec![Curve { name: "measured".to_owned(), points, joined: false }];
    curves.extend(fits.iter().map(curve));
    Plot {
        title: format!("Time of the same work against load, {} cores", machine.cores),
        x_label: "load: tasks that run or wait, the work included".to_owned(),
        y_label: "seconds".to_owned(),
        x_log: false,
        y_log: false,
        curves,
        across: Vec::new(),
    }
    .svg()
}

fn name(fit: &LoadFit) -> String {
    let form = match fit.curve.beyond {
        Beyond::Linear { .. } => "linear beyond the cores",
        Beyond::Exponential { .. } => "exponential beyond the cores",
    };
    format!("{form}, mean error {:.1} %", 100.0 * fit.mean_error)
}
