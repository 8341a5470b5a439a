//! How many tasks a trace may have whose durations are looked at one by one.
//!
//! A trace of a few hundred bytes can claim hundreds of millions of tasks that share a duration. A replay takes them as they
//! come; a fitted distribution or a distance between two needs all of them in memory.

use std::path::Path;

use howdah_core::job::profile::Trace;

use crate::failure::{Failure, Outcome};
use crate::trace_file::name_of;

/// Some hundred MB of durations.
const MOST: u64 = 20_000_000;

/// Refuses a trace of which no sample can be made.
pub(super) fn check_tasks(trace: &Trace, file: &Path) -> Outcome<()> {
    let tasks: u64 = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    if tasks <= MOST {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "trace {}: found {tasks} tasks, expected at most {MOST} where all durations are looked at",
        name_of(file)
    )))
}
