//! Which job of one run is which of another, and a trace of one run's jobs with another's durations.

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, Trace, TraceCluster};

use super::kind::Kind;

/// Two runs that are not of one workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "job {id} (`{name}`, {maps} maps, {reduces} reduces) of `{measured}`: no job like it in `{profile}`, expected runs \
     of the same workload"
)]
pub struct PairError {
    /// Printed id of the job without a partner.
    pub id: String,
    pub name: String,
    pub maps: u32,
    pub reduces: u32,
    /// Where it comes from.
    pub measured: String,
    /// Where it was looked for.
    pub profile: String,
}

/// What makes two jobs of two runs the same: jobs of one kind are told apart by their order.
type Key<'a> = (&'a str, u32, u32);

fn key(job: &JobTemplate) -> Key<'_> {
    (&job.name, job.n_maps, job.n_reduces)
}

/// The outcome of a job that succeeded and that another run has no like of: it takes its slots in simulations, with its own
/// durations, and is compared with nothing.
const ALONE: &str = "SUCCEEDED ALONE";

/// Each run, with those jobs set apart that not every other run has as well, as often as the run that has them least often:
/// see [`is_alone`]. Jobs that did not succeed stay as they are: they are paired with nothing.
pub fn in_common(runs: &[&Trace]) -> Vec<Trace> {
    let counts = runs.iter().map(|run| {
        let mut counts: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        run.jobs.iter().filter(|job| succeeded(job)).for_each(|job| *counts.entry(key(job)).or_default() += 1);
        counts
    });
    let least = counts.reduce(|least, counts| {
        let both = least.into_iter().filter_map(|(key, n)| Some((key, n.min(*counts.get(&key)?))));
        both.collect()
    });
    let least = least.unwrap_or_default();
    let kept = |run: &&Trace| {
        let mut taken: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        let mut jobs = Vec::new();
        for job in &run.jobs {
            let place = taken.entry(key(job)).or_default();
            *place += usize::from(succeeded(job));
            let has_like = !succeeded(job) || least.get(&key(job)).is_some_and(|n| *place <= *n);
            let outcome = if has_like { job.outcome.clone() } else { ALONE.to_owned() };
            jobs.push(JobTemplate { outcome, ..job.clone() });
        }
        Trace { jobs, ..run.header() }
    };
    runs.iter().map(kept).collect()
}

/// Whether [`in_common`] set a job apart.
pub fn is_alone(job: &JobTemplate) -> bool {
    job.outcome == ALONE
}

/// The jobs of `measured`, as they came, with the durations of the same jobs in `profile`; those that are alone with their own.
///
/// # Errors
/// When a job has no partner.
pub fn predictor(profile: &Trace, measured: &Trace) -> Result<Trace, PairError> {
    let mut pairs = partners(profile, measured)?.into_iter();
    let jobs = measured.jobs.iter().filter_map(|job| match is_alone(job) {
        true => Some(job.clone()),
        false if succeeded(job) => pairs.next().map(|(job, partner)| with_durations_of(job, partner)),
        false => None,
    });
    Ok(Trace { jobs: jobs.collect(), ..measured.header() })
}

/// The jobs of `measured` that succeeded, as they came, each with the same job of `profile`.
///
/// # Errors
/// When a job has no partner.
pub(super) fn partners<'a>(
    profile: &'a Trace,
    measured: &'a Trace,
) -> Result<Vec<(&'a JobTemplate, &'a JobTemplate)>, PairError> {
    let mut known: BTreeMap<Key<'_>, Vec<&JobTemplate>> = BTreeMap::new();
    for job in profile.jobs.iter().filter(|job| succeeded(job)) {
        known.entry(key(job)).or_default().push(job);
    }
    let mut taken: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let pair = |job: &'a JobTemplate| {
        let nth = taken.entry(key(job)).or_default();
        let partner = known.get(&key(job)).and_then(|partners| partners.get(*nth));
        *nth += 1;
        let partner = partner.ok_or_else(|| PairError {
            id: job.id.clone(),
            name: job.name.clone(),
            maps: job.n_maps,
            reduces: job.n_reduces,
            measured: measured.source.clone(),
            profile: profile.source.clone(),
        })?;
        Ok((job, *partner))
    };
    measured.jobs.iter().filter(|job| succeeded(job)).map(pair).collect()
}

fn with_durations_of(job: &JobTemplate, partner: &JobTemplate) -> JobTemplate {
    JobTemplate {
        map_ms: partner.map_ms.clone(),
        first_shuffle_ms: partner.first_shuffle_ms.clone(),
        typical_shuffle_ms: partner.typical_shuffle_ms.clone(),
        reduce_ms: partner.reduce_ms.clone(),
        commit_ms: partner.commit_ms,
        // What went wrong in one run is no part of what its jobs are.
        lost_attempts: Vec::new(),
        ..job.clone()
    }
}

/// Whether the job's durations are all there.
pub(super) fn succeeded(job: &JobTemplate) -> bool {
    job.outcome == "SUCCEEDED"
}

/// What `profile` is to `measured`, two different runs: same shape and policy, or not.
pub fn kind(profile: &Trace, measured: &Trace) -> Kind {
    let shape = |trace: &Trace| trace.cluster.as_ref().map(shape);
    if shape(profile) == shape(measured) { Kind::CrossRun } else { Kind::CrossShape }
}

/// Policy and slots, without names: workers are alike whatever they are called.
fn shape(cluster: &TraceCluster) -> (String, BTreeMap<String, String>, Vec<(u16, u16)>) {
    let mut slots: Vec<_> = cluster.workers.iter().map(|worker| (worker.map_slots, worker.reduce_slots)).collect();
    slots.sort_unstable();
    (cluster.scheduler.clone(), cluster.scheduler_params.clone(), slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::job::profile::TraceWorker;

    fn job(id: &str, name: &str, n_maps: u32, map_ms: u64) -> JobTemplate {
        JobTemplate {
            id: id.to_owned(),
            name: name.to_owned(),
            n_maps,
            map_ms: vec![map_ms],
            outcome: "SUCCEEDED".to_owned(),
            ..JobTemplate::default()
        }
    }

    fn run(source: &str, jobs: Vec<JobTemplate>) -> Trace {
        Trace { source: source.to_owned(), jobs, ..Trace::default() }
    }

    #[test]
    fn jobs_keep_their_order_and_arrival_and_get_the_other_runs_durations() {
        let profile = run("a", vec![job("1", "grep", 4, 10), job("2", "sort", 4, 20), job("3", "grep", 4, 30)]);
        let mut first = job("7", "sort", 4, 1);
        first.submit_ms = 5;
        let measured = run("b", vec![first, job("8", "grep", 4, 2), job("9", "grep", 4, 3)]);
        let trace = predictor(&profile, &measured).expect("the same workload");
        let got: Vec<_> = trace.jobs.iter().map(|job| (&job.id[..], job.submit_ms, job.map_ms[0])).collect();
        assert_eq!(got, [("7", 5, 20), ("8", 0, 10), ("9", 0, 30)]);
    }

    #[test]
    fn what_one_of_several_runs_has_not_is_compared_with_nothing_and_takes_its_own_time() {
        let one = run("a", vec![job("1", "grep", 4, 10), job("2", "sort", 4, 20), job("3", "grep", 4, 30)]);
        let two = run("b", vec![job("5", "sort", 4, 1), job("6", "grep", 4, 2), job("7", "join", 1, 3)]);
        let common = in_common(&[&one, &two, &two]);
        let ids = |run: &Trace| {
            let paired = run.jobs.iter().filter(|job| !is_alone(job));
            paired.map(|job| job.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(common.iter().map(ids).collect::<Vec<_>>(), [["1", "2"], ["5", "6"], ["5", "6"]]);
        let trace = predictor(&common[0], &common[1]).expect("each has its like");
        let got: Vec<_> = trace.jobs.iter().map(|job| (&job.id[..], job.map_ms[0])).collect();
        assert_eq!(got, [("5", 20), ("6", 10), ("7", 3)]);
        assert!(in_common(&[&one, &run("c", Vec::new())])[0].jobs.iter().all(is_alone));
    }

    #[test]
    fn a_job_without_a_partner_is_an_error_that_names_it() {
        let profile = run("a", vec![job("1", "grep", 4, 10)]);
        let measured = run("b", vec![job("7", "grep", 5, 1)]);
        let error = predictor(&profile, &measured).expect_err("another size").to_string();
        assert!(error.contains("job 7 (`grep`, 5 maps, 0 reduces) of `b`"), "{error}");
    }

    #[test]
    fn a_failed_job_has_no_durations_to_give_or_take() {
        let mut failed = job("1", "grep", 4, 10);
        failed.outcome = "FAILED".to_owned();
        let trace = predictor(&run("a", vec![failed.clone(), job("2", "grep", 4, 20)]), &run("b", vec![failed]));
        assert_eq!(trace.expect("nothing to pair").jobs, []);
    }

    #[test]
    fn workers_of_other_names_are_the_same_shape_and_other_slots_or_policies_are_not() {
        let cluster = |scheduler: &str, slots: &[(u16, u16)], prefix: &str| {
            let workers = slots.iter().enumerate().map(|(n, &(map_slots, reduce_slots))| TraceWorker {
                name: format!("{prefix}{n}"),
                map_slots,
                reduce_slots,
                ..TraceWorker::default()
            });
            let cluster =
                TraceCluster { scheduler: scheduler.to_owned(), workers: workers.collect(), ..TraceCluster::default() };
            Trace { cluster: Some(cluster), ..Trace::default() }
        };
        let base = cluster("fifo", &[(2, 1), (1, 1)], "a");
        assert_eq!(kind(&base, &cluster("fifo", &[(1, 1), (2, 1)], "b")), Kind::CrossRun);
        assert_eq!(kind(&base, &cluster("fifo", &[(2, 1)], "a")), Kind::CrossShape);
        assert_eq!(kind(&base, &cluster("fair", &[(2, 1), (1, 1)], "a")), Kind::CrossShape);
    }
}
