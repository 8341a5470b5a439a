//! Files written to an HDFS.
//!
//! The name node says which data node to hand the bytes to, and that one passes them on to others. When it goes away in the
//! middle, all bytes are handed over once more, to another one: a file that somebody else left half written cannot be written
//! on by us. So a file that may be long is written where nobody else writes, and replaced by each further try.

use std::io::{self, Read};
use std::thread::sleep;

use crate::client::Client;
use crate::error::Error;
use crate::reader::FileReader;
use crate::text::encoded;

/// Data nodes that a writer has had enough of at a time.
const MOST_EXCLUDED: usize = 16;
/// Further data nodes that are asked at once when one is not reached, as by Hadoop's own client
/// (`dfs.client.block.write.retries`): the name node sends writers to one that died for minutes, and where it does not know the
/// data node by the name that we have for it, to the same one again.
const FURTHER_NODES: usize = 3;
/// Bytes of a file that is read as a whole.
const MOST_SMALL: u64 = 64 << 10;

/// Remembers what went wrong on this side.
struct Content<'a> {
    bytes: &'a mut dyn Read,
    problem: Option<String>,
}

impl Read for Content<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(to).inspect_err(|error| self.problem = Some(error.to_string()))
    }
}

impl Client {
    /// Writes a file of so many bytes, whose directory is there, in the place of what is under this path: that must be nothing
    /// or an earlier try's. `open` gives the bytes from the first on, for each try.
    ///
    /// # Errors
    /// When the name node or data nodes refuse or are not reached in all tries, when the bytes cannot be read, and when the
    /// file is not as long afterwards.
    pub fn write(
        &self,
        path: &str,
        length: u64,
        open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
    ) -> Result<(), Error> {
        let mut waits = self.patience().waits.iter();
        let mut excluded = Vec::new();
        let mut further = FURTHER_NODES;
        loop {
            let mut asked = None;
            let tried = open()
                .map_err(|error| self.unread(path, &error.to_string()))
                .and_then(|mut bytes| self.try_write(path, length, &mut *bytes, &excluded, &mut asked));
            match tried {
                Ok(()) => return self.check_length(path, length),
                Err(Error::Unreached { .. }) if asked.is_some() && further > 0 => {
                    further -= 1;
                    self.exclude(asked, path, &mut excluded);
                }
                Err(error) => match waits.next().filter(|_| error.may_pass()) {
                    Some(&wait) => {
                        self.exclude(asked, path, &mut excluded);
                        sleep(wait);
                    }
                    None => return Err(error),
                },
            }
        }
    }

    /// Makes a small file, whose directory is there, with these bytes; it must not exist. It is written under `own` first, a path
    /// that nobody else writes to, and then moved: so it is there as a whole or not at all, and one of several writers makes it.
    ///
    /// # Errors
    /// When it exists, or as above.
    pub fn create(&self, path: &str, bytes: &[u8], own: &str) -> Result<(), Error> {
        let mut open = || Ok(Box::new(io::Cursor::new(bytes.to_vec())) as Box<dyn Read>);
        let made = self.write(own, bytes.len() as u64, &mut open).and_then(|()| self.rename(own, path));
        made.inspect_err(|_| {
            let _ = self.remove(own);
        })
    }

    /// The bytes of a file that should be small; of a longer one the first ones.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    pub fn small_file(&self, path: &str) -> Result<Vec<u8>, Error> {
        let length = self.again(|_| self.status(path))?.length.min(MOST_SMALL);
        let mut bytes = Vec::new();
        let mut reader = FileReader::new(self.clone(), path, length, 0, (0, length));
        match reader.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(match error.downcast::<Error>() {
                Ok(error) => error,
                Err(error) => Error::Unreached { url: self.url(path), problem: error.to_string() },
            }),
        }
    }

    fn try_write(
        &self,
        path: &str,
        length: u64,
        bytes: &mut dyn Read,
        excluded: &[String],
        asked: &mut Option<String>,
    ) -> Result<(), Error> {
        // Releases from 3 on make the directories above unless they are told not to: a late writer must not bring back an
        // output that was cleared away.
        let mut more = "&overwrite=true&createparent=false".to_owned();
        if !excluded.is_empty() {
            more.push_str(&format!("&excludedatanodes={}", encoded(&excluded.join(","))));
        }
        let (authority, rest) = self.place(path, &more)?;
        *asked = Some(authority.clone());
        let mut content = Content { bytes, problem: None };
        let done = self.hand_over((&authority, &rest), length, &mut content);
        match content.problem {
            Some(problem) => Err(self.unread(path, &problem)),
            None => done,
        }
    }

    /// After a failure: whom not to ask again. A name node knows a data node by the address of its own protocol, which it tells
    /// with a block, and otherwise by its host's address.
    fn exclude(&self, asked: Option<String>, path: &str, excluded: &mut Vec<String>) {
        // Where nobody is left to ask, everybody is.
        let Some(authority) = asked else { return excluded.clear() };
        let by_host = || Some(self.address(&authority).ok()?.ip().to_string());
        let name = self.name_of(&authority, path, 0).or_else(by_host);
        excluded.extend(name.filter(|name| excluded.len() < MOST_EXCLUDED && !excluded.contains(name)));
    }

    fn check_length(&self, path: &str, length: u64) -> Result<(), Error> {
        let found = self.again(|_| self.status(path))?.length;
        if found == length {
            return Ok(());
        }
        let problem = format!("the file has {found} bytes after {length} were written");
        Err(Error::Senseless { url: self.url(path), problem })
    }

    fn unread(&self, path: &str, problem: &str) -> Error {
        Error::Content { url: self.url(path), problem: problem.to_owned() }
    }
}
