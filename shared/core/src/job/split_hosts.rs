//! Where a job's splits lie.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// The hosts of each split, as one table: `hosts[entries[offsets[m] .. offsets[m + 1]]]` for map `m`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitTable {
    /// Host names, each once.
    pub hosts: Vec<String>,
    /// Indexes into `hosts`.
    pub entries: Vec<u32>,
    /// Where each map's entries start: empty when no split has a known place, else `n_maps + 1` ascending entries.
    pub offsets: Vec<u32>,
}

/// What a job has where no split's place is known.
static NOWHERE: SplitTable = SplitTable { hosts: Vec::new(), entries: Vec::new(), offsets: Vec::new() };

/// A job's [`SplitTable`]; one word where no split's place is known, as in most traces: thousands of jobs wait at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SplitTable", into = "SplitTable")]
pub struct SplitHosts(Option<Box<SplitTable>>);

impl SplitHosts {
    /// The table for these splits; empty when no split names a host.
    pub fn new<'a, S, H>(splits: S) -> SplitHosts
    where
        S: IntoIterator<Item = H>,
        H: IntoIterator<Item = &'a str>,
    {
        let mut table = SplitTable { offsets: vec![0], ..SplitTable::default() };
        let mut index_of = BTreeMap::new();
        for split in splits {
            for host in split {
                let index = *index_of.entry(host).or_insert_with(|| {
                    table.hosts.push(host.to_owned());
                    table.hosts.len() as u32 - 1
                });
                table.entries.push(index);
            }
            table.offsets.push(table.entries.len() as u32);
        }
        if table.entries.is_empty() { SplitHosts::default() } else { table.into() }
    }

    /// The hosts of map `map`; empty when unknown.
    pub fn of(&self, map: u32) -> impl Iterator<Item = &str> {
        let range = match (self.offsets.get(map as usize), self.offsets.get(map as usize + 1)) {
            (Some(&from), Some(&to)) => from as usize..to as usize,
            _ => 0..0,
        };
        self.entries.get(range).unwrap_or(&[]).iter().filter_map(|&i| self.hosts.get(i as usize)).map(String::as_str)
    }
}

impl Deref for SplitHosts {
    type Target = SplitTable;

    fn deref(&self) -> &SplitTable {
        self.0.as_deref().unwrap_or(&NOWHERE)
    }
}

impl From<SplitTable> for SplitHosts {
    fn from(table: SplitTable) -> SplitHosts {
        SplitHosts((table != NOWHERE).then(|| Box::new(table)))
    }
}

impl From<SplitHosts> for SplitTable {
    fn from(hosts: SplitHosts) -> SplitTable {
        hosts.0.map_or_else(SplitTable::default, |table| *table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_back_as_it_was_written_and_an_empty_one_takes_no_room() {
        let some = SplitHosts::new([vec!["a", "b"], vec![], vec!["b"]]);
        let text = serde_json::to_string(&some).unwrap();
        assert_eq!(text, r#"{"hosts":["a","b"],"entries":[0,1,1],"offsets":[0,2,2,3]}"#);
        assert_eq!(serde_json::from_str::<SplitHosts>(&text).unwrap(), some);
        let none = r#"{"hosts":[],"entries":[],"offsets":[]}"#;
        assert_eq!(serde_json::from_str::<SplitHosts>(none).unwrap(), SplitHosts::default());
        assert_eq!(serde_json::to_string(&SplitHosts::default()).unwrap(), none);
        assert_eq!(size_of::<SplitHosts>(), size_of::<usize>());
    }
}
