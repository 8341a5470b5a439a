//! The fixed baseline of `bench wordcount`: what a careful programmer writes by hand for one file on one machine.
//!
//! The file is memory-mapped and cut in two at white space; each thread counts its half in a `hashbrown` map with
//! foldhash, keys borrowed from the mapping; the smaller map is merged into the larger, the words are sorted and
//! written. Do not tune it any more: old figures must stay comparable.

use std::fs::File;
use std::io::{BufWriter, Write};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use memmap2::Mmap;

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

type Counts<'a> = HashMap<&'a [u8], u64, FixedState>;

/// `howdah bench baseline-wordcount FILE OUT`
pub(crate) fn main(args: &[String]) -> Outcome {
    let [input, output] = args else { return Err(Failure::usage("expected FILE and OUT")) };
    let file = File::open(input)?;
    #[expect(unsafe_code, reason = "the benchmark made the file for itself and nobody changes it meanwhile")]
    // SAFETY: the mapping is read only and the file is not truncated while it lives.
    let text = unsafe { Mmap::map(&file)? };
    let middle = split_point(&text, text.len() / 2);
    let (first, second) = text.split_at(middle);
    let (mut all, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| count(second));
        (count(first), other.join())
    });
    let mut other = other.map_err(|_| Failure::broke("a counting thread panicked"))?;
    if other.len() > all.len() {
        std::mem::swap(&mut all, &mut other);
    }
    for (word, n) in other {
        *all.entry(word).or_insert(0) += n;
    }
    write(all, output)?;
    Ok(Exit::Done)
}

fn count(text: &[u8]) -> Counts<'_> {
    let mut counts = Counts::with_capacity_and_hasher(1 << 18, FixedState::default());
    let mut start = 0;
    for (at, byte) in text.iter().enumerate() {
        if is_space(*byte) {
            if at > start {
                *counts.entry(&text[start..at]).or_insert(0) += 1;
            }
            start = at + 1;
        }
    }
    if start < text.len() {
        *counts.entry(&text[start..]).or_insert(0) += 1;
    }
    counts
}

/// As Java's StringTokenizer splits.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

fn split_point(text: &[u8], from: usize) -> usize {
    text[from..].iter().position(|byte| is_space(*byte)).map_or(text.len(), |n| from + n)
}

fn write(counts: Counts<'_>, path: &str) -> Outcome<()> {
    let mut words: Vec<(&[u8], u64)> = counts.into_iter().collect();
    words.sort_unstable();
    let mut out = BufWriter::new(File::create(path)?);
    for (word, n) in words {
        out.write_all(word)?;
        writeln!(out, "\t{n}")?;
    }
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_written_in_order() {
        let dir = tempfile::tempdir().expect("a directory");
        let (input, output) = (dir.path().join("in"), dir.path().join("out"));
        std::fs::write(&input, "b a\tb\n\nc  a b").expect("written");
        main(&[input.display().to_string(), output.display().to_string()]).expect("counted");
        assert_eq!(std::fs::read_to_string(output).expect("read"), "a\t2\nb\t3\nc\t1\n");
    }
}
