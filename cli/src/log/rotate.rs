//! A file that is put aside when it is full: FILE, FILE.1, …, FILE.keep.
//!
//! By hand: of the crates that do this by size, those that are kept bring a calendar of their own and panic when the
//! folder goes away; a daemon must outlive that. What cannot be written is dropped, and tried again with the next line.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where lines go.
#[derive(Debug)]
pub(super) struct Rotating {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    /// `None` after it could not be opened.
    file: Option<File>,
    bytes: u64,
}

impl Rotating {
    /// Goes on with a file that is there.
    ///
    /// # Errors
    /// When the file or its folder cannot be made.
    pub(super) fn open(path: &Path, max_bytes: u64, keep: u32) -> io::Result<Rotating> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut rotating = Rotating { path: path.to_owned(), max_bytes, keep, file: None, bytes: 0 };
        rotating.reopen()?;
        Ok(rotating)
    }

    fn reopen(&mut self) -> io::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        self.bytes = file.metadata()?.len();
        self.file = Some(file);
        Ok(())
    }

    fn aside(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    fn put_aside(&mut self) {
        self.file = None;
        // One that is not there, or cannot be moved, is no reason to stop.
        for number in (1..self.keep).rev() {
            let _ = fs::rename(self.aside(number), self.aside(number + 1));
        }
        let _ = if self.keep == 0 { fs::remove_file(&self.path) } else { fs::rename(&self.path, self.aside(1)) };
    }
}

impl Write for Rotating {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.bytes > 0 && self.bytes.saturating_add(line.len() as u64) > self.max_bytes {
            self.put_aside();
        }
        if self.file.is_none() {
            self.reopen()?;
        }
        let Some(file) = &mut self.file else { return Ok(line.len()) };
        let outcome = file.write_all(line);
        match outcome {
            Ok(()) => self.bytes += line.len() as u64,
            // Opened anew for the next line.
            Err(_) => self.file = None,
        }
        outcome.map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = fs::read_dir(folder)
            .expect("the folder")
            .flatten()
            .map(|entry| {
                (entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path()).expect("text"))
            })
            .collect();
        files.sort();
        files
    }

    fn named(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn full_files_are_put_aside_in_whole_lines_and_the_oldest_goes() {
        let folder = tempfile::tempdir().expect("make a folder");
        let mut log = Rotating::open(&folder.path().join("log"), 8, 2).expect("open it");
        for line in ["aaa\n", "bbb\n", "ccc\n", "ddd\n", "eee\n", "fff\n", "ggg\n"] {
            log.write_all(line.as_bytes()).expect("write a line");
        }
        assert_eq!(read(folder.path()), named(&[("log", "ggg\n"), ("log.1", "eee\nfff\n"), ("log.2", "ccc\nddd\n")]));
    }

    #[test]
    fn a_daemon_that_starts_again_goes_on_with_its_file() {
        let folder = tempfile::tempdir().expect("make a folder");
        let path = folder.path().join("log");
        for line in ["aaa\n", "bbb\n", "ccc\n"] {
            let mut log = Rotating::open(&path, 8, 1).expect("open it");
            log.write_all(line.as_bytes()).expect("write a line");
        }
        assert_eq!(read(folder.path()), named(&[("log", "ccc\n"), ("log.1", "aaa\nbbb\n")]));
    }

    #[test]
    fn a_line_longer_than_a_file_is_written_and_without_any_to_keep_none_is_kept() {
        let folder = tempfile::tempdir().expect("make a folder");
        let mut log = Rotating::open(&folder.path().join("log"), 4, 0).expect("open it");
        for line in ["a\n", "much too long\n", "b\n"] {
            log.write_all(line.as_bytes()).expect("write a line");
        }
        assert_eq!(read(folder.path()), named(&[("log", "b\n")]));
    }

    #[test]
    fn a_folder_that_goes_away_costs_lines_and_nothing_else() {
        let folder = tempfile::tempdir().expect("make a folder");
        let path = folder.path().join("logs/log");
        let mut log = Rotating::open(&path, 4, 1).expect("open it");
        log.write_all(b"aaaa").expect("write a line");
        fs::remove_dir_all(folder.path().join("logs")).expect("take the folder away");
        assert!(log.write_all(b"bbbb").is_err(), "there is no place for it");
        fs::create_dir(folder.path().join("logs")).expect("bring it back");
        log.write_all(b"cccc").expect("write a line");
        assert_eq!(fs::read_to_string(path).expect("text"), "cccc");
    }
}
