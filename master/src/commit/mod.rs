//! Promotes the winners' output when a job is done, and clears away what a failed job left.
//!
//! Attempts write to `<output>/_temporary/<attempt>/` and nowhere else. At the end exactly the winners' files
//! are renamed into `<output>`, `_temporary` is removed and `_SUCCESS` written, in this order, so that a
//! reader who sees `_SUCCESS` sees everything. A machine that loses its power keeps that order: what was renamed is on the disk
//! before anything is removed, and all of it before the job counts as done. Every step may be repeated: a file that is no longer in its
//! private place has been promoted before. A promotion that fails takes back what it promoted, and so does one that finds a
//! part gone after it was interrupted: tasks that run again find nothing of their job in place. Nothing that a task
//! put there is followed or replaced: see `folder`; what lies in an HDFS or in a bucket is promoted by the same
//! steps: see `remote` and `bucket`. Source: Hadoop's FileOutputCommitter.

mod bucket;
mod folder;
mod listed;
mod output;
mod owed;
mod remote;
#[cfg(test)]
mod steps;
mod store;
mod waits;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use folder::Folder;
use howdah_core::job::OUTPUT_MARK;
use howdah_guards::Guard;
use output::Place;
pub(crate) use output::{Output, Rest, STORE};
pub(crate) use owed::Owed;
use store::{Kind, Store, TEMPORARY, mark_name};
pub(crate) use waits::SOON;

/// What a network file system calls a file that was removed while somebody had it open; it goes by itself.
const IN_USE: &str = ".nfs";
/// What a client looks for before its job enters.
const SHOWN: &str = "_shown";
/// Says that all of the output is there.
const SUCCESS: &str = "_SUCCESS";

/// One job's output and who wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Promotion {
    /// The job's output directory.
    pub(crate) output: Output,
    /// Printed id of each winner and the file name prefix that its task must have left, such as `part-r-00003`.
    pub(crate) winners: Vec<(String, String)>,
    /// Whether a winner that wrote nothing has no file ([`LAZY_OUTPUT`](howdah_core::job::LAZY_OUTPUT)).
    pub(crate) is_lazy: bool,
    /// `mapreduce.fileoutputcommitter.marksuccessfuljobs`.
    pub(crate) mark_success: bool,
    /// Whether all of it is on the disk before it counts ([`OUTPUT_SYNC`](howdah_core::job::OUTPUT_SYNC)).
    pub(crate) sync: bool,
}

/// Output that could not be promoted or cleared away.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    #[error("{action} `{path}`: {source}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("sync `{path}`: {source}")]
    Unsynced { path: PathBuf, source: io::Error },
    #[error("{} attempts have no output in `{directory}` any more, `{}` among them", attempts.len(), attempts[0])]
    Gone { attempts: Vec<String>, directory: PathBuf },
    #[error("attempt `{attempt}`: its output `{prefix}*` is neither in `{temporary}` nor in `{output}`")]
    Missing { attempt: String, prefix: String, temporary: PathBuf, output: PathBuf },
    #[error("attempt `{attempt}`: `{path}` exists already and belongs to another attempt")]
    Occupied { attempt: String, path: PathBuf },
    #[error("attempt `{attempt}`: `{path}` is {kind}, expected a file or a directory")]
    Special { attempt: String, path: PathBuf, kind: &'static str },
    #[error("attempt `{attempt}`: `{path}` is a reserved name")]
    Reserved { attempt: String, path: PathBuf },
    #[error("`{directory}` is the output of job `{job}` now, as the mark in it says")]
    Theirs { directory: PathBuf, job: String },
    #[error("{0}")]
    Unknown(String),
}

impl CommitError {
    /// Whether a name node or a store gave no answer, or one that will be another later: what is asked next fares no better.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        let CommitError::Io { source, .. } = self else { return false };
        remote::RemoteFolder::is_out_of_reach(source) || bucket::BucketFolder::is_out_of_reach(source)
    }

    /// The same of a file system of this machine.
    fn is_away_here(&self) -> bool {
        match self {
            CommitError::Io { source, .. } => Folder::is_out_of_reach(source),
            CommitError::Unsynced { source, .. } => Folder::is_out_of_reach(source) && !folder::is_of_the_disk(source),
            _ => false,
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CommitError {
    let path = path.to_owned();
    move |source| CommitError::Io { action, path, source }
}

fn unsynced(path: &Path) -> impl FnOnce(io::Error) -> CommitError {
    let path = path.to_owned();
    move |source| CommitError::Unsynced { path, source }
}

/// Makes the output directory and the place for private output, elsewhere than here with the mark in it; an error
/// when the directory was there before. Elsewhere `begin` is called before the first change.
pub(crate) fn reserve(output: &Output, begin: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let directory = output.directory();
    match &output.place {
        Place::Here => {
            if let Some(parent) = directory.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::create_dir(directory)?;
            Folder::open(directory)?.make_folder(TEMPORARY)
        }
        Place::Hdfs(output) => remote::reserve(output, begin),
        Place::Bucket(output) => bucket::reserve(output, begin),
        Place::Unknown(problem) => Err(io::Error::other(problem.clone())),
    }
}

/// Those directories above an output here that are not there: to make it is to make them. The innermost is first.
pub(crate) fn missing_above(output: &Output) -> Vec<PathBuf> {
    let above = output.directory().ancestors().skip(1).take_while(|_| !output.is_remote());
    above.take_while(|path| path.symlink_metadata().is_err()).map(Path::to_owned).collect()
}

/// Removes what [`missing_above`] told of, as far as nothing else is in it by now.
pub(crate) fn remove_above(missing: &[PathBuf]) {
    for path in missing {
        if let Err(error) = folder::remove_if_empty(path) {
            tracing::warn!(path = %path.display(), %error, "a directory that was made for a job is left");
        }
    }
}

/// Puts a file with a text into the private part of an output here, for somebody who looks from another machine.
pub(crate) fn show(output: &Output, text: &str) -> io::Result<PathBuf> {
    Folder::open(output.directory())?.folder(TEMPORARY.as_ref())?.make_text(SHOWN, text)?;
    Ok(output.directory().join(TEMPORARY).join(SHOWN))
}

/// Takes it away again.
pub(crate) fn unshow(output: &Output) -> io::Result<()> {
    Folder::open(output.directory())?.folder(TEMPORARY.as_ref())?.remove(SHOWN.as_ref())
}

/// Leaves the job's mark where attempts look for it, unless it was made with the directory.
pub(crate) fn mark(output: &Output, job: &str) -> io::Result<()> {
    match output.place {
        Place::Here => fs::write(output.directory().join(OUTPUT_MARK), format!("{job}\n")),
        Place::Hdfs(_) | Place::Bucket(_) | Place::Unknown(_) => Ok(()),
    }
}

/// Makes the output of a job again that is in the journal and was never promoted, as far as it is not there: a machine that lost
/// its power may have kept the journal and not the directory or the mark. What has another's mark, or more in it than a job's
/// output has at its start, is left as it is. Elsewhere than here there is nothing to do: what has no mark there has another owner.
/// Gives whether anything was made.
pub(crate) fn make_again(output: &Output) -> io::Result<bool> {
    if !matches!(output.place, Place::Here) {
        return Ok(false);
    }
    let directory = output.directory();
    let folder = match Folder::open(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(directory)?;
            Folder::open(directory)?
        }
        opened => opened?,
    };
    if folder.marked_by().is_some() {
        return Ok(false);
    }
    let names = folder.names()?;
    if names.is_empty() {
        folder.make_folder(TEMPORARY)?;
    } else if names != [TEMPORARY] {
        return Ok(false);
    }
    let private = folder.folder(TEMPORARY.as_ref())?;
    // An empty one is a mark without its text.
    if private.names()?.iter().any(|name| name != mark_name()) {
        return Ok(false);
    }
    private.write_mark(&format!("{}\n", output.job))?;
    Ok(true)
}

/// Promotes the winners; what it promoted is gone again if it fails. Nothing is in place where the output of some is gone: what
/// had been moved before an interruption is then gone as well.
pub(crate) fn promote(promotion: &Promotion) -> Result<(), CommitError> {
    let output = promotion.output.directory();
    match &promotion.output.place {
        Place::Here => again_while_away(|moved, is_last| {
            let folder = Folder::open(output).map_err(failed("open", output))?;
            match others_mark(&folder, &promotion.output) {
                Some(job) => Err(CommitError::Theirs { directory: output.to_owned(), job }),
                None => {
                    // Before anything is moved: there is nothing to take back.
                    if promotion.sync {
                        folder.sync_name().map_err(unsynced(output))?;
                    }
                    promote_in(&folder, promotion, moved, is_last)
                }
            }
        }),
        Place::Hdfs(place) => promote_once(&remote::open(place).map_err(failed("open", output))?, promotion),
        Place::Bucket(place) => promote_once(&bucket::open(place).map_err(failed("open", output))?, promotion),
        Place::Unknown(problem) => Err(CommitError::Unknown(problem.clone())),
    }
}

/// A file system that is away, as a share whose server restarts, is waited for as a name node is. Between two tries all stays as
/// it is, as after a kill; `promote` gets what all of them moved, and whether it is the last one.
fn again_while_away(
    mut promote: impl FnMut(&mut Vec<OsString>, bool) -> Result<(), CommitError>,
) -> Result<(), CommitError> {
    let mut moved = Vec::new();
    for wait in waits::LONG.waits {
        match promote(&mut moved, false) {
            Err(error) if error.is_away_here() => {
                tracing::warn!(%error, "an output cannot be put in its place now; tried again");
                std::thread::sleep(*wait);
            }
            done => return done,
        }
    }
    promote(&mut moved, true)
}

/// The job whose output the directory is by its mark, if that is another one: somebody removed ours and let it be made anew.
fn others_mark(folder: &Folder, output: &Output) -> Option<String> {
    folder.marked_by().filter(|job| !output.job.is_empty() && *job != output.job)
}

/// Where the store itself waits for what is away.
fn promote_once(store: &impl Store, promotion: &Promotion) -> Result<(), CommitError> {
    promote_in(store, promotion, &mut Vec::new(), true)
}

fn promote_in(
    folder: &impl Store,
    promotion: &Promotion,
    moved: &mut Vec<OsString>,
    is_last: bool,
) -> Result<(), CommitError> {
    let promoted = promote_into(folder, promotion, moved);
    if let Err(CommitError::Gone { attempts, directory }) = promoted {
        let attempts = withdraw(folder, promotion, attempts)?;
        return Err(CommitError::Gone { attempts, directory });
    }
    if let Err(error) = &promoted
        && (is_last || !error.is_away_here())
    {
        // Whoever sees the mark may take what is beside it, which goes now.
        if matches!(error, CommitError::Unsynced { .. }) {
            let _ = folder.remove(SUCCESS.as_ref());
        }
        // What stands in the way of the promotion may be somebody else's.
        let occupied = match error {
            CommitError::Occupied { path, .. } => path.file_name(),
            _ => None,
        };
        take_back(folder, promotion, moved, occupied);
    }
    promoted
}

fn promote_into<S: Store>(folder: &S, promotion: &Promotion, moved: &mut Vec<OsString>) -> Result<(), CommitError> {
    let output = promotion.output.directory();
    let temporary = output.join(TEMPORARY);
    let private = match folder.folder(TEMPORARY.as_ref()) {
        Ok(private) => Some(private),
        // Promoted before.
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed("open", &temporary)(e)),
    };
    // What each winner left, looked at before anything is moved.
    let (mut found, mut without_proof, mut without_part) = (Vec::new(), Vec::new(), Vec::new());
    for winner @ (attempt, prefix) in &promotion.winners {
        let Some(private) = &private else { break };
        let from = temporary.join(attempt);
        match private.folder(attempt.as_ref()) {
            Ok(own) => {
                let names = own.names().map_err(failed("list", &from))?;
                if !promotion.is_lazy
                    && !names.iter().any(|name| name.to_str().is_some_and(|name| is_its(name, prefix)))
                {
                    without_part.push(winner);
                }
                found.push((attempt, names));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => without_proof.push(winner),
            Err(e) => return Err(failed("open", &from)(e)),
        }
    }
    // With lazy output there is nothing to look for any more.
    if private.is_none() && !promotion.is_lazy {
        without_proof.extend(&promotion.winners);
    }
    // Without the mark no attempt starts: a task that ran again would fail with a reason that is not the true one.
    let can_run_again = private.as_ref().is_some_and(|private| private.kind(mark_name().as_ref()).is_ok());
    if Guard::PromotedParts.stands() && can_run_again {
        without_part.extend(&without_proof);
        check_gone(folder, output, without_part)?;
    }
    for (attempt, names) in found {
        let Some(private) = &private else { break };
        let from = temporary.join(attempt);
        let own = private.folder(attempt.as_ref()).map_err(failed("open", &from))?;
        for name in names.iter().filter(|name| !begins(name, IN_USE)) {
            promote_file(attempt, &own, &from, name, folder, output)?;
            moved.push(name.clone());
        }
    }
    // With lazy output a private directory proves that its attempt wrote nothing but what was in it.
    let unproved = if promotion.is_lazy { without_proof } else { promotion.winners.iter().collect() };
    if Guard::PromotedParts.stands() {
        check_promoted(folder, promotion, &unproved)?;
    }
    // What is removed next must not be gone from the disk where its parts have not come to.
    if promotion.sync {
        folder.sync().map_err(unsynced(output))?;
    }
    // What is left belongs to losers, and one that still runs may write while it is removed. The output is
    // whole without it, so that is no reason to fail the job: names with an underscore are no output.
    if let Err(e) = folder.remove(TEMPORARY.as_ref()) {
        tracing::warn!(path = %temporary.display(), error = %e, "private output of attempts that do not count is left");
    }
    if !promotion.mark_success {
        return Ok(());
    }
    mark_success(folder, output)?;
    if promotion.sync {
        let on_disk = folder.sync_file(SUCCESS).and_then(|()| folder.sync());
        on_disk.map_err(unsynced(&output.join(SUCCESS)))?;
    }
    Ok(())
}

fn promote_file<S: Store>(
    attempt: &str,
    own: &S,
    from: &Path,
    name: &OsStr,
    folder: &S,
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
fn mark_success(folder: &impl Store, output: &Path) -> Result<(), CommitError> {
    match folder.make_file(SUCCESS) {
        Err(e)
            if e.kind() == io::ErrorKind::AlreadyExists
                && folder.kind(SUCCESS.as_ref()).is_ok_and(|k| k == Kind::File) =>
        {
            Ok(())
        }
        result => result.map_err(failed("create", &output.join(SUCCESS))),
    }
}

/// Of each of these winners, which have nothing in private, a name must be in the output, promoted before.
fn check_gone(folder: &impl Store, output: &Path, winners: Vec<&(String, String)>) -> Result<(), CommitError> {
    if winners.is_empty() {
        return Ok(());
    }
    let names = names_in_order(folder, output)?;
    let gone = winners.into_iter().filter(|(_, prefix)| its_names(&names, prefix).next().is_none());
    let attempts: Vec<String> = gone.map(|(attempt, _)| attempt.clone()).collect();
    if attempts.is_empty() { Ok(()) } else { Err(CommitError::Gone { attempts, directory: output.to_owned() }) }
}

/// The file of each of these winners must be in the output, promoted now or before.
fn check_promoted(
    folder: &impl Store,
    promotion: &Promotion,
    winners: &[&(String, String)],
) -> Result<(), CommitError> {
    let output = promotion.output.directory();
    let names = names_in_order(folder, output)?;
    for (attempt, prefix) in winners {
        let is_file = |name: &&str| folder.kind(name.as_ref()).is_ok_and(|kind| kind == Kind::File);
        if !its_names(&names, prefix).any(|name| is_file(&name)) {
            return Err(CommitError::Missing {
                attempt: attempt.clone(),
                prefix: prefix.clone(),
                temporary: output.join(TEMPORARY),
                output: output.to_owned(),
            });
        }
    }
    Ok(())
}

fn names_in_order(folder: &impl Store, output: &Path) -> Result<Vec<String>, CommitError> {
    let names = folder.names().map_err(failed("list", output))?;
    let mut names: Vec<String> = names.iter().filter_map(|name| name.to_str().map(str::to_owned)).collect();
    names.sort_unstable();
    Ok(names)
}

/// Those of the sorted names that are of the task with this prefix.
fn its_names<'a>(names: &'a [String], prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let at = names.partition_point(|name| name.as_str() < prefix);
    let begun = names[at..].iter().map(String::as_str).take_while(move |name| name.starts_with(prefix));
    begun.filter(move |name| is_its(name, prefix))
}

/// Whether a file is of the task with this prefix: `part-m-100000` is not that of task 10000.
fn is_its(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A name of a winner in the output.
struct InPlace<'a> {
    attempt: &'a String,
    name: &'a str,
    /// Whether the winner has it no longer in private.
    is_alone: bool,
}

/// What this promotion or an interrupted one had put in place, before `moved` was. Of a name that a winner still has in private
/// only a second link to the same file counts: anything else was put there by somebody else.
fn in_place<'a, S: Store>(folder: &S, promotion: &'a Promotion, names: &'a [String]) -> Vec<InPlace<'a>> {
    let private = folder.folder(TEMPORARY.as_ref());
    let mut found = Vec::new();
    for (attempt, prefix) in &promotion.winners {
        let own = private.as_ref().ok().and_then(|private| private.folder(attempt.as_ref()).ok());
        let waiting = own.as_ref().and_then(|own| own.names().ok()).unwrap_or_default();
        for name in its_names(names, prefix) {
            let is_alone = !waiting.iter().any(|waiting| waiting == name);
            let is_linked = || own.as_ref().is_some_and(|own| own.is_linked_to(name.as_ref(), folder).unwrap_or(false));
            if is_alone || is_linked() {
                found.push(InPlace { attempt, name, is_alone });
            }
        }
    }
    found
}

/// Removes what a promotion that failed promoted, now or before an interruption; a name that was found occupied only if it
/// was moved there now.
fn take_back<S: Store>(folder: &S, promotion: &Promotion, moved: &[OsString], occupied: Option<&OsStr>) {
    let names = names_in_order(folder, promotion.output.directory()).unwrap_or_default();
    let before = in_place(folder, promotion, &names);
    let before = before.iter().map(|own| OsStr::new(own.name)).filter(|name| Some(*name) != occupied);
    for name in moved.iter().map(OsString::as_os_str).chain(before) {
        if let Err(e) = folder.remove(name) {
            let path = promotion.output.directory().join(name);
            tracing::warn!(path = %path.display(), error = %e, "output of a failed promotion is left");
            if S::is_out_of_reach(&e) {
                return;
            }
        }
    }
}

/// Removes what an interrupted promotion had put in place, as tasks of the job run again, and the job may be killed before
/// there is another promotion. What was removed is as gone as the rest: `gone` with its winners.
fn withdraw(folder: &impl Store, promotion: &Promotion, mut gone: Vec<String>) -> Result<Vec<String>, CommitError> {
    let output = promotion.output.directory();
    let names = names_in_order(folder, output)?;
    for InPlace { attempt, name, is_alone } in in_place(folder, promotion, &names) {
        folder.remove(name.as_ref()).map_err(failed("remove", &output.join(name)))?;
        if is_alone && !gone.contains(attempt) {
            gone.push(attempt.clone());
        }
    }
    Ok(gone)
}

/// Clears away what attempts left; the directory too if it was made for the job and nothing else is in it.
pub(crate) fn abort(output: &Output, created: bool) -> Result<(), CommitError> {
    let directory = output.directory();
    match &output.place {
        Place::Here => abort_here(output, created),
        // What an HDFS or a bucket has is a job's only with its mark, and then was made for it.
        Place::Hdfs(place) => remote::abort(place, TEMPORARY, SUCCESS).map_err(failed("clear", directory)),
        Place::Bucket(place) => bucket::abort(place, TEMPORARY, SUCCESS).map_err(failed("clear", directory)),
        Place::Unknown(problem) => Err(CommitError::Unknown(problem.clone())),
    }
}

/// Tries once more to clear away what a job left, if it is that and not what somebody else made in its place since.
pub(crate) fn clear_rest(output: &Output, rest: Rest, created: bool) -> Result<(), CommitError> {
    if output.rest() == Some(rest) { abort(output, created) } else { Ok(()) }
}

fn abort_here(of: &Output, created: bool) -> Result<(), CommitError> {
    let output = of.directory();
    match Folder::open(output) {
        Ok(folder) if others_mark(&folder, of).is_some() => Ok(()),
        Ok(folder) => {
            folder.remove(TEMPORARY.as_ref()).map_err(failed("remove", &output.join(TEMPORARY)))?;
            if created {
                // A task may have put it there; no job that failed has one.
                folder.remove(SUCCESS.as_ref()).map_err(failed("remove", &output.join(SUCCESS)))?;
                folder::remove_if_empty(output).map_err(failed("remove", output))?;
            }
            Ok(())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(failed("open", output)(e)),
    }
}

/// Whether a name begins so.
fn begins(name: &OsStr, prefix: &str) -> bool {
    name.as_encoded_bytes().starts_with(prefix.as_bytes())
}

#[cfg(test)]
mod interrupted_tests;
#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod tests;
