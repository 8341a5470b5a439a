//! From what a tracker does to samples: which task ended, what it took, and of what class it was.
//!
//! It looks at each batch's effects and the state after them, live and in decision replay alike, and needs nothing else.
//! Only winners count: what failed, was killed or lost a race did not do its work.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::class::{Class, Part, family};
use super::history::{Sample, TaskHistory};
use super::input::InputSizes;
use super::place::Place;
use howdah_core::cluster::ClusterState;
use howdah_core::job::{AttemptId, AttemptState, JobId, JobSpec, JobState, TaskKind, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::Effect;

/// What was learnt.
#[derive(Clone, Debug, PartialEq)]
pub enum Learned {
    /// An attempt was launched: whoever predicts its time does it now.
    Launch {
        attempt: AttemptId,
        at: Time,
        /// Of what class it will be when it has finished.
        class: Class,
        /// Its input; `None` where unknown.
        bytes: Option<u64>,
        /// Where it runs.
        on: WorkerId,
        /// The worker's name.
        worker: String,
    },
    /// A task has finished.
    Task {
        /// Which attempt did its work.
        attempt: AttemptId,
        /// Of what class it was.
        class: Class,
        /// What it took, and of how much.
        sample: Sample,
    },
    /// What was left of a reduce when one of its phases began.
    Phase {
        /// Of what class that is.
        class: Class,
        /// What it took, and of how much.
        sample: Sample,
    },
    /// A job's output took so long to promote.
    Commit(Span),
    /// A job is over: when, if it succeeded. Whoever made forecasts of it holds them against that.
    End(JobId, Option<Time>),
}

impl Learned {
    /// Remembers it.
    pub fn put_into(self, history: &mut TaskHistory) {
        match self {
            Learned::Task { class, sample, .. } | Learned::Phase { class, sample } => history.add(class, sample),
            Learned::Commit(time) => history.add_commit(time),
            Learned::Launch { .. } | Learned::End(..) => {}
        }
    }
}

/// What has to be kept of a job, as the state forgets it when it is over.
#[derive(Debug)]
struct Job {
    application: String,
    family: String,
    spec: Arc<JobSpec>,
    sizes: InputSizes,
    maps_done: Option<Time>,
    committing: Option<Time>,
}

/// Follows a tracker.
#[derive(Debug, Default)]
pub struct Learner {
    jobs: BTreeMap<JobId, Job>,
    /// Running attempts, and how it was where they were launched, if that is known.
    launched: BTreeMap<AttemptId, Option<Place>>,
}

impl Learner {
    /// Looks at a batch's effects and the state after them. `application` names what a job runs; it is asked once for each
    /// job.
    pub fn follow(
        &mut self,
        now: Time,
        effects: &[Effect],
        state: &ClusterState,
        mut application: impl FnMut(JobId) -> String,
        mut learned: impl FnMut(Learned),
    ) {
        for effect in effects {
            match *effect {
                Effect::JobState { job, state: JobState::Committing } => {
                    if let Some(known) = self.jobs.get_mut(&job) {
                        known.committing = Some(now);
                    }
                }
                Effect::JobState { job, state: end } if end.is_final() => {
                    let known = self.jobs.remove(&job);
                    if let (JobState::Succeeded, Some(since)) = (end, known.and_then(|job| job.committing)) {
                        learned(Learned::Commit(now.since(since)));
                    }
                    learned(Learned::End(job, (end == JobState::Succeeded).then_some(now)));
                }
                Effect::Launch { attempt, worker: on, .. } => {
                    self.meet(attempt.job, state, &mut application);
                    let worker = state.worker(on);
                    // A launch is repeated until its worker confirms it.
                    if let Entry::Vacant(new) = self.launched.entry(attempt) {
                        new.insert(worker.and_then(|worker| Place::of(worker, state)));
                        if let (Some(job), Some(live)) = (self.jobs.get(&attempt.job), state.job(attempt.job)) {
                            let name = worker.map_or("", |worker| worker.name());
                            learned(job.launched(attempt, now, live.maps_done(), (on, name)));
                        }
                    }
                }
                Effect::AttemptEnded { attempt, state: AttemptState::Failed | AttemptState::Killed, .. } => {
                    self.launched.remove(&attempt);
                }
                Effect::AttemptEnded { attempt, worker, state: AttemptState::Succeeded, started, .. } => {
                    let before = self.launched.remove(&attempt).flatten();
                    let worker = state.worker(worker);
                    let place = worker.and_then(|worker| Some(Place::of(worker, state)?.between(before)));
                    let worker = worker.map_or("", |worker| worker.name());
                    // One that was launched before anybody followed.
                    self.meet(attempt.job, state, &mut application);
                    if let Some(job) = self.jobs.get_mut(&attempt.job) {
                        // The state has forgotten the job if this was its last task; then its maps were done before.
                        if let Some(live) = state.job(attempt.job) {
                            job.maps_done = live.maps_done();
                        }
                        learned(job.ended(attempt, (worker, place), started, now));
                        if let Some(phases) = state.reduce_phases(attempt) {
                            for (part, since) in
                                [(Part::AfterShuffle, phases.sort_from), (Part::AfterSort, phases.reduce_from)]
                            {
                                learned(job.left(part, (worker, place), now.since(since)));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

impl Learner {
    /// Keeps what a job's ends will need, unless it is kept already.
    fn meet(&mut self, id: JobId, state: &ClusterState, application: &mut impl FnMut(JobId) -> String) {
        if !self.jobs.contains_key(&id)
            && let Some(job) = state.job(id)
        {
            self.jobs.insert(id, Job::new(application(id), job.spec()));
        }
    }
}

impl Job {
    fn new(application: String, spec: &Arc<JobSpec>) -> Job {
        Job {
            application,
            family: family(&spec.name),
            spec: Arc::clone(spec),
            sizes: InputSizes::of(spec),
            maps_done: None,
            committing: None,
        }
    }

    fn left(&self, part: Part, (worker, place): (&str, Option<Place>), time: Span) -> Learned {
        let sample = Sample { bytes: self.sizes.reduce(), time, worker: worker.to_owned(), place };
        Learned::Phase { class: self.class(part), sample }
    }

    fn class(&self, part: Part) -> Class {
        Class { application: self.application.clone(), family: self.family.clone(), part }
    }

    /// A reduce is of the class that waits for maps if not all were done.
    fn launched(
        &self,
        attempt: AttemptId,
        at: Time,
        maps_done: Option<Time>,
        (on, worker): (WorkerId, &str),
    ) -> Learned {
        let (part, bytes) = match (attempt.kind, maps_done) {
            (TaskKind::Map, _) => (Part::Map, self.sizes.map(&self.spec, attempt.index)),
            (TaskKind::Reduce, None) => (Part::FirstReduce, self.sizes.reduce()),
            (TaskKind::Reduce, Some(_)) => (Part::LaterReduce, self.sizes.reduce()),
        };
        Learned::Launch { attempt, at, class: self.class(part), bytes, on, worker: worker.to_owned() }
    }

    fn ended(&self, attempt: AttemptId, (worker, place): (&str, Option<Place>), started: Time, now: Time) -> Learned {
        let (part, since, bytes) = match (attempt.kind, self.maps_done) {
            (TaskKind::Map, _) => (Part::Map, started, self.sizes.map(&self.spec, attempt.index)),
            (TaskKind::Reduce, Some(done)) if started < done => (Part::FirstReduce, done, self.sizes.reduce()),
            (TaskKind::Reduce, _) => (Part::LaterReduce, started, self.sizes.reduce()),
        };
        let class = self.class(part);
        let sample = Sample { bytes, time: now.since(since), worker: worker.to_owned(), place };
        Learned::Task { attempt, class, sample }
    }
}
