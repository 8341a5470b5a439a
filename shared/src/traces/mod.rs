//! Traces of other systems, one format per file, each read from a reader and some written to a writer.
//!
//! A reader streams: it holds one record of the source and the templates that it has made. **No bytes make it
//! panic.** What it repairs or drops it counts in [`ImportNotes`] with the reason; what it cannot read is a
//! [`TraceError`] with the record and what was expected.

mod assemble;
pub mod facts;
mod json;
mod notes;
mod profiler;
pub mod rumen;
pub mod topology;

pub use assemble::TraceBuilder;
pub use notes::{ImportNotes, Note, TraceError};
pub use profiler::MAX_DECLARED_TASKS;
