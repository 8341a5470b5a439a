//! Cuts a stream of chunks into lines. A line ends with LF, CR or CRLF, as Hadoop's LineReader has it.
//!
//! A command that writes no line end must not take the machine's memory: a record that grows beyond what any record may have fails
//! the attempt, and of other lines a long one is handed on in pieces.

use howdah_task::{Result, too_long};

/// Bytes of a line that is none.
const MOST_WORDS: usize = 1 << 20;

/// Keeps the unfinished line between chunks.
pub(super) struct Lines {
    rest: Vec<u8>,
    most: usize,
    /// Whether a longer line is handed on in pieces; otherwise it is an error.
    is_cut: bool,
    /// The last chunk ended with a CR, so an LF at the start of the next one belongs to it.
    after_cr: bool,
}

impl Lines {
    /// Each is a record of at most so many bytes.
    pub(super) fn of_records(most: usize) -> Lines {
        Lines { rest: Vec::new(), most, is_cut: false, after_cr: false }
    }

    /// They are for people and for the framework.
    pub(super) fn of_words() -> Lines {
        Lines { is_cut: true, ..Lines::of_records(MOST_WORDS) }
    }

    /// Calls `each` with every line that this chunk completes.
    pub(super) fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(&[u8]) -> Result) -> Result {
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) {
            if !self.is_cut && self.rest.len() + end > self.most {
                return Err(too_long("", self.most).into());
            }
            if self.rest.is_empty() {
                each(&chunk[..end])?;
            } else {
                self.rest.extend_from_slice(&chunk[..end]);
                each(&self.rest)?;
                self.rest.clear();
            }
            let cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            if cr {
                self.after_cr = chunk.is_empty();
                chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
            }
        }
        if self.rest.len() + chunk.len() > self.most {
            if !self.is_cut {
                return Err(too_long("", self.most).into());
            }
            each(&self.rest)?;
            self.rest.clear();
        }
        self.rest.extend_from_slice(chunk);
        Ok(())
    }

    /// Calls `each` with a last line that has no end.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&[u8]) -> Result) -> Result {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() { Ok(()) } else { each(&rest) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        cut_by(Lines::of_records(99), chunks).expect("no line is long")
    }

    fn cut_by(mut lines: Lines, chunks: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        let mut keep = |line: &[u8]| {
            found.push(line.to_vec());
            Ok(())
        };
        for chunk in chunks {
            lines.push(chunk, &mut keep)?;
        }
        lines.finish(&mut keep)?;
        Ok(found)
    }

    #[test]
    fn a_line_without_end_is_an_error_of_a_record_and_comes_in_pieces_of_words() {
        let chunks = [&b"12\n123"[..], b"456", b"7\n", b"89"];
        let records = |most| cut_by(Lines::of_records(most), &chunks);
        assert_eq!(records(7).expect("short enough").len(), 3);
        let said = records(5).expect_err("too long").to_string();
        assert_eq!(said, "the line has more than 5 bytes, which is the most (`howdah.line.max.bytes`)");
        // The end comes with what makes it too long, and with nothing before it.
        let whole = |most| cut_by(Lines::of_records(most), &[b"1234567\n"]);
        assert_eq!((whole(7).expect("short enough").len(), whole(6).is_err()), (1, true));
        let words = cut_by(Lines { most: 5, ..Lines::of_words() }, &chunks).expect("in pieces");
        assert_eq!(words, [&b"12"[..], b"123", b"4567", b"89"]);
    }

    #[test]
    fn all_three_line_ends_count_even_across_chunks() {
        let expected: Vec<Vec<u8>> = ["a", "b", "", "c", "d"].map(|line| line.as_bytes().to_vec()).into();
        assert_eq!(cut(&[b"a\nb\r\n\rc\nd"]), expected);
        assert_eq!(cut(&[b"a\nb\r", b"\n\rc", b"\nd"]), expected);
        assert!(cut(&[b"", b""]).is_empty());
    }

    proptest! {
        #[test]
        fn cuts_do_not_depend_on_chunks(text in "[ab\r\n]{0,40}", at in 0_usize..40) {
            let (left, right) = text.as_bytes().split_at(at.min(text.len()));
            prop_assert_eq!(cut(&[left, right]), cut(&[text.as_bytes()]));
        }
    }
}
