//! The real traces of other systems that may lie beside the checkout, in `../shared/traces`.
//!
//! Counts are those that their READMEs state, taken by other programs. Every note of an import is listed here with
//! its count, so that a warning nobody can explain fails the suite, and every trace replays to its end. Without the
//! folder there is nothing to check, and the tests are reported as ignored (`build.rs`).

mod histories;
mod others;
mod rumen_traces;

use std::path::PathBuf;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, Simulation, View};
use howdah_traces::{ImportNotes, ImportOptions, read_any};

/// The bytes of a file of the folder.
fn bytes(file: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces").join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("read `{}`: {error}", path.display()))
}

/// The trace, its notes as `count reason`. The format is found out, gzip or not.
fn import(file: &str) -> (Trace, Vec<String>) {
    let mut notes = ImportNotes::default();
    let trace = read_any(&bytes(file)[..], None, &ImportOptions::default(), &mut notes).unwrap();
    (trace, notes.iter().map(|(reason, note)| format!("{} {reason}", note.count)).collect())
}

/// Sums over all jobs, in the order of the READMEs' tables.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    succeeded: usize,
    failed: usize,
    killed: usize,
    maps: u64,
    reduces: u64,
    /// Attempts that won, and those that failed and were killed.
    attempts: [usize; 3],
    map_ms: u64,
    reduce_ms: u64,
}

impl Counts {
    fn of(trace: &Trace) -> Counts {
        let mut counts = Counts::default();
        for job in &trace.jobs {
            match job.outcome.as_str() {
                "SUCCEEDED" => counts.succeeded += 1,
                "FAILED" => counts.failed += 1,
                "KILLED" => counts.killed += 1,
                other => panic!("job {} ended as `{other}`", job.id),
            }
            counts.maps += u64::from(job.n_maps);
            counts.reduces += u64::from(job.n_reduces);
            let failed = job.lost_attempts.iter().filter(|lost| lost.failed).count();
            counts.attempts[0] += job.map_ms.len() + job.reduce_ms.len();
            counts.attempts[1] += failed;
            counts.attempts[2] += job.lost_attempts.len() - failed;
            counts.map_ms += job.map_ms.iter().sum::<u64>();
            counts.reduce_ms += job.reduce_ms.iter().sum::<u64>();
        }
        counts
    }
}

fn locality(trace: &Trace) -> [u32; 4] {
    trace.jobs.iter().fold([0; 4], |mut sum, job| {
        sum.iter_mut().zip(job.maps_by_locality).for_each(|(sum, count)| *sum += count);
        sum
    })
}

/// All jobs come to an end with all their tasks under FIFO, on as many slots.
fn assert_replays(trace: &Trace, slots: u16) {
    let options = ReplayOptions { view: View::Slots { maps: slots, reduces: slots }, ..ReplayOptions::default() };
    let mut simulation = Simulation::new(trace, &options).unwrap();
    simulation.run();
    let (done, all) = simulation.progress();
    let tasks: u64 = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    assert_eq!((done, all), (tasks, tasks));
    let report = simulation.report();
    assert_eq!(report.jobs.len(), trace.jobs.len());
    assert!(report.jobs.iter().all(|job| job.state.is_final()));
}

fn job<'t>(trace: &'t Trace, id: &str) -> &'t JobTemplate {
    trace.jobs.iter().find(|job| job.id == id).unwrap()
}

const ASIDE: &str = "set-up or clean-up task: left out, its time is not a slot's in a replay";
const EARLY: &str = "attempt starts before its job on its worker's clock: only differences of its times count";
const NO_ATTEMPT: &str = "task without an attempt: kept, without times";
const DECLARED: &str = "task declared but not listed: kept, without times";
const NO_MAP: &str = "no map of the job ended well: its maps take 0 ms";
const NO_REDUCE: &str = "no reduce of the job ended well: its reduces take 0 ms";
