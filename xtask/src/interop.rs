//! Installs other people's programs by name and runs the tests that use them.
//!
//! They go into a folder outside the checkout (`XDG_CACHE_HOME`, else `~/.cache`) and are installed once. Without a
//! network the step is not run, which is said and is no success; where `CI` is `true` that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process::{Counts, cargo_test};

/// What is installed, exactly; mrjob needs setuptools where Python has no distutils any more.
const PACKAGES: [&str; 3] = ["mrjob==0.7.4", "yarn-api-client==1.0.3", "setuptools<81"];
/// Where the tests find the Python that has them.
const VARIABLE: &str = "HOWDAH_INTEROP_PYTHON";

/// A package could not be had here.
#[derive(Debug)]
pub(crate) struct Missing(String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not run: {}", self.0)
    }
}

impl std::error::Error for Missing {}

/// Runs the step.
pub(crate) fn run() -> (Counts, Result<String>) {
    let python = match install() {
        Ok(python) => python,
        Err(error) if error.is::<Missing>() && std::env::var_os("CI").is_some_and(|value| value == "true") => {
            return (Counts::default(), Err(anyhow::anyhow!("{error}; with CI=true nothing may be missing")));
        }
        Err(error) => return (Counts::default(), Err(error)),
    };
    let Some(python) = python.to_str() else {
        return (Counts::default(), Err(anyhow::anyhow!("the cache's path {python:?} is not UTF-8")));
    };
    let args = ["--release", "--package", "howdah", "--test", "cluster", "--", "--test-threads=1", "interop::"];
    let (counts, result) = cargo_test(&args, &[(VARIABLE, python)]);
    let result = result.and_then(|said| {
        if counts.passed == 0 {
            bail!("no test ran, expected those whose names begin with `interop::`")
        } else {
            Ok(said)
        }
    });
    (counts, result)
}

/// The Python with the packages.
fn install() -> Result<PathBuf> {
    let folder = cache()?.join("howdah").join(format!("interop-{}", PACKAGES.join("-").replace(['=', '<', '.'], "_")));
    let (python, done) = (folder.join("bin/python"), folder.join("installed"));
    if done.is_file() {
        return Ok(python);
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("create `{}`", folder.display()))?;
    let made = quiet(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    if !made {
        return Err(
            Missing("`python3 -m venv` failed; install Python's venv with the system's packages".to_owned()).into()
        );
    }
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    if !quiet(Command::new(&python).args(words).args(PACKAGES))? {
        let names = PACKAGES.join(", ");
        return Err(
            Missing(format!("{names} cannot be installed from the Python package index; is there a network?")).into()
        );
    }
    std::fs::write(&done, PACKAGES.join("\n")).with_context(|| format!("write `{}`", done.display()))?;
    Ok(python)
}

/// Whether the command ends well; its errors pass through.
fn quiet(command: &mut Command) -> Result<bool> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    Ok(status.with_context(|| format!("start {command:?}"))?.success())
}

fn cache() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_CACHE_HOME")
        .or_else(|| Some(variable("HOME")?.join(".cache")))
        .filter(|path: &PathBuf| Path::is_absolute(path))
        .context("find a folder for packages: neither XDG_CACHE_HOME nor HOME names one")
}
