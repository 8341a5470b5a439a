//! What is under a name in a bucket, and what lies below it.

use std::borrow::Cow;
use std::error::Error as _;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use howdah_webhdfs::{FileKind, FileStatus, Patience};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::HttpError;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt, RetryConfig};
use tokio::runtime::Runtime;

use crate::error::Error;
use crate::http::{Connector, DEADLINE};
use crate::store::{Credentials, Store};

/// What `object_store` says, and only in words, of a store that may do better at another time: what it would ask again itself.
const TROUBLE: [&str; 6] =
    ["status code: 5", "status 5", "status code: 429", "status code: 408", "InternalError", "SlowDown"];
/// Bytes of an object's key, as Amazon has it.
const MOST_KEY_BYTES: usize = 1_024;
/// Characters of a store's words that are repeated.
const MOST_CHARS: usize = 300;

/// A bucket, asked by one thread at a time. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) bucket: AmazonS3,
    pub(crate) runtime: Runtime,
    pub(crate) patience: Patience,
    /// How long the store may take to complete an upload.
    pub(crate) complete: Duration,
    endpoint: String,
}

impl Client {
    /// A client of this bucket of the store.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn new(store: &Store, credentials: Credentials, bucket: &str, patience: Patience) -> Result<Client, Error> {
        Client::with_deadline(store, credentials, bucket, patience, DEADLINE)
    }

    /// The same, with another time for the completion of an upload.
    pub(crate) fn with_deadline(
        store: &Store,
        credentials: Credentials,
        bucket: &str,
        patience: Patience,
        complete: Duration,
    ) -> Result<Client, Error> {
        let endpoint = store.endpoint.clone();
        let refused = |problem: String| Error::Refused { endpoint: endpoint.clone(), problem };
        // Who waits, and for how long, is said in `patience`: see `wait`.
        let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_endpoint(&store.endpoint)
            .with_region(&store.region)
            .with_allow_http(true)
            .with_virtual_hosted_style_request(false)
            .with_retry(once)
            .with_http_connector(Connector::to(&store.endpoint, patience, complete));
        let builder = match credentials.0 {
            None => builder.with_skip_signature(true),
            Some(key) => {
                let builder = builder.with_access_key_id(key.id).with_secret_access_key(key.secret);
                key.token.into_iter().fold(builder, AmazonS3Builder::with_token)
            }
        };
        let bucket = builder.build().map_err(|error| refused(said(&error.to_string())))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| refused(error.to_string()))?;
        let endpoint = store.endpoint.clone();
        Ok(Client { inner: Arc::new(Inner { bucket, runtime, patience, complete, endpoint }) })
    }

    /// What a path is: an object, or a directory where keys go on behind it.
    ///
    /// # Errors
    /// When it is neither, or the store does not say.
    pub fn status(&self, path: &str) -> Result<FileStatus, Error> {
        let directory =
            FileStatus { name: String::new(), kind: FileKind::Directory, length: 0, block_bytes: 1, modified_ms: 0 };
        let key = self.key(path)?;
        if key.as_ref().is_empty() {
            return Ok(directory);
        }
        let bucket = &self.inner.bucket;
        match self.wait(|| bucket.head(&key)) {
            Ok(meta) => Ok(status(String::new(), &meta)),
            Err(Error::Missing) => {
                let prefix = format!("{key}/");
                let options = PaginatedListOptions { max_keys: Some(1), ..PaginatedListOptions::default() };
                let listed = self.wait(|| bucket.list_paginated(Some(&prefix), options.clone()))?;
                if listed.result.objects.is_empty() { Err(Error::Missing) } else { Ok(directory) }
            }
            Err(error) => Err(error),
        }
    }

    /// The entries of a directory, objects and directories, in no order; after more than `most` it ends. They come by the
    /// thousand, and `goes_on` is asked before each question.
    ///
    /// # Errors
    /// When the store does not say, an entry has a name that no path can have, or it does not go on.
    pub fn list(&self, path: &str, most: usize, goes_on: &dyn Fn() -> bool) -> Result<Vec<FileStatus>, Error> {
        let key = self.key(path)?;
        let prefix = (!key.as_ref().is_empty()).then(|| format!("{key}/"));
        let (mut entries, mut page_token) = (Vec::new(), None);
        loop {
            if !goes_on() {
                return Err(Error::GivenUp);
            }
            let asked = page_token.clone();
            let options =
                PaginatedListOptions { delimiter: Some(Cow::Borrowed("/")), page_token, ..Default::default() };
            let page = self.wait(|| self.inner.bucket.list_paginated(prefix.as_deref(), options.clone()))?;
            for folder in page.result.common_prefixes {
                let name = self.name(&key, &folder)?;
                let kind = FileKind::Directory;
                entries.push(FileStatus { name, kind, length: 0, block_bytes: 1, modified_ms: 0 });
            }
            // An object with the directory's own name marks that it is there.
            for meta in page.result.objects.iter().filter(|meta| meta.location != key) {
                entries.push(status(self.name(&key, &meta.location)?, meta));
            }
            page_token = page.page_token;
            if page_token.is_none() || entries.len() > most {
                return Ok(entries);
            }
            if page_token == asked {
                return Err(self.refused("a page of a list is followed by itself, expected the next one"));
            }
        }
    }

    /// Asks, and asks again as long as the store is in trouble and there is patience.
    pub(crate) fn wait<T, W: Future<Output = object_store::Result<T>>>(
        &self,
        mut work: impl FnMut() -> W,
    ) -> Result<T, Error> {
        let mut waits = self.inner.patience.waits.iter();
        loop {
            let error = match self.once(work()) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            match waits.next().filter(|_| error.is_trouble()) {
                Some(&wait) => sleep(wait),
                None => return Err(error),
            }
        }
    }

    /// Asks once.
    pub(crate) fn once<T>(&self, work: impl Future<Output = object_store::Result<T>>) -> Result<T, Error> {
        self.inner.runtime.block_on(work).map_err(|error| self.wrong(error))
    }

    /// Directories in directories end where keys do, whatever the store says.
    pub(crate) fn key(&self, path: &str) -> Result<Path, Error> {
        if path.trim_start_matches('/').len() > MOST_KEY_BYTES {
            return Err(self.refused(&format!("a key of {} bytes, expected at most {MOST_KEY_BYTES}", path.len())));
        }
        Path::parse(path).map_err(|error| self.refused(&error.to_string()))
    }

    fn name(&self, directory: &Path, entry: &Path) -> Result<String, Error> {
        let name = entry.as_ref().strip_prefix(directory.as_ref()).map(|rest| rest.trim_start_matches('/'));
        let is_name = |name: &&str| !name.is_empty() && !name.contains('/') && !name.chars().any(char::is_control);
        let wrong = || self.refused(&format!("an entry is called `{entry}`, expected a name"));
        name.filter(is_name).map(str::to_owned).ok_or_else(wrong)
    }

    pub(crate) fn broken(&self, problem: String) -> Error {
        Error::Unreached { endpoint: self.inner.endpoint.clone(), problem }
    }

    pub(crate) fn refused(&self, problem: &str) -> Error {
        Error::Refused { endpoint: self.inner.endpoint.clone(), problem: said(problem) }
    }

    /// Our words for what a store says, or for its silence.
    pub(crate) fn wrong(&self, error: object_store::Error) -> Error {
        if matches!(error, object_store::Error::NotFound { .. }) {
            return Error::Missing;
        }
        if matches!(error, object_store::Error::AlreadyExists { .. }) {
            return Error::Exists;
        }
        let text = error.to_string();
        let (mut last, mut by_http) = (error.source(), None);
        while let Some(cause) = last {
            by_http = by_http.or_else(|| cause.downcast_ref::<HttpError>());
            last = cause.source();
        }
        let endpoint = self.inner.endpoint.clone();
        match by_http {
            Some(http) => {
                let problem = http.source().map_or_else(|| http.to_string(), ToString::to_string);
                Error::Unreached { endpoint, problem: said(&problem) }
            }
            None if TROUBLE.iter().any(|sign| text.contains(sign)) => {
                Error::Unreached { endpoint, problem: said(&text) }
            }
            None => Error::Refused { endpoint, problem: said(&text) },
        }
    }
}

fn status(name: String, meta: &ObjectMeta) -> FileStatus {
    // A store says milliseconds in a list and seconds in an answer to a question.
    let modified_ms = meta.last_modified.timestamp().saturating_mul(1_000);
    FileStatus { name, kind: FileKind::File, length: meta.size, block_bytes: 1, modified_ms }
}

/// A peer's words on one line, and not too many of them.
fn said(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_CHARS).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// A store that hangs up on the first few and answers all others with this.
    fn store(hang_up_on: usize, answer: &'static str) -> Store {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for (number, peer) in listener.incoming().enumerate() {
                let mut peer = peer.unwrap();
                if number >= hang_up_on {
                    let _ = peer.read(&mut [0; 8 << 10]);
                    let _ = peer.write_all(answer.as_bytes());
                }
            }
        });
        Store { endpoint, region: "us-east-1".to_owned() }
    }

    const PATIENCE: Patience = Patience {
        connect: Duration::from_secs(5),
        idle: Duration::from_secs(5),
        answer: Duration::from_secs(5),
        waits: &[Duration::from_millis(1); 3],
    };
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nETag: \"1\"\r\n\
                        Last-Modified: Thu, 26 Nov 2026 12:00:00 GMT\r\nConnection: close\r\n\r\n";

    fn client(store: &Store) -> Client {
        Client::new(store, Credentials(None), "bucket", PATIENCE).unwrap()
    }

    #[test]
    fn a_store_that_is_away_is_asked_again_for_as_long_as_there_is_patience() {
        assert_eq!(client(&store(3, HEAD)).status("/a").unwrap().length, 7);
        let error = client(&store(4, HEAD)).status("/a").unwrap_err();
        assert!(error.is_trouble(), "{error}");
        const TROUBLE: &str = "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let error = client(&store(0, TROUBLE)).status("/a").unwrap_err();
        assert!(error.is_trouble(), "{error}");
    }

    #[test]
    fn a_listing_ends_where_nobody_waits_for_it() {
        let goes_on = client(&store(usize::MAX, "")).list("/a", 10, &|| false);
        assert!(matches!(goes_on, Err(Error::GivenUp)), "{goes_on:?}");
    }
}
