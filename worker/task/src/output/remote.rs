//! Output that lies in an HDFS: written on this machine first, and handed over when it is complete.
//!
//! A file in HDFS that a writer lost in the middle cannot be written on, but one that lies here can be handed over again, to
//! another data node. So an attempt writes to a directory of its own on the worker's disk, side files of its program included,
//! and everything in it goes to `_temporary/<attempt>/` of the output before the attempt asks for its commit. An output without
//! this job's mark is left alone: the job is over, and somebody may have begun another one there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use howdah_core::job::{OUTPUT_MARK, OutputFormat};
use howdah_webhdfs::{Client, JobOutput, Owner, Patience, RemotePath};

use crate::api::context::Context;
use crate::api::error::TaskError;

/// Half a minute longer than a data node waits for others before it does without them.
const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(10),
    idle: Duration::from_secs(90),
    answer: Duration::from_secs(30),
    waits: &[
        Duration::from_millis(100),
        Duration::from_millis(500),
        Duration::from_secs(2),
        Duration::from_secs(5),
        Duration::from_secs(10),
        Duration::from_secs(20),
    ],
};
/// Directories inside each other that a program may make.
const MAX_DEPTH: usize = 64;

/// Fails where the output is not this job's, if it lies in an HDFS.
pub(crate) fn check_mark(context: &Context) -> Result<(), TaskError> {
    match output_of(context)? {
        Some(output) => expect_ours(&output, owner(&output, &output.client(PATIENCE))?),
        None => Ok(()),
    }
}

/// Hands over what the attempt wrote, if its output lies in an HDFS.
pub(crate) fn hand_over(context: &Context) -> Result<(), TaskError> {
    let (Some(output), Some(stage)) = (output_of(context)?, context.output_dir()) else { return Ok(()) };
    let client = output.client(PATIENCE);
    expect_ours(&output, owner(&output, &client)?)?;
    let private = output.inside(&format!("_temporary/{}", context.attempt()));
    let handing = HandingOver { context, client: &client, output: &output };
    handing.folder(&stage, &private, 0)?;
    match owner(&output, &client)? {
        Owner::Ours => {}
        gone => {
            // The job ended while this went on, and its output may have been cleared away before: it must not come back.
            let place = output.inside("_temporary");
            let above = [place.as_str(), &output.path.path];
            let removed = client.remove(&private);
            let _ = removed.and_then(|()| above.iter().try_for_each(|path| client.remove_if_empty(path)));
            expect_ours(&output, gone)?;
        }
    }
    context.log(&format!("output handed over to `{}`", output.path));
    fs::remove_dir_all(&stage).map_err(TaskError::io("remove", &stage))
}

fn output_of(context: &Context) -> Result<Option<JobOutput>, TaskError> {
    match &context.spec().output {
        OutputFormat::Files { directory } if RemotePath::is_one(directory) => {
            let property = |key: &str| context.properties().get(key);
            JobOutput::of(directory, property).map(Some).map_err(TaskError::Rule)
        }
        _ => Ok(None),
    }
}

fn owner(output: &JobOutput, client: &Client) -> Result<Owner, TaskError> {
    output.owner(client, OUTPUT_MARK).map_err(failed(&output.path))
}

fn expect_ours(output: &JobOutput, owner: Owner) -> Result<(), TaskError> {
    match owner {
        Owner::Ours => Ok(()),
        Owner::Theirs => Err(TaskError::Rule(format!("output `{}`: it belongs to another job by now", output.path))),
        Owner::Nobody => Err(TaskError::Rule(format!("output `{}`: the job's mark in it is gone", output.path))),
    }
}

fn failed(path: &RemotePath) -> impl FnOnce(howdah_webhdfs::Error) -> TaskError {
    let path = path.to_string();
    move |source| TaskError::Hdfs { what: "output", path, source }
}

struct HandingOver<'a> {
    context: &'a Context,
    client: &'a Client,
    output: &'a JobOutput,
}

impl HandingOver<'_> {
    /// A directory with all in it.
    fn folder(&self, from: &Path, to: &str, depth: usize) -> Result<(), TaskError> {
        let place = self.output.path.with_path(to);
        if depth > MAX_DEPTH {
            return Err(TaskError::Rule(format!("`{}` is more than {MAX_DEPTH} directories deep", from.display())));
        }
        self.client.make_directory(to).map_err(failed(&place))?;
        for entry in fs::read_dir(from).map_err(TaskError::io("list", from))? {
            let entry = entry.map_err(TaskError::io("list", from))?;
            let path = entry.path();
            let odd = |what: &str| TaskError::Rule(format!("output `{}` {what}", path.display()));
            let name = entry.file_name().into_string().map_err(|_| odd("has a name that is not UTF-8"))?;
            let to = place.child(&name);
            let kind = entry.file_type().map_err(TaskError::io("examine", &path))?;
            if kind.is_dir() {
                self.folder(&path, &to.path, depth + 1)?;
            } else if kind.is_file() {
                self.file(&path, &to)?;
            } else {
                return Err(odd("is neither a file nor a directory"));
            }
        }
        Ok(())
    }

    fn file(&self, from: &Path, to: &RemotePath) -> Result<(), TaskError> {
        self.context.beat()?;
        let length = fs::metadata(from).map_err(TaskError::io("examine", from))?.len();
        let mut open = || {
            let alive = Alive { file: File::open(from)?, context: self.context.clone() };
            Ok(Box::new(alive) as Box<dyn Read>)
        };
        self.client.write(&to.path, length, &mut open).map_err(failed(to))
    }
}

/// A file whose reading proves life.
struct Alive {
    file: File,
    context: Context,
}

impl Read for Alive {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.context.beat().map_err(io::Error::other)?;
        self.file.read(to)
    }
}
