//! A command line without a shell: words between spaces, quotes keep spaces together.

use std::path::Path;
use std::process::{Command, ExitStatus};

/// Splits as Hadoop does: at spaces outside `'…'` and `"…"`. Quotes are dropped and end a word, and nothing escapes
/// them, so `a"b"` gives two words.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                words.push(std::mem::take(&mut word));
            }
            None if c == ' ' || c == '\'' || c == '"' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                quote = (c != ' ').then_some(c);
            }
            _ => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The command, to be looked up in the working directory first, then where the system looks. `None` when the line
/// has no word.
pub(super) fn parse(line: &str) -> Option<Command> {
    let words = split(line);
    let (program, args) = words.split_first()?;
    let local = Path::new("./").join(program);
    let mut command = if local.is_file() { Command::new(local) } else { Command::new(program) };
    command.args(args);
    Some(command)
}

/// Why a command's end fails its task, in Hadoop's words; `None` when it ended well.
pub(super) fn failure(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;

    if status.success() {
        return None;
    }
    let (code, how) = match (status.code(), status.signal()) {
        (Some(code), _) => (code, String::new()),
        // Java reports a signal as a shell does.
        (None, signal) => (128 + signal.unwrap_or(0), format!(" (signal {})", signal.unwrap_or(0))),
    };
    Some(format!("PipeMapRed.waitOutputThreads(): subprocess failed with code {code}{how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_hadoop_splits_them() {
        assert_eq!(split("awk -F ',' '{print $1}'"), ["awk", "-F", ",", "{print $1}"]);
        assert_eq!(split("  tr a-z  A-Z "), ["tr", "a-z", "A-Z"]);
        assert_eq!(split(r#"a"b c"d '"' ''"#), ["a", "b c", "d", "\"", ""]);
        assert_eq!(split("sh -c 'open"), ["sh", "-c", "open"]);
        assert!(split(" ").is_empty());
    }
}
