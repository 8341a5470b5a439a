//! The job file: everything that drivers and tasks need and decisions do not.
//!
//! The master writes it once when it accepts a job (Hadoop's `job.xml` and `job.split` in one); workers
//! fetch and keep it; each attempt gets the parts that concern it. It is JSON, so that people can read it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::JobSpec;

/// What a job runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum App {
    /// One of the applications in the worker's own binary, by name.
    BuiltIn {
        /// As in `howdah submit NAME`.
        name: String,
    },
    /// A binary built with the task library; `path` must be readable on every worker.
    Program {
        /// Absolute path of the executable.
        path: String,
        /// Arguments before the task's own.
        args: Vec<String>,
    },
    /// Hadoop Streaming: commands that read and write lines.
    Streaming {
        /// Command line; `None` is the identity.
        mapper: Option<String>,
        /// Command line; `None` is the identity.
        reducer: Option<String>,
        /// Command line; `None` means no combiner.
        combiner: Option<String>,
    },
}

/// How input becomes splits and splits become records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum InputFormat {
    /// Lines: key = byte offset, value = the line without its end (Hadoop's TextInputFormat).
    Text,
    /// Lines as in `Text`, so many to a map (Hadoop's NLineInputFormat).
    NLine {
        /// Lines of each map but the last of a file, at least 1.
        lines: u32,
    },
    /// Records of a fixed number of bytes, for terasort's 100; files must be whole multiples.
    FixedLength {
        /// Bytes of each record, at least 1.
        record_bytes: u32,
    },
    /// No files: `n_maps` maps that make their own input (teragen, randomtextwriter, sleep).
    Generated {
        /// Number of maps.
        n_maps: u32,
    },
}

/// How the job's output is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum OutputFormat {
    /// `part-…` files under `directory`, promoted at the job's end.
    Files {
        /// Absolute path that must not exist when the job is submitted.
        directory: String,
    },
    /// Nothing is written (sleep).
    None,
}

/// By which a file is known to be the one that was cut into splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileState {
    /// Bytes of the whole file.
    pub length: u64,
    /// When it was last written, in microseconds since the epoch.
    pub modified_us: i64,
}

/// One map's input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Split {
    /// Bytes `offset .. offset + length` of a file; the record rules at the borders are the format's.
    File {
        /// Absolute path, or the address of a file in an HDFS.
        path: String,
        /// First byte.
        offset: u64,
        /// Number of bytes; for compressed files the whole file.
        length: u64,
        /// Host names that hold it; empty when unknown.
        hosts: Vec<String>,
        /// The file as it was when the splits were made; absent in job files of earlier versions, and then not checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<FileState>,
    },
    /// The map's index is its input.
    Generated,
}

impl Split {
    /// Input bytes; 0 for generated input.
    pub fn length(&self) -> u64 {
        match self {
            Split::File { length, .. } => *length,
            Split::Generated => 0,
        }
    }
}

/// Hadoop's names of the number of maps that somebody wishes a job to have.
pub const WISHED_MAPS: [&str; 2] = ["mapred.map.tasks", "mapreduce.job.maps"];

/// Whether such a wish changes anything: where maps make their own input, and, as a hint, for text of a streaming job. Hadoop's
/// streaming uses the old interface, whose input formats get the hint; those of the new one, which its examples use, do not.
pub fn heeds_wished_maps(app: &App, input_format: &InputFormat) -> bool {
    match input_format {
        InputFormat::Generated { .. } => true,
        InputFormat::Text => matches!(app, App::Streaming { .. }),
        InputFormat::NLine { .. } | InputFormat::FixedLength { .. } => false,
    }
}

/// The mark that the master leaves under an output's directory: the job's id. Attempts run only where they see it.
pub const OUTPUT_MARK: &str = "_temporary/_job";

/// When a job sets it, a task that writes no record leaves no part file (Hadoop's LazyOutputFormat); the value is the
/// format that it stands before.
pub const LAZY_OUTPUT: &str = "mapreduce.output.lazyoutputformat.outputformat";

/// Unless it is `false`, a part file is on its disk before its attempt asks for its commit, and where it belongs and `_SUCCESS` are
/// before the job counts as done.
pub const OUTPUT_SYNC: &str = "howdah.output.sync";

/// A job's file, schema `howdah/job/v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    /// Printed id, `job_…`.
    pub id: String,
    /// Milliseconds since the Unix epoch.
    pub submit_ms_epoch: u64,
    /// What the core knows.
    pub spec: JobSpec,
    /// What runs.
    pub app: App,
    /// How splits are read.
    pub input_format: InputFormat,
    /// One per map, by map index.
    pub splits: Vec<Split>,
    /// Where results go.
    pub output: OutputFormat,
    /// Whether the master has left its mark, the job's id, in [`OUTPUT_MARK`] under the output's directory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// All properties as submitted (`-D`), Hadoop's names included.
    pub properties: BTreeMap<String, String>,
    /// Secret that reduces show when they fetch map output; 32 hexadecimal digits.
    pub token: String,
}
