//! Lines as Hadoop's client logs them, `2024-11-24 20:00:00,123 INFO mapreduce.Job: Running job: …` on standard error.
//!
//! Programs find the job's id, its progress and its counters by these lines. One record may have several lines; only the
//! first has the head.

use std::io::{self, Write};

/// Writes a record.
fn record(level: &str, logger: &str, message: &str) {
    let now = jiff::Zoned::now();
    let line = format!("{} {level} {logger}: {message}\n", now.strftime("%Y-%m-%d %H:%M:%S,%3f"));
    // Nobody is left to be notified that standard error is broken.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// Something that happened.
pub(super) fn info(logger: &str, message: impl AsRef<str>) {
    record("INFO", logger, message.as_ref());
}

/// Something that should be changed.
pub(super) fn warn(logger: &str, message: impl AsRef<str>) {
    record("WARN", logger, message.as_ref());
}

/// Something that went wrong.
pub(super) fn error(logger: &str, message: impl AsRef<str>) {
    record("ERROR", logger, message.as_ref());
}

/// A line without a head; clients know the few that there are.
pub(super) fn bare(line: &str) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
