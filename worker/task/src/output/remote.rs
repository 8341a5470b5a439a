//! Output that lies elsewhere: written on this machine first, and handed over when it is complete.
//!
//! A file in HDFS that a writer lost in the middle cannot be written on, and an object has its bytes at once, but a file that lies
//! here can be handed over again. So an attempt writes to a directory of its own on the worker's disk, side files of its program
//! included, and everything in it goes to `_temporary/<attempt>/` of the output before the attempt asks for its commit. An output
//! without this job's mark is left alone: the job is over, and somebody may have begun another one there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use howdah_webhdfs::{Owner, RemotePath};

use super::place::Place;
use crate::api::context::Context;
use crate::api::error::TaskError;

/// Directories inside each other that a program may make.
const MAX_DEPTH: usize = 64;

/// Fails where the output is not this job's, if it lies elsewhere.
pub(crate) fn check_mark(context: &Context) -> Result<(), TaskError> {
    match Place::of(context)? {
        Some(place) => expect_ours(&place, place.owner()?),
        None => Ok(()),
    }
}

/// Hands over what the attempt wrote, if its output lies elsewhere.
pub(crate) fn hand_over(context: &Context) -> Result<(), TaskError> {
    let (Some(place), Some(stage)) = (Place::of(context)?, context.output_dir()) else { return Ok(()) };
    expect_ours(&place, place.owner()?)?;
    let private = place.path().child("_temporary").child(context.attempt());
    let handing = HandingOver { context, place: &place };
    handing.folder(&stage, &private, place.path(), 0)?;
    place.complete(&private)?;
    match place.owner()? {
        Owner::Ours => {}
        gone => {
            // The job ended while this went on, and its output may have been cleared away before: it must not come back.
            place.take_back(&private);
            expect_ours(&place, gone)?;
        }
    }
    context.log(&format!("output handed over to `{}`", place.path()));
    fs::remove_dir_all(&stage).map_err(TaskError::io("remove", &stage))
}

fn expect_ours(place: &Place, owner: Owner) -> Result<(), TaskError> {
    let output = place.path();
    match owner {
        Owner::Ours => Ok(()),
        Owner::Theirs => Err(TaskError::Rule(format!("output `{output}`: it belongs to another job by now"))),
        Owner::Nobody => Err(TaskError::Rule(format!("output `{output}`: the job's mark in it is gone"))),
    }
}

struct HandingOver<'a> {
    context: &'a Context,
    place: &'a Place,
}

impl HandingOver<'_> {
    /// A directory with all in it: the attempt's own until it is to be at `at`.
    fn folder(&self, from: &Path, private: &RemotePath, at: &RemotePath, depth: usize) -> Result<(), TaskError> {
        if depth > MAX_DEPTH {
            return Err(TaskError::Rule(format!("`{}` is more than {MAX_DEPTH} directories deep", from.display())));
        }
        self.place.make_directory(private)?;
        for entry in fs::read_dir(from).map_err(TaskError::io("list", from))? {
            let entry = entry.map_err(TaskError::io("list", from))?;
            let path = entry.path();
            let odd = |what: &str| TaskError::Rule(format!("output `{}` {what}", path.display()));
            let name = entry.file_name().into_string().map_err(|_| odd("has a name that is not UTF-8"))?;
            let (private, at) = (private.child(&name), at.child(&name));
            let kind = entry.file_type().map_err(TaskError::io("examine", &path))?;
            if kind.is_dir() {
                self.folder(&path, &private, &at, depth + 1)?;
            } else if kind.is_file() {
                self.file(&path, &private, &at)?;
            } else {
                return Err(odd("is neither a file nor a directory"));
            }
        }
        Ok(())
    }

    fn file(&self, from: &Path, private: &RemotePath, at: &RemotePath) -> Result<(), TaskError> {
        self.context.beat()?;
        let length = fs::metadata(from).map_err(TaskError::io("examine", from))?.len();
        let mut open = || {
            let alive = Alive { file: File::open(from)?, context: self.context.clone() };
            Ok(Box::new(alive) as Box<dyn Read>)
        };
        self.place.hand_over(private, at, length, &mut open)
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
