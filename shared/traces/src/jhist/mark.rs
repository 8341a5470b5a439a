//! The line that a history file begins with.

/// First line of the events.
pub(super) const MARK: &str = "Avro-Json";
