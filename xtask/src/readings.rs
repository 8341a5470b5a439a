//! How many readings the fuzz targets made, each and together.
//!
//! Each process of the tests leaves its counts in a folder (`shared/fuzz/src/readings.rs`), which is emptied after each round.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};

/// As the targets read it.
pub(crate) const VARIABLE: &str = "HOWDAH_TEST_READINGS";

/// Sums by target.
pub(crate) struct Readings {
    folder: String,
    sums: BTreeMap<String, u64>,
}

impl Readings {
    /// None yet.
    pub(crate) fn start() -> Result<Readings> {
        Readings::into(&std::env::temp_dir().join(format!("howdah-readings-{}", std::process::id())))
    }

    fn into(folder: &Path) -> Result<Readings> {
        std::fs::create_dir(folder).with_context(|| format!("make `{}`", folder.display()))?;
        let folder = folder.to_str().with_context(|| format!("`{}` is no text", folder.display()))?.to_owned();
        Ok(Readings { folder, sums: BTreeMap::new() })
    }

    /// For the targets' environment.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Adds what the processes that are over have left.
    pub(crate) fn take(&mut self) -> Result<()> {
        let files = std::fs::read_dir(&self.folder).with_context(|| format!("list `{}`", self.folder))?;
        for file in files {
            let path = file.with_context(|| format!("list `{}`", self.folder))?.path();
            let read = || format!("read `{}`", path.display());
            let count: u64 = std::fs::read_to_string(&path).with_context(read)?.parse().with_context(read)?;
            std::fs::remove_file(&path).with_context(read)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let target = name.split_once(' ').map_or(&*name, |(_process, target)| target);
            *self.sums.entry(target.to_owned()).or_default() += count;
        }
        Ok(())
    }
}

impl Drop for Readings {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A line for each target, and the last for all.
impl fmt::Display for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (target, count) in &self.sums {
            writeln!(f, "{count:>14} {target}")?;
        }
        write!(f, "{} readings without a crash", self.sums.values().sum::<u64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_processes_and_rounds_are_summed_by_target() {
        let folder = std::env::temp_dir().join(format!("howdah-readings-test-{}", std::process::id()));
        let mut readings = Readings::into(&folder).unwrap();
        let leave = |name: &str, count: &str| std::fs::write(folder.join(name), count).unwrap();
        leave("7 files", "10");
        leave("8 files", "5");
        leave("8 lines of a worker", "1");
        readings.take().unwrap();
        // The same process number again, in another round.
        leave("7 files", "100");
        readings.take().unwrap();
        assert_eq!(
            readings.to_string(),
            "           115 files\n             1 lines of a worker\n116 readings without a crash"
        );
        leave("9 files", "many");
        assert!(readings.take().is_err(), "a count that is none is no sum");
        drop(readings);
        assert!(!folder.exists());
    }
}
