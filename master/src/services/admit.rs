//! What the scheduler in charge says of a job before it enters the core.

use std::collections::BTreeMap;

use howdah_core::job::JobSpec;
use howdah_core::schedulers::{Scheduler, orders_by_deadline};
use tonic::Status;

use super::room::Room;
use super::status::with_help;
use crate::config::Limits;
use crate::engine::View;

/// The answer, and the job as it enters.
pub(super) struct Admitted {
    pub(super) spec: JobSpec,
    /// `None` where the answer depends on others of its group: it is to ask again when they are in.
    pub(super) accepted: Option<Result<(), Status>>,
    /// What the scheduler promises and the cluster has not now.
    pub(super) warning: Option<String>,
}

/// Asks for jobs that are to enter together, of which there is room for some.
pub(super) fn admit_group(
    asked: Vec<(JobSpec, BTreeMap<String, String>)>,
    queue_names: &[String],
    limits: &Limits,
    view: &View<'_>,
) -> Vec<Admitted> {
    let (queues, warning) = (view.tracker.scheduler().queues(), doubt(view));
    let mut room = Room::new(limits, view.tables);
    let mut entering: BTreeMap<String, u64> = BTreeMap::new();
    let mut one = |(spec, properties): (JobSpec, BTreeMap<String, String>)| {
        let (spec, accepted) = admit(spec, &properties, queue_names, view);
        let before = entering.entry(spec.queue.to_string()).or_default();
        let waits = accepted.is_ok() && *before > 0 && queues.room(&spec).is_some_and(|room| *before >= room);
        let accepted = match accepted {
            _ if waits => None,
            Ok(()) => Some(room.take(&spec.user)),
            Err(why) => Some(Err(Status::failed_precondition(why))),
        };
        *before += u64::from(matches!(accepted, Some(Ok(()))));
        Admitted { spec, accepted, warning: warning.clone() }
    };
    asked.into_iter().map(&mut one).collect()
}

/// Asks for a job with these properties; `queue_names` are the queues that there are under every scheduler. Gives the job
/// as it enters, too.
pub(super) fn admit(
    mut spec: JobSpec,
    properties: &BTreeMap<String, String>,
    queue_names: &[String],
    view: &View<'_>,
) -> (JobSpec, Result<(), String>) {
    let scheduler = view.tracker.scheduler();
    if spec.conf.pool.is_none()
        && let Some(key) = scheduler.queues().pool_property()
    {
        spec.conf.pool = pool(key, &spec, properties);
    }
    let accepted = takes(&spec, queue_names, scheduler);
    (spec, accepted)
}

/// Whether the scheduler takes such a job, and there is its queue.
fn takes(spec: &JobSpec, queue_names: &[String], scheduler: &dyn Scheduler) -> Result<(), String> {
    scheduler.queues().accepts(spec).and_then(|()| check_queue(&spec.queue, queue_names, scheduler))
}

/// Asks for a job that is to move to this queue, as of one that would enter there.
pub(super) fn may_move(job: &JobSpec, queue: &str, queue_names: &[String], view: &View<'_>) -> Result<(), String> {
    // Without its tables, which have a number for each map and say nothing of queues.
    let there = JobSpec {
        name: job.name.clone(),
        user: job.user.clone(),
        queue: queue.into(),
        priority: job.priority,
        n_maps: job.n_maps,
        n_reduces: job.n_reduces,
        conf: job.conf.clone(),
        ..JobSpec::default()
    };
    takes(&there, queue_names, view.tracker.scheduler())
}

/// All that people should know of the scheduler as it is with the cluster and its jobs as they are.
pub(super) fn doubts(view: &View<'_>) -> Vec<String> {
    doubt(view).into_iter().chain(no_deadline(view)).collect()
}

/// A policy that orders by deadlines, and jobs of which none has one.
fn no_deadline(view: &View<'_>) -> Option<String> {
    let name = view.tracker.scheduler().name();
    let mut jobs = view.tracker.state().jobs().peekable();
    let none = orders_by_deadline(name) && jobs.peek().is_some() && jobs.all(|job| job.spec().conf.deadline.is_none());
    none.then(|| {
        format!(
            "no job that is not over has a deadline: `{name}` serves them in order of submission; `howdah submit --deadline` \
             gives one"
        )
    })
}

/// What the scheduler promises and the cluster as it is has not.
pub(super) fn doubt(view: &View<'_>) -> Option<String> {
    let slots = view.tracker.state().totals().slots;
    view.tracker.scheduler().queues().validate_capacity(slots).err().map(|error| error.to_string())
}

/// A property's value; a job's name is one in Hadoop and stands apart here.
fn pool(key: &str, spec: &JobSpec, properties: &BTreeMap<String, String>) -> Option<String> {
    let value = match key {
        "mapred.job.name" | "mapreduce.job.name" => Some(spec.name.as_str()),
        _ => properties.get(key).map(String::as_str),
    };
    value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Refuses a queue that nobody knows, as Hadoop's QueueManager does whatever the scheduler.
///
/// `Deviation:` a scheduler to which queues mean something has the last word on them, as pools need not be declared.
fn check_queue(queue: &str, names: &[String], scheduler: &dyn Scheduler) -> Result<(), String> {
    if scheduler.capabilities().reads_queues || names.iter().any(|name| name == queue) {
        return Ok(());
    }
    let (known, name) = (names.join(", "), scheduler.name());
    let problem =
        format!("queue `{queue}` does not exist: scheduler `{name}` has no queues of its own, expected {known}");
    Err(with_help(problem, "`queue_names` of [master] lists all queues, as Hadoop's mapred.queue.names does"))
}

#[cfg(test)]
mod tests {
    use howdah_core::schedulers::by_name;

    use super::*;

    // docs/hadoop.md#properties: mapred.queue.names is `default` unless set.
    #[test]
    fn a_queue_that_nobody_knows_is_refused_where_the_scheduler_has_none() {
        let params = |pairs: &[(&str, &str)]| pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let names = ["default".to_owned(), "etl".to_owned()];
        let ask = |queue: &str, name: &str, pairs: &[(&str, &str)]| {
            check_queue(queue, &names, &*by_name(name, &params(pairs)).unwrap())
        };
        let refused = ask("nightly", "fifo", &[]).unwrap_err();
        assert_eq!(
            refused,
            "queue `nightly` does not exist: scheduler `fifo` has no queues of its own, expected default, etl\n\
             help: `queue_names` of [master] lists all queues, as Hadoop's mapred.queue.names does"
        );
        assert!(ask("nightly", "fair", &[]).is_err(), "pools of users");
        assert_eq!(ask("nightly", "fair", &[("poolnameproperty", "queue")]), Ok(()));
        assert_eq!(ask("pool-1:3+3", "balanced-pools", &[]), Ok(()));
        for name in ["fifo", "fair", "minedf", "fbq"] {
            assert_eq!((ask("etl", name, &[]), ask("default", name, &[])), (Ok(()), Ok(())));
        }
    }

    #[test]
    fn a_pool_comes_from_any_property_and_from_the_name() {
        let properties =
            BTreeMap::from([("team".to_owned(), " red ".to_owned()), ("empty".to_owned(), " ".to_owned())]);
        let spec = JobSpec { name: "sort".into(), ..JobSpec::default() };
        let of = |key| pool(key, &spec, &properties);
        assert_eq!((of("team").as_deref(), of("mapred.job.name").as_deref()), (Some("red"), Some("sort")));
        assert_eq!((of("empty"), of("other")), (None, None));
    }
}
