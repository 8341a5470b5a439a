//! How a replay begins: the cluster and its policy are made, and the arrivals are planned.

use super::super::arrivals::Arrival;
use super::super::digest::DecisionDigest;
use super::super::ends::Ends;
use super::super::error::ReplayError;
use super::super::fault_injector::FaultInjector;
use super::super::jobs::SimJobs;
use super::super::options::ReplayOptions;
use super::super::report::ReplayReport;
use super::super::setup::Setup;
use super::Simulation;
use super::stage::Stage;
use crate::job::profile::Trace;
use crate::schedulers;
use crate::schedulers::Scheduler;
use crate::time::Time;

impl<'t> Simulation<'t> {
    /// Makes the cluster and its policy, and plans the arrivals.
    ///
    /// # Errors
    /// Names the option or job that does not fit, and what was expected.
    pub fn new(trace: &'t Trace, options: &ReplayOptions) -> Result<Simulation<'t>, ReplayError> {
        let scheduler = schedulers::by_name(&options.scheduler, &options.scheduler_params)?;
        Simulation::with_scheduler(trace, options, scheduler)
    }

    /// As [`Simulation::new`], under a policy of the caller's: the core can neither read files nor start programs,
    /// and a policy under test need not be registered. The options' own scheduler is not looked at.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn with_scheduler(
        trace: &'t Trace,
        options: &ReplayOptions,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Simulation<'t>, ReplayError> {
        let profiled = scheduler.capabilities().reads_profiles;
        let Setup { tracker, arrivals, followers, heartbeats, machines, sharing, attributes, has_workers, slots } =
            Setup::new(trace, options, scheduler)?;
        let tasks = |job: &Arrival| {
            let template = &trace.jobs[job.template as usize];
            u64::from(template.n_maps) + u64::from(template.n_reduces)
        };
        let next_arrival = arrivals.first().map_or(Time::MAX, |arrival| arrival.at);
        let next_fixed = next_arrival.min(machines.losses.next_time()).min(attributes.next_time());
        let stage = Stage {
            now: Time::ZERO,
            shuffle: options.shuffle,
            heartbeats,
            machines,
            sharing,
            injector: FaultInjector::new(&options.faults, &trace.jobs, options.seed),
            ends: Ends::default(),
            jobs: SimJobs::after(0, arrivals.len()),
            spare_fillers: Vec::new(),
            launches: 0,
            tasks_done: 0,
            report: ReplayReport { slots, ..ReplayReport::default() },
            digest: DecisionDigest::default(),
            watch: None,
            plain: false,
        };
        let mut simulation = Simulation {
            slowstart_ppm: options.slowstart_ppm,
            profiled,
            tasks_in_all: arrivals.iter().chain(followers.all()).map(tasks).sum(),
            next_fixed,
            next_arrival,
            arrivals,
            followers,
            attributes,
            has_workers,
            ..Simulation::idle(trace, tracker, stage)
        };
        simulation.settle();
        Ok(simulation)
    }
}
