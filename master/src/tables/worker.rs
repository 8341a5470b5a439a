//! One worker as people see it, and the RPC that waits for its answer.

use std::collections::HashMap;
use std::sync::Arc;

use howdah_core::cluster::Worker;
use howdah_core::job::TaskKind;
use howdah_core::time::Time;
use howdah_core::tracker::{Report, WorkerState};
use howdah_proto::v1;
use tokio::sync::oneshot;

use super::presence::{Going, Presence};
use super::vitals::{PageVitals, Past};

/// Processes that do not end, or that wait, of which one sentence names so many.
const NAMED: usize = 3;

/// A worker's row; its index is its number.
#[derive(Debug)]
pub(crate) struct WorkerRow {
    pub(crate) name: Arc<str>,
    pub(crate) host: Arc<str>,
    pub(crate) rack: Arc<str>,
    pub(crate) http_address: Arc<str>,
    /// Its own directory, resolved; empty if it did not say.
    pub(crate) directory: String,
    pub(crate) incarnation: u64,
    pub(crate) slots: [u32; 2],
    /// Why probes have no value, by probe.
    warnings: HashMap<String, String>,
    /// Of the set of attributes that they came with.
    warnings_version: u32,
    pub(crate) version: String,
    pub(crate) build: String,
    pub(crate) state: WorkerState,
    pub(crate) presence: Presence,
    /// Why nobody can fetch from it, if that is so.
    pub(crate) unreachable: Option<String>,
    /// Who complained of late that it cannot fetch from it, while they are too few to make it unreachable.
    pub(crate) complaint: Option<String>,
    /// Others said so, and until then the master does not know better.
    pub(crate) shunned_until: Time,
    /// The last job whose files it did not see, what it said, and when.
    pub(crate) unseen: Option<(String, Time)>,
    /// Attempts by kind.
    pub(crate) running: [u32; 2],
    /// Failed attempts since the master started.
    pub(crate) failures: u32,
    pub(crate) last_contact: Time,
    pub(crate) vitals: v1::Vitals,
    pub(crate) past: Past,
    /// Of the newest request of this registration.
    pub(super) sequence: u32,
    /// Its clock less ours, when its last vitals came.
    clock_offset_ms: Option<i64>,
    /// Directives for the next answer.
    pub(crate) directives: Vec<v1::Directive>,
    /// Input that it will most likely need next, for the next answer.
    pub(crate) prefetch: Vec<v1::SplitRange>,
    /// Input that it will need after that, for the next answer.
    pub(crate) retain: Vec<v1::SplitRange>,
    pub(crate) waiting: Option<oneshot::Sender<v1::HeartbeatResponse>>,
}

/// Why a worker is blacklisted.
pub(crate) fn why_listed(worker: Option<&Worker>) -> &'static str {
    if worker.is_some_and(Worker::is_black_hole) {
        return "attempt after attempt failed there at once, and other workers did the same tasks";
    }
    "too many attempts of jobs that succeeded failed there"
}

impl WorkerRow {
    /// Whether it has memory to prefetch into, as it says with its vitals.
    pub(crate) fn prefetches(&self) -> bool {
        self.vitals.details.as_ref().is_some_and(|details| details.prefetch.is_some())
    }

    pub(crate) fn new(request: v1::RegisterRequest, connection: u64, now: Time) -> WorkerRow {
        let mut row = WorkerRow {
            name: Arc::from(request.name.as_str()),
            host: Arc::from(""),
            rack: Arc::from(""),
            http_address: Arc::from(""),
            directory: String::new(),
            incarnation: 0,
            slots: [0; 2],
            warnings: HashMap::new(),
            warnings_version: 0,
            version: String::new(),
            build: String::new(),
            state: WorkerState::Live,
            presence: Presence::default(),
            unreachable: None,
            complaint: None,
            shunned_until: Time::ZERO,
            unseen: None,
            running: [0; 2],
            failures: 0,
            last_contact: now,
            vitals: v1::Vitals::default(),
            past: Past::default(),
            sequence: 0,
            clock_offset_ms: None,
            directives: Vec::new(),
            prefetch: Vec::new(),
            retain: Vec::new(),
            waiting: None,
        };
        row.register(request, connection, now);
        row
    }

    /// First contact of a new run of the worker.
    pub(crate) fn register(&mut self, request: v1::RegisterRequest, connection: u64, now: Time) {
        self.presence.arrive(connection);
        self.host = Arc::from(request.host);
        self.rack = Arc::from(request.rack);
        self.http_address = Arc::from(request.http_address);
        self.directory = request.directory;
        self.incarnation = request.incarnation;
        self.slots = [request.map_slots, request.reduce_slots];
        self.warnings = request.probe_warnings;
        self.warnings_version = 0;
        self.version = request.version;
        self.build = request.build;
        if let Some(details) = &mut self.vitals.details {
            details.undying.clear();
            details.held_up.clear();
        }
        // Tried anew.
        self.unreachable = None;
        self.complaint = None;
        self.shunned_until = Time::ZERO;
        self.unseen = None;
        self.last_contact = now;
        // What was meant for the previous run of the worker must not reach this one.
        self.sequence = 0;
        self.directives.clear();
        self.waiting = None;
    }

    /// Whether a newer request of this registration is here already; notes this one if not.
    pub(crate) fn is_overtaken(&mut self, sequence: u32) -> bool {
        let overtaken = sequence != 0 && sequence <= self.sequence;
        if !overtaken {
            self.sequence = sequence;
        }
        overtaken
    }

    /// Takes over the warnings of its probes, unless younger ones are here already.
    pub(crate) fn warn(&mut self, version: u32, warnings: HashMap<String, String>) {
        if version > self.warnings_version {
            self.warnings_version = version;
            self.warnings = warnings;
        }
    }

    pub(crate) fn take_report(&mut self, report: &Report, pages: PageVitals, now: Time) {
        self.last_contact = now;
        let old = PageVitals::take(&mut self.vitals);
        self.vitals = v1::Vitals::from(&report.vitals);
        self.vitals.core_use_parts =
            if pages.core_use_parts.is_empty() { old.core_use_parts } else { pages.core_use_parts };
        self.vitals.details = pages.details.or(old.details);
        self.clock_offset_ms = pages.clock_offset_ms.or(self.clock_offset_ms);
        self.past.note(&self.vitals, self.running.iter().sum(), now);
    }

    pub(crate) fn set_state(&mut self, state: WorkerState, now: Time) {
        self.state = state;
        if state == WorkerState::Lost {
            self.directives.clear();
            self.waiting = None;
            self.presence.lost(now);
        } else {
            self.presence.present();
        }
    }

    /// Why map output could not be fetched from it: who tried, and what they said.
    pub(super) fn not_fetched(&self) -> Option<&str> {
        self.unreachable.as_deref().or(self.complaint.as_deref())
    }

    /// What keeps it from being of full use.
    pub(crate) fn problems(&self) -> Vec<String> {
        let unseen = self.unseen.as_ref().map(|(what, at)| {
            let seconds = self.last_contact.since(*at).as_us() / 1_000_000;
            format!("{seconds} s ago, {what}")
        });
        self.unreachable.clone().into_iter().chain(unseen).chain(self.undying()).chain(self.held_up()).collect()
    }

    /// Which of its slots are taken by what does not end.
    pub(crate) fn undying(&self) -> Option<String> {
        let all = &self.vitals.details.as_ref()?.undying;
        let taken = match all.len() {
            0 => return None,
            1 => "a slot is taken by an attempt that was killed and whose process does not end".to_owned(),
            n => format!("{n} slots are taken by attempts that were killed and whose processes do not end"),
        };
        Some(format!("{taken}: {}; look at the file systems of its machine", named(all)))
    }

    /// Which attempts wait there for something that does not come.
    pub(crate) fn held_up(&self) -> Option<String> {
        let all = &self.vitals.details.as_ref()?.held_up;
        let wait = match all.len() {
            0 => return None,
            1 => "an attempt waits in the kernel".to_owned(),
            n => format!("{n} attempts wait in the kernel"),
        };
        Some(format!("{wait}, most often for a file system that does not answer: {}", named(all)))
    }

    /// The core's state, or what people can know better or sooner.
    pub(crate) const fn state_name(&self) -> &'static str {
        match (self.state, self.presence.refusal) {
            (WorkerState::Lost, _) if matches!(self.presence.going, Some(Going::Stopped)) => "STOPPED",
            (WorkerState::Lost, _) => "LOST",
            _ if self.presence.is_silent() => "SILENT",
            (WorkerState::Draining, _) | (WorkerState::Live, v1::Refusal::Stopping) => "DRAINING",
            (WorkerState::Blacklisted, _) => "BLACKLISTED",
            (WorkerState::Live, v1::Refusal::LowDisk) => "LOW_DISK",
            (WorkerState::Live, v1::Refusal::Unspecified) if self.unreachable.is_some() => "UNREACHABLE",
            (WorkerState::Live, v1::Refusal::Unspecified) => "LIVE",
        }
    }

    /// As `ListWorkers` shows it, with the attributes that the core matches requirements against.
    pub(crate) fn info(&self, worker: u32, attributes: &[(String, String)]) -> v1::WorkerInfo {
        v1::WorkerInfo {
            worker,
            name: self.name.to_string(),
            host: self.host.to_string(),
            rack: self.rack.to_string(),
            state: self.state_name().to_owned(),
            map_slots: self.slots[TaskKind::Map as usize],
            reduce_slots: self.slots[TaskKind::Reduce as usize],
            maps_running: self.running[TaskKind::Map as usize],
            reduces_running: self.running[TaskKind::Reduce as usize],
            last_heartbeat_ms_epoch: self.last_contact.as_ms(),
            http_address: self.http_address.to_string(),
            vitals: Some(self.vitals.clone()),
            attributes: attributes.iter().cloned().collect(),
            failures: self.failures,
            probe_warnings: self.warnings.clone(),
            version: self.version.clone(),
            build: self.build.clone(),
            problems: self.problems(),
            clock_offset_ms: self.clock_offset_ms,
        }
    }
}

/// The first of many, and how many more there are.
fn named(all: &[String]) -> String {
    let named = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
