//! What the core needs to know of a job: sizes, places, limits. Immutable once accepted.
//!
//! Paths, commands and tokens are the drivers' business and live in [`JobFile`](super::JobFile).

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::quantity::Millis;
use super::{JobProfile, Priority, Requirements, SpecError, SplitHosts, memory};
use crate::time::Span;

/// A job as the core sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// For people; need not be unique. Short ones, as most are, lie within the specification: thousands of jobs wait at a
    /// time, and each further place is another one that has left the processor's cache when the job ends.
    pub name: SmolStr,
    /// Who submitted it.
    pub user: SmolStr,
    /// The queue or pool; `default` unless chosen.
    pub queue: SmolStr,
    /// May be changed later by request.
    pub priority: Priority,
    /// Number of map tasks; 0 is allowed.
    pub n_maps: u32,
    /// Number of reduce tasks; 0 makes the maps' output the job's output.
    pub n_reduces: u32,
    /// Input bytes of each map, by map index; empty when unknown.
    pub map_input_bytes: Vec<u64>,
    /// Where each map's split lies.
    pub split_hosts: SplitHosts,
    /// Limits and switches that decisions read.
    pub conf: JobConf,
    /// How long its tasks take, where that is known before it runs; policies that plan read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Box<JobProfile>>,
}

/// The property by which a submitter tells which job it waited for.
pub const FOLLOWS: &str = "howdah.job.follows";

/// The job's properties that decisions read, with Hadoop's names and 1.2.1's defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobConf {
    /// `mapred.map.max.attempts`, at least 1: failures that fail a map.
    pub max_map_attempts: u16,
    /// `mapred.reduce.max.attempts`, at least 1.
    pub max_reduce_attempts: u16,
    /// `mapred.reduce.slowstart.completed.maps` in millionths, 0 to 1,000,000: the share of maps that must
    /// have finished before reduces are scheduled.
    pub slowstart_ppm: u32,
    /// `mapred.max.tracker.failures`: failed attempts after which this job avoids a worker.
    pub max_tracker_failures: u16,
    /// `howdah.task.max.worker.losses`: workers that may be lost while they run a task before it fails, 0 for any number;
    /// `None` leaves it to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_worker_losses: Option<u16>,
    /// `mapred.max.map.failures.percent`, 0 to 100: maps that may fail without failing the job.
    pub max_map_failures_percent: u8,
    /// `mapred.max.reduce.failures.percent`, 0 to 100.
    pub max_reduce_failures_percent: u8,
    /// `mapred.map.tasks.speculative.execution`.
    pub map_speculative: bool,
    /// `mapred.reduce.tasks.speculative.execution`.
    pub reduce_speculative: bool,
    /// `mapred.task.timeout` in milliseconds without progress before an attempt is failed; 0 never.
    pub task_timeout_ms: u64,
    /// `mapred.job.reuse.jvm.num.tasks`: attempts that one process may run; -1 any number.
    pub reuse_tasks: i32,
    /// Slots of one map, from 1: `mapred.job.map.memory.mb` over `mapred.cluster.map.memory.mb`.
    #[serde(skip_serializing_if = "is_one")]
    pub slots_per_map: u16,
    /// Slots of one reduce, from 1.
    #[serde(skip_serializing_if = "is_one")]
    pub slots_per_reduce: u16,
    /// Whether attempts of the last stage ask for the master's grant before they succeed.
    pub commits_output: bool,
    /// From submission; `None` when the job has no deadline.
    pub deadline: Option<Span>,
    /// `howdah.job.size.ms`: the sum of its task times, where someone knows it beforehand; a replay does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Span>,
    /// What a worker's attributes must be.
    pub requires: Requirements,
    /// `mapred.fairscheduler.pool`: the Fair scheduler's pool, when the job names one; or what the property said that the
    /// scheduler's `poolnameproperty` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// `howdah.job.follows`: the job whose end its submitter waited for. No decision reads it; a simulation of the run
    /// submits it likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

impl Default for JobConf {
    fn default() -> JobConf {
        JobConf {
            max_map_attempts: 4,
            max_reduce_attempts: 4,
            slowstart_ppm: 50_000,
            max_tracker_failures: 4,
            max_worker_losses: None,
            max_map_failures_percent: 0,
            max_reduce_failures_percent: 0,
            map_speculative: true,
            reduce_speculative: true,
            task_timeout_ms: 600_000,
            reuse_tasks: 1,
            slots_per_map: 1,
            slots_per_reduce: 1,
            commits_output: true,
            deadline: None,
            size: None,
            requires: Requirements::default(),
            pool: None,
            follows: None,
        }
    }
}

impl JobConf {
    /// Reads the properties that this type names, old and new Hadoop names alike; others are ignored here.
    ///
    /// # Errors
    /// When a value is not of its kind or out of range.
    pub fn from_properties(properties: &BTreeMap<String, String>) -> Result<JobConf, SpecError> {
        let mut conf = JobConf::default();
        for (key, value) in properties {
            conf.set(key, value)?;
        }
        [conf.slots_per_map, conf.slots_per_reduce] = memory::slots_per_task(properties)?;
        Ok(conf)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "mapred.map.max.attempts" | "mapreduce.map.maxattempts" => {
                self.max_map_attempts = at_least_one(key, value)?
            }
            "mapred.reduce.max.attempts" | "mapreduce.reduce.maxattempts" => {
                self.max_reduce_attempts = at_least_one(key, value)?;
            }
            "mapred.reduce.slowstart.completed.maps" | "mapreduce.job.reduce.slowstart.completedmaps" => {
                let share: f64 = parse(key, value, "a number from 0 to 1")?;
                if !(0.0..=1.0).contains(&share) {
                    return Err(wrong(key, value, "a number from 0 to 1"));
                }
                self.slowstart_ppm = libm::round(share * 1e6) as u32;
            }
            "mapred.max.tracker.failures" | "mapreduce.job.maxtaskfailures.per.tracker" => {
                self.max_tracker_failures = at_least_one(key, value)?;
            }
            "howdah.task.max.worker.losses" => {
                let expected = "a number from 0 to 1000, 0 for any number";
                let n: u16 = parse(key, value, expected)?;
                if n > 1000 {
                    return Err(wrong(key, value, expected));
                }
                self.max_worker_losses = Some(n);
            }
            "mapred.max.map.failures.percent" | "mapreduce.map.failures.maxpercent" => {
                self.max_map_failures_percent = percent(key, value)?;
            }
            "mapred.max.reduce.failures.percent" | "mapreduce.reduce.failures.maxpercent" => {
                self.max_reduce_failures_percent = percent(key, value)?;
            }
            "mapred.map.tasks.speculative.execution" | "mapreduce.map.speculative" => {
                self.map_speculative = parse(key, value, "true or false")?;
            }
            "mapred.reduce.tasks.speculative.execution" | "mapreduce.reduce.speculative" => {
                self.reduce_speculative = parse(key, value, "true or false")?;
            }
            "mapred.task.timeout" | "mapreduce.task.timeout" => {
                self.task_timeout_ms = millis(key, value)?;
            }
            "howdah.job.size.ms" => {
                self.size = Some(Span::from_us(millis(key, value)?.saturating_mul(1_000)));
            }
            "mapred.job.reuse.jvm.num.tasks" | "mapreduce.job.jvm.numtasks" => {
                let n: i32 = parse(key, value, "-1 or a number of tasks from 1")?;
                if n == 0 || n < -1 {
                    return Err(wrong(key, value, "-1 or a number of tasks from 1"));
                }
                self.reuse_tasks = n;
            }
            FOLLOWS => self.follows = Some(value.trim().to_owned()),
            "mapred.fairscheduler.pool" => self.pool = Some(value.trim().to_owned()),
            _ => {}
        }
        Ok(())
    }
}

impl JobSpec {
    /// Checks that the tables fit the numbers of tasks and the profile holds together.
    ///
    /// # Errors
    /// Names the table, its length and the length expected, or the part of the profile.
    pub fn check(&self) -> Result<(), SpecError> {
        let maps = self.n_maps as usize;
        let wrong = |what, found, expected| SpecError::Length { job: self.name.to_string(), what, found, expected };
        if !self.map_input_bytes.is_empty() && self.map_input_bytes.len() != maps {
            return Err(wrong("the table of input bytes", self.map_input_bytes.len(), maps));
        }
        let table = &self.split_hosts;
        if !table.offsets.is_empty() && table.offsets.len() != maps + 1 {
            return Err(wrong("the table of split hosts", table.offsets.len().saturating_sub(1), maps));
        }
        let ascending = table.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let last = table.offsets.last().map_or(0, |&last| last as usize);
        if !ascending || last != table.entries.len() {
            return Err(wrong("the index of split hosts", last, table.entries.len()));
        }
        if let Some(&bad) = table.entries.iter().find(|&&e| e as usize >= table.hosts.len()) {
            return Err(wrong("the list of split hosts", table.hosts.len(), bad as usize + 1));
        }
        if let Some(part) = self.profile.as_deref().and_then(JobProfile::contradiction) {
            return Err(SpecError::Profile { job: self.name.to_string(), part });
        }
        Ok(())
    }
}

fn is_one(n: &u16) -> bool {
    *n == 1
}

fn wrong(key: &str, value: &str, expected: &'static str) -> SpecError {
    SpecError::Property { key: key.to_owned(), value: value.to_owned(), expected }
}

fn parse<T: FromStr>(key: &str, value: &str, expected: &'static str) -> Result<T, SpecError> {
    value.trim().parse().map_err(|_| wrong(key, value, expected))
}

fn millis(key: &str, value: &str) -> Result<u64, SpecError> {
    parse(key, value, "a number of milliseconds, or a time such as `10m`").map(|ms: Millis| ms.0)
}

fn at_least_one(key: &str, value: &str) -> Result<u16, SpecError> {
    let n: u16 = parse(key, value, "a number from 1 to 1000")?;
    if (1..=1000).contains(&n) { Ok(n) } else { Err(wrong(key, value, "a number from 1 to 1000")) }
}

fn percent(key: &str, value: &str) -> Result<u8, SpecError> {
    let n: u8 = parse(key, value, "a percentage from 0 to 100")?;
    if n <= 100 { Ok(n) } else { Err(wrong(key, value, "a percentage from 0 to 100")) }
}
