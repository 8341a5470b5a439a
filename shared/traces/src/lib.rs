//! Traces of other systems, one format per file, each read from a reader and some written to a writer.
//!
//! A reader streams: it holds one record of the source and the templates that it has made. **No bytes make it
//! panic.** What it repairs or drops it counts in [`ImportNotes`] with the reason; what it cannot read is a
//! [`TraceError`] with the record and what was expected.

#[cfg(test)]
mod arbitrary;
mod assemble;
pub mod coflow;
mod cost;
pub mod csv;
pub mod facts;
mod format;
pub mod hadoop1;
pub mod howdah;
pub mod jhist;
mod json;
mod lines;
mod notes;
mod numbers;
mod profiler;
pub mod rumen;
pub mod sls;
mod source;
pub mod swf;
pub mod swim;
mod timeline;
pub mod topology;

pub use assemble::TraceBuilder;
pub use cost::CostModel;
pub use format::{Format, ImportOptions, plain, read_any};
pub use notes::{ImportNotes, Note, TraceError};
pub use profiler::MAX_DECLARED_TASKS;
