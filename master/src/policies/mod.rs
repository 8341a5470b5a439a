//! Policies by name, for drivers: those of the core's registry, and those that need more than the core may touch.
//!
//! Whoever drives a JobTracker (the live master, decision replay, simulations) makes its policy here, so that one
//! name and its parameters mean the same everywhere.

mod about;
mod curves;
mod files;
mod read;

pub use crate::external::{NAME as EXTERNAL, Warn};
pub use about::about;
pub use curves::{calibration, frequency_curve, is_calibration, load_curve};
pub use files::{ALLOCATION_FILE, ALLOCATIONS, names_a_file, with_files};

use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{Scheduler, SchedulerError, registry};

use crate::external::External;

/// The names of all policies.
pub fn names() -> impl Iterator<Item = &'static str> {
    registry::names().chain([EXTERNAL])
}

/// Makes a policy from its name and parameters; what it warns of is logged.
///
/// # Errors
/// Names the unknown policy or the parameter, and what was expected.
pub fn make(name: &str, params: &Params) -> Result<Box<dyn Scheduler>, SchedulerError> {
    make_warning(name, params, |text| tracing::warn!("{text}"))
}

/// As [`make`], for who shows warnings otherwise.
///
/// # Errors
/// As [`make`].
pub fn make_warning(name: &str, params: &Params, warn: Warn) -> Result<Box<dyn Scheduler>, SchedulerError> {
    if name == EXTERNAL {
        return Ok(Box::new(External::from_params(params, warn)?));
    }
    let policy = registry::by_name(name, params).map_err(|error| match error {
        SchedulerError::Unknown { name, known } => {
            SchedulerError::Unknown { name, known: format!("{known}, {EXTERNAL}") }
        }
        error => error,
    });
    let mut policy = policy?;
    policy.take_notes().iter().for_each(|note| warn(note));
    Ok(policy)
}
