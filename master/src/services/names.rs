//! Names that people give: of jobs, users, queues and workers. They stand in tables, logs and terminals of others.
//!
//! A name is one short line of text. Control characters, C1 codes and those that turn the direction of writing can
//! rewrite what a terminal shows, so they are refused where a name is given, and the message says which and where.

use tonic::Status;

/// Longest name of a job, user or queue.
pub(super) const MAX_JOB_NAME_BYTES: usize = howdah_proto::limits::NAME_BYTES;
/// Longest name of a worker, its host and its rack.
pub(super) const MAX_WORKER_NAME_BYTES: usize = 256;

/// Whether a character changes what a terminal shows elsewhere.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Takes a name that is one short line of text.
pub(super) fn check(what: &str, name: &str, max: usize) -> Result<(), Status> {
    let wrong = |problem: String| {
        let message = format!("the {what} {problem}, expected one line of at most {max} bytes of printable text");
        Err(Status::invalid_argument(message))
    };
    if name.len() > max {
        return wrong(format!("has {} bytes", name.len()));
    }
    match name.char_indices().find(|&(_, c)| is_harmful(c)) {
        Some((at, c)) => wrong(format!("holds the control character U+{:04X} at byte {at}", u32::from(c))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_language_pass() {
        for name in ["word count", "größe", "日本語", "עברית", "a\u{301}", ""] {
            check("job's name", name, 100).unwrap();
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_refused_and_named() {
        for (name, code, at) in [
            ("a\u{1b}[2J", "U+001B", 1),
            ("line\nfeed", "U+000A", 4),
            ("\u{9b}31m", "U+009B", 0),
            ("abc\u{202e}cba", "U+202E", 3),
            ("x\u{2066}", "U+2066", 1),
        ] {
            let error = check("job's name", name, 100).unwrap_err();
            let wanted = format!("the job's name holds the control character {code} at byte {at}, expected one line");
            assert!(error.message().starts_with(&wanted), "{error}");
        }
        let error = check("worker's name", &"x".repeat(300), MAX_WORKER_NAME_BYTES).unwrap_err();
        assert!(error.message().starts_with("the worker's name has 300 bytes, expected one line of at most 256"));
    }
}
