//! Requirements under every policy: nothing starts where it may not, and nothing else waits for that.

use howdah_shared::job::{JobConf, JobId, Requirements};
use howdah_shared::schedulers::registry::Params;
use howdah_shared::schedulers::{by_name, names};
use howdah_shared::tracker::Effect;

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
    let reserved = |c: &Cluster, worker: usize| c.state().workers()[worker].reserved(howdah_shared::job::TaskKind::Map);
    assert_eq!((reserved(&c, 0), reserved(&c, 1)), (None, Some(large)));
    c.tell(1, &[]);
    (0..2).for_each(|worker| c.beat(worker));
    assert_eq!((reserved(&c, 0), reserved(&c, 1)), (None::<JobId>, None), "kept in vain no longer");
}
