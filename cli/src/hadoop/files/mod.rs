//! `hadoop fs`: the verbs, with the words that Hadoop's FsShell prints.
//!
//! As there, a path that fails is named on standard error and the others are still done; the exit code is then 1. Owners
//! and permissions are the system's; there is one copy of each file, and no trash: what is removed is gone.

mod copy;
mod list;
mod options;
mod remove;
mod show;
mod status;

pub(super) use copy::upload;

use std::fs::Metadata;
use std::io::{self, Write};

use super::paths::{Named, PathError};
use super::site::Site;
use super::{Ended, log4j};
use crate::failure::Failure;
use options::{Given, split};

/// One call.
struct Shell<'a> {
    site: &'a Site,
    verb: &'static str,
    given: Given<'a>,
    out: io::BufWriter<io::StdoutLock<'static>>,
    failed: bool,
}

/// A path's problem in FsShell's words, without the verb before it.
struct Problem(String);

type Done<T = ()> = Result<T, Problem>;

impl From<PathError> for Problem {
    fn from(error: PathError) -> Problem {
        Problem(error.to_string())
    }
}

/// What the system said, as Hadoop says it.
fn said(named: &str, error: &io::Error) -> Problem {
    Problem(match error.kind() {
        io::ErrorKind::NotFound => format!("`{named}': No such file or directory"),
        io::ErrorKind::AlreadyExists => format!("`{named}': File exists"),
        io::ErrorKind::NotADirectory => format!("`{named}': Is not a directory"),
        io::ErrorKind::DirectoryNotEmpty => format!("`{named}': Directory is not empty"),
        io::ErrorKind::PermissionDenied => format!("Permission denied: `{named}'"),
        _ => format!("`{named}': {error}"),
    })
}

type Verb = fn(&mut Shell<'_>) -> Done;

/// A verb, its options, and what does it.
type Row = (&'static str, &'static [&'static str], Verb);

const VERBS: &[Row] = &[
    ("ls", &["R", "d", "h", "C"], list::list),
    ("lsr", &[], list::list),
    ("mkdir", &["p"], copy::make_directories),
    ("touchz", &[], copy::touch),
    ("put", &["f", "p"], copy::put),
    ("copyFromLocal", &["f", "p"], copy::put),
    ("moveFromLocal", &[], copy::put),
    ("appendToFile", &[], copy::append),
    ("get", &["f", "p", "ignoreCrc", "crc"], copy::get),
    ("copyToLocal", &["f", "p", "ignoreCrc", "crc"], copy::get),
    ("getmerge", &["nl", "skip-empty-file"], copy::merge),
    ("cp", &["f", "p"], copy::copy),
    ("mv", &[], remove::rename),
    ("rm", &["r", "R", "f", "skipTrash"], remove::remove),
    ("rmr", &["skipTrash"], remove::remove),
    ("rmdir", &["ignore-fail-on-non-empty"], remove::remove_directory),
    ("cat", &["ignoreCrc"], show::cat),
    ("text", &["ignoreCrc"], show::cat),
    ("head", &[], show::head),
    ("tail", &[], show::tail),
    ("test", &["d", "e", "f", "s", "z"], status::test),
    ("stat", &[], status::stat),
    ("du", &["s", "h"], status::usage),
    ("dus", &[], status::usage),
    ("count", &[], status::count),
    ("chmod", &["R"], status::change_mode),
    ("chown", &["R"], status::change_owner),
    ("chgrp", &["R"], status::change_owner),
];

/// Runs `hadoop fs -VERB …`.
pub(super) fn run(site: &Site, words: &[&str]) -> Ended {
    let Some((word, rest)) = words.split_first() else {
        return Err(Failure::usage("hadoop fs: no verb was given").help(known()));
    };
    let name = word.strip_prefix('-').unwrap_or_default();
    let Some((verb, flags, does)) = VERBS.iter().find(|row| row.0 == name) else {
        return Err(Failure::usage(format!("hadoop fs: {word}: not supported here")).help(known()));
    };
    let given = split(rest, flags)
        .map_err(|option| Failure::usage(format!("hadoop fs -{verb}: {option}: not supported here")))?;
    let out = io::BufWriter::new(io::stdout().lock());
    let mut shell = Shell { site, verb, given, out, failed: false };
    let done = does(&mut shell);
    // What was printed first is read first.
    shell.out.flush()?;
    if let Err(problem) = done {
        shell.complain(&problem);
    }
    Ok(u8::from(shell.failed))
}

fn known() -> String {
    format!("there are -{}", VERBS.iter().map(|row| row.0).collect::<Vec<_>>().join(", -"))
}

impl Shell<'_> {
    fn complain(&mut self, problem: &Problem) {
        let _ = self.out.flush();
        log4j::bare(&format!("{}: {}", self.verb, problem.0));
        self.failed = true;
    }

    fn line(&mut self, text: &str) -> Done {
        writeln!(self.out, "{text}").map_err(|error| Problem(error.to_string()))
    }

    /// Does something for all that the operands name.
    fn each(&mut self, mut act: impl FnMut(&mut Self, &Named) -> Done) -> Done {
        let operands = self.operands(1)?;
        self.each_of(&operands, |shell, named, _| act(shell, named))
    }

    fn each_of(&mut self, operands: &[String], mut act: impl FnMut(&mut Self, &Named, &Metadata) -> Done) -> Done {
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
    fn operands(&self, least: usize) -> Done<Vec<String>> {
        if self.given.operands.len() < least {
            return Err(Problem(format!(
                "Not enough arguments: expected {least} but got {}",
                self.given.operands.len()
            )));
        }
        Ok(self.given.operands.iter().map(|&word| word.to_owned()).collect())
    }

    fn has(&self, flag: &str) -> bool {
        self.given.flags.contains(&flag)
    }
}

/// A directory's entries by name, hidden ones too as in HDFS.
fn entries(named: &Named) -> Done<Vec<Named>> {
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
fn walk(named: &Named, each: &mut impl FnMut(&Named, &Metadata) -> Done) -> Done {
    for entry in entries(named)? {
        let metadata = std::fs::symlink_metadata(&entry.local).map_err(|error| said(&entry.shown, &error))?;
        each(&entry, &metadata)?;
        if metadata.is_dir() {
            walk(&entry, each)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
