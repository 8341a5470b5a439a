//! How much of the disk a directory takes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Entries that are looked at: a task may make as many files as it likes.
const MAX_ENTRIES: usize = 200_000;

/// Bytes of the blocks of all files below a directory, without following links; what cannot be read counts as nothing.
pub(super) fn of(path: &Path) -> u64 {
    let mut bytes = 0;
    let mut left = MAX_ENTRIES;
    let mut open = vec![path.to_owned()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(dir) else { continue };
        for entry in entries.flatten() {
            if left == 0 {
                return bytes;
            }
            left -= 1;
            // That of a link is its own.
            let Ok(meta) = entry.metadata() else { continue };
            bytes += meta.blocks() * 512;
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_where_they_lie_and_links_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let (own, other) = (dir.path().join("own"), dir.path().join("other"));
        fs::create_dir_all(own.join("deep/er")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("large"), vec![1; 4 << 20]).unwrap();
        std::os::unix::fs::symlink(&other, own.join("link")).unwrap();
        let empty = of(&own);
        assert!(empty < 1 << 20, "{empty}");
        fs::write(own.join("deep/er/file"), vec![1; 1 << 20]).unwrap();
        // It has a length and no blocks.
        fs::File::create(own.join("hole")).unwrap().set_len(1 << 40).unwrap();
        let one = of(&own) - empty;
        assert!((1 << 20..2 << 20).contains(&one), "{one}");
        assert_eq!(of(&dir.path().join("nowhere")), 0);
    }
}
