//! One call of `hadoop fs`: what it works on, and how a path's problem is reported.

use std::fs::Metadata;
use std::io;
use std::io::Write;

use super::super::log4j;
use super::super::paths::{Named, PathError};
use super::super::site::Site;
use super::options::Given;

/// One call.
pub(super) struct Shell<'a> {
    pub(super) site: &'a Site,
    pub(super) verb: &'static str,
    pub(super) given: Given<'a>,
    pub(super) out: io::BufWriter<io::StdoutLock<'static>>,
    pub(super) failed: bool,
}

/// A path's problem in FsShell's words, without the verb before it.
pub(super) struct Problem(pub(super) String);

pub(super) type Done<T = ()> = Result<T, Problem>;

impl From<PathError> for Problem {
    fn from(error: PathError) -> Problem {
        Problem(error.to_string())
    }
}

/// What the system said, as Hadoop says it.
pub(super) fn said(named: &str, error: &io::Error) -> Problem {
    Problem(match error.kind() {
        io::ErrorKind::NotFound => format!("`{named}': No such file or directory"),
        io::ErrorKind::AlreadyExists => format!("`{named}': File exists"),
        io::ErrorKind::NotADirectory => format!("`{named}': Is not a directory"),
        io::ErrorKind::DirectoryNotEmpty => format!("`{named}': Directory is not empty"),
        io::ErrorKind::PermissionDenied => format!("Permission denied: `{named}'"),
        _ => format!("`{named}': {error}"),
    })
}

impl Shell<'_> {
    pub(super) fn complain(&mut self, problem: &Problem) {
        let _ = self.out.flush();
        log4j::bare(&format!("{}: {}", self.verb, problem.0));
        self.failed = true;
    }

    pub(super) fn line(&mut self, text: &str) -> Done {
        writeln!(self.out, "{text}").map_err(|error| Problem(error.to_string()))
    }

    /// Does something for all that the operands name.
    pub(super) fn each(&mut self, mut act: impl FnMut(&mut Self, &Named) -> Done) -> Done {
        let operands = self.operands(1)?;
        self.each_of(&operands, |shell, named, _| act(shell, named))
    }

    pub(super) fn each_of(
        &mut self,
        operands: &[String],
        mut act: impl FnMut(&mut Self, &Named, &Metadata) -> Done,
    ) -> Done {
        for operand in operands {
            let found = self.site.file_system.expand(operand)?;
            if found.is_empty() {
                self.complain(&Problem(format!("`{operand}': No such file or directory")));
            }
            for named in found {
                let done = match std::fs::metadata(&named.local) {
                    Ok(metadata) => act(self, &named, &metadata),
                    Err(error) => Err(said(&named.shown, &error)),
                };
                if let Err(problem) = done {
                    self.complain(&problem);
                }
            }
        }
        Ok(())
    }

    /// The operands, of which there must be at least so many.
    pub(super) fn operands(&self, least: usize) -> Done<Vec<String>> {
        if self.given.operands.len() < least {
            return Err(Problem(format!(
                "Not enough arguments: expected {least} but got {}",
                self.given.operands.len()
            )));
        }
        Ok(self.given.operands.iter().map(|&word| word.to_owned()).collect())
    }

    pub(super) fn has(&self, flag: &str) -> bool {
        self.given.flags.contains(&flag)
    }
}

/// A directory's entries by name, hidden ones too as in HDFS.
pub(super) fn entries(named: &Named) -> Done<Vec<Named>> {
    let read = std::fs::read_dir(&named.local).map_err(|error| said(&named.shown, &error))?;
    let mut names = Vec::new();
    for entry in read {
        let entry = entry.map_err(|error| said(&named.shown, &error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names.iter().map(|name| named.child(name)).collect())
}

/// Everything below a directory, a directory before its entries; links to directories are not entered.
pub(super) fn walk(named: &Named, each: &mut impl FnMut(&Named, &Metadata) -> Done) -> Done {
    for entry in entries(named)? {
        let metadata = std::fs::symlink_metadata(&entry.local).map_err(|error| said(&entry.shown, &error))?;
        each(&entry, &metadata)?;
        if metadata.is_dir() {
            walk(&entry, each)?;
        }
    }
    Ok(())
}
