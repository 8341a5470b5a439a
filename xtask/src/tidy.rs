//! Small promises about every file: a header, a size, no paths of one machine.

use anyhow::{Context, Result};

use crate::complain::complain;
use crate::process::{files_below, relative, root};

/// Longer files say `long because` in their header.
const MAX_LINES: usize = 800;

/// Starts of paths that exist on one machine only; in pieces, so that this file does not name them itself.
const MACHINE_PATHS: &[&str] =
    &[concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/"), concat!("/", "Users/")];

/// Checks all files that are text.
pub(crate) fn check() -> Result<String> {
    let mut complaints = Vec::new();
    let mut n_files = 0;
    for path in files_below(root())? {
        let name = relative(&path);
        let bytes = std::fs::read(&path).with_context(|| format!("read `{name}`"))?;
        // Binary test data has nothing to say here.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        n_files += 1;
        complaints.extend(machine_paths(&name, &text));
        if name.ends_with(".rs") {
            complaints.extend(header_and_size(&name, &text));
        }
    }
    complain(complaints, format!("{n_files} files"))
}

fn machine_paths(name: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for start in MACHINE_PATHS {
            // `data/home/` is a relative path and `//home/` is part of a URL or a comment.
            let absolute = line.match_indices(start).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "_-./*}".contains(c))
            });
            if absolute {
                complaints.push(format!("{name}:{}: `{start}` is a path of one machine", index + 1));
            }
        }
    }
    complaints
}

fn header_and_size(name: &str, text: &str) -> Vec<String> {
    let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let lines = text.lines().count();
    let mut complaints = Vec::new();
    if header.is_empty() {
        complaints.push(format!("{name}: does not open with `//!`"));
    }
    if lines > MAX_LINES && !header.join(" ").contains("long because") {
        complaints.push(format!("{name}: {lines} lines; split it or say `long because …` in its header"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_found_and_relative_ones_are_not() {
        let bad = format!("see {}x", MACHINE_PATHS[0]);
        assert_eq!(machine_paths("f", &bad).len(), 1);
        assert!(machine_paths("f", &format!("data{}x", MACHINE_PATHS[0])).is_empty());
    }

    #[test]
    fn a_file_without_header_or_with_too_many_lines_is_named() {
        assert_eq!(header_and_size("f.rs", "fn f() {}\n"), ["f.rs: does not open with `//!`"]);
        let long = format!("//! What.\n{}", "\n".repeat(MAX_LINES));
        assert_eq!(header_and_size("f.rs", &long).len(), 1);
        assert!(header_and_size("f.rs", &long.replace("What", "It is long because")).is_empty());
    }
}
