//! A folder of job histories, as a History Server keeps them: `done/YYYY/MM/DD/SERIAL/job_….jhist`, thousands of them.
//!
//! Files are read side by side, and make the same trace whatever the number of threads: in the order of their paths. One
//! that does not read is left out and named. The `_conf.xml` beside each says nothing that a template needs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use howdah_core::job::profile::Trace;
use howdah_traces::{ImportNotes, TraceBuilder, TraceError, jhist, plain};

/// Deeper than a History Server's folders are.
const DEPTH: u32 = 16;
/// Reading is parsing: more threads than cores are of no use, and many cores wait for the disk.
const MOST_THREADS: usize = 16;

/// A file that was left out, and why.
pub(crate) type LeftOut = (PathBuf, TraceError);
type Found = Result<(TraceBuilder, ImportNotes), TraceError>;

/// Reads all files below `folder` whose name ends in `.jhist` or `.jhist.gz`.
///
/// # Errors
/// When the folder cannot be listed, or no file in it reads.
pub(crate) fn read(folder: &Path, notes: &mut ImportNotes) -> Result<(Trace, Vec<LeftOut>), TraceError> {
    let mut files = Vec::new();
    list(folder, DEPTH, &mut files).map_err(|source| TraceError::Io { place: "the folder".to_owned(), source })?;
    files.sort();
    let mut builder = TraceBuilder::default();
    let mut left_out = Vec::new();
    for (path, found) in files.iter().zip(read_all(&files)) {
        match found {
            Ok((jobs, found)) => {
                builder.append(jobs);
                notes.extend(found);
            }
            Err(error) => left_out.push((path.clone(), error)),
        }
    }
    if builder.is_empty() {
        let found = match left_out.first() {
            None => "no file that ends in `.jhist`".to_owned(),
            Some((path, error)) => format!("none that reads: `{}`, {error}", path.display()),
        };
        return Err(TraceError::Format { found, expected: "job histories".to_owned() });
    }
    // The order of paths is no one's order of submission.
    Ok((builder.finish_sorted("Hadoop job histories (.jhist)"), left_out))
}

fn list(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Links are not followed: nothing is read twice, and nothing in a circle.
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            list(&entry.path(), depth - 1, files)?;
        } else if kind.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".jhist") || name.ends_with(".jhist.gz") {
                files.push(entry.path());
            }
        }
    }
    Ok(())
}

/// In the order of the files.
fn read_all(files: &[PathBuf]) -> Vec<Found> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(at) else { return found };
            found.push((at, read_one(path)));
        }
    };
    let mut found: Vec<(usize, Found)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(MOST_THREADS)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("readers do not panic")).collect()
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, found)| found).collect()
}

fn read_one(path: &Path) -> Found {
    let broken = |source| TraceError::Io { place: "the file".to_owned(), source };
    let file = File::open(path).map_err(broken)?;
    let mut notes = ImportNotes::default();
    let jobs = jhist::read_jobs(plain(file)?, &mut notes)?;
    Ok((jobs, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../../shared/traces/tests/fixtures/small.jhist");

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_makes_the_trace_of_its_files_and_names_those_that_do_not_read() {
        let later = GOOD.replace("_0007", "_0008");
        let folder = folder(&[
            ("2026/01/02/000000/b.jhist", &later),
            ("2026/01/01/000000/a.jhist", GOOD),
            ("2026/01/01/000000/broken.jhist", "not a history\n"),
            ("2026/01/01/000000/a_conf.xml", "<configuration/>"),
        ]);
        let mut notes = ImportNotes::default();
        let (trace, left_out) = read(folder.path(), &mut notes).unwrap();
        // What stands above the mark is no part of a history, and has no place between two.
        let events = &later[later.find("Avro-Json").unwrap()..];
        let one_after_another = format!("{GOOD}\n{events}");
        let expected = jhist::read(one_after_another.as_bytes(), &mut ImportNotes::default()).unwrap();
        assert_eq!(trace.jobs, expected.jobs);
        assert_eq!(trace.jobs.len(), 2);
        assert_eq!(left_out.len(), 1);
        assert!(left_out[0].0.ends_with("2026/01/01/000000/broken.jhist"), "{left_out:?}");
    }

    #[test]
    fn a_folder_in_which_nothing_reads_is_refused_with_the_first_reason() {
        let empty = folder(&[("a_conf.xml", "")]);
        let refused =
            |folder: &tempfile::TempDir| read(folder.path(), &mut ImportNotes::default()).unwrap_err().to_string();
        assert!(refused(&empty).contains("no file that ends in `.jhist`"), "{}", refused(&empty));
        let broken = folder(&[("x.jhist", "nothing\n")]);
        assert!(refused(&broken).contains("x.jhist"), "{}", refused(&broken));
    }
}
