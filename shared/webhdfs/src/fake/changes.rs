//! What a fake changes when it is told to, with Hadoop's own refusals.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;

use super::mood::Mood;
use super::state::{Shared, State, host, node_name};
use super::wire::{decoded, json, redirect, refuse};

/// Bytes of a block of files that are written.
const BLOCK_BYTES: usize = 40_000;
const FORBIDDEN: &str = "403 Forbidden";

/// A request to change something.
pub(super) struct Change<'a> {
    pub(super) shared: &'a Shared,
    /// Of a data node, its number.
    pub(super) node: Option<usize>,
    pub(super) target: &'a str,
    pub(super) path: &'a str,
    pub(super) query: &'a BTreeMap<&'a str, &'a str>,
    pub(super) mood: Mood,
    /// Bytes that come with it.
    pub(super) length: usize,
}

/// Status, Java's name and words of a refusal; none where it is done.
type Refusal = Option<(&'static str, &'static str, String)>;

impl Change<'_> {
    pub(super) fn answer(&self, body: &mut impl Read, stream: &mut TcpStream) -> io::Result<()> {
        match (self.node, self.asks("op"), &self.mood) {
            (None, _, Mood::Silent) => self.hold(stream),
            (None, "RENAME", Mood::HoldsMoves(_)) if self.are_none_left() => self.hold(stream),
            (None, _, Mood::Leaves(_)) if self.are_none_left() => Ok(()),
            (None, op, Mood::SafeMode) if op != "CREATE" => {
                let why = format!("Cannot change {}. Name node is in safe mode.", self.path);
                refuse(stream, FORBIDDEN, "SafeModeException", &why)
            }
            (None, "CREATE", _) => self.place(stream),
            (None, op, _) => {
                let done = self.change(op, &mut self.shared.state());
                self.say(stream, op, done)
            }
            (Some(node), _, Mood::Dead(dead)) if node == *dead => Ok(()),
            (Some(0), _, Mood::Misleads(_)) => Ok(()),
            (Some(_), "CREATE", _) => self.take(body, stream),
            (Some(_), op, _) => refuse(stream, "400 Bad Request", "IllegalArgumentException", op),
        }
    }

    fn hold(&self, stream: &TcpStream) -> io::Result<()> {
        self.shared.state().held.push(stream.try_clone()?);
        Ok(())
    }

    /// Whether none is left of the changes that the mood counts; one less is from now on.
    fn are_none_left(&self) -> bool {
        match &mut self.shared.state().mood {
            Mood::HoldsMoves(0) | Mood::Leaves(0) => true,
            Mood::HoldsMoves(left) | Mood::Leaves(left) => {
                *left -= 1;
                false
            }
            _ => false,
        }
    }

    fn asks(&self, key: &str) -> &str {
        self.query.get(key).copied().unwrap_or_default()
    }

    /// The name node sends the writer to the first data node that is not excluded.
    fn place(&self, stream: &mut TcpStream) -> io::Result<()> {
        let excluded = decoded(self.asks("excludedatanodes"));
        let is_excluded =
            |node: &usize| excluded.split(',').any(|name| name == node_name(*node) || name == host(*node));
        let misled = match &mut self.shared.state().mood {
            Mood::Misleads(left @ 1..) => {
                *left -= 1;
                Some(0)
            }
            _ => None,
        };
        match misled.or_else(|| (0..self.shared.data_nodes.len()).find(|node| !is_excluded(node))) {
            Some(node) => redirect(stream, &format!("http://{}{}", self.shared.data_nodes[node], self.target)),
            None => {
                refuse(stream, FORBIDDEN, "IOException", "Failed to find datanode, suggest to check cluster health")
            }
        }
    }

    /// A data node takes a file.
    fn take(&self, body: &mut impl Read, stream: &mut TcpStream) -> io::Result<()> {
        let refused = self.refuses_file(&self.shared.state());
        if refused.is_some() {
            return self.say(stream, "CREATE", refused);
        }
        let breaks_after = match self.mood {
            Mood::Brittle(most) => Some(most),
            Mood::Fragile(node, most) if self.node == Some(node) => Some(most),
            _ => None,
        };
        let mut bytes = Vec::new();
        // As Apache's data nodes do, whether it is expected or not.
        write!(stream, "HTTP/1.1 100 Continue\r\n\r\n")?;
        body.take(breaks_after.unwrap_or(self.length).min(self.length) as u64).read_to_end(&mut bytes)?;
        let is_whole = bytes.len() == self.length && breaks_after.is_none();
        self.shared.state().tree.write(self.path, bytes, BLOCK_BYTES);
        if is_whole { self.say(stream, "CREATE", None) } else { Ok(()) }
    }

    fn refuses_file(&self, state: &State) -> Refusal {
        let (path, tree) = (self.path, &state.tree);
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
        match self.mood {
            Mood::SafeMode => {
                let why = format!("Cannot create file {path}. Name node is in safe mode.");
                Some((FORBIDDEN, "SafeModeException", why))
            }
            Mood::Quota(most) if self.length > most => {
                let why =
                    format!("The DiskSpace quota of /out is exceeded: quota = {most} B\nbut diskspace consumed = …");
                Some((FORBIDDEN, "DSQuotaExceededException", why))
            }
            _ if tree.is_folder(path) => {
                Some((FORBIDDEN, "FileAlreadyExistsException", format!("{path} already exists as a directory")))
            }
            _ if tree.files.contains_key(path) && self.asks("overwrite") != "true" => {
                Some((FORBIDDEN, "FileAlreadyExistsException", format!("{path} for client 127.0.0.1 already exists")))
            }
            _ if !tree.is_folder(parent) => {
                Some(("404 Not Found", "FileNotFoundException", format!("Parent directory doesn't exist: {parent}")))
            }
            _ => None,
        }
    }

    /// The name node makes, moves or removes a name.
    fn change(&self, op: &str, state: &mut State) -> Refusal {
        let (path, tree) = (self.path, &mut state.tree);
        match op {
            "MKDIRS" => {
                let above = path.match_indices('/').skip(1).map(|(at, _)| &path[..at]);
                if let Some(file) = above.chain([path]).find(|above| tree.files.contains_key(*above)) {
                    return Some((FORBIDDEN, "ParentNotDirectoryException", format!("{file} (is not a directory)")));
                }
                tree.folders.insert(path.to_owned());
                None
            }
            "DELETE" => {
                if self.asks("recursive") != "true" && tree.is_folder(path) && !tree.is_empty_folder(path) {
                    let why = format!("`{path} is non empty': Directory is not empty");
                    return Some((FORBIDDEN, "PathIsNotEmptyDirectoryException", why));
                }
                tree.remove(path);
                None
            }
            "RENAME" => {
                let to = decoded(self.asks("destination"));
                let is_there = |path: &str| tree.files.contains_key(path) || tree.is_folder(path);
                let parent = to.rsplit_once('/').map_or("/", |(parent, _)| parent);
                if !is_there(path) || !is_there(parent) {
                    let why = format!("rename source {path} or the parent of {to} is not found.");
                    return Some(("404 Not Found", "FileNotFoundException", why));
                }
                if is_there(&to) {
                    let why = format!("rename destination {to} already exists");
                    return Some((FORBIDDEN, "FileAlreadyExistsException", why));
                }
                tree.rename(path, &to);
                None
            }
            _ => Some(("400 Bad Request", "IllegalArgumentException", op.to_owned())),
        }
    }

    fn say(&self, stream: &mut TcpStream, op: &str, refused: Refusal) -> io::Result<()> {
        // This request is among those that were asked already.
        let asked = |state: &State| state.asked.iter().filter(|line| line.ends_with(self.target)).count();
        if self.mood == Mood::Forgetful && asked(&self.shared.state()) == 1 {
            return Ok(());
        }
        match refused {
            Some((status, exception, why)) => refuse(stream, status, exception, &why),
            None if op == "CREATE" => {
                write!(stream, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            None if op == "RENAME" => {
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            None => json(stream, "200 OK", r#"{"boolean":true}"#),
        }
    }
}
