//! Which input each worker will most likely need next, named with its next answer: the forecast's first starts of maps.
//!
//! A hint: it changes no decision, and a worker without memory for it gets none. Source: Wang et al., ICPADS 2013,
//! §IV-A.

use howdah_core::job::{Split, TaskKind};
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::TaskStart;
use howdah_proto::v1;

use crate::tables::Tables;

/// Ranges that one answer names at most.
const PER_WORKER: usize = 16;
/// Nothing is named that starts later: other forecasts come until then.
const AHEAD: Span = Span::from_secs(120);

/// Puts what a forecast made at `at` tells of starts, which are in order, into the rows of the workers that prefetch.
pub(super) fn name(tables: &mut Tables, at: Time, starts: &[TaskStart]) {
    let Tables { workers, jobs, .. } = tables;
    for row in workers.iter_mut() {
        row.prefetch.clear();
    }
    let soon = starts.iter().take_while(|start| start.at <= at + AHEAD);
    for start in soon.filter(|start| start.attempt.kind == TaskKind::Map) {
        let job = start.attempt.job;
        if let Some(row) = workers.get_mut(start.worker.0 as usize)
            && row.prefetch.len() < PER_WORKER
            && row.prefetches()
            && let Some(known) = jobs.get(&job)
            && let Some(Split::File { path, offset, length, .. }) =
                known.meta.file.splits.get(start.attempt.index as usize)
        {
            let range = v1::SplitRange { job: job.0, path: path.clone(), offset: *offset, length: *length };
            row.prefetch.push(range);
        }
    }
}
