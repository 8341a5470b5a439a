//! How files become splits: pure arithmetic, so that the master computes what tasks expect.
//!
//! Source: MR1 FileInputFormat.getSplits: split size = max(minimum, min(maximum, block size)), and a last split may
//! be up to a tenth larger than the others rather than leave a tiny one (`SPLIT_SLOP`). Compressed files are one
//! split, as their records cannot be found from the middle.

use super::Split;

/// Where a stretch of a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// Host names that hold it.
    pub hosts: Vec<String>,
}

/// `mapred.min.split.size` ≤ block size ≤ `mapred.max.split.size`, the minimum winning; at least 1.
pub fn split_size(block: u64, minimum: u64, maximum: u64) -> u64 {
    block.min(maximum).max(minimum).max(1)
}

/// Whether a file of this name may be split: not when its suffix says that it is compressed
/// (`.gz`, `.bz2`, `.zst`).
pub fn is_splittable(path: &str) -> bool {
    !["gz", "bz2", "zst"].iter().any(|suffix| path.rsplit_once('.').is_some_and(|(_, found)| found == *suffix))
}

/// The stretches `(offset, length)` of a file of `length` bytes, in order and without gaps; one empty stretch for an
/// empty file, as Hadoop makes a map for it. `split_size` of 0 counts as 1.
pub fn stretches(length: u64, split_size: u64, splittable: bool) -> Vec<(u64, u64)> {
    let size = split_size.max(1);
    let mut found = Vec::new();
    let mut rest = length;
    while splittable && u128::from(rest) * 10 > u128::from(size) * 11 {
        found.push((length - rest, size));
        rest -= size;
    }
    if rest > 0 || length == 0 {
        found.push((length - rest, rest));
    }
    found
}

/// The splits of one file. `blocks` are in order of offset and may be empty (places unknown); a split is where the
/// block of its first byte is.
pub fn splits_of(path: &str, length: u64, split_size: u64, blocks: &[BlockPlace]) -> Vec<Split> {
    let place = |offset: u64| {
        let block = blocks.iter().find(|b| offset >= b.offset && offset - b.offset < b.length);
        block.map(|b| b.hosts.clone()).unwrap_or_default()
    };
    stretches(length, split_size, is_splittable(path))
        .into_iter()
        .map(|(offset, length)| Split::File { path: path.to_owned(), offset, length, hosts: place(offset), file: None })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_split_may_be_a_tenth_larger() {
        assert_eq!(stretches(110, 100, true), [(0, 110)]);
        assert_eq!(stretches(111, 100, true), [(0, 100), (100, 11)]);
        assert_eq!(stretches(310, 100, true), [(0, 100), (100, 100), (200, 110)]);
        assert_eq!(stretches(300, 100, true), [(0, 100), (100, 100), (200, 100)]);
    }

    #[test]
    fn small_empty_and_compressed_files_are_one_split() {
        assert_eq!(stretches(0, 100, true), [(0, 0)]);
        assert_eq!(stretches(1, 100, true), [(0, 1)]);
        assert_eq!(stretches(1 << 40, 100, false), [(0, 1 << 40)]);
        assert_eq!(stretches(3, 0, true), [(0, 1), (1, 1), (2, 1)]);
        assert!(is_splittable("/a.gz/b.txt") && is_splittable("gz"));
        assert!(!is_splittable("/a/b.gz") && !is_splittable("b.bz2") && !is_splittable("b.zst"));
    }

    #[test]
    fn a_split_is_where_its_first_byte_is() {
        let block = |offset, host: &str| BlockPlace { offset, length: 64, hosts: vec![host.to_owned()] };
        let splits = splits_of("/t", 128, 50, &[block(0, "a"), block(64, "b")]);
        let hosts: Vec<String> = splits
            .iter()
            .map(|s| match s {
                Split::File { hosts, .. } => hosts.join(","),
                Split::Generated => String::new(),
            })
            .collect();
        assert_eq!(hosts, ["a", "a", "b"]);
    }

    #[test]
    fn the_minimum_split_size_wins() {
        assert_eq!(split_size(64, 1, u64::MAX), 64);
        assert_eq!(split_size(64, 1, 16), 16);
        assert_eq!(split_size(64, 100, 16), 100);
        assert_eq!(split_size(0, 0, 0), 1);
    }
}
