//! A benchmark's figures: as a table, as JSON, and as a section of a Markdown file.

use std::path::Path;

use howdah_json::Listing;
use serde::Serialize;
use serde_json::json;

use crate::failure::Outcome;
use crate::local::cannot;
use crate::output::table::Grid;
use crate::output::{Screen, Style, note};

/// What the project demands of a row: of its ratio when it has a baseline, else of its value; the last one always of its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    ValueAtMost(f64),
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) measure: String,
    /// `s`, `ms`, `us`, `MiB`, `1/s`
    pub(crate) unit: &'static str,
    pub(crate) howdah: f64,
    pub(crate) baseline: Option<f64>,
    pub(crate) bar: Option<Bar>,
}

impl Row {
    /// howdah's value over the baseline's.
    fn ratio(&self) -> Option<f64> {
        self.baseline.map(|baseline| self.howdah / baseline)
    }

    fn holds(&self) -> Option<bool> {
        let value = self.ratio().unwrap_or(self.howdah);
        self.bar.map(|bar| match bar {
            Bar::AtMost(most) => value <= most,
            Bar::AtLeast(least) => value >= least,
            Bar::ValueAtMost(most) => self.howdah <= most,
        })
    }

    fn bar_text(&self) -> String {
        let unit = if self.baseline.is_some() { "" } else { self.unit };
        match self.bar {
            None => "-".to_owned(),
            Some(Bar::AtMost(most)) => format!("≤ {most} {unit}").trim_end().to_owned(),
            Some(Bar::AtLeast(least)) => format!("≥ {least} {unit}").trim_end().to_owned(),
            Some(Bar::ValueAtMost(most)) => format!("≤ {most} {}", self.unit),
        }
    }
}

/// A benchmark's result.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    pub(crate) baseline: &'static str,
    pub(crate) rows: Vec<Row>,
    /// Sentences on how it was measured.
    pub(crate) notes: Vec<String>,
    pub(crate) repeats: u32,
    pub(crate) quick: bool,
}

impl Report {
    fn grid(&self) -> Grid {
        let mut grid = Grid::new(&["measure", ">howdah", ">baseline", ">ratio", ">bar", "holds"]);
        for row in &self.rows {
            grid.row([
                row.measure.clone(),
                value(row.howdah, row.unit),
                row.baseline.map_or("-".to_owned(), |baseline| value(baseline, row.unit)),
                row.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                row.bar_text(),
                row.holds().map_or("-", |holds| if holds { "yes" } else { "no" }).to_owned(),
            ]);
            if let Some(holds) = row.holds() {
                grid.style(5, if holds { Style::Good } else { Style::Bad });
            }
        }
        grid
    }

    /// For the terminal.
    pub(crate) fn text(&self, screen: &Screen) -> String {
        let mut text = format!("{}\n\n{}\n", screen.paint(Style::Bold, &self.title), self.grid().render(screen));
        text += &format!("\nbaseline: {}\n", self.baseline);
        for line in self.remarks() {
            text += &screen.paint(Style::Dim, line);
            text.push('\n');
        }
        text
    }

    fn remarks(&self) -> Vec<String> {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let rough = if self.quick { "; quick, so the figures are rough" } else { "" };
        let mut lines = self.notes.clone();
        lines.push(format!("medians of {} alternating repeats on {cores} cores{rough}", self.repeats));
        lines
    }

    /// The first row that misses its bar.
    pub(crate) fn missed(&self) -> Option<String> {
        let row = self.rows.iter().find(|row| row.holds() == Some(false))?;
        let ratio = row.ratio().filter(|_| !matches!(row.bar, Some(Bar::ValueAtMost(_))));
        let found = ratio.map_or_else(|| value(row.howdah, row.unit), |ratio| format!("ratio {ratio:.2}"));
        Some(format!("{}, {}: {found}, expected {}", self.name, row.measure, row.bar_text()))
    }

    /// Puts the table into a Markdown file, in place of the one that an earlier run left there.
    pub(crate) fn write(&self, path: &Path) -> Outcome<()> {
        let old = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(cannot("read", path, &error)),
        };
        std::fs::write(path, replace_section(&old, self.name, &self.markdown()))
            .map_err(|error| cannot("write", path, &error))?;
        note(format!("{}: section `{}` written", path.display(), self.name));
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n{}\n", self.title, self.grid().markdown());
        text += &format!("Baseline: {}.", self.baseline);
        for line in self.remarks() {
            text += &format!(" {}{}.", line[..1].to_uppercase(), &line[1..]);
        }
        text.push('\n');
        text
    }
}

/// All reports as one document.
pub(crate) fn listing(reports: &[Report]) -> impl Serialize + use<> {
    let one = |report: &Report| {
        let rows: Vec<_> = report
            .rows
            .iter()
            .map(|row| {
                json!({
                    "measure": row.measure, "unit": row.unit, "howdah": row.howdah, "baseline": row.baseline,
                    "ratio": row.ratio(), "bar": row.bar, "holds": row.holds(),
                })
            })
            .collect();
        json!({
            "name": report.name, "title": report.title, "baseline": report.baseline, "quick": report.quick,
            "repeats": report.repeats, "rows": rows, "notes": report.remarks(),
        })
    };
    Listing::new("bench", json!({ "benchmarks": reports.iter().map(one).collect::<Vec<_>>() }))
}

/// Three significant digits are more than any of this is good for.
fn value(x: f64, unit: &str) -> String {
    let digits = if x.abs() >= 100.0 {
        0
    } else if x.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{x:.digits$} {unit}")
}

/// Sections are marked by comments, so that text around them stays.
fn replace_section(old: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- bench {name} -->"), format!("<!-- end of bench {name} -->"));
    let new = format!("{begin}\n{section}{end}");
    match (old.find(&begin), old.find(&end)) {
        (Some(from), Some(to)) if from < to => format!("{}{new}{}", &old[..from], &old[to + end.len()..]),
        _ if old.is_empty() => format!("{new}\n"),
        _ => format!("{}\n\n{new}\n", old.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_appended_once_and_then_replaced() {
        let once = replace_section("# Performance\n", "noop", "first\n");
        assert_eq!(once, "# Performance\n\n<!-- bench noop -->\nfirst\n<!-- end of bench noop -->\n");
        let twice = replace_section(&once, "noop", "second\n");
        assert_eq!(twice, "# Performance\n\n<!-- bench noop -->\nsecond\n<!-- end of bench noop -->\n");
    }

    #[test]
    fn the_first_row_over_its_bar_is_told_with_both() {
        let row = |measure: &str, howdah| Row {
            measure: measure.to_owned(),
            unit: "ms",
            howdah,
            baseline: None,
            bar: Some(Bar::AtMost(1.0)),
        };
        let report = |rows| Report {
            name: "predict",
            title: String::new(),
            baseline: "none",
            rows,
            notes: Vec::new(),
            repeats: 1,
            quick: false,
        };
        assert_eq!(report(vec![row("fork", 0.9)]).missed(), None);
        let over = report(vec![row("fork", 0.9), row("the longest fork", 1.2)]).missed();
        assert_eq!(over.as_deref(), Some("predict, the longest fork: 1.20 ms, expected ≤ 1 ms"));
    }

    #[test]
    fn a_bar_applies_to_the_ratio_where_there_is_a_baseline() {
        let row = |baseline, bar| Row { measure: String::new(), unit: "s", howdah: 3.0, baseline, bar: Some(bar) };
        assert_eq!(row(Some(2.0), Bar::AtMost(1.5)).holds(), Some(true));
        assert_eq!(row(None, Bar::AtMost(1.5)).holds(), Some(false));
        assert_eq!(row(Some(2.0), Bar::AtLeast(1.6)).holds(), Some(false));
        assert_eq!(row(Some(2.0), Bar::ValueAtMost(3.0)).holds(), Some(true));
        assert_eq!(row(Some(2.0), Bar::ValueAtMost(2.9)).holds(), Some(false));
    }
}
