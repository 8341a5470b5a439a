//! Directories of an attempt in a process that has run others.

use std::fs;

use howdah_core::job::AttemptId;

use super::assignment::{Assignment, ProcessContext};
use crate::plain;

/// Directories for an attempt in a process that exists. The process's log files go on to it: what is in them was
/// collected for the attempts before.
pub(super) fn prepare_reused(context: &ProcessContext, before: AttemptId, assignment: &Assignment) {
    let (cluster, attempt) = (assignment.cluster, assignment.attempt);
    // What cannot be made here is missed by the attempt, which then says so.
    let _ = context.directory.make_attempt(&context.directory.local(cluster, attempt));
    let (old, new) = (context.logs.live(cluster, before), context.logs.live(cluster, attempt));
    // Something of a task's is in the way: the attempt's logs are then read when it is over.
    if fs::rename(old, &new).is_err() {
        let _ = plain::make_dir(&new);
    }
}
