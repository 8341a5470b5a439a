//! What a calibration leaves: a small TOML file that people read and commands take.

use anyhow::{Context, Result};
use howdah_shared::models::frequency_curve::FrequencyFit;
use howdah_shared::models::load_curve::LoadFit;
use howdah_shared::models::{FrequencyCurve, LoadCurve};
use serde::{Deserialize, Serialize};

use super::{AtFrequency, Machine, Measured};

/// One worker's curve and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// `howdah/calibration/v1`.
    pub schema: String,
    /// As `-D load-aware.curve=` takes it.
    pub curve: LoadCurve,
    /// Cores that the curve's loads are counted against.
    pub cores: f64,
    /// Frequency at which it was measured; 0 when unknown.
    pub khz: u64,
    /// The work's time without any load, by the curve.
    pub base_s: f64,
    /// Share of the points' variance that the curve explains.
    pub r_squared: f64,
    /// Mean of |fitted − measured| ÷ measured.
    pub mean_error: f64,
    /// The largest of these.
    pub max_error: f64,
    /// What it was fitted to.
    pub points: Vec<Point>,
    /// Time against frequency, where that was measured. Earlier versions wrote none,
    /// and refuse a file that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<AgainstFrequency>,
}

/// The work's time against its core's frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgainstFrequency {
    /// As `-D load-aware.frequency=` takes it.
    pub curve: FrequencyCurve,
    /// What set the frequencies: `governor` or `quota`.
    pub method: String,
    /// The work's time at the curve's reference frequency, by the curve.
    pub base_s: f64,
    /// As for the load.
    pub r_squared: f64,
    /// As for the load.
    pub mean_error: f64,
    /// As for the load.
    pub max_error: f64,
    /// What it was fitted to.
    pub points: Vec<FrequencyPoint>,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrequencyPoint {
    /// As the core reported it.
    pub nominal_khz: u64,
    /// Below it under a quota.
    pub effective_khz: u64,
    /// Of the work, stolen time left out.
    pub time_s: f64,
}

impl AgainstFrequency {
    /// Of a fit and its measurements.
    pub fn new(method: &str, fit: &FrequencyFit, measured: &[AtFrequency]) -> AgainstFrequency {
        let point = |at: &AtFrequency| FrequencyPoint {
            nominal_khz: at.frequency.nominal_khz,
            effective_khz: at.frequency.effective_khz,
            time_s: at.run.time_s,
        };
        AgainstFrequency {
            curve: fit.curve,
            method: method.to_owned(),
            base_s: fit.base,
            r_squared: fit.r_squared,
            mean_error: fit.mean_error,
            max_error: fit.max_error,
            points: measured.iter().map(point).collect(),
        }
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Busy tasks beside the work.
    pub foreign: f64,
    /// Of the work, stolen time left out.
    pub time_s: f64,
}

const SCHEMA: &str = "howdah/calibration/v1";

impl Calibration {
    /// Of a fit and its measurements.
    pub fn new(machine: &Machine, fit: &LoadFit, measured: &[Measured]) -> Calibration {
        Calibration {
            schema: SCHEMA.to_owned(),
            curve: fit.curve,
            cores: machine.cores,
            khz: machine.khz,
            base_s: fit.base,
            r_squared: fit.r_squared,
            mean_error: fit.mean_error,
            max_error: fit.max_error,
            points: measured.iter().map(|m| Point { foreign: m.foreign, time_s: m.time_s }).collect(),
            frequency: None,
        }
    }

    /// As a file.
    ///
    /// # Errors
    /// When a number has no place in TOML.
    pub fn text(&self) -> Result<String> {
        toml::to_string(self).context("write the calibration")
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Names the line, or the schema that was not expected.
    pub fn parse(text: &str) -> Result<Calibration> {
        let calibration: Calibration = toml::from_str(text).context("read the calibration")?;
        anyhow::ensure!(
            calibration.schema == SCHEMA,
            "read the calibration: schema `{}`, expected `{SCHEMA}`",
            calibration.schema
        );
        Ok(calibration)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Frequency, fit_at};
    use super::*;

    #[test]
    fn a_calibration_reads_as_it_was_written_and_a_stranger_is_refused() {
        let measured =
            [0.0, 2.0, 4.0].map(|foreign| Measured { foreign, time_s: 1.0 + foreign, stolen_s: 0.1, others: 0.0 });
        let machine = Machine { n_cpus: 2, cores: 2.0, khz: 2_000_000 };
        let [fit, _] = super::super::fit(&measured, &machine).expect("points enough");
        let calibration = Calibration::new(&machine, &fit, &measured);
        let text = calibration.text().expect("written");
        assert!(text.contains("curve = \"below="), "{text}");
        assert_eq!(Calibration::parse(&text).expect("it reads"), calibration, "without frequencies, as it was before");
        let at = |khz: u64| AtFrequency {
            frequency: Frequency { nominal_khz: 2_000_000, effective_khz: khz },
            run: Measured { time_s: 2e6 / khz as f64, ..measured[0] },
        };
        let runs = [at(2_000_000), at(1_000_000), at(500_000)];
        let fit = fit_at(&runs).expect("points enough");
        let frequency = Some(AgainstFrequency::new("quota", &fit, &runs));
        let both = Calibration { frequency, ..calibration };
        let text = both.text().expect("written");
        assert!(text.contains("curve = \"fixed=0,khz=2000000\"") && text.contains("method = \"quota\""), "{text}");
        assert_eq!(Calibration::parse(&text).expect("it reads"), both);
        let error = Calibration::parse(&text.replace("/v1", "/v9")).expect_err("another schema");
        assert!(error.to_string().contains("howdah/calibration/v9"), "{error}");
        assert!(Calibration::parse("curve = 1").is_err());
    }
}
