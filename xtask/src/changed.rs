//! Which crates differ from the main branch: what `cargo xtask check` lints and tests.
//!
//! A file belongs to the crate whose folder is the longest that holds it. Crates that only use a changed one are left to
//! `cargo xtask test`: the fast loop answers within a minute or so, and most mistakes show in the crate itself.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::root;
use crate::targets::{has_kind, packages};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Their names, ascending.
    pub(crate) names: Vec<String>,
    /// Whether any of them is a library: cargo refuses to test libraries where there is none.
    pub(crate) any_library: bool,
}

/// Compares with where this branch left `base`, a commit, else the main branch.
pub(crate) fn crates(base: Option<&str>) -> Result<Changed> {
    let base = fork_point(base)?;
    let differing = git(&["diff", "--name-only", &base])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    let packages = packages()?;
    let root = root().to_string_lossy();
    let folders: Vec<(&str, &str)> = packages
        .iter()
        .filter_map(|package| {
            let manifest = package["manifest_path"].as_str()?.strip_prefix(root.as_ref())?;
            Some((manifest.trim_start_matches('/').strip_suffix("Cargo.toml")?, package["name"].as_str()?))
        })
        .collect();
    let names = owners(differing.lines().chain(new.lines()), &folders);
    let is_library = |target: &Value| has_kind(target, "lib");
    let has_library = |package: &Value| package["targets"].as_array().is_some_and(|all| all.iter().any(is_library));
    let any_library = packages
        .iter()
        .any(|package| has_library(package) && names.iter().any(|name| package["name"] == name.as_str()));
    Ok(Changed { names, any_library })
}

/// The crates that own the files, ascending, each once; folders end with `/`.
fn owners<'a>(files: impl Iterator<Item = &'a str>, folders: &[(&str, &str)]) -> Vec<String> {
    let owner = |file: &str| {
        let holding = folders.iter().filter(|(folder, _)| file.starts_with(folder) && !folder.is_empty());
        holding.max_by_key(|(folder, _)| folder.len()).map(|(_, name)| (*name).to_owned())
    };
    let mut names: Vec<String> = files.filter_map(owner).collect();
    names.sort();
    names.dedup();
    names
}

/// The last commit that this branch shares with another.
fn fork_point(other: Option<&str>) -> Result<String> {
    let mains = ["origin/main", "main"];
    for other in other.as_slice().iter().chain(if other.is_none() { mains.as_slice() } else { &[] }) {
        if let Ok(commit) = git(&["merge-base", other, "HEAD"]) {
            return Ok(commit.trim().to_owned());
        }
    }
    let what = other.map_or("no branch `main` to compare with".to_owned(), |other| format!("`{other}` is no commit"));
    bail!("{what}\nhelp: name a commit, as in `cargo xtask check HEAD~1`")
}

fn git(args: &[&str]) -> Result<String> {
    let said = format!("git {}", args.join(" "));
    let output =
        Command::new("git").args(args).current_dir(root()).output().with_context(|| format!("start `{said}`"))?;
    if !output.status.success() {
        bail!("`{said}` ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("read what `{said}` says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_innermost_crate_and_documents_to_none() {
        let folders = [("worker/", "howdah-worker"), ("worker/task/", "howdah-task"), ("cli/", "howdah")];
        let files = ["worker/task/src/lib.rs", "README.md", "cli/src/main.rs", "worker/task/Cargo.toml"];
        assert_eq!(owners(files.into_iter(), &folders), ["howdah", "howdah-task"]);
        assert!(owners(["docs/guide/README.md"].into_iter(), &folders).is_empty());
    }
}
