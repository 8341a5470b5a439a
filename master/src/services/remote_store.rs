//! Whom to ask about an input that lies elsewhere: the name node of an HDFS, or an S3-compatible store about a bucket.

use std::io::Read;

use howdah_s3::{Credentials, ObjectReader, Store};
use howdah_webhdfs::{Block, Client, FileReader, FileStatus, RemotePath};

use crate::commit::SOON;

/// The store that the master's environment names.
pub(super) fn store() -> Result<Store, howdah_s3::Error> {
    if !howdah_s3::IS_BUILT {
        return Err(howdah_s3::Error::NotBuilt);
    }
    Ok(Store::of_environment(variable)?)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What it says when it is asked, or does not.
#[derive(Debug, thiserror::Error)]
pub(super) enum RemoteError {
    #[error(transparent)]
    Hdfs(#[from] howdah_webhdfs::Error),
    #[error(transparent)]
    S3(#[from] howdah_s3::Error),
}

impl RemoteError {
    /// Whether nothing is there.
    pub(super) fn is_missing(&self) -> bool {
        match self {
            RemoteError::Hdfs(error) => error.is_missing(),
            RemoteError::S3(error) => error.is_missing(),
        }
    }

    /// Whether who was asked is in trouble, and not what was asked for.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            RemoteError::Hdfs(error) => error.is_trouble(),
            RemoteError::S3(error) => error.is_trouble(),
        }
    }
}

/// Whoever knows of a file.
#[derive(Clone, Debug)]
pub(super) enum Remote {
    NameNode(Client),
    Bucket(howdah_s3::Client),
}

impl Remote {
    /// The name node with this HTTP server, asked as this user.
    pub(super) fn name_node(server: &str, user: &str) -> Remote {
        Remote::NameNode(Client::new(server, user, SOON))
    }

    /// A bucket, asked as the master is told to.
    pub(super) fn bucket(name: &str) -> Result<Remote, howdah_s3::Error> {
        let store = store()?;
        let client = howdah_s3::Client::new(&store, Credentials::of_environment(variable)?, name, SOON)?;
        Ok(Remote::Bucket(client))
    }

    pub(super) fn status(&self, path: &RemotePath) -> Result<FileStatus, RemoteError> {
        Ok(match self {
            Remote::NameNode(client) => client.status(&path.path)?,
            Remote::Bucket(client) => client.status(&path.path)?,
        })
    }

    /// The entries of a directory; of one that has more than `most`, so many or more. A store says them by the thousand, and
    /// is asked for more while it `goes_on`.
    pub(super) fn list(
        &self,
        path: &RemotePath,
        most: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<FileStatus>, RemoteError> {
        Ok(match self {
            Remote::NameNode(client) => client.list(&path.path)?,
            Remote::Bucket(client) => client.list(&path.path, most, goes_on)?,
        })
    }

    /// Where a file's bytes are; a store does not say.
    pub(super) fn blocks(&self, path: &RemotePath, length: u64) -> Result<Vec<Block>, RemoteError> {
        Ok(match self {
            Remote::NameNode(client) => client.blocks(&path.path, length)?,
            Remote::Bucket(_) => Vec::new(),
        })
    }

    /// A file's bytes from the first on.
    pub(super) fn read(&self, path: &RemotePath, length: u64) -> Box<dyn Read> {
        match self.clone() {
            Remote::NameNode(client) => Box::new(FileReader::new(client, &path.path, length, 0, (0, length))),
            Remote::Bucket(client) => Box::new(ObjectReader::new(client, &path.path, length, 0, length)),
        }
    }
}
