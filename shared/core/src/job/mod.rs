//! Jobs as a user thinks of them: ids, specifications, states, counters.
//!
//! Everything here is plain data. Nothing knows of workers, schedulers or the wire.

pub mod counters;
mod file;
mod ids;
pub mod known;
pub mod limits;
mod memory;
mod per_kind;
mod phases;
mod priority;
pub mod profile;
pub mod quantity;
pub mod requirement;
mod spec;
mod spec_error;
mod split_hosts;
pub mod splits;
mod state;

pub use file::{
    App, FileState, InputFormat, JobFile, LAZY_OUTPUT, OUTPUT_MARK, OUTPUT_SYNC, OutputFormat, Split, WISHED_MAPS,
    heeds_wished_maps,
};
pub use ids::{AttemptId, ClusterId, IdError, JobId, TaskId, TaskKind, WorkerId};
pub use memory::CLUSTER_KEYS as CLUSTER_MEMORY_KEYS;
pub use memory::{MemoryLimit, memory_limits};
pub use per_kind::PerKind;
pub use phases::{JobProfile, PhaseTimes};
pub use priority::Priority;
pub use requirement::{Requirement, Requirements};
pub use spec::{FOLLOWS, JobConf, JobSpec};
pub use spec_error::SpecError;
pub use split_hosts::{SplitHosts, SplitTable};
pub use state::{AttemptState, JobState, Locality, Phase, Progress};
