//! What a job's output has to be, computed without any of howdah's code.

use std::collections::HashMap;
use std::path::Path;

use foldhash::fast::RandomState;

/// Hadoop's hash of a key's bytes, `31 * h + signed byte` from 1, and its partition among `n`.
pub(crate) fn partition(key: &[u8], n: u32) -> u32 {
    let hash = key.iter().fold(1_i32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8)));
    (hash & i32::MAX) as u32 % n
}

/// Words between blanks, tabs and line ends with their numbers.
pub(crate) fn count_words(text: &[u8]) -> HashMap<&[u8], u64, RandomState> {
    let mut counts = HashMap::default();
    for word in text.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

/// The part files of a word count with `n_reduces` reduces.
pub(crate) fn word_count_parts(text: &[u8], n_reduces: u32) -> Vec<Vec<u8>> {
    let mut counts: Vec<(&[u8], u64)> = count_words(text).into_iter().collect();
    counts.sort_unstable();
    let mut parts = vec![Vec::new(); n_reduces as usize];
    for (word, count) in counts {
        let part = &mut parts[partition(word, n_reduces) as usize];
        part.extend_from_slice(word);
        part.extend_from_slice(format!("\t{count}\n").as_bytes());
    }
    parts
}

/// The single part file of Hadoop's grep: matches by falling number, then by their bytes.
pub(crate) fn grep_part(text: &[u8], pattern: &str) -> Vec<u8> {
    let pattern = regex::bytes::Regex::new(pattern).expect("a pattern");
    let mut counts: HashMap<&[u8], u64, RandomState> = HashMap::default();
    for line in text.split(|&b| b == b'\n') {
        for found in pattern.find_iter(line) {
            *counts.entry(found.as_bytes()).or_insert(0) += 1;
        }
    }
    let mut counts: Vec<(&[u8], u64)> = counts.into_iter().collect();
    counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut part = Vec::new();
    for (found, count) in counts {
        part.extend_from_slice(format!("{count}\t").as_bytes());
        part.extend_from_slice(found);
        part.push(b'\n');
    }
    part
}

/// Contents of `part-r-…` (or `part-m-…`) in `folder`, in order; panics unless `_SUCCESS` is there.
#[track_caller]
pub(crate) fn read_parts(folder: &Path) -> Vec<Vec<u8>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("list `{}`: {error}", folder.display()))
        .map(|entry| entry.expect("list the output").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.iter().any(|name| name == "_SUCCESS"), "`{}` holds {names:?}", folder.display());
    assert!(!names.iter().any(|name| name == "_temporary"), "`{}` holds {names:?}", folder.display());
    names.retain(|name| name.starts_with("part-"));
    names.iter().map(|name| std::fs::read(folder.join(name)).expect("read a part file")).collect()
}

/// Compares part file by part file and names the first difference without printing megabytes.
#[track_caller]
pub(crate) fn assert_same_parts(found: &[Vec<u8>], expected: &[Vec<u8>], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: number of part files");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        if found != expected {
            let at = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(found.len().min(expected.len()));
            let near = |bytes: &[u8]| {
                String::from_utf8_lossy(&bytes[at.saturating_sub(40)..(at + 40).min(bytes.len())]).into_owned()
            };
            panic!(
                "{what}: part file {index} differs at byte {at} (lengths {} and {}): found {:?}, expected {:?}",
                found.len(),
                expected.len(),
                near(found),
                near(expected)
            );
        }
    }
}

#[test]
fn partitions_are_hadoops() {
    // `new Text("hadoop").hashCode()` and its partition among 7, by the rule written out by hand.
    let hash = b"hadoop".iter().fold(1_i64, |hash, &byte| (hash * 31 + i64::from(byte)) % (1 << 32));
    let signed = (hash as u32) as i32;
    assert_eq!(partition(b"hadoop", 7), ((i64::from(signed) & 0x7fff_ffff) % 7) as u32);
    assert_eq!(partition(b"", 7), 1);
}
