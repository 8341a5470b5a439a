//! Text whose words follow Zipf's law: the word of rank `r` comes with a frequency of `1 / r^s`.
//!
//! Words are drawn in constant time by Walker's alias method, so that text is made faster than most disks take it.
//! The same seed gives the same bytes on every machine: tables are built with IEEE operations in a fixed order and
//! `libm`'s power, and random words come from ChaCha.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::random::Random;

/// Lines end after the first word that reaches this many bytes.
const LINE_BYTES: usize = 72;
/// A word with its space, padded, and its length at the end.
const CELL: usize = 16;
/// Lengths of words by rank, repeated. Their order makes the mean length of a word in the text, its space included,
/// about 7.2 bytes for exponents near 1.
const LENGTHS: [usize; 8] = [5, 7, 6, 8, 5, 6, 7, 6];
/// Most words that can be told apart in cells.
const MOST_WORDS: u32 = 100_000_000;
/// Bytes collected before they are written.
const BUFFER: usize = 1 << 16;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// With line ends.
    pub bytes: u64,
    /// Words, repeated ones included.
    pub words: u64,
    pub lines: u64,
}

/// A vocabulary and how often each of its words comes.
pub struct ZipfText {
    seed: u64,
    /// By rank.
    cells: Vec<[u8; CELL]>,
    /// By rank: below the first number (of 2^32) the word itself is meant, else the word of the second number.
    alias: Vec<[u32; 2]>,
}

/// A vocabulary that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ZipfError {
    /// Too few or too many words.
    #[error("{0} distinct words: expected 1 to 100000000")]
    Words(u32),
    /// Not a frequency law.
    #[error("an exponent of {0}: expected a number from 0 (all words alike) to 10")]
    Exponent(f64),
}

impl ZipfText {
    /// A vocabulary of `words` distinct words and the law's exponent, 1 for natural text, 0 for words that are all
    /// equally frequent.
    ///
    /// # Errors
    /// When there are no or too many words, or the exponent is not from 0 to 10.
    pub fn new(words: u32, exponent: f64, seed: u64) -> Result<ZipfText, ZipfError> {
        ZipfText::check(words, exponent)?;
        let weights = (1..=words).map(|rank| 1.0 / libm::pow(f64::from(rank), exponent)).collect();
        Ok(ZipfText { seed, cells: vocabulary(words, seed), alias: alias_table(weights) })
    }

    /// Whether [`ZipfText::new`] would take these, without the work of it.
    ///
    /// # Errors
    /// As there.
    pub fn check(words: u32, exponent: f64) -> Result<(), ZipfError> {
        if !(1..=MOST_WORDS).contains(&words) {
            return Err(ZipfError::Words(words));
        }
        if !(0.0..=10.0).contains(&exponent) {
            return Err(ZipfError::Exponent(exponent));
        }
        Ok(())
    }

    /// The word of that rank, from 0.
    pub fn word(&self, rank: u32) -> &[u8] {
        let cell = &self.cells[rank as usize];
        &cell[..usize::from(cell[CELL - 1]) - 1]
    }

    /// Writes whole lines until there are at least `bytes` bytes. Each `stream` of a seed is another text with the
    /// same words, so that maps can write parts of it on their own. `beat` is called with the bytes so far, every
    /// 64 KiB.
    ///
    /// # Errors
    /// When `out` or `beat` fails.
    pub fn write(
        &self,
        stream: u64,
        bytes: u64,
        out: &mut impl Write,
        mut beat: impl FnMut(u64) -> io::Result<()>,
    ) -> io::Result<Written> {
        let mut random = self.random(stream);
        let mut written = Written::default();
        let mut buffer = Vec::with_capacity(BUFFER + LINE_BYTES + CELL);
        while written.bytes < bytes {
            let before = buffer.len();
            written.words += self.line(&mut random, &mut buffer);
            written.lines += 1;
            written.bytes += (buffer.len() - before) as u64;
            if buffer.len() >= BUFFER {
                out.write_all(&buffer)?;
                buffer.clear();
                beat(written.bytes)?;
            }
        }
        out.write_all(&buffer)?;
        Ok(written)
    }

    /// The random numbers of a stream; stream 0 of the cipher makes the vocabulary.
    pub(crate) fn random(&self, stream: u64) -> Random {
        Random::new(self.seed, stream.wrapping_add(1))
    }

    /// Adds a line with its end, and says how many words it has.
    pub(crate) fn line(&self, random: &mut Random, buffer: &mut Vec<u8>) -> u64 {
        let start = buffer.len();
        let mut words = 0;
        while buffer.len() - start < LINE_BYTES {
            let cell = &self.cells[self.draw(random)];
            // A copy of fixed length is one instruction; what is too much is cut off again.
            buffer.extend_from_slice(cell);
            buffer.truncate(buffer.len() - CELL + usize::from(cell[CELL - 1]));
            words += 1;
        }
        let end = buffer.len() - 1;
        buffer[end] = b'\n';
        words
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> usize {
        let bits = random.bits64();
        let column = ((bits >> 32) * self.alias.len() as u64) >> 32;
        let [threshold, other] = self.alias[column as usize];
        if bits as u32 <= threshold { column as usize } else { other as usize }
    }
}

/// Distinct words of lower-case letters.
fn vocabulary(words: u32, seed: u64) -> Vec<[u8; CELL]> {
    let mut random = Random::new(seed, 0);
    let mut known = HashSet::with_capacity(words as usize);
    let mut cells = Vec::with_capacity(words as usize);
    for rank in 0..words as usize {
        let mut length = LENGTHS[rank % LENGTHS.len()];
        let cell = loop {
            let mut cell = [b' '; CELL];
            for letter in &mut cell[..length] {
                *letter = b'a' + random.below(26) as u8;
            }
            cell[CELL - 1] = length as u8 + 1;
            if known.insert(cell) {
                break cell;
            }
            // Where short words have become rare, longer ones have not; 8 letters suffice for all.
            length = (length + 1).min(CELL - 2);
        };
        cells.push(cell);
    }
    cells
}

/// Walker's table for these weights, by Vose's construction.
fn alias_table(mut weights: Vec<f64>) -> Vec<[u32; 2]> {
    let n = weights.len();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight *= n as f64 / sum);
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&rank| weights[rank] < 1.0);
    let mut table: Vec<[u32; 2]> = (0..n).map(|rank| [u32::MAX, rank as u32]).collect();
    while let (Some(&little), Some(&much)) = (small.last(), large.last()) {
        small.pop();
        table[little] = [(weights[little] * 4_294_967_296.0) as u32, much as u32];
        weights[much] -= 1.0 - weights[little];
        if weights[much] < 1.0 {
            large.pop();
            small.push(much);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn text(zipf: &ZipfText, bytes: u64) -> (Vec<u8>, Written) {
        let mut out = Vec::new();
        let written = zipf.write(0, bytes, &mut out, |_| Ok(())).expect("a vector takes everything");
        (out, written)
    }

    #[test]
    fn the_same_seed_gives_the_same_text_and_others_another() {
        let zipf = ZipfText::new(1000, 1.0, 42).expect("in range");
        let (first, written) = text(&zipf, 100_000);
        assert_eq!(first, text(&ZipfText::new(1000, 1.0, 42).expect("in range"), 100_000).0);
        assert_ne!(first, text(&ZipfText::new(1000, 1.0, 43).expect("in range"), 100_000).0);
        assert_eq!(written.bytes, first.len() as u64);
        assert!((100_000..100_000 + 100).contains(&first.len()));
        assert_eq!(written.lines as usize, first.iter().filter(|&&byte| byte == b'\n').count());
        assert_eq!(written.words as usize, howdah_task::text::words(&first).count());
        // If this changes, every measurement over generated text has to be made anew.
        assert_eq!(crc32fast::hash(&first), CRC);
    }

    const CRC: u32 = 3_849_994_026;

    #[test]
    fn words_are_distinct_and_follow_the_law() {
        let zipf = ZipfText::new(500, 1.0, 1).expect("in range");
        let (bytes, written) = text(&zipf, 2_000_000);
        let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
        howdah_task::text::words(&bytes).for_each(|word| *counts.entry(word).or_default() += 1);
        assert_eq!(counts.len(), 500);
        let harmonic: f64 = (1..=500).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [0, 1, 9, 99] {
            let expected = written.words as f64 / harmonic / f64::from(rank + 1);
            let found = counts[zipf.word(rank)] as f64;
            assert!((found / expected - 1.0).abs() < 0.15, "rank {rank}: {found}, expected {expected}");
        }
    }

    #[test]
    fn streams_share_words_but_not_text() {
        let zipf = ZipfText::new(10, 0.0, 3).expect("in range");
        let mut other = Vec::new();
        zipf.write(1, 1000, &mut other, |_| Ok(())).expect("a vector takes everything");
        assert_ne!(other, text(&zipf, 1000).0);
        assert!(howdah_task::text::words(&other).all(|word| (0..10).any(|rank| zipf.word(rank) == word)));
    }

    #[test]
    fn impossible_vocabularies_are_refused() {
        assert_eq!(ZipfText::new(0, 1.0, 0).err(), Some(ZipfError::Words(0)));
        assert!(ZipfText::new(5, f64::NAN, 0).is_err());
        assert_eq!(ZipfText::new(1, 1.0, 0).expect("one word").word(0).len(), LENGTHS[0]);
    }
}
