//! Tables for people: no borders, a dim header, numbers to the right.
//!
//! On a terminal a table fits: first the columns leave that the command named for it, in its order, then long text is
//! shortened in the middle, so that a path keeps its root and its name, then the last columns leave. A pipe and `--wide` get
//! everything. Laid out by hand, as libraries wrap cells or cut their ends, and drop no column.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::escape::cell;
use super::{Screen, Style};

/// Between two columns.
const GAP: usize = 2;
/// Shortened text keeps so much, and short text is not shortened.
const LEAST: usize = 12;

/// A column's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows of text under a header.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<(String, Option<Style>)>>,
    leaving: Vec<&'static str>,
    whole: Option<&'static str>,
}

impl Grid {
    /// Columns in order; a leading `>` puts the column to the right.
    pub(crate) fn new(columns: &[&str]) -> Grid {
        let columns = columns
            .iter()
            .map(|name| match name.strip_prefix('>') {
                Some(rest) => (cell(rest).into_owned(), Side::Right),
                None => (cell(name).into_owned(), Side::Left),
            })
            .collect();
        Grid { columns, rows: Vec::new(), leaving: Vec::new(), whole: None }
    }

    /// Which columns may be left out where the terminal is too narrow for all, the first named first.
    pub(crate) fn leaving(mut self, names: &[&'static str]) -> Grid {
        self.leaving = names.to_vec();
        self
    }

    /// A column that is never shortened: ids that people copy.
    pub(crate) fn whole(mut self, name: &'static str) -> Grid {
        self.whole = Some(name);
        self
    }

    /// One plain row.
    pub(crate) fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|text| (cell(text.as_ref()).into_owned(), None)).collect());
    }

    /// Colours one cell of the last row.
    pub(crate) fn style(&mut self, column: usize, style: Style) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.get_mut(column)) {
            cell.1 = Some(style);
        }
    }

    /// As text without a line feed at the end, no wider than the screen.
    pub(crate) fn render(&self, screen: &Screen) -> String {
        let shown = self.fit(screen.width());
        let header = shown.iter().map(|&(column, width)| {
            let (name, side) = &self.columns[column];
            (screen.paint(Style::Dim, shortened(name, width)), name.width().min(width), *side, width)
        });
        let mut lines = vec![line(header)];
        for row in &self.rows {
            lines.push(line(shown.iter().map(|&(column, width)| {
                let (text, style) = row.get(column).map_or(("", None), |(text, style)| (text.as_str(), *style));
                let text = shortened(text, width);
                let taken = text.width();
                (style.map_or(text.clone(), |style| screen.paint(style, text)), taken, self.columns[column].1, width)
            })));
        }
        lines.join("\n")
    }

    /// The columns to show, with their widths.
    fn fit(&self, room: Option<usize>) -> Vec<(usize, usize)> {
        let natural = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width());
            cells.chain([self.columns[column].0.width()]).max().unwrap_or(0)
        };
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len()).map(|column| (column, natural(column))).collect();
        let Some(room) = room else { return shown };
        let total =
            |shown: &[(usize, usize)]| shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
        for name in &self.leaving {
            if total(&shown) <= room {
                break;
            }
            shown.retain(|&(column, _)| self.columns[column].0 != *name);
        }
        while total(&shown) > room {
            // Numbers stay whole: half of one is another one.
            let may = |column: usize| {
                let (name, side) = &self.columns[column];
                *side == Side::Left && self.whole != Some(name.as_str())
            };
            let text = shown.iter_mut().filter(|(column, width)| may(*column) && *width > LEAST);
            match text.max_by_key(|(_, width)| *width) {
                Some((_, width)) => *width -= 1,
                None => break,
            }
        }
        // Better without its last columns than broken over two lines.
        while total(&shown) > room && shown.len() > 2 {
            shown.pop();
        }
        shown
    }

    /// As a Markdown table.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|(name, _)| name.as_str()).collect());
        text += &line(self.columns.iter().map(|(_, side)| if *side == Side::Right { "---:" } else { "---" }).collect());
        for row in &self.rows {
            text += &line(row.iter().map(|(cell, _)| cell.as_str()).collect());
        }
        text
    }
}

/// Painted text with its width, the side it keeps to, and the width of its column.
fn line(cells: impl Iterator<Item = (String, usize, Side, usize)>) -> String {
    let mut out = String::new();
    let mut owed = 0;
    for (text, taken, side, width) in cells {
        let free = width.saturating_sub(taken);
        let before = if side == Side::Right { free } else { 0 };
        // Spaces are owed until something follows: no line ends with any.
        if taken > 0 {
            out.extend(std::iter::repeat_n(' ', owed + before));
            out += &text;
            owed = free - before + GAP;
        } else {
            owed += width + GAP;
        }
    }
    out
}

/// At most so wide, with `…` for the middle.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let keep = width.saturating_sub(1);
    let head = prefix(text.chars(), keep.div_ceil(2));
    let tail = prefix(text.chars().rev(), keep / 2);
    let tail: String = tail.chars().rev().collect();
    format!("{head}…{tail}")
}

/// As many characters as fit.
fn prefix(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    chars
        .take_while(|c| {
            let wide = c.width().unwrap_or(0);
            let fits = wide <= left;
            left = left.saturating_sub(wide);
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Colour;

    fn pipe() -> Screen {
        Screen::new(Colour::Never)
    }

    fn jobs() -> Grid {
        let mut grid = Grid::new(&["job", "name", "queue", ">maps", "output"]).leaving(&["queue", "output"]);
        grid.row(["job_1", "count-words-of-the-whole-library-every-night", "default", "12/12", "/data/out"]);
        grid.row(["job_2", "单词计数", "research", "3/400", "/data/other"]);
        grid
    }

    #[test]
    fn a_grid_in_a_pipe_is_plain_and_aligned() {
        let mut grid = Grid::new(&["job", ">maps"]);
        grid.row(["job_1", "5"]);
        grid.row(["job_22", "1,000"]);
        let text = grid.render(&pipe());
        assert_eq!(text, "job      maps\njob_1       5\njob_22  1,000");
        assert_eq!(grid.markdown(), "| job | maps |\n| --- | ---: |\n| job_1 | 5 |\n| job_22 | 1,000 |\n");
    }

    #[test]
    fn columns_leave_in_their_order_then_long_names_lose_their_middle() {
        let lines = |width: usize| jobs().render(&pipe().with_width(width));
        assert_eq!(lines(200), jobs().render(&pipe()));
        assert_eq!(lines(76).lines().next(), Some(format!("job    name{}  maps  output", " ".repeat(41)).as_str()));
        assert!(!lines(75).contains("queue"));
        assert!(!lines(60).contains("output"));
        assert_eq!(
            lines(40),
            "job    name                         maps\n\
             job_1  count-words-o…-every-night  12/12\n\
             job_2  单词计数                    3/400"
        );
        for width in 30..90 {
            assert!(lines(width).lines().all(|line| line.width() <= width), "{width}:\n{}", lines(width));
        }
    }

    #[test]
    fn numbers_that_do_not_fit_leave_from_the_end() {
        let mut grid = Grid::new(&["job", ">first", ">second", ">third", ">fourth", ">fifth"]);
        grid.row(["job_1", "1 min 47 s", "2 min 48 s", "39.0 s", "1 min 45 s", "4.09"]);
        let lines = |width: usize| grid.render(&pipe().with_width(width));
        assert!(lines(80).contains("fifth") && !lines(50).contains("fifth") && !lines(40).contains("fourth"));
        for width in 20..90 {
            assert!(lines(width).lines().all(|line| line.width() <= width), "{width}:\n{}", lines(width));
        }
    }

    #[test]
    fn a_hostile_cell_is_text_and_keeps_to_its_column() {
        let mut grid = Grid::new(&["name", ">maps"]);
        grid.row(["\u{1b}[2Jgone\u{202e}", "5"]);
        grid.style(0, Style::Bad);
        let text = grid.render(&Screen::new(Colour::Always));
        let text = crate::output::escape::lines(&text, false);
        assert_eq!(text, "name                   maps\n\\u{1b}[2Jgone\\u{202e}     5");
    }
}
