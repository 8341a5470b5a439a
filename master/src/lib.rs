//! The JobTracker daemon: the deterministic core driven by gRPC and the real clock, its journal, its history.
//!
//! ```text
//!  services ──► engine (one thread owns the core and the tables) ──► journal, history, promotion of output
//!  replay, trace: read what a run left            policies: those of the core, and those that need a process
//! ```

#![warn(missing_docs)]

mod address;
mod clock;
mod commit;
mod config;
pub mod decisions;
pub mod digest;
mod engine;
pub mod estimates;
mod external;
pub mod hadoop_history;
pub mod heap;
pub mod history;
pub mod journal;
mod looks;
mod mounts;
mod name_nodes;
mod noted;
mod peers;
pub mod policies;
pub mod prediction;
mod random;
mod reach;
pub mod recorder;
mod recovery;
mod reload;
pub mod replay;
mod rest;
mod run;
mod services;
mod spool;
mod starts;
mod tables;
#[cfg(test)]
mod testing;
pub mod trace;

/// Counts what tests hold.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: howdah_fuzz::Counting = howdah_fuzz::Counting;

pub use config::{KeepInputs, KeepJobs, Limits, MasterConfig, Memory, Profile};
pub use name_nodes::NameNodes;
pub use run::{ACCESS_FILE, lock, run};
