//! A folder of job histories, as a History Server keeps them: `done/YYYY/MM/DD/SERIAL/job_….jhist`, thousands of them.
//!
//! Files are read side by side, and make the same trace whatever the number of threads: in the order of their paths. One
//! that does not read is left out and named. The `_conf.xml` beside each completes its job; one that does not read is
//! left out and named too, and its job is what the history tells.

use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use howdah_core::job::profile::Trace;
use howdah_traces::jhist::{self, Configuration};
use howdah_traces::{ImportNotes, TraceBuilder, TraceError, plain};

/// Deeper than a History Server's folders are.
const DEPTH: u32 = 16;
/// Reading is parsing: more threads than cores are of no use, and many cores wait for the disk.
const MOST_THREADS: usize = 16;

/// A file that was left out, and why.
pub(crate) type LeftOut = (PathBuf, TraceError);
type Found = Result<(TraceBuilder, ImportNotes, Vec<LeftOut>), TraceError>;

/// Largest `_conf.xml` that is read: Hadoop's own have about 200 KiB.
const CONF_BYTES: u64 = 16 << 20;

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
            Ok((jobs, found, confs)) => {
                builder.append(jobs);
                notes.extend(found);
                left_out.extend(confs);
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
    let (jobs, left_out) = read_jobs(path, plain(file)?, &mut notes)?;
    Ok((jobs, notes, left_out))
}

/// Reads a history, with the configurations that lie beside the file of this name; also those of them that do not read.
///
/// # Errors
/// As [`jhist::read_jobs`].
pub(crate) fn read_jobs(
    path: &Path,
    source: impl BufRead,
    notes: &mut ImportNotes,
) -> Result<(TraceBuilder, Vec<LeftOut>), TraceError> {
    let mut left_out = Vec::new();
    let mut configuration = |job: &str| {
        let path = path.with_file_name(conf_name(job)?);
        match read_conf(&path) {
            Ok(found) => found,
            Err(error) => {
                left_out.push((path, error));
                None
            }
        }
    };
    let jobs = jhist::read_jobs(source, &mut configuration, notes)?;
    Ok((jobs, left_out))
}

/// The name that Hadoop gives a job's configuration; `None` for what is no job's id, and no file's name for us.
fn conf_name(job: &str) -> Option<String> {
    let (cluster, number) = job.strip_prefix("job_")?.split_once('_')?;
    let digits = |text: &str| (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(cluster) && digits(number)).then(|| format!("{job}_conf.xml"))
}

/// `None` where there is no file, which is nobody's fault.
fn read_conf(path: &Path) -> Result<Option<Configuration>, TraceError> {
    let broken = |source| TraceError::Io { place: "the file".to_owned(), source };
    let other = |found: &str, expected: String| TraceError::Format { found: found.to_owned(), expected };
    // Links are not followed, as in the folder itself.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(broken(error)),
        Ok(meta) if !meta.is_file() => return Err(other("no file", "a job's configuration".to_owned())),
        Ok(_) => (),
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(CONF_BYTES + 1).read_to_end(&mut bytes)).map_err(broken)?;
    if bytes.len() as u64 > CONF_BYTES {
        return Err(other("a larger file", format!("a job's configuration of at most {} MiB", CONF_BYTES >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|_| other("bytes that are not UTF-8", "XML".to_owned()))?;
    Configuration::read(&text).map(Some)
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
    fn the_configuration_beside_a_history_completes_its_job_and_a_damaged_one_is_named() {
        let property =
            |name: &str, value: &str| format!("<property><name>{name}</name><value>{value}</value></property>");
        let conf = |values: &str| format!("<?xml version=\"1.0\"?>\n<configuration>{values}</configuration>");
        let good = property("mapreduce.job.reduce.slowstart.completedmaps", "0.8")
            + &property("howdah.job.deadline.ms", "90000")
            + &property("mapred.fairscheduler.pool", "etl");
        let bomb = "<!DOCTYPE c [<!ENTITY a \"aa\">]><configuration>&a;</configuration>";
        let (second, third) = (GOOD.replace("_0007", "_0008"), GOOD.replace("_0007", "_0009"));
        let folder = folder(&[
            ("01/a.jhist", GOOD),
            ("01/job_1699999999999_0007_conf.xml", &conf(&good)),
            ("02/b.jhist", &second),
            ("02/job_1699999999999_0008_conf.xml", bomb),
            ("03/c.jhist", &third),
        ]);
        let large = folder.path().join("03/job_1699999999999_0009_conf.xml");
        File::create(&large).unwrap().set_len(CONF_BYTES + 1).unwrap();
        let (trace, left_out) = read(folder.path(), &mut ImportNotes::default()).unwrap();
        let told: Vec<_> =
            trace.jobs.iter().map(|job| (job.slowstart_ppm, job.deadline_ms, job.pool.as_str())).collect();
        assert_eq!(told, [(Some(800_000), Some(90_000), "etl"), (None, None, ""), (None, None, "")]);
        assert_eq!(trace.jobs[0].queue, "root.etl");
        let named: Vec<_> =
            left_out.iter().map(|(path, error)| (path.file_name().unwrap(), error.to_string())).collect();
        assert_eq!(named.len(), 2, "{named:?}");
        assert!(named[0].0 == "job_1699999999999_0008_conf.xml" && named[0].1.contains("document type"), "{named:?}");
        assert!(named[1].0 == "job_1699999999999_0009_conf.xml" && named[1].1.contains("at most 16 MiB"), "{named:?}");
    }

    #[test]
    fn a_history_names_no_file_but_its_own_configuration() {
        assert_eq!(conf_name("job_1699999999999_0007").as_deref(), Some("job_1699999999999_0007_conf.xml"));
        for id in ["", "job_1_", "../job_1_2", "job_1_2/../../x", "job_1_2_3", "task_1_2"] {
            assert_eq!(conf_name(id), None, "{id}");
        }
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
