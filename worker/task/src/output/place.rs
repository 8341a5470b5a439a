//! Where an output lies that is not on this machine, and how a file gets there.
//!
//! In an HDFS a file is written to the attempt's own directory, which the master moves it from. In a bucket, where nothing moves,
//! its bytes are uploaded to where it is to be, and what lies in the attempt's directory says how to complete that.

use std::io::{self, Read};
use std::time::Duration;

use howdah_core::job::{OUTPUT_MARK, OutputFormat};
use howdah_s3::JobBucket;
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

/// A job's output and whom to ask about it.
pub(super) enum Place {
    Hdfs { output: JobOutput, client: Client },
    Bucket { output: JobBucket, client: howdah_s3::Client },
}

/// Gives the bytes of a file from the first on.
pub(super) type Open<'a> = &'a mut dyn FnMut() -> io::Result<Box<dyn Read>>;

impl Place {
    /// Where a job's output lies, if that is not here.
    pub(super) fn of(context: &Context) -> Result<Option<Place>, TaskError> {
        let OutputFormat::Files { directory } = &context.spec().output else { return Ok(None) };
        if !RemotePath::is_one(directory) {
            return Ok(None);
        }
        let property = |key: &str| context.properties().get(key);
        let is_object = directory.parse::<RemotePath>().is_ok_and(|path| path.is_object());
        if is_object {
            let output = JobBucket::of(directory, property).map_err(TaskError::Rule)?;
            let client = output.client(PATIENCE).map_err(of_bucket(&output.path))?;
            return Ok(Some(Place::Bucket { output, client }));
        }
        let output = JobOutput::of(directory, property).map_err(TaskError::Rule)?;
        let client = output.client(PATIENCE);
        Ok(Some(Place::Hdfs { output, client }))
    }

    /// The output directory.
    pub(super) fn path(&self) -> &RemotePath {
        match self {
            Place::Hdfs { output, .. } => &output.path,
            Place::Bucket { output, .. } => &output.path,
        }
    }

    /// Whose mark is there.
    pub(super) fn owner(&self) -> Result<Owner, TaskError> {
        match self {
            Place::Hdfs { output, client } => output.owner(client, OUTPUT_MARK).map_err(of_hdfs(&output.path)),
            Place::Bucket { output, client } => output.owner(client, OUTPUT_MARK).map_err(of_bucket(&output.path)),
        }
    }

    /// Makes a directory of this attempt, of which it is below `inside` in the output at last.
    pub(super) fn make_directory(&self, private: &RemotePath) -> Result<(), TaskError> {
        match self {
            Place::Hdfs { client, .. } => client.make_directory(&private.path).map_err(of_hdfs(private)),
            // There are none.
            Place::Bucket { .. } => Ok(()),
        }
    }

    /// Hands over a file of so many bytes, which is to be at `at` and belongs to the attempt under `private` until then.
    pub(super) fn hand_over(
        &self,
        private: &RemotePath,
        at: &RemotePath,
        length: u64,
        open: Open<'_>,
    ) -> Result<(), TaskError> {
        match self {
            Place::Hdfs { client, .. } => client.write(&private.path, length, open).map_err(of_hdfs(private)),
            Place::Bucket { client, .. } => {
                let mut bytes = open().map_err(TaskError::io("read what is for", at.to_string()))?;
                let mut upload = || {
                    let mut pending = client.begin(&at.path, length)?;
                    // Whoever clears away finds it from now on.
                    client.put(&private.path, pending.to_bytes())?;
                    client.upload(&mut pending, &mut *bytes)?;
                    client.put(&private.path, pending.to_bytes())
                };
                upload().map_err(of_bucket(at))
            }
        }
    }

    /// Says that all of this attempt's files are there, and that there may be none.
    pub(super) fn complete(&self, private: &RemotePath) -> Result<(), TaskError> {
        match self {
            Place::Hdfs { .. } => Ok(()),
            Place::Bucket { client, .. } => client.put(&private.path, Vec::new()).map_err(of_bucket(private)),
        }
    }

    /// Takes back what was handed over, as far as that goes: the job is over.
    pub(super) fn take_back(&self, private: &RemotePath) {
        match self {
            Place::Hdfs { output, client } => {
                let place = output.inside("_temporary");
                let above = [place.as_str(), &output.path.path];
                let removed = client.remove(&private.path);
                let _ = removed.and_then(|()| above.iter().try_for_each(|path| client.remove_if_empty(path)));
            }
            Place::Bucket { client, .. } => {
                let _ = client.remove(&private.path, true);
            }
        }
    }
}

fn of_hdfs(path: &RemotePath) -> impl FnOnce(howdah_webhdfs::Error) -> TaskError {
    let path = path.to_string();
    move |source| TaskError::Hdfs { what: "output", path, source }
}

fn of_bucket(path: &RemotePath) -> impl FnOnce(howdah_s3::Error) -> TaskError {
    let path = path.to_string();
    move |source| TaskError::S3 { what: "output", path, source }
}
