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
        bail!("{said} ended with {}: {}", output.status, cause(&words));
    }
    String::from_utf8(output.stdout.clone()).with_context(|| format!("read the answer of {said}"))
}

/// The line of a program's words that says why it ended: its last error, not the advice below it.
pub(crate) fn cause(words: &str) -> &str {
    let mut errors = words.lines().filter_map(|line| line.strip_prefix("error: "));
    errors.next_back().or_else(|| words.lines().last()).unwrap_or("it said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_cause_is_its_error_and_not_the_advice_below() {
        let worker = "12:00 WARN the disk is slow\nerror: cannot make control group `/sys/fs/cgroup/cpu/howdah-7`: Permission \
            denied\nhelp: run the worker as root, or without --cpu-quota\n";
        assert_eq!(cause(worker), "cannot make control group `/sys/fs/cgroup/cpu/howdah-7`: Permission denied");
        assert_eq!(cause("thread 'main' panicked\nat the disco"), "at the disco");
        assert_eq!(cause(""), "it said nothing");
    }
}
