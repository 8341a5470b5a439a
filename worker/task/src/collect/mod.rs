//! Map output on its way to the reduces: collected in memory, spilled in sorted runs, merged into `file.out`.
//!
//! Two collectors share what happens to full buffers ([`spill::Spiller`]): [`SortCollector`] keeps every record and
//! sorts; [`FoldCollector`] keeps one accumulator per distinct key. Neither holds more than `io.sort.mb` (100 by
//! default), except for a single record that is larger.
//! `Deviation:` Hadoop sorts and spills in a second thread while the map goes on; here the map does it itself, as all
//! cores are taken by other attempts anyway.

mod entry;
mod fold;
mod order;
mod partition;
mod sort;
mod spill;
#[cfg(test)]
mod tests;

pub(crate) use fold::FoldCollector;
pub use partition::{hash, hash_partition};
pub(crate) use sort::SortCollector;
pub(crate) use spill::{MAP_OUTPUT, MAP_OUTPUT_INDEX, Spiller};
