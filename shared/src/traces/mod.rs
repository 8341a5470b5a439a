//! Traces of other systems, one format per file, each read from a reader and some written to a writer.
//!
//! A reader streams: it holds one record of the source and the templates that it has made. **No bytes make it
//! panic.** What it repairs or drops it counts in [`ImportNotes`] with the reason; what it cannot read is a
//! [`TraceError`] with the record and what was expected.

mod notes;

pub use notes::{ImportNotes, Note, TraceError};
