//! Debian's packages of Slurm, for a test that installs them in a layer above this machine's files.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::packages::{Missing, cache, debian};

/// The controller, the nodes' daemon and the commands.
const PACKAGE: &str = "slurm-wlm";

/// The folder with the packages that this machine lacks for Slurm, downloaded if they were not yet.
pub(crate) fn download() -> Result<PathBuf> {
    let folder = cache()?.join(PACKAGE);
    let done = folder.join("downloaded");
    if done.is_file() {
        return Ok(folder);
    }
    let partial = folder.join("partial");
    std::fs::create_dir_all(&partial).with_context(|| format!("create `{}`", partial.display()))?;
    let archives = format!("--option=Dir::Cache::archives={}", folder.display());
    let words = ["--yes", "--no-install-recommends", "--download-only", &archives, "install", PACKAGE];
    if !debian(&folder, &words)? {
        return Missing::of(format!("Debian's `{PACKAGE}` cannot be had by `apt-get`: no Debian, or no network"));
    }
    std::fs::write(&done, PACKAGE).with_context(|| format!("write `{}`", done.display()))?;
    Ok(folder)
}
