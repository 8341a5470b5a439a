//! What holds for the Fair scheduler whatever the workload: limits, work for every slot, no starvation, weights, and
//! indexes that are what a policy that takes over would build.

use howdah_core::cluster::ClusterState;
use howdah_core::job::{AttemptId, JobId, JobSpec, Priority, SplitHosts, TaskKind, WorkerId};
use howdah_core::schedulers::by_name;
use howdah_core::schedulers::registry::Params;
use howdah_core::tracker::{Effect, Input};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::fair::maps;
use crate::kit::*;
use crate::play::params;

const POOLS: [&str; 4] = ["ann", "bob", "cat", "dan"];

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Submit { user: usize, maps: u32, reduces: u32, placed: bool, priority: usize },
    Beat { worker: u32 },
    End { worker: u32, which: Index, ok: bool },
    Prioritise { job: Index, priority: usize },
    Move { job: Index, pool: usize },
    Wait { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let submit = (0..4usize, 0..9u32, 0..4u32, any::<bool>(), 0..5usize);
    prop_oneof![
        2 => submit.prop_map(|(user, maps, reduces, placed, priority)| Step::Submit { user, maps, reduces, placed, priority }),
        4 => (0..4u32).prop_map(|worker| Step::Beat { worker }),
        4 => (0..4u32, any::<Index>(), 0..8u32).prop_map(|(worker, which, n)| Step::End { worker, which, ok: n > 0 }),
        1 => (any::<Index>(), 0..5usize).prop_map(|(job, priority)| Step::Prioritise { job, priority }),
        2 => select(vec![1u64, 100, 499, 500, 700, 3_000, 20_000]).prop_map(|ms| Step::Wait { ms }),
    ]
}

/// The same with jobs that move between pools, where those are queues.
fn step_or_move() -> impl Strategy<Value = Step> {
    prop_oneof![9 => step(), 1 => (any::<Index>(), 0..4usize).prop_map(|(job, pool)| Step::Move { job, pool })]
}

/// Pools with random weights, shares and limits; at least one slot and one job for everyone.
fn allocations() -> impl Strategy<Value = String> {
    let pool = (1..9u32, 0..4u32, prop::option::of(1..5u32), prop::option::of(1..3u32), any::<bool>());
    vec(pool, 4).prop_map(|pools| {
        let mut text = String::from("fairSharePreemptionTimeout = 30\ndefaultMinSharePreemptionTimeout = 10\n");
        for (name, (weight, min, max, jobs, fifo)) in POOLS.iter().zip(pools) {
            text += &format!("[pool.{name}]\nweight = {}.5\nminMaps = {min}\n", weight);
            max.into_iter().for_each(|max| text += &format!("maxMaps = {max}\nmaxReduces = {max}\n"));
            jobs.into_iter().for_each(|jobs| text += &format!("maxRunningJobs = {jobs}\n"));
            text += if fifo { "schedulingMode = \"fifo\"\n" } else { "" };
        }
        text
    })
}

fn dialects() -> impl Strategy<Value = Params> {
    select(vec![
        params(&[]),
        params(&[("update.interval", "0"), ("locality.delay", "0")]),
        params(&[("sizebasedweight", "true"), ("weightadjuster", "new-job"), ("locality.delay", "700")]),
        params(&[("update.interval", "0"), ("locality.delay", "5000"), ("locality.forecast", "true")]),
        params(&[("preemption", "true"), ("preemption.interval", "2000"), ("assignmultiple.maps", "1")]),
        params(&[("dialect", "0.20.2")]),
        params(&[("dialect", "0.20.2"), ("assignmultiple", "true"), ("sizebasedweight", "true")]),
        params(&[("dialect", "naive")]),
    ])
}

/// With the allocations, where the dialect has any.
fn with(mut params: Params, allocations: &str) -> Params {
    if params.get("dialect").is_none_or(|dialect| dialect != "naive") {
        params.insert("allocations".to_owned(), allocations.to_owned());
    }
    params
}

fn cluster(params: &Params) -> Cluster {
    let policy = by_name("fair", params).unwrap_or_else(|error| panic!("{error}"));
    Cluster::made(|_| {}, policy).workers(4, 2, 1)
}

fn spec(user: usize, maps: u32, reduces: u32, placed: bool, priority: usize) -> JobSpec {
    let mut spec = job_with(maps, reduces, |conf| {
        conf.commits_output = false;
        conf.max_map_attempts = 1_000;
        conf.max_reduce_attempts = 1_000;
    });
    (spec.user, spec.queue) = (POOLS[user].into(), POOLS[user].into());
    spec.priority = Priority::ALL[priority];
    if placed {
        spec.split_hosts = SplitHosts::new((0..maps).map(|map| [["h0", "h1", "h2", "elsewhere"][map as usize % 4]]));
    }
    spec
}

/// The input that the step gives the cluster.
fn take(c: &mut Cluster, step: &Step) {
    match *step {
        Step::Submit { user, maps, reduces, placed, priority } => {
            c.submit(spec(user, maps, reduces, placed, priority));
        }
        Step::Beat { worker } => c.beat(worker),
        Step::End { worker, ref which, ok } => {
            let on: Vec<AttemptId> = c.running_on(worker);
            if on.is_empty() {
                c.beat(worker);
            } else {
                let id = on[which.index(on.len())];
                let killed = c.puppets[worker as usize].kills.contains(&id);
                let state = if killed {
                    Killed
                } else if ok {
                    Succeeded
                } else {
                    Failed
                };
                c.report(worker, &[(id, state)]);
            }
        }
        Step::Prioritise { ref job, priority } => {
            let n = c.state().last_job();
            if n > 0 {
                let job = JobId(1 + job.index(n as usize) as u32);
                c.apply(&[Input::SetPriority { job, priority: Priority::ALL[priority] }]);
            }
        }
        Step::Move { ref job, pool } => {
            let n = c.state().last_job();
            if n > 0 {
                let job = JobId(1 + job.index(n as usize) as u32);
                c.apply(&[Input::SetQueue { job, queue: POOLS[pool].into() }]);
            }
        }
        Step::Wait { ms } => c.advance(ms),
    }
    commit(c);
}

fn commit(c: &mut Cluster) {
    let done = c.take(|effect| if let Effect::CommitJob { job } = *effect { Some(job) } else { None });
    for job in done {
        c.apply(&[Input::JobCommitted { job, ok: true }]);
    }
    c.effects.clear();
}

/// The values of a key by pool, as the text has them.
fn limits_of(text: &str, key: &str) -> Vec<Option<u32>> {
    let of = |pool: &str| {
        let body = text.split(&format!("[pool.{pool}]")).nth(1)?.split('[').next()?.to_owned();
        let line = body.lines().find(|line| line.starts_with(key))?.to_owned();
        line.split("= ").nth(1)?.parse().ok()
    };
    POOLS.iter().map(|pool| of(pool)).collect()
}

fn running_by_pool(state: &ClusterState, kind: TaskKind) -> [u32; 4] {
    POOLS.map(|pool| {
        let of_pool = state.jobs().filter(|job| job.spec().user == pool);
        of_pool.map(|job| job.tasks(kind).n_attempts()).sum()
    })
}

/// Everyone behaves: all jobs end.
fn finish(c: &mut Cluster) {
    for round in 0.. {
        if c.state().n_jobs() == 0 {
            return;
        }
        let stuck = || c.state().jobs().map(|j| c.tracker.explain(j.id()).to_string()).collect::<Vec<_>>();
        assert!(round < 600, "jobs never end: {:?}", stuck());
        for worker in 0..4 {
            let on = c.running_on(worker);
            let end = |id| (id, if c.puppets[worker as usize].kills.contains(&id) { Killed } else { Succeeded });
            let ends: Vec<_> = on.into_iter().map(end).collect();
            c.report(worker, &ends);
            commit(c);
        }
        c.advance(1_000);
    }
}

/// Every running attempt with its worker and distance.
fn what_runs(c: &Cluster) -> Vec<String> {
    let mut all: Vec<_> = c.state().attempts().iter().map(|(_, a)| (a.id(), a.worker(), a.locality())).collect();
    all.sort();
    all.iter().map(|attempt| format!("{attempt:?}")).collect()
}

/// The explanation of every job once the policy has seen all that changed: while nobody has a free slot no update need
/// come, and a submission brings one.
fn reasons(c: &Cluster) -> Vec<String> {
    let mut c = c.fork();
    c.submit(spec(0, 0, 0, false, 2));
    c.state().jobs().map(|job| c.tracker.explain(job.id()).to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    // Slots are checked by the tracker's own invariants after every batch.
    #[test]
    fn pools_stay_within_their_limits_and_every_job_ends(
        dialect in dialects(),
        text in allocations(),
        steps in vec(step(), 1..120),
    ) {
        let modern = !dialect.contains_key("dialect");
        let limited = dialect.get("dialect").is_none_or(|dialect| dialect != "naive");
        let mut c = cluster(&with(dialect, &text));
        let (max, max_jobs) = (limits_of(&text, "maxMaps"), limits_of(&text, "maxRunningJobs"));
        for step in &steps {
            let before: Vec<JobId> = c.state().jobs().filter(|job| job.launched().is_some()).map(|job| job.id()).collect();
            take(&mut c, step);
            for kind in TaskKind::ALL {
                for (running, max) in running_by_pool(c.state(), kind).into_iter().zip(&max) {
                    prop_assert!(!modern || max.is_none_or(|max| running <= max), "{running} of {max:?}");
                }
            }
            let began = c.state().jobs().filter(|job| job.launched().is_some() && !before.contains(&job.id()));
            for job in began {
                let place = (job.priority(), job.submitted(), job.id());
                let pool = POOLS.iter().position(|pool| *pool == job.spec().user).expect("one of them");
                let ahead = c.state().jobs().filter(|other| {
                    other.spec().user == job.spec().user && (other.priority(), other.submitted(), other.id()) < place
                });
                // Priorities may have changed since the update that let it run.
                let changed = steps.iter().any(|step| matches!(step, Step::Prioritise { .. }));
                let unequal = steps.iter().any(|step| matches!(step, Step::Submit { priority, .. } if *priority != 2));
                let ahead = ahead.count() as u32;
                prop_assert!(!limited || changed || unequal || max_jobs[pool].is_none_or(|max| ahead < max));
            }
        }
        finish(&mut c);
    }

    // docs/hadoop.md#fair: with demands up to date, no waits, no limits and no cap on a worker's load, a slot is only
    // left free when nothing waits that may use it. (The cap counts attempts that are being stopped as load.)
    #[test]
    fn slots_are_only_free_when_nothing_waits(steps in vec(step(), 1..120)) {
        let mut c = cluster(&params(&[("update.interval", "0"), ("locality.delay", "0"), ("load.max.diff", "1")]));
        for step in &steps {
            take(&mut c, step);
            // After a heartbeat of every worker that has nothing new to say.
            for worker in 0..4 {
                c.beat(worker);
                commit(&mut c);
            }
            for kind in TaskKind::ALL {
                let usable = |worker: u32| {
                    let w = c.state().worker(WorkerId(worker)).expect("registered");
                    w.occupied(kind) < w.slots(kind) && c.state().jobs().any(|job| {
                        job.offerable(kind) && job.is_plain(kind) && c.state().job_may_use(job, kind, w)
                    })
                };
                prop_assert!(!(0..4).any(usable), "a {kind} slot is free while a task waits");
            }
        }
    }

    // What a policy that takes over builds from the state decides as the one that saw everything: so its indexes are
    // what the changes should have made of them.
    #[test]
    fn a_policy_that_takes_over_decides_as_the_one_before(
        naive in any::<bool>(),
        text in allocations(),
        steps in vec(step_or_move(), 1..80),
        at in any::<Index>(),
    ) {
        // Waits, starvation and deficits are memory; everything else is in the state.
        let plain = text.replace("fairSharePreemptionTimeout = 30\ndefaultMinSharePreemptionTimeout = 10\n", "");
        let params = match naive {
            true => params(&[("dialect", "naive")]),
            false => {
                let by_queue = ("poolnameproperty", "queue");
                let all = [by_queue, ("update.interval", "0"), ("locality.delay", "0"), ("sizebasedweight", "true")];
                with(params(&all), &plain)
            }
        };
        let mut c = cluster(&params);
        let at = at.index(steps.len());
        steps[..at].iter().for_each(|step| take(&mut c, step));
        let mut other = c.fork();
        other.tracker.switch_scheduler(by_name("fair", &params).expect("as before"));
        for step in &steps[at..] {
            take(&mut c, step);
            take(&mut other, step);
            prop_assert_eq!(what_runs(&c), what_runs(&other));
            prop_assert_eq!(reasons(&c), reasons(&other));
        }
        finish(&mut other);
    }

    // docs/hadoop.md#fair: when all slots were filled from nothing and everyone wants more, no pool could give a
    // slot to another and be closer: (running − 1)/weight of each is at most running/weight of any other.
    #[test]
    fn full_slots_are_divided_by_weight(weights in vec(1..40u32, 2..6), slots in 6..80u16) {
        let names = ["a", "b", "c", "d", "e"];
        let text: String = names.iter().zip(&weights).map(|(name, w)| format!("[pool.{name}]\nweight = {w}.0\n")).collect();
        let policy = by_name("fair", &params(&[("allocations", &text)])).expect("it reads");
        let mut c = Cluster::made(|_| {}, policy).workers(1, slots, 0);
        for name in names.iter().take(weights.len()) {
            c.submit(JobSpec { user: (*name).into(), ..job(100, 0) });
        }
        c.beat(0);
        let ran = maps(&c);
        prop_assert_eq!(ran.iter().sum::<u32>(), u32::from(slots).min(100 * weights.len() as u32));
        for (a, wa) in ran.iter().zip(&weights) {
            for (b, wb) in ran.iter().zip(&weights) {
                prop_assert!(a.saturating_sub(1) * wb <= b * wa, "{ran:?} of {weights:?}");
            }
        }
    }

    #[test]
    fn a_fork_decides_as_its_original(dialect in dialects(), text in allocations(), steps in vec(step(), 1..80), at in any::<Index>()) {
        let params = with(dialect, &text);
        let mut c = cluster(&params);
        let at = at.index(steps.len());
        steps[..at].iter().for_each(|step| take(&mut c, step));
        let mut copy = c.fork();
        for step in &steps[at..] {
            take(&mut c, step);
        }
        for step in &steps[at..] {
            take(&mut copy, step);
        }
        prop_assert_eq!(what_runs(&c), what_runs(&copy));
        prop_assert_eq!(reasons(&c), reasons(&copy));
        prop_assert_eq!(c.tracker.next_deadline(), copy.tracker.next_deadline());
        prop_assert_eq!(c.tracker.take_notes(), copy.tracker.take_notes());
    }
}
