//! The one error type of the command: an exit code, one line of what went wrong, and advice.
//!
//! Printed as `error: …` and any number of `help: …` lines, or as one JSON object where `--output json` was asked for. A reader that went away (a closed pipe) is no error:
//! such a failure prints nothing and ends with code 0.

use std::fmt;
use std::io;

use howdah_json::Listing;
use serde::Serialize;

use crate::exit::Exit;
use crate::output::note;

/// Result of everything that can end the command.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

/// Why the command ends without having done what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    helps: Vec<String>,
    silent: bool,
}

impl Failure {
    /// With this exit code and this one line.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), helps: Vec::new(), silent: false }
    }

    /// A check failed or a job failed.
    pub(crate) fn failed(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Failed, message)
    }

    /// Wrong arguments, configuration or input.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// The cluster or this machine did not do its part.
    pub(crate) fn broke(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Broke, message)
    }

    /// A bound given by the user is over.
    pub(crate) fn timed_out(message: impl Into<String>) -> Failure {
        Failure::new(Exit::TimedOut, message)
    }

    /// Adds a line of advice.
    pub(crate) fn help(mut self, advice: impl Into<String>) -> Failure {
        self.helps.push(advice.into());
        self
    }

    /// The one line, without advice.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The code to end with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Whether there is nobody left to tell.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }
}

/// How a command about several things ends: done if nothing went wrong, else with the first of the failures, after
/// the others were printed.
pub(crate) fn all_reported(failures: Vec<Failure>) -> Outcome {
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(Exit::Done) };
    failures.for_each(|failure| note(failure.to_string()));
    Err(first)
}

/// A failure for programs, schema `howdah/error/v1`.
#[derive(Serialize)]
struct FailureDocument<'a> {
    error: &'a str,
    help: Vec<&'a str>,
    exit_code: u8,
}

impl Failure {
    /// What went wrong, and advice, without the words before them.
    fn lines(&self) -> (&str, Vec<&str>) {
        // One line, whatever came in: later lines of a message become advice.
        let mut lines = self.message.lines();
        let first = lines.next().unwrap_or("it failed without a word");
        let later = lines.map(|line| line.trim().trim_start_matches("help: ")).filter(|line| !line.is_empty());
        (first, later.chain(self.helps.iter().map(String::as_str)).collect())
    }

    /// As one JSON object on a line.
    pub(crate) fn json(&self) -> String {
        let (error, help) = self.lines();
        let document = FailureDocument { error, help, exit_code: self.exit as u8 };
        serde_json::to_string(&Listing::new("error", document)).unwrap_or_else(|_| self.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, help) = self.lines();
        write!(f, "error: {error}")?;
        help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        let silent = error.kind() == io::ErrorKind::BrokenPipe;
        let exit = if silent { Exit::Done } else { Exit::Broke };
        Failure { silent, ..Failure::new(exit, error.to_string()) }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        if let Some(io) = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>())
            && io.kind() == io::ErrorKind::BrokenPipe
        {
            return io::Error::from(io::ErrorKind::BrokenPipe).into();
        }
        Failure::broke(format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_silence_and_code_zero() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(failure.is_silent());
        assert_eq!(failure.exit(), Exit::Done);
    }

    #[test]
    fn programs_get_the_same_in_json() {
        let failure = Failure::usage("no such file `\u{1b}`\nhelp: make it first").help("or name another");
        let document: serde_json::Value = serde_json::from_str(&failure.json()).expect("JSON");
        let expected = serde_json::json!({ "schema": "howdah/error/v1", "error": "no such file `\u{1b}`",
            "help": ["make it first", "or name another"], "exit_code": 2 });
        assert_eq!(document, expected);
        assert!(!failure.json().contains('\n'));
    }

    #[test]
    fn later_lines_of_a_message_are_advice() {
        let failure = Failure::usage("no such file\nhelp: make it first").help("or name another");
        assert_eq!(failure.to_string(), "error: no such file\nhelp: make it first\nhelp: or name another");
    }
}
