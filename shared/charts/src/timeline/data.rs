//! What a timeline shows: who held which slots when, and when jobs came and went.

use howdah_core::job::TaskKind;
use howdah_core::replay::AttemptRecord;
use howdah_core::time::Time;

/// More slots than this are drawn as areas.
pub(super) const MAX_LANES: usize = 260;

/// More jobs than this are drawn as thin bars.
pub(super) const MAX_JOB_LANES: usize = 120;

/// More pieces than this are drawn as areas: a lane has no room for them, and the file would be megabytes.
pub(super) const MAX_PIECES: usize = 50_000;

/// What one lane stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    Slot,
    Job,
}

/// All that is drawn.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// First line.
    pub title: String,
    /// Second line.
    pub subtitle: String,
    /// In order of submission: job number 1 is the first.
    pub jobs: Vec<JobBar>,
    /// In any order.
    pub attempts: Vec<AttemptRecord>,
    /// Map and reduce slots of the cluster.
    pub slots: [u32; 2],
    /// Names of the workers, by number; empty in the slot-pool model.
    pub workers: Vec<String>,
}

/// One job on the time axis.
#[derive(Clone, Debug)]
pub struct JobBar {
    /// Printed id.
    pub id: String,
    /// For people; may be empty.
    pub name: String,
    /// When it came.
    pub submit: Time,
    /// Its first launch.
    pub start: Option<Time>,
    /// Its last map's end.
    pub maps_done: Option<Time>,
    /// When it was over.
    pub finish: Time,
}

/// `map slots` or `reduce slots`.
pub(super) fn slots_of(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Map => "map slots",
        TaskKind::Reduce => "reduce slots",
    }
}
