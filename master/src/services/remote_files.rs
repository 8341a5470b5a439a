//! Input files of an HDFS, as its name node lists them, with where their blocks are, and objects of a bucket.
//!
//! The same rules as for files of the master's machine: hidden names are left alone, patterns match names, a directory in a
//! directory is read only when asked for, files come in order of their paths. A name node is somebody else's program, and so is
//! a store: one job's listing of them has one deadline, counts its entries, and ends when nobody waits for it any more.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use howdah_core::job::FileState;
use howdah_proto::limits;
use howdah_webhdfs::{Block, FileKind, FileStatus, RemotePath};

use super::input_error::{HDFS_DEADLINE, InputError, MAX_DEPTH, MAX_ENTRIES};
use super::remote_store::{Remote, RemoteError};
use super::walk::{Cancel, is_hidden};
use crate::name_nodes::NameNodes;

/// Of the deadline, for where blocks are; later files of the job have no known place.
const PLACES: Duration = Duration::from_secs(30);
/// Bytes of hosts' names in the splits of one job; later ones have none.
const MOST_PLACE_BYTES: usize = 64 << 20;

/// A file in an HDFS, or an object.
#[derive(Clone, Debug)]
pub(super) struct RemoteFile {
    pub(super) path: RemotePath,
    pub(super) state: FileState,
    /// Bytes of a block, where it has blocks.
    pub(super) block: Option<u64>,
}

/// One job's look at name nodes and buckets.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    nodes: &'a NameNodes,
    user: &'a str,
    recursive: bool,
    cancel: &'a Cancel,
    until: Instant,
    places_until: Instant,
    entries: usize,
    place_bytes: usize,
    clients: BTreeMap<String, Remote>,
}

impl<'a> Listing<'a> {
    pub(super) fn new(nodes: &'a NameNodes, user: &'a str, recursive: bool, cancel: &'a Cancel) -> Listing<'a> {
        let (now, clients) = (Instant::now(), BTreeMap::new());
        let (until, places_until) = (now + HDFS_DEADLINE, now + PLACES);
        Listing { nodes, user, recursive, cancel, until, places_until, entries: 0, place_bytes: 0, clients }
    }

    /// Calls `take` for each file that an input names.
    pub(super) fn files(
        &mut self,
        input: &str,
        take: &mut dyn FnMut(RemoteFile) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let path = remote_path(input)?;
        match self.status(&path) {
            Ok(status) => self.walk(&path, &status, 0, take),
            Err(InputError::Remote { source, .. }) if source.is_missing() && has_pattern(&path.path) => {
                let mut matched = false;
                for found in self.expand(&path)? {
                    let status = self.status(&found)?;
                    self.walk(&found, &status, 0, &mut |file| {
                        matched = true;
                        take(file)
                    })?;
                }
                if matched { Ok(()) } else { Err(InputError::NoMatch { path: input.to_owned() }) }
            }
            Err(error) => Err(error),
        }
    }

    /// Where the bytes of a file are. Empty when that cannot be known, or takes too long: a job runs without it.
    pub(super) fn blocks(&mut self, file: &RemoteFile) -> Result<Vec<Block>, InputError> {
        if file.state.length == 0 || Instant::now() > self.places_until || self.place_bytes > MOST_PLACE_BYTES {
            return Ok(Vec::new());
        }
        let asked = self.ask(&file.path, |client| client.blocks(&file.path, file.state.length));
        match asked {
            Err(InputError::Remote { path, source }) => {
                tracing::warn!(%path, error = %source, "where an input's blocks are is not known");
                // The next file's answer would be no better, and may take as long.
                self.places_until = Instant::now();
                Ok(Vec::new())
            }
            asked => asked,
        }
    }

    /// The hosts of one more split, as long as all of them are not too many.
    pub(super) fn kept(&mut self, hosts: Vec<String>) -> Vec<String> {
        self.place_bytes += hosts.iter().map(|host| host.len() + size_of::<String>()).sum::<usize>();
        if self.place_bytes > MOST_PLACE_BYTES { Vec::new() } else { hosts }
    }

    /// Whom to ask about a path.
    pub(super) fn client(&mut self, path: &RemotePath) -> Result<Remote, InputError> {
        let key = format!("{}://{}", path.scheme, path.authority);
        if let Some(known) = self.clients.get(&key) {
            return Ok(known.clone());
        }
        let remote = if path.is_object() {
            Remote::bucket(&path.authority).map_err(|source| of(path, source.into()))?
        } else {
            Remote::name_node(server(self.nodes, path)?, self.user)
        };
        Ok(self.clients.entry(key).or_insert(remote).clone())
    }

    /// When this job's questions end.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    fn walk(
        &mut self,
        path: &RemotePath,
        status: &FileStatus,
        depth: usize,
        take: &mut dyn FnMut(RemoteFile) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        match status.kind {
            FileKind::File => {
                let modified_us = status.modified_ms.saturating_mul(1_000);
                let state = FileState { length: status.length, modified_us };
                return take(RemoteFile {
                    path: path.clone(),
                    state,
                    block: (!path.is_object()).then_some(status.block_bytes),
                });
            }
            FileKind::Other => return Err(InputError::Special { path: path.to_string().into() }),
            FileKind::Directory => {}
        }
        if depth > 0 && !self.recursive {
            return Err(InputError::Nested { path: path.to_string().into() });
        }
        if depth >= MAX_DEPTH {
            return Err(InputError::TooDeep { path: path.to_string() });
        }
        for child in self.list(path)? {
            if !is_hidden(child.name.as_ref()) {
                self.walk(&path.child(&child.name), &child, depth + 1, take)?;
            }
        }
        Ok(())
    }

    /// What a pattern matches, hidden names left out, in order of the paths.
    fn expand(&mut self, pattern: &RemotePath) -> Result<Vec<RemotePath>, InputError> {
        let mut found = vec![pattern.with_path("/")];
        let mut parts = pattern.path.split('/').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            if !has_pattern(part) {
                found = found.iter().map(|path| path.child(part)).collect();
                continue;
            }
            let matcher = glob::Pattern::new(part)
                .map_err(|e| InputError::Pattern { path: pattern.to_string(), problem: e.to_string() })?;
            let mut next = Vec::new();
            for path in found {
                let children = match self.list(&path) {
                    // Not every directory that was matched has what comes next.
                    Err(InputError::Remote { source, .. }) if source.is_missing() => continue,
                    children => children?,
                };
                let matching = children.into_iter().filter(|child| matcher.matches(&child.name));
                let shown = matching.filter(|child| !is_last || !is_hidden(child.name.as_ref()));
                next.extend(shown.map(|child| path.child(&child.name)));
            }
            found = next;
        }
        let mut there = Vec::new();
        for path in found {
            match self.status(&path) {
                Err(InputError::Remote { source, .. }) if source.is_missing() => {}
                Err(error) => return Err(error),
                Ok(_) => there.push(path),
            }
        }
        Ok(there)
    }

    /// The entries of a directory, by name.
    fn list(&mut self, path: &RemotePath) -> Result<Vec<FileStatus>, InputError> {
        let (cancel, until) = (self.cancel, self.until);
        let goes_on = || !cancel.is_set() && Instant::now() <= until;
        let mut children = self.ask(path, |client| client.list(path, MAX_ENTRIES, &goes_on))?;
        self.entries += children.len();
        if self.entries > MAX_ENTRIES {
            return Err(InputError::TooManyEntries);
        }
        let longest = children.iter().map(|child| child.name.len()).max().unwrap_or(0);
        if path.to_string().len() + 1 + longest > limits::PATH_BYTES {
            return Err(InputError::TooDeep { path: path.to_string() });
        }
        // A file lists itself, without a name.
        children.retain(|child| !child.name.is_empty());
        children.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(children)
    }

    fn status(&mut self, path: &RemotePath) -> Result<FileStatus, InputError> {
        self.entries += 1;
        self.ask(path, |client| client.status(path))
    }

    /// One question, while there is somebody to ask it for.
    fn ask<T>(
        &mut self,
        path: &RemotePath,
        question: impl FnOnce(&Remote) -> Result<T, RemoteError>,
    ) -> Result<T, InputError> {
        self.waited_for(path)?;
        let client = self.client(path)?;
        question(&client).map_err(|source| match self.waited_for(path) {
            // Whatever the question says of it.
            Err(nobody) => nobody,
            Ok(()) => of(path, source),
        })
    }

    fn waited_for(&self, path: &RemotePath) -> Result<(), InputError> {
        if self.cancel.is_set() {
            return Err(InputError::Cancelled);
        }
        if Instant::now() > self.until {
            return Err(InputError::TooSlow { path: path.to_string() });
        }
        Ok(())
    }
}

fn of(path: &RemotePath, source: RemoteError) -> InputError {
    InputError::Remote { path: path.to_string(), source }
}

/// The address of an input that lies elsewhere.
pub(super) fn remote_path(input: &str) -> Result<RemotePath, InputError> {
    input.parse().map_err(InputError::Address)
}

/// The HTTP server of the file system that a path lies in.
pub(super) fn server<'a>(nodes: &'a NameNodes, path: &RemotePath) -> Result<&'a str, InputError> {
    nodes.server(path).ok_or_else(|| InputError::NoNameNode {
        path: path.to_string(),
        name_node: format!("{}://{}", path.scheme, path.authority),
    })
}

fn has_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests;
