//! Jobs that move to another queue while they run, under every policy to which queues mean something.

use howdah_core::job::{JobSpec, TaskKind};
use howdah_core::schedulers::{Scheduler, by_name};
use howdah_core::tracker::{Effect, Input, Rejection};

use crate::kit::*;
use crate::play::params;

/// Queues `a` and `b` that may both use all slots.
const FREE: &str = "[defaults]\nuser_limit_factor = 1000\n[queues.a]\ncapacity = 50\n[queues.b]\ncapacity = 50\n";
/// Parameters.
type Pairs = &'static [(&'static str, &'static str)];
const POLICIES: [(&str, Pairs); 5] = [
    ("fair", &[("poolnameproperty", "queue")]),
    ("fair", &[("poolnameproperty", "queue"), ("locality.delay", "0"), ("update.interval", "0")]),
    ("fair", &[("poolnameproperty", "queue"), ("dialect", "0.20.2"), ("assignmultiple", "true")]),
    ("capacity", &[("allocations", FREE)]),
    ("balanced-pools", &[("pools", "a:3+1,b:3+1")]),
];

fn policy(name: &str, pairs: &[(&str, &str)]) -> Box<dyn Scheduler> {
    by_name(name, &params(pairs)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn of(queue: &str, maps: u32, reduces: u32) -> JobSpec {
    let spec = job_with(maps, reduces, |conf| (conf.commits_output, conf.slowstart_ppm) = (false, 0));
    JobSpec { queue: queue.into(), ..spec }
}

fn to(job: howdah_core::job::JobId, queue: &str) -> Input {
    Input::SetQueue { job, queue: queue.into() }
}

/// Of queues with jobs: name, jobs, and running maps and reduces.
fn queues(c: &Cluster) -> Vec<(String, u32, [u32; 2])> {
    let list = c.tracker.scheduler().queues().list(c.state());
    let used = list.into_iter().filter(|view| view.jobs > 0 && view.name != "the rest");
    used.map(|view| (view.name, view.jobs, view.running)).collect()
}

fn finish(c: &mut Cluster) {
    for round in 0.. {
        if c.state().n_jobs() == 0 {
            return;
        }
        assert!(round < 200, "jobs never end");
        for worker in 0..2 {
            let ends: Vec<_> = c.running_on(worker).into_iter().map(|id| (id, Succeeded)).collect();
            c.report(worker, &ends);
            let done = c.take(|effect| if let Effect::CommitJob { job } = *effect { Some(job) } else { None });
            done.into_iter().for_each(|job| c.apply(&[Input::JobCommitted { job, ok: true }]));
        }
        c.advance(1_000);
    }
}

#[test]
fn a_job_that_moves_takes_along_what_it_runs_and_a_policy_that_takes_over_sees_the_same() {
    for (name, pairs) in POLICIES {
        let mut c = Cluster::made(|_| {}, policy(name, pairs)).workers(2, 3, 1);
        let moved = c.submit(of("a", 9, 1));
        c.submit(of("a", 2, 0));
        c.submit(of("b", 9, 1));
        for worker in [0, 1, 0, 1] {
            c.beat(worker);
        }
        let runs = |c: &Cluster, job| {
            TaskKind::ALL.map(|kind| c.state().job(job).expect("it is not over").tasks(kind).n_attempts())
        };
        let own = runs(&c, moved);
        assert!(own[0] > 0, "{name}: nothing runs");
        let before = queues(&c);
        assert_eq!(
            before.iter().map(|(queue, jobs, _)| (queue.as_str(), *jobs)).collect::<Vec<_>>(),
            [("a", 2), ("b", 1)]
        );
        c.apply(&[to(moved, "b")]);
        assert_eq!(c.state().job(moved).expect("it is there").spec().queue, "b");
        let expected =
            [("a", 1, [0, 1].map(|k| before[0].2[k] - own[k])), ("b", 2, [0, 1].map(|k| before[1].2[k] + own[k]))];
        let expected = expected.map(|(queue, jobs, running)| (queue.to_owned(), jobs, running));
        assert_eq!(queues(&c), expected, "{name} {pairs:?}");
        assert_eq!(runs(&c, moved), own, "{name}: what runs goes on");
        let mut other = c.fork();
        other.tracker.switch_scheduler(policy(name, pairs));
        assert_eq!(queues(&other), expected, "{name} {pairs:?}");
        // Back, to where it is, and what never was or is over.
        c.apply(&[to(moved, "a"), to(moved, "a")]);
        assert_eq!(queues(&c), before, "{name} {pairs:?}");
        c.apply(&[to(howdah_core::job::JobId(77), "b")]);
        let refused =
            c.take(|effect| matches!(effect, Effect::Rejected { why: Rejection::UnknownJob(_), .. }).then_some(()));
        assert_eq!(refused.len(), 1, "{name}");
        c.apply(&[to(moved, "b")]);
        finish(&mut c);
        assert_eq!(queues(&c), [], "{name} {pairs:?}");
        finish(&mut other);
    }
}

#[test]
fn a_job_that_waits_for_its_queue_starts_at_once_in_one_that_has_room() {
    for (name, pairs) in [
        ("balanced-pools", &[("pools", "a:1+0,b:2+0")][..]),
        ("fair", &[("poolnameproperty", "queue"), ("allocations", "[pool.a]\nmaxMaps = 1\n"), ("locality.delay", "0")]),
        (
            "capacity",
            &[("allocations", "[queues.a]\ncapacity = 25\nmaximum_capacity = 25\n[queues.b]\ncapacity = 75\n")],
        ),
    ] {
        let mut c = Cluster::made(|_| {}, policy(name, pairs)).workers(1, 4, 0).parking();
        let job = c.submit(of("a", 4, 0));
        (0..3).for_each(|_| c.beat(0));
        assert_eq!(c.launches().len(), 1, "{name}: the queue's slot");
        c.apply(&[to(job, "b")]);
        c.advance(600);
        assert!(!c.launches().is_empty(), "{name}: there is room");
    }
}

/// In the order of queues by what they use, a job counts where it is.
#[test]
fn a_queue_whose_job_left_is_served_first() {
    let file = format!("maximum_offswitch_per_heartbeat = 100\n{FREE}");
    let mut c = Cluster::made(|_| {}, policy("capacity", &[("allocations", &file)])).workers(2, 4, 0);
    let first = c.submit(of("a", 4, 0));
    c.beat(0);
    assert_eq!(c.launches().len(), 4);
    let (second, third) = (c.submit(of("a", 4, 0)), c.submit(of("b", 4, 0)));
    let mut stays = c.fork();
    stays.beat(1);
    let of_second = |c: &mut Cluster| c.launches().iter().filter(|(_, attempt)| attempt.job == second).count();
    assert_eq!(of_second(&mut stays), 0, "`a` has its half: job {third:?} of `b` is first");
    c.apply(&[to(first, "b")]);
    c.beat(1);
    assert_eq!(of_second(&mut c), 4, "now `b` has its half");
}
