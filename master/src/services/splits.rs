//! From paths and globs to splits.
//!
//! Rules of Hadoop's FileInputFormat: names that start with `_` or `.` are hidden, a file is cut into pieces
//! of the split size until the rest is at most 1.1 of it, compressed files are one split, an empty file is
//! one empty split. Source: MR1 `lib.input.FileInputFormat.getSplits`.
//! `Deviation:` inputs are ordered by path, not by the file system's listing, so that equal inputs give equal
//! jobs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use howdah_core::job::quantity::Bytes;
use howdah_core::job::{FileState, InputFormat, Split};

use super::input_error::{InputError, MAX_FILES};
use super::line_splits::line_splits;
use super::walk::{Cancel, Walk, is_hidden};

/// Hadoop's SPLIT_SLOP, in tenths: the last piece may be so much larger.
const SLOP_TENTHS: u64 = 11;
/// Block size where no property says otherwise.
const DEFAULT_BLOCK_BYTES: u64 = 128 << 20;
/// Endings of compressed files, which cannot be cut.
const COMPRESSED: [&str; 6] = ["gz", "bz2", "zst", "lz4", "xz", "deflate"];

impl InputError {
    /// Advice for the person who submitted it.
    pub(super) fn help(&self) -> Option<&'static str> {
        match self {
            InputError::Missing { .. } | InputError::NoMatch { .. } => {
                Some("paths are read by the master: they must exist on its machine and on every worker's")
            }
            InputError::Nested { .. } => Some("-D mapred.input.dir.recursive=true reads nested directories too"),
            InputError::TooManySplits { .. } => {
                Some("larger splits make fewer maps: -D mapred.min.split.size=…, or raise the master's limit")
            }
            _ => None,
        }
    }
}

/// The splits of a job, at most `max` of them; `host` is where local files lie, empty when unknown.
pub(super) fn splits(
    inputs: &[String],
    format: &InputFormat,
    properties: &BTreeMap<String, String>,
    host: &str,
    max: u32,
    cancel: &Cancel,
) -> Result<Vec<Split>, InputError> {
    let record = match *format {
        InputFormat::Generated { n_maps } => {
            if let Some(path) = inputs.first() {
                return Err(InputError::Unwanted { path: path.clone() });
            }
            if n_maps > max {
                return Err(InputError::TooManySplits { max });
            }
            return Ok(vec![Split::Generated; n_maps as usize]);
        }
        InputFormat::Text => None,
        InputFormat::NLine { lines: 0 } => return Err(InputError::NoLines),
        InputFormat::NLine { .. } => None,
        InputFormat::FixedLength { record_bytes: 0 } => return Err(InputError::EmptyRecords),
        InputFormat::FixedLength { record_bytes } => Some(record_bytes),
    };
    let rule = SplitRule::from_properties(properties)?;
    let recursive = ["mapred.input.dir.recursive", "mapreduce.input.fileinputformat.input.dir.recursive"]
        .iter()
        .any(|key| properties.get(*key).is_some_and(|value| value.trim() == "true"));
    let hosts: Vec<String> = if host.is_empty() { Vec::new() } else { vec![host.to_owned()] };
    let mut splits = Vec::new();
    for (path, file) in files(inputs, recursive, cancel)? {
        let length = file.length;
        if let Some(record) = record
            && length % u64::from(record) != 0
        {
            return Err(InputError::PartialRecord { path, length, record });
        }
        let size = rule.size_for(&path, length, record);
        let text = path.to_str().map(str::to_owned).ok_or_else(|| InputError::Pattern {
            path: path.to_string_lossy().into_owned(),
            problem: "its name is not UTF-8".to_owned(),
        })?;
        let pieces: Box<dyn Iterator<Item = (u64, u64)>> = match *format {
            InputFormat::NLine { lines } if !is_compressed(&path) => {
                let found = line_splits(&path, lines, max as usize, cancel)
                    .map_err(|source| InputError::Io { path: path.clone(), source })?;
                if cancel.is_set() {
                    return Err(InputError::Cancelled);
                }
                Box::new(found.into_iter())
            }
            _ => Box::new(pieces(length, size)),
        };
        for (offset, length) in pieces {
            if splits.len() >= max as usize {
                return Err(InputError::TooManySplits { max });
            }
            splits.push(Split::File { path: text.clone(), offset, length, hosts: hosts.clone(), file: Some(file) });
        }
    }
    Ok(splits)
}

/// Sizes from the properties.
struct SplitRule {
    min: u64,
    max: u64,
    block: u64,
}

impl SplitRule {
    fn from_properties(properties: &BTreeMap<String, String>) -> Result<SplitRule, InputError> {
        let get = |keys: &[&'static str], default: u64| {
            for &key in keys {
                if let Some(value) = properties.get(key) {
                    let size = value.parse().map(|Bytes(n)| n);
                    return size.map_err(|_| InputError::Size { key, value: value.clone() });
                }
            }
            Ok(default)
        };
        let min = get(&["mapred.min.split.size", "mapreduce.input.fileinputformat.split.minsize"], 1)?;
        let max = get(&["mapred.max.split.size", "mapreduce.input.fileinputformat.split.maxsize"], u64::MAX)?;
        let block = get(&["howdah.block.size", "dfs.block.size", "dfs.blocksize"], DEFAULT_BLOCK_BYTES)?;
        Ok(SplitRule { min: min.max(1), max: max.max(1), block: block.max(1) })
    }

    fn size_for(&self, path: &Path, length: u64, record: Option<u32>) -> u64 {
        if is_compressed(path) {
            return length.max(1);
        }
        let size = self.min.max(self.max.min(self.block));
        match record {
            // Whole records, at least one.
            Some(record) => (size / u64::from(record)).max(1).saturating_mul(u64::from(record)),
            None => size,
        }
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|extension| COMPRESSED.contains(&extension))
}

/// Offsets and lengths.
fn pieces(length: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut offset = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let left = length - offset;
        // left / size > 1.1, without floats.
        let take = if left.saturating_mul(10) > size.saturating_mul(SLOP_TENTHS) { size } else { left };
        let piece = (offset, take);
        offset += take;
        done = offset >= length;
        Some(piece)
    })
}

/// The input's files as they are now, by path, each once per mention.
fn files(inputs: &[String], recursive: bool, cancel: &Cancel) -> Result<Vec<(PathBuf, FileState)>, InputError> {
    if inputs.is_empty() {
        return Err(InputError::NoInput);
    }
    let mut files = Vec::new();
    let mut walk = Walk::new(recursive, cancel.clone());
    let mut take = |path: &Path, meta: &fs::Metadata| {
        if files.len() >= MAX_FILES {
            return Err(InputError::TooManyFiles);
        }
        let modified_us = meta.mtime() * 1_000_000 + meta.mtime_nsec() / 1_000;
        files.push((path.to_owned(), FileState { length: meta.len(), modified_us }));
        Ok(())
    };
    for input in inputs {
        if !input.starts_with('/') {
            return Err(InputError::Relative { path: input.clone() });
        }
        let path = Path::new(input);
        if path.exists() {
            walk.files(path, &mut take)?;
        } else if input.contains(['*', '?', '[']) {
            let mut matched = false;
            let pattern = |e: glob::PatternError| InputError::Pattern { path: input.clone(), problem: e.to_string() };
            for found in glob::glob(input).map_err(pattern)? {
                let found = found.map_err(|e| {
                    let path = e.path().to_owned();
                    InputError::Io { path, source: e.error().kind().into() }
                })?;
                if !is_hidden(&found) {
                    walk.files(&found, &mut |path, meta| {
                        matched = true;
                        take(path, meta)
                    })?;
                }
            }
            if !matched {
                return Err(InputError::NoMatch { path: input.clone() });
            }
        } else {
            // "Permission denied" on the way to it is another trouble than a wrong name.
            return Err(match fs::metadata(path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    InputError::Io { path: path.to_owned(), source }
                }
                _ => InputError::Missing { path: input.clone() },
            });
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn lengths(dir: &Path, inputs: &[&str], format: &InputFormat, p: &[(&str, &str)]) -> Result<Vec<u64>, InputError> {
        let inputs: Vec<String> = inputs.iter().map(|i| dir.join(i).to_str().unwrap().to_owned()).collect();
        Ok(splits(&inputs, format, &properties(p), "", 1_000, &Cancel::default())?.iter().map(Split::length).collect())
    }

    #[test]
    fn files_are_cut_at_the_split_size_with_hadoops_slop() {
        assert_eq!(pieces(0, 10).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(pieces(11, 10).collect::<Vec<_>>(), [(0, 11)]);
        assert_eq!(pieces(12, 10).collect::<Vec<_>>(), [(0, 10), (10, 2)]);
        assert_eq!(pieces(31, 10).collect::<Vec<_>>(), [(0, 10), (10, 10), (20, 11)]);
    }

    #[test]
    fn hidden_files_are_skipped_and_compressed_ones_are_one_split() {
        let dir = tempfile::tempdir().unwrap();
        for (name, length) in [("a", 25), ("_SUCCESS", 5), (".crc", 5), ("b.gz", 25)] {
            fs::write(dir.path().join(name), vec![b'x'; length]).unwrap();
        }
        let max = [("mapred.max.split.size", "10")];
        assert_eq!(lengths(dir.path(), &[""], &InputFormat::Text, &max).unwrap(), [10, 10, 5, 25]);
        assert_eq!(lengths(dir.path(), &["*"], &InputFormat::Text, &max).unwrap(), [10, 10, 5, 25]);
        assert_eq!(lengths(dir.path(), &["a"], &InputFormat::Text, &[]).unwrap(), [25]);
        let min = [("mapred.max.split.size", "10"), ("mapred.min.split.size", "1k")];
        assert_eq!(lengths(dir.path(), &["a"], &InputFormat::Text, &min).unwrap(), [25]);
    }

    #[test]
    fn fixed_records_are_never_cut() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), vec![b'x'; 100]).unwrap();
        let format = InputFormat::FixedLength { record_bytes: 20 };
        assert_eq!(lengths(dir.path(), &["a"], &format, &[("howdah.block.size", "50")]).unwrap(), [40, 40, 20]);
        assert_eq!(lengths(dir.path(), &["a"], &format, &[("howdah.block.size", "7")]).unwrap(), [20; 5]);
        let format = InputFormat::FixedLength { record_bytes: 30 };
        assert!(matches!(lengths(dir.path(), &["a"], &format, &[]), Err(InputError::PartialRecord { .. })));
    }

    #[test]
    fn bad_inputs_are_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("d/e")).unwrap();
        fs::write(dir.path().join("d/e/f"), "x").unwrap();
        let text = InputFormat::Text;
        assert!(matches!(lengths(dir.path(), &["none"], &text, &[]), Err(InputError::Missing { .. })));
        assert!(matches!(lengths(dir.path(), &["no*"], &text, &[]), Err(InputError::NoMatch { .. })));
        assert!(matches!(lengths(dir.path(), &["d"], &text, &[]), Err(InputError::Nested { .. })));
        let recursive = [("mapred.input.dir.recursive", "true")];
        assert_eq!(lengths(dir.path(), &["d"], &text, &recursive).unwrap(), [1]);
        assert!(matches!(lengths(dir.path(), &[], &text, &[]), Err(InputError::NoInput)));
        assert!(matches!(
            lengths(dir.path(), &["d/e/f"], &text, &[("howdah.block.size", "-1")]),
            Err(InputError::Size { .. })
        ));
        let relative = splits(&["a".to_owned()], &text, &BTreeMap::new(), "", 9, &Cancel::default());
        assert!(matches!(relative, Err(InputError::Relative { .. })));
        let many = splits(&[], &InputFormat::Generated { n_maps: 10 }, &BTreeMap::new(), "", 9, &Cancel::default());
        assert!(matches!(many, Err(InputError::TooManySplits { max: 9 })));
    }
}
