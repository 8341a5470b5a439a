//! The records of a Hadoop text history: a type and pairs of `KEY="value"`.
//!
//! A value may hold line feeds (stack traces), so a record is as many lines as it takes to close its last quote.
//! Hadoop 0.19 and later write a `Meta` record first, a dot at the end of each record and backslashes before signs
//! that mean something; 0.18 writes none of the three, so there a quote ends a value only where the line ends or
//! another key follows.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::super::TraceError;
use super::super::lines::{Lines, shortened};

/// Longest line, and longest record.
const LONGEST: usize = 16 << 20;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Record {
    /// `Job`, `Task`, …
    pub(super) kind: String,
    /// Line where it starts.
    pub(super) line: u64,
    /// Without quotes and backslashes.
    pub(super) values: BTreeMap<String, String>,
}

/// Reads records one after another.
pub(super) struct Records<R> {
    lines: Lines<R>,
    /// Whether this is 0.19 or later; found out from the first record.
    escaped: Option<bool>,
}

/// What comes next.
pub(super) enum Next {
    Record(Record),
    /// A line that is no record, as its place.
    Other(String),
    /// The source ends within a record, which starts at this place.
    Torn(String),
    End,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(source: R) -> Records<R> {
        Records { lines: Lines::new(source, LONGEST, 0), escaped: None }
    }

    /// Reads on.
    pub(super) fn next(&mut self) -> Result<Next, TraceError> {
        loop {
            if !self.lines.advance()? {
                return Ok(Next::End);
            }
            if !self.lines.bytes().trim_ascii().is_empty() {
                break;
            }
        }
        let line = self.lines.number();
        let place = self.lines.place();
        let mut bytes = self.lines.bytes().to_vec();
        if self.escaped.is_none() && bytes.windows(2).any(|two| two == b"=\"") {
            self.escaped = Some(bytes.starts_with(b"Meta ") || bytes.trim_ascii_end().ends_with(b"\" ."));
        }
        let escaped = self.escaped.unwrap_or(false);
        let mut scan = Scan { escaped, inside: false };
        scan.line(self.lines.bytes());
        while scan.inside {
            if !self.lines.advance()? {
                return Ok(Next::Torn(place));
            }
            bytes.push(b'\n');
            bytes.extend_from_slice(self.lines.bytes());
            scan.line(self.lines.bytes());
            if bytes.len() > LONGEST {
                return Err(TraceError::Malformed {
                    place,
                    found: format!("more than {LONGEST} bytes without a closing quote"),
                    expected: "a record".to_owned(),
                });
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((kind, pairs)) = split_kind(&text) else {
            return Ok(Next::Other(place));
        };
        let values = pairs_of(pairs, escaped).map_err(|rest| TraceError::Malformed {
            place,
            found: shortened(rest.lines().next().unwrap_or_default()),
            expected: "KEY=\"value\" or the end of the record".to_owned(),
        })?;
        Ok(Next::Record(Record { kind: kind.to_owned(), line, values }))
    }
}

/// Follows quotes along the lines of a record.
struct Scan {
    escaped: bool,
    inside: bool,
}

impl Scan {
    fn line(&mut self, line: &[u8]) {
        let mut at = 0;
        while at < line.len() {
            if self.inside {
                match line[at] {
                    b'\\' if self.escaped => at += 1,
                    b'"' if self.escaped || closes(&line[at + 1..]) => self.inside = false,
                    _ => {}
                }
            } else if line[at] == b'"' && at > 0 && line[at - 1] == b'=' {
                self.inside = true;
            }
            at += 1;
        }
    }
}

/// Whether a quote before `rest` of a line ends a value where nothing is escaped.
fn closes(rest: &[u8]) -> bool {
    let next = rest.trim_ascii();
    let key = next.iter().take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'0'..=b'9')).count();
    next.is_empty() || next == b"." || (rest[0] == b' ' && key > 0 && next[key..].starts_with(b"=\""))
}

/// The type and the rest; nothing for a line that starts otherwise.
fn split_kind(text: &str) -> Option<(&str, &str)> {
    let (kind, rest) = text.trim_start().split_once(' ')?;
    (!kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphabetic()) && rest.contains("=\""))
        .then_some((kind, rest))
}

/// The pairs, or the rest at which they end.
fn pairs_of(text: &str, escaped: bool) -> Result<BTreeMap<String, String>, &str> {
    let mut values = BTreeMap::new();
    let mut rest = text.trim_start();
    while !rest.trim_end().is_empty() && rest.trim_end() != "." {
        let (key, after) = rest.split_once("=\"").ok_or(rest)?;
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(rest);
        }
        let (value, behind) = value_of(after, escaped).ok_or(rest)?;
        values.insert(key.to_owned(), value);
        rest = behind.trim_start();
    }
    Ok(values)
}

/// The value up to its closing quote, and what follows.
fn value_of(text: &str, escaped: bool) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\\' if escaped => value.extend(chars.next().map(|(_, quoted)| quoted)),
            '"' if escaped || closes(rest.split('\n').next().unwrap_or_default().as_bytes()) => {
                return Some((value, rest));
            }
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut records = Records::new(text.as_bytes());
        let mut found = Vec::new();
        loop {
            found.push(match records.next() {
                Ok(Next::Record(record)) => format!("{} {} {:?}", record.line, record.kind, record.values),
                Ok(Next::Other(place)) => format!("other {place}"),
                Ok(Next::Torn(place)) => format!("torn {place}"),
                Ok(Next::End) => return found,
                Err(error) => error.to_string(),
            });
        }
    }

    #[test]
    fn values_may_hold_line_feeds_and_signs_behind_backslashes() {
        let text = "Meta VERSION=\"1\" .\nTask A=\"one\\.two \\\"x\\\" \\\\\" B=\"\" .\nJob E=\"a\n\tat b(c)\n\" .\n";
        assert_eq!(
            all(text),
            [
                r#"1 Meta {"VERSION": "1"}"#,
                r#"2 Task {"A": "one.two \"x\" \\", "B": ""}"#,
                r#"3 Job {"E": "a\n\tat b(c)\n"}"#,
            ]
        );
    }

    #[test]
    fn records_of_018_end_with_their_line_and_escape_nothing() {
        let text = "Job JOBNAME=\"say \"hi\" c:\\x\" USER=\"u\"\nTask ERROR=\"x\ny\" A=\"1\" \n";
        assert_eq!(
            all(text),
            [r#"1 Job {"JOBNAME": "say \"hi\" c:\\x", "USER": "u"}"#, r#"2 Task {"A": "1", "ERROR": "x\ny"}"#]
        );
    }

    #[test]
    fn what_is_no_record_is_told_apart_from_a_torn_and_a_wrong_one() {
        assert_eq!(
            all("hello\nMeta A=\"1\" .\nJob =\"\" .\nJob A=\"1\" x .\nJob A=\"1"),
            [
                "other line 1",
                r#"2 Meta {"A": "1"}"#,
                "line 3: found `=\"\" .`, expected KEY=\"value\" or the end of the record",
                "line 4: found `x .`, expected KEY=\"value\" or the end of the record",
                "torn line 5",
            ]
        );
    }
}
