//! Orders of jobs tried on a pool of slots: what the two-stage abstraction says, and what SimMR says.
//!
//! A bench owns its jobs, so that each thread has one, and puts them back after each simulation: nothing is copied
//! while thousands of orders are tried. All jobs are there from the start, as in a batch.

pub use super::times::Times;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::bounds::{Bound, DividedBy, JobModel};
use howdah_core::models::{Stages, Ties, johnson_order, printed_order, two_stage_makespan};
use howdah_core::replay::{Arrivals, Deadlines, ReplayError, ReplayOptions, ShuffleModel, Simulation, View};
use howdah_core::time::{Span, Time};

use super::batch::{Batch, ListOrder, Objective, Pool, Slots};
use super::stages::{model, size, stages};

/// Jobs that can be simulated in any order on any pool.
pub(super) struct Bench {
    jobs: Vec<JobTemplate>,
    models: Vec<JobModel>,
    bound: Bound,
    divided: DividedBy,
    ties: Ties,
    list: ListOrder,
    shuffle: ShuffleModel,
    slowstart_ppm: Option<u32>,
    /// By job, comparable; small jobs have small ones.
    sizes: Vec<u64>,
}

impl Bench {
    pub(super) fn new(batch: &Batch<'_>) -> Bench {
        let at_start = |job: &JobTemplate| JobTemplate { submit_ms: 0, ..job.clone() };
        let models: Vec<JobModel> = batch.trace.jobs.iter().map(model).collect();
        Bench {
            jobs: batch.trace.jobs.iter().map(at_start).collect(),
            sizes: models.iter().map(|model| size(model, batch.slots, batch.small_by)).collect(),
            models,
            bound: batch.bound,
            divided: batch.divided,
            ties: batch.ties,
            list: batch.list,
            shuffle: batch.shuffle,
            slowstart_ppm: batch.slowstart_ppm,
        }
    }

    /// Another one, for another thread.
    pub(super) fn copy(&self) -> Bench {
        Bench {
            jobs: self.jobs.clone(),
            models: self.models.clone(),
            bound: self.bound,
            divided: self.divided,
            ties: self.ties,
            list: self.list,
            shuffle: self.shuffle,
            slowstart_ppm: self.slowstart_ppm,
            sizes: self.sizes.clone(),
        }
    }

    pub(super) fn models(&self) -> &[JobModel] {
        &self.models
    }

    /// What a job is sorted by into small ones and big ones.
    pub(super) fn size(&self, job: usize) -> u64 {
        self.sizes[job]
    }

    /// Its stages on so many slots.
    pub(super) fn stages(&self, job: usize, slots: Slots) -> Stages {
        stages(&self.models[job], slots, self.bound, self.divided)
    }

    /// These jobs in the order that serves the objective on so many slots: Johnson's for the makespan; for the mean
    /// delay the shortest first, which is optimal for one server (balanced-pools §6). Equals keep their places.
    pub(super) fn order(&self, jobs: &[usize], slots: Slots, objective: Objective) -> Vec<usize> {
        let stages: Vec<Stages> = jobs.iter().map(|&job| self.stages(job, slots)).collect();
        match objective {
            Objective::Makespan => {
                let order = match self.list {
                    ListOrder::Ascending => johnson_order(&stages, self.ties),
                    ListOrder::Descending => printed_order(&stages, self.ties),
                };
                order.into_iter().map(|place| jobs[place]).collect()
            }
            Objective::MeanDelay => {
                let mut places: Vec<usize> = (0..jobs.len()).collect();
                places.sort_by_key(|&place| (stages[place].map_us.saturating_add(stages[place].reduce_us), place));
                places.into_iter().map(|place| jobs[place]).collect()
            }
        }
    }

    /// These jobs in the best order that is known for the objective, simulated: Johnson's, and for the mean delay the
    /// shortest first too, which wins among equals.
    ///
    /// # Errors
    /// As [`Bench::simulate`].
    pub(super) fn pool(&mut self, jobs: &[usize], slots: Slots, objective: Objective) -> Result<Pool, ReplayError> {
        let mut ordered = |order| -> Result<Pool, ReplayError> {
            let jobs = self.order(jobs, slots, order);
            let times = self.simulate(&jobs, slots, Span::MAX)?.unwrap_or_default();
            Ok(Pool { slots, jobs, times })
        };
        let first = ordered(objective)?;
        if objective == Objective::Makespan {
            return Ok(first);
        }
        let second = ordered(Objective::Makespan)?;
        Ok(if second.times.delays_us < first.times.delays_us { second } else { first })
    }

    /// What the abstraction says of an order.
    pub(super) fn two_stage(&self, order: &[usize], slots: Slots) -> Span {
        Span::from_us(two_stage_makespan(order.iter().map(|&job| self.stages(job, slots))))
    }

    /// Simulates an order; `None` if it would take longer than `within`.
    ///
    /// # Errors
    /// When the pool has no slot of a kind that a job needs, or a job's template is inconsistent.
    pub(super) fn simulate(
        &mut self,
        order: &[usize],
        slots: Slots,
        within: Span,
    ) -> Result<Option<Times>, ReplayError> {
        let jobs: Vec<JobTemplate> = order.iter().map(|&job| std::mem::take(&mut self.jobs[job])).collect();
        let trace = Trace { jobs, ..Trace::default() };
        let times = run(&trace, &self.options(slots), within);
        for (&job, template) in order.iter().zip(trace.jobs) {
            self.jobs[job] = template;
        }
        times
    }

    fn options(&self, slots: Slots) -> ReplayOptions {
        ReplayOptions {
            view: View::Slots { maps: slots.maps, reduces: slots.reduces },
            arrivals: Arrivals::Batch,
            deadlines: Deadlines::Drop,
            shuffle: self.shuffle,
            slowstart_ppm: self.slowstart_ppm,
            ..ReplayOptions::default()
        }
    }
}

fn run(trace: &Trace, options: &ReplayOptions, within: Span) -> Result<Option<Times>, ReplayError> {
    if trace.jobs.is_empty() {
        return Ok(Some(Times::default()));
    }
    let end = Time::ZERO + within;
    let mut simulation = Simulation::new(trace, options)?;
    while simulation.step() {
        if simulation.now() > end {
            return Ok(None);
        }
    }
    let report = simulation.report();
    let delays_us = report.jobs.iter().map(|job| job.completion().as_us()).sum();
    Ok(Some(Times { makespan: report.makespan, delays_us }))
}
