//! The executable that is handed on: built with the profile `dist`, stripped, with its debug file beside it.
//!
//! `howdah.debug` has the line tables, and the executable names it, so that a debugger or a backtrace tool finds it there.
//! The size is a promise: a growth beyond it is a decision, not an accident.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{cargo, cargo_output};

/// Largest executable, in bytes.
const MOST_BYTES: u64 = 25 << 20;
/// The variables by which tests switch guards off and set clocks wrong: what is handed on must not know them.
const OF_TESTS: [&str; 2] = ["HOWDAH_TEST_GUARDS_OFF", "HOWDAH_TEST_CLOCK_OFFSET_MS"];

/// Builds, splits and measures it; both files lie in `dist/` of the target directory, whatever the target.
pub(crate) fn build() -> Result<String> {
    cargo(&["build", "--locked", "--profile", "dist", "--package", "howdah"], &[])?;
    let target = target_directory()?;
    let whole = built(&target)?;
    for variable in OF_TESTS {
        if contains(&whole, variable)? {
            bail!("`{}` knows the variable `{variable}`, which is for tests alone", whole.display());
        }
    }
    let folder = target.join("dist");
    std::fs::create_dir_all(&folder).with_context(|| format!("make `{}`", folder.display()))?;
    let (program, debug) = (folder.join("howdah"), folder.join("howdah.debug"));
    objcopy(&["--only-keep-debug"], &whole, &debug)?;
    objcopy(&["--strip-all", &format!("--add-gnu-debuglink={}", debug.display())], &whole, &program)?;
    let bytes = std::fs::metadata(&program).with_context(|| format!("measure `{}`", program.display()))?.len();
    let mib = bytes as f64 / f64::from(1 << 20);
    if bytes > MOST_BYTES {
        bail!("`{}` has {mib:.1} MiB, expected at most {}", program.display(), MOST_BYTES >> 20);
    }
    Ok(format!("{}, {mib:.1} MiB", program.display()))
}

fn target_directory() -> Result<PathBuf> {
    let json = cargo_output(&["metadata", "--locked", "--no-deps", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_slice(&json).context("read cargo's metadata")?;
    Ok(metadata["target_directory"].as_str().context("find the target directory in cargo's metadata")?.into())
}

/// What cargo built: below a folder that is named after the target, the newest if there are several.
fn built(target: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(target).with_context(|| format!("list `{}`", target.display()))?.flatten() {
        let program = entry.path().join("dist/howdah");
        if let Ok(metadata) = program.metadata() {
            found.push((metadata.modified().with_context(|| format!("look at `{}`", program.display()))?, program));
        }
    }
    let newest = found.into_iter().max_by_key(|(time, _)| *time);
    newest.map(|(_, program)| program).with_context(|| format!("find `dist/howdah` below `{}`", target.display()))
}

/// Whether a text is anywhere in a file.
fn contains(file: &Path, text: &str) -> Result<bool> {
    let bytes = std::fs::read(file).with_context(|| format!("read `{}`", file.display()))?;
    Ok(bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

fn objcopy(args: &[&str], from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("objcopy").args(args).arg(from).arg(to).status();
    let status = status.context("start `objcopy` of the system's binutils")?;
    if !status.success() {
        bail!("`objcopy {}` ended with {status}", args.join(" "));
    }
    Ok(())
}
