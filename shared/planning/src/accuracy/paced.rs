//! Runs on a machine whose own speed changed while they went on, each with that speed measured beside it.
//!
//! Where other programs share the cores, a task's time says as much of them as of the task. With the speed of each
//! worker over time known from something else than the tasks, a run's durations become *work*: what they would have been
//! at speed 1 throughout. Another run is then simulated with that work on workers as fast as its own were. Nothing of
//! the jobs of the run that is predicted goes into its prediction, only how fast its machine was.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptState, TaskKind};
use howdah_core::replay::{AttemptRecord, Observer};
use howdah_core::time::Time;

use super::across::each;
use super::predict::Twin;
use super::{AccuracyError, Maker, Model, Prediction};

/// Speeds of a run's workers in the order of registration, each in millionths from each instant of its trace on. Empty
/// for all at speed 1.
pub type Speeds = Vec<Vec<(Time, u32)>>;

/// A run with its machine's speed.
#[derive(Clone, Copy, Debug)]
pub struct Paced<'a> {
    /// What was recorded.
    pub trace: &'a Trace,
    /// What was measured beside it.
    pub speeds: &'a Speeds,
}

/// The predictions that [`across`](super::across()) makes, each at the speeds of the run that is predicted.
///
/// # Errors
/// When a run cannot be simulated, or the runs are not of one workload.
pub fn across_paced(runs: &[Paced<'_>], model: Model, make: Maker) -> Result<Vec<Prediction>, AccuracyError> {
    let works = runs.iter().map(|run| work(run, model, make)).collect::<Result<Vec<_>, _>>()?;
    let traces: Vec<&Trace> = runs.iter().map(|run| run.trace).collect();
    each(&traces, |profile, measured| {
        let Paced { trace, speeds } = runs[measured];
        Twin { profile: &works[profile], measured: trace, speeds }.compare(model, make, None)
    })
}

/// The run with its tasks' work for durations. When each of them ran where is known from the run's own simulation, which
/// is off by less than a millisecond.
fn work(run: &Paced<'_>, model: Model, make: Maker) -> Result<Trace, AccuracyError> {
    let records = Rc::new(RefCell::new(Vec::new()));
    let own = Twin { profile: run.trace, measured: run.trace, speeds: &[] };
    own.compare(model, make, Some(Box::new(Records(Rc::clone(&records)))))?;
    let mut trace = own.trace()?;
    let from_start = |at: Time| Time::from_us(at.as_us().saturating_sub(own.phase().as_us()));
    for record in records.borrow().iter() {
        let steps = run.speeds.get(record.worker.0 as usize).map_or(&[][..], Vec::as_slice);
        // Numbered by the core in the order of their submission.
        if let Some(job) = trace.jobs.get_mut(record.attempt.job.0 as usize - 1) {
            put(job, record, |from, to| work_ms(steps, from_start(from), from_start(to)));
        }
    }
    Ok(trace)
}

/// Puts a task's work where its durations were.
fn put(job: &mut JobTemplate, record: &AttemptRecord, work: impl Fn(Time, Time) -> u64) {
    let index = record.attempt.index as usize;
    let set = |list: &mut Vec<u64>, index: usize, ms: u64| {
        if let Some(entry) = list.get_mut(index) {
            *entry = ms;
        }
    };
    if record.attempt.kind == TaskKind::Map {
        return set(&mut job.map_ms, index, work(record.start, record.end));
    }
    let (Some(maps_done), Some(sorted)) = (record.maps_done, record.sorted) else { return };
    let shuffle = work(maps_done, sorted);
    match index.checked_sub(job.first_shuffle_ms.len()) {
        Some(later) => set(&mut job.typical_shuffle_ms, later, shuffle),
        None => set(&mut job.first_shuffle_ms, index, shuffle),
    }
    set(&mut job.reduce_ms, index, work(sorted, record.end));
}

/// What is done at speeds that change, in ms at speed 1.
fn work_ms(steps: &[(Time, u32)], from: Time, to: Time) -> u64 {
    let first = steps.partition_point(|&(at, _)| at <= from);
    let mut speed = first.checked_sub(1).map_or(1_000_000, |last| steps[last].1);
    let (mut at, mut done) = (from, 0_u128);
    for &(next, then) in steps[first..].iter().take_while(|step| step.0 < to) {
        done += u128::from(next.since(at).as_us()) * u128::from(speed);
        (at, speed) = (next, then);
    }
    done += u128::from(to.since(at).as_us()) * u128::from(speed);
    u64::try_from((done + 500_000_000) / 1_000_000_000).unwrap_or(u64::MAX)
}

/// Keeps what ran to its end.
struct Records(Rc<RefCell<Vec<AttemptRecord>>>);

impl Observer for Records {
    fn attempt(&mut self, record: &AttemptRecord) {
        if record.state == AttemptState::Succeeded {
            self.0.borrow_mut().push(*record);
        }
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::{Measured, TraceCluster, TraceWorker};
    use howdah_core::schedulers::by_name;

    use super::*;
    use crate::accuracy::{Kind, across};

    /// One job of four maps, one at a time on the first worker, and of two reduces on the second.
    fn run(map_ms: [u64; 4], first_ms: u64, typical_ms: u64, reduce_ms: [u64; 2]) -> Trace {
        let worker = |name: &str, map_slots, reduce_slots| TraceWorker {
            name: name.to_owned(),
            host: "h".to_owned(),
            rack: "/r".to_owned(),
            map_slots,
            reduce_slots,
            ..TraceWorker::default()
        };
        let finish_ms = map_ms.iter().sum::<u64>() + first_ms + typical_ms + reduce_ms.iter().sum::<u64>();
        let cluster = TraceCluster {
            scheduler: "fifo".to_owned(),
            workers: vec![worker("a", 1, 0), worker("b", 0, 1)],
            ..TraceCluster::default()
        };
        let job = JobTemplate {
            name: "sort".to_owned(),
            n_maps: 4,
            n_reduces: 2,
            map_ms: map_ms.to_vec(),
            first_shuffle_ms: vec![first_ms],
            typical_shuffle_ms: vec![typical_ms],
            reduce_ms: reduce_ms.to_vec(),
            outcome: "SUCCEEDED".to_owned(),
            measured: Some(Measured { finish_ms, ..Measured::default() }),
            ..JobTemplate::default()
        };
        Trace { cluster: Some(cluster), jobs: vec![job], ..Trace::default() }
    }

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    #[test]
    fn equal_work_on_a_machine_that_slows_down_is_predicted_from_one_that_does_not() {
        let even = run([100; 4], 50, 60, [200, 300]);
        // The first worker is at half speed from its third map on, the second one in all of its second reduce but the end.
        let uneven = run([100, 100, 200, 200], 50, 120, [200, 500]);
        let halves = vec![
            vec![(at(0), 1_000_000), (at(200), 500_000)],
            vec![(at(850), 500_000), (at(850 + 120 + 400), 1_000_000)],
        ];
        let traces = [&even, &uneven];
        let plain = across(&traces, Model::SimMr, by_name).expect("simulates");
        assert!(plain.iter().any(|one| one.kind == Kind::CrossRun && one.comparison.jobs[0].completion.error() > 0.2));
        let none = Speeds::new();
        let runs = [Paced { trace: &even, speeds: &none }, Paced { trace: &uneven, speeds: &halves }];
        let paced = across_paced(&runs, Model::SimMr, by_name).expect("simulates");
        assert_eq!(
            paced.iter().map(|one| one.kind).collect::<Vec<_>>(),
            plain.iter().map(|one| one.kind).collect::<Vec<_>>()
        );
        for one in paced {
            assert!(one.comparison.jobs[0].completion.error() < 1e-9, "{one:?}");
        }
    }

    #[test]
    fn at_one_speed_throughout_nothing_changes() {
        let (a, b) = (run([90, 100, 110, 120], 50, 60, [200, 300]), run([100; 4], 40, 70, [210, 290]));
        let none = Speeds::new();
        let runs = [Paced { trace: &a, speeds: &none }, Paced { trace: &b, speeds: &none }];
        let paced = across_paced(&runs, Model::SimMr, by_name).expect("simulates");
        assert_eq!(paced, across(&[&a, &b], Model::SimMr, by_name).expect("simulates"));
    }
}
