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

/// A line that means the same in any directory: words that begin with `./` or `../` and name a file where the
/// client stands become absolute. Workers have other directories and get no copies. `None` when a path has quotes of
/// both kinds, which no line can hold.
pub(super) fn anchored(line: &str) -> Option<String> {
    let mut changed = false;
    let words = split(line).into_iter().map(|word| {
        let path = Path::new(&word);
        if !(word.starts_with("./") || word.starts_with("../")) || !path.is_file() {
            return word;
        }
        let absolute = path.canonicalize().ok().and_then(|path| path.into_os_string().into_string().ok());
        changed |= absolute.is_some();
        absolute.unwrap_or(word)
    });
    let words: Vec<String> = words.collect();
    if !changed {
        return Some(line.to_owned());
    }
    let quoted = words.iter().map(|word| match (word.contains('\''), word.contains(['"', ' ']) || word.is_empty()) {
        (false, false) => Some(word.clone()),
        (false, true) => Some(format!("'{word}'")),
        (true, _) if !word.contains('"') => Some(format!("\"{word}\"")),
        _ => None,
    });
    Some(quoted.collect::<Option<Vec<String>>>()?.join(" "))
}

/// The command, to be looked up in the working directory first, then where the system looks. `None` when the line
/// has no word.
pub(super) fn parse(line: &str, directory: &Path) -> Option<Command> {
    let words = split(line);
    let (program, args) = words.split_first()?;
    let local = directory.join(program);
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

    #[test]
    fn relative_paths_of_files_become_absolute_and_other_words_stay() {
        // Tests run where the crate's manifest is.
        let here = std::env::current_dir().expect("a directory").display().to_string();
        let line = r#"sh ./Cargo.toml './no file' "it's""#;
        assert_eq!(anchored(line), Some(format!(r#"sh {here}/Cargo.toml './no file' "it's""#)));
        assert_eq!(split(&anchored(line).expect("no quotes in it"))[2..], split(line)[2..]);
        for line in ["  cat  Cargo.toml", "./none", "awk '{ print }'"] {
            assert_eq!(anchored(line).as_deref(), Some(line));
        }
    }
}
