//! The task library: what built-in applications and users' own Rust programs are written against, and the whole way
//! of data through an attempt.
//!
//! ```no_run
//! use howdah_task::{Application, Fold, MapOutput, Result, text};
//!
//! fn map(line: &[u8], out: &mut MapOutput) -> Result {
//!     for word in text::words(line) {
//!         out.emit_long(word, 1)?;
//!     }
//!     Ok(())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     howdah_task::main(Application::lines(map).fold(Fold::Sum))
//! }
//! ```
//!
//! A program is an [`Application`]: a [`Mapper`], and if it wants a [`Reducer`], a combiner, a [`Partitioner`], a [`KeyComparator`].
//! Functions will do; types with state implement the traits. Keys and values are bytes; [`text`] has words, longs and
//! keys that sort as numbers do. [`local::LocalJob`] runs a whole job in one process, for tests.
//!
//! # Order
//!
//! Keys reach a reducer in the order of their bytes, the values of a key in the order of theirs. So a job's part files
//! do not depend on split sizes, buffer sizes, the number of workers, or on failures, as long as its functions depend
//! on nothing but their arguments. (`Deviation:` Hadoop leaves the order of values open.) A [`KeyComparator`] puts keys in
//! another order, and in groups of the keys that it takes for equal.
//!
//! # Memory
//!
//! | what | most it holds | property |
//! |---|---|---|
//! | a map's collector | 100 MiB, or one record if that is larger | `io.sort.mb` |
//! | a map's input | 256 KiB, or twice the longest line | `howdah.line.max.bytes` |
//! | segments in a reduce's memory | 140 MiB | `howdah.shuffle.memory.mb` |
//! | a merge, for each of its segments | 192 KiB: a block, twice if compressed, and a read buffer | `io.sort.factor` (10) |
//! | segments in memory at once | 256, so their readers hold at most 32 MiB | `mapred.inmem.merge.threshold` |
//! | a run or part file being written | 512 KiB | |
//!
//! Blocks grow to the largest record (1 GiB is the most). What the program keeps comes on top.
//!
//! # Faults on purpose
//!
//! `howdah.fault.attempt.fraction` (0 to 1) makes that share of attempts die by exit code, SIGKILL, panic or error, in
//! the middle of their work or while their output is completed; which ones follows from `howdah.fault.seed` and the
//! attempt's id. Attempts numbered 3 and up are spared, so no task fails more than three times by this.

mod api;
mod collect;
mod input;
pub mod interpreter;
pub mod local;
mod merge;
mod output;
mod process;
mod segment;
mod shuffle;
pub mod umbilical;

/// Counts what tests hold.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: howdah_fuzz::Counting = howdah_fuzz::Counting;

pub use api::application::Application;
pub use api::choices::{Fold, Partitioner};
pub use api::context::Context;
pub use api::error::{Error, Result, TaskError, chain};
pub use api::key_order::KeyComparator;
pub use api::line_length::{longest_line, too_long};
pub use api::mapper::{MapOutput, Mapper};
pub use api::properties::Properties;
pub use api::record_format::RecordFormat;
pub use api::reducer::{ReduceOutput, Reducer, Values};
pub use api::text;
pub use collect::{hash, hash_partition};
pub use process::{main, main_with, run_process};
pub use segment::{SegmentPlace, find_segment, whole_output};
