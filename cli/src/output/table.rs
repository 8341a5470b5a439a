//! Tables for people: no borders, a dim header, numbers to the right.

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};

use super::{Screen, Style};

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
}

impl Grid {
    /// Columns in order; a leading `>` puts the column to the right.
    pub(crate) fn new(columns: &[&str]) -> Grid {
        let columns = columns
            .iter()
            .map(|name| match name.strip_prefix('>') {
                Some(rest) => (rest.to_owned(), Side::Right),
                None => ((*name).to_owned(), Side::Left),
            })
            .collect();
        Grid { columns, rows: Vec::new() }
    }

    /// One plain row.
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| (cell.into(), None)).collect());
    }

    /// Colours one cell of the last row.
    pub(crate) fn style(&mut self, column: usize, style: Style) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.get_mut(column)) {
            cell.1 = Some(style);
        }
    }

    /// As text without a line feed at the end; never wider than it must be, so that pipes get whole cells.
    pub(crate) fn render(&self, screen: &Screen) -> String {
        let mut table = Table::new();
        table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if screen.has_colour() {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        table.set_header(
            self.columns.iter().map(|(name, side)| align(Cell::new(name), *side).add_attribute(Attribute::Dim)),
        );
        for row in &self.rows {
            table.add_row(row.iter().zip(&self.columns).map(|((text, style), (_, side))| {
                let cell = align(Cell::new(text), *side);
                style.map_or(cell.clone(), |style| paint(cell, style))
            }));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
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

fn align(cell: Cell, side: Side) -> Cell {
    match side {
        Side::Left => cell,
        Side::Right => cell.set_alignment(CellAlignment::Right),
    }
}

fn paint(cell: Cell, style: Style) -> Cell {
    match style {
        Style::Bold => cell.add_attribute(Attribute::Bold),
        Style::Dim => cell.add_attribute(Attribute::Dim),
        Style::Good => cell.fg(Color::Green),
        Style::Bad => cell.fg(Color::Red),
        Style::Warn => cell.fg(Color::Yellow),
        Style::Accent => cell.fg(Color::Cyan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Colour;

    #[test]
    fn a_grid_in_a_pipe_is_plain_and_aligned() {
        let mut grid = Grid::new(&["job", ">maps"]);
        grid.row(["job_1", "5"]);
        grid.row(["job_22", "1,000"]);
        let text = grid.render(&Screen::new(Colour::Never));
        assert_eq!(text, "job      maps\njob_1       5\njob_22  1,000");
        assert_eq!(grid.markdown(), "| job | maps |\n| --- | ---: |\n| job_1 | 5 |\n| job_22 | 1,000 |\n");
    }
}
