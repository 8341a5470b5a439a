//! Links between the documents, and the code's citations of them, lead somewhere.
//!
//! A relative link names a file that exists, and its fragment a heading of that file. A comment that cites a page, as in
//! `docs/hadoop.md#fair`, counts as a link from the root. Citations of documents outside the repository are refused:
//! a reader could not look them up.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::complain::complain;
use crate::process::{files_below, relative, root};

/// Documents of the authors that no clone contains; in pieces, so that this file does not name them itself.
const UNPUBLISHED: &[&str] = &[concat!("hadoop", "-semantics"), concat!("hadoop", "-interop")];
/// How a citation of a page starts in code.
const PAGES: &str = concat!("docs", "/");

/// Checks every Markdown file of the workspace, and the citations in all Rust files.
pub(crate) fn check() -> Result<String> {
    let mut pages = Pages::default();
    let (mut n_links, mut n_citations, mut complaints) = (0, 0, Vec::new());
    for path in files_below(root())? {
        let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else { continue };
        if extension != "md" && extension != "rs" {
            continue;
        }
        let name = relative(&path);
        let text = std::fs::read_to_string(&path).with_context(|| format!("read `{name}`"))?;
        if extension == "md" {
            let folder = path.parent().expect("a file lies in a folder");
            for target in targets(&text) {
                n_links += 1;
                complaints.extend(pages.problem(&path, folder, target)?.map(|what| format!("{name}: {what}")));
            }
        } else {
            for (line, target) in citations(&text) {
                n_citations += 1;
                let problem = pages.problem(&path, root(), target)?;
                complaints.extend(problem.map(|what| format!("{name}:{line}: {what}")));
            }
            complaints.extend(unpublished(&name, &text));
        }
    }
    complain(complaints, format!("{n_links} links, {n_citations} citations"))
}

/// The anchors of the pages that were asked for so far.
#[derive(Default)]
struct Pages(BTreeMap<PathBuf, Vec<String>>);

impl Pages {
    /// What is wrong with a target seen from a folder; an empty path is the page `from` itself.
    fn problem(&mut self, from: &Path, folder: &Path, target: &str) -> Result<Option<String>> {
        let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let page = if path.is_empty() { from.to_owned() } else { folder.join(path) };
        if !page.exists() {
            return Ok(Some(format!("`{path}` does not exist")));
        }
        let Some(anchor) = anchor.filter(|_| page.extension().is_some_and(|extension| extension == "md")) else {
            return Ok(None);
        };
        if !self.0.contains_key(&page) {
            let text = std::fs::read_to_string(&page).with_context(|| format!("read `{}`", relative(&page)))?;
            self.0.insert(page.clone(), anchors(&text));
        }
        let known = self.0[&page].iter().any(|known| known == anchor);
        Ok((!known).then(|| format!("`{target}`: no heading gives the anchor `#{anchor}`")))
    }
}

/// Lines outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Relative link targets with their fragments, outside fenced code.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in prose(text) {
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split([')', ' ']).next().unwrap_or("");
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push(target);
            }
        }
    }
    found
}

/// Pages that comments cite by their path from the root, with the number of their line.
fn citations(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(comment) = line.find("//").map(|at| &line[at..]) else { continue };
        for (at, _) in comment.match_indices(PAGES) {
            let inside = comment[..at].ends_with(|c: char| c.is_alphanumeric() || "_-./".contains(c));
            let end = comment[at..].find(|c: char| !(c.is_ascii_alphanumeric() || "_-./#".contains(c)));
            let target = comment[at..].get(..end.unwrap_or(comment.len() - at)).unwrap_or("").trim_end_matches('.');
            if !inside && target.contains(".md") {
                found.push((index + 1, target));
            }
        }
    }
    found
}

fn unpublished(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        found.extend(UNPUBLISHED.iter().filter(|word| line.contains(**word)).map(|word| {
            format!("{name}:{}: `{word}` is a document that readers do not have; cite docs/hadoop.md", index + 1)
        }));
    }
    found
}

/// The anchors that a code host makes of the headings: lower case, spaces to hyphens, punctuation dropped, repeats
/// numbered.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let headings = prose(text).filter_map(|line| {
        let title = line.trim_start_matches('#');
        (line.len() > title.len() && title.starts_with(' ')).then(|| title.trim())
    });
    headings
        .map(|title| {
            let slug = slug(title);
            let repeat = seen.entry(slug.clone()).or_default();
            *repeat += 1;
            if *repeat == 1 { slug } else { format!("{slug}-{}", *repeat - 1) }
        })
        .collect()
}

fn slug(title: &str) -> String {
    // Of a link only its text counts.
    let mut plain = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        plain.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let kept = plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_targets_are_found_outside_code() {
        let text = "[a](A.md) and [b](docs/b.md#part), [c](https://example.org/c)\n```\n[d](d.md)\n```\n[e](#here)\n";
        assert_eq!(targets(text), ["A.md", "docs/b.md#part", "#here"]);
    }

    #[test]
    fn headings_give_the_anchors_that_a_code_host_gives() {
        let text =
            "# `fair`: pools, by weight\n## A [link](x.md)'s text\n```sh\n# no heading\n```\n## Again\n## Again\n";
        assert_eq!(anchors(text), ["fair-pools-by-weight", "a-links-text", "again", "again-1"]);
    }

    #[test]
    fn a_citation_ends_before_the_full_stop_and_only_comments_cite() {
        let page = format!("{PAGES}hadoop.md#fair");
        let text = format!("//! Source: `{page}` and {page}.\nlet page = \"{page}\";\n");
        assert_eq!(citations(&text), [(1, page.as_str()), (1, page.as_str())]);
        assert!(citations(&format!("// see cli/{page}")).is_empty());
    }

    #[test]
    fn a_page_or_an_anchor_that_is_not_there_is_named() {
        let mut pages = Pages::default();
        let from = root().join("README.md");
        let mut problem = |target: &str| pages.problem(&from, root(), target).expect("readable");
        assert!(problem(&format!("{PAGES}hadoop.md#fair")).is_none());
        assert!(problem("nowhere.md").is_some_and(|what| what.contains("does not exist")));
        assert!(problem("GLOSSARY.md#nothing").is_some_and(|what| what.contains("no heading")));
    }

    #[test]
    fn documents_that_readers_do_not_have_are_not_cited() {
        assert_eq!(unpublished("f.rs", &format!("// {} §4.5", UNPUBLISHED[0])).len(), 1);
        assert!(unpublished("f.rs", "// docs/hadoop.md").is_empty());
    }
}
