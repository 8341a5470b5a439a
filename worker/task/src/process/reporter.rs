//! Tells the worker how the attempt is doing, seldom enough to cost nothing.

use howdah_shared::job::counters::Counters;

use crate::api::error::TaskError;

/// The attempt's way of speaking.
pub(crate) struct Reporter {
    message: Option<String>,
}

impl Reporter {
    pub(crate) fn set_message(&mut self, message: String) {
        self.message = Some(message);
    }

    pub(crate) fn beat(&mut self, _fraction: f64, _counters: &dyn Fn() -> Counters) -> Result<(), TaskError> {
        Ok(())
    }
}
