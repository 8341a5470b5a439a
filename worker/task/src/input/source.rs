//! Where a map's input lies: a file that this machine sees, a file of an HDFS, or an object in a bucket.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use howdah_core::job::FileState;
use howdah_s3::{Credentials, ObjectReader, Store};
use howdah_webhdfs::{Client, FileReader, FileStatus, Patience, RemotePath, USER_PROPERTY, server_property};

use crate::api::error::{Error, TaskError};
use crate::api::properties::Properties;

/// As long as a shuffle's fetcher waits.
const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(10),
    idle: Duration::from_secs(30),
    answer: Duration::from_secs(30),
    waits: &[Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)],
};

/// An input file by name.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// As the split has it.
    pub(crate) path: String,
    pub(crate) remote: Option<Remote>,
}

/// A file that lies elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    holder: Holder,
    path: String,
    /// Bytes, as the master found them.
    pub(crate) length: u64,
}

/// Whom to ask for it.
#[derive(Clone, Debug)]
enum Holder {
    NameNode(Client),
    Bucket(howdah_s3::Client),
}

#[cfg(test)]
impl From<&str> for Source {
    fn from(path: &str) -> Source {
        Source { path: path.to_owned(), remote: None }
    }
}

impl Source {
    /// The file of a split, with what the master says of its file system.
    pub(crate) fn of(path: &str, file: Option<FileState>, properties: &Properties) -> Result<Source, TaskError> {
        if !RemotePath::is_one(path) {
            return Ok(Source { path: path.to_owned(), remote: None });
        }
        let wrong = |problem: String| TaskError::Rule(format!("input `{path}`: {problem}"));
        let named: RemotePath = path.parse().map_err(|error| wrong(format!("{error}")))?;
        let holder = if named.is_object() {
            let bucket = bucket(&named.authority, properties);
            Holder::Bucket(bucket.map_err(|source| TaskError::S3 { what: "input", path: path.to_owned(), source })?)
        } else {
            let property = server_property(&named);
            let server = properties.get(&property).ok_or_else(|| wrong(format!("expected a property `{property}`")))?;
            Holder::NameNode(Client::new(server, properties.get(USER_PROPERTY).unwrap_or_default(), PATIENCE))
        };
        let length = file.ok_or_else(|| wrong("expected its length with the split".to_owned()))?.length;
        Ok(Source { path: path.to_owned(), remote: Some(Remote { holder, path: named.path, length }) })
    }

    /// The file as it is now.
    pub(crate) fn state(&self) -> Result<FileState, TaskError> {
        let missing = |source| TaskError::Missing { what: format!("open `{}`", self.path), source };
        let Some(remote) = &self.remote else {
            let meta = std::fs::metadata(&self.path).map_err(missing)?;
            return Ok(FileState {
                length: meta.len(),
                modified_us: meta.mtime() * 1_000_000 + meta.mtime_nsec() / 1_000,
            });
        };
        let gone = |error| missing(std::io::Error::new(std::io::ErrorKind::NotFound, error));
        let (what, path) = ("input", self.path.clone());
        let status: FileStatus = match &remote.holder {
            Holder::NameNode(client) => client.status(&remote.path).map_err(|source| match source.is_missing() {
                true => gone(Error::from(source)),
                false => TaskError::Hdfs { what, path, source },
            })?,
            Holder::Bucket(client) => client.status(&remote.path).map_err(|source| match source.is_missing() {
                true => gone(Error::from(source)),
                false => TaskError::S3 { what, path, source },
            })?,
        };
        Ok(FileState { length: status.length, modified_us: status.modified_ms.saturating_mul(1_000) })
    }
}

impl Remote {
    /// Its bytes from an offset on; `part` is where the split begins and ends.
    pub(crate) fn read(&self, offset: u64, part: (u64, u64)) -> Box<dyn Read> {
        match self.holder.clone() {
            Holder::NameNode(client) => Box::new(FileReader::new(client, &self.path, self.length, offset, part)),
            Holder::Bucket(client) => Box::new(ObjectReader::new(client, &self.path, self.length, offset, part.1)),
        }
    }
}

/// A bucket of the store that the master names, asked as the worker's environment says.
fn bucket(name: &str, properties: &Properties) -> Result<howdah_s3::Client, howdah_s3::Error> {
    let store = Store::of_properties(|key| properties.get(key))?;
    let credentials = Credentials::of_environment(|variable| std::env::var(variable).ok())?;
    howdah_s3::Client::new(&store, credentials, name, PATIENCE)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use howdah_core::job::splits::stretches;
    use howdah_webhdfs::fake::{FakeHdfs, Mood};

    use super::*;
    use crate::input::{FixedRecords, LineRecords, Records};

    fn source(hdfs: &FakeHdfs, path: &str, length: u64) -> Source {
        let named: RemotePath = format!("hdfs://nn:9000{path}").parse().unwrap();
        let properties = [(server_property(&named), hdfs.address()), (USER_PROPERTY.to_owned(), "ann".to_owned())];
        let properties = Properties::from(BTreeMap::from(properties));
        Source::of(&named.to_string(), Some(FileState { length, modified_us: 0 }), &properties).unwrap()
    }

    fn values(mut records: impl Records) -> Vec<(u64, Vec<u8>)> {
        let mut found = Vec::new();
        while let Some(record) = records.next_record().unwrap() {
            found.push((record.offset, record.value.to_vec()));
        }
        found
    }

    #[test]
    fn every_line_of_an_hdfs_comes_once_whatever_splits_and_blocks() {
        let text = "a\r\nbb\n\nccc\rdddd\n\r\neeeee\nlast";
        let hdfs = FakeHdfs::start(3);
        let dir = tempfile::tempdir().unwrap();
        let local = dir.path().join("f");
        std::fs::write(&local, text).unwrap();
        let whole = LineRecords::open(&local.to_str().unwrap().into(), 0, text.len() as u64, 99).unwrap();
        let expected = values(whole);
        for (split_size, block) in [(1, 3), (5, 5), (7, 4), (10, 100), (100, 6)] {
            hdfs.put("/f", text, block);
            let source = source(&hdfs, "/f", text.len() as u64);
            let parts = stretches(text.len() as u64, split_size, true);
            let found = parts.iter().flat_map(|&(at, n)| values(LineRecords::open(&source, at, n, 99).unwrap()));
            assert_eq!(found.collect::<Vec<_>>(), expected, "splits of {split_size}, blocks of {block}");
        }
    }

    #[test]
    fn fixed_records_and_compressed_files_are_read_as_well() {
        let hdfs = FakeHdfs::start(2);
        hdfs.put("/r", "aaabbbcccddd", 5);
        let found = values(FixedRecords::open(&source(&hdfs, "/r", 12), 4, 4, 3).unwrap());
        assert_eq!(found, [(6, b"ccc".to_vec())]);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, b"one\ntwo\n").unwrap();
        let gz = gz.finish().unwrap();
        let length = gz.len() as u64;
        hdfs.put("/t.gz", gz, 7);
        let found = values(LineRecords::open(&source(&hdfs, "/t.gz", length), 0, length, 99).unwrap());
        assert_eq!(found, [(0, b"one".to_vec()), (4, b"two".to_vec())]);
    }

    #[test]
    fn a_file_that_goes_or_a_property_that_is_not_there_is_an_error_with_its_name() {
        let hdfs = FakeHdfs::start(1);
        let error = source(&hdfs, "/gone", 3).state().unwrap_err();
        assert!(matches!(&error, TaskError::Missing { what, .. } if what == "open `hdfs://nn:9000/gone`"), "{error}");
        hdfs.be(Mood::Circular);
        let error = crate::api::error::chain(&source(&hdfs, "/gone", 3).state().unwrap_err());
        assert!(error.starts_with("input `hdfs://nn:9000/gone`: http://127.0.0.1:"), "{error}");
        let error = Source::of("hdfs://nn/f", None, &Properties::default()).unwrap_err().to_string();
        assert_eq!(error, "input `hdfs://nn/f`: expected a property `howdah.hdfs.http.hdfs://nn`");
    }
}
