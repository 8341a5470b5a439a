//! The task library: what built-in applications and users' own Rust programs are written against.
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

mod api;
mod collect;
mod input;
pub mod local;
mod merge;
mod output;
mod process;
mod segment;
mod shuffle;
pub mod umbilical;

pub use api::application::{Application, Fold, Partitioner, RecordFormat};
pub use api::context::Context;
pub use api::error::{Error, Result, TaskError, chain};
pub use api::mapper::{MapOutput, Mapper};
pub use api::properties::Properties;
pub use api::reducer::{ReduceOutput, Reducer, Values};
pub use api::text;
pub use collect::{hash, hash_partition};
pub use process::{main, main_with, run_process};
pub use segment::{SegmentPlace, find_segment};
