//! Objects written and removed, and uploads whose object is there only when they are completed (`complete`).

use std::io::Read;

use object_store::multipart::MultipartStore;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::client::Client;
use crate::error::Error;
use crate::pending::Pending;

/// Bytes of an object that is read as a whole: what is pending of ten thousand parts.
const MOST_SMALL: u64 = 1 << 20;
/// Bytes of a part, if ten thousand of them are enough.
const PART_BYTES: u64 = 16 << 20;
const MOST_PARTS: u64 = 10_000;

impl Client {
    /// The bytes of an object that should be small; of a longer one the first ones.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    pub fn small(&self, path: &str) -> Result<Vec<u8>, Error> {
        let (bucket, key) = (&self.inner.bucket, &self.key(path)?);
        if self.wait(|| bucket.head(key))?.size == 0 {
            return Ok(Vec::new());
        }
        let options = GetOptions { range: Some(GetRange::Bounded(0..MOST_SMALL)), ..GetOptions::default() };
        let options = &options;
        let bytes = || async move { bucket.get_opts(key, options.clone()).await?.bytes().await };
        self.wait(bytes).map(|bytes| bytes.to_vec())
    }

    /// Writes a small object in the place of what is under this path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, path: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let (key, bytes) = (self.key(path)?, PutPayload::from(bytes));
        self.wait(|| self.inner.bucket.put(&key, bytes.clone())).map(drop)
    }

    /// Writes a small object where nothing is.
    ///
    /// # Errors
    /// When something is there, or as above. A try before this one, whose answer was lost, may have written it.
    pub fn put_new(&self, path: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let (key, bytes) = (self.key(path)?, PutPayload::from(bytes));
        self.wait(|| self.inner.bucket.put_opts(&key, bytes.clone(), options.clone())).map(drop)
    }

    /// Removes an object; fine if nothing is there.
    ///
    /// # Errors
    /// When the store refuses or does not answer.
    pub fn delete(&self, path: &str) -> Result<(), Error> {
        let key = self.key(path)?;
        match self.wait(|| self.inner.bucket.delete(&key)) {
            Err(Error::Missing) => Ok(()),
            done => done,
        }
    }

    /// Begins the upload of an object of so many bytes.
    ///
    /// # Errors
    /// When the store refuses or does not answer.
    pub fn begin(&self, path: &str, length: u64) -> Result<Pending, Error> {
        let key = self.key(path)?;
        let upload = match length {
            // An upload has a part, and a part has bytes.
            0 => None,
            _ => Some(self.wait(|| self.inner.bucket.create_multipart(&key))?),
        };
        Ok(Pending { path: path.to_owned(), length, upload, tags: Vec::new() })
    }

    /// Uploads all bytes of what was begun. The object is not there yet.
    ///
    /// # Errors
    /// When the bytes cannot be read or are not as many, or the store refuses or does not answer.
    pub fn upload(&self, pending: &mut Pending, bytes: &mut dyn Read) -> Result<(), Error> {
        let Some(upload) = pending.upload.clone() else { return Ok(()) };
        let (key, most, mut left) = (self.key(&pending.path)?, part_bytes(pending.length), pending.length);
        while left > 0 {
            let mut part = Vec::new();
            let wanted = left.min(most);
            bytes.take(wanted).read_to_end(&mut part).map_err(|error| self.unread(&error.to_string()))?;
            if part.len() as u64 != wanted {
                return Err(self.unread(&format!("it ends {} bytes early", left - part.len() as u64)));
            }
            left -= wanted;
            let number = pending.tags.len();
            let part = PutPayload::from(part);
            let sent = self.wait(|| self.inner.bucket.put_part(&key, &upload, number, part.clone()))?;
            pending.tags.push(sent.content_id);
        }
        Ok(())
    }

    /// Drops what was uploaded; fine if it is gone.
    ///
    /// # Errors
    /// When the store refuses or does not answer.
    pub fn abandon(&self, pending: &Pending) -> Result<(), Error> {
        let Some(upload) = &pending.upload else { return Ok(()) };
        let key = self.key(&pending.path)?;
        match self.wait(|| self.inner.bucket.abort_multipart(&key, upload)) {
            Err(Error::Missing) => Ok(()),
            done => done,
        }
    }

    /// Removes an object and all that is below it as in a directory. Of what is pending (`are_pending`) the uploads go, too.
    ///
    /// # Errors
    /// When the store refuses or does not answer.
    pub fn remove(&self, path: &str, are_pending: bool) -> Result<(), Error> {
        for entry in self.list(path, usize::MAX, &|| true)? {
            self.remove(&format!("{path}/{}", entry.name), are_pending)?;
        }
        if are_pending {
            match self.small(path) {
                Ok(bytes) => Pending::from_bytes(&bytes).map_or(Ok(()), |pending| self.abandon(&pending))?,
                Err(Error::Missing) => {}
                Err(error) => return Err(error),
            }
        }
        self.delete(path)
    }

    fn unread(&self, problem: &str) -> Error {
        self.refused(&format!("what was to be written: {problem}"))
    }
}

/// Bytes of each part but the last.
fn part_bytes(length: u64) -> u64 {
    PART_BYTES.max(length.div_ceil(MOST_PARTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_at_most_ten_thousand_parts_and_what_is_pending_of_them_is_small() {
        for length in [1, PART_BYTES, PART_BYTES * MOST_PARTS, PART_BYTES * MOST_PARTS + 1, 5 << 40] {
            assert!(length.div_ceil(part_bytes(length)) <= MOST_PARTS, "{length}");
        }
        let tags = vec!["\"0123456789abcdef0123456789abcdef\"".to_owned(); MOST_PARTS as usize];
        let pending = Pending { path: "/out/part".to_owned(), length: 5 << 40, upload: Some("u".repeat(200)), tags };
        let bytes = pending.to_bytes();
        assert!((bytes.len() as u64) < MOST_SMALL, "{}", bytes.len());
        assert_eq!(Pending::from_bytes(&bytes), Some(pending));
    }
}
