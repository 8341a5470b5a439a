//! Counters with Hadoop's group and counter names.
//!
//! They are summed by drivers and shown to people; no decision reads them. Source: `docs/hadoop.md#counters`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Group of the framework's own counters.
pub const FRAMEWORK: &str = "Map-Reduce Framework";
/// Group of per-job counters. The trailing space is Hadoop's.
pub const JOB: &str = "Job Counters ";
/// Group of input formats.
pub const FILE_INPUT: &str = "File Input Format Counters ";
/// Group of output formats.
pub const FILE_OUTPUT: &str = "File Output Format Counters ";
/// Group of file systems.
pub const FILE_SYSTEM: &str = "FileSystemCounters";

/// The counters that attempts of every job have, so that a report can name them by their place in this list. It only
/// grows at its end: places are what workers and masters of different versions have in common.
pub const KNOWN: &[(&str, &str)] = &[
    (FRAMEWORK, "Map input records"),
    (FRAMEWORK, "Map input bytes"),
    (FRAMEWORK, "Map output records"),
    (FRAMEWORK, "Map output bytes"),
    (FRAMEWORK, "Map output materialized bytes"),
    (FRAMEWORK, "Combine input records"),
    (FRAMEWORK, "Combine output records"),
    (FRAMEWORK, "Reduce input groups"),
    (FRAMEWORK, "Reduce input records"),
    (FRAMEWORK, "Reduce output records"),
    (FRAMEWORK, "Reduce shuffle bytes"),
    (FRAMEWORK, "Spilled Records"),
    (FRAMEWORK, "CPU time spent (ms)"),
    (FRAMEWORK, "Physical memory (bytes) snapshot"),
    (FILE_INPUT, "Bytes Read"),
    (FILE_OUTPUT, "Bytes Written"),
    (FILE_SYSTEM, "FILE_BYTES_READ"),
    (FILE_SYSTEM, "FILE_BYTES_WRITTEN"),
];

/// Values by group and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counters(pub BTreeMap<String, BTreeMap<String, i64>>);

impl Counters {
    /// Adds to one counter, saturating.
    pub fn add(&mut self, group: &str, name: &str, amount: i64) {
        if !self.0.contains_key(group) {
            self.0.insert(group.to_owned(), BTreeMap::new());
        }
        let group = self.0.get_mut(group).expect("inserted above");
        match group.get_mut(name) {
            Some(value) => *value = value.saturating_add(amount),
            None => {
                group.insert(name.to_owned(), amount);
            }
        }
    }

    /// One counter; 0 when absent.
    pub fn get(&self, group: &str, name: &str) -> i64 {
        self.0.get(group).and_then(|g| g.get(name)).copied().unwrap_or(0)
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: &Counters) {
        for (group, values) in &other.0 {
            for (name, value) in values {
                self.add(group, name, *value);
            }
        }
    }
}
