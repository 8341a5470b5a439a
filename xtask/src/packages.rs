//! Other people's packages: where they are kept, and what is said when they cannot be had.
//!
//! They go into a folder outside the checkout (`XDG_CACHE_HOME`, else `~/.cache`) and are installed once. Without a
//! network the step is not run, which is said and is no success; where `CI` is `true` that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// A package could not be had here.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not run: {}", self.0)
    }
}

impl std::error::Error for Missing {}

impl Missing {
    /// As an error of a step.
    pub(crate) fn of<T>(what: impl Into<String>) -> Result<T> {
        Err(Missing(what.into()).into())
    }
}

/// Whether the command ends well; its errors pass through. One that is not there does not.
pub(crate) fn quiet(command: &mut Command) -> Result<bool> {
    match command.stdin(Stdio::null()).stdout(Stdio::null()).status() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        status => Ok(status.with_context(|| format!("start {command:?}"))?.success()),
    }
}

/// Whether Debian's `apt-get` ends well with these words, in this folder.
pub(crate) fn debian(folder: &Path, words: &[&str]) -> Result<bool> {
    // Its own user may not read where root keeps packages; without this it says so.
    let always = ["--quiet=2", "--option=APT::Sandbox::User=root"];
    let download = || quiet(Command::new("apt-get").args(always).args(words).current_dir(folder));
    // A new machine has no list of packages yet.
    Ok(download()? || (quiet(Command::new("apt-get").args(["--quiet=2", "update"]))? && download()?))
}

/// The folder for packages.
pub(crate) fn cache() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let found = found.filter(|path: &PathBuf| Path::is_absolute(path));
    Ok(found.context("find a folder for packages: neither XDG_CACHE_HOME nor HOME names one")?.join("howdah"))
}
