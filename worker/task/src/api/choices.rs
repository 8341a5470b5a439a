//! What an application chooses beside its mapper and reducer: how map output is combined, and which reduce gets a key.
//!
//! Apart from the application, so that what stores map output knows these and neither mappers nor applications.

use super::error::Result;
use super::properties::Properties;
use super::reducer::Reducer;

/// An associative and commutative operation on longs, applied while mapping: each distinct key is kept once, in a
/// hash table, with its accumulated value. A job that can say its combiner so needs no sort of all of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum, wrapping at 64 bits as Java's does.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

impl Fold {
    /// Joins two values.
    #[inline(always)]
    pub fn join(self, a: i64, b: i64) -> i64 {
        match self {
            Fold::Sum => a.wrapping_add(b),
            Fold::Max => a.max(b),
            Fold::Min => a.min(b),
        }
    }
}

/// Chooses the partition, hence the reduce, of each map output record.
pub trait Partitioner {
    /// The partition of `key`, below `n_partitions` (at least 1).
    fn partition(&self, key: &[u8], n_partitions: u32) -> u32;
}

impl<F: Fn(&[u8], u32) -> u32> Partitioner for F {
    fn partition(&self, key: &[u8], n_partitions: u32) -> u32 {
        self(key, n_partitions)
    }
}

pub(crate) type Make<T> = Box<dyn Fn() -> Box<T>>;
pub(crate) type MakePartitioner = Box<dyn Fn(&Properties) -> Result<Box<dyn Partitioner>>>;

/// What combines map output before it travels.
pub(crate) enum Combiner {
    None,
    Fold(Fold),
    Reducer(Make<dyn Reducer>),
}
