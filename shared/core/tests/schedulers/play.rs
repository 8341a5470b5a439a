//! What the policies' tests share: parameters, replays to their end or to some instant, forks, and the jobs of a
//! heartbeat of the kit's cluster.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{JobId, JobSpec, JobState};
use howdah_core::replay::{AttemptRecord, Observer, ReplayOptions, ReplayReport, SimWorker, Simulation, View};
use howdah_core::schedulers::registry::Params;
use howdah_core::time::Time;

use super::kit::{Cluster, job_on};

pub(crate) fn params(pairs: &[(&str, &str)]) -> Params {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// A policy with parameters on one pool of so many map and reduce slots; all else by default.
pub(crate) fn in_slots(scheduler: &str, pairs: &[(&str, &str)], (maps, reduces): (u16, u16)) -> ReplayOptions {
    ReplayOptions {
        scheduler: scheduler.to_owned(),
        scheduler_params: params(pairs),
        view: View::Slots { maps, reduces },
        ..ReplayOptions::default()
    }
}

/// A worker with two map slots and a reduce slot; by turns in one of two racks.
pub(crate) fn in_two_racks(index: u32) -> SimWorker {
    SimWorker {
        name: format!("w{index}"),
        host: format!("h{index}"),
        rack: format!("/r{}", index % 2),
        map_slots: 2,
        reduce_slots: 1,
        ..SimWorker::default()
    }
}

/// Remembers every attempt.
#[derive(Clone, Default)]
pub(crate) struct Memory(Rc<RefCell<Vec<AttemptRecord>>>);

impl Memory {
    /// All attempts so far in the order of their ends.
    pub(crate) fn attempts(&self) -> Vec<AttemptRecord> {
        self.0.borrow().clone()
    }
}

impl Observer for Memory {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().push(*record);
    }
}

fn begun<'t>(trace: &'t Trace, options: &ReplayOptions) -> Simulation<'t> {
    Simulation::new(trace, options).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn replay(jobs: Vec<JobTemplate>, options: &ReplayOptions) -> ReplayReport {
    let trace = Trace { jobs, ..Trace::default() };
    let mut simulation = begun(&trace, options);
    simulation.run();
    simulation.report()
}

/// The same, and all attempts in the order of their ends.
pub(crate) fn recorded(jobs: Vec<JobTemplate>, options: &ReplayOptions) -> (ReplayReport, Vec<AttemptRecord>) {
    let trace = Trace { jobs, ..Trace::default() };
    let memory = Memory::default();
    let mut simulation = begun(&trace, options);
    simulation.observe(Box::new(memory.clone()));
    simulation.run();
    (simulation.report(), memory.attempts())
}

pub(crate) fn all_succeeded(report: &ReplayReport) {
    assert!(report.jobs.iter().all(|job| job.state == JobState::Succeeded), "{:?}", report.jobs);
}

/// The most of the attempts that count that ran at once.
pub(crate) fn most_at_once(attempts: &[AttemptRecord], counts: impl Fn(&AttemptRecord) -> bool) -> usize {
    let own: Vec<_> = attempts.iter().filter(|a| counts(a)).collect();
    own.iter().map(|a| own.iter().filter(|b| b.start <= a.start && a.start < b.end).count()).max().unwrap_or(0)
}

/// What the policy says of a job after all that happens until an instant.
pub(crate) fn explained(jobs: Vec<JobTemplate>, options: &ReplayOptions, at_s: u64, job: u32) -> String {
    let trace = Trace { jobs, ..Trace::default() };
    let mut simulation = begun(&trace, options);
    while simulation.next_time().is_some_and(|next| next <= Time::from_ms(at_s * 1_000)) {
        simulation.step();
    }
    simulation.tracker().explain(JobId(job)).to_string()
}

/// So many steps on, or at its end if it has fewer.
pub(crate) fn after<'t>(trace: &'t Trace, options: &ReplayOptions, steps: u32) -> Simulation<'t> {
    let mut simulation = begun(trace, options);
    for _ in 0..steps {
        simulation.step();
    }
    simulation
}

/// Plays a simulation and a fork of it to the end; the report of both.
pub(crate) fn a_fork_goes_on_as_its_original(mut original: Simulation<'_>) -> ReplayReport {
    let mut fork = original.fork();
    fork.run();
    original.run();
    let report = original.report();
    assert_eq!(fork.report(), report);
    report
}

/// A job of maps with the data of each on one host.
pub(crate) fn on(hosts: &[&str]) -> JobSpec {
    let lists: Vec<&[&str]> = hosts.chunks(1).collect();
    job_on(&lists)
}

/// Jobs of the launches of one heartbeat, maps before reduces.
pub(crate) fn given(cluster: &mut Cluster, worker: u32) -> Vec<u32> {
    cluster.beat(worker);
    cluster.launches().iter().map(|(_, attempt)| attempt.job.0).collect()
}
