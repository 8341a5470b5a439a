//! Running cargo: output passes through, and lines of test harnesses are counted on the way.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::not_permitted;

/// Prints a line. Whoever closed the pipe wants no more of the run.
pub(crate) fn say(line: &str) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(1);
    }
}

/// Tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The workspace's folder. Cargo names it when it runs us; what it was when we were compiled may be another
/// worktree's that shares the target directory.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        Path::new(&own).parent().expect("xtask lies in the workspace").to_owned()
    })
}

/// `path` below the workspace, with `/` between its parts.
pub(crate) fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Files below `folder`, ascending; build directories (they carry a `CACHEDIR.TAG`) and `.git` are left out.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        if folder.join("CACHEDIR.TAG").exists() {
            continue;
        }
        for entry in std::fs::read_dir(&folder).with_context(|| format!("list `{}`", folder.display()))? {
            let entry = entry.with_context(|| format!("list `{}`", folder.display()))?;
            let kind = entry.file_type().with_context(|| format!("look at `{}`", entry.path().display()))?;
            // In a linked worktree `.git` is a file.
            if entry.file_name() == ".git" {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether this is a machine that builds for others: nothing may be missing there, and nobody builds on.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Of use to whoever changes the code and builds again, and a third of what the compiler does for our own crates.
const FOR_NEXT_BUILDS: [(&str, &str); 2] = [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")];

fn command(args: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if is_ci() {
        command.envs(FOR_NEXT_BUILDS);
    }
    // What cargo told this program of its own package. Some dependencies' builds look at it, and would be made anew by whoever
    // calls cargo without us, and again by us.
    let of_package = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    for name in of_package {
        command.env_remove(name);
    }
    command
        .args(args)
        .env(not_permitted::VARIABLE, not_permitted::file())
        .envs(env.iter().copied())
        .current_dir(root())
        .stdin(Stdio::null());
    command
}

/// Runs cargo and lets it speak.
pub(crate) fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let status = command(args, env).status().with_context(|| format!("start `cargo {}`", args.join(" ")))?;
    if !status.success() {
        bail!("`cargo {}` ended with {status}", args.join(" "));
    }
    Ok(())
}

/// Runs cargo and returns what it prints on standard output.
pub(crate) fn cargo_output(args: &[&str]) -> Result<Vec<u8>> {
    let output = command(args, &[])
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("start `cargo {}`", args.join(" ")))?;
    if !output.status.success() {
        bail!("`cargo {}` ended with {}", args.join(" "), output.status);
    }
    Ok(output.stdout)
}

/// Runs `cargo test --locked --no-fail-fast` with `args` and counts.
pub(crate) fn cargo_test(args: &[&str], env: &[(&str, &str)]) -> (Counts, Result<String>) {
    cargo_test_built(args, env, &mut || ())
}

/// The same, which calls `built` whenever a test says something.
pub(crate) fn cargo_test_built(
    args: &[&str],
    env: &[(&str, &str)],
    built: &mut dyn FnMut(),
) -> (Counts, Result<String>) {
    let mut all = vec!["test", "--locked", "--no-fail-fast"];
    all.extend(args);
    let mut counts = Counts::default();
    let result = run_counting(&all, env, &mut counts, built);
    (counts, result.map(|()| counts.to_string()))
}

fn run_counting(args: &[&str], env: &[(&str, &str)], counts: &mut Counts, built: &mut dyn FnMut()) -> Result<()> {
    let said = format!("cargo {}", args.join(" "));
    let mut child = command(args, env).stdout(Stdio::piped()).spawn().with_context(|| format!("start `{said}`"))?;
    let stdout = child.stdout.take().expect("asked for a pipe");
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.with_context(|| format!("read the output of `{said}`"))?;
        let line = String::from_utf8_lossy(&line);
        built();
        say(&line);
        if let Some(more) = parse_result_line(&line) {
            *counts += more;
        }
    }
    let status = child.wait().with_context(|| format!("wait for `{said}`"))?;
    if !status.success() {
        bail!("`{said}` ended with {status}");
    }
    Ok(())
}

/// Reads `test result: ok. 12 passed; 0 failed; …`.
fn parse_result_line(line: &str) -> Option<Counts> {
    let (_, rest) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = Counts::default();
    for part in rest.split(';') {
        match part.trim().split_once(' ') {
            Some((n, "passed")) => counts.passed = n.parse().ok()?,
            Some((n, "failed")) => counts.failed = n.parse().ok()?,
            _ => {}
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_counted_and_others_are_not() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(parse_result_line(line), Some(Counts { passed: 12, failed: 3 }));
        assert_eq!(parse_result_line("test tests::a ... ok"), None);
        assert_eq!(parse_result_line("test result: "), None);
    }
}
