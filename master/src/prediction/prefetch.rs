//! Which input each worker will most likely need next, named with its next answer: the forecast's first starts of maps, to be
//! read ahead, and later ones, so that what they will read again is retained.
//!
//! A hint: it changes no decision, and a worker without memory for it gets none. Source: Wang et al., ICPADS 2013,
//! §IV-A.

use howdah_core::job::TaskKind;
use howdah_core::time::{Span, Time};
use howdah_planning::prediction::TaskStart;
use howdah_proto::v1;

use crate::tables::{Range, Tables, WorkerRow};

/// Ranges that one answer names at most.
const PER_WORKER: usize = 16;
/// Ranges that one answer names as needed later, at most.
const LATER: usize = 64;
/// Nothing is read ahead for what starts later: other forecasts come until then.
const AHEAD: Span = Span::from_secs(120);

/// Puts what a forecast made at `at` tells of starts, which are in order, into the rows of the workers that prefetch.
pub(super) fn name(tables: &mut Tables, at: Time, starts: &[TaskStart]) {
    let Tables { workers, jobs, .. } = tables;
    for row in workers.iter_mut() {
        row.prefetch.clear();
        row.retain.clear();
    }
    for start in starts.iter().filter(|start| start.attempt.kind == TaskKind::Map) {
        let job = start.attempt.job;
        if let Some(row) = workers.get_mut(start.worker.0 as usize)
            && row.prefetches()
            && let Some(list) = list(row, start.at <= at + AHEAD)
            && let Some(known) = jobs.get(&job)
            && let Some(Range { path, offset, length }) = known.meta.inputs.get(start.attempt.index)
        {
            list.push(v1::SplitRange { job: job.0, path: path.to_owned(), offset, length });
        }
    }
}

/// Where a start of a worker belongs, if there is room for it.
fn list(row: &mut WorkerRow, soon: bool) -> Option<&mut Vec<v1::SplitRange>> {
    if soon && row.prefetch.len() < PER_WORKER {
        return Some(&mut row.prefetch);
    }
    (row.retain.len() < LATER).then_some(&mut row.retain)
}
