//! From what `--input` says to files: a file, a directory's files, or a glob. Names that begin with `_` or `.` are
//! hidden, as in Hadoop. Directories are read with all that is below them: a job that would not do so refuses
//! nested ones anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files that the inputs name, in order; those of a directory or glob sorted by name.
///
/// # Errors
/// The path and what the system said of it; an input that names nothing is an error.
pub(crate) fn files<S: AsRef<str>>(inputs: &[S]) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files = Vec::new();
    for input in inputs {
        let path = Path::new(input.as_ref());
        if path.exists() {
            add(path, &mut files)?;
            continue;
        }
        let missing = || (path.to_owned(), io::Error::new(io::ErrorKind::NotFound, "no such file, directory or match"));
        let matches = glob::glob(input.as_ref()).map_err(|_| missing())?;
        let mut n_found = 0;
        for found in matches {
            add(&found.map_err(|error| (error.path().to_owned(), error.into()))?, &mut files)?;
            n_found += 1;
        }
        if n_found == 0 {
            return Err(missing());
        }
    }
    Ok(files)
}

fn add(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in visible(path).map_err(|error| (path.to_owned(), error))? {
        add(&entry, files)?;
    }
    Ok(())
}

/// The files and directories in a directory that are not hidden, sorted by name.
pub(crate) fn visible(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().first().is_some_and(|byte| b"_.".contains(byte));
        if !hidden {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_globs_give_visible_files_in_order() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(dir.path().join("d")).expect("a directory");
        for name in ["b", "d/c", "a", "_SUCCESS", ".crc"] {
            fs::write(dir.path().join(name), name).expect("a small file");
        }
        let whole = dir.path().to_str().expect("UTF-8").to_owned();
        let expected = ["a", "b", "d/c"].map(|name| dir.path().join(name));
        assert_eq!(files(&[&whole]).expect("there"), expected);
        assert_eq!(files(&[format!("{whole}/[ab]")]).expect("there"), expected[..2]);
        assert_eq!(
            files(&[format!("{whole}/d*"), format!("{whole}/b")]).expect("there"),
            [&expected[2], &expected[1]].map(Clone::clone)
        );
        assert_eq!(files(&[format!("{whole}/c*")]).expect_err("nothing").1.kind(), io::ErrorKind::NotFound);
    }
}
