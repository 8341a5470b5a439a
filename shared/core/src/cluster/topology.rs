//! Hosts and racks as small numbers.
//!
//! Names are interned in order of first mention, so that equal inputs give equal numbers. A host's rack is
//! known once a worker on it has registered; until then its data counts as off-rack for everyone.

use std::collections::BTreeMap;

/// A host, by order of first mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A rack, by order of first mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RackId(pub u32);

/// All hosts and racks that were ever named.
#[derive(Clone, Debug, Default)]
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
}
