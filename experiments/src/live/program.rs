//! The `howdah` program: run to its end, without the user's own settings.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Where it is.
#[derive(Clone, Debug)]
pub(crate) struct Program(PathBuf);

impl Program {
    /// The program at `path`.
    pub(crate) fn new(path: &Path) -> Program {
        Program(path.to_owned())
    }

    /// A command of it. Settings in the environment would make every machine's runs different; names that start
    /// with `HOWDAH_TEST_` are marks of tests, not settings.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("HOWDAH_") && !name.starts_with("HOWDAH_TEST_") {
                command.env_remove(name.as_ref());
            }
        }
        command.stdin(Stdio::null());
        command
    }

    /// Runs it to its end and returns what it printed.
    ///
    /// # Errors
    /// When it does not start, or ends with another code than 0: then with what it said.
    pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<String> {
        let mut command = self.command();
        command.args(args);
        let said = described(&command);
        let output = command.output().with_context(|| format!("start {said}"))?;
        checked(&said, &output)
    }

    /// As [`Program::run`], for commands that print JSON.
    ///
    /// # Errors
    /// Also when it is none.
    pub(crate) fn json<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Value> {
        let text = self.run(args)?;
        serde_json::from_str(&text).with_context(|| format!("read the answer of `{}`", self.0.display()))
    }
}

/// The words of a command, for messages.
pub(crate) fn described(command: &Command) -> String {
    let words: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
    format!("`howdah {}`", words.join(" "))
}

/// What it printed, unless it failed.
///
/// # Errors
/// When it ended with another code than 0.
pub(crate) fn checked(said: &str, output: &Output) -> Result<String> {
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let first = words.lines().find(|line| line.starts_with("error: ")).or_else(|| words.lines().last());
        bail!(
            "{said} ended with {}: {}",
            output.status,
            first.unwrap_or("it said nothing").trim_start_matches("error: ")
        );
    }
    String::from_utf8(output.stdout.clone()).with_context(|| format!("read the answer of {said}"))
}
