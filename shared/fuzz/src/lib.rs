//! What all fuzz targets share: changes of good bytes, how many of them there are, and what a reading of them held at most.
//!
//! A target stands beside the reader that it is about, in a module called `fuzz`, and is a test like any other: `PROPTEST_CASES`
//! sets how many readings it makes, and `cargo xtask soak fuzz` sets thousands. Nothing but tests depends on this crate.

mod change;
mod held;
mod readings;

pub use change::{Change, apply, change, changed, changes};
pub use held::{Counting, most_held};
pub use readings::{Readings, cases};
