//! Hadoop's own commands: `hadoop`, `mapred`, `yarn` and `hdfs`, as scripts and other people's programs call them.
//!
//! `howdah hadoop install DIR` makes a directory that looks like a Hadoop installation. The scripts in it call the hidden
//! `howdah hadoop-client TOOL WORD…`, which is handled before clap: Hadoop's options have one dash. What clients read is
//! printed as Hadoop 3 prints it (`docs/guide/hadoop-clients.md`); what is not supported is refused by name with exit
//! code 2.

mod applications;
mod cache;
mod ended;
mod examples;
mod files;
mod follow;
mod install;
mod jar;
mod jobs;
mod log4j;
mod names;
mod options;
mod paths;
mod queues;
mod site;
mod streaming;
mod task_logs;

pub(crate) use ended::WORD;
pub(crate) use install::{HadoopCommand, install};

use std::ffi::OsString;
use std::process::ExitCode;

use crate::failure::Failure;
use crate::output;
use ended::{Ended, VERSION, say};
use site::Site;

/// Runs `howdah hadoop-client TOOL WORD…`.
pub(crate) fn client_main(words: Vec<OsString>) -> ExitCode {
    let words: Result<Vec<String>, OsString> = words.into_iter().map(OsString::into_string).collect();
    let ended = match &words {
        Ok(words) => run(words),
        Err(word) => Err(Failure::usage(format!("argument {word:?} is not UTF-8"))),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if !failure.is_silent() {
                output::note(failure.to_string());
            }
            failure.exit().into()
        }
    }
}

fn run(words: &[String]) -> Ended {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["hadoop" | "mapred" | "yarn" | "hdfs", "version" | "-version" | "--version"] => version(),
        ["hadoop", "fs", rest @ ..] | ["hdfs", "dfs", rest @ ..] => files::run(Site::read()?, rest),
        ["hadoop" | "yarn", "jar", rest @ ..] => wait(jar::run(Site::read()?, rest)),
        ["mapred", "streaming", rest @ ..] => wait(streaming::run(Site::read()?, rest)),
        ["hadoop" | "mapred", "job", rest @ ..] => wait(jobs::run(Site::read()?, rest)),
        ["hadoop" | "mapred", "queue", rest @ ..] => wait(queues::run(Site::read()?, rest)),
        ["yarn", "application" | "app", rest @ ..] => wait(applications::run(Site::read()?, rest)),
        ["hadoop" | "mapred" | "yarn" | "hdfs"] => Err(Failure::usage(format!("{}: no command was given", words[0]))
            .help("hadoop version|fs|jar|job|queue, hdfs dfs, mapred job|queue|streaming, yarn jar|application")),
        [tool, command, ..] => Err(Failure::usage(format!("{tool} {command}: not supported here"))
            .help("hadoop version|fs|jar|job|queue, hdfs dfs, mapred job|queue|streaming, yarn jar|application")),
        _ => Err(Failure::usage(format!("howdah {WORD}: expected hadoop, mapred, yarn or hdfs and its command"))),
    }
}

/// Clients read the first line; the others say the truth.
fn version() -> Ended {
    say(format!("Hadoop {VERSION}"))?;
    say(format!("howdah {}: Hadoop's commands and output forms, without Hadoop", env!("CARGO_PKG_VERSION")))?;
    Ok(0)
}

/// Runs what talks to a cluster: one thread is plenty.
fn wait(command: impl Future<Output = Ended>) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::broke(format!("start the runtime: {error}")))?;
    runtime.block_on(command)
}
