//! The one error type of the command: an exit code, one line of what went wrong, and advice.
//!
//! Printed as `error: …` and any number of `help: …` lines. A reader that went away (a closed pipe) is no error:
//! such a failure prints nothing and ends with code 0.

use std::fmt;
use std::io;

use crate::exit::Exit;

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

    /// A check did not hold or a job failed.
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

    /// The code to end with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Whether there is nobody left to tell.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One line, whatever came in: later lines of a message become advice.
        let mut lines = self.message.lines();
        write!(f, "error: {}", lines.next().unwrap_or("it failed without a word"))?;
        for line in lines.filter(|line| !line.trim().is_empty()) {
            write!(f, "\nhelp: {}", line.trim().trim_start_matches("help: "))?;
        }
        for help in &self.helps {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
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
    fn later_lines_of_a_message_are_advice() {
        let failure = Failure::usage("no such file\nhelp: make it first").help("or name another");
        assert_eq!(failure.to_string(), "error: no such file\nhelp: make it first\nhelp: or name another");
    }
}
