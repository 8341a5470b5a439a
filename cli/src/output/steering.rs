//! What commands that steer a cluster have done: a line as soon as each thing is done, or one object at the end.

use howdah_json::Shape;
use serde::Serialize;

use super::Screen;
use crate::args::Format;
use crate::failure::{Failure, Outcome, all_reported};

/// For programs, schema `howdah/steering/v1`.
#[derive(Serialize)]
struct Steered {
    action: &'static str,
    done: Vec<String>,
}

impl Shape for Steered {
    const NAME: &'static str = "steering";
}

/// A command at its work.
pub(crate) struct Steering<'a> {
    screen: &'a Screen,
    format: Format,
    steered: Steered,
    failures: Vec<Failure>,
}

impl<'a> Steering<'a> {
    /// `action` is the command's last word, or what it means by its flags.
    pub(crate) fn new(screen: &'a Screen, format: Format, action: &'static str) -> Steering<'a> {
        Steering { screen, format, steered: Steered { action, done: Vec::new() }, failures: Vec::new() }
    }

    /// It is done to `name`, which people are told in a line.
    pub(crate) fn done(&mut self, name: &str, line: String) -> Outcome<()> {
        self.steered.done.push(name.to_owned());
        if self.format == Format::Table { Ok(self.screen.line(line)?) } else { Ok(()) }
    }

    /// It could not be done to one; the others go on.
    pub(crate) fn failed(&mut self, failure: impl Into<Failure>) {
        self.failures.push(failure.into());
    }

    /// Says `nothing` to people when there was nothing to do, and reports what failed.
    pub(crate) fn end(self, nothing: &str) -> Outcome {
        match self.format {
            Format::Json => self.screen.json(&self.steered.listing())?,
            Format::Table if self.steered.done.is_empty() && self.failures.is_empty() => self.screen.line(nothing)?,
            Format::Table => {}
        }
        all_reported(self.failures)
    }
}
