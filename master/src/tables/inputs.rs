//! Which ranges of files on the machines' own file systems a job's maps read: what is kept in memory of its splits.
//!
//! The rest of a split is for attempts, which have it from the job's file on disk. A split as that file has it would take
//! 104 bytes and its path; most maps share the paths of a few files.

use howdah_core::job::Split;

/// Of a map that reads nothing of the kind.
const NONE: u32 = u32::MAX;

/// What one map reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    offset: u64,
    length: u64,
    /// Index among the files.
    file: u32,
}

const _: () = assert!(std::mem::size_of::<Piece>() <= 24, "a job may have a million of them");

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inputs {
    files: Vec<Box<str>>,
    /// By map; empty if no map reads any.
    pieces: Vec<Piece>,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range<'a> {
    pub(crate) path: &'a str,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Inputs {
    pub(super) fn new(splits: &[Split]) -> Inputs {
        let mut inputs = Inputs::default();
        for (map, split) in splits.iter().enumerate() {
            // No page cache of a worker holds what lies in an HDFS.
            let Split::File { path, offset, length, .. } = split else { continue };
            if !path.starts_with('/') {
                continue;
            }
            // Splits of a file follow each other.
            if inputs.files.last().is_none_or(|last| **last != **path) {
                inputs.files.push(path.as_str().into());
            }
            if inputs.pieces.is_empty() {
                inputs.pieces.reserve_exact(splits.len());
            }
            inputs.pieces.resize(map, Piece { offset: 0, length: 0, file: NONE });
            let file = inputs.files.len() as u32 - 1;
            inputs.pieces.push(Piece { offset: *offset, length: *length, file });
        }
        inputs.files.shrink_to_fit();
        inputs
    }

    /// What a map reads.
    pub(crate) fn get(&self, map: u32) -> Option<Range<'_>> {
        let Piece { offset, length, file } = *self.pieces.get(map as usize)?;
        let path = self.files.get(file as usize)?;
        Some(Range { path, offset, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(path: &str, offset: u64) -> Split {
        Split::File { path: path.to_owned(), offset, length: 7, hosts: vec!["h".to_owned()], file: None }
    }

    #[test]
    fn each_map_has_its_range_and_each_file_its_name_once() {
        let splits = [
            Split::Generated,
            split("/in/a", 0),
            split("/in/a", 7),
            split("hdfs://nn:8020/b", 0),
            split("/in/c", 0),
            Split::Generated,
        ];
        let inputs = Inputs::new(&splits);
        let found: Vec<Option<(&str, u64)>> =
            (0..7).map(|map| inputs.get(map).map(|Range { path, offset, .. }| (path, offset))).collect();
        let wanted = [None, Some(("/in/a", 0)), Some(("/in/a", 7)), None, Some(("/in/c", 0)), None, None];
        assert_eq!((found.as_slice(), inputs.files.len()), (&wanted[..], 2));
        assert_eq!(inputs.get(1).map(|range| range.length), Some(7));
        assert_eq!(Inputs::new(&[Split::Generated, split("hdfs://nn:8020/b", 0)]), Inputs::default());
    }
}
