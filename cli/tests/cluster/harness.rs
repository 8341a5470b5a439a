//! Real clusters for tests: daemons as processes of the `howdah` executable under test, in a folder of their own.
//!
//! Whatever a test starts carries a mark in its environment, and so does everything that starts from there. When
//! a [`Cluster`] goes out of scope, a panic included, every process with its mark is killed and waited for.

mod allocations;
mod cluster;
mod command;
mod gated;
mod groups;
mod http;
mod installation;
mod processes;
pub(crate) mod reference;
mod scene;
pub(crate) mod text;

pub(crate) use allocations::Allocations;
pub(crate) use cluster::{Cluster, Setup};
pub(crate) use command::{Finished, howdah, howdah_at};
pub(crate) use gated::Gated;
pub(crate) use groups::lacks_groups;
pub(crate) use installation::Installation;
pub(crate) use processes::Mark;
pub(crate) use scene::Scene;

use std::path::PathBuf;
use std::time::Duration;

use crate::waiting::wait_within;

/// Long enough for a slow machine; reached only when something hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// MiB of the large inputs: `HOWDAH_TEST_MIB`, else 1024 in release builds and 48 in debug builds.
pub(crate) fn large_mib() -> u64 {
    match std::env::var("HOWDAH_TEST_MIB") {
        Ok(text) => text.parse().expect("HOWDAH_TEST_MIB is a number of MiB"),
        Err(_) if cfg!(debug_assertions) => 48,
        Err(_) => 1024,
    }
}

/// MiB of the inputs of a job's many variants, which have to differ in nothing: as above if it was given, else a quarter of it
/// in release builds.
pub(crate) fn variant_mib() -> u64 {
    let is_given = std::env::var_os("HOWDAH_TEST_MIB").is_some();
    if is_given || cfg!(debug_assertions) { large_mib() } else { large_mib() / 4 }
}

/// A folder for the large files, below cargo's own.
pub(crate) fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// Waits until `done` returns something; panics with `what` when it does not within [`PATIENCE`].
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, done: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, done)
}
