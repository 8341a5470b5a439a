//! Job histories of Hadoop 0.23 and later (`.jhist`): one JSON event per line below an Avro schema.
//!
//! A file is one job; several one after another are several.
//! Source: the event records of `org.apache.hadoop.mapreduce.jobhistory`, and the real histories beside the project.

mod configuration;
mod mark;
mod read;
mod record;
#[cfg(test)]
mod record_tests;
mod schema;
#[cfg(test)]
mod tests;
mod write;
#[cfg(test)]
mod write_tests;

pub use configuration::Configuration;
pub use read::{read, read_jobs};
pub use record::{AttemptRecord, JobRecord, class_of, constant};
pub use write::write;
