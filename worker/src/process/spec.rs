//! From a job's file to what one attempt needs of it.

use howdah_core::job::{AttemptId, JobFile, OutputFormat, TaskKind};
use howdah_task::umbilical::TaskSpec;

use super::assignment::{Assignment, ProcessContext};

/// Whether an attempt must ask before its output moves into place.
pub(super) fn asks_commit(job: &JobFile, attempt: AttemptId) -> bool {
    let writes_output = attempt.kind == TaskKind::Reduce || job.spec.n_reduces == 0;
    job.spec.conf.commits_output && writes_output && matches!(job.output, OutputFormat::Files { .. })
}

/// The attempt's part of the job.
pub(super) fn task_spec(context: &ProcessContext, assignment: &Assignment) -> TaskSpec {
    let Assignment { cluster, attempt, job } = assignment;
    TaskSpec {
        job: job.id.clone(),
        attempt: cluster.attempt(*attempt),
        kind: attempt.kind,
        index: attempt.index,
        number: attempt.number,
        app: job.app.clone(),
        properties: job.properties.clone(),
        n_maps: job.spec.n_maps,
        n_reduces: job.spec.n_reduces,
        input_format: job.input_format.clone(),
        split: (attempt.kind == TaskKind::Map).then(|| job.splits.get(attempt.index as usize).cloned()).flatten(),
        output: job.output.clone(),
        marked: job.marked,
        asks_commit: asks_commit(job, *attempt),
        local_dir: context.directory.local(*cluster, *attempt),
        token: job.token.clone(),
        worker_name: context.worker_name.clone(),
        log_dir: Some(context.logs.live(*cluster, *attempt)),
    }
}
