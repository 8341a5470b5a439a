//! Lines of a source, one at a time, in a buffer that cannot grow without bound.
//!
//! All readers of line formats stand on this: it knows the number of the line for errors, takes CR LF as well as
//! LF, needs no line feed at the end, and refuses a line longer than the format can have. Bytes that are not text
//! are the format's business.

use std::io::BufRead;

use super::TraceError;

/// A source by lines.
pub(super) struct Lines<R> {
    source: R,
    limit: usize,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// `limit` is the longest line, in bytes; `before` the number of lines that somebody else has read already.
    pub(super) fn new(source: R, limit: usize, before: u64) -> Lines<R> {
        Lines { source, limit, number: before, buffer: Vec::new() }
    }

    /// Reads the next line; false at the end of the source.
    pub(super) fn advance(&mut self) -> Result<bool, TraceError> {
        self.buffer.clear();
        self.number += 1;
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(TraceError::Io { place: self.place(), source }),
            };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            if self.buffer.len() + taken > self.limit {
                return Err(TraceError::Malformed {
                    place: self.place(),
                    found: format!("more than {} bytes without a line feed", self.limit),
                    expected: "a line of text".to_owned(),
                });
            }
            let over = chunk.is_empty();
            self.buffer.extend_from_slice(&chunk[..taken]);
            self.source.consume(taken + usize::from(end.is_some()));
            if end.is_some() || over {
                if self.buffer.last() == Some(&b'\r') {
                    self.buffer.pop();
                }
                return Ok(end.is_some() || !self.buffer.is_empty());
            }
        }
    }

    /// The line read last, without its end.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// The line read last as text; bytes that are no UTF-8 become the replacement character.
    pub(super) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.buffer)
    }

    /// Its number, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// `line 12`.
    pub(super) fn place(&self) -> String {
        format!("line {}", self.number)
    }
}

/// The beginning of what was found, fit for one line of an error.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(41).collect();
    if short.chars().count() > 40 {
        short.pop();
        short.push('…');
    }
    format!("`{short}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], limit: usize) -> Result<Vec<String>, TraceError> {
        let mut lines = Lines::new(std::io::BufReader::with_capacity(3, text), limit, 0);
        let mut found = Vec::new();
        while lines.advance()? {
            found.push(format!("{} {}", lines.number(), lines.text()));
        }
        Ok(found)
    }

    #[test]
    fn lines_end_with_lf_or_cr_lf_or_the_source() {
        assert_eq!(all(b"one\r\n\ntwo\nthree", 9).unwrap(), ["1 one", "2 ", "3 two", "4 three"]);
        assert_eq!(all(b"one\n", 9).unwrap(), ["1 one"]);
        assert!(all(b"", 9).unwrap().is_empty());
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_where_it_stands() {
        let error = all(b"ok\ntoo long", 7).unwrap_err();
        assert_eq!(error.to_string(), "line 2: found more than 7 bytes without a line feed, expected a line of text");
    }

    #[test]
    fn what_was_found_is_shown_on_one_short_line() {
        assert_eq!(shortened(" a\tb "), "`a b`");
        assert_eq!(shortened(&"x".repeat(99)), format!("`{}…`", "x".repeat(40)));
    }
}
