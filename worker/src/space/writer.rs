//! What a process of an attempt is to whoever watches the disk.

use std::fmt::Debug;

use howdah_core::job::{AttemptId, ClusterId};

/// Whoever writes: the process of an attempt.
pub(crate) trait Writer: Debug + Send + Sync {
    /// The attempt that it runs; `None` before it was started and when it is gone.
    fn current(&self) -> Option<(ClusterId, AttemptId)>;

    /// Ends it, and its attempt has failed for this reason.
    fn fail(&self, reason: String);
}
