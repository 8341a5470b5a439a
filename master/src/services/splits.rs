//! From paths and globs to splits.
//!
//! Rules of Hadoop's FileInputFormat, the new one, and of the old one where a number of maps is wished for: names that start with `_` or `.` are hidden, a file is cut into pieces
//! of the split size until the rest is at most 1.1 of it, compressed files are one split, an empty file is
//! one empty split. Source: MR1 `lib.input.FileInputFormat.getSplits`, `mapred.FileInputFormat.getSplits`.
//! `Deviation:` inputs are ordered by path, not by the file system's listing, so that equal inputs give equal
//! jobs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use howdah_core::job::quantity::Bytes;
use howdah_core::job::{FileState, InputFormat, Split};
use howdah_webhdfs::{Block, RemotePath};

use super::input_error::{
    InputError, MAX_FILES, NAME_NODE_HELP, NAME_NODES_HELP, S3_BUILD_HELP, S3_TROUBLE_HELP, S3_WHERE_HELP, S3_WHO_HELP,
};
use super::line_splits::{line_splits, line_splits_of};
use super::remote_files::{Listing, RemoteFile};
use super::remote_store::RemoteError;
use super::walk::{Cancel, Walk, is_hidden};
use crate::name_nodes::NameNodes;

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
            InputError::TooManySplits { .. } => Some(
                "larger splits make fewer maps: -D mapred.min.split.size=…; `tasks_per_job` in [master.limits] allows more",
            ),
            InputError::NoNameNode { .. } => Some(NAME_NODES_HELP),
            InputError::Remote { source: RemoteError::S3(error), .. } => store_help(error),
            _ if self.is_trouble() => Some(NAME_NODE_HELP),
            _ => None,
        }
    }

    /// Whether who was asked gave no answer that says anything of the input.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            InputError::TooSlow { .. } => true,
            InputError::Remote { source, .. } => source.is_trouble(),
            _ => false,
        }
    }
}

/// Advice to who names a bucket.
pub(super) fn store_help(error: &howdah_s3::Error) -> Option<&'static str> {
    use howdah_s3::{Error, StoreError};
    match error {
        Error::NotBuilt => Some(S3_BUILD_HELP),
        Error::Store(StoreError::Nobody | StoreError::Secret { .. }) => Some(S3_WHO_HELP),
        Error::Store(StoreError::Elsewhere { .. }) => Some(S3_WHERE_HELP),
        Error::Unreached { .. } => Some(S3_TROUBLE_HELP),
        _ => None,
    }
}

/// Where a job's input may lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'a> {
    /// Where local files lie; empty when unknown.
    pub(super) host: &'a str,
    /// The HDFS that may be read.
    pub(super) nodes: &'a NameNodes,
    /// As whom.
    pub(super) user: &'a str,
}

/// A file to be cut.
struct Input {
    /// As splits name it.
    path: String,
    state: FileState,
    remote: Option<RemoteFile>,
}

/// The splits of a job, at most `max` of them. So many are `wished` for, if that counts: then none is larger than that part of
/// the whole input, unless a property says how small they may be.
pub(super) fn splits(
    inputs: &[String],
    format: &InputFormat,
    properties: &BTreeMap<String, String>,
    places: Places<'_>,
    max: u32,
    wished: Option<u64>,
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
    let mut rule = SplitRule::from_properties(properties)?;
    let recursive = ["mapred.input.dir.recursive", "mapreduce.input.fileinputformat.input.dir.recursive"]
        .iter()
        .any(|key| properties.get(*key).is_some_and(|value| value.trim() == "true"));
    let here: Vec<String> = if places.host.is_empty() { Vec::new() } else { vec![places.host.to_owned()] };
    let mut listing = Listing::new(places.nodes, places.user, recursive, cancel);
    let mut splits = Vec::new();
    let files = files(inputs, recursive, &mut listing, cancel)?;
    if let Some(wished) = wished {
        let all: u64 = files.iter().fold(0, |sum, file| sum.saturating_add(file.state.length));
        rule.max = rule.max.min(all / wished.max(1)).max(1);
    }
    for Input { path, state, remote } in files {
        let length = state.length;
        if let Some(record) = record
            && length % u64::from(record) != 0
        {
            return Err(InputError::PartialRecord { path: path.into(), length, record });
        }
        let size = rule.size_for(path.as_ref(), length, record, remote.as_ref().and_then(|file| file.block));
        let blocks = remote.as_ref().map_or(Ok(Vec::new()), |file| listing.blocks(file))?;
        let pieces: Box<dyn Iterator<Item = (u64, u64)>> = match *format {
            InputFormat::NLine { lines } if !is_compressed(path.as_ref()) => {
                let found = match &remote {
                    Some(file) => lines_of(file, lines, max as usize, &mut listing, cancel)?,
                    None => line_splits(path.as_ref(), lines, max as usize, cancel)
                        .map_err(|source| InputError::Io { path: path.clone().into(), source })?,
                };
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
            let hosts = if remote.is_some() { listing.kept(hosts_of(&blocks, offset)) } else { here.clone() };
            splits.push(Split::File { path: path.clone(), offset, length, hosts, file: Some(state) });
        }
    }
    Ok(splits)
}

/// Who has the block in which a split begins. Source: MR1 `lib.input.FileInputFormat.getSplits`.
fn hosts_of(blocks: &[Block], offset: u64) -> Vec<String> {
    let before = blocks.partition_point(|block| block.offset <= offset);
    let block = before.checked_sub(1).map(|last| &blocks[last]);
    block.filter(|block| offset - block.offset < block.length).map(|block| block.hosts.clone()).unwrap_or_default()
}

/// The lines of a file that lies elsewhere, which the master has to read for it.
fn lines_of(
    file: &RemoteFile,
    lines: u32,
    most: usize,
    listing: &mut Listing<'_>,
    cancel: &Cancel,
) -> Result<Vec<(u64, u64)>, InputError> {
    let RemoteFile { path, state, .. } = file;
    let reader = listing.client(path)?.read(path, state.length);
    let until = listing.until();
    let is_late = || Instant::now() > until;
    let found = line_splits_of(reader, lines, most, || cancel.is_set() || is_late())
        .map_err(|source| InputError::Io { path: path.to_string().into(), source })?;
    if is_late() { Err(InputError::TooSlow { path: path.to_string() }) } else { Ok(found) }
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

    /// Bytes of a split of this file; `block` where its file system says how long its blocks are.
    fn size_for(&self, path: &Path, length: u64, record: Option<u32>, block: Option<u64>) -> u64 {
        if is_compressed(path) {
            return length.max(1);
        }
        let size = self.min.max(self.max.min(block.unwrap_or(self.block)));
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
fn files(
    inputs: &[String],
    recursive: bool,
    listing: &mut Listing<'_>,
    cancel: &Cancel,
) -> Result<Vec<Input>, InputError> {
    if inputs.is_empty() {
        return Err(InputError::NoInput);
    }
    let mut files = Vec::new();
    let mut add = |file: Input| {
        if files.len() >= MAX_FILES {
            return Err(InputError::TooManyFiles);
        }
        files.push(file);
        Ok(())
    };
    let mut walk = Walk::new(recursive, cancel.clone());
    for input in inputs {
        if RemotePath::is_one(input) {
            listing.files(input, &mut |file| {
                add(Input { path: file.path.to_string(), state: file.state, remote: Some(file) })
            })?;
        } else {
            local_files(input, &mut walk, &mut add)?;
        }
    }
    Ok(files)
}

/// The files of this machine that an input names.
fn local_files(
    input: &str,
    walk: &mut Walk,
    add: &mut dyn FnMut(Input) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut take = |path: &Path, meta: &fs::Metadata| {
        let modified_us = meta.mtime() * 1_000_000 + meta.mtime_nsec() / 1_000;
        let text = path.to_str().map(str::to_owned).ok_or_else(|| InputError::Pattern {
            path: path.to_string_lossy().into_owned(),
            problem: "its name is not UTF-8".to_owned(),
        })?;
        add(Input { path: text, state: FileState { length: meta.len(), modified_us }, remote: None })
    };
    if !input.starts_with('/') {
        return Err(InputError::Relative { path: input.to_owned() });
    }
    let path = Path::new(input);
    if path.exists() {
        return walk.files(path, &mut take);
    }
    if !input.contains(['*', '?', '[']) {
        // "Permission denied" on the way to it is another trouble than a wrong name.
        return Err(match fs::metadata(path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                InputError::Io { path: path.to_owned(), source }
            }
            _ => InputError::Missing { path: input.to_owned() },
        });
    }
    let mut matched = false;
    let pattern = |e: glob::PatternError| InputError::Pattern { path: input.to_owned(), problem: e.to_string() };
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
    if matched { Ok(()) } else { Err(InputError::NoMatch { path: input.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn here() -> Places<'static> {
        static NONE: std::sync::LazyLock<NameNodes> = std::sync::LazyLock::new(NameNodes::default);
        Places { host: "", nodes: &NONE, user: "ann" }
    }

    fn lengths(dir: &Path, inputs: &[&str], format: &InputFormat, p: &[(&str, &str)]) -> Result<Vec<u64>, InputError> {
        let inputs: Vec<String> = inputs.iter().map(|i| dir.join(i).to_str().unwrap().to_owned()).collect();
        let splits = splits(&inputs, format, &properties(p), here(), 1_000, None, &Cancel::default())?;
        Ok(splits.iter().map(Split::length).collect())
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

    /// By hand: a split is `max(minimum, min(all ÷ wished, block))` long, of whichever file, and the last one up to a tenth longer.
    #[test]
    fn a_wish_for_maps_bounds_splits_by_their_part_of_the_whole_input() {
        let dir = tempfile::tempdir().unwrap();
        for (name, length) in [("k", 50), ("l", 25), ("m.gz", 25), ("n", 0)] {
            fs::write(dir.path().join(name), vec![b'x'; length]).unwrap();
        }
        let wish = |names: &[&str], wished: u64, p: &[(&str, &str)]| {
            let inputs: Vec<String> = names.iter().map(|i| dir.path().join(i).to_str().unwrap().to_owned()).collect();
            let made =
                splits(&inputs, &InputFormat::Text, &properties(p), here(), 1_000, Some(wished), &Cancel::default());
            made.unwrap().iter().map(Split::length).collect::<Vec<_>>()
        };
        // 50 ÷ 3 is 16; 18 are left of three, which is more than 1.1 × 16. Hadoop 3.3.4 says the same.
        assert_eq!(wish(&["k"], 3, &[]), [16, 16, 16, 2]);
        // 50 ÷ 2; and a tenth more is not cut off: 50 ÷ 4 is 12, and 14 are more than 13.2.
        assert_eq!(wish(&["k"], 2, &[]), [25, 25]);
        assert_eq!(wish(&["k"], 4, &[]), [12, 12, 12, 12, 2]);
        // 75 ÷ 3 of both files; 27 of the first are no more than 1.1 × 25.
        assert_eq!(wish(&["k", "l"], 3, &[]), [25, 25, 25]);
        // One that is not cut counts as well: 100 ÷ 5 is 20, and of 25 bytes 5 are left.
        assert_eq!(wish(&["k", "l", "m.gz", "n"], 5, &[]), [20, 20, 10, 20, 5, 25, 0]);
        // No more than a block, and no less than the smallest size, which counts more than the wish.
        assert_eq!(wish(&["k"], 1, &[("dfs.block.size", "20")]), [20, 20, 10]);
        assert_eq!(wish(&["k"], 10, &[("mapred.min.split.size", "30")]), [30, 20]);
        assert_eq!(wish(&["k"], 0, &[]), [50]);
        // More maps than bytes: a byte each.
        assert_eq!(wish(&["l"], 99, &[]), [1; 25]);
        assert_eq!(wish(&["n"], 7, &[]), [0]);
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
        let relative = splits(&["a".to_owned()], &text, &BTreeMap::new(), here(), 9, None, &Cancel::default());
        assert!(matches!(relative, Err(InputError::Relative { .. })));
        let many =
            splits(&[], &InputFormat::Generated { n_maps: 10 }, &BTreeMap::new(), here(), 9, None, &Cancel::default());
        assert!(matches!(many, Err(InputError::TooManySplits { max: 9 })));
    }

    #[test]
    fn a_file_of_an_hdfs_is_cut_at_its_blocks_and_each_split_is_where_its_first_byte_is() {
        let hdfs = howdah_webhdfs::fake::FakeHdfs::start(3);
        hdfs.put("/in/f", "0123\n".repeat(13), 20);
        let table = BTreeMap::from([("nn:9000".to_owned(), format!("http://{}", hdfs.address()))]);
        let nodes: NameNodes = table.try_into().unwrap();
        let places = Places { nodes: &nodes, ..here() };
        let inputs = ["hdfs://nn:9000/in".to_owned()];
        let cut = |format: &InputFormat, p: &[(&str, &str)]| {
            let splits = splits(&inputs, format, &properties(p), places, 99, None, &Cancel::default()).unwrap();
            let part = |split: &Split| match split {
                Split::File { path, offset, length, hosts, file } => {
                    assert_eq!((path.as_str(), file.unwrap().length), ("hdfs://nn:9000/in/f", 65));
                    format!("{offset}+{length} {}", hosts.join(","))
                }
                Split::Generated => panic!("it has a file"),
            };
            splits.iter().map(part).collect::<Vec<_>>()
        };
        let blocks = ["0+20 127.0.0.2", "20+20 127.0.0.3", "40+20 127.0.0.4", "60+5 127.0.0.2"];
        assert_eq!(cut(&InputFormat::Text, &[]), blocks);
        // What this cluster would write has nothing to do with what is there.
        assert_eq!(cut(&InputFormat::Text, &[("dfs.blocksize", "64m")]), blocks);
        assert_eq!(
            cut(&InputFormat::Text, &[("mapred.min.split.size", "30")]),
            ["0+30 127.0.0.2", "30+30 127.0.0.3", "60+5 127.0.0.2"]
        );
        assert_eq!(cut(&InputFormat::NLine { lines: 8 }, &[]), ["0+40 127.0.0.2", "40+25 127.0.0.4"]);
        assert_eq!(cut(&InputFormat::FixedLength { record_bytes: 13 }, &[]).len(), 5);
    }
}
