//! Promotes the winners' output when a job is done, and clears away what a failed job left.
//!
//! Attempts write to `<output>/_temporary/<attempt>/` and nowhere else. At the end exactly the winners' files
//! are renamed into `<output>`, `_temporary` is removed and `_SUCCESS` written, in this order, so that a
//! reader who sees `_SUCCESS` sees everything. Every step may be repeated: a file that is no longer in its
//! private place has been promoted before. Source: Hadoop's FileOutputCommitter.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Directory of private output inside the output directory.
const TEMPORARY: &str = "_temporary";

/// Attempts to remove a directory in which something appears meanwhile.
const REMOVE_TRIES: u32 = 10;

/// One job's output and who wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Promotion {
    /// The job's output directory.
    pub(crate) output: PathBuf,
    /// Printed id of each winner and the file name prefix that its task must have left, such as `part-r-00003`.
    pub(crate) winners: Vec<(String, String)>,
    /// `mapreduce.fileoutputcommitter.marksuccessfuljobs`.
    pub(crate) mark_success: bool,
}

/// Output that could not be promoted or cleared away.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    #[error("{action} `{path}`: {source}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("attempt `{attempt}`: its output `{prefix}*` is neither in `{temporary}` nor in `{output}`")]
    Missing { attempt: String, prefix: String, temporary: PathBuf, output: PathBuf },
    #[error("attempt `{attempt}`: `{path}` exists already and belongs to another attempt")]
    Occupied { attempt: String, path: PathBuf },
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CommitError {
    let path = path.to_owned();
    move |source| CommitError::Io { action, path, source }
}

/// Makes the output directory and the place for private output; false when the directory was there before.
pub(crate) fn reserve(output: &Path) -> io::Result<()> {
    if let Some(parent) = output.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(output)?;
    fs::create_dir(output.join(TEMPORARY))
}

/// Promotes the winners.
pub(crate) fn promote(promotion: &Promotion) -> Result<(), CommitError> {
    let output = &promotion.output;
    let temporary = output.join(TEMPORARY);
    let mut unproven: Vec<(&str, &str)> = Vec::new();
    for (attempt, prefix) in &promotion.winners {
        let from = temporary.join(attempt);
        match fs::read_dir(&from) {
            Ok(entries) => {
                let mut found = false;
                for entry in entries {
                    let name = entry.map_err(failed("list", &from))?.file_name();
                    found |= name.to_string_lossy().starts_with(prefix.as_str());
                    promote_file(attempt, &from.join(&name), &output.join(&name))?;
                }
                if !found {
                    unproven.push((attempt, prefix));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => unproven.push((attempt, prefix)),
            Err(e) => return Err(failed("list", &from)(e)),
        }
    }
    check_promoted(&unproven, output, &temporary)?;
    // What is left belongs to losers, and one that still runs may write while it is removed. The output is
    // whole without it, so that is no reason to fail the job: names with an underscore are no output.
    if let Err(e) = remove_tree(&temporary) {
        tracing::warn!(error = %e, "private output of attempts that do not count is left");
    }
    if promotion.mark_success {
        let path = output.join("_SUCCESS");
        fs::File::create(&path).map_err(failed("create", &path))?;
    }
    Ok(())
}

fn promote_file(attempt: &str, from: &Path, to: &Path) -> Result<(), CommitError> {
    // A rename would silently replace another task's file of the same name.
    if to.exists() {
        return Err(CommitError::Occupied { attempt: attempt.to_owned(), path: to.to_owned() });
    }
    fs::rename(from, to).map_err(failed("rename", from))
}

/// Winners without files in their private place must have been promoted before.
fn check_promoted(unproven: &[(&str, &str)], output: &Path, temporary: &Path) -> Result<(), CommitError> {
    if unproven.is_empty() {
        return Ok(());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(output).map_err(failed("list", output))? {
        names.push(entry.map_err(failed("list", output))?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    for &(attempt, prefix) in unproven {
        let at = names.partition_point(|name| name.as_str() < prefix);
        // `part-m-100000` is not the file of task 10000.
        let is_its = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
        if !names[at..].iter().map_while(|name| name.strip_prefix(prefix)).any(is_its) {
            return Err(CommitError::Missing {
                attempt: attempt.to_owned(),
                prefix: prefix.to_owned(),
                temporary: temporary.to_owned(),
                output: output.to_owned(),
            });
        }
    }
    Ok(())
}

/// Clears away what attempts left; the directory too if it was made for the job and nothing else is in it.
pub(crate) fn abort(output: &Path, created: bool) -> Result<(), CommitError> {
    remove_tree(&output.join(TEMPORARY))?;
    if created {
        match fs::remove_dir(output) {
            Err(e) if !matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
                return Err(failed("remove", output)(e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes a directory to which others may still be adding files.
fn remove_tree(path: &Path) -> Result<(), CommitError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match fs::remove_dir_all(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && !path.exists() => return Ok(()),
            Err(e) if tries == REMOVE_TRIES => return Err(failed("remove", path)(e)),
            Err(_) => {}
            Ok(()) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private(output: &Path, attempt: &str, file: &str, text: &str) {
        let dir = output.join(TEMPORARY).join(attempt);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(file), text).unwrap();
    }

    fn promotion(output: &Path) -> Promotion {
        let winner = |attempt: &str, prefix: &str| (attempt.to_owned(), prefix.to_owned());
        Promotion {
            output: output.to_owned(),
            winners: vec![winner("a_0", "part-r-00000"), winner("b_1", "part-r-00001")],
            mark_success: true,
        }
    }

    #[test]
    fn exactly_the_winners_are_promoted_and_it_may_be_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        private(&output, "b_0", "part-r-00001", "zombie");
        private(&output, "b_1", "part-r-00001.gz", "b");
        let promotion = promotion(&output);
        promote(&promotion).unwrap();
        promote(&promotion).unwrap();
        let mut names: Vec<_> = fs::read_dir(&output).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["_SUCCESS", "part-r-00000", "part-r-00001.gz"]);
        assert_eq!(fs::read_to_string(output.join("part-r-00001.gz")).unwrap(), "b");
    }

    #[test]
    fn a_promotion_interrupted_in_the_middle_is_completed() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "b_1", "part-r-00001", "b");
        fs::write(output.join("part-r-00000"), "a").unwrap();
        promote(&promotion(&output)).unwrap();
        assert!(output.join("_SUCCESS").exists() && output.join("part-r-00001").exists());
    }

    #[test]
    fn lost_output_is_an_error_and_not_a_success() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        let error = promote(&promotion(&output)).unwrap_err();
        assert!(matches!(error, CommitError::Missing { .. }), "{error}");
        assert!(!output.join("_SUCCESS").exists());
    }

    #[test]
    fn the_file_of_a_task_with_a_longer_number_is_no_proof() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        fs::write(output.join("part-m-100000"), "").unwrap();
        let winners = vec![("a_0".to_owned(), "part-m-10000".to_owned())];
        let promotion = Promotion { output: output.clone(), winners, mark_success: true };
        assert!(matches!(promote(&promotion), Err(CommitError::Missing { .. })));
        fs::write(output.join("part-m-10000.gz"), "").unwrap();
        promote(&promotion).unwrap();
    }

    #[test]
    fn a_loser_that_still_writes_does_not_fail_the_job() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        private(&output, "b_1", "part-r-00001", "b");
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let zombie = output.join(TEMPORARY).join("z_3");
                let mut n = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = fs::create_dir_all(&zombie);
                    let _ = fs::write(zombie.join((n % 8).to_string()), "z");
                    n += 1;
                }
            });
            let promoted = promote(&promotion(&output));
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            promoted.unwrap();
        });
        assert_eq!(fs::read_to_string(output.join("part-r-00000")).unwrap(), "a");
        assert!(output.join("_SUCCESS").exists());
    }

    #[test]
    fn aborting_removes_only_what_the_job_made() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        abort(&output, true).unwrap();
        assert!(!output.exists());
        abort(&output, true).unwrap();
        reserve(&output).unwrap();
        fs::write(output.join("mine"), "").unwrap();
        abort(&output, true).unwrap();
        assert!(output.join("mine").exists() && !output.join(TEMPORARY).exists());
    }
}
