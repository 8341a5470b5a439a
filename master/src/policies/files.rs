//! Parameters that name files. The core reads none, so whoever drives it replaces the name by the text.

use std::fs;
use std::path::Path;

use howdah_shared::schedulers::SchedulerError;
use howdah_shared::schedulers::registry::Params;

/// The parameter that names a file with allocations.
pub const ALLOCATION_FILE: &str = "allocation.file";
/// The parameter that holds its text.
pub const ALLOCATIONS: &str = "allocations";
/// No allocation file is so large; whatever is was named by mistake.
const MAX_BYTES: u64 = 4 << 20;

/// The parameters with the text of the file that `allocation.file` names in `allocations`; the name stays, for
/// messages.
///
/// # Errors
/// When the file does not read, is not text or is larger than 4 MiB.
pub fn with_files(scheduler: &str, params: &Params) -> Result<Params, SchedulerError> {
    let mut params = params.clone();
    if let Some(path) = params.get(ALLOCATION_FILE) {
        let text = read(Path::new(path)).map_err(|problem| SchedulerError::BadParameter {
            scheduler: scheduler.to_owned(),
            key: ALLOCATION_FILE.to_owned(),
            value: path.clone(),
            expected: format!("a file that reads: {problem}"),
        })?;
        params.insert(ALLOCATIONS.to_owned(), text);
    }
    Ok(params)
}

fn read(path: &Path) -> Result<String, String> {
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if meta.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, at most {MAX_BYTES} are read", meta.len()));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
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
        fs::remove_file(&path).unwrap();
        let error = with_files("fair", &named).unwrap_err().to_string();
        assert!(error.contains("scheduler `fair`: parameter `allocation.file`"), "{error}");
        assert!(error.contains("is not a file that reads: No such file"), "{error}");
    }
}
