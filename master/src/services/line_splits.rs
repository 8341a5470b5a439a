//! Splits of so many lines each: Hadoop's NLineInputFormat.
//!
//! The input is read once, in pieces, to find where lines end; LF, CR and CR LF end one, as they do when it is read.
//! `Deviation:` Hadoop's splits begin and end one byte early, because its reader does; ours are whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::walk::Cancel;

const BUFFER_BYTES: usize = 256 << 10;

/// Offset and length of each split of a file; an empty file has none. Ends early with one split more than `most`, or when
/// `cancel` is set: then nobody wants them.
pub(super) fn line_splits(path: &Path, lines: u32, most: usize, cancel: &Cancel) -> io::Result<Vec<(u64, u64)>> {
    line_splits_of(File::open(path)?, lines, most, || cancel.is_set())
}

/// The same of what is read from anywhere, as long as nobody says `stop`.
pub(super) fn line_splits_of(
    from: impl Read,
    lines: u32,
    most: usize,
    stop: impl Fn() -> bool,
) -> io::Result<Vec<(u64, u64)>> {
    cut(from, lines, |n_splits| n_splits > most || stop())
}

fn cut(mut from: impl Read, lines: u32, enough: impl Fn(usize) -> bool) -> io::Result<Vec<(u64, u64)>> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut splits = Vec::new();
    let (mut start, mut position, mut n_lines, mut after_cr) = (0_u64, 0_u64, 0_u32, false);
    loop {
        let n = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        for &byte in &buffer[..n] {
            // A split is closed when the byte after its last line is known to belong to no line end.
            let is_rest = after_cr && byte == b'\n';
            if n_lines == lines && !is_rest {
                splits.push((start, position - start));
                (start, n_lines) = (position, 0);
            }
            position += 1;
            n_lines += u32::from(matches!(byte, b'\n' | b'\r') && !is_rest);
            after_cr = byte == b'\r';
        }
        if n == 0 || enough(splits.len()) {
            break;
        }
    }
    if position > start {
        splits.push((start, position - start));
    }
    Ok(splits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_split_has_whole_lines_and_the_last_one_the_rest() {
        let of = |text: &str, lines| cut(text.as_bytes(), lines, |_| false).expect("a slice is read");
        assert_eq!(of("a\nbb\nccc\n", 2), [(0, 5), (5, 4)]);
        assert_eq!(of("a\nbb\nccc", 1), [(0, 2), (2, 3), (5, 3)]);
        assert_eq!(of("a\r\nb\rc\n", 1), [(0, 3), (3, 2), (5, 2)]);
        assert_eq!(of("\n\n\n", 2), [(0, 2), (2, 1)]);
        assert_eq!(of("", 3), []);
    }

    #[test]
    fn no_more_is_read_than_is_wanted() {
        let endless = io::repeat(b'\n');
        let found = cut(endless, 1, |n_splits| n_splits > 10).expect("read");
        assert!(found.len() > 10 && found.len() <= BUFFER_BYTES, "{}", found.len());
    }

    #[test]
    fn a_line_end_across_two_reads_is_one() {
        struct ByByte<'a>(&'a [u8]);
        impl Read for ByByte<'_> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let n = self.0.len().min(1);
                into[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        assert_eq!(cut(ByByte(b"a\r\nb\r\n"), 1, |_| false).expect("read"), [(0, 3), (3, 3)]);
    }
}
