//! What is read ahead and retained: parts of files, and for which jobs.

use howdah_core::job::Split;
use howdah_proto::v1;

/// Part of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// Part of a file that a map of a job reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) job: u32,
    pub(super) place: Place,
}

impl Range {
    /// What a map of a job reads of this machine's file systems; `None` of generated input and of an HDFS.
    pub(super) fn of(job: u32, split: &Split) -> Option<Range> {
        let Split::File { path, offset, length, .. } = split else { return None };
        if !path.starts_with('/') {
            return None;
        }
        Some(Range { job, place: Place { path: path.clone(), offset: *offset, length: *length } })
    }
}

impl From<v1::SplitRange> for Range {
    fn from(range: v1::SplitRange) -> Range {
        let v1::SplitRange { job, path, offset, length } = range;
        Range { job, place: Place { path, offset, length } }
    }
}
