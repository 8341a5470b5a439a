//! The settings of a master.
//!
//! Every field has a default, unknown fields are errors; the command layers a file, variables and flags.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use howdah_core::job::CLUSTER_MEMORY_KEYS;
use howdah_core::time::Span;
use howdah_core::tracker::{Blacklist, ClusterConfig};
use howdah_guards::Guard;
use howdah_planning::prediction::{Measure, ModelName, RuleName, SwitchOptions, Thresholds};
use howdah_proto::names::HostPort;
use serde::{Deserialize, Deserializer, Serialize};

use crate::name_nodes::NameNodes;

/// What people expect of a machine that dies; Hadoop waits ten minutes.
const EXPIRY_MS: u64 = 30_000;
/// In large clusters, where workers report seldom.
const EXPIRY_BEATS: u32 = 5;

/// Attempts in a row that a worker fails at once before it is set aside; Hadoop lets it go on.
const SHORT_FAILURES: u32 = 4;
/// Workers that a task may take down before it fails, as many as the attempts that may fail; Hadoop counts none.
const MAX_WORKER_LOSSES: u16 = 4;

/// Whose defaults hold for what is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// What people expect today.
    #[default]
    #[serde(rename = "howdah")]
    Howdah,
    /// Hadoop 1.2.1's: a silent worker is lost after ten minutes, and may fail every task or be taken down by one.
    #[serde(rename = "hadoop-1.2.1")]
    Hadoop121,
}

impl Profile {
    /// Settings whose defaults are others than without a profile, by their dotted keys.
    pub fn defaults(self) -> Vec<(&'static str, u64)> {
        match self {
            Profile::Howdah => Vec::new(),
            Profile::Hadoop121 => {
                let hadoop = ClusterConfig::default();
                vec![
                    ("cluster.expiry_ms", hadoop.expiry_ms),
                    ("cluster.expiry_beats", hadoop.expiry_beats.into()),
                    ("cluster.blacklist.short_failures", hadoop.blacklist.short_failures.into()),
                    ("cluster.max_worker_losses", hadoop.max_worker_losses.into()),
                ]
            }
        }
    }
}

/// Configuration of the JobTracker daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MasterConfig {
    /// Where it listens for workers and clients, `host:port`; port 0 takes any, 9001 is the one where it is left out.
    #[serde(deserialize_with = "address")]
    pub listen: String,
    /// Whether it may run as root and listen on more than loopback.
    pub as_root: bool,
    /// Where it answers over HTTP, `host:port`; port 0 takes any, 8088 is the one where it is left out. None by default.
    #[serde(deserialize_with = "optional_address")]
    pub http_listen: Option<String>,
    /// Its directory; made if missing. No two masters may share one.
    pub dir: PathBuf,
    /// Whose defaults hold for what is not set: `howdah` or `hadoop-1.2.1`.
    pub profile: Profile,
    /// Begin another cluster in the directory instead of going on with the one that is there.
    pub new_cluster: bool,
    /// No setting: whether nothing is kept, to measure what keeping costs.
    #[serde(skip)]
    pub without_journal: bool,
    /// Name of the scheduler.
    pub scheduler: String,
    /// The scheduler's own parameters.
    #[serde(deserialize_with = "words")]
    pub scheduler_params: BTreeMap<String, String>,
    /// Queues that jobs may name (`mapred.queue.names`), beside those that the scheduler has of its own.
    pub queue_names: Vec<String>,
    /// Seed of the run's random streams.
    pub seed: u64,
    /// How often it tries whether workers can be fetched from, in milliseconds, besides when they register; 0 for never.
    pub reach_interval_ms: u64,
    /// What the core reads: expiry, heartbeat rule, blacklists, parking.
    pub cluster: ClusterConfig,
    /// Sizes that nobody may exceed.
    pub limits: Limits,
    /// What a slot holds, and what no task may ask for more than.
    pub memory: Memory,
    /// What is kept of jobs that are over.
    pub keep_jobs: KeepJobs,
    /// What is kept of the journal before its newest snapshot.
    pub keep_inputs: KeepInputs,
    /// Forecasts that the master makes by itself.
    pub prediction: Prediction,
    /// Size of one segment of the journal.
    pub journal_segment_bytes: u64,
    /// How long a graceful shutdown waits for running jobs, in milliseconds. New jobs are refused meanwhile.
    pub drain_grace_ms: u64,
    /// HDFS that jobs may read: name nodes as inputs name them, and where their WebHDFS is; none by default.
    pub name_nodes: NameNodes,
    /// The name of this host in split locations; empty when local files have no known place.
    pub split_host: String,
}

impl MasterConfig {
    /// Of one segment of the journal, as it is used.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.journal_segment_bytes.max(1 << 16)
    }
}

/// The cluster's side of tasks' memory, in megabytes. What is 0 is not set: then a job's own property of that name
/// counts, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Of a map slot (`mapred.cluster.map.memory.mb`).
    pub map_slot_mb: u32,
    /// Of a reduce slot (`mapred.cluster.reduce.memory.mb`).
    pub reduce_slot_mb: u32,
    /// The most that a map may ask for (`mapred.cluster.max.map.memory.mb`).
    pub max_map_mb: u32,
    /// The most that a reduce may ask for (`mapred.cluster.max.reduce.memory.mb`).
    pub max_reduce_mb: u32,
}

impl Memory {
    /// Lays what is set over a job's properties: what the cluster is, no job decides.
    pub(crate) fn over(&self, properties: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = properties.clone();
        let own = [[self.map_slot_mb, self.max_map_mb], [self.reduce_slot_mb, self.max_reduce_mb]];
        for (&megabytes, names) in own.iter().flatten().zip(CLUSTER_MEMORY_KEYS.iter().flatten()) {
            if megabytes > 0 {
                names.iter().for_each(|name| drop(all.remove(*name)));
                all.insert(names[0].to_owned(), megabytes.to_string());
            }
        }
        all
    }
}

/// Forecasts that the master makes by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prediction {
    /// Between two rounds, in milliseconds; 0 for none. One also follows soon when jobs or workers come or go.
    pub every_ms: u64,
    /// How task times are predicted where nobody asks for another way.
    pub model: ModelName,
    /// The scheduler chosen by forecast.
    pub switch: SchedulerSwitch,
}

impl Default for Prediction {
    /// The paper's 20 s, which it finds often enough and cheap (Table I).
    fn default() -> Prediction {
        Prediction { every_ms: 20_000, model: ModelName::default(), switch: SchedulerSwitch::default() }
    }
}

/// When which scheduler takes over, by forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerSwitch {
    /// Schedulers that may take over from each other; none: the one in charge stays.
    pub candidates: Vec<String>,
    /// What says when one takes over.
    pub rule: RuleName,
    /// By what they are compared: makespan, mean-completion, slowdown-variability or deadlines-exceeded.
    pub measure: Measure,
    /// Least gain, as a share of what is still to come.
    pub margin: f64,
    /// Rounds running in which a gain of the margin must be forecast; a gain of several margins counts as that many. The rule
    /// `best` does not read it.
    pub rounds: u32,
    /// No other switch so long after one, in milliseconds.
    pub hold_ms: u64,
}

impl SchedulerSwitch {
    /// As the switcher reads it.
    pub(crate) fn options(&self) -> SwitchOptions {
        let thresholds = Thresholds { margin: self.margin, rounds: self.rounds };
        SwitchOptions { measure: self.measure, rule: self.rule, thresholds, dwell: Span::from_ms(self.hold_ms) }
    }
}

impl Default for SchedulerSwitch {
    fn default() -> SchedulerSwitch {
        let SwitchOptions { measure, rule, thresholds, dwell } = SwitchOptions::default();
        let Thresholds { margin, rounds } = thresholds;
        SchedulerSwitch { candidates: Vec::new(), rule, measure, margin, rounds, hold_ms: dwell.as_ms() }
    }
}

/// How many jobs that are over are kept, with their history, their counters and what they were submitted as; the one that
/// ended first goes first. 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeepJobs {
    /// So many.
    pub number: u32,
    /// For so long after their end.
    pub hours: u32,
    /// So many bytes of all of them.
    pub bytes: u64,
}

impl KeepJobs {
    /// Whether nothing ever goes.
    pub(crate) fn keeps_all(self) -> bool {
        self == KeepJobs::default()
    }

    /// Whether a job of this age, which is the last of so many with so many bytes, is too much.
    pub(crate) fn is_exceeded_by(self, number: u32, age: Duration, bytes: u64) -> bool {
        let hours = Duration::from_secs(u64::from(self.hours) * 3_600);
        (self.number > 0 && number > self.number)
            || (self.hours > 0 && age > hours)
            || (self.bytes > 0 && bytes > self.bytes)
    }
}

/// How much of the journal is kept that a start does not need any more, for `validate` and everything else that decides a
/// run again: what came before the newest snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeepInputs {
    /// So many bytes, the oldest go first; 0 is no limit.
    pub bytes: u64,
}

impl Default for KeepInputs {
    /// Some 300,000 jobs of ten tasks.
    fn default() -> KeepInputs {
        KeepInputs { bytes: 1 << 30 }
    }
}

/// Sizes that nobody may exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maps and reduces of one job (`mapred.jobtracker.maxtasks.per.job`).
    pub tasks_per_job: u32,
    /// Reduces of one job.
    pub reduces_per_job: u32,
    /// Workers, by name, those that left included: a worker's number is never given again.
    pub workers: u32,
    /// Jobs that are not over.
    pub live_jobs: u32,
    /// Of these one user's, as clients name him; 0 is half of them.
    pub live_jobs_of_user: u32,
    /// Finished jobs whose attempts stay in memory; older ones are read from the history
    /// (`mapred.jobtracker.completeuserjobs.maximum`).
    pub finished_jobs: u32,
    /// Tasks of finished jobs whose attempts stay in memory. While histories cannot be written, jobs beyond either number
    /// stay too, and no job is taken.
    pub finished_tasks: u32,
    /// Finished jobs that are still listed.
    pub listed_jobs: u32,
    /// Inputs waiting for the core.
    pub inbox: u32,
    /// Bytes of one message in either direction.
    pub message_bytes: u64,
    /// Connections at a time; 0 takes what the process may open, less a reserve for the journal and other files. Beyond
    /// it the connection that has been idle longest is closed; those of workers never are.
    pub connections: u32,
    /// Of these from one address; 0 is half of them.
    pub connections_per_peer: u32,
}

/// `host:port`, the port may be left out.
fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse::<HostPort>().map(|_| text).map_err(serde::de::Error::custom)
}

/// As [`address`], of what need not be.
fn optional_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    if let Some(text) = &text {
        text.parse::<HostPort>().map_err(serde::de::Error::custom)?;
    }
    Ok(text)
}

/// Parameters are words; numbers and truth values need no quotation marks in a file.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a word, a number, true or false")]
    enum Word {
        Text(String),
        Whole(i64),
        Number(f64),
        Truth(bool),
    }
    let found = BTreeMap::<String, Word>::deserialize(deserializer)?;
    let word = |word| match word {
        Word::Text(text) => text,
        Word::Whole(number) => number.to_string(),
        Word::Number(number) => number.to_string(),
        Word::Truth(truth) => truth.to_string(),
    };
    Ok(found.into_iter().map(|(key, found)| (key, word(found))).collect())
}

impl MasterConfig {
    /// The setting by which other machines get at it, and its value: either of its ports, as jobs are killed over HTTP, too.
    pub fn serves_others(&self) -> Option<(&'static str, &str)> {
        let http = self.http_listen.as_deref().map(|listen| ("http_listen", listen));
        std::iter::once(("listen", &*self.listen)).chain(http).find(|(_, listen)| HostPort::others_reach(listen))
    }
}

impl Default for MasterConfig {
    fn default() -> MasterConfig {
        MasterConfig {
            listen: "127.0.0.1:0".to_owned(),
            as_root: false,
            http_listen: None,
            dir: PathBuf::from("howdah-master"),
            profile: Profile::Howdah,
            new_cluster: false,
            without_journal: false,
            scheduler: "fifo".to_owned(),
            scheduler_params: BTreeMap::new(),
            queue_names: vec!["default".to_owned()],
            seed: 0,
            reach_interval_ms: 10_000,
            cluster: ClusterConfig {
                expiry_ms: EXPIRY_MS,
                expiry_beats: EXPIRY_BEATS,
                free_lost_names: Guard::LostNames.stands(),
                blacklist: Blacklist { short_failures: SHORT_FAILURES, ..Blacklist::default() },
                max_worker_losses: MAX_WORKER_LOSSES,
                ..ClusterConfig::default()
            },
            limits: Limits::default(),
            memory: Memory::default(),
            keep_jobs: KeepJobs::default(),
            keep_inputs: KeepInputs::default(),
            prediction: Prediction::default(),
            journal_segment_bytes: 16 << 20,
            drain_grace_ms: 10_000,
            name_nodes: NameNodes::default(),
            split_host: String::new(),
        }
    }
}

impl Limits {
    /// Jobs of one user that are not over, at most.
    pub(crate) fn live_jobs_of_one(&self) -> u32 {
        if self.live_jobs_of_user > 0 { self.live_jobs_of_user } else { (self.live_jobs / 2).max(1) }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            tasks_per_job: 200_000,
            reduces_per_job: 20_000,
            workers: 100_000,
            live_jobs: 10_000,
            live_jobs_of_user: 0,
            finished_jobs: 100,
            finished_tasks: 50_000,
            listed_jobs: 10_000,
            inbox: 16_384,
            message_bytes: howdah_proto::MAX_MESSAGE_BYTES as u64,
            connections: 0,
            connections_per_peer: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switching_rule_is_told_what_was_set() {
        let text = r#"{"prediction": {"switch": {"rule": "best", "measure": "makespan", "margin": 0.1, "rounds": 2,
                       "hold_ms": 5000}}}"#;
        let read = serde_json::from_str::<MasterConfig>(text).expect("it reads");
        let wanted = SwitchOptions {
            measure: Measure::Makespan,
            rule: "best".parse().expect("it is listed"),
            thresholds: Thresholds { margin: 0.1, rounds: 2 },
            dwell: Span::from_secs(5),
        };
        assert_eq!(read.prediction.switch.options(), wanted);
        assert_eq!(MasterConfig::default().prediction.switch.options(), SwitchOptions::default());
    }

    #[test]
    fn parameters_of_a_scheduler_need_no_quotation_marks_for_numbers() {
        let params = |text: &str| serde_json::from_str::<MasterConfig>(text).map(|config| config.scheduler_params);
        let read = params(r#"{"scheduler_params": {"queues": 2, "limits": "160", "share": 0.5, "preemption": true}}"#);
        let words = [("limits", "160"), ("preemption", "true"), ("queues", "2"), ("share", "0.5")];
        assert_eq!(read.expect("they read"), words.map(|(key, word)| (key.to_owned(), word.to_owned())).into());
        let error = params(r#"{"scheduler_params": {"queues": [2]}}"#).expect_err("a list is no word").to_string();
        assert!(error.starts_with("expected a word, a number, true or false"), "{error}");
    }

    #[test]
    fn either_port_that_others_get_at_makes_a_master_serve_others() {
        let config = |listen: &str, http: Option<&str>| {
            let http_listen = http.map(str::to_owned);
            MasterConfig { listen: listen.to_owned(), http_listen, ..MasterConfig::default() }
        };
        for http in [None, Some("127.0.0.1:8088"), Some("localhost"), Some("[::1]:0")] {
            assert_eq!(config("127.0.0.1:0", http).serves_others(), None);
            assert_eq!(config("0.0.0.0:9001", http).serves_others(), Some(("listen", "0.0.0.0:9001")));
        }
        for http in ["0.0.0.0:8088", "lab0", "[::]:0", "10.0.0.1"] {
            assert_eq!(config("localhost", Some(http)).serves_others(), Some(("http_listen", http)));
        }
    }

    #[test]
    fn where_it_answers_over_http_is_a_name_or_an_address() {
        let read = |value: &str| {
            let text = format!(r#"{{"http_listen": {value}}}"#);
            serde_json::from_str::<MasterConfig>(&text).map(|config| config.http_listen)
        };
        for said in ["lab0:8088", "lab0", "10.0.0.1:0", "[fd00::1]:8088"] {
            assert_eq!(read(&format!("{said:?}")).expect("it reads").as_deref(), Some(said));
        }
        assert_eq!(read("null").expect("it reads"), None);
        let error = read(r#""http://lab0""#).expect_err("no address").to_string();
        assert!(error.starts_with("`http://lab0` is no address, expected `host:port`"), "{error}");
    }

    #[test]
    fn what_the_cluster_says_of_memory_stands_over_what_a_job_says_of_the_cluster() {
        let memory = Memory { map_slot_mb: 1_024, max_map_mb: 2_048, ..Memory::default() };
        let job = [
            ("mapreduce.cluster.mapmemory.mb", "4096"),
            ("mapred.cluster.max.map.memory.mb", "-1"),
            ("mapred.cluster.reduce.memory.mb", "512"),
            ("mapred.job.map.memory.mb", "2000"),
        ];
        let job: BTreeMap<String, String> = job.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let all: Vec<String> = memory.over(&job).iter().map(|(key, value)| format!("{key}={value}")).collect();
        let expected = [
            "mapred.cluster.map.memory.mb=1024",
            "mapred.cluster.max.map.memory.mb=2048",
            "mapred.cluster.reduce.memory.mb=512",
            "mapred.job.map.memory.mb=2000",
        ];
        assert_eq!(all, expected);
        assert_eq!(Memory::default().over(&job), job);
    }
}
