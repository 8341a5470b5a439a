//! A file of an HDFS as a stream of bytes from an offset on.
//!
//! Bytes come in ranges, each from a data node that has them. A range ends where the caller's part of the file begins or
//! ends: parts are blocks, mostly, and a data node reads what another has over the network. A range that breaks off is
//! asked for again from where it broke, of another data node if there is one: a name node goes on for minutes to send
//! readers to one that died.

use std::io::{self, Read};
use std::thread::sleep;

use crate::client::{Bytes, Client, Source};
use crate::error::Error;

/// Bytes of the first range beyond the caller's part, where a line's end is looked for; each further one is twice as long.
const FIRST_BEYOND: u64 = 64 << 10;
/// Bytes of the longest range beyond it.
const MOST_BEYOND: u64 = 8 << 20;

/// Data nodes that a reader has had enough of at a time.
const MOST_EXCLUDED: usize = 16;

/// Reads a file from an offset to its end.
#[derive(Debug)]
pub struct FileReader {
    client: Client,
    path: String,
    /// The file's length.
    length: u64,
    /// The next byte.
    at: u64,
    /// Where the caller's part begins and ends.
    part: (u64, u64),
    beyond: u64,
    range: Option<Range>,
    /// HTTP address of the data node that was asked last.
    asked: Option<String>,
    /// Names of data nodes that did not give what they should.
    excluded: Vec<String>,
}

struct Range {
    body: Bytes,
    end: u64,
}

impl std::fmt::Debug for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Range").field("end", &self.end).finish_non_exhaustive()
    }
}

impl FileReader {
    /// Reads the file of so many bytes from `at` on. `part` is where the part that is wanted begins and ends; what is read
    /// before or behind it is little.
    pub fn new(client: Client, path: &str, length: u64, at: u64, part: (u64, u64)) -> FileReader {
        FileReader {
            client,
            path: path.to_owned(),
            length,
            at,
            part,
            beyond: FIRST_BEYOND,
            range: None,
            asked: None,
            excluded: Vec::new(),
        }
    }

    fn next_range(&mut self) -> Result<Range, Error> {
        let (from, to) = self.part;
        let end = match self.at {
            at if at < from => from,
            at if at < to => to,
            at => at.saturating_add(self.beyond),
        };
        let end = end.min(self.length);
        self.asked = None;
        let locate = |excluded: &[String]| self.client.locate(&self.path, self.at, end - self.at, excluded);
        let source = match locate(&self.excluded) {
            // Where nobody is left to ask, everybody is.
            Err(Error::Refused { .. }) if !self.excluded.is_empty() => {
                self.excluded.clear();
                locate(&[])
            }
            source => source,
        };
        let body = match source? {
            Source::Here(body) => body,
            Source::There { authority, rest } => {
                self.asked = Some(authority.clone());
                self.client.fetch(&authority, &rest)?
            }
        };
        if self.at >= to {
            self.beyond = (self.beyond * 2).min(MOST_BEYOND);
        }
        Ok(Range { body, end })
    }

    /// After a failure: whom not to ask again.
    fn exclude(&mut self) {
        let name = self.asked.take().and_then(|authority| self.client.name_of(&authority, &self.path, self.at));
        self.excluded.extend(name.filter(|name| self.excluded.len() < MOST_EXCLUDED && !self.excluded.contains(name)));
    }

    /// One try: bytes of the range that is open, or of the next one.
    fn try_read(&mut self, to: &mut [u8]) -> Result<usize, Error> {
        let mut range = match self.range.take() {
            Some(range) => range,
            None => self.next_range()?,
        };
        let most = usize::try_from(range.end - self.at).unwrap_or(usize::MAX).min(to.len());
        let broken =
            |problem: String| Error::Unreached { url: format!("`{}` at byte {}", self.path, self.at), problem };
        match range.body.read(&mut to[..most]) {
            Ok(0) => Err(broken(format!("the data node's answer ends {} bytes early", range.end - self.at))),
            Ok(n) => {
                self.at += n as u64;
                if self.at < range.end {
                    self.range = Some(range);
                }
                Ok(n)
            }
            Err(error) => Err(broken(error.to_string())),
        }
    }
}

impl Read for FileReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() || self.at >= self.length {
            return Ok(0);
        }
        let mut waits = self.client.patience().waits.iter();
        loop {
            match self.try_read(to) {
                Ok(n) => return Ok(n),
                Err(error) => match waits.next().filter(|_| error.may_pass()) {
                    Some(&wait) => {
                        self.exclude();
                        sleep(wait);
                    }
                    None => return Err(io::Error::other(error)),
                },
            }
        }
    }
}
