//! Curves from the files that `howdah calibrate` wrote, for whoever takes a curve: a scheduler's parameter, a flag.

use std::path::Path;

use howdah_core::models::calibration::{Calibration, CalibrationError};
use howdah_core::models::{FrequencyCurve, LoadCurve};

use super::read::read;

/// Whether a text that may be a curve is the name of a file with one instead: curves do not end in `.toml`.
pub fn is_calibration(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension == "toml")
}

/// Reads a calibration.
///
/// # Errors
/// Names the file, the line and key in it, and what was expected.
pub fn calibration(path: &Path) -> Result<Calibration, String> {
    let named = |problem: String| format!("calibration `{}`: {problem}", path.display());
    let text = read(path).map_err(|problem| named(format!("cannot read it: {problem}")))?;
    Calibration::parse(&text).map_err(|problem| named(problem.to_string()))
}

/// Time against load: a curve, or the name of a calibration that ends in `.toml`.
///
/// # Errors
/// As [`calibration`], or says how a curve is written.
pub fn load_curve(text: &str) -> Result<LoadCurve, String> {
    if is_calibration(text) {
        return Ok(calibration(Path::new(text))?.curve);
    }
    text.parse().map_err(|error| format!("{error}, or a calibration's file such as w1.toml"))
}

/// Time against frequency, likewise.
///
/// # Errors
/// As [`load_curve`]; also when no frequencies were measured.
pub fn frequency_curve(text: &str) -> Result<FrequencyCurve, String> {
    if is_calibration(text) {
        let none = |error: CalibrationError| format!("calibration `{text}`: {error}");
        return calibration(Path::new(text))?.frequency_curve().map_err(none);
    }
    text.parse().map_err(|error| format!("{error}, or a calibration's file such as w1.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_itself_and_a_file_is_named_with_what_is_wrong_in_it() {
        assert_eq!(load_curve("below=0.02,linear=1.01").unwrap().to_string(), "below=0.02,linear=1.01");
        assert_eq!(frequency_curve("fixed=0.12,khz=2268000").unwrap().khz, 2_268_000);
        let steep = load_curve("steep").unwrap_err();
        assert!(steep.starts_with("`steep` is no load curve, expected one such as below="), "{steep}");
        let none = load_curve("nowhere/w1.toml").unwrap_err();
        assert!(none.starts_with("calibration `nowhere/w1.toml`: cannot read it: No such file"), "{none}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w1.toml");
        std::fs::write(&path, "[pool.ann]\nmaxMaps = 1\n").unwrap();
        let strange = frequency_curve(path.to_str().unwrap()).unwrap_err();
        assert!(strange.starts_with(&format!("calibration `{}`: line 1: ", path.display())), "{strange}");
        assert!(strange.contains("`pool`") && strange.contains("expected a file that `howdah calibrate"), "{strange}");
    }
}
