//! Where a job's output goes: a directory that all machines see, one in an HDFS, or one in a bucket.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use howdah_core::job::{JobFile, OutputFormat};
use howdah_s3::JobBucket;
use howdah_webhdfs::{JobOutput, RemotePath};

use super::store::TEMPORARY;

/// What stands for the store where a name node's server would: none is called so.
pub(crate) const STORE: &str = "s3";

/// How properties begin that say where an output lies.
const PROPERTIES: [&str; 2] = [howdah_webhdfs::PROPERTIES, howdah_s3::PROPERTIES];

/// One job's output directory.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(super) directory: PathBuf,
    /// Whose it is, as the mark in it says; empty if nobody said so.
    pub(super) job: String,
    pub(super) place: Place,
    /// Of the job's properties, those that the place was read from; none of one here.
    pub(super) properties: BTreeMap<String, String>,
}

/// Which folder of private output it was: one that somebody makes in its place later is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    device: u64,
    inode: u64,
}

/// The file system that it lies in.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// This machine's, a mounted one included.
    Here,
    Hdfs(JobOutput),
    Bucket(JobBucket),
    /// An HDFS or a store that the job's properties do not tell enough of.
    Unknown(String),
}

impl Output {
    /// Of a job, if it writes files.
    pub(crate) fn of(file: &JobFile) -> Option<Output> {
        match &file.output {
            OutputFormat::Files { directory } => {
                Some(Output { job: file.id.clone(), ..Output::new(directory, &file.properties) })
            }
            OutputFormat::None => None,
        }
    }

    /// The directory with this path or address.
    pub(crate) fn new(directory: &str, properties: &BTreeMap<String, String>) -> Output {
        let property = |key: &str| properties.get(key).map(String::as_str);
        let is_object = directory.parse::<RemotePath>().is_ok_and(|path| path.is_object());
        let place = match RemotePath::is_one(directory) {
            false => Place::Here,
            true if is_object => JobBucket::of(directory, property).map_or_else(Place::Unknown, Place::Bucket),
            true => JobOutput::of(directory, property).map_or_else(Place::Unknown, Place::Hdfs),
        };
        let of_place = |key: &str| PROPERTIES.iter().any(|start| key.starts_with(start));
        let properties = properties.iter().filter(|(key, _)| !matches!(place, Place::Here) && of_place(key));
        let properties = properties.map(|(key, value)| (key.clone(), value.clone())).collect();
        Output { directory: PathBuf::from(directory), job: String::new(), place, properties }
    }

    /// What no other output has, of one that lies elsewhere: letters and digits, as the master makes them.
    pub(crate) fn mark(&self) -> Option<&str> {
        let key = match &self.place {
            Place::Hdfs(_) => howdah_webhdfs::MARK_PROPERTY,
            Place::Bucket(_) => howdah_s3::MARK_PROPERTY,
            Place::Here | Place::Unknown(_) => return None,
        };
        let is_plain = |mark: &&str| !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.properties.get(key).map(String::as_str).filter(is_plain)
    }

    /// What makes it again, with the directory.
    pub(super) fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// Its path or its address; each directory has one spelling.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether it lies in an HDFS or in a bucket, whose name node or store may take its time.
    pub(crate) fn is_remote(&self) -> bool {
        !matches!(self.place, Place::Here)
    }

    /// The private output in it, as far as this machine's own file systems tell.
    pub(crate) fn rest(&self) -> Option<Rest> {
        let found = (!self.is_remote()).then(|| self.directory.join(TEMPORARY).symlink_metadata())?.ok()?;
        Some(Rest { device: found.dev(), inode: found.ino() })
    }

    /// `host:port` of its name node's HTTP server, or [`STORE`].
    pub(crate) fn server(&self) -> Option<&str> {
        match &self.place {
            Place::Hdfs(output) => Some(output.server()),
            Place::Bucket(_) => Some(STORE),
            _ => None,
        }
    }
}
