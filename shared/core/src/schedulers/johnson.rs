//! Johnson's order of jobs, from their profiles: the one in which two-stage jobs end first, or its reverse.
//!
//! Each job is the pair of its map and reduce stage on all slots of the cluster, estimated by the bounds of
//! balanced-pools §2.2; the rule is `models::johnson`'s (§3.2). Priorities go first, as under FIFO. A job without a
//! profile goes behind those with one, as if each of its tasks took equally long: counts are all that is known of it.
//! Jobs may come at any time: each takes its place among those that wait (§6), and what runs goes on.

use super::params::{Reader, SchedulerError};
use super::{Capabilities, JobOrder};
use crate::cluster::{ClusterState, Job};
use crate::job::{JobId, JobProfile, PerKind, PhaseTimes, Priority, TaskKind};
use crate::models::bounds::{Bound, DividedBy, JobModel};
use crate::models::{JohnsonRank, Stages};
use crate::schedulers::Change;
use crate::time::Span;

/// A job's place; smaller runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    priority: Priority,
    /// Whether it has no profile.
    unknown: bool,
    rank: JohnsonRank,
    /// Settles ties of the reverse order the other way round.
    tie: u32,
}

/// How a job's place is found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rule {
    pub(super) reverse: bool,
    pub(super) bound: Bound,
    pub(super) divided: DividedBy,
}

impl Rule {
    /// Reads `bound` (average, low or upper) and `stages` (usable or printed).
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Rule, SchedulerError> {
        let divided = match params.word("stages", &["usable", "printed"])? {
            "usable" => DividedBy::Usable,
            _ => DividedBy::All,
        };
        Ok(Rule { reverse: false, bound: params.bound()?, divided })
    }

    /// The job's place where it has so many map and reduce slots.
    pub(super) fn place(self, job: &Job, slots: PerKind<u32>) -> Place {
        let spec = job.spec();
        let second = PhaseTimes::even(Span::from_secs(1));
        let guess = JobProfile { map: second, reduce: second, ..JobProfile::default() };
        let profile = spec.profile.as_deref().copied().unwrap_or(guess);
        let model = JobModel { n_maps: spec.n_maps, n_reduces: spec.n_reduces, profile };
        let stages = Stages {
            map_us: model.map_stage(slots[TaskKind::Map], self.bound, self.divided).as_us(),
            reduce_us: model.reduce_stage(slots[TaskKind::Reduce], self.bound, self.divided).as_us(),
        };
        let (rank, tie) = (stages.rank(), job.id().0);
        let (rank, tie) = if self.reverse { (rank.reversed(), u32::MAX - tie) } else { (rank, tie) };
        Place { priority: job.priority(), unknown: spec.profile.is_none(), rank, tie }
    }
}

/// The order of [`Ordered`](super::Ordered) that is Johnson's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Johnson {
    rule: Rule,
    /// Of live workers, when the jobs were ranked.
    slots: PerKind<u32>,
}

impl Johnson {
    /// Reads `order` (johnson or reverse), `bound` (average, low or upper) and `stages` (usable or printed).
    pub(super) fn from_params(params: &mut Reader<'_>) -> Result<Johnson, SchedulerError> {
        let reverse = params.word("order", &["johnson", "reverse"])? == "reverse";
        Ok(Johnson { rule: Rule { reverse, ..Rule::from_params(params)? }, slots: [0; 2] })
    }
}

impl JobOrder for Johnson {
    type Rank = Place;

    fn name(&self) -> &'static str {
        "johnson"
    }

    fn rank(&self, job: &Job, _state: &ClusterState) -> Place {
        self.rule.place(job, self.slots)
    }

    fn observe(&mut self, change: &Change, state: &ClusterState, moved: &mut Vec<JobId>) {
        // Stages, and with them places, depend on the slots.
        if matches!(change, Change::Worker { .. }) && self.slots != state.totals().slots {
            self.slots = state.totals().slots;
            moved.extend(state.jobs().map(Job::id));
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { follows_attempts: false, ..Capabilities::default() }
    }

    fn attach(&mut self, state: &ClusterState) {
        self.slots = state.totals().slots;
    }
}
