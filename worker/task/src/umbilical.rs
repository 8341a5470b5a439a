//! The umbilical: how an attempt's process and its worker talk.
//!
//! The process finds a connected stream socket as its file descriptor 0 and exchanges JSON lines over it: one
//! [`ToTask`] or [`FromTask`] per line, UTF-8, ended by a line feed. The worker speaks first with
//! [`ToTask::Run`]. The end of the stream means that the other side is gone: a task then exits.
//! The user's standard output and error are files in the attempt's log directory; nothing of the protocol
//! passes through them.
//! A line from the attempt has at most [`LINE_BYTES`](howdah_core::job::limits::LINE_BYTES) bytes; a longer one, or one
//! that is no message, fails the attempt.

use std::collections::BTreeMap;
use std::path::PathBuf;

use howdah_core::job::counters::Counters;
use howdah_core::job::limits::Cut;
use howdah_core::job::{App, InputFormat, OutputFormat, Phase, Progress, Split, TaskKind};
use serde::{Deserialize, Serialize};

/// From the worker to the attempt's process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum ToTask {
    /// Run this attempt. A reused process gets another one after its `Done`.
    Run(Box<TaskSpec>),
    /// To a reduce: more map outputs, in order of the job's events. An event for a map replaces earlier ones.
    MapEvents {
        /// May be empty.
        events: Vec<MapEvent>,
    },
    /// The output may be committed: finish and say `Done`.
    CommitGranted,
    /// There is no more work for this process: exit with code 0.
    Exit,
}

/// One change of one map's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapEvent {
    /// Map index.
    pub map: u32,
    /// Printed id of the map attempt.
    pub attempt: String,
    /// `host:port` of the worker that serves it; `None` when this attempt's output is obsolete.
    pub address: Option<String>,
    /// Whether the map is out of attempts in a job that tolerates it: no output of it will come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// From the attempt's process to its worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromTask {
    /// Progress; also proves that the task is alive.
    Status {
        /// What it does.
        phase: Phase,
        /// How far it is.
        progress: Progress,
        /// All counters so far, sent at phase changes and at a slow beat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counters: Option<Counters>,
        /// The user's own status line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A map's output could not be fetched.
    FetchFailure {
        /// Printed id of the map attempt.
        attempt: String,
        /// For people.
        message: String,
    },
    /// The output is complete in its private place; may it be committed?
    CommitPending,
    /// The attempt succeeded. A map of a job with reduces has left its output in `local_dir`.
    Done {
        /// Final values.
        counters: Counters,
        /// What the program said beyond its bounds.
        #[serde(default, skip_serializing_if = "Cut::is_nothing")]
        cut: Cut,
    },
    /// The attempt failed by its own account; the process exits with code 1, reusable or not.
    Failed {
        /// The probable cause, one or several lines.
        message: String,
        /// Values until then.
        counters: Counters,
        /// What the program said beyond its bounds.
        #[serde(default, skip_serializing_if = "Cut::is_nothing")]
        cut: Cut,
        /// Whether no other attempt of the task could do better, so that none should be made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fatal: bool,
        /// The path that this machine does not see, where that is the cause: another machine may do it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unseen: Option<String>,
    },
}

/// Everything that one attempt needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Printed job id.
    pub job: String,
    /// Printed attempt id.
    pub attempt: String,
    /// Map or reduce.
    pub kind: TaskKind,
    /// Task index.
    pub index: u32,
    /// Attempt number, after a restart of the master offset by 1000 for each.
    pub number: u16,
    /// What to run.
    pub app: App,
    /// The job's properties.
    pub properties: BTreeMap<String, String>,
    /// Maps of the job.
    pub n_maps: u32,
    /// Reduces of the job, hence partitions of a map's output.
    pub n_reduces: u32,
    /// How to read `split`.
    pub input_format: InputFormat,
    /// A map's input; `None` for reduces.
    pub split: Option<Split>,
    /// The job's output. The attempt writes to `<directory>/_temporary/<attempt>/part-…` and nowhere else.
    pub output: OutputFormat,
    /// Whether the master has left its mark in the output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// Whether to ask with `CommitPending` before `Done`.
    pub asks_commit: bool,
    /// Directory of this attempt alone on the worker's disk; exists.
    pub local_dir: PathBuf,
    /// The job's secret for fetching map output.
    pub token: String,
    /// The worker that runs it, for messages.
    pub worker_name: String,
    /// Where `syslog` of this attempt belongs; `None` means `$HOWDAH_LOG_DIR`. A reused process needs it, as its
    /// environment names its first attempt only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_dir: Option<PathBuf>,
}
