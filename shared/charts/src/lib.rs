//! Pictures as SVG: the timeline of a replay, grouped bars, lines.
//!
//! One drawing of each, used by the command, by the experiments and later by pages. Nothing here opens a file: a picture
//! is written to a writer or returned as text.

mod chart;
mod numbers;
mod plot;
mod style;
pub mod timeline;

pub use chart::{Bars, Series};
pub use numbers::count;
pub use plot::{Curve, Plot};
