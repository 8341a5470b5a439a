//! MinEDF: deadlines in order, and for each job only the slots that it needs to meet its own.
//!
//! When a job arrives, the fewest map and reduce slots for its deadline are computed from its profile by the bounds
//! model; its running tasks of each kind never exceed them ("so that they are always less than the wanted number of
//! slots", SimMR §III-C, §V-A). What is left over goes to the next job, and stays free when no job wants it, unless
//! `spare` gives it away. A deadline that even all slots of the cluster cannot meet leaves the job without a limit, as
//! under MaxEDF, and so does a job without deadline, which comes after those with one.
//!
//! What the paper leaves open is a parameter. `bound`: the estimate that has to meet the deadline; the mean of lower
//! and upper bound is the paper's "good approximation" (§V-A) and the default. `recompute`: whether the demand is
//! computed again, from the tasks and the time that are left, whenever a task of the job starts after a pause or
//! ends. Without a profile the job's application is looked up among earlier runs, else the job has no limit until its
//! own tasks show how long they take, from where on it is recomputed. What it has learned stays when its parameters
//! change, and goes when another policy takes over.

mod learned;

use super::max_edf::{DeadlineRank, by_deadline};
use super::params::{Reader, SchedulerError};
use super::{Change, JobOrder, PerJob, Reason};
use crate::cluster::{ClusterState, Job};
use crate::job::{AttemptState, JobId, JobProfile, JobState, PerKind, TaskKind};
use crate::models::bounds::{Bound, Demand, JobModel, Slots};
use crate::time::Span;
use learned::{Applications, Seen};

/// The order of [`Ordered`](super::Ordered) that is MinEDF.
#[derive(Clone, Debug, Default)]
pub struct MinEdf {
    bound: Bound,
    recompute: bool,
    spare: bool,
    plans: PerJob<Plan>,
    applications: Applications,
}

/// What a job is to get.
#[derive(Clone, Debug)]
struct Plan {
    limits: PerKind<u32>,
    outlook: Outlook,
    source: Source,
    /// Its own tasks.
    seen: Seen,
}

/// From where a job's durations are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// It came with them.
    Profile(JobProfile),
    /// From an earlier run of its application.
    EarlierRun(JobProfile),
    /// From its own tasks, as far as they have come.
    OwnTasks,
}

/// What the last computation found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    NoDeadline,
    /// Nothing is known of its durations.
    Unknown,
    Fewest,
    /// With all slots it would still take `needs`, and had `left`.
    Infeasible {
        needs: Span,
        left: Span,
    },
}

impl MinEdf {
    /// Reads `bound` (`average`, `low`, `upper`), `recompute` and `spare` (`false`, `true`).
    ///
    /// # Errors
    /// Names the parameter and what was expected.
    pub fn from_params(params: &mut Reader<'_>) -> Result<MinEdf, SchedulerError> {
        let bound = params.bound()?;
        let recompute = params.word("recompute", &["false", "true"])? == "true";
        let spare = params.word("spare", &["false", "true"])? == "true";
        Ok(MinEdf { bound, recompute, spare, ..MinEdf::default() })
    }

    fn enter(&mut self, job: &Job, state: &ClusterState) {
        let spec = job.spec();
        let earlier = || self.applications.get(&spec.name)?.profile(spec.n_maps, spec.n_reduces);
        let source = match &spec.profile {
            Some(profile) => Source::Profile(**profile),
            None => earlier().map_or(Source::OwnTasks, Source::EarlierRun),
        };
        let seen = Seen::default();
        let mut plan = Plan { limits: [u32::MAX; 2], outlook: Outlook::NoDeadline, source, seen };
        if let Some(within) = spec.conf.deadline {
            plan.compute(spec.n_maps, spec.n_reduces, within, self.bound, state);
        }
        self.plans.insert(job.id(), plan);
    }

    /// Computes the demand of a job with a deadline as when it came, but for the time that is gone and the tasks that are done;
    /// true if it has other limits now.
    fn compute(&mut self, job: &Job, state: &ClusterState) -> bool {
        let (Some(plan), Some(deadline)) = (self.plans.get_mut(job.id()), job.deadline()) else { return false };
        let before = plan.limits;
        let left = |kind| job.tasks(kind).n_left();
        plan.compute(left(TaskKind::Map), left(TaskKind::Reduce), deadline.since(state.now()), self.bound, state);
        plan.limits != before
    }

    /// As [`MinEdf::compute`], where the demand for what is left of a job may change.
    fn again(&mut self, job: &Job, state: &ClusterState) -> bool {
        let fixed = |plan: &Plan| !self.recompute && plan.source != Source::OwnTasks;
        !self.plans.get(job.id()).is_none_or(fixed) && self.compute(job, state)
    }
}

impl Plan {
    fn compute(&mut self, n_maps: u32, n_reduces: u32, left: Span, bound: Bound, state: &ClusterState) {
        let profile = match self.source {
            Source::Profile(profile) | Source::EarlierRun(profile) => Some(profile),
            Source::OwnTasks => self.seen.profile(n_maps, n_reduces),
        };
        self.limits = [u32::MAX; 2];
        let Some(profile) = profile else {
            self.outlook = Outlook::Unknown;
            return;
        };
        // A cluster whose workers have not come yet says nothing about what there will be.
        let most = |kind: TaskKind| match state.totals().slots[kind] {
            0 => u32::MAX,
            slots => slots,
        };
        let most = Slots { maps: most(TaskKind::Map), reduces: most(TaskKind::Reduce) };
        match (JobModel { n_maps, n_reduces, profile }).demand(left, most, bound) {
            Demand::Fewest(slots) => {
                self.outlook = Outlook::Fewest;
                self.limits = [slots.maps, slots.reduces];
            }
            Demand::Infeasible { at_best } => self.outlook = Outlook::Infeasible { needs: at_best, left },
        }
    }
}

impl JobOrder for MinEdf {
    type Rank = DeadlineRank;

    fn name(&self) -> &'static str {
        "minedf"
    }

    fn rank(&self, job: &Job, _state: &ClusterState) -> DeadlineRank {
        by_deadline(job)
    }

    fn has_limits(&self) -> bool {
        true
    }

    fn limit(&self, job: &Job, kind: TaskKind, _state: &ClusterState) -> u32 {
        self.plans.get(job.id()).map_or(u32::MAX, |plan| plan.limits[kind])
    }

    fn gives_spare(&self) -> bool {
        self.spare
    }

    fn observe(&mut self, change: &Change, state: &ClusterState, moved: &mut Vec<JobId>) {
        match *change {
            Change::Submitted { job } => {
                if let Some(job) = state.job(job) {
                    self.enter(job, state);
                }
            }
            Change::JobOver { job, end } => {
                let plan = self.plans.remove(job);
                if let (JobState::Succeeded, Some(plan), Some(job)) = (end, plan, state.job(job)) {
                    self.applications.remember(&job.spec().name, plan.seen);
                }
            }
            // It is ranked anew in any case.
            Change::Deadline { job } => {
                if let Some(job) = state.job(job) {
                    self.compute(job, state);
                }
            }
            Change::Ended { attempt, state: end, started, .. } => {
                let Some(job) = state.job(attempt.job) else { return };
                if end == AttemptState::Succeeded
                    && let Some(plan) = self.plans.get_mut(attempt.job)
                {
                    plan.seen.add(job, attempt.kind, started, state.now());
                }
                if self.again(job, state) {
                    moved.push(attempt.job);
                }
            }
            // Lost output is made again: a demand of no map slots, found when all maps were done, would forbid it.
            Change::Returned { task } => {
                let Some(job) = state.job(task.job) else { return };
                if self.again(job, state) {
                    moved.push(task.job);
                }
            }
            // While it waited, only the time went on.
            Change::Launched { attempt, .. } => {
                let Some(job) = state.job(attempt.job) else { return };
                let running: u32 = TaskKind::ALL.iter().map(|&kind| job.tasks(kind).n_attempts()).sum();
                if running == 1 && self.again(job, state) {
                    moved.push(attempt.job);
                }
            }
            _ => {}
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn with_params(&self, params: &mut Reader<'_>, state: &ClusterState) -> Result<MinEdf, SchedulerError> {
        let mut order = MinEdf {
            plans: self.plans.clone(),
            applications: self.applications.clone(),
            ..MinEdf::from_params(params)?
        };
        if order.bound == self.bound {
            return Ok(order);
        }
        for job in state.jobs() {
            order.compute(job, state);
        }
        Ok(order)
    }

    fn attach(&mut self, state: &ClusterState) {
        *self = MinEdf { bound: self.bound, recompute: self.recompute, spare: self.spare, ..MinEdf::default() };
        for job in state.jobs() {
            self.enter(job, state);
        }
    }

    fn explain_limit(&self, job: &Job, kind: TaskKind, _state: &ClusterState) -> Option<Reason> {
        let plan = self.plans.get(job.id())?;
        let [maps, reduces] = plan.limits;
        let from = match plan.source {
            Source::Profile(_) => "by its profile".to_owned(),
            Source::EarlierRun(_) => format!("by an earlier run of `{}`", job.spec().name),
            Source::OwnTasks => {
                let [maps, reduces] = plan.seen.counts();
                format!("by its own {maps} maps and {reduces} reduces so far")
            }
        };
        let running = job.tasks(kind).n_attempts();
        Some(Reason::Limit(format!(
            "It has {running} {kind}s running and needs no more for its deadline: {maps} map and {reduces} reduce slots \
             are enough {from}."
        )))
    }

    fn note(&self, job: &Job, _state: &ClusterState) -> Option<String> {
        match self.plans.get(job.id())?.outlook {
            Outlook::Infeasible { needs, left } => Some(format!(
                "Its deadline cannot be met: with all slots it would take {needs}, and it had {left}; so it may take \
                 all that it can use."
            )),
            Outlook::Unknown => Some("Nothing is known yet of how long its tasks take, so it has no limit.".to_owned()),
            Outlook::NoDeadline | Outlook::Fewest => None,
        }
    }
}
