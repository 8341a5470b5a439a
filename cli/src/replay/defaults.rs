//! What a simulated worker has where nothing else is said.

/// Slots of each kind of a worker where nothing says otherwise: Hadoop's default.
pub(super) const PER_WORKER: u16 = 2;

pub(super) const DEFAULT_RACK: &str = "/default-rack";
