//! Directories of an attempt in a process that has run others.

use std::fs;

use howdah_core::job::AttemptId;

use super::assignment::{Assignment, ProcessContext};
use crate::plain;

/// Directories for an attempt in a process that exists. Its standard streams stay what they were, so these files
/// are the ones of the attempt before.
pub(super) fn prepare_reused(context: &ProcessContext, before: AttemptId, assignment: &Assignment) {
    let directory = &context.directory;
    let (cluster, attempt) = (assignment.cluster, assignment.attempt);
    let (old, new) = (directory.logs(cluster, before), directory.logs(cluster, attempt));
    // What cannot be made here is missed by the attempt, which then says so.
    let _ = directory.make_attempt(&directory.local(cluster, attempt));
    let _ = plain::make_dir(&new);
    for name in ["stdout", "stderr"] {
        let _ = fs::hard_link(old.join(name), new.join(name));
    }
}
