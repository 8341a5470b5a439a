//! Cuts a stream of chunks into lines. A line ends with LF, CR or CRLF, as Hadoop's LineReader has it.

use howdah_task::Result;

/// Keeps the unfinished line between chunks.
#[derive(Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
    /// The last chunk ended with a CR, so an LF at the start of the next one belongs to it.
    after_cr: bool,
}

impl Lines {
    /// Calls `each` with every line that this chunk completes.
    pub(super) fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(&[u8]) -> Result) -> Result {
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) {
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
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut keep = |line: &[u8]| {
            found.push(line.to_vec());
            Ok(())
        };
        for chunk in chunks {
            lines.push(chunk, &mut keep).expect("never fails");
        }
        lines.finish(&mut keep).expect("never fails");
        found
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
