//! Merging sorted segments: k at once, in several passes when there are more, combining on the way.

mod combine;
mod groups;
mod heap;
mod passes;

pub(crate) use combine::CombineStep;
pub(crate) use groups::{Groups, reduce_groups};
pub(crate) use heap::Merge;
pub(crate) use passes::{MergePlan, merge_runs};
