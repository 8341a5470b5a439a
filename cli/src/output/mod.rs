//! Everything that reaches the terminal: lines, tables, colours, progress and JSON.
//!
//! Answers go to standard output, everything about the way there to standard error. A closed pipe surfaces as an
//! `io::Error` and ends the command quietly (see `failure`).

pub(crate) mod progress;
pub(crate) mod table;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::args::Colour;

/// Text attributes used by the command; few, so that screens stay calm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Dim,
    Good,
    Bad,
    Warn,
    Accent,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Warn => "33",
            Style::Accent => "36",
        }
    }
}

/// Standard output with what is known about it.
#[derive(Debug)]
pub(crate) struct Screen {
    colour: bool,
    terminal: bool,
}

impl Screen {
    /// For standard output as it is now.
    pub(crate) fn new(wanted: Colour) -> Screen {
        let terminal = io::stdout().is_terminal();
        Screen { colour: colours(wanted, terminal), terminal }
    }

    /// Whether somebody watches: progress bars instead of lines.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Whether colours may be used.
    pub(crate) fn has_colour(&self) -> bool {
        self.colour
    }

    /// `text` in this style, or plain.
    pub(crate) fn paint(&self, style: Style, text: impl std::fmt::Display) -> String {
        if self.colour { format!("\x1b[{}m{text}\x1b[0m", style.code()) } else { text.to_string() }
    }

    /// One line on standard output.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_ref().as_bytes())?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Bytes on standard output as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// One JSON document, indented.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
        self.line(text)
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
    let _ = writeln!(io::stderr().lock(), "{}", text.as_ref());
}
