//! What a model of task times is: something that learns from finished tasks of one class, and what it has learnt.
//!
//! Both are functions of their arguments: equal samples give equal estimates, to the bit. No clock, no random source, no
//! order of a hash map. What a model states goes on to be scaled by how it did before ([`TaskPredictor`](super::super::TaskPredictor)).

use super::super::history::Sample;
use super::Estimate;

/// A way to tell times.
pub trait TaskTimeModel: Send + Sync {
    /// Learns from finished tasks of one class, oldest first: of known size all of them, or none, which is as if
    /// all sizes were 0. `None` if they do not tell enough; none at all never do.
    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>>;
}

/// What was learnt of a class.
pub trait Fitted: Send + Sync {
    /// The time of a task with so much input on a worker, which is not always known.
    fn estimate(&self, bytes: u64, worker: Option<&str>) -> Estimate;
}
