//! The policy of a replay, and what it was made from.

use howdah_core::schedulers::Scheduler;
use howdah_core::schedulers::registry::Params;

/// The policy, made before anything else, and what it was made from.
pub(super) struct Policy {
    pub(super) name: String,
    /// Whether somebody named it.
    pub(super) is_asked_for: bool,
    pub(super) params: Params,
    pub(super) policy: Box<dyn Scheduler>,
    /// Queues that there are, beside `default`.
    pub(super) queue_names: Vec<String>,
}
