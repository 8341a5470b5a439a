//! Complaints of a check, or that there is none.

use anyhow::{Result, bail};

use crate::process::say;

/// Joins complaints into one error: each on its own line, the number of them first.
pub(crate) fn complain(complaints: Vec<String>, good: String) -> Result<String> {
    if complaints.is_empty() {
        return Ok(good);
    }
    for complaint in &complaints {
        say(&format!("  {complaint}"));
    }
    bail!("{} complaints, listed above", complaints.len())
}
