//! Where the records of a container are, for those who read it: made when somebody asks, and only added to after that.
//!
//! The writer needs none, so jobs whose logs nobody reads cost no memory. Only the last few containers that were read have
//! one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

use super::container::Scan;
use super::record::Key;

/// Containers with an index.
const MAX_INDEXES: usize = 2;
/// Records that one has at most: more than any worker has attempts of a job, and not more than memory has room for,
/// whatever a task writes there.
const MAX_RECORDS: usize = 4 << 20;
/// Records of one attempt: a process that is reused may write after its last one.
const MAX_EACH: usize = 8;

#[derive(Debug)]
struct Index {
    /// Device and number of the file.
    of: (u64, u64),
    scan: Scan,
    first: HashMap<Key, u64>,
    /// Of attempts with several.
    more: HashMap<Key, Vec<u64>>,
}

/// The last used one stands last.
#[derive(Debug, Default)]
pub(super) struct Indexes(Mutex<Vec<Index>>);

impl Indexes {
    /// Where an attempt's records begin, in order.
    pub(super) fn find(&self, file: &File, key: Key) -> io::Result<Vec<u64>> {
        let meta = file.metadata()?;
        let of = (meta.dev(), meta.ino());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that became shorter is not the one that was read.
        let known = all.iter().position(|index| index.of == of && index.scan.at <= meta.len());
        let mut index = match known {
            Some(at) => all.remove(at),
            None => Index { of, scan: Scan::start(file)?, first: HashMap::new(), more: HashMap::new() },
        };
        index.extend(file, meta.len())?;
        let found = index.places(key);
        if all.len() >= MAX_INDEXES {
            all.remove(0);
        }
        all.push(index);
        Ok(found)
    }
}

impl Index {
    fn extend(&mut self, file: &File, length: u64) -> io::Result<()> {
        while self.first.len() + self.more.len() < MAX_RECORDS {
            let at = self.scan.at;
            let Some((record, _)) = self.scan.next(file, length)? else { break };
            match self.first.entry(record.key) {
                Entry::Vacant(first) => {
                    first.insert(at);
                }
                Entry::Occupied(_) => {
                    let more = self.more.entry(record.key).or_default();
                    if more.len() < MAX_EACH {
                        more.push(at);
                    }
                }
            }
        }
        Ok(())
    }

    fn places(&self, key: Key) -> Vec<u64> {
        let more = self.more.get(&key).into_iter().flatten();
        self.first.get(&key).into_iter().chain(more).copied().collect()
    }
}
