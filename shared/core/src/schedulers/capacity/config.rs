//! The capacity scheduler's settings, checked, whatever file they come from.
//!
//! Shares are kept in millionths of a percent, factors in millionths, so that no float decides. Source:
//! `docs/hadoop.md#allocation-files` for names and defaults, `docs/hadoop.md#capacity` for what they mean; MR1
//! CapacitySchedulerConf for the checks.

use std::collections::BTreeMap;

use crate::job::{PerKind, TaskKind};

/// What all keys of Hadoop's file begin with.
pub(in crate::schedulers) const PREFIX: &str = "mapred.capacity-scheduler.";
/// A percentage of 100 in its unit.
pub(super) const WHOLE: u64 = 100_000_000;
/// A factor of 1 in its unit.
pub(super) const ONE: u64 = 1_000_000;
/// `maximum-tasks-per-heartbeat` by default: Java's `Short.MAX_VALUE`.
const MANY: u32 = 32_767;
/// `maximum-system-jobs` in Hadoop's file; its code alone says 5000.
const SYSTEM_JOBS: u32 = 3_000;

/// What the files say, before any check; what they leave out is `None`.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Draft {
    pub(super) maximum_system_jobs: Option<u32>,
    pub(super) maximum_tasks_per_heartbeat: Option<u32>,
    pub(super) maximum_tasks_after_offswitch: Option<u32>,
    pub(super) maximum_offswitch_per_heartbeat: Option<u32>,
    pub(super) maximum_reduces_per_heartbeat: Option<u32>,
    /// For queues that say nothing.
    pub(super) defaults: QueueDraft,
    pub(super) queues: BTreeMap<String, QueueDraft>,
}

/// The same for one queue.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct QueueDraft {
    pub(super) capacity: Option<f64>,
    pub(super) maximum_capacity: Option<f64>,
    pub(super) map_slots: Option<u32>,
    pub(super) reduce_slots: Option<u32>,
    pub(super) supports_priority: Option<bool>,
    pub(super) minimum_user_limit_percent: Option<u32>,
    pub(super) user_limit_factor: Option<f64>,
    pub(super) maximum_initialized_active_tasks: Option<u32>,
    pub(super) maximum_initialized_active_tasks_per_user: Option<u32>,
    pub(super) init_accept_jobs_factor: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    /// `maximum-system-jobs`: jobs that may be initialised at a time, over all queues.
    pub(super) system_jobs: u32,
    /// `maximum-tasks-per-heartbeat`: maps of one heartbeat.
    pub(super) tasks: u32,
    /// `maximum-tasks-after-offswitch`: maps near their data that may follow the last one that was far from it.
    pub(super) tasks_after_off_switch: u32,
    /// Maps far from their data, or without known place, of one heartbeat; 1 in Hadoop.
    pub(super) off_switch: u32,
    /// Reduces of one heartbeat; 1 in Hadoop.
    pub(super) reduces: u32,
    /// Not empty.
    pub(super) queues: BTreeMap<String, QueueConf>,
}

/// What a queue gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Of the cluster's slots, in millionths of a percent.
    Percent {
        /// Guaranteed.
        capacity: u64,
        /// Never exceeded; `None` without such a limit.
        maximum: Option<u64>,
    },
    /// So many map and reduce slots and never more.
    Slots(PerKind<u32>),
}

/// One queue's settings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueueConf {
    pub(super) share: Share,
    /// Whether jobs of higher priority go first.
    pub(super) by_priority: bool,
    /// `minimum-user-limit-percent`, 1 to 100.
    pub(super) user_percent: u32,
    /// `user-limit-factor` in millionths.
    pub(super) user_factor: u64,
    /// `maximum-initialized-active-tasks`.
    pub(super) active_tasks: u64,
    /// `maximum-initialized-active-tasks-per-user`.
    pub(super) active_tasks_per_user: u64,
    /// `init-accept-jobs-factor`: jobs accepted for each one that may be initialised.
    pub(super) accept_factor: u64,
}

/// How a file calls its keys, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// `mapred.capacity-scheduler.queue.NAME.maximum-capacity`.
    Hadoop,
    /// `queues.NAME.maximum_capacity`.
    Toml,
}

impl Names {
    pub(super) fn of_queue(self, queue: &str, key: &str) -> String {
        match self {
            Names::Hadoop => format!("{}queue.{queue}.{key}", PREFIX),
            Names::Toml => format!("queues.{queue}.{}", key.replace('-', "_")),
        }
    }

    pub(super) fn of_system(self, key: &str) -> String {
        match self {
            Names::Hadoop => format!("{}{key}", PREFIX),
            Names::Toml => key.replace('-', "_"),
        }
    }
}

impl Settings {
    /// One queue, `default`, that has everything.
    pub(super) fn plain() -> Settings {
        let all = QueueDraft { capacity: Some(100.0), ..QueueDraft::default() };
        let queues = BTreeMap::from([("default".to_owned(), all)]);
        Settings::check(Draft { queues, ..Draft::default() }, Names::Toml).expect("one queue of 100 % holds together")
    }

    /// The settings of a draft.
    ///
    /// # Errors
    /// Names the key, its value and what was expected.
    pub(super) fn check(draft: Draft, names: Names) -> Result<Settings, String> {
        if draft.queues.is_empty() {
            let key = names.of_queue("NAME", "capacity");
            return Err(format!("no queue, expected at least one `{key}`"));
        }
        let system = |key: &str, value: Option<u32>, default: u32, least: u32| {
            let value = value.unwrap_or(default);
            let expected = || format!("`{}`: `{value}` is not a number from {least}", names.of_system(key));
            if value < least { Err(expected()) } else { Ok(value) }
        };
        let system_jobs = system("maximum-system-jobs", draft.maximum_system_jobs, SYSTEM_JOBS, 1)?;
        let mut queues = BTreeMap::new();
        for (name, queue) in &draft.queues {
            queues.insert(name.clone(), QueueConf::check(name, queue, &draft.defaults, names)?);
        }
        let settings = Settings {
            system_jobs,
            tasks: system("maximum-tasks-per-heartbeat", draft.maximum_tasks_per_heartbeat, MANY, 1)?,
            tasks_after_off_switch: draft.maximum_tasks_after_offswitch.unwrap_or(0),
            off_switch: system("maximum-offswitch-per-heartbeat", draft.maximum_offswitch_per_heartbeat, 1, 1)?,
            reduces: system("maximum-reduces-per-heartbeat", draft.maximum_reduces_per_heartbeat, 1, 1)?,
            queues,
        };
        settings.check_sum(names)?;
        Ok(settings)
    }

    /// Shares must make up 100 % (as in Hadoop, from 100 to below 101), or be slots throughout.
    fn check_sum(&self, names: Names) -> Result<(), String> {
        let percents = || self.queues.values().filter_map(|queue| queue.share.percent());
        let n_slots = self.queues.len() - percents().count();
        if n_slots == self.queues.len() {
            return Ok(());
        }
        if n_slots > 0 {
            let with_slots = self.queues.iter().find(|(_, queue)| queue.share.percent().is_none());
            let name = with_slots.map_or("", |(name, _)| name);
            return Err(format!(
                "`{}`: some queues have slots and others a capacity in percent; expected one of the two for all",
                names.of_queue(name, "map-slots")
            ));
        }
        let sum: u64 = percents().sum();
        if (WHOLE..WHOLE + WHOLE / 100).contains(&sum) {
            return Ok(());
        }
        let each: Vec<String> = self.queues.keys().map(|name| names.of_queue(name, "capacity")).collect();
        Err(format!("`{}`: capacities add up to {}, expected 100", each.join("` + `"), percent_text(sum)))
    }

    /// Whether the queues' fixed slots, if they have such, are there.
    ///
    /// # Errors
    /// Names the keys, their sum and what was expected.
    pub(super) fn fit(&self, slots: PerKind<u32>, names: Names) -> Result<(), String> {
        for kind in TaskKind::ALL {
            let key = ["map-slots", "reduce-slots"][kind];
            let of = |queue: &QueueConf| match queue.share {
                Share::Slots(slots) => slots[kind],
                Share::Percent { .. } => 0,
            };
            let sum = self.queues.values().fold(0, |sum: u32, queue| sum.saturating_add(of(queue)));
            let most = slots[kind];
            if sum > most {
                let with = self.queues.iter().filter(|(_, queue)| of(queue) > 0);
                let each: Vec<String> = with.map(|(name, _)| format!("`{}`", names.of_queue(name, key))).collect();
                let add = if each.len() == 1 { "is" } else { "add up to" };
                return Err(format!(
                    "{} {add} {sum}, expected at most the cluster's {most} {kind} slots",
                    each.join(" + ")
                ));
            }
        }
        Ok(())
    }
}

impl Share {
    fn percent(self) -> Option<u64> {
        match self {
            Share::Percent { capacity, .. } => Some(capacity),
            Share::Slots(_) => None,
        }
    }
}

impl QueueConf {
    fn check(name: &str, queue: &QueueDraft, defaults: &QueueDraft, names: Names) -> Result<QueueConf, String> {
        let key = |key: &str| names.of_queue(name, key);
        let user_percent = queue.minimum_user_limit_percent.or(defaults.minimum_user_limit_percent).unwrap_or(100);
        if !(1..=100).contains(&user_percent) {
            let key = key("minimum-user-limit-percent");
            return Err(format!("`{key}`: `{user_percent}` is not a percentage from 1 to 100"));
        }
        let factor = queue.user_limit_factor.or(defaults.user_limit_factor).unwrap_or(1.0);
        if !(factor > 0.0 && factor <= 1e6) {
            return Err(format!("`{}`: `{factor}` is not a number above 0", key("user-limit-factor")));
        }
        let accept_factor = queue.init_accept_jobs_factor.or(defaults.init_accept_jobs_factor).unwrap_or(10);
        if accept_factor == 0 {
            return Err(format!("`{}`: `0` is not a number from 1", key("init-accept-jobs-factor")));
        }
        let active_tasks =
            queue.maximum_initialized_active_tasks.or(defaults.maximum_initialized_active_tasks).unwrap_or(200_000);
        let per_user = queue.maximum_initialized_active_tasks_per_user;
        let per_user = per_user.or(defaults.maximum_initialized_active_tasks_per_user);
        if let Some(per_user) = per_user.filter(|&per_user| per_user > active_tasks) {
            return Err(format!(
                "`{}`: `{per_user}` is more than the `{active_tasks}` of the whole queue; expected no more",
                key("maximum-initialized-active-tasks-per-user")
            ));
        }
        let per_user = per_user.unwrap_or(active_tasks.min(100_000));
        Ok(QueueConf {
            share: Share::check(name, queue, names)?,
            by_priority: queue.supports_priority.or(defaults.supports_priority).unwrap_or(false),
            user_percent,
            user_factor: libm::round(factor * ONE as f64) as u64,
            active_tasks: active_tasks.into(),
            active_tasks_per_user: per_user.into(),
            accept_factor: accept_factor.into(),
        })
    }
}

impl Share {
    fn check(name: &str, queue: &QueueDraft, names: Names) -> Result<Share, String> {
        let key = |key: &str| names.of_queue(name, key);
        let percent = |what: &str, value: f64| {
            let wrong = || format!("`{}`: `{value}` is not a percentage from 0 to 100", key(what));
            if (0.0..=100.0).contains(&value) { Ok(libm::round(value * ONE as f64) as u64) } else { Err(wrong()) }
        };
        let limit = queue.maximum_capacity;
        match (queue.capacity, queue.map_slots, queue.reduce_slots) {
            (None, Some(maps), Some(reduces)) if limit.is_none() => Ok(Share::Slots([maps, reduces])),
            (Some(capacity), None, None) => {
                let capacity = percent("capacity", capacity)?;
                // As in Hadoop, 0 and less stand for no maximum.
                let maximum = limit.filter(|&limit| limit > 0.0);
                let maximum = maximum.map(|limit| percent("maximum-capacity", limit)).transpose()?;
                match maximum.filter(|&maximum| maximum < capacity) {
                    None => Ok(Share::Percent { capacity, maximum }),
                    Some(maximum) => Err(format!(
                        "`{}`: `{}` is below the queue's capacity of {}; expected at least that",
                        key("maximum-capacity"),
                        percent_text(maximum),
                        percent_text(capacity)
                    )),
                }
            }
            (None, None, None) => Err(format!("queue `{name}` has no capacity, expected `{}`", key("capacity"))),
            (None, ..) if limit.is_some() => {
                Err(format!("`{}`: a queue of slots never exceeds them; expected no such key", key("maximum-capacity")))
            }
            (None, maps, _) => {
                let (there, missing) =
                    if maps.is_some() { ("map-slots", "reduce-slots") } else { ("reduce-slots", "map-slots") };
                Err(format!("`{}` is there, expected `{}` beside it", key(there), key(missing)))
            }
            (Some(_), ..) => {
                Err(format!("`{}`: a queue has slots or a capacity in percent, expected one of them", key("capacity")))
            }
        }
    }
}

/// A share as a percentage with as many digits as it has.
pub(super) fn percent_text(parts: u64) -> String {
    let text = format!("{}.{:06}", parts / ONE, parts % ONE);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
