//! Each job alone on the empty cluster: the reference of slowdowns, and of deadlines that are drawn.
//!
//! Two lengths of the same run. A slowdown divides by the *runtime*, "from when its first task starts until its last
//! task terminates" (slowdown paper §V-C). A drawn deadline starts from the *completion time* (SimMR §V-B's T), which
//! also holds the wait for the first heartbeat and the promotion of the output. Templates that differ in nothing that
//! a lone run can feel are run once.

use std::collections::BTreeMap;

use super::{Arrivals, Deadlines, FaultPlan, ReplayError, ReplayOptions, Simulation, View};
use crate::job::Requirements;
use crate::job::profile::{JobTemplate, Trace};
use crate::schedulers::registry::Params;
use crate::time::{Span, Time};

/// How long a job takes when the whole cluster is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// From its first task's start to its last task's end; zero for jobs without tasks.
    pub runtime: Span,
    /// From its submission to its finish.
    pub completion: Span,
}

/// Runs each job of the trace alone on the options' cluster, under FIFO and without faults. In the trace's order.
///
/// # Errors
/// As [`Simulation::new`].
pub fn alone(trace: &Trace, options: &ReplayOptions) -> Result<Vec<Alone>, ReplayError> {
    let options = ReplayOptions {
        scheduler: "fifo".to_owned(),
        scheduler_params: Params::new(),
        arrivals: Arrivals::Batch,
        deadlines: Deadlines::Drop,
        faults: FaultPlan::default(),
        view: settled(&options.view),
        ..options.clone()
    };
    let mut known: BTreeMap<[u8; 32], Alone> = BTreeMap::new();
    let mut times = Vec::with_capacity(trace.jobs.len());
    for template in &trace.jobs {
        let key = key(template, &options.view);
        let time = match known.get(&key) {
            Some(&time) => time,
            None => run(template, &options)?,
        };
        known.insert(key, time);
        times.push(time);
    }
    Ok(times)
}

/// The jobs' runtimes alone on the options' cluster, by which slowdowns are counted. In the trace's order.
///
/// # Errors
/// As [`Simulation::new`].
pub fn reference_times(trace: &Trace, options: &ReplayOptions) -> Result<Vec<Span>, ReplayError> {
    Ok(alone(trace, options)?.into_iter().map(|time| time.runtime).collect())
}

/// Workers with the attributes that they have in the end: a lone run is not to wait for what others waited for.
fn settled(view: &View) -> View {
    let mut view = view.clone();
    if let View::Workers(workers) = &mut view {
        for worker in &mut workers.workers {
            let last = worker.attributes.pop();
            worker.attributes = last.into_iter().map(|(_, attributes)| (Time::ZERO, attributes)).collect();
        }
    }
    view
}

fn run(template: &JobTemplate, options: &ReplayOptions) -> Result<Alone, ReplayError> {
    let trace = Trace { jobs: vec![JobTemplate { submit_ms: 0, ..template.clone() }], ..Trace::default() };
    let mut simulation = Simulation::new(&trace, options)?;
    simulation.run();
    let report = simulation.report();
    let outcome = &report.jobs[0];
    if outcome.start.is_none() && !template.requires.is_empty() {
        // Nobody meets what it requires any more: then as if it required nothing.
        return run(&JobTemplate { requires: Requirements::default(), ..template.clone() }, options);
    }
    let commit = Span::from_us(template.commit_ms.saturating_mul(1_000));
    let last_end = outcome.finish.saturating_sub(commit);
    Ok(Alone {
        runtime: outcome.start.map_or(Span::ZERO, |start| last_end.since(start)),
        completion: outcome.completion(),
    })
}

/// A digest of what a lone run can feel: tasks and their times, and where the splits lie and what is required of
/// workers if that can matter.
fn key(template: &JobTemplate, view: &View) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut add = |list: &[u64]| {
        hasher.update(&(list.len() as u64).to_le_bytes());
        list.iter().for_each(|ms| {
            hasher.update(&ms.to_le_bytes());
        });
    };
    let slowstart = template.slowstart_ppm.map_or(u64::MAX, u64::from);
    add(&[u64::from(template.n_maps), u64::from(template.n_reduces), template.commit_ms, slowstart]);
    add(&template.map_ms);
    add(&template.first_shuffle_ms);
    add(&template.typical_shuffle_ms);
    add(&template.reduce_ms);
    if matches!(view, View::Workers(_)) {
        // Two tables that print alike are alike.
        hasher.update(format!("{:?}", template.split_hosts).as_bytes());
        hasher.update(template.requires.to_string().as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(n_maps: u32, map_ms: u64, n_reduces: u32, reduce_ms: u64) -> JobTemplate {
        let (map_ms, reduce_ms) = (vec![map_ms], vec![reduce_ms]);
        JobTemplate { n_maps, map_ms, n_reduces, reduce_ms, ..JobTemplate::default() }
    }

    #[test]
    fn a_job_alone_is_not_held_up_by_others_nor_by_its_own_arrival() {
        let late = JobTemplate { submit_ms: 5_000, ..job(4, 1_000, 2, 300) };
        let trace = Trace { jobs: vec![job(100, 9_000, 100, 9_000), late], ..Trace::default() };
        let options = ReplayOptions { view: View::Slots { maps: 2, reduces: 2 }, ..ReplayOptions::default() };
        let times = reference_times(&trace, &options).expect("slots for all");
        assert_eq!(times, [Span::from_secs(900), Span::from_ms(2_300)]);
    }

    #[test]
    fn promotion_counts_for_completion_and_not_for_the_runtime() {
        let slow_commit = JobTemplate { commit_ms: 700, ..job(1, 1_000, 0, 0) };
        let trace = Trace { jobs: vec![slow_commit, JobTemplate::default()], ..Trace::default() };
        let times = alone(&trace, &ReplayOptions::default()).expect("slots for all");
        assert_eq!(times[0], Alone { runtime: Span::from_ms(1_000), completion: Span::from_ms(1_700) });
        assert_eq!(times[1], Alone::default());
    }

    #[test]
    fn only_what_a_lone_run_can_feel_tells_templates_apart() {
        let view = View::Slots { maps: 1, reduces: 1 };
        let plain = job(3, 5, 1, 2);
        let renamed = JobTemplate { name: "other".to_owned(), submit_ms: 9, deadline_ms: Some(1), ..plain.clone() };
        assert_eq!(key(&plain, &view), key(&renamed, &view));
        assert_ne!(key(&plain, &view), key(&job(3, 5, 1, 3), &view));
        let shuffled = JobTemplate { typical_shuffle_ms: vec![1], ..plain.clone() };
        let first = JobTemplate { first_shuffle_ms: vec![1], ..plain };
        assert_ne!(key(&shuffled, &view), key(&first, &view));
    }

    #[test]
    fn options_that_do_not_fit_are_named() {
        let trace = Trace { jobs: vec![job(0, 0, 1, 1)], ..Trace::default() };
        let options = ReplayOptions { view: View::Slots { maps: 1, reduces: 0 }, ..ReplayOptions::default() };
        assert!(matches!(reference_times(&trace, &options), Err(ReplayError::NoSlots { .. })));
    }

    #[test]
    fn a_job_of_more_tasks_than_the_core_takes_is_named_before_anything_is_simulated() {
        let trace = Trace {
            jobs: vec![JobTemplate { name: "flood".to_owned(), n_maps: 50_000_001, ..JobTemplate::default() }],
            ..Trace::default()
        };
        let options = ReplayOptions { view: View::Slots { maps: 1, reduces: 1 }, ..ReplayOptions::default() };
        let error = crate::replay::simulate(&trace, &options).expect_err("too many").to_string();
        assert_eq!(error, "job 1 (`flood`): found 50000001 map tasks, expected at most 50000000");
    }
}
