//! Which maps have their data on which host and rack, for one job.
//!
//! Two immutable tables (place → ascending map indexes), built when the job is submitted, each place with a
//! cursor. **Invariant: a place's cursor stands on its first pending map, or at its end.** So the best map
//! for a worker is found without a search, and the cursors pass each entry once, plus once per return.

use std::sync::Arc;

use super::bits::BitSet;
use super::topology::{HostId, RackId, Topology};
use crate::job::{JobSpec, Locality};

/// The index of one job with known split locations.
#[derive(Clone, Debug)]
pub struct LocalityIndex {
    hosts: Places,
    racks: Places,
    /// Global number of each host in the specification's table.
    global: Arc<Vec<HostId>>,
}

/// Ascending lists of maps by place, and where the pending part of each begins.
#[derive(Clone, Debug, Default)]
struct Places {
    table: Arc<Table>,
    cursors: Vec<u32>,
}

#[derive(Debug, Default)]
struct Table {
    /// Ascending.
    keys: Vec<u32>,
    /// One more than `keys`.
    offsets: Vec<u32>,
    maps: Vec<u32>,
}

impl Table {
    /// From (place, map) pairs.
    fn new(mut pairs: Vec<(u32, u32)>) -> Table {
        pairs.sort_unstable();
        pairs.dedup();
        let mut table = Table { keys: Vec::new(), offsets: vec![0], maps: Vec::with_capacity(pairs.len()) };
        for (place, map) in pairs {
            if table.keys.last() != Some(&place) {
                if !table.keys.is_empty() {
                    table.offsets.push(table.maps.len() as u32);
                }
                table.keys.push(place);
            }
            table.maps.push(map);
        }
        if !table.keys.is_empty() {
            table.offsets.push(table.maps.len() as u32);
        }
        table
    }

    fn index(&self, place: u32) -> Option<usize> {
        self.keys.binary_search(&place).ok()
    }

    fn list(&self, index: usize) -> &[u32] {
        &self.maps[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

impl Places {
    fn new(pairs: Vec<(u32, u32)>, pending: &BitSet) -> Places {
        let table = Table::new(pairs);
        let cursors = (0..table.keys.len())
            .map(|index| table.list(index).iter().take_while(|&&map| !pending.contains(map)).count() as u32)
            .collect();
        Places { table: Arc::new(table), cursors }
    }

    fn pending_at<'a>(&'a self, place: u32, pending: &'a BitSet) -> impl Iterator<Item = u32> + 'a {
        let rest = self.table.index(place).map_or(&[][..], |i| &self.table.list(i)[self.cursors[i] as usize..]);
        rest.iter().copied().filter(|&map| pending.contains(map))
    }

    fn has(&self, place: u32, map: u32) -> bool {
        self.table.index(place).is_some_and(|i| self.table.list(i).binary_search(&map).is_ok())
    }

    fn taken(&mut self, place: u32, map: u32, pending: &BitSet) {
        let Some(index) = self.table.index(place) else { return };
        let (list, cursor) = (self.table.list(index), &mut self.cursors[index]);
        if list.get(*cursor as usize) == Some(&map) {
            while list.get(*cursor as usize).is_some_and(|&map| !pending.contains(map)) {
                *cursor += 1;
            }
        }
    }

    fn returned(&mut self, place: u32, map: u32) {
        let Some(index) = self.table.index(place) else { return };
        if let Ok(position) = self.table.list(index).binary_search(&map) {
            self.cursors[index] = self.cursors[index].min(position as u32);
        }
    }

    fn check(&self, pending: &BitSet) -> bool {
        self.cursors.iter().enumerate().all(|(index, &cursor)| {
            let list = self.table.list(index);
            let first = list.iter().position(|&map| pending.contains(map)).unwrap_or(list.len());
            first == cursor as usize
        })
    }
}

impl LocalityIndex {
    /// The index of a job whose split hosts are known; `None` when no split names a host.
    pub(crate) fn new(spec: &JobSpec, pending: &BitSet, topology: &mut Topology) -> Option<LocalityIndex> {
        let table = &spec.split_hosts;
        if table.entries.is_empty() {
            return None;
        }
        let global: Vec<HostId> = table.hosts.iter().map(|name| topology.intern_host(name)).collect();
        let mut index = LocalityIndex { hosts: Places::default(), racks: Places::default(), global: Arc::new(global) };
        let pairs = index.pairs(spec).map(|(map, host)| (host.0, map)).collect();
        index.hosts = Places::new(pairs, pending);
        index.place_racks(spec, pending, topology);
        Some(index)
    }

    /// Builds the racks' table again, after hosts' racks became known.
    pub(crate) fn place_racks(&mut self, spec: &JobSpec, pending: &BitSet, topology: &Topology) {
        let pairs =
            self.pairs(spec).filter_map(|(map, host)| topology.rack_of(host).map(|rack| (rack.0, map))).collect();
        self.racks = Places::new(pairs, pending);
    }

    /// Whether any split lies on this host.
    pub(crate) fn names(&self, host: HostId) -> bool {
        self.hosts.table.index(host.0).is_some()
    }

    fn pairs<'a>(&'a self, spec: &'a JobSpec) -> impl Iterator<Item = (u32, HostId)> + 'a {
        (0..spec.n_maps).flat_map(move |map| self.hosts_of(spec, map).map(move |host| (map, host)))
    }

    /// The hosts with a map's data.
    pub fn hosts_of<'a>(&'a self, spec: &'a JobSpec, map: u32) -> impl Iterator<Item = HostId> + 'a {
        let table = &spec.split_hosts;
        let range = table.offsets[map as usize] as usize..table.offsets[map as usize + 1] as usize;
        table.entries[range].iter().map(|&local| self.global[local as usize])
    }

    /// Pending maps with data on the host, ascending.
    pub fn pending_on_host<'a>(&'a self, host: HostId, pending: &'a BitSet) -> impl Iterator<Item = u32> + 'a {
        self.hosts.pending_at(host.0, pending)
    }

    /// Pending maps with data in the rack, ascending; those on any of its hosts included.
    pub fn pending_in_rack<'a>(&'a self, rack: RackId, pending: &'a BitSet) -> impl Iterator<Item = u32> + 'a {
        self.racks.pending_at(rack.0, pending)
    }

    /// How close a map's data is to a place.
    pub fn locality(&self, spec: &JobSpec, map: u32, host: HostId, rack: RackId) -> Locality {
        if self.hosts.has(host.0, map) {
            Locality::Node
        } else if self.racks.has(rack.0, map) {
            Locality::Rack
        } else if self.hosts_of(spec, map).next().is_none() {
            Locality::Unknown
        } else {
            Locality::OffRack
        }
    }

    /// Notes that a map is no longer pending.
    pub(crate) fn taken(&mut self, spec: &JobSpec, map: u32, pending: &BitSet, topology: &Topology) {
        let global = Arc::clone(&self.global);
        for &local in entries(spec, map) {
            let host = global[local as usize];
            self.hosts.taken(host.0, map, pending);
            if let Some(rack) = topology.rack_of(host) {
                self.racks.taken(rack.0, map, pending);
            }
        }
    }

    /// Notes that a map is pending again.
    pub(crate) fn returned(&mut self, spec: &JobSpec, map: u32, topology: &Topology) {
        let global = Arc::clone(&self.global);
        for &local in entries(spec, map) {
            let host = global[local as usize];
            self.hosts.returned(host.0, map);
            if let Some(rack) = topology.rack_of(host) {
                self.racks.returned(rack.0, map);
            }
        }
    }

    /// Whether every cursor stands where it should.
    pub(crate) fn check(&self, pending: &BitSet) -> bool {
        self.hosts.check(pending) && self.racks.check(pending)
    }
}

fn entries(spec: &JobSpec, map: u32) -> &[u32] {
    let table = &spec.split_hosts;
    &table.entries[table.offsets[map as usize] as usize..table.offsets[map as usize + 1] as usize]
}
