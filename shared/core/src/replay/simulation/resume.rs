//! A simulation that goes on from a cluster's present state: the engine of forecasts.
//!
//! It begins where the tracker is, with what runs there, and plays the rest as any other replay. What it needs to know
//! is how long things take, which nobody can read in the state: templates for the jobs, and when the running attempts
//! end. Reduces that hold a slot while their job's maps run wait as in every replay, an attempt that is being stopped
//! stops at once, and a job whose output is being promoted is over when the course says. Machines have the speeds that the
//! course says, nothing goes wrong, and no task gets a speculative attempt from here on: where all machines are plain none would win, and
//! nobody reports progress. **With the durations that a replay has, stopped anywhere, it goes on as that replay does,
//! to the microsecond.**

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::super::arrivals::Arrival;
use super::super::digest::DecisionDigest;
use super::super::ends::{Ends, TieBreak};
use super::super::fault_injector::FaultInjector;
use super::super::heartbeat_schedule::HeartbeatSchedule;
use super::super::job::{Placed, SimJob};
use super::super::jobs::SimJobs;
use super::super::options::{FaultPlan, ShuffleModel, SimHeartbeat};
use super::super::report::ReplayReport;
use super::super::sharing::Sharing;
use super::super::workers::Machines;
use super::Simulation;
use super::stage::Stage;
use crate::cluster::{AttemptRef, Job};
use crate::job::profile::Trace;
use crate::job::{AttemptState, JobConf, JobId, JobSpec, JobState, TaskKind, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::{Finished, JobTracker};

/// What is to happen from a tracker's present state on.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The place in the trace of each job's template, ascending by job: of all jobs that are not over.
    pub jobs: Vec<(JobId, u32)>,
    /// When attempts that run now end. Those of reduces that wait for maps are not looked at; an attempt that is not
    /// listed never ends.
    pub ends: Vec<(AttemptRef, Time)>,
    /// When the jobs are over whose output is being promoted; those that are not listed at once.
    pub commits: Vec<(JobId, Time)>,
    /// When workers send heartbeats.
    pub heartbeat: SimHeartbeat,
    /// Workers that ask for work at once: those that were not offered what waits now.
    pub asking: Vec<WorkerId>,
    /// How fast workers are, by number, in millionths of the speed that templates are for; those beyond the list have just that.
    /// Ends of what runs now do not depend on it.
    pub speeds: Vec<u32>,
    /// Jobs to come, by time: when, and the place of their template in the trace.
    pub arrivals: Vec<(Time, u32)>,
}

impl<'t> Simulation<'t> {
    /// Goes on from where a tracker is; one that was driven by reports becomes one that is driven directly.
    ///
    /// # Panics
    /// If a job that is not over has no template in the course, or a template is not in the trace.
    pub fn resume(tracker: JobTracker, trace: &'t Trace, course: &Course) -> Simulation<'t> {
        let mut tracker = tracker.into_direct();
        forbid_speculation(&mut tracker);
        let now = tracker.state().now();
        let totals = tracker.state().totals();
        let mut heartbeats = HeartbeatSchedule::resume(course.heartbeat, tracker.state(), now);
        heartbeats.set_policy(tracker.scheduler().capabilities().limits_rounds, false, now);
        course.asking.iter().for_each(|&worker| heartbeats.turn(worker));
        let mut stage = Stage {
            now,
            shuffle: ShuffleModel::SimMr,
            heartbeats,
            machines: Machines::at_speeds(&course.speeds),
            sharing: Sharing::default(),
            injector: FaultInjector::new(&FaultPlan::default(), &[], 0),
            ends: Ends::from(now),
            jobs: jobs(&tracker, trace, course),
            spare_fillers: Vec::new(),
            launches: 0,
            tasks_done: 0,
            report: ReplayReport { slots: totals.slots, ..ReplayReport::default() },
            digest: DecisionDigest::default(),
            watch: None,
            plain: false,
        };
        put_running(&mut stage, &tracker, course);
        let arrivals: Vec<Arrival> =
            course.arrivals.iter().map(|&(at, template)| arrival(trace, at.max(now), template)).collect();
        let commits = promotions(&tracker, course);
        let next_commit = commits.peek().map_or(Time::MAX, |next| next.0.0);
        let next_arrival = arrivals.first().map_or(Time::MAX, |arrival| arrival.at);
        let asked = if course.asking.is_empty() { Time::MAX } else { now };
        let left = |job: &Job| TaskKind::ALL.iter().map(|&kind| u64::from(job.tasks(kind).n_left())).sum::<u64>();
        let ordered = tracker.state().attempts().iter().any(|(_, attempt)| attempt.being_killed().is_some());
        let mut simulation = Simulation {
            tasks_in_all: tracker.state().jobs().map(left).sum(),
            ordered,
            next_rare: now,
            next_fixed: next_arrival.min(next_commit).min(asked),
            next_arrival,
            arrivals,
            commits,
            next_commit,
            quiet: (0, now),
            ..Simulation::idle(trace, tracker, stage)
        };
        simulation.settle();
        simulation
    }
}

/// The jobs from the oldest one on that is not over.
fn jobs<'t>(tracker: &JobTracker, trace: &'t Trace, course: &Course) -> SimJobs<'t> {
    let state = tracker.state();
    let first = state.jobs().next().map_or(state.last_job() + 1, |job| job.id().0);
    let mut jobs = SimJobs::after(first as usize - 1, (state.last_job() + 1 - first) as usize + course.arrivals.len());
    for number in first..=state.last_job() {
        let id = JobId(number);
        let Some(live) = state.job(id) else {
            jobs.push(SimJob::over_before(id));
            continue;
        };
        let place = course.jobs.binary_search_by_key(&id, |known| known.0);
        let index = course.jobs[place.unwrap_or_else(|_| panic!("job {number} has a template"))].1;
        let template = &trace.jobs[index as usize];
        let mut job = SimJob::new(template, index, id, live.submitted(), live.spec().conf.deadline);
        job.slots = [live.slots(TaskKind::Map), live.slots(TaskKind::Reduce)];
        job.maps_left = live.tasks(TaskKind::Map).n_left();
        (job.outcome.start, job.outcome.maps_done) = (live.launched(), live.maps_done());
        job.outcome.state = live.state();
        jobs.push(job);
    }
    jobs
}

/// Tells the policy that no job wants speculative attempts, if it is one that would start any.
fn forbid_speculation(tracker: &mut JobTracker) {
    if !tracker.scheduler().capabilities().may_speculate {
        return;
    }
    let wants = |job: &&Job| job.spec().conf.map_speculative || job.spec().conf.reduce_speculative;
    let jobs: Vec<(JobId, Arc<JobSpec>)> =
        tracker.state().jobs().filter(wants).map(|job| (job.id(), Arc::clone(job.spec()))).collect();
    for (id, spec) in jobs {
        tracker.specify(id, || {
            let conf = JobConf { map_speculative: false, reduce_speculative: false, ..spec.conf.clone() };
            Arc::new(JobSpec { conf, ..(*spec).clone() })
        });
    }
}

/// What runs ends as the course says, in order of launch.
fn put_running(stage: &mut Stage<'_>, tracker: &JobTracker, course: &Course) {
    let now = stage.now;
    let ends: std::collections::BTreeMap<u64, Time> = course.ends.iter().map(|&(of, at)| (of.launch, at)).collect();
    let mut running: Vec<_> = tracker.state().attempts().iter().collect();
    running.sort_by_key(|(reference, _)| reference.launch);
    for (reference, attempt) in running {
        let (id, worker) = (attempt.id(), attempt.worker());
        if attempt.being_killed().is_some() {
            stage.ends.plan(now, TieBreak::ByLaunch, Finished { attempt: reference, state: AttemptState::Killed });
        } else if id.kind == TaskKind::Reduce && stage.jobs[id.job.0 as usize - 1].maps_left > 0 {
            stage.wait_for_maps(Placed { attempt: id, reference, worker });
        } else if let Some(&at) = ends.get(&reference.launch) {
            let reported_at = stage.heartbeats.reported_at(worker, at).max(now);
            stage.ends.plan(
                reported_at,
                TieBreak::ByLaunch,
                Finished { attempt: reference, state: AttemptState::Succeeded },
            );
        }
    }
}

fn promotions(tracker: &JobTracker, course: &Course) -> BinaryHeap<Reverse<(Time, JobId)>> {
    let now = tracker.state().now();
    let committing = tracker.state().jobs().filter(|job| job.state() == JobState::Committing);
    let end = |id| course.commits.iter().find(|known| known.0 == id).map_or(now, |known| known.1.max(now));
    committing.map(|job| Reverse((end(job.id()), job.id()))).collect()
}

fn arrival(trace: &Trace, at: Time, template: u32) -> Arrival {
    let deadline = trace.jobs[template as usize].deadline_ms;
    Arrival { at, template, deadline: deadline.map(|ms| Span::from_us(ms.saturating_mul(1_000))) }
}
