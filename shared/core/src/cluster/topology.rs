//! Hosts and racks as small numbers.
//!
//! Names are interned in order of first mention, so that equal inputs give equal numbers. A host's rack is
//! known once a worker on it has registered; until then its data counts as off-rack for everyone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A host, by order of first mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostId(pub u32);

/// A rack, by order of first mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RackId(pub u32);

/// All hosts and racks that were ever named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    hosts: BTreeMap<String, HostId>,
    racks: BTreeMap<String, RackId>,
    rack_of: Vec<Option<RackId>>,
}

impl Topology {
    /// The host of this name, if it was ever mentioned.
    pub fn host(&self, name: &str) -> Option<HostId> {
        self.hosts.get(name).copied()
    }

    /// The rack of a host, once known.
    pub fn rack_of(&self, host: HostId) -> Option<RackId> {
        self.rack_of.get(host.0 as usize).copied().flatten()
    }

    /// Number of racks ever named.
    pub fn n_racks(&self) -> u32 {
        self.racks.len() as u32
    }

    pub(crate) fn intern_host(&mut self, name: &str) -> HostId {
        if let Some(&host) = self.hosts.get(name) {
            return host;
        }
        let host = HostId(self.rack_of.len() as u32);
        self.hosts.insert(name.to_owned(), host);
        self.rack_of.push(None);
        host
    }

    pub(crate) fn intern_rack(&mut self, name: &str) -> RackId {
        if let Some(&rack) = self.racks.get(name) {
            return rack;
        }
        let rack = RackId(self.racks.len() as u32);
        self.racks.insert(name.to_owned(), rack);
        rack
    }

    /// Notes the rack of a host; true if that is news.
    pub(crate) fn place(&mut self, host: HostId, rack: RackId) -> bool {
        let known = &mut self.rack_of[host.0 as usize];
        let news = *known != Some(rack);
        *known = Some(rack);
        news
    }

    /// Whether hosts and racks are numbered one by one, each name once.
    pub(crate) fn check(&self) -> bool {
        let dense = |mut numbers: Vec<u32>| {
            numbers.sort_unstable();
            numbers.iter().enumerate().all(|(place, &number)| place == number as usize)
        };
        let n_racks = self.racks.len();
        self.hosts.len() == self.rack_of.len()
            && dense(self.hosts.values().map(|host| host.0).collect())
            && dense(self.racks.values().map(|rack| rack.0).collect())
            && self.rack_of.iter().flatten().all(|rack| (rack.0 as usize) < n_racks)
    }
}
