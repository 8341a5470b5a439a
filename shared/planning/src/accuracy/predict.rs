//! The closed loop: a run's jobs, simulated on the run's own cluster, against what was measured.

use howdah_core::job::JobState;
use howdah_core::job::profile::{Trace, TraceCluster};
use howdah_core::replay::{
    FaultPlan, Observer, ReplayError, ReplayOptions, ShuffleModel, SimWorker, Simulation, View, WorkersView,
};
use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{self, Scheduler, SchedulerError};
use howdah_core::time::{Span, Time};

use super::compare::{Comparison, JobMeasure, Measure};
use super::pair::{PairError, is_alone, predictor, succeeded};
use super::spread::makespan_of;

/// A run that cannot be compared with its simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccuracyError {
    /// The trace does not say where it was measured.
    #[error("trace `{source_name}`: the cluster is unknown, expected the trace of a recorded run")]
    NoCluster {
        /// As the trace names its source.
        source_name: String,
    },
    /// No job of the run succeeded.
    #[error("trace `{source_name}`: {found} jobs and none succeeded, expected at least one to compare")]
    NothingToCompare {
        /// As the trace names its source.
        source_name: String,
        /// Jobs of the run.
        found: usize,
    },
    /// Two runs of different workloads.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// The simulation does not begin.
    #[error("simulate the run")]
    Replay(#[from] ReplayError),
    /// The simulation ended before a job did.
    #[error("simulate the run: job {id} did not succeed in the simulation, expected it to as it did for real")]
    Stuck {
        /// Printed id.
        id: String,
    },
}

/// A minute: the usual periods of policies divide it.
const PERIODS_MS: u64 = 60_000;

/// Whose idea of a shuffle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// First and typical shuffles.
    #[default]
    SimMr,
    /// None at all, as in Mumak (SimMR §IV-A).
    Mumak,
}

/// The simulated twin of a measured cluster: its workers with their slots, its policy and parameters. Their
/// heartbeats are immediate, as ours are: they report ends as they happen and have a request parked while they are idle.
pub fn options_of(cluster: &TraceCluster) -> ReplayOptions {
    let workers = cluster.workers.iter().map(SimWorker::from);
    ReplayOptions {
        scheduler: cluster.scheduler.clone(),
        scheduler_params: cluster.scheduler_params.clone(),
        view: View::Workers(WorkersView { workers: workers.collect(), ..WorkersView::default() }),
        ..ReplayOptions::default()
    }
}

/// Makes a policy from its name and parameters.
pub type Maker = fn(&str, &Params) -> Result<Box<dyn Scheduler>, SchedulerError>;

/// Predicts `measured` from `profile` (which may be the same trace) and compares.
///
/// # Errors
/// When the run cannot be simulated, or the two are not of one workload.
pub fn compare(profile: &Trace, measured: &Trace, model: Model) -> Result<Comparison, AccuracyError> {
    compare_under(profile, measured, model, schedulers::by_name)
}

/// As [`compare`], under policies of the caller's: a run's policy may need what the core cannot touch.
///
/// # Errors
/// As [`compare`].
pub fn compare_under(
    profile: &Trace,
    measured: &Trace,
    model: Model,
    make: Maker,
) -> Result<Comparison, AccuracyError> {
    Twin { profile, measured, speeds: &[] }.compare(model, make, None)
}

/// A measured run and what it is simulated from.
#[derive(Clone, Copy)]
pub(super) struct Twin<'a> {
    /// Whose durations; the measured run itself or another.
    pub(super) profile: &'a Trace,
    pub(super) measured: &'a Trace,
    /// Of the measured run's workers, as far as they are known: see [`SimWorker::speed`].
    pub(super) speeds: &'a [Vec<(Time, u32)>],
}

impl Twin<'_> {
    fn is_own(&self) -> bool {
        std::ptr::eq(self.profile, self.measured)
    }

    /// From the simulated clock's start to the trace's. Some policies do things at the master's clock's full periods, such
    /// as Fair's updates every half second; a job that came just before one waits less than one that came just after.
    pub(super) fn phase(&self) -> Span {
        Span::from_us(self.measured.start_ms_epoch.unwrap_or(0) % PERIODS_MS * 1_000)
    }

    /// What is simulated, from the simulated clock's start on.
    pub(super) fn trace(&self) -> Result<Trace, AccuracyError> {
        let Twin { profile, measured, .. } = *self;
        let mut trace = if self.is_own() { only_succeeded(measured) } else { predictor(profile, measured)? };
        if !trace.jobs.iter().any(succeeded) {
            let (source_name, found) = (measured.source.clone(), measured.jobs.len());
            return Err(AccuracyError::NothingToCompare { source_name, found });
        }
        let phase_ms = self.phase().as_us() / 1_000;
        for job in &mut trace.jobs {
            job.submit_ms += phase_ms;
            let instants =
                job.measured.iter_mut().flat_map(|m| [&mut m.launch_ms, &mut m.maps_done_ms, &mut m.finish_ms]);
            instants.for_each(|ms| *ms += phase_ms);
        }
        Ok(trace)
    }

    fn options(&self, model: Model) -> Result<ReplayOptions, AccuracyError> {
        let cluster = self.measured.cluster.as_ref();
        let cluster = cluster.ok_or_else(|| AccuracyError::NoCluster { source_name: self.measured.source.clone() })?;
        let mut options = options_of(cluster);
        if let View::Workers(view) = &mut options.view {
            for (worker, speed) in view.workers.iter_mut().zip(self.speeds) {
                worker.speed = speed.iter().map(|&(at, speed)| (at + self.phase(), speed)).collect();
            }
            let changes = view.workers.iter_mut().flat_map(|worker| &mut worker.attributes);
            changes.filter(|(at, _)| *at > Time::ZERO).for_each(|(at, _)| *at += self.phase());
        }
        options.faults = FaultPlan { scripted: self.is_own(), ..FaultPlan::default() };
        if model == Model::Mumak {
            options.shuffle = ShuffleModel::Mumak;
        }
        Ok(options)
    }

    /// Simulates and compares; the observer sees the simulation.
    pub(super) fn compare(
        &self,
        model: Model,
        make: Maker,
        observer: Option<Box<dyn Observer>>,
    ) -> Result<Comparison, AccuracyError> {
        let options = self.options(model)?;
        let trace = self.trace()?;
        let scheduler = make(&options.scheduler, &options.scheduler_params).map_err(ReplayError::from)?;
        let mut simulation = Simulation::with_scheduler(&trace, &options, scheduler)?;
        if let Some(observer) = observer {
            simulation.observe(observer);
        }
        simulation.run();
        let report = simulation.report();
        let mut jobs = Vec::with_capacity(trace.jobs.len());
        for outcome in &report.jobs {
            let job = &trace.jobs[outcome.template as usize];
            if is_alone(job) {
                continue;
            }
            if outcome.state != JobState::Succeeded {
                return Err(AccuracyError::Stuck { id: job.id.clone() });
            }
            jobs.push(JobMeasure {
                id: job.id.clone(),
                name: job.name.clone(),
                completion: Measure {
                    measured_s: job.completion_ms().unwrap_or(0) as f64 / 1e3,
                    simulated_s: outcome.completion().as_us() as f64 / 1e6,
                },
            });
        }
        let makespan = Measure {
            // Of what is simulated, which those that are alone may be the last of.
            measured_s: makespan_of(self.measured, |job| succeeded(job) || is_alone(job)),
            simulated_s: report.makespan.as_us() as f64 / 1e6,
        };
        Ok(Comparison { makespan, jobs, left_out: self.measured.jobs.len() - trace.jobs.len() })
    }
}

fn only_succeeded(trace: &Trace) -> Trace {
    let jobs = trace.jobs.iter().filter(|job| succeeded(job) || is_alone(job));
    Trace { jobs: jobs.cloned().collect(), ..trace.header() }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::{JobTemplate, Measured, TraceWorker};

    use super::*;

    #[test]
    fn a_job_without_its_like_takes_its_slots_and_is_not_compared() {
        let job = |id: &str, name: &str, map_ms: u64, finish_ms: u64| JobTemplate {
            id: id.to_owned(),
            name: name.to_owned(),
            n_maps: 1,
            map_ms: vec![map_ms],
            outcome: "SUCCEEDED".to_owned(),
            measured: Some(Measured { finish_ms, ..Measured::default() }),
            ..JobTemplate::default()
        };
        let worker = TraceWorker { name: "w".to_owned(), map_slots: 1, reduce_slots: 1, ..TraceWorker::default() };
        let cluster = TraceCluster { scheduler: "fifo".to_owned(), workers: vec![worker], ..TraceCluster::default() };
        let run = |jobs| Trace { cluster: Some(cluster.clone()), jobs, ..Trace::default() };
        // Before the job that both have, one run has another, on the same slot.
        let one = run(vec![job("1", "other", 700, 700), job("2", "same", 300, 1_000)]);
        let two = run(vec![job("3", "same", 310, 310)]);
        let common = super::super::in_common(&[&one, &two]);
        let found = compare(&common[1], &common[0], Model::SimMr).expect("simulates");
        let times: Vec<_> = found.jobs.iter().map(|job| (&job.id[..], job.completion.simulated_s)).collect();
        assert_eq!(times, [("2", 1.01)]);
        assert_eq!((found.makespan.measured_s, found.makespan.simulated_s), (1.0, 1.01));
    }

    /// The simulated time of a job of one map and one reduce, in a run that began so many ms after a full minute.
    fn completion_s(scheduler: &str, start_ms_epoch: u64) -> f64 {
        let worker = TraceWorker { name: "w".to_owned(), map_slots: 1, reduce_slots: 1, ..TraceWorker::default() };
        let cluster =
            TraceCluster { scheduler: scheduler.to_owned(), workers: vec![worker], ..TraceCluster::default() };
        let job = JobTemplate {
            n_maps: 1,
            n_reduces: 1,
            map_ms: vec![300],
            reduce_ms: vec![100],
            outcome: "SUCCEEDED".to_owned(),
            measured: Some(Measured { finish_ms: 1_000, ..Measured::default() }),
            ..JobTemplate::default()
        };
        let start_ms_epoch = Some(PERIODS_MS * 30_000_000 + start_ms_epoch);
        let run = Trace { cluster: Some(cluster), jobs: vec![job], start_ms_epoch, ..Trace::default() };
        let comparison = compare(&run, &run, Model::SimMr).expect("simulates");
        assert!((comparison.jobs[0].completion.measured_s - 1.0).abs() < 1e-9, "{comparison:?}");
        comparison.jobs[0].completion.simulated_s
    }

    #[test]
    fn a_policy_that_acts_at_full_periods_of_the_masters_clock_does_so_in_the_simulation() {
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found}, expected {wanted}");
        near(completion_s("fifo", 100), 0.4);
        // The reduce is wanted when the map is done, which Fair sees at the next half second.
        near(completion_s("fair", 0), 0.6);
        near(completion_s("fair", 100), 0.5);
        near(completion_s("fair", 300), 0.8);
    }
}
