//! A policy that is another program: lines of JSON over its standard input and output.
//!
//! ```text
//!  Scheduler (policy.rs, choice.rs) ──► lines (protocol.rs) ──► pipes with time limits (process.rs) ──► the program
//! ```
//!
//! **The program cannot harm the master.** Whatever it does wrong is warned of once per cause and the turn goes to the
//! fallback policy; one that errs several times running, or ends, is replaced by it for good. Its choices are a
//! function of the lines that it got as long as no time limit strikes, so a recorded run can be replayed.

mod choice;
mod policy;
mod process;
mod protocol;

pub(crate) use policy::External;
pub use policy::{NAME, Warn};
