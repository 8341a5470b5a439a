//! What a replay is asked to do: the cluster, the policy, and what to change in the trace.
//!
//! Everything that decides is here or in the trace, and both are plain data: equal options and trace give equal
//! decisions. Shares are in millionths, so that no float decides.

use crate::job::WorkerId;
use crate::job::profile::{AttributeChange, TraceWorker};
use crate::models::{FrequencyCurve, LoadCurve};
use crate::schedulers::registry::Params;
use crate::time::{Span, Time};
use crate::tracker::Registration;

/// All choices of one replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Name of the policy.
    pub scheduler: String,
    /// Its parameters.
    pub scheduler_params: Params,
    /// The cluster.
    pub view: View,
    /// When the jobs come.
    pub arrivals: Arrivals,
    /// Which deadlines they have.
    pub deadlines: Deadlines,
    /// What a reduce that waits for maps costs.
    pub shuffle: ShuffleModel,
    /// Slow start for all jobs, in millionths of their maps; `None` takes the template's, and Hadoop's 5 % where
    /// it has none.
    pub slowstart_ppm: Option<u32>,
    /// What goes wrong.
    pub faults: FaultPlan,
    /// Of everything random. Parts of a replay that draw have a stream each.
    pub seed: u64,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions {
            scheduler: "fifo".to_owned(),
            scheduler_params: Params::new(),
            view: View::Slots { maps: 64, reduces: 64 },
            arrivals: Arrivals::AsRecorded,
            deadlines: Deadlines::FromTrace,
            shuffle: ShuffleModel::SimMr,
            slowstart_ppm: None,
            faults: FaultPlan::default(),
            seed: 0,
        }
    }
}

/// The cluster as the replay sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// SimMR's: one pool of slots, a decision whenever one is free, no heartbeats (SimMR §III-B). There are no workers,
    /// and what jobs require of them is not looked at.
    Slots {
        /// Map slots in all.
        maps: u16,
        /// Reduce slots in all.
        reduces: u16,
    },
    /// Mumak's: workers that speak by heartbeats.
    Workers(WorkersView),
}

/// Workers, how they speak, and what slows them down.
///
/// An attempt on a worker takes its time in the trace × f(load) ÷ f(`reference_milli`) × g(its frequency) ÷
/// g(`plain_khz`) ÷ its [speed](SimWorker::speed), where f is the load curve over the worker's cores and g the frequency
/// curve, and all of it may change while it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkersView {
    /// In order of registration.
    pub workers: Vec<SimWorker>,
    /// When they send heartbeats.
    pub heartbeat: SimHeartbeat,
    /// Under a policy that may speculate, how often workers with immediate heartbeats report: with a
    /// [heartbeat interval](SimHeartbeat::interval) of zero. Zero counts as a microsecond.
    pub report_interval: Span,
    /// What a map pays for data that is not on its worker's host.
    pub locality: LocalityCost,
    /// How the attempts that work on a machine, and its foreign load, slow each other down.
    pub curve: LoadCurve,
    /// How time changes with the frequency of a worker's cores, after its quota.
    pub frequency: FrequencyCurve,
    /// The load under which the trace's times hold, in thousandths; at 0 every curve is 1.
    pub reference_milli: u32,
    /// The frequency of a plain worker in kHz, which sets the measure for the others'; not 0.
    pub plain_khz: u32,
}

impl Default for WorkersView {
    /// No workers; instant heartbeats, a report every 3 s, no cost of distance, a fair share of the cores, times inverse in
    /// frequency.
    fn default() -> WorkersView {
        WorkersView {
            workers: Vec::new(),
            heartbeat: SimHeartbeat::default(),
            report_interval: Span::from_secs(3),
            locality: LocalityCost::default(),
            curve: LoadCurve::default(),
            frequency: FrequencyCurve::default(),
            reference_milli: 0,
            plain_khz: 1_000_000,
        }
    }
}

/// One simulated worker. The default has no name and no slots, and is plain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimWorker {
    /// Unique.
    pub name: String,
    /// As split locations name it.
    pub host: String,
    /// Rack path.
    pub rack: String,
    /// Map slots.
    pub map_slots: u16,
    /// Reduce slots.
    pub reduce_slots: u16,
    /// Its speed over time in millionths of a plain worker's: from each instant, ascending, on. Before the first,
    /// 1,000,000. A speed of 0 stands still. Vitals show it in the effective frequency, as a quota's.
    pub speed: Vec<(Time, u32)>,
    /// Cores in thousandths, a fraction being a quota; 0: one for each slot.
    pub cores_milli: u32,
    /// Frequency in kHz; 0: a plain worker's.
    pub khz: u32,
    /// Tasks of others that run or wait for a core on its machine, in thousandths: from each instant, ascending, on.
    /// Before the first, none.
    pub foreign: Vec<(Time, u32)>,
    /// Its attributes, all of them from each instant, ascending, on. Before the first, none. Jobs' requirements are
    /// matched against them, as against its name, host and rack.
    pub attributes: Vec<(Time, Vec<(String, String)>)>,
}

/// What a trace can tell of it: speeds, cores and loads are left out.
impl From<&SimWorker> for TraceWorker {
    fn from(worker: &SimWorker) -> TraceWorker {
        let later = worker.attributes.iter().filter(|(at, _)| *at > Time::ZERO);
        let change = |(at, attributes): &(Time, Vec<(String, String)>)| AttributeChange {
            // Not at 0, which is the start.
            at_ms: at.as_ms().max(1),
            attributes: attributes.iter().cloned().collect(),
        };
        TraceWorker {
            name: worker.name.clone(),
            host: worker.host.clone(),
            rack: worker.rack.clone(),
            map_slots: worker.map_slots,
            reduce_slots: worker.reduce_slots,
            attributes: worker.first_attributes().into_iter().collect(),
            attribute_changes: later.map(change).collect(),
        }
    }
}

/// As far as a trace tells of it: the rest is plain.
impl From<&TraceWorker> for SimWorker {
    fn from(worker: &TraceWorker) -> SimWorker {
        let pairs = |attributes: &std::collections::BTreeMap<String, String>| {
            attributes.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>()
        };
        let first = (!worker.attributes.is_empty()).then(|| (Time::ZERO, pairs(&worker.attributes)));
        let later = worker.attribute_changes.iter();
        let later = later.map(|change| (Time::from_ms(change.at_ms), pairs(&change.attributes)));
        SimWorker {
            name: worker.name.clone(),
            host: worker.host.clone(),
            rack: worker.rack.clone(),
            map_slots: worker.map_slots,
            reduce_slots: worker.reduce_slots,
            attributes: first.into_iter().chain(later).collect(),
            ..SimWorker::default()
        }
    }
}

impl SimWorker {
    /// Its first words, as the `worker`-th of the cluster and in its `incarnation`-th run.
    pub fn hello(&self, worker: WorkerId, incarnation: u64) -> Registration {
        Registration {
            worker,
            incarnation,
            starts: false,
            name: self.name.clone(),
            host: self.host.clone(),
            rack: self.rack.clone(),
            map_slots: self.map_slots,
            reduce_slots: self.reduce_slots,
            attributes: self.first_attributes(),
            kept: Vec::new(),
        }
    }
}

/// When simulated workers send heartbeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimHeartbeat {
    /// Between two regular heartbeats; zero: a worker sends a heartbeat whenever it has something to say or
    /// could take work.
    pub interval: Span,
    /// Whether the end of an attempt is reported at once, not with the next regular heartbeat.
    pub out_of_band: bool,
}

impl Default for SimHeartbeat {
    fn default() -> SimHeartbeat {
        SimHeartbeat { interval: Span::ZERO, out_of_band: true }
    }
}

/// What a map pays for distance to its data: its duration is multiplied by this, in millionths. 1,000,000 costs
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalityCost {
    /// Data in the worker's rack.
    pub rack_ppm: u32,
    /// Data elsewhere.
    pub off_rack_ppm: u32,
}

impl Default for LocalityCost {
    fn default() -> LocalityCost {
        LocalityCost { rack_ppm: 1_000_000, off_rack_ppm: 1_000_000 }
    }
}

/// When the jobs come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Arrivals {
    /// As the trace says.
    #[default]
    AsRecorded,
    /// All at the start, in the trace's order.
    Batch,
    /// In the trace's order, with exponential times between them.
    Poisson {
        /// Their mean.
        mean: Span,
    },
    /// In the trace's order, Poisson, with the mean that gives the cluster this load: the share of its slots
    /// that the jobs would occupy (slowdown paper §V-C), in millionths.
    Load {
        /// RHO.
        rho_ppm: u32,
    },
}

/// Which deadlines the jobs have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deadlines {
    /// Those of the trace.
    #[default]
    FromTrace,
    /// None.
    Drop,
    /// Uniform in [T, factor × T], where T is the job's time alone on the cluster (SimMR §V-B).
    Uniform {
        /// The deadline factor df in millionths, at least 1,000,000.
        factor_ppm: u32,
    },
}

/// What a reduce costs that was started before its job's last map had finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShuffleModel {
    /// It waits for the maps, then pays its first shuffle and its reduce time; a later one pays its typical
    /// shuffle and its reduce time (SimMR §III-B).
    #[default]
    SimMr,
    /// It waits for the maps, then pays its reduce time only (Mumak, SimMR §IV-A).
    Mumak,
}

impl ShuffleModel {
    /// What it makes of a reduce's shuffle.
    #[inline(always)]
    pub(super) fn of(self, shuffle: Span) -> Span {
        match self {
            ShuffleModel::SimMr => shuffle,
            ShuffleModel::Mumak => Span::ZERO,
        }
    }
}

/// What goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    /// Whether the failed and killed attempts of the trace fail and are killed again, after the slot time that they
    /// took there. Killed ones only if they were not speculative and their job did not fail and was not killed:
    /// others lost a race or ended with their job, which the replay decides anew.
    pub scripted: bool,
    /// Share of attempts that fail, at a uniform point of their time, in millionths. Which do depends on the seed,
    /// the job's place in the trace, the task and the attempt's number only. A reduce's time counts from the end of
    /// the maps if it waits for them.
    pub attempt_failure_ppm: u32,
    /// Workers that go, and perhaps come back; one that is down when it is to go stays as it is. Only in the workers'
    /// view.
    pub losses: Vec<WorkerLoss>,
}

/// A worker that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLoss {
    /// Which, by its place in the list of workers.
    pub worker: u32,
    /// When it stops: nothing on it ends after this, and its map outputs cannot be fetched.
    pub at: Time,
    /// How long the master takes to notice, unless the worker is back earlier; [`Span::MAX`]: for ever.
    pub expiry: Span,
    /// When it registers again, counted from `at`; `None` never.
    pub back_after: Option<Span>,
}
