//! Policies by name, for drivers: those of the core's registry, and those that need more than the core may touch.
//!
//! Whoever drives a JobTracker (the live master, decision replay, simulations) makes its policy here, so that one
//! name and its parameters mean the same everywhere.

use howdah_shared::schedulers::registry::Params;
use howdah_shared::schedulers::{Scheduler, SchedulerError, registry};

/// Makes a policy from its name and parameters.
///
/// # Errors
/// Names the unknown policy or the parameter, and what was expected.
pub fn make(name: &str, params: &Params) -> Result<Box<dyn Scheduler>, SchedulerError> {
    registry::by_name(name, params)
}
