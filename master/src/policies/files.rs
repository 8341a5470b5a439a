//! Parameters that name files. The core reads none, so whoever drives it replaces the name by the text.

use std::path::Path;

use howdah_core::schedulers::SchedulerError;
use howdah_core::schedulers::registry::Params;

use super::curves;
use super::read::read;

/// The parameter that names a file with allocations.
pub const ALLOCATION_FILE: &str = "allocation.file";
/// The same by Hadoop's name; of the Fair scheduler only.
const HADOOPS_ALLOCATION_FILE: &str = "mapred.fairscheduler.allocation.file";
/// The parameter that holds its text.
pub const ALLOCATIONS: &str = "allocations";
/// The parameter with the curve of time against load, or a calibration's name.
const LOAD_CURVE: &str = "load-aware.curve";
/// The parameter with the curve of time against frequency, or a calibration's name.
const FREQUENCY_CURVE: &str = "load-aware.frequency";
/// The parameters with the text of the file that `allocation.file` names in `allocations`; the name stays, for
/// messages. Calibrations that `load-aware.curve` and `load-aware.frequency` name are replaced by their curves, so that
/// a recording has what was decided with.
///
/// # Errors
/// When a file does not read, is not text, is larger than 4 MiB, or is no calibration.
pub fn with_files(scheduler: &str, params: &Params) -> Result<Params, SchedulerError> {
    let wrong = |key: &str, value: &str, expected: String| SchedulerError::BadParameter {
        scheduler: scheduler.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        expected,
    };
    let mut params = params.clone();
    // Both at once are for the policy to refuse.
    for key in [HADOOPS_ALLOCATION_FILE, ALLOCATION_FILE] {
        if let Some(path) = params.get(key) {
            let text =
                read(Path::new(path)).map_err(|problem| wrong(key, path, format!("a file that reads: {problem}")))?;
            params.insert(ALLOCATIONS.to_owned(), text);
        }
    }
    for (key, value) in &mut params {
        let curve = match key.as_str() {
            _ if !curves::is_calibration(value) => continue,
            LOAD_CURVE => curves::load_curve(value).map(|curve| curve.to_string()),
            FREQUENCY_CURVE => curves::frequency_curve(value).map(|curve| curve.to_string()),
            _ => continue,
        };
        *value = curve.map_err(|problem| wrong(key, value, format!("a curve from a file: {problem}")))?;
    }
    Ok(params)
}

/// Whether the parameters name a file with allocations.
pub fn names_a_file(params: &Params) -> bool {
    [ALLOCATION_FILE, HADOOPS_ALLOCATION_FILE].iter().any(|key| params.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_read_and_its_name_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fair.xml");
        fs::write(&path, "<allocations/>").unwrap();
        let named = Params::from([(ALLOCATION_FILE.to_owned(), path.display().to_string())]);
        let read = with_files("fair", &named).unwrap();
        assert_eq!(read[ALLOCATIONS], "<allocations/>");
        assert_eq!(read[ALLOCATION_FILE], named[ALLOCATION_FILE]);
        let hadoops = Params::from([(HADOOPS_ALLOCATION_FILE.to_owned(), path.display().to_string())]);
        let read = with_files("fair", &hadoops).unwrap();
        assert_eq!(read[ALLOCATIONS], "<allocations/>");
        assert!(names_a_file(&hadoops) && names_a_file(&named) && !names_a_file(&Params::new()));
        assert!(crate::policies::make("fair", &read).is_ok());
        fs::remove_file(&path).unwrap();
        let error = with_files("fair", &named).unwrap_err().to_string();
        assert!(error.contains("scheduler `fair`: parameter `allocation.file`"), "{error}");
        assert!(error.contains("is not a file that reads: No such file"), "{error}");
    }

    const CALIBRATION: &str = "schema = 'howdah/calibration/v1'\ncurve = 'below=0.02,linear=1.01'\ncores = 2.0\n\
        khz = 2000000\nbase_s = 1.0\nr_squared = 1.0\nmean_error = 0.0\nmax_error = 0.0\npoints = []\n";
    const FREQUENCY: &str = "[frequency]\ncurve = 'fixed=0.12,khz=2000000'\nmethod = 'quota'\nbase_s = 1.0\n\
        r_squared = 1.0\nmean_error = 0.0\nmax_error = 0.0\npoints = []\n";

    #[test]
    fn a_calibration_is_replaced_by_its_curves() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w1.toml");
        fs::write(&path, format!("{CALIBRATION}{FREQUENCY}")).unwrap();
        let named = [LOAD_CURVE, FREQUENCY_CURVE].map(|key| (key.to_owned(), path.display().to_string()));
        let named = Params::from(named);
        let read = with_files("load-aware", &named).unwrap();
        assert_eq!(read[LOAD_CURVE], "below=0.02,linear=1.01");
        assert_eq!(read[FREQUENCY_CURVE], "fixed=0.12,khz=2000000");
        assert!(crate::policies::make("load-aware", &read).is_ok(), "the core reads what the file held");
        let plain = Params::from([(LOAD_CURVE.to_owned(), "below=0,linear=1".to_owned())]);
        assert_eq!(with_files("load-aware", &plain).unwrap(), plain, "a curve is none's name");
        fs::write(&path, CALIBRATION).unwrap();
        let error = with_files("load-aware", &named).unwrap_err().to_string();
        assert!(error.starts_with("scheduler `load-aware`: parameter `load-aware.frequency`: `"), "{error}");
        assert!(error.contains("w1.toml`: frequency: found none, expected one as `howdah calibrate"), "{error}");
        fs::write(&path, CALIBRATION.replace("cores = 2.0\n", "")).unwrap();
        let error = with_files("load-aware", &named).unwrap_err().to_string();
        assert!(error.contains("w1.toml`: line 1: missing field `cores`, expected a file that"), "{error}");
    }
}
