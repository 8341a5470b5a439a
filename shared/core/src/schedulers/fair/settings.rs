//! The parameters of the Fair scheduler, with Hadoop's keys and their short forms.
//!
//! Each is known as `mapred.fairscheduler.KEY` and as `KEY` alone. Source: `docs/hadoop.md#allocation-files`.

use super::allocations::Allocations;
use crate::cluster::{ClusterState, Worker};
use crate::job::quantity::Millis;
use crate::job::{PerKind, TaskKind};
use crate::schedulers::params::Reader;
use crate::schedulers::{Offer, SchedulerError};
use crate::time::Span;

/// Whose rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Hadoop 1.2.1.
    Hadoop121,
    /// Hadoop 0.20.2: deficits.
    Hadoop0202,
    /// The naive one of the online-prediction paper.
    Naive,
}

/// Which property of a job names its pool; `mapred.fairscheduler.pool` goes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PoolProperty {
    User,
    Queue,
    /// Any other. `Deviation:` its value is taken when the job is accepted, as the core keeps no other properties; Hadoop
    /// reads it whenever it looks for the job's pool. A trace has no properties at all, so that all its jobs are in the
    /// default pool.
    Other(String),
    /// Only jobs that name a pool are in one of their own.
    PoolOnly,
    /// All jobs share one pool.
    Nothing,
}

/// What is done about pools that get too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preempting {
    Off,
    /// Decisions are noted, nothing is killed.
    LogOnly,
    On,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The name under which it was asked for.
    pub(super) name: &'static str,
    pub(super) dialect: Dialect,
    pub(super) pool_property: PoolProperty,
    pub(super) allow_undeclared: bool,
    pub(super) assign_multiple: bool,
    /// Most tasks of a kind in one round.
    pub(super) assign_cap: PerKind<Option<u32>>,
    pub(super) load_max_diff: f64,
    pub(super) size_based_weight: bool,
    /// A new job's weight is multiplied by this for so long.
    pub(super) boost: Option<(f64, Span)>,
    /// Waits for a node-local and then for a rack-local map; `None`: from the heartbeat interval.
    pub(super) waits: [Option<Span>; 2],
    /// Whether a job only waits if slots beside its data come free in time.
    pub(super) looks_ahead: bool,
    /// The heartbeat interval from which waits are computed; `None`: Hadoop 1.2.1's for the workers there are.
    pub(super) heartbeat: Option<Span>,
    pub(super) preempting: Preempting,
    pub(super) preemption_interval: Span,
    /// Zero: at once.
    pub(super) update_interval: Span,
}

/// A key in its long and short form.
type Key = [&'static str; 2];

macro_rules! key {
    ($short:literal) => {
        [concat!("mapred.fairscheduler.", $short), $short]
    };
}

/// The naive one under its own name.
pub(in crate::schedulers) const NAIVE: &str = "naive-fair";
/// With the Load-Aware rule for speculative execution, as the thesis built it into the Fair scheduler.
pub(in crate::schedulers) const LOAD_AWARE: &str = "load-aware";
/// Without another name.
pub(in crate::schedulers) const FAIR: &str = "fair";

const NEW_JOB_BOOSTER: [&str; 3] = ["NewJobWeightBooster", "org.apache.hadoop.mapred.NewJobWeightBooster", "new-job"];

impl PoolProperty {
    /// The name of one that the core does not keep.
    pub(super) fn other(&self) -> Option<&str> {
        match self {
            PoolProperty::Other(name) => Some(name),
            _ => None,
        }
    }
}

impl Settings {
    /// Reads all parameters of the policy of one of the three names, with its allocations and its offer.
    pub(super) fn from_params(
        name: &'static str,
        params: &mut Reader<'_>,
    ) -> Result<(Settings, Allocations, Offer), SchedulerError> {
        let (settings, allocations) = Settings::read(name, params)?;
        let offer = if name == LOAD_AWARE { Offer::load_aware(params)? } else { Offer::from_params(params)? };
        Ok((settings, allocations, offer))
    }

    fn read(name: &'static str, params: &mut Reader<'_>) -> Result<(Settings, Allocations), SchedulerError> {
        let dialect = match name {
            NAIVE => Dialect::Naive,
            _ => match params.word("dialect", &["1.2.1", "0.20.2", "naive"])? {
                "1.2.1" => Dialect::Hadoop121,
                "0.20.2" => Dialect::Hadoop0202,
                _ => Dialect::Naive,
            },
        };
        if dialect == Dialect::Naive {
            return Ok((Settings { name, ..Settings::naive() }, Allocations::default()));
        }
        let old = dialect == Dialect::Hadoop0202;
        let plain = Settings::plain(dialect);
        let modern = if old { Settings::plain(dialect) } else { Settings::modern(params)? };
        let settings = Settings {
            name,
            dialect,
            pool_property: pool_property(params)?,
            allow_undeclared: flag(params, key!("allow.undeclared.pools"), true)?,
            assign_multiple: flag(params, key!("assignmultiple"), !old)?,
            load_max_diff: value(params, key!("load.max.diff"), 0.0, "a share from 0 to 1", |v| {
                (0.0..=1.0).contains(v)
            })?,
            size_based_weight: flag(params, key!("sizebasedweight"), false)?,
            boost: boost(params)?,
            update_interval: millis(params, key!("update.interval"), 0, plain.update_interval)?,
            ..modern
        };
        Ok((settings, allocations(params, old)?))
    }

    /// How many tasks a worker may run, so that all workers are loaded alike while `wanted`, the tasks that run or could,
    /// are fewer than the cluster's slots.
    pub(super) fn load_cap(&self, wanted: u32, kind: TaskKind, worker: &Worker, state: &ClusterState) -> u32 {
        let load = self.load_max_diff + f64::from(wanted) / f64::from(state.totals().slots[kind].max(1));
        (f64::from(worker.slots(kind)) * load.min(1.0)).ceil() as u32
    }

    /// What only 1.2.1 knows.
    fn modern(params: &mut Reader<'_>) -> Result<Settings, SchedulerError> {
        let plain = Settings::plain(Dialect::Hadoop121);
        let both = wait(params, key!("locality.delay"))?;
        let preempts = flag(params, key!("preemption"), false)?;
        let only_log = flag(params, key!("preemption.only.log"), false)?;
        Ok(Settings {
            assign_cap: [cap(params, key!("assignmultiple.maps"))?, cap(params, key!("assignmultiple.reduces"))?],
            // `Deviation:` Hadoop computes both waits as soon as one of them is not given, and so forgets the other.
            waits: [
                wait(params, key!("locality.delay.node"))?.or(both),
                wait(params, key!("locality.delay.rack"))?.or(both),
            ],
            looks_ahead: flag(params, key!("locality.forecast"), false)?,
            heartbeat: match millis(params, ["heartbeat.interval", "heartbeat"], 0, Span::ZERO)? {
                Span::ZERO => None,
                given => Some(given),
            },
            preempting: match (preempts, only_log) {
                (false, _) => Preempting::Off,
                (true, true) => Preempting::LogOnly,
                (true, false) => Preempting::On,
            },
            preemption_interval: millis(params, key!("preemption.interval"), 1, plain.preemption_interval)?,
            ..plain
        })
    }

    /// A dialect's defaults.
    fn plain(dialect: Dialect) -> Settings {
        Settings {
            name: FAIR,
            dialect,
            pool_property: PoolProperty::User,
            allow_undeclared: true,
            assign_multiple: true,
            assign_cap: [None; 2],
            load_max_diff: 0.0,
            size_based_weight: false,
            boost: None,
            waits: [None; 2],
            looks_ahead: false,
            heartbeat: None,
            preempting: Preempting::Off,
            preemption_interval: Span::from_ms(15_000),
            update_interval: Span::from_ms(500),
        }
    }

    /// One pool, equal jobs, no waits, no limits, nothing out of date.
    fn naive() -> Settings {
        Settings {
            pool_property: PoolProperty::Nothing,
            load_max_diff: 1.0,
            waits: [Some(Span::ZERO); 2],
            update_interval: Span::ZERO,
            ..Settings::plain(Dialect::Naive)
        }
    }
}

/// The allocation file's text. The driver gives it as `allocations` in place of the file, whose name stays.
fn allocations(params: &mut Reader<'_>, old: bool) -> Result<Allocations, SchedulerError> {
    let file = text(params, key!("allocation.file"))?.map_or("allocations", |(_, file)| file);
    match params.text("allocations") {
        Some(text) => Allocations::parse(text, file, old),
        None => Ok(Allocations::default()),
    }
}

fn pool_property(params: &mut Reader<'_>) -> Result<PoolProperty, SchedulerError> {
    let Some((key, name)) = text(params, key!("poolnameproperty"))? else { return Ok(PoolProperty::User) };
    match name.trim() {
        "user.name" | "user" | "mapreduce.job.user.name" => Ok(PoolProperty::User),
        "mapred.job.queue.name" | "mapreduce.job.queuename" | "queue" => Ok(PoolProperty::Queue),
        "mapred.fairscheduler.pool" | "pool" => Ok(PoolProperty::PoolOnly),
        "" => Err(params.wrong(key, name, "the name of a job's property, such as user.name")),
        other => Ok(PoolProperty::Other(other.to_owned())),
    }
}

/// The new-job booster: ×3 for 5 minutes, as Hadoop's code has it; its comment says 60 s.
fn boost(params: &mut Reader<'_>) -> Result<Option<(f64, Span)>, SchedulerError> {
    let adjuster = text(params, key!("weightadjuster"))?;
    let factor_key = ["mapred.newjobweightbooster.factor", "newjobweightbooster.factor"];
    let span_key = ["mapred.newjobweightbooster.duration", "newjobweightbooster.duration"];
    let factor = value(params, factor_key, 3.0, "a factor from 0.001 to 1000", |v| (0.001..=1000.0).contains(v))?;
    let span = millis(params, span_key, 0, Span::from_secs(300))?;
    match adjuster {
        None => Ok(None),
        Some((_, "none")) => Ok(None),
        Some((_, name)) if NEW_JOB_BOOSTER.contains(&name) => Ok(Some((factor, span))),
        Some((key, name)) => Err(params.wrong(key, name, "none, new-job or NewJobWeightBooster")),
    }
}

/// The value under either form of a key, and the form.
fn text<'a>(params: &mut Reader<'a>, key: Key) -> Result<Option<(&'static str, &'a str)>, SchedulerError> {
    match (params.text(key[0]), params.text(key[1])) {
        (Some(_), Some(text)) => {
            let expected =
                format!("to be given beside `{}`, which is the same parameter; expected one of the two", key[0]);
            Err(params.wrong(key[1], text, &expected))
        }
        (Some(text), None) => Ok(Some((key[0], text))),
        (None, short) => Ok(short.map(|text| (key[1], text))),
    }
}

fn value<T: std::str::FromStr>(
    params: &mut Reader<'_>,
    key: Key,
    default: T,
    expected: &str,
    fits: impl Fn(&T) -> bool,
) -> Result<T, SchedulerError> {
    let Some((key, text)) = text(params, key)? else { return Ok(default) };
    let value = text.trim().parse().ok().filter(fits);
    value.ok_or_else(|| params.wrong(key, text, expected))
}

fn flag(params: &mut Reader<'_>, key: Key, default: bool) -> Result<bool, SchedulerError> {
    value(params, key, default, "true or false", |_| true)
}

/// A number of tasks; -1 is no limit.
fn cap(params: &mut Reader<'_>, key: Key) -> Result<Option<u32>, SchedulerError> {
    let cap = value(params, key, -1_i64, "-1 or a number of tasks from 1", |&v| v == -1 || (1..=65_535).contains(&v))?;
    Ok(u32::try_from(cap).ok())
}

/// The longest time that a parameter says, in milliseconds: 31 years.
const LONGEST_MS: u64 = 1_000_000_000_000;

/// A time of at least `least` milliseconds.
fn millis(params: &mut Reader<'_>, key: Key, least: u64, default: Span) -> Result<Span, SchedulerError> {
    let fits = |ms: &Millis| (least..=LONGEST_MS).contains(&ms.0);
    let expected = match least {
        0 => "a number of milliseconds, or a time such as 15s",
        _ => "a number of milliseconds from 1, or a time such as 15s",
    };
    Ok(Span::from_ms(value(params, key, Millis(default.as_ms()), expected, fits)?.0))
}

/// A wait, in milliseconds without a unit; -1 is computed.
fn wait(params: &mut Reader<'_>, key: Key) -> Result<Option<Span>, SchedulerError> {
    match text(params, key)? {
        None => Ok(None),
        Some((_, text)) if text.trim() == "-1" => Ok(None),
        Some((key, text)) => match text.parse() {
            Ok(Millis(ms)) if ms <= LONGEST_MS => Ok(Some(Span::from_ms(ms))),
            _ => Err(params.wrong(key, text, "-1 or a number of milliseconds, or a time such as 5s")),
        },
    }
}
