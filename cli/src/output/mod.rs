//! Everything that reaches the terminal: lines, tables, colours, progress and JSON.
//!
//! Answers go to standard output, everything about the way there to standard error. A closed pipe surfaces as an
//! `io::Error` and ends the command quietly (see `failure`). Lines pass through `escape`: text of jobs and workers never
//! steers a terminal.

pub(crate) mod escape;
pub(crate) mod progress;
mod steering;
mod style;
pub(crate) mod table;
mod time_left;

pub(crate) use steering::Steering;
pub(crate) use style::Style;

use std::io;
use std::io::{IsTerminal, Write};

use serde::Serialize;

use crate::args::Colour;

/// Standard output with what is known about it.
#[derive(Debug)]
pub(crate) struct Screen {
    colour: bool,
    terminal: bool,
    /// Columns of the terminal; `None` where nothing is cut.
    width: Option<usize>,
}

impl Screen {
    /// For standard output as it is now.
    pub(crate) fn new(wanted: Colour) -> Screen {
        let terminal = io::stdout().is_terminal();
        let size = terminal_size::terminal_size_of(io::stdout()).filter(|_| terminal);
        let width = size.map(|(width, _)| usize::from(width.0)).filter(|&width| width > 0);
        Screen { colour: colours(wanted, terminal), terminal, width }
    }

    /// With whole tables, however narrow the terminal is.
    pub(crate) fn wide(self, wide: bool) -> Screen {
        Screen { width: self.width.filter(|_| !wide), ..self }
    }

    /// With tables of at most so many columns.
    #[cfg(test)]
    pub(crate) fn with_width(self, width: usize) -> Screen {
        Screen { width: Some(width), ..self }
    }

    /// How wide tables may be.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Whether somebody watches: progress bars instead of lines.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Whether colours may be used.
    pub(crate) fn has_colour(&self) -> bool {
        self.colour
    }

    /// `text` in this style once it is printed by `line`, or plain.
    pub(crate) fn paint(&self, style: Style, text: impl std::fmt::Display) -> String {
        if self.colour { escape::marked(style, &text.to_string()) } else { text.to_string() }
    }

    /// One line, or several, on standard output.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> io::Result<()> {
        let mut text = escape::lines(text.as_ref(), self.colour);
        text.push('\n');
        self.raw(text.as_bytes())
    }

    /// Bytes on standard output as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// One JSON document, indented.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let mut text = escape::json(&serde_json::to_string_pretty(value).map_err(io::Error::other)?).into_owned();
        text.push('\n');
        self.raw(text.as_bytes())
    }
}

/// `NO_COLOR` decides only where nobody asked for anything (no-color.org).
fn colours(wanted: Colour, terminal: bool) -> bool {
    match wanted {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// One line about the way there, on standard error.
pub(crate) fn note(text: impl AsRef<str>) {
    // Nobody reads it: nothing to do about that.
    let _ = writeln!(io::stderr().lock(), "{}", escape::lines(text.as_ref(), false));
}
