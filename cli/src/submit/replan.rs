//! A batch that is submitted while an earlier one runs: what is left of the earlier jobs is planned with the new ones.
//!
//! The master tells which of the earlier jobs' tasks are over, which run and since when; their profiles tell how long the
//! rest takes. The new plan's pools are applied to the earlier jobs by the parameter `moved` of `balanced-pools`, with
//! one switch of the scheduler, which the recording has. What runs goes on and counts in its job's new pool. Source:
//! balanced-pools §6. `Deviation:` what runs is taken to need its job's mean time, and within its pool an earlier job
//! keeps the place that all of it has in Johnson's order.

use std::collections::BTreeMap;

use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{ClusterId, JobProfile, PhaseTimes};
use howdah_core::schedulers::BalancedPools;
use howdah_planning::optimize::Plan;
use howdah_proto::v1::{
    AttemptInfo, GetClusterResponse, GetJobResponse, JobStatus, ListJobsRequest, SetSchedulerRequest,
};

use crate::client::{Client, is_final};
use crate::failure::Outcome;
use crate::job::view::at_master;
use crate::optimize::write::queue;

/// The policy's parameter for jobs in other pools than their own, and the one for pools that stay.
const MOVED: &str = "moved";
const POOLS: &str = "pools";

/// A job of an earlier batch that is not over.
#[derive(Clone, Debug)]
pub(super) struct Earlier {
    /// As printed.
    pub(super) job: String,
    number: u32,
    /// What is left of it.
    pub(super) rest: JobTemplate,
}

/// The jobs of earlier batches that a new plan may move: those in pools of their own whose profile is known, under a
/// policy without pools that stay.
pub(super) async fn earlier(client: &mut Client, cluster: &GetClusterResponse) -> Outcome<Vec<Earlier>> {
    let mut found = Vec::new();
    if cluster.scheduler != "balanced-pools" || cluster.scheduler_params.contains_key(POOLS) {
        return Ok(found);
    }
    let listed = client.rpc.list_jobs(ListJobsRequest {}).await?.into_inner().jobs;
    let in_own_pool = |status: &&JobStatus| BalancedPools::slots_in(&status.queue).is_some();
    for status in listed.iter().filter(|status| !is_final(&status.state)).filter(in_own_pool) {
        let answer = client.job(&status.job).await?;
        let number = ClusterId(cluster.cluster_id).parse_job(&status.job).ok().map(|job| job.0);
        let (Some(number), Some(rest)) = (number, rest(&answer, at_master(answer.now_ms_epoch))) else { continue };
        found.push(Earlier { job: status.job.clone(), number, rest });
    }
    Ok(found)
}

/// The earlier jobs' pools in a plan in which they come first, by job as printed.
pub(super) fn pools(earlier: &[Earlier], plan: &Plan) -> Vec<(String, String)> {
    let places = plan.submissions().into_iter().filter(|&(_, job)| job < earlier.len());
    let mut pools: Vec<(usize, String)> = places.map(|(pool, job)| (job, queue(plan, pool))).collect();
    pools.sort_unstable();
    pools.into_iter().map(|(job, queue)| (earlier[job].job.clone(), queue)).collect()
}

/// Puts the earlier jobs into their new pools.
pub(super) async fn apply(
    client: &mut Client,
    cluster: &GetClusterResponse,
    earlier: &[Earlier],
    plan: &Plan,
) -> Outcome<()> {
    if earlier.is_empty() {
        return Ok(());
    }
    let numbers: BTreeMap<&str, u32> = earlier.iter().map(|one| (one.job.as_str(), one.number)).collect();
    let moved = pools(earlier, plan);
    let moved = moved.iter().map(|(job, queue)| format!("{}={queue}", numbers[job.as_str()]));
    let mut params = cluster.scheduler_params.clone();
    params.insert(MOVED.to_owned(), moved.collect::<Vec<_>>().join(";"));
    client.rpc.set_scheduler(SetSchedulerRequest { name: cluster.scheduler.clone(), params }).await?;
    Ok(())
}

/// What is left of a job at an instant; `None` if nothing is, or if its times are not known.
fn rest(answer: &GetJobResponse, now_ms: u64) -> Option<JobTemplate> {
    let status = answer.status.as_ref()?;
    let profile: JobProfile = serde_json::from_str(&answer.profile_json).ok()?;
    let maps_left = status.n_maps.saturating_sub(status.maps_done) as usize;
    let reduces_left = status.n_reduces.saturating_sub(status.reduces_done) as usize;
    if maps_left + reduces_left == 0 {
        return None;
    }
    let times = |phase: PhaseTimes| phase.avg.as_us().div_ceil(1_000);
    let under_way = |kind: &str, whole_ms: u64, from_ms: u64, most: usize| -> Vec<u64> {
        let ran = running(&answer.attempts, kind, from_ms).into_values();
        ran.map(|since| whole_ms.saturating_sub(now_ms.saturating_sub(since)).max(1)).take(most).collect()
    };
    let fill = |mut list: Vec<u64>, whole_ms: u64, n: usize| {
        list.resize(n, whole_ms);
        list
    };
    let maps = under_way("_m_", times(profile.map), 0, maps_left);
    let (first, typical, reduce) =
        (times(profile.first_shuffle), times(profile.typical_shuffle), times(profile.reduce));
    // A reduce that waits for maps has lost nothing but its place.
    let reduces = match maps_left {
        0 => under_way("_r_", typical + reduce, status.maps_done_ms_epoch, reduces_left),
        _ => Vec::new(),
    };
    let n_under_way = reduces.len();
    Some(JobTemplate {
        name: status.name.clone(),
        n_maps: maps_left as u32,
        n_reduces: reduces_left as u32,
        map_ms: fill(maps, times(profile.map), maps_left),
        first_shuffle_ms: fill(vec![0; n_under_way], first, reduces_left),
        typical_shuffle_ms: fill(vec![0; n_under_way], typical, reduces_left),
        reduce_ms: fill(reduces, reduce, reduces_left),
        ..JobTemplate::default()
    })
}

/// Tasks of a kind with a running attempt, and since when the first of these runs, but not before an instant.
fn running(attempts: &[AttemptInfo], kind: &str, from_ms: u64) -> BTreeMap<String, u64> {
    let mut tasks = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.task.contains(kind) && !is_final(&attempt.state)) {
        let since = attempt.assigned_ms_epoch.max(from_ms);
        let first: &mut u64 = tasks.entry(attempt.task.clone()).or_insert(since);
        *first = since.min(*first);
    }
    tasks
}

#[cfg(test)]
mod tests {
    use howdah_core::time::Span;

    use super::*;

    fn attempt(task: &str, state: &str, assigned_ms_epoch: u64) -> AttemptInfo {
        AttemptInfo { task: task.to_owned(), state: state.to_owned(), assigned_ms_epoch, ..AttemptInfo::default() }
    }

    fn answer(maps_done: u32, reduces_done: u32, attempts: Vec<AttemptInfo>) -> GetJobResponse {
        let even = |s: u64| PhaseTimes::even(Span::from_secs(s));
        let profile = JobProfile { map: even(10), first_shuffle: even(1), typical_shuffle: even(2), reduce: even(5) };
        let status = JobStatus {
            name: "sort".to_owned(),
            state: "RUNNING".to_owned(),
            n_maps: 4,
            n_reduces: 2,
            maps_done,
            reduces_done,
            maps_done_ms_epoch: 100_000,
            ..JobStatus::default()
        };
        let profile_json = serde_json::to_string(&profile).expect("plain");
        GetJobResponse { status: Some(status), attempts, profile_json, ..GetJobResponse::default() }
    }

    // balanced-pools §6: what runs has the rest of its time left, and comes first.
    #[test]
    fn what_is_left_of_a_job_is_what_runs_and_what_waits() {
        let maps = vec![
            attempt("task_1_0001_m_000000", "SUCCEEDED", 0),
            attempt("task_1_0001_m_000001", "RUNNING", 7_000),
            // A speculative attempt does not make the task longer.
            attempt("task_1_0001_m_000001", "RUNNING", 9_000),
            attempt("task_1_0001_r_000000", "RUNNING", 5_000),
        ];
        let rest_of = |answer: &GetJobResponse, now| rest(answer, now).expect("something is left");
        let left = rest_of(&answer(1, 0, maps), 11_000);
        assert_eq!((left.n_maps, left.map_ms), (3, vec![6_000, 10_000, 10_000]));
        assert_eq!((left.n_reduces, left.reduce_ms), (2, vec![5_000, 5_000]));
        assert_eq!((left.first_shuffle_ms, left.typical_shuffle_ms), (vec![1_000; 2], vec![2_000; 2]));
        // Behind the maps it needs two and five seconds, of which four are over.
        let left = rest_of(&answer(4, 0, vec![attempt("task_1_0001_r_000000", "RUNNING", 5_000)]), 104_000);
        assert_eq!((left.n_maps, left.map_ms.len(), left.reduce_ms), (0, 0, vec![3_000, 5_000]));
        assert_eq!((left.first_shuffle_ms, left.typical_shuffle_ms), (vec![0, 1_000], vec![0, 2_000]));
        assert!(rest(&answer(4, 2, Vec::new()), 0).is_none(), "it only commits");
        let unknown = GetJobResponse { profile_json: String::new(), ..answer(0, 0, Vec::new()) };
        assert!(rest(&unknown, 0).is_none());
    }

    #[test]
    fn pools_of_batches_are_known_by_their_names() {
        let is_pool = |queue| BalancedPools::slots_in(queue).is_some();
        assert!(is_pool("pool-1:3+3") && is_pool("a:b:0+61"));
        assert!(!is_pool("default") && !is_pool("pool-1") && !is_pool("a:3") && !is_pool("a:3+"));
    }
}
