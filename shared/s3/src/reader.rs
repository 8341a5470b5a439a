//! An object's bytes, read by range and ahead of who wants them.
//!
//! A thread asks for a range and reads while the caller works, a few pieces ahead and no more. The first range goes a little
//! beyond the part that is wanted, since its last line ends there; what comes after it is asked for when it is wanted. A range
//! that breaks off is asked for again from where it broke off, and only of the same object: one that was replaced meanwhile is
//! an error.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::sleep;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};

use crate::client::Client;
use crate::error::Error;

/// Pieces that wait for the caller, of 256 KiB at most.
const PIECES_AHEAD: usize = 16;
/// Bytes behind the wanted part that are asked for with it; each later range is twice as long, up to [`MOST_BEYOND`].
const FIRST_BEYOND: u64 = 64 << 10;
const MOST_BEYOND: u64 = 4 << 20;

type Piece = Result<Bytes, Error>;

/// Reads an object from a byte on.
#[derive(Debug)]
pub struct ObjectReader {
    client: Client,
    path: String,
    /// The object's length.
    length: u64,
    /// The next byte.
    at: u64,
    /// Where the wanted part ends.
    to: u64,
    beyond: u64,
    coming: Option<Coming>,
    /// What tells this object from one that replaces it.
    tag: Arc<OnceLock<Option<String>>>,
}

#[derive(Debug)]
struct Coming {
    pieces: Receiver<Piece>,
    piece: Bytes,
    end: u64,
}

impl ObjectReader {
    /// Reads the object of so many bytes from `at` on, of which what is before `to` is wanted, and little behind it.
    pub fn new(client: Client, path: &str, length: u64, at: u64, to: u64) -> ObjectReader {
        let (path, tag) = (path.to_owned(), Arc::default());
        ObjectReader { client, path, length, at, to: to.min(length), beyond: FIRST_BEYOND, coming: None, tag }
    }

    fn ask(&mut self) -> Result<Coming, Error> {
        let end = self.to.max(self.at).saturating_add(self.beyond).min(self.length);
        self.beyond = (self.beyond * 2).min(MOST_BEYOND);
        let (send, pieces) = sync_channel(PIECES_AHEAD);
        let (client, key, tag) = (self.client.clone(), self.client.key(&self.path)?, Arc::clone(&self.tag));
        let range = self.at..end;
        let read = move || {
            // Who has gone needs no more; whoever waits is told.
            if let Err(error) = client.read(&key, range, &tag, |piece| send.send(Ok(piece)).is_ok()) {
                let _ = send.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new().name("read-ahead".to_owned()).spawn(read);
        thread.map_err(|error| self.client.broken(format!("start a thread: {error}")))?;
        Ok(Coming { pieces, piece: Bytes::new(), end })
    }

    /// One try: bytes of the range that comes, or of the next one.
    fn try_read(&mut self, to: &mut [u8]) -> Result<usize, Error> {
        let mut coming = match self.coming.take() {
            Some(coming) => coming,
            None => self.ask()?,
        };
        if coming.piece.is_empty() {
            let left = coming.end - self.at;
            let early = |_| self.client.broken(format!("the answer ends {left} bytes early"));
            coming.piece = coming.pieces.recv().map_err(early)??;
            if coming.piece.len() as u64 > left {
                return Err(self
                    .client
                    .refused(&format!("the answer goes on after the {left} bytes that were asked for")));
            }
        }
        let n = to.len().min(coming.piece.len());
        coming.piece.split_to(n).copy_to_slice(&mut to[..n]);
        self.at += n as u64;
        if self.at < coming.end {
            self.coming = Some(coming);
        }
        Ok(n)
    }
}

impl Client {
    /// Gives the pieces of a range to `take`, until it wants no more.
    fn read(
        &self,
        key: &Path,
        range: Range<u64>,
        tag: &OnceLock<Option<String>>,
        mut take: impl FnMut(Bytes) -> bool,
    ) -> Result<(), Error> {
        let if_match = tag.get().cloned().flatten();
        let options = GetOptions { range: Some(GetRange::Bounded(range)), if_match, ..GetOptions::default() };
        self.inner.runtime.block_on(async {
            let found = self.inner.bucket.get_opts(key, options).await.map_err(|error| self.wrong(error))?;
            tag.get_or_init(|| found.meta.e_tag.clone());
            let mut pieces = found.into_stream();
            while let Some(piece) = pieces.next().await {
                if !take(piece.map_err(|error| self.wrong(error))?) {
                    break;
                }
            }
            Ok(())
        })
    }
}

impl Read for ObjectReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() || self.at >= self.length {
            return Ok(0);
        }
        let mut waits = self.client.inner.patience.waits.iter();
        loop {
            match self.try_read(to) {
                Ok(n) => return Ok(n),
                Err(error) => match waits.next().filter(|_| error.is_trouble()) {
                    Some(&wait) => sleep(wait),
                    None => return Err(io::Error::other(error)),
                },
            }
        }
    }
}
