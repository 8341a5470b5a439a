//! Requirements under every policy: nothing starts where it may not, and nothing else waits for that.

use howdah_core::job::{JobConf, JobId, JobSpec, Priority, Requirements, WorkerId};
use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{by_name, names};
use howdah_core::time::Span;
use howdah_core::tracker::{Effect, Input};

use super::play::params;
use crate::kit::*;

#[test]
fn every_policy_gives_a_job_only_workers_that_meet_it_and_the_others_their_work() {
    for name in names() {
        let policy = by_name(name, &Params::new()).expect("a policy has defaults");
        let mut c = Cluster::made(|_| {}, policy).workers(3, 2, 0);
        c.tell(2, &[("gpu", "1")]);
        let (picky, plain) = (c.submit(job_for(6, &["gpu>=1"])), c.submit(job(6, 0)));
        let mut ended = Vec::new();
        for _ in 0..60 {
            c.advance(3_000);
            for worker in 0..3 {
                let running = c.running_on(worker);
                let wrong = running.iter().any(|attempt| attempt.job == picky && worker != 2);
                assert!(!wrong, "{name}: worker {worker} runs {running:?}");
                let next = |granted: bool| if granted { Succeeded } else { CommitPending };
                let granted = |attempt| c.puppets[worker as usize].grants.contains(attempt);
                let changes: Vec<_> = running.iter().map(|attempt| (*attempt, next(granted(attempt)))).collect();
                c.report(worker, &changes);
            }
            for effect in std::mem::take(&mut c.effects) {
                if let Effect::CommitJob { job } = effect {
                    ended.push(job);
                }
            }
        }
        ended.sort();
        assert_eq!(ended, [picky, plain], "{name}: both get through");
    }
}

/// What is said of a job that waits behind one that goes first under every policy and requires this, while a third job
/// has all slots.
fn behind(name: &str, pairs: &[(&str, &str)], requires: &[&str]) -> String {
    let policy = by_name(name, &params(pairs)).expect("a policy has defaults");
    let mut c = Cluster::made(|_| {}, policy).workers(1, 2, 0);
    let slots = if matches!(name, "sita" | "tags") { 1 } else { 2 };
    c.submit(job(slots, 0));
    // Some give one task a heartbeat.
    (0..2).for_each(|_| c.beat(0));
    assert_eq!(c.launches().len(), slots as usize, "{name}: all slots are taken, or its partition's");
    let mut first = JobSpec { user: "ann".into(), ..job_for(1, requires) };
    (first.priority, first.conf.deadline) = (Priority::VeryHigh, Some(Span::from_secs(60)));
    c.submit(first);
    let last = c.submit(JobSpec { user: "bob".into(), ..job(3, 0) });
    c.advance(3_000);
    c.beat(0);
    assert_eq!(c.launches(), [], "{name}");
    c.tracker.explain(last).to_string()
}

#[test]
fn a_job_that_no_worker_may_serve_is_nobodys_reason_to_wait() {
    let dialects = [("fifo", "1.2.1"), ("fifo", "0.20.2"), ("fair", "0.20.2")];
    let all = names().map(|name| (name, vec![]));
    for (name, pairs) in all.chain(dialects.map(|(name, dialect)| (name, vec![("dialect", dialect)]))) {
        let stands_behind = |said: &str| said.contains("job 2") || said.contains("before it");
        let said = behind(name, &pairs, &[]);
        assert!(stands_behind(&said), "{name} {pairs:?}: job 2 goes first, or the rest says nothing: {said}");
        let said = behind(name, &pairs, &["gpu"]);
        assert!(!stands_behind(&said), "{name} {pairs:?}: {said}");
        assert!(said.contains("taken"), "{name} {pairs:?}: {said}");
    }
}

#[test]
fn a_job_waits_behind_those_only_that_may_take_its_workers() {
    let mut c = Cluster::new().workers(2, 1, 0);
    c.submit(job(2, 0));
    (0..2).for_each(|worker| c.beat(worker));
    c.submit(job_for(1, &["name=w0"]));
    let (third, other) = (c.submit(job_for(1, &["host!=h7"])), c.submit(job_with(1, 0, heavy(&[]))));
    c.submit(job(1, 0));
    let said = |c: &Cluster, job: u32| c.tracker.explain(JobId(job)).to_string();
    assert_eq!(said(&c, third.0), "It is behind job 2, which still has maps waiting.", "they share w0");
    assert_eq!(said(&c, other.0), "Each of its maps takes 2 slots, more than any live worker has.");
    assert_eq!(
        said(&c, 5),
        "It is behind 2 jobs with maps waiting; the first of them is job 2.",
        "job 4 holds up nobody"
    );
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: true }]);
    assert_eq!(said(&c, 5), "It is behind job 3, which still has maps waiting.", "job 2 waits for w0");
}

fn heavy(requires: &[&str]) -> impl FnOnce(&mut JobConf) {
    let requires = Requirements::parse(requires).expect("requirements");
    move |conf| (conf.slots_per_map, conf.requires) = (2, requires)
}

#[test]
fn capacity_keeps_no_worker_for_a_large_task_that_may_not_run_there() {
    let policy = by_name("capacity", &params(&[])).expect("it exists");
    let mut c = Cluster::made(|_| {}, policy).workers(2, 2, 0);
    c.tell(1, &[("gpu", "1")]);
    c.submit(job(2, 0));
    (0..2).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches().len(), 2, "one far map a heartbeat");
    let large = c.submit(job_with(2, 0, heavy(&["gpu"])));
    (0..2).for_each(|worker| c.beat(worker));
    let reserved = |c: &Cluster, worker: usize| c.state().workers()[worker].reserved(howdah_core::job::TaskKind::Map);
    assert_eq!((reserved(&c, 0), reserved(&c, 1)), (None, Some(large)));
    c.tell(1, &[]);
    (0..2).for_each(|worker| c.beat(worker));
    assert_eq!((reserved(&c, 0), reserved(&c, 1)), (None::<JobId>, None), "kept in vain no longer");
}
