//! Where a job's output goes: a directory that all machines see, or one in an HDFS.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use howdah_core::job::{JobFile, OutputFormat};
use howdah_webhdfs::{JobOutput, RemotePath};

/// One job's output directory.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    directory: PathBuf,
    pub(super) place: Place,
}

/// The file system that it lies in.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// This machine's, a mounted one included.
    Here,
    Hdfs(JobOutput),
    /// An HDFS that the job's properties do not tell enough of.
    Unknown(String),
}

impl Output {
    /// Of a job, if it writes files.
    pub(crate) fn of(file: &JobFile) -> Option<Output> {
        match &file.output {
            OutputFormat::Files { directory } => Some(Output::new(directory, &file.properties)),
            OutputFormat::None => None,
        }
    }

    /// The directory with this path or address.
    pub(crate) fn new(directory: &str, properties: &BTreeMap<String, String>) -> Output {
        let place = match RemotePath::is_one(directory) {
            false => Place::Here,
            true => {
                let property = |key: &str| properties.get(key).map(String::as_str);
                JobOutput::of(directory, property).map_or_else(Place::Unknown, Place::Hdfs)
            }
        };
        Output { directory: PathBuf::from(directory), place }
    }

    /// Its path or its address; each directory has one spelling.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether it lies in an HDFS, whose name node may take its time.
    pub(crate) fn is_remote(&self) -> bool {
        !matches!(self.place, Place::Here)
    }

    /// `host:port` of its name node's HTTP server.
    pub(crate) fn server(&self) -> Option<&str> {
        match &self.place {
            Place::Hdfs(output) => Some(output.server()),
            _ => None,
        }
    }
}
