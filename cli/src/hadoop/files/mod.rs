//! `hadoop fs`: the verbs, with the words that Hadoop's FsShell prints.
//!
//! As there, a path that fails is named on standard error and the others are still done; the exit code is then 1. Owners
//! and permissions are the system's; there is one copy of each file, and no trash: what is removed is gone.

mod copy;
mod hdfs;
mod list;
mod options;
mod owners;
mod remove;
mod shell;
mod show;
mod status;

pub(super) use copy::upload;

use std::io;
use std::io::Write;

use self::shell::{Done, Shell};
use super::ended::Ended;
use super::site::Site;
use crate::failure::Failure;
use options::split;

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
    ("get", &["f", "p", "ignoreCrc"], copy::get),
    ("copyToLocal", &["f", "p", "ignoreCrc"], copy::get),
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

/// Runs `hadoop fs [GENERIC OPTIONS] -VERB …`.
pub(super) fn run(mut site: Site, words: &[&str]) -> Ended {
    let (generic, words) = words.split_at(super::options::leading(words));
    super::options::generic(&mut site, generic, &[])?.without_files("hadoop fs")?;
    let site = &site;
    let Some((word, rest)) = words.split_first() else {
        return Err(Failure::usage("hadoop fs: no verb was given").help(known()));
    };
    let name = word.strip_prefix('-').unwrap_or_default();
    let Some((verb, flags, does)) = VERBS.iter().find(|row| row.0 == name) else {
        return Err(Failure::usage(format!("hadoop fs: {word}: not supported here")).help(known()));
    };
    let given = split(rest, flags)
        .map_err(|option| Failure::usage(format!("hadoop fs -{verb}: {option}: not supported here")))?;
    // Of `-put` the last operand says where it goes, and the others are this machine's.
    let place = if ["put", "copyFromLocal", "moveFromLocal"].contains(verb) { given.operands.last() } else { None };
    let is_remote = |word: &&str| site.file_system.is_elsewhere(word);
    let does = match place.map_or_else(|| given.operands.iter().any(is_remote), is_remote) {
        false => *does,
        true => hdfs::verb(verb).ok_or_else(|| {
            Failure::usage(format!("hadoop fs -{verb}: not supported in an HDFS that is not hdfs:///"))
                .help(hdfs::known())
        })?,
    };
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

#[cfg(test)]
mod tests;
