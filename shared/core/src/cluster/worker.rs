//! A worker as the master knows it.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::topology::{HostId, RackId};
use crate::job::{AttemptId, JobId, PerKind, TaskKind, WorkerId};
use crate::time::Time;

/// The state of a worker.
///
/// ```text
///  Live ◄──► Draining        Live ◄──► Blacklisted
///    └──────────┴───────┬─────────────────┘
///                       ▼
///                     Lost ──► Live (it registers again)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum WorkerState {
    /// Gets attempts.
    Live = 0,
    /// Gets none by request; what runs may end.
    Draining = 1,
    /// Gets none because of its failures.
    Blacklisted = 2,
    /// Silent for longer than the expiry, restarted, or gone.
    Lost = 3,
}

/// What a worker measures of itself, quantised at the edge so that no float decides anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vitals {
    /// One-minute load average in thousandths.
    pub load1_milli: u32,
    /// Five-minute load average in thousandths.
    pub load5_milli: u32,
    /// Fifteen-minute load average in thousandths.
    pub load15_milli: u32,
    /// Mean use of all cores in ten-thousandths.
    pub cpu_use_parts: u16,
    /// Cores.
    pub n_cpus: u16,
    /// Cores that the worker may use, in thousandths: its quota, or all of them.
    pub cpus_milli: u32,
    /// Tasks that run or wait for a core, smoothed over some seconds, in thousandths; the worker's own included.
    pub run_queue_milli: u32,
    /// The part of them that is not the worker's own attempts: foreign load.
    pub foreign_milli: u32,
    /// Current frequency in kHz, mean of the cores; 0 when unknown.
    pub cpu_khz: u32,
    /// Highest frequency of the cores in kHz; 0 when unknown.
    pub max_khz: u32,
    /// Thousands of cycles a second that one task may use when all of the worker's map slots run, foreign load left
    /// aside: of the highest frequency that the cores may have now, as idle ones are slower and speed up for a task; less
    /// under a quota, which does not change a core's frequency. 0 when unknown.
    pub effective_khz: u32,
    /// Memory in KiB.
    pub memory_total_kib: u64,
    /// Memory available in KiB.
    pub memory_free_kib: u64,
    /// Free disk under the worker's directory in KiB.
    pub disk_free_kib: u64,
}

impl Vitals {
    /// What a load curve takes for the cores of a worker with so many map slots, in thousandths: those that it may use.
    /// Where a quota leaves it less than a core for each slot, as many as the slots: what the quota then takes from
    /// each task is in the [effective frequency](Vitals::effective_khz), and must not count twice.
    pub fn load_cores_milli(&self, map_slots: u16) -> u32 {
        let slots = u32::from(map_slots.min(self.n_cpus)) * 1_000;
        self.cpus_milli.max(slots)
    }

    /// The effective frequency that goes with [`Vitals::load_cores_milli`], from [`Vitals::cpu_khz`] and the quota.
    pub fn effective_khz_for(&self, map_slots: u16) -> u32 {
        let cores = u64::from(self.load_cores_milli(map_slots)).max(1);
        (u64::from(self.cpu_khz) * u64::from(self.cpus_milli) / cores) as u32
    }
}

/// Faults of a worker by the start of their time bucket, ascending.
pub(crate) type Faults = SmallVec<[(Time, u32); 2]>;

/// A heartbeat that is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parked {
    /// Order of parking, over all workers.
    pub(crate) turn: u64,
    /// When it is answered in any case.
    pub(crate) deadline: Time,
}

/// One worker.
#[derive(Clone, Debug)]
pub struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) name: String,
    pub(crate) host: HostId,
    pub(crate) host_name: String,
    pub(crate) rack: RackId,
    pub(crate) rack_name: String,
    pub(crate) incarnation: u64,
    /// Ascending by name, each name once.
    pub(crate) attributes: Vec<(String, String)>,
    /// Of the set that a report brought last; 0 for the registration's.
    pub(crate) attributes_version: u32,
    pub(crate) state: WorkerState,
    pub(crate) draining: bool,
    pub(crate) blacklisted: bool,
    /// Whether it is that for failing every task at once.
    pub(crate) black_hole: bool,
    /// When it was last heard of before it was lost and had not been asked to go; `None` if that never was.
    pub(crate) fell_silent: Option<Time>,
    /// Whether nobody can fetch from it.
    pub(crate) unreachable: bool,
    pub(crate) slots: PerKind<u16>,
    /// Slots of each kind that attempts hold that the core has on it, those being stopped included.
    pub(crate) occupied: PerKind<u16>,
    /// Slots to fill in its present round; meaningful while a report of it is being handled or parked.
    pub(crate) free: PerKind<u16>,
    pub(crate) accepts: bool,
    /// Slots in the arena of attempts.
    pub(crate) attempts: Vec<u32>,
    pub(crate) last_contact: Time,
    pub(crate) vitals: Vitals,
    /// Number of its last answer.
    pub(crate) response_id: u32,
    pub(crate) parked: Option<Parked>,
    /// Whether there is a directive that no answer has carried yet.
    pub(crate) news: bool,
    /// Number of its report in the batch under way, 0 if there is none.
    pub(crate) calling: u32,
    /// Whether its last report allowed the answer to be held back.
    pub(crate) may_park: bool,
    /// Ended jobs whose files it is to remove, and whether an answer has said so.
    pub(crate) forget: SmallVec<[(JobId, bool); 2]>,
    /// Attempts that it reports and the core does not have on it, with the last report that listed them.
    pub(crate) strays: SmallVec<[(AttemptId, u32); 2]>,
    pub(crate) faults: Faults,
    pub(crate) reserved: PerKind<Option<JobId>>,
}

impl Worker {
    /// Its dense number.
    pub fn id(&self) -> WorkerId {
        self.id
    }

    /// Unique name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its host.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// Its host as split locations name it.
    pub fn host_name(&self) -> &str {
        &self.host_name
    }

    /// Its rack.
    pub fn rack(&self) -> RackId {
        self.rack
    }

    /// Rack path.
    pub fn rack_name(&self) -> &str {
        &self.rack_name
    }

    /// Of its last registration.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Named attributes, ascending by name.
    pub fn attributes(&self) -> &[(String, String)] {
        &self.attributes
    }

    /// The value of one of them; [`Worker::answers`] knows the name, host and rack as well.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let index = self.attributes.binary_search_by(|(key, _)| key.as_str().cmp(name)).ok()?;
        Some(&self.attributes[index].1)
    }

    /// Its state.
    pub fn state(&self) -> WorkerState {
        self.state
    }

    /// Slots of one kind.
    pub fn slots(&self, kind: TaskKind) -> u16 {
        self.slots[kind]
    }

    /// Slots of one kind that attempts on it hold, those being stopped included.
    pub fn occupied(&self, kind: TaskKind) -> u16 {
        self.occupied[kind]
    }

    /// Slots that its present round may fill; between rounds of no meaning.
    pub fn free(&self, kind: TaskKind) -> u16 {
        self.free[kind]
    }

    /// When its last message came, or when it was released from parking.
    pub fn last_contact(&self) -> Time {
        self.last_contact
    }

    /// As last reported.
    pub fn vitals(&self) -> &Vitals {
        &self.vitals
    }

    /// Number of its last answer.
    pub fn response_id(&self) -> u32 {
        self.response_id
    }

    /// Whether its heartbeat is being held back.
    pub fn is_parked(&self) -> bool {
        self.parked.is_some()
    }

    /// Whether nobody can fetch map output from it.
    pub fn is_unreachable(&self) -> bool {
        self.unreachable
    }

    /// Faults that count towards the cluster's blacklist and have not been forgotten.
    pub fn n_faults(&self) -> u32 {
        self.faults.iter().map(|&(_, n)| n).sum()
    }

    /// Whether it is blacklisted because it failed every task at once and other workers did what it failed.
    pub fn is_black_hole(&self) -> bool {
        self.black_hole
    }

    /// The job for which a policy keeps its slots of this kind free.
    pub fn reserved(&self, kind: TaskKind) -> Option<JobId> {
        self.reserved[kind]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_lowers_the_frequency_where_slots_share_it_and_the_cores_elsewhere() {
        let worker = |cpus_milli| Vitals { n_cpus: 4, cpus_milli, cpu_khz: 2_000, ..Vitals::default() };
        let of = |cpus_milli, slots| {
            let vitals = worker(cpus_milli);
            (vitals.load_cores_milli(slots), vitals.effective_khz_for(slots))
        };
        assert_eq!(of(4_000, 2), (4_000, 2_000), "no quota");
        assert_eq!(of(4_000, 8), (4_000, 2_000), "more slots than cores are load, not a lower frequency");
        assert_eq!(of(500, 1), (1_000, 1_000), "half a core for its only slot");
        assert_eq!(of(1_000, 2), (2_000, 1_000));
        assert_eq!(of(2_000, 1), (2_000, 2_000), "two of four cores, and one slot");
    }
}
