//! The sort benchmark: `teragen` makes rows, `terasort` sorts them, `teravalidate` proves that they are sorted.
//!
//! A row has 100 bytes, the first ten of which are its key. Sources: the sort benchmark's record format, as
//! Hadoop 2's examples write it.

mod generate;
mod sort;
mod validate;

pub(crate) use generate::APP as GENERATE;
pub use generate::row;
pub(crate) use sort::APP as SORT;
pub(crate) use validate::APP as VALIDATE;
pub use validate::Checksum;

/// Bytes of a row.
pub const ROW: usize = 100;
/// Bytes of its key.
pub const KEY: usize = 10;
