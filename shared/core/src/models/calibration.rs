//! What a calibration leaves: a small TOML file that people read and commands take.
//!
//! `howdah calibrate` writes it; schedulers and replays take its curves, so both read it here.

use serde::{Deserialize, Serialize};

use super::{FrequencyCurve, LoadCurve};

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

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Busy tasks beside the work.
    pub foreign: f64,
    /// Of the work, stolen time left out.
    pub time_s: f64,
}

/// The only schema so far.
pub const SCHEMA: &str = "howdah/calibration/v1";

/// A file that is no calibration, or lacks what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// A key that is missing, unknown or of another kind; or no TOML at all.
    #[error("line {line}: {problem}, expected a file that `howdah calibrate --out` wrote")]
    Content {
        /// From 1.
        line: usize,
        /// Names the key.
        problem: String,
    },
    /// Of another version, or of something else.
    #[error("schema: found `{0}`, expected `{SCHEMA}`")]
    Schema(String),
    /// Frequencies were not measured.
    #[error("frequency: found none, expected one as `howdah calibrate --frequency quota` (or governor) measures it")]
    NoFrequency,
}

impl Calibration {
    /// As a file.
    ///
    /// # Errors
    /// When a number has no place in TOML.
    pub fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Names the line and the key, or the schema that was not expected.
    pub fn parse(text: &str) -> Result<Calibration, CalibrationError> {
        let calibration: Calibration = toml::from_str(text).map_err(|error| CalibrationError::Content {
            line: error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count()),
            problem: error.message().trim_end().replace('\n', "; "),
        })?;
        if calibration.schema != SCHEMA {
            return Err(CalibrationError::Schema(calibration.schema));
        }
        Ok(calibration)
    }

    /// The curve against frequency.
    ///
    /// # Errors
    /// When none was measured.
    pub fn frequency_curve(&self) -> Result<FrequencyCurve, CalibrationError> {
        self.frequency.as_ref().map(|at| at.curve).ok_or(CalibrationError::NoFrequency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "schema = 'howdah/calibration/v1'\ncurve = 'below=0.02,linear=1.01'\ncores = 2.0\n\
        khz = 2000000\nbase_s = 1.0\nr_squared = 1.0\nmean_error = 0.0\nmax_error = 0.0\npoints = []\n";

    #[test]
    fn what_is_wrong_in_a_file_is_named_with_its_key_and_what_was_expected() {
        let said = |text: &str| Calibration::parse(text).expect_err(text).to_string();
        assert_eq!(
            said(&FILE.replace("/v1", "/v9")),
            format!("schema: found `howdah/calibration/v9`, expected `{SCHEMA}`")
        );
        let strange = said("curve = 1");
        assert!(
            strange.starts_with("line 1: ") && strange.ends_with("that `howdah calibrate --out` wrote"),
            "{strange}"
        );
        let missing = said(&FILE.replace("cores = 2.0\n", ""));
        assert!(missing.contains("missing field `cores`"), "{missing}");
        let unknown = said(&FILE.replace("cores", "slots"));
        assert!(unknown.starts_with("line 3: unknown field `slots`"), "{unknown}");
        let steep = said(&FILE.replace("below=", "above="));
        assert!(steep.starts_with("line 2: `above=0.02,linear=1.01` is no load curve"), "{steep}");
        assert!(said("below=").starts_with("line 1: "));
    }

    #[test]
    fn a_file_without_frequencies_has_no_curve_of_them() {
        let calibration = Calibration::parse(FILE).expect("it reads");
        assert_eq!(calibration.curve.to_string(), "below=0.02,linear=1.01");
        assert_eq!(calibration.frequency_curve(), Err(CalibrationError::NoFrequency));
    }
}
