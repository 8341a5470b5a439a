//! Counts the words of the input once more, with a plain hash map, and compares.
//!
//! Also checked: each part is in ascending order of bytes without repetition, and each word is in the part that
//! Hadoop's hash gives it.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::lines::{CheckError, io_error, lines, open, parts};
use crate::paths;

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordCountReport {
    /// Words of the input.
    pub words: u64,
    /// Distinct ones, hence lines of the output.
    pub distinct: u64,
    /// Bytes of the input, uncompressed.
    pub bytes: u64,
    /// Part files.
    pub parts: u32,
}

/// Checks the output of `wordcount` over these files, directories and globs.
///
/// # Errors
/// The first difference found, or what cannot be read.
pub fn wordcount<P: AsRef<Path>>(inputs: &[P], output: &Path) -> Result<WordCountReport, CheckError> {
    let parts = parts(output)?;
    let mut counts = Counts::default();
    for input in inputs {
        let named = input.as_ref().to_str().ok_or(io::ErrorKind::InvalidFilename.into());
        let named = named.map_err(io_error("name", input.as_ref()))?;
        let files = paths::files(&[named]).map_err(|(path, error)| io_error("list", &path)(error))?;
        files.iter().try_for_each(|file| counts.add_file(file))?;
    }
    let (words, distinct) = (counts.words, counts.of_word.len() as u64);
    for (index, path) in parts.iter().enumerate() {
        let mut before: Option<Vec<u8>> = None;
        let mut wrong = None;
        lines(path, |line| {
            let (word, found) = parse(line)?;
            if before.as_deref().is_some_and(|before| before >= word) {
                return Err(format!("`{}` is not in ascending order", word.escape_ascii()));
            }
            let part = hadoop_hash(word) % parts.len();
            if part != index {
                return Err(format!("`{}` in part {index}, expected in part {part}", word.escape_ascii()));
            }
            let expected = counts.of_word.remove(word).unwrap_or(0);
            if expected != found && wrong.is_none() {
                wrong = Some(CheckError::Count { word: word.escape_ascii().to_string(), expected, found });
            }
            before = Some(word.to_owned());
            Ok(())
        })?;
        wrong.map_or(Ok(()), Err)?;
    }
    if let Some((word, &expected)) = counts.of_word.iter().min() {
        return Err(CheckError::Count { word: word.escape_ascii().to_string(), expected, found: 0 });
    }
    Ok(WordCountReport { words, distinct, bytes: counts.bytes, parts: parts.len() as u32 })
}

fn parse(line: &[u8]) -> Result<(&[u8], u64), String> {
    let tab = line.iter().rposition(|&byte| byte == b'\t').ok_or("expected a word, a tab and a count")?;
    let count = &line[tab + 1..];
    let number = std::str::from_utf8(count).ok().and_then(|text| text.parse().ok());
    Ok((&line[..tab], number.ok_or_else(|| format!("`{}` is not a count", count.escape_ascii()))?))
}

/// Java's hash of a Text, without its sign.
fn hadoop_hash(word: &[u8]) -> usize {
    let hash = word.iter().fold(1_i32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8)));
    (hash & 0x7fff_ffff) as usize
}

#[derive(Default)]
struct Counts {
    of_word: HashMap<Vec<u8>, u64>,
    words: u64,
    bytes: u64,
}

impl Counts {
    fn add_file(&mut self, path: &Path) -> Result<(), CheckError> {
        let mut file = open(path)?;
        let mut chunk = vec![0; 1 << 18];
        // A word may reach from one chunk into the next.
        let mut word = Vec::new();
        loop {
            let n = file.read(&mut chunk).map_err(io_error("read", path))?;
            if n == 0 {
                self.add(&word);
                return Ok(());
            }
            self.bytes += n as u64;
            let mut pieces = chunk[..n].split(|byte| b" \t\n\r\x0c".contains(byte));
            let mut piece = pieces.next().expect("a split has at least one piece");
            for next in pieces {
                if word.is_empty() {
                    self.add(piece);
                } else {
                    word.extend_from_slice(piece);
                    self.add(&word);
                    word.clear();
                }
                piece = next;
            }
            word.extend_from_slice(piece);
        }
    }

    fn add(&mut self, word: &[u8]) {
        if word.is_empty() {
            return;
        }
        self.words += 1;
        match self.of_word.get_mut(word) {
            Some(count) => *count += 1,
            None => drop(self.of_word.insert(word.to_owned(), 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_reach_over_chunks_are_counted_whole() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("text");
        // 7 does not divide the chunk's length.
        std::fs::write(&path, "sixteen ".repeat(100_000).replace("sixteen", "sevens")).expect("a file");
        let mut counts = Counts::default();
        counts.add_file(&path).expect("readable");
        assert_eq!(counts.of_word, HashMap::from([(b"sevens".to_vec(), 100_000)]));
    }

    #[test]
    fn the_hash_is_javas() {
        assert_eq!(hadoop_hash(b"a"), 31 + 97);
        // é is 0xc3 0xa9, as signed bytes -61 and -87: (31 - 61) * 31 - 87, without its sign.
        assert_eq!(hadoop_hash("é".as_bytes()), (-1017_i32 & 0x7fff_ffff) as usize);
    }
}
