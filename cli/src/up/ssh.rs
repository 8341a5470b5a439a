//! One command on another machine, by `ssh` or the program that was named in its place.
//!
//! The program gets the machine's name and one word that a shell over there reads; so every word of a command is quoted.
//! Nothing is asked for: a machine that wants a password says so and has failed.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::output::escape::one_line;

/// Longer than a slow network needs to copy the executable, and a slow machine to start a daemon.
const PATIENCE: Duration = Duration::from_secs(180);

/// Who runs commands elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Ssh {
    program: Vec<String>,
}

impl Ssh {
    /// From what was typed: a program and its arguments.
    pub(crate) fn new(typed: &str) -> Ssh {
        Ssh { program: typed.split_whitespace().map(str::to_owned).collect() }
    }

    /// Runs a line of shell on a machine, perhaps with a file as its input; what it printed, or in one line why not.
    pub(crate) async fn run(&self, host: &str, line: &str, input: Option<&Path>) -> Result<String, String> {
        let Some((program, words)) = self.program.split_first() else { return Err("no program was named".to_owned()) };
        let input = match input {
            Some(path) => std::fs::File::open(path).map_err(|e| format!("read `{}`: {e}", path.display()))?.into(),
            None => Stdio::null(),
        };
        let mut command = tokio::process::Command::new(program);
        command.args(words).arg(host).arg(format!("exec sh -c {}", quote(line))).stdin(input).kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        let output = output.map_err(|_| format!("no answer for {} s", PATIENCE.as_secs()))?;
        let output = output.map_err(|error| format!("cannot start `{program}`: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(reason(&String::from_utf8_lossy(&output.stderr)).unwrap_or_else(|| output.status.to_string()))
    }
}

/// The error of ours among what was said, else the last line; nothing that moves a cursor.
fn reason(said: &str) -> Option<String> {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find_map(|line| line.strip_prefix("error: ")).or_else(|| lines().next_back())?;
    Some(one_line(line).into())
}

/// A word as a shell reads it back.
pub(crate) fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_comes_back_from_a_shell() {
        for word in ["plain", "two words", "it's", "$HOME `id` \"x\"", ""] {
            let line = format!("printf %s {}", quote(word));
            let output = std::process::Command::new("sh").arg("-c").arg(line).output().expect("run sh");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }

    #[test]
    fn the_reason_is_our_error_or_what_was_said_last() {
        assert_eq!(reason("motd\nerror: no disk\nhelp: buy one\n").as_deref(), Some("no disk"));
        assert_eq!(
            reason("Warning: x\nlab3: Permission denied (publickey).\n\n").as_deref(),
            Some("lab3: Permission denied (publickey).")
        );
        assert_eq!(reason("\n"), None);
    }
}
