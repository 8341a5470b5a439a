//! The TaskTracker daemon: slots, attempts as processes, shuffle and log server, vitals.
//!
//! All decisions are `howdah_core::tracker::task_tracker::TaskTracker`'s. One thread owns it
//! (`driver`); everything else feeds that thread's inbox or carries out its effects:
//!
//! ```text
//!  master ◄─ link (gRPC) ─►┐
//!  processes ◄─ keepers ──►├─ driver: TaskTracker
//!  vitals, job files ─────►┘        http: shuffle and logs, straight from disk; node: what runs here
//! ```

mod address;
mod cgroup;
mod config;
mod connections;
mod containers;
mod daemon;
mod directory;
mod driver;
mod fence;
mod http;
mod inbox;
mod jobs;
mod kept;
mod link;
mod logs;
mod looks;
mod map_events;
mod memory;
mod node;
mod plain;
mod prefetch;
mod probes;
mod process;
mod space;
mod vitals;

/// Counts what tests hold.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: howdah_fuzz::Counting = howdah_fuzz::Counting;

pub use cgroup::{QuotaGroup, cpus_milli};
pub use config::WorkerConfig;
pub use daemon::run;
pub use vitals::VitalsSource;
