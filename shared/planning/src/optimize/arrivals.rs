//! New jobs come while a batch runs: the rest and the new ones are planned again (balanced-pools §6).
//!
//! At each instant at which jobs come, what the present plan has done by then is taken off: finished tasks go, tasks
//! that run have the rest of their time left and come first in their jobs, everything else is as it was. The rest and
//! the newcomers are a batch again, planned by the same method. What is compared: the newcomers left waiting until
//! the batch is over, and then planned by themselves. `Deviation:` a task that runs is taken to go on in the pool to
//! which the new plan gives its job; a cluster lets it run where it is and lets the pool have one slot less until then.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::TaskKind;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{Arrivals, AttemptRecord, Deadlines, Observer, ReplayError, ReplayOptions, Simulation, View};
use howdah_core::time::{Span, Time};

use super::batch::{Batch, Method, Plan, Pool};
use super::plan;

/// One plan of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replanned {
    /// When it begins, from the first submission.
    pub at: Span,
    /// Jobs that came then; places in the trace, ascending.
    pub came: Vec<usize>,
    /// From then on; only jobs that are not over.
    pub plan: Plan,
    /// When all jobs that have come are over, from the first submission.
    pub end: Span,
    /// The same if what comes waits until all that was there is over.
    pub end_if_waiting: Span,
}

/// A job, or what is left of it.
struct Rest {
    place: usize,
    template: JobTemplate,
}

/// Plans the jobs of the first instant, and again whenever more come.
///
/// # Errors
/// As [`plan`].
pub fn replan(batch: &Batch<'_>, method: Method) -> Result<Vec<Replanned>, ReplayError> {
    let mut instants: Vec<u64> = batch.trace.jobs.iter().map(|job| job.submit_ms).collect();
    instants.sort_unstable();
    instants.dedup();
    let first = instants.first().copied().unwrap_or(0);
    let mut plans: Vec<Replanned> = Vec::new();
    let mut rests: Vec<Rest> = Vec::new();
    for submit_ms in instants {
        let at = Span::from_ms(submit_ms - first);
        let jobs = batch.trace.jobs.iter().enumerate().filter(|(_, job)| job.submit_ms == submit_ms);
        let came: Vec<Rest> = jobs.map(|(place, job)| Rest { place, template: job.clone() }).collect();
        let places = came.iter().map(|rest| rest.place).collect();
        let newcomers = planned(batch, method, &came)?.makespan();
        let waited = plans.last().map_or(Span::ZERO, |last| last.end_if_waiting).max(at);
        if let Some(last) = plans.last() {
            rests = left(batch, &last.plan, &rests, Span::from_us(at.as_us() - last.at.as_us()))?;
        }
        rests.extend(came);
        let plan = planned(batch, method, &rests)?;
        let end = Span::from_us(at.as_us() + plan.makespan().as_us());
        let end_if_waiting = Span::from_us(waited.as_us() + newcomers.as_us());
        plans.push(Replanned { at, came: places, plan, end, end_if_waiting });
    }
    Ok(plans)
}

/// The method's plan, with places in the whole trace.
fn planned(batch: &Batch<'_>, method: Method, rests: &[Rest]) -> Result<Plan, ReplayError> {
    let trace = Trace { jobs: rests.iter().map(|rest| rest.template.clone()).collect(), ..Trace::default() };
    let mut plan = plan(&Batch { trace: &trace, ..*batch }, method)?;
    for job in plan.pools.iter_mut().flat_map(|pool| &mut pool.jobs) {
        *job = rests[*job].place;
    }
    Ok(plan)
}

/// What a plan leaves of its jobs after a while.
fn left(batch: &Batch<'_>, plan: &Plan, rests: &[Rest], after: Span) -> Result<Vec<Rest>, ReplayError> {
    let mut left = Vec::new();
    for pool in &plan.pools {
        let jobs = pool.jobs.iter().filter_map(|&job| rests.iter().find(|rest| rest.place == job));
        left.extend(left_in(batch, pool, jobs.collect(), Time::ZERO + after)?);
    }
    left.sort_by_key(|rest| rest.place);
    Ok(left)
}

fn left_in(batch: &Batch<'_>, pool: &Pool, rests: Vec<&Rest>, now: Time) -> Result<Vec<Rest>, ReplayError> {
    let jobs = rests.iter().map(|rest| JobTemplate { submit_ms: 0, ..rest.template.clone() });
    let trace = Trace { jobs: jobs.collect(), ..Trace::default() };
    let options = ReplayOptions {
        view: View::Slots { maps: pool.slots.maps, reduces: pool.slots.reduces },
        arrivals: Arrivals::Batch,
        deadlines: Deadlines::Drop,
        shuffle: batch.shuffle,
        slowstart_ppm: batch.slowstart_ppm,
        ..ReplayOptions::default()
    };
    let seen = Seen::default();
    let mut simulation = Simulation::new(&trace, &options)?;
    simulation.observe(Box::new(seen.clone()));
    simulation.run();
    let report = simulation.report();
    drop(simulation);
    let mut by_job = vec![Vec::new(); trace.jobs.len()];
    for record in seen.0.take() {
        by_job[record.attempt.job.0 as usize - 1].push(record);
    }
    let unfinished = report.jobs.iter().zip(by_job).zip(rests).filter(|((outcome, _), _)| outcome.finish > now);
    Ok(unfinished
        .map(|((_, records), rest)| Rest { place: rest.place, template: rest_of(&rest.template, &records, now) })
        .collect())
}

/// Keeps all records.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<AttemptRecord>>>);

impl Observer for Seen {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().push(*record);
    }
}

/// The tasks that have time left: those that run first.
fn rest_of(job: &JobTemplate, records: &[AttemptRecord], now: Time) -> JobTemplate {
    let rest_ms = |record: &AttemptRecord| record.end.since(now).as_us().div_ceil(1_000);
    let under_way = |record: &AttemptRecord| match record.attempt.kind {
        TaskKind::Map => record.start < now,
        // One that waits for maps has lost nothing but its place.
        TaskKind::Reduce => record.start < now && record.maps_done.is_some_and(|done| done <= now),
    };
    let mut open: Vec<&AttemptRecord> = records.iter().filter(|record| record.end > now).collect();
    open.sort_by_key(|record| (!under_way(record), record.attempt.index));
    let mut rest = JobTemplate { n_maps: 0, n_reduces: 0, ..job.clone() };
    for list in [&mut rest.map_ms, &mut rest.first_shuffle_ms, &mut rest.typical_shuffle_ms, &mut rest.reduce_ms] {
        list.clear();
    }
    for record in open {
        let index = record.attempt.index as usize;
        match (record.attempt.kind, under_way(record)) {
            (TaskKind::Map, true) => rest.map_ms.push(rest_ms(record)),
            (TaskKind::Map, false) => rest.map_ms.push(cycle(&job.map_ms, index)),
            (TaskKind::Reduce, true) => {
                rest.first_shuffle_ms.push(0);
                rest.typical_shuffle_ms.push(0);
                rest.reduce_ms.push(rest_ms(record));
            }
            (TaskKind::Reduce, false) => {
                let (first, typical) = shuffles(job, index);
                rest.first_shuffle_ms.push(first);
                rest.typical_shuffle_ms.push(typical);
                rest.reduce_ms.push(cycle(&job.reduce_ms, index));
            }
        }
    }
    rest.n_maps = rest.map_ms.len() as u32;
    rest.n_reduces = rest.reduce_ms.len() as u32;
    // They belong to maps by index, which are others now.
    rest.map_input_bytes.clear();
    rest.split_hosts = Default::default();
    rest
}

/// First and typical shuffle of a reduce, as a replay reads the template.
fn shuffles(job: &JobTemplate, index: usize) -> (u64, u64) {
    let (first, typical) = (&job.first_shuffle_ms, &job.typical_shuffle_ms);
    let of_first = if first.is_empty() { cycle(typical, index) } else { cycle(first, index) };
    let of_typical = if typical.is_empty() {
        cycle(first, index)
    } else {
        cycle(typical, index.checked_sub(first.len()).unwrap_or(index))
    };
    (of_first, of_typical)
}

fn cycle(list: &[u64], index: usize) -> u64 {
    if list.is_empty() { 0 } else { list[index % list.len()] }
}
