//! The files and directories of a fake, and how a name node tells of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::mood::Mood;

#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) block_bytes: usize,
    pub(super) modified_ms: i64,
}

/// A directory is there when it was made, or when something lies in it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: BTreeMap<String, File>,
    pub(super) folders: BTreeSet<String>,
}

impl Tree {
    pub(super) fn is_folder(&self, path: &str) -> bool {
        let below = below(path);
        let is_inside = |name: &String| name.starts_with(&below);
        path == "/"
            || self.folders.contains(path)
            || self.folders.iter().any(is_inside)
            || self.files.keys().any(is_inside)
    }

    pub(super) fn is_empty_folder(&self, path: &str) -> bool {
        let below = below(path);
        let is_inside = |name: &String| name.starts_with(&below);
        !self.folders.iter().any(is_inside) && !self.files.keys().any(is_inside)
    }

    pub(super) fn write(&mut self, path: &str, bytes: Vec<u8>, block_bytes: usize) {
        let before = self.files.get(path).map_or(1_700_000_000_000, |file| file.modified_ms);
        let file = File { bytes: Arc::new(bytes), block_bytes, modified_ms: before + 1_000 };
        self.files.insert(path.to_owned(), file);
    }

    /// Removes a path and all below it; whether it was there.
    pub(super) fn remove(&mut self, path: &str) -> bool {
        let (was, below) = (self.files.contains_key(path) || self.is_folder(path), below(path));
        let stays = |name: &String| name != path && !name.starts_with(&below);
        self.files.retain(|name, _| stays(name));
        self.folders.retain(stays);
        was
    }

    /// Moves a path and all below it.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let below = below(from);
        let moved = |name: &str| match name.strip_prefix(&below) {
            Some(rest) => format!("{to}/{rest}"),
            None if name == from => to.to_owned(),
            None => name.to_owned(),
        };
        self.files = std::mem::take(&mut self.files).into_iter().map(|(name, file)| (moved(&name), file)).collect();
        self.folders = std::mem::take(&mut self.folders).into_iter().map(|name| moved(&name)).collect();
    }

    /// The entries of a directory, in a name node's JSON.
    pub(super) fn entries(&self, path: &str, mood: &Mood) -> Option<Vec<String>> {
        if *mood == Mood::Bottomless {
            return Some(vec![status("d", None)]);
        }
        let below = below(path);
        let (mut entries, mut folders) = (Vec::new(), BTreeSet::new());
        for (name, file) in self.files.iter().filter_map(|(path, file)| Some((path.strip_prefix(&below)?, file))) {
            match name.split_once('/') {
                Some((folder, _)) => drop(folders.insert(folder)),
                None => entries.push(status(name, Some(file))),
            }
        }
        let made = self.folders.iter().filter_map(|path| path.strip_prefix(&below));
        folders.extend(made.map(|name| name.split('/').next().unwrap_or(name)));
        entries.extend(folders.into_iter().map(|folder| status(folder, None)));
        if let Mood::Entry(name) = mood {
            entries.push(status(name, None));
        }
        // The order of a listing is nobody's to rely on.
        entries.reverse();
        (!entries.is_empty() || self.is_folder(path)).then_some(entries)
    }
}

fn below(path: &str) -> String {
    format!("{}/", path.trim_end_matches('/'))
}

pub(super) fn status(name: &str, file: Option<&File>) -> String {
    let name = serde_json::Value::from(name);
    let (kind, length, block, modified, mode, copies) = match file {
        Some(file) => ("FILE", file.bytes.len(), file.block_bytes, file.modified_ms, 644, 1),
        None => ("DIRECTORY", 0, 0, 0, 755, 0),
    };
    format!(
        r#"{{"accessTime":0,"blockSize":{block},"group":"staff","owner":"ann","permission":"{mode}","replication":{copies},"length":{length},"modificationTime":{modified},"pathSuffix":{name},"type":"{kind}"}}"#
    )
}

pub(super) fn list(entries: &[String]) -> String {
    format!(r#"{{"FileStatuses":{{"FileStatus":[{}]}}}}"#, entries.join(","))
}
