//! What a replay starts with: the checked options, the registered workers, the planned arrivals.

use super::alone::alone;
use super::arrivals::{Arrival, submit_order, submit_times};
use super::attributes::AttributeSteps;
use super::check::check_options;
use super::deadlines::deadlines;
use super::error::ReplayError;
use super::followers::Followers;
use super::heartbeat_schedule::HeartbeatSchedule;
use super::job;
use super::losses::Losses;
use super::options::{Deadlines, ReplayOptions, SimWorker, View, WorkersView};
use super::sharing::Sharing;
use super::workers::Machines;
use crate::job::profile::Trace;
use crate::job::{PerKind, TaskKind, WorkerId};
use crate::schedulers::{Capabilities, Scheduler};
use crate::time::Time;
use crate::tracker::{ClusterConfig, Input, JobTracker, MAX_TASKS};

/// Most jobs of a replay.
const MAX_JOBS: u32 = u32::MAX - 1;

pub(super) struct Setup {
    pub(super) tracker: JobTracker,
    /// By time, equal times in the trace's order.
    pub(super) arrivals: Vec<Arrival>,
    /// Those that come once others are over.
    pub(super) followers: Followers,
    pub(super) heartbeats: HeartbeatSchedule,
    pub(super) machines: Machines,
    pub(super) sharing: Sharing,
    pub(super) attributes: AttributeSteps,
    /// Whether there are workers of whom something can be required.
    pub(super) has_workers: bool,
    /// Map and reduce slots.
    pub(super) slots: PerKind<u32>,
}

impl Setup {
    pub(super) fn new(
        trace: &Trace,
        options: &ReplayOptions,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Setup, ReplayError> {
        check_options(options)?;
        let view = workers_of(&options.view);
        let workers = &view.workers;
        let slots = slots_of(workers);
        check_sizes(trace, workers)?;
        check_jobs(trace, options, slots)?;
        scheduler.queues().validate_capacity(slots)?;
        check_accepted(trace, &*scheduler)?;
        let Capabilities { limits_rounds, may_speculate, .. } = scheduler.capabilities();
        let mut tracker = JobTracker::direct(&ClusterConfig::default(), scheduler);
        let hellos = || workers.iter().zip(0..).map(|(worker, index)| worker.hello(WorkerId(index), 1));
        let registrations: Vec<Input> = hellos().map(|hello| Input::Register(Box::new(hello))).collect();
        tracker.advance(Time::ZERO, &[], &registrations, &[], &mut Vec::new());
        if tracker.state().workers().len() < workers.len() {
            let mut names: Vec<&str> = workers.iter().map(|worker| worker.name.as_str()).collect();
            names.sort_unstable();
            let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map_or("", |pair| pair[0]);
            return Err(ReplayError::SameName { name: twice.to_owned() });
        }
        // In the slot-pool model there is no other worker for a speculative attempt, and nobody to measure anything.
        let is_pool = matches!(options.view, View::Slots { .. });
        let mut sharing = if is_pool { Sharing::default() } else { Sharing::new(&view) };
        let reports = may_speculate && !is_pool;
        if reports {
            sharing.activate(std::iter::empty());
        }
        let (arrivals, followers) = Followers::split(trace, arrivals(trace, options, slots)?);
        let mut heartbeats = HeartbeatSchedule::new(view.heartbeat, view.report_interval, tracker.state());
        heartbeats.set_policy(limits_rounds, reports, Time::ZERO);
        Ok(Setup {
            heartbeats,
            tracker,
            arrivals,
            followers,
            machines: Machines::new(workers, view.locality, Losses::new(&options.faults.losses, hellos())),
            sharing,
            attributes: AttributeSteps::new(&view),
            has_workers: !is_pool,
            slots,
        })
    }
}

/// The slot-pool model is one worker with immediate heartbeats.
fn workers_of(view: &View) -> WorkersView {
    match view {
        View::Slots { maps, reduces } => {
            let pool = SimWorker {
                name: "slots".to_owned(),
                host: "slots".to_owned(),
                rack: "/default-rack".to_owned(),
                map_slots: *maps,
                reduce_slots: *reduces,
                ..SimWorker::default()
            };
            WorkersView { workers: vec![pool], ..WorkersView::default() }
        }
        View::Workers(view) => view.clone(),
    }
}

fn slots_of(workers: &[SimWorker]) -> PerKind<u32> {
    let sum = |slots: fn(&SimWorker) -> u16| workers.iter().map(|worker| u32::from(slots(worker))).sum();
    [sum(|worker| worker.map_slots), sum(|worker| worker.reduce_slots)]
}

fn check_jobs(trace: &Trace, options: &ReplayOptions, slots: PerKind<u32>) -> Result<(), ReplayError> {
    if trace.jobs.len() > MAX_JOBS as usize {
        return Err(ReplayError::TooManyJobs { found: trace.jobs.len(), most: MAX_JOBS });
    }
    for (index, template) in trace.jobs.iter().enumerate() {
        let number = index + 1;
        for kind in TaskKind::ALL {
            let n = [template.n_maps, template.n_reduces][kind];
            if n > 0 && slots[kind] == 0 {
                return Err(ReplayError::NoSlots { kind: kind.name(), number, name: template.name.clone(), n });
            }
            if n > MAX_TASKS {
                let (kind, name) = (kind.name(), template.name.clone());
                return Err(ReplayError::TooManyTasks { kind, number, name, n, most: MAX_TASKS });
            }
        }
        if !template.map_input_bytes.is_empty() || !template.split_hosts.offsets.is_empty() {
            let spec = job::spec(template, options.slowstart_ppm, None, false);
            spec.check().map_err(|source| ReplayError::Template { number, source })?;
        }
    }
    Ok(())
}

/// Looks for tasks that no worker has slots enough for.
fn check_sizes(trace: &Trace, workers: &[SimWorker]) -> Result<(), ReplayError> {
    let most = |slots: fn(&SimWorker) -> u16| workers.iter().map(slots).max().unwrap_or(0);
    let most = [most(|worker| worker.map_slots), most(|worker| worker.reduce_slots)];
    for (template, number) in trace.jobs.iter().zip(1..) {
        for kind in TaskKind::ALL {
            let slots = [template.slots_per_map, template.slots_per_reduce][kind];
            let n = [template.n_maps, template.n_reduces][kind];
            if slots > 1 && n > 0 && slots > most[kind] {
                let (kind, most, name) = (kind.name(), most[kind], template.name.clone());
                return Err(ReplayError::LargeTask { kind, number, name, slots, most });
            }
        }
    }
    Ok(())
}

/// Asks the policy for each job as if it came first.
fn check_accepted(trace: &Trace, scheduler: &dyn Scheduler) -> Result<(), ReplayError> {
    let asked = if scheduler.capabilities().refuses_jobs { &trace.jobs[..] } else { &[] };
    for (template, number) in asked.iter().zip(1..) {
        let spec = job::bare_spec(template);
        let accepted = scheduler.queues().accepts(&spec);
        accepted.map_err(|why| ReplayError::Refused { number, name: template.name.clone(), why })?;
    }
    Ok(())
}

fn arrivals(trace: &Trace, options: &ReplayOptions, slots: PerKind<u32>) -> Result<Vec<Arrival>, ReplayError> {
    let times = submit_times(trace, &options.arrivals, slots[0].saturating_add(slots[1]), options.seed)?;
    let alone = match options.deadlines {
        Deadlines::Uniform { .. } => alone(trace, options)?.into_iter().map(|time| time.completion).collect(),
        Deadlines::FromTrace | Deadlines::Drop => Vec::new(),
    };
    let deadlines = deadlines(trace, &options.deadlines, &alone, options.seed);
    let arrival = |place: u32| {
        let index = place as usize;
        Arrival { at: times[index], template: place, deadline: deadlines[index] }
    };
    Ok(submit_order(&times).into_iter().map(arrival).collect())
}
