//! The journal: every batch of inputs that the core received, beside what it decided.
//!
//! A run's directory holds `header` and `journal/NNNNNNNN.seg`. Everything is stored in frames (`frame.rs`): a few
//! bytes that find and check it, then the payload, a protobuf message of `journal.proto`. Segments are filled with
//! zeros before use, so that syncing a frame touches no metadata; zeros where a frame would begin therefore end a
//! segment. A frame never spans segments. Behind a bad one whole ones are looked for in one pass (`search.rs`). Frames are numbered, and each holds the hash of the one before, so that
//! whole frames cannot go missing unnoticed; a master that stops of its own accord leaves an end mark. A segment may begin
//! with a snapshot (`start.rs`), and what came before it may be gone (`remove.rs`); of a damaged one the frame behind says that
//! nothing else is missing (`across.rs`).
//!
//! **Invariant: no effect leaves the master before the frame of its batch is on disk.**

mod across;
mod check;
mod error;
mod frame;
mod paths;
mod reader;
mod remove;
mod repair;
mod search;
#[cfg(test)]
mod snapshot_tests;
mod start;
#[cfg(test)]
mod tests;
mod writer;

pub use across::DamagedSnapshot;
pub use check::{Check, check};
pub use error::{JournalError, VERSION};
pub(crate) use paths::has_header;
pub use paths::{find_run, runs_in};
pub use reader::{JournalReader, Since, Tail, Truncation, read_header};
#[cfg(test)]
pub(crate) use remove::leave_only_newest;
pub use remove::{Removed, remove_before_snapshot};
pub use repair::{Repair, repair};
pub use writer::JournalWriter;
