//! Links between the documents: a relative link names a file that exists.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::{files_below, relative, root};

/// Checks every Markdown file of the workspace.
pub(crate) fn check() -> Result<String> {
    let (mut n_links, mut broken) = (0, Vec::new());
    for path in files_below(root())?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(&path).with_context(|| format!("read `{}`", relative(&path)))?;
        let folder = path.parent().expect("a file lies in a folder");
        for target in targets(&text) {
            n_links += 1;
            if !folder.join(Path::new(target)).exists() {
                broken.push(format!("{}: `{target}` does not exist", relative(&path)));
            }
        }
    }
    if !broken.is_empty() {
        bail!("broken links: {}", broken.join("; "));
    }
    Ok(format!("{n_links} links"))
}

/// Relative link targets without their fragments, outside fenced code.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            for (at, _) in line.match_indices("](") {
                let rest = &line[at + 2..];
                let target = rest.split([')', '#', ' ']).next().unwrap_or("");
                if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                    found.push(target);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_targets_are_found_outside_code() {
        let text = "[a](A.md) and [b](docs/b.md#part), [c](https://example.org/c)\n```\n[d](d.md)\n```\n[e](#here)\n";
        assert_eq!(targets(text), ["A.md", "docs/b.md"]);
    }
}
