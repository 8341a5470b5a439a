//! The Markdown page of an experiment.

use std::path::PathBuf;

use anyhow::Result;

use super::{About, Check, Lab, Table};

/// Marks a number that a paper shows in a figure only: it could be read off, but not cited.
pub const FIGURE_ONLY: &str = "figure only";

/// A page that grows from top to bottom.
#[derive(Clone, Debug)]
pub struct Page {
    text: String,
}

impl Page {
    /// With the experiment's title and source.
    pub fn new(about: &About, quick: bool) -> Page {
        let mut page = Page { text: format!("# {}\n\n{}.\n", about.name, about.line) };
        page.text += &format!("After {}, {}.\n", about.paper, about.figure);
        if quick {
            page.paragraph("**A quick run**: small inputs and few repeats; its figures are rough and not judged.");
        }
        page
    }

    /// A second-level heading.
    pub fn heading(&mut self, title: &str) {
        self.text += &format!("\n## {title}\n");
    }

    pub fn paragraph(&mut self, text: &str) {
        self.text += &format!("\n{text}\n");
    }

    pub fn table(&mut self, table: &Table) {
        self.text += &format!("\n{}", table.markdown());
    }

    /// An image file beside the page.
    pub fn image(&mut self, file: &str, alt: &str) {
        self.text += &format!("\n![{alt}]({file})\n");
    }

    /// The bars and how they were met.
    pub fn checks(&mut self, checks: &[Check]) {
        let mut table = Table::new(&["bar", ">found", ">at most", "holds"]);
        for check in checks {
            let holds = match (check.holds(), check.judged) {
                (true, _) => "yes",
                (false, true) if !check.found_anything() => "**nothing to judge**",
                (false, true) => "**MISSED**",
                (false, false) => "no (not judged)",
            };
            let found = if check.found_anything() { percent(check.found) } else { String::new() };
            table.row([check.what.clone(), found, percent(check.bar), holds.to_owned()]);
        }
        self.heading("Bars");
        self.table(&table);
        let missed = checks.iter().filter(|check| check.judged && check.found_anything() && !check.holds());
        let missed: Vec<String> = missed
            .map(|check| format!("{}: {}, at most {}", check.what, percent(check.found), percent(check.bar)))
            .collect();
        if !missed.is_empty() {
            self.paragraph(&format!("**MISSED**: {}.", missed.join("; ")));
        }
    }

    /// Writes the page with its table and its figure under one name; returns the files in this order.
    ///
    /// # Errors
    /// When the figure could not be drawn or the file system refuses.
    pub fn write(&self, lab: &Lab<'_>, name: &str, table: &Table, figure: Result<String>) -> Result<Vec<PathBuf>> {
        Ok(vec![
            lab.write(&format!("{name}.md"), self.text())?,
            lab.write(&format!("{name}.csv"), &table.csv())?,
            lab.write(&format!("{name}.svg"), &figure?)?,
        ])
    }

    /// The whole page.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// `1.23 %`; small ones keep two significant digits.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value != 0.0 && value.abs() < 0.1 { format!("{value:.3} %") } else { format!("{value:.2} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Needs;

    #[test]
    fn a_page_names_its_source_and_says_which_bars_hold() {
        let about = About {
            name: "demo",
            line: "Shows something",
            paper: "A paper (2011)",
            figure: "Figure 5",
            needs: Needs::Simulation,
            estimate_s: [1, 1],
        };
        let mut page = Page::new(&about, true);
        let check = |found, judged| Check { what: "mean error".to_owned(), found, bar: 0.01, judged };
        page.checks(&[check(0.005, true), check(0.02, true), check(0.02, false)]);
        let text = page.text();
        assert!(text.starts_with("# demo\n\nShows something.\nAfter A paper (2011), Figure 5.\n"), "{text}");
        assert!(text.contains("A quick run"));
        assert!(text.contains("| mean error | 0.50 % | 1.00 % | yes |"), "{text}");
        assert!(text.contains("| mean error | 2.00 % | 1.00 % | **MISSED** |"));
        assert!(text.contains("| mean error | 2.00 % | 1.00 % | no (not judged) |"));
        assert!(text.contains("\n**MISSED**: mean error: 2.00 %, at most 1.00 %.\n"), "{text}");
        let mut good = Page::new(&about, false);
        good.checks(&[check(0.005, true), check(0.02, false)]);
        assert!(!good.text().contains("MISSED"));
    }

    #[test]
    fn small_shares_keep_two_digits() {
        assert_eq!([0.0, 0.000_42, 0.0123, 0.37].map(percent), ["0.00 %", "0.042 %", "1.23 %", "37.00 %"]);
    }
}
