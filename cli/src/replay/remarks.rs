//! What one should know beside the answer of a replay: where it differs from what the trace tells, unasked.

use std::collections::BTreeSet;

use howdah_core::job::profile::Trace;
use howdah_core::replay::Deadlines;
use howdah_core::schedulers::orders_by_deadline;

use super::policy::Policy;
use crate::replay::args::{Faults, ReplayArgs};
use crate::trace_file;
use crate::units::{count, counted};

/// A line each.
pub(super) fn remarks(args: &ReplayArgs, trace: &Trace, policy: &Policy) -> Vec<String> {
    let all = [
        unread_queues(args, trace, policy),
        other_policy(args, trace, policy),
        mended_jobs(args, trace),
        no_deadline(args, trace, policy),
    ];
    all.into_iter().flatten().collect()
}

/// Under a policy without queues those that the trace names are only shown. Hadoop would refuse such jobs; a trace tells
/// what was, and is replayed under policies that it was not made for.
fn unread_queues(args: &ReplayArgs, trace: &Trace, policy: &Policy) -> Option<String> {
    let known = &policy.queue_names;
    let named = trace.jobs.iter().map(|job| job.queue.as_str()).filter(|name| !["", "default"].contains(name));
    let names: BTreeSet<&str> = named.filter(|name| known.iter().all(|known| known != name)).collect();
    let first = names.first().filter(|_| !policy.policy.capabilities().reads_queues)?;
    let others = match names.len() - 1 {
        0 => String::new(),
        n => format!(" and {}", counted(n as u64, "other")),
    };
    Some(format!(
        "warning: trace {}: queue `{first}`{others}: scheduler `{}` has no queues of its own and serves all jobs as of \
         `default`",
        trace_file::name_of(&args.trace),
        policy.policy.name()
    ))
}

/// A recorded run names its policy; a replay takes it only if it is asked to.
fn other_policy(args: &ReplayArgs, trace: &Trace, policy: &Policy) -> Option<String> {
    let recorded = trace.cluster.as_ref().map(|cluster| cluster.scheduler.as_str()).filter(|name| !name.is_empty())?;
    if policy.is_asked_for || recorded == policy.name {
        return None;
    }
    let name = trace_file::name_of(&args.trace);
    let taken = &policy.name;
    Some(format!("note: {name} was recorded under `{recorded}`; `{taken}` is simulated, as no `--scheduler` is named"))
}

/// A policy that orders by deadlines, and none to order by.
fn no_deadline(args: &ReplayArgs, trace: &Trace, policy: &Policy) -> Option<String> {
    let by_deadline = orders_by_deadline(&policy.name);
    let any = match args.load.deadlines {
        Deadlines::FromTrace => trace.jobs.iter().any(|job| job.deadline_ms.is_some()),
        Deadlines::Drop => false,
        Deadlines::Uniform { .. } => true,
    };
    (by_deadline && !any).then(|| {
        format!(
            "note: no job of {} has a deadline: `{}` serves them in order of submission; `--deadlines uniform:1.5` draws some",
            trace_file::name_of(&args.trace),
            policy.name
        )
    })
}

/// Jobs whose failure is not repeated.
fn mended_jobs(args: &ReplayArgs, trace: &Trace) -> Option<String> {
    let failed = trace.jobs.iter().filter(|job| ["FAILED", "KILLED"].contains(&job.outcome.as_str())).count() as u64;
    if failed == 0 || args.faults.faults == Faults::Trace {
        return None;
    }
    let name = trace_file::name_of(&args.trace);
    let jobs = counted(trace.jobs.len() as u64, "job");
    let n = count(failed);
    Some(format!(
        "note: {name}: {n} of {jobs} did not succeed where they ran, and do here; `--faults trace` repeats what failed"
    ))
}
