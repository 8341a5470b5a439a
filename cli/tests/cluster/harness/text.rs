//! Generated text: the same bytes for the same arguments on every machine.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A small generator (xorshift64*); good enough to choose words.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1, below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0, below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// `n` different words of lower-case letters; a few hold letters beyond ASCII, so that bytes are negative too.
pub(crate) fn words(n: usize) -> Vec<String> {
    const ONSETS: [&str; 16] = ["b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "w", "ø"];
    const NUCLEI: [&str; 4] = ["a", "e", "i", "ou"];
    (0..n)
        .map(|index| {
            // Digits in base 64, least significant first: different numbers give different words.
            let mut word = String::new();
            let mut rest = index;
            loop {
                word.push_str(ONSETS[rest % 16]);
                word.push_str(NUCLEI[rest / 16 % 4]);
                rest /= 64;
                if rest == 0 {
                    break;
                }
                rest -= 1;
            }
            if index % 7 == 3 {
                word.push_str("ng");
            }
            word
        })
        .collect()
}

/// Writes at least `bytes` of lines made of `words`, low indexes far more often than high ones.
pub(crate) fn write_text(path: &Path, bytes: u64, words: &[String], seed: u64) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).expect("create the generated text"));
    let mut chance = Chance::new(seed);
    let (mut written, mut line) = (0_u64, 0_u64);
    while written < bytes {
        let u = chance.fraction();
        let word = &words[(u * u * u * words.len() as f64) as usize];
        out.write_all(word.as_bytes()).expect("write the generated text");
        written += word.len() as u64 + 1;
        line += word.len() as u64 + 1;
        // Lines of very different lengths, empty ones among them; the last line ends without a line feed.
        if line > chance.below(160) {
            let end: &[u8] = if line % 11 == 0 { b"\n\n" } else { b"\n" };
            out.write_all(end).expect("write the generated text");
            written += end.len() as u64 - 1;
            line = 0;
        } else {
            out.write_all(b" ").expect("write the generated text");
        }
    }
    out.write_all(b"end").expect("write the generated text");
    out.flush().expect("write the generated text");
}

#[test]
fn generated_words_are_all_different() {
    let mut all = words(300_000);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 300_000);
}
