//! What if: another scheduler, more or fewer workers, a job more, a job less, other deadlines. Applied to a fork before it is
//! simulated.

use std::collections::BTreeSet;

use howdah_core::cluster::{Worker, WorkerState};
use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{JobId, JobSpec, Priority, TaskKind, WorkerId};
use howdah_core::replay::job_spec;
use howdah_core::schedulers::SchedulerError;
use howdah_core::time::Span;
use howdah_core::tracker::{Input, JobTracker, MAX_TASKS, Registration, SchedulerChoice};

/// Workers that may be added.
const MOST_WORKERS: i32 = 10_000;
/// Jobs that may be thought of.
const MOST_JOBS: usize = 100;

/// A job that is not there and might be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hypothetical {
    /// For people, and for the class of its tasks.
    pub name: String,
    /// What it runs; empty where it is not known.
    pub application: String,
    /// Its queue; empty for the default one.
    pub queue: String,
    /// Who submits it.
    pub user: String,
    pub priority: Priority,
    pub n_maps: u32,
    pub n_reduces: u32,
    /// Input bytes of each map; 0 where unknown.
    pub bytes_per_map: u64,
    /// From its submission.
    pub deadline: Option<Span>,
}

/// All that is to be different.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Another policy, or the same one with other parameters.
    pub scheduler: Option<SchedulerChoice>,
    /// Workers more, or fewer if negative: copies of the last live one, or the last live ones gone.
    pub workers: i32,
    /// Jobs that are submitted now.
    pub submit: Vec<Hypothetical>,
    /// Jobs that are submitted now, after these: whole specifications, as the core would get them.
    pub enter: Vec<JobSpec>,
    /// Jobs that are killed now.
    pub kill: Vec<JobId>,
    /// Jobs that are to be over within so long from now.
    pub deadlines: Vec<(JobId, Span)>,
}

/// A change that cannot be.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// The policy.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
    /// Too few workers.
    #[error("{wanted} workers fewer: {live} are live, so at most {most} may go")]
    TooFew {
        /// As asked.
        wanted: u32,
        /// As they are.
        live: u32,
        /// One has to stay.
        most: u32,
    },
    /// Too many workers.
    #[error("{wanted} workers more: at most 10000 may be added")]
    TooMany {
        /// As asked.
        wanted: i32,
    },
    /// Nobody whose like could be added.
    #[error("workers to add: none is live whose slots they could have")]
    NoModel,
    /// The job to kill, or with another deadline.
    #[error("job {0}: it is over or was never submitted")]
    NoJob(u32),
    /// A job's deadlines.
    #[error("job {0}: two deadlines, expected one")]
    TwoDeadlines(u32),
    /// A job to submit.
    #[error("job `{name}`: {n} tasks, expected 1 to {most} maps and at most {most} reduces")]
    Tasks {
        name: String,
        /// As asked.
        n: u32,
        /// Of each kind.
        most: u32,
    },
    /// Jobs to submit.
    #[error("{0} jobs to submit, expected at most 100")]
    TooManyJobs(usize),
}

impl Hypothetical {
    fn check(&self) -> Result<(), ChangesError> {
        let most = MAX_TASKS.min(1_000_000);
        let wrong = |n| Err(ChangesError::Tasks { name: self.name.clone(), n, most });
        match (self.n_maps, self.n_reduces) {
            (0, _) => wrong(0),
            (maps, _) if maps > most => wrong(maps),
            (_, reduces) if reduces > most => wrong(reduces),
            _ => Ok(()),
        }
    }

    /// What the core would get.
    pub(super) fn spec(&self) -> JobSpec {
        job_spec(&self.template(), None, self.deadline, false)
    }

    /// Without durations.
    pub(super) fn template(&self) -> JobTemplate {
        let bytes = if self.bytes_per_map > 0 { vec![self.bytes_per_map; self.n_maps as usize] } else { vec![] };
        JobTemplate {
            name: self.name.clone(),
            user: self.user.clone(),
            queue: self.queue.clone(),
            priority: self.priority,
            n_maps: self.n_maps,
            n_reduces: self.n_reduces,
            map_input_bytes: bytes,
            ..JobTemplate::default()
        }
    }
}

impl Changes {
    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }

    /// Whether a job of the course has a deadline that is asked about.
    pub fn tells_deadlines(&self) -> bool {
        !self.deadlines.is_empty()
            || self.submit.iter().any(|job| job.deadline.is_some())
            || self.enter.iter().any(|spec| spec.conf.deadline.is_some())
    }

    /// Makes the changes to the present state in a fork; jobs to submit are left to its course.
    pub(super) fn apply(&self, tracker: &mut JobTracker) -> Result<(), ChangesError> {
        let n_jobs = self.submit.len() + self.enter.len();
        if n_jobs > MOST_JOBS {
            return Err(ChangesError::TooManyJobs(n_jobs));
        }
        self.submit.iter().try_for_each(Hypothetical::check)?;
        let mut inputs = self.worker_inputs(tracker)?;
        let is_there = |job: JobId| tracker.state().job(job).map(drop).ok_or(ChangesError::NoJob(job.0));
        for &job in &self.kill {
            is_there(job)?;
            inputs.push(Input::KillJob { job });
        }
        let mut asked = BTreeSet::new();
        for &(job, _) in &self.deadlines {
            is_there(job)?;
            if !asked.insert(job) {
                return Err(ChangesError::TwoDeadlines(job.0));
            }
        }
        if let Some(choice) = &self.scheduler {
            tracker.check_scheduler(choice)?;
            inputs.push(Input::SetScheduler(Box::new(choice.clone())));
        }
        let now = tracker.state().now();
        // A policy that takes over sees them.
        self.deadlines.iter().for_each(|&(job, within)| tracker.set_deadline(job, now + within));
        tracker.advance(now, &[], &inputs, &[], &mut Vec::new());
        Ok(())
    }

    fn worker_inputs(&self, tracker: &JobTracker) -> Result<Vec<Input>, ChangesError> {
        let state = tracker.state();
        let live: Vec<_> = state.workers().iter().filter(|worker| worker.state() == WorkerState::Live).collect();
        if self.workers < 0 {
            let (wanted, n) = (self.workers.unsigned_abs(), live.len() as u32);
            if wanted >= n {
                return Err(ChangesError::TooFew { wanted, live: n, most: n.saturating_sub(1) });
            }
            return Ok(live.iter().rev().take(wanted as usize).map(|worker| goodbye(worker)).collect());
        }
        if self.workers > MOST_WORKERS {
            return Err(ChangesError::TooMany { wanted: self.workers });
        }
        let Some(model) = live.last() else {
            return if self.workers == 0 { Ok(Vec::new()) } else { Err(ChangesError::NoModel) };
        };
        let first = state.workers().len() as u32;
        let new = (0..self.workers as u32).map(|index| {
            Input::Register(Box::new(Registration {
                worker: WorkerId(first + index),
                incarnation: 1,
                starts: false,
                name: format!("what-if-{}", index + 1),
                host: format!("what-if-{}", index + 1),
                rack: model.rack_name().to_owned(),
                map_slots: model.slots(TaskKind::Map),
                reduce_slots: model.slots(TaskKind::Reduce),
                attributes: model.attributes().to_vec(),
                kept: Vec::new(),
            }))
        });
        Ok(new.collect())
    }
}

/// Says that a worker is gone.
fn goodbye(worker: &Worker) -> Input {
    Input::Goodbye { worker: worker.id(), incarnation: worker.incarnation() }
}

/// Takes workers out of a fork, as if their expiry were over.
pub(super) fn lose(tracker: &mut JobTracker, workers: &[WorkerId]) {
    let gone: Vec<Input> = workers.iter().filter_map(|&worker| tracker.state().worker(worker).map(goodbye)).collect();
    let now = tracker.state().now();
    tracker.advance(now, &[], &gone, &[], &mut Vec::new());
}
