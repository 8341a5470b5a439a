//! Reading a file that a parameter names.

use std::fs;
use std::path::Path;

/// No such file is so large; whatever is was named by mistake.
const MAX_BYTES: u64 = 4 << 20;

/// Its text.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if meta.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, at most {MAX_BYTES} are read", meta.len()));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}
