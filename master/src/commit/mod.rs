//! Promotes the winners' output when a job is done, and clears away what a failed job left.
//!
//! Attempts write to `<output>/_temporary/<attempt>/` and nowhere else. At the end exactly the winners' files
//! are renamed into `<output>`, `_temporary` is removed and `_SUCCESS` written, in this order, so that a
//! reader who sees `_SUCCESS` sees everything. Every step may be repeated: a file that is no longer in its
//! private place has been promoted before. A promotion that fails takes back what it promoted. Nothing that a task
//! put there is followed or replaced: see `folder`. Source: Hadoop's FileOutputCommitter.

mod folder;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use folder::{Folder, Kind, begins};
use howdah_core::job::OUTPUT_MARK;
use howdah_guards::Guard;

/// Directory of private output inside the output directory.
const TEMPORARY: &str = "_temporary";
/// Says that all of the output is there.
const SUCCESS: &str = "_SUCCESS";

/// One job's output and who wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Promotion {
    /// The job's output directory.
    pub(crate) output: PathBuf,
    /// Printed id of each winner and the file name prefix that its task must have left, such as `part-r-00003`.
    pub(crate) winners: Vec<(String, String)>,
    /// Whether a winner that wrote nothing has no file ([`LAZY_OUTPUT`](howdah_core::job::LAZY_OUTPUT)).
    pub(crate) is_lazy: bool,
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
    #[error("attempt `{attempt}`: `{path}` is {kind}, expected a file or a directory")]
    Special { attempt: String, path: PathBuf, kind: &'static str },
    #[error("attempt `{attempt}`: `{path}` is a reserved name")]
    Reserved { attempt: String, path: PathBuf },
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CommitError {
    let path = path.to_owned();
    move |source| CommitError::Io { action, path, source }
}

/// Makes the output directory and the place for private output; an error when the directory was there before.
pub(crate) fn reserve(output: &Path) -> io::Result<()> {
    if let Some(parent) = output.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(output)?;
    Folder::open(output)?.make_folder(TEMPORARY)
}

/// Leaves the job's mark where attempts look for it.
pub(crate) fn mark(output: &Path, job: &str) -> io::Result<()> {
    fs::write(output.join(OUTPUT_MARK), format!("{job}\n"))
}

/// Promotes the winners; what it promoted is gone again if it fails.
pub(crate) fn promote(promotion: &Promotion) -> Result<(), CommitError> {
    let output = &promotion.output;
    let folder = Folder::open(output).map_err(failed("open", output))?;
    let mut moved = Vec::new();
    let promoted = promote_into(&folder, promotion, &mut moved);
    if promoted.is_err() {
        take_back(&folder, promotion, &moved);
    }
    promoted
}

fn promote_into(folder: &Folder, promotion: &Promotion, moved: &mut Vec<OsString>) -> Result<(), CommitError> {
    let output = &promotion.output;
    let temporary = output.join(TEMPORARY);
    let private = match folder.folder(TEMPORARY) {
        Ok(private) => Some(private),
        // Promoted before.
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed("open", &temporary)(e)),
    };
    let mut without_proof = Vec::new();
    for winner @ (attempt, _) in &promotion.winners {
        let Some(private) = &private else { break };
        let from = temporary.join(attempt);
        match private.folder(attempt) {
            Ok(own) => {
                for name in own.names().map_err(failed("list", &from))? {
                    promote_file(attempt, &own, &from, &name, folder, output)?;
                    moved.push(name);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => without_proof.push(winner),
            Err(e) => return Err(failed("open", &from)(e)),
        }
    }
    // With lazy output a private directory proves that its attempt wrote nothing but what was in it.
    let unproved = if promotion.is_lazy { without_proof } else { promotion.winners.iter().collect() };
    if Guard::PromotedParts.stands() {
        check_promoted(folder, promotion, &unproved)?;
    }
    // What is left belongs to losers, and one that still runs may write while it is removed. The output is
    // whole without it, so that is no reason to fail the job: names with an underscore are no output.
    if let Err(e) = folder.remove(TEMPORARY) {
        tracing::warn!(path = %temporary.display(), error = %e, "private output of attempts that do not count is left");
    }
    if promotion.mark_success { mark_success(folder, output) } else { Ok(()) }
}

fn promote_file(
    attempt: &str,
    own: &Folder,
    from: &Path,
    name: &OsStr,
    folder: &Folder,
    output: &Path,
) -> Result<(), CommitError> {
    let path = from.join(name);
    let attempt = || attempt.to_owned();
    if begins(name, SUCCESS) || begins(name, TEMPORARY) {
        return Err(CommitError::Reserved { attempt: attempt(), path });
    }
    if let Kind::Other(kind) = own.kind(name).map_err(failed("look at", &path))? {
        return Err(CommitError::Special { attempt: attempt(), path, kind });
    }
    match own.move_to(name, folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            Err(CommitError::Occupied { attempt: attempt(), path: output.join(name) })
        }
        result => result.map_err(failed("rename", &path)),
    }
}

/// Repeated, it is there already; anything else of that name is not ours.
fn mark_success(folder: &Folder, output: &Path) -> Result<(), CommitError> {
    match folder.make_file(SUCCESS) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.kind(SUCCESS).is_ok_and(|k| k == Kind::File) => {
            Ok(())
        }
        result => result.map_err(failed("create", &output.join(SUCCESS))),
    }
}

/// The file of each of these winners must be in the output, promoted now or before.
fn check_promoted(folder: &Folder, promotion: &Promotion, winners: &[&(String, String)]) -> Result<(), CommitError> {
    let output = &promotion.output;
    let names = names_in_order(folder, output)?;
    for (attempt, prefix) in winners {
        let is_file = |name: &&str| folder.kind(name).is_ok_and(|kind| kind == Kind::File);
        if !its_names(&names, prefix).any(|name| is_file(&name)) {
            return Err(CommitError::Missing {
                attempt: attempt.clone(),
                prefix: prefix.clone(),
                temporary: output.join(TEMPORARY),
                output: output.clone(),
            });
        }
    }
    Ok(())
}

fn names_in_order(folder: &Folder, output: &Path) -> Result<Vec<String>, CommitError> {
    let names = folder.names().map_err(failed("list", output))?;
    let mut names: Vec<String> = names.iter().filter_map(|name| name.to_str().map(str::to_owned)).collect();
    names.sort_unstable();
    Ok(names)
}

/// Those of the sorted names that are of the task with this prefix.
fn its_names<'a>(names: &'a [String], prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let at = names.partition_point(|name| name.as_str() < prefix);
    // `part-m-100000` is not the file of task 10000.
    let is_its = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    let begun = names[at..].iter().map_while(move |name| Some((name.as_str(), name.strip_prefix(prefix)?)));
    begun.filter(move |&(_, rest)| is_its(rest)).map(|(name, _)| name)
}

/// Removes what a promotion that failed promoted, now or before an interruption.
fn take_back(folder: &Folder, promotion: &Promotion, moved: &[OsString]) {
    let names = names_in_order(folder, &promotion.output).unwrap_or_default();
    let before = promotion.winners.iter().flat_map(|(_, prefix)| its_names(&names, prefix)).map(OsStr::new);
    for name in moved.iter().map(OsString::as_os_str).chain(before) {
        if let Err(e) = folder.remove(name) {
            let path = promotion.output.join(name);
            tracing::warn!(path = %path.display(), error = %e, "output of a failed promotion is left");
        }
    }
}

/// Clears away what attempts left; the directory too if it was made for the job and nothing else is in it.
pub(crate) fn abort(output: &Path, created: bool) -> Result<(), CommitError> {
    match Folder::open(output) {
        Ok(folder) => {
            folder.remove(TEMPORARY).map_err(failed("remove", &output.join(TEMPORARY)))?;
            if created {
                // A task may have put it there; no job that failed has one.
                folder.remove(SUCCESS).map_err(failed("remove", &output.join(SUCCESS)))?;
                folder::remove_if_empty(output).map_err(failed("remove", output))?;
            }
            Ok(())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(failed("open", output)(e)),
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
            is_lazy: false,
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
    fn with_lazy_output_only_an_empty_directory_proves_that_there_was_none() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        let promotion = Promotion { is_lazy: true, ..promotion(&output) };
        let error = promote(&promotion).unwrap_err();
        assert!(matches!(error, CommitError::Missing { .. }), "{error}");
        private(&output, "a_0", "part-r-00000", "a");
        fs::create_dir_all(output.join("_temporary/b_1")).unwrap();
        promote(&promotion).unwrap();
        promote(&promotion).unwrap();
        assert_eq!(names(&output), ["_SUCCESS", "part-r-00000"]);
    }

    #[test]
    fn the_file_of_a_task_with_a_longer_number_is_no_proof() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        fs::write(output.join("part-m-100000"), "").unwrap();
        let winners = vec![("a_0".to_owned(), "part-m-10000".to_owned())];
        let promotion = Promotion { output: output.clone(), winners, is_lazy: false, mark_success: true };
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

    /// A file elsewhere, which nothing may touch.
    fn innocent(dir: &Path) -> PathBuf {
        let path = dir.join("innocent");
        fs::write(&path, "mine").unwrap();
        path
    }

    fn names(output: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(output).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_link_in_the_place_of_success_is_neither_followed_nor_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let (output, mine) = (dir.path().join("out"), innocent(dir.path()));
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        private(&output, "b_1", "part-r-00001", "b");
        std::os::unix::fs::symlink(&mine, output.join("_SUCCESS")).unwrap();
        assert!(promote(&promotion(&output)).is_err());
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "truncated through the link");
        abort(&output, true).unwrap();
        assert!(!output.exists() && mine.exists());
    }

    #[test]
    fn links_in_private_output_are_refused_and_what_was_promoted_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let (output, mine) = (dir.path().join("out"), innocent(dir.path()));
        reserve(&output).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        fs::create_dir(output.join("_temporary/b_1")).unwrap();
        std::os::unix::fs::symlink(&mine, output.join("_temporary/b_1/part-r-00001")).unwrap();
        let error = promote(&promotion(&output)).unwrap_err();
        assert!(matches!(error, CommitError::Special { kind: "a symbolic link", .. }), "{error}");
        assert_eq!(names(&output), ["_temporary"], "part files are left");
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    }

    #[test]
    fn links_in_the_place_of_directories_are_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        let victim = elsewhere.join("a_0/part-r-00000");
        for planted in ["_temporary", "_temporary/a_0"] {
            let output = dir.path().join("out");
            fs::create_dir_all(victim.parent().unwrap()).unwrap();
            fs::write(&victim, "mine").unwrap();
            reserve(&output).unwrap();
            let target = if planted == "_temporary" { elsewhere.clone() } else { elsewhere.join("a_0") };
            let _ = fs::remove_dir(output.join(planted));
            std::os::unix::fs::symlink(target, output.join(planted)).unwrap();
            assert!(promote(&promotion(&output)).is_err());
            abort(&output, true).unwrap();
            assert!(victim.exists() && !output.exists(), "{planted}");
        }
        // The output itself exchanged for a link.
        let output = dir.path().join("out");
        fs::create_dir(elsewhere.join("_temporary")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &output).unwrap();
        assert!(promote(&promotion(&output)).is_err() && abort(&output, true).is_err());
        assert!(victim.exists() && elsewhere.join("_temporary").exists());
    }

    #[test]
    fn reserved_names_and_files_of_others_are_never_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        private(&output, "a_0", "_SUCCESS", "");
        let error = promote(&promotion(&output)).unwrap_err();
        assert!(matches!(error, CommitError::Reserved { .. }), "{error}");
        fs::remove_file(output.join("_temporary/a_0/_SUCCESS")).unwrap();
        private(&output, "a_0", "part-r-00000", "a");
        private(&output, "b_1", "part-r-00001", "b");
        private(&output, "b_1", "part-r-00000", "b writes over a");
        let error = promote(&promotion(&output)).unwrap_err();
        assert!(matches!(error, CommitError::Occupied { .. }), "{error}");
        assert_eq!(names(&output), ["_temporary"]);
    }

    #[test]
    fn a_tree_of_any_depth_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("out");
        reserve(&output).unwrap();
        // Deeper than a path can be long, or a process have descriptors.
        let mut at = Folder::open(&output.join(TEMPORARY)).unwrap();
        for _ in 0..5_000 {
            at.make_folder("d").unwrap();
            at = at.folder("d").unwrap();
            at.make_file("f").unwrap();
        }
        abort(&output, true).unwrap();
        assert!(!output.exists());
    }
}
