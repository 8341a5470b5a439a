//! What questions to the core's thread see: the settled state between two batches.

use howdah_core::time::Time;
use howdah_core::tracker::JobTracker;

use crate::tables::Tables;

/// What queries see.
pub(crate) struct View<'a> {
    pub(crate) tracker: &'a JobTracker,
    pub(crate) tables: &'a Tables,
    /// On the clock that times of jobs are read from.
    pub(crate) now: Time,
}
