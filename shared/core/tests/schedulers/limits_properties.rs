//! Limits on jobs, promises of shares and weights, over random workloads: what no pool passes, what every pool gets in
//! time, and how far weights may be off.

use howdah_core::job::{AttemptId, JobSpec, JobState, TaskKind};
use howdah_core::schedulers::by_name;
use howdah_core::schedulers::registry::Params;
use howdah_core::tracker::{Effect, Input};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::kit::*;
use crate::play::params;

const POOLS: [&str; 3] = ["red", "blue", "green"];
const USERS: [&str; 3] = ["ann", "bob", "cat"];
const WORKERS: u32 = 4;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Submit { pool: usize, user: usize, maps: u32, reduces: u32 },
    Beat { worker: u32 },
    End { worker: u32, which: Index, ok: bool },
    Wait { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..3usize, 0..3usize, 1..9u32, 0..3u32)
            .prop_map(|(pool, user, maps, reduces)| Step::Submit { pool, user, maps, reduces }),
        4 => (0..WORKERS).prop_map(|worker| Step::Beat { worker }),
        4 => (0..WORKERS, any::<Index>(), 0..8u32).prop_map(|(worker, which, n)| Step::End { worker, which, ok: n > 0 }),
        2 => select(vec![1u64, 499, 500, 3_000]).prop_map(|ms| Step::Wait { ms }),
    ]
}

fn spec(pool: usize, user: usize, maps: u32, reduces: u32) -> JobSpec {
    let mut spec = job_with(maps, reduces, |conf| {
        conf.commits_output = false;
        conf.max_map_attempts = 1_000;
        conf.max_reduce_attempts = 1_000;
    });
    (spec.queue, spec.user) = (POOLS[pool].into(), USERS[user].into());
    spec
}

fn cluster(name: &str, params: &Params, maps: u16, reduces: u16) -> Cluster {
    let policy = by_name(name, params).unwrap_or_else(|error| panic!("{error}"));
    Cluster::made(|_| {}, policy).workers(WORKERS, maps, reduces)
}

fn take(c: &mut Cluster, step: &Step) {
    match *step {
        Step::Submit { pool, user, maps, reduces } => drop(c.submit(spec(pool, user, maps, reduces))),
        Step::Beat { worker } => c.beat(worker),
        Step::End { worker, ref which, ok } => end(c, worker, which, ok),
        Step::Wait { ms } => c.advance(ms),
    }
    let done = c.take(|effect| if let Effect::CommitJob { job } = *effect { Some(job) } else { None });
    for job in done {
        c.apply(&[Input::JobCommitted { job, ok: true }]);
    }
    c.effects.clear();
}

/// One of a worker's attempts ends; those that are to be stopped are.
fn end(c: &mut Cluster, worker: u32, which: &Index, ok: bool) {
    let on: Vec<AttemptId> = c.running_on(worker);
    if on.is_empty() {
        c.beat(worker);
        return;
    }
    let id = on[which.index(on.len())];
    let killed = c.puppets[worker as usize].kills.contains(&id);
    let state = match ok {
        _ if killed => Killed,
        true => Succeeded,
        false => Failed,
    };
    c.report(worker, &[(id, state)]);
}

/// Every worker sends a heartbeat, and what it was told to stop is stopped.
fn beat_all(c: &mut Cluster) {
    for worker in 0..WORKERS {
        let on = c.running_on(worker);
        let stopped = on.into_iter().filter(|id| c.puppets[worker as usize].kills.contains(id));
        let stopped: Vec<_> = stopped.map(|id| (id, Killed)).collect();
        c.report(worker, &stopped);
    }
    c.effects.clear();
}

/// Live jobs that have begun, of which `of` says something.
fn began(c: &Cluster, of: impl Fn(&JobSpec) -> bool) -> u32 {
    let live = |state| matches!(state, JobState::Prep | JobState::Running);
    let begun = c.state().jobs().filter(|job| job.launched().is_some() && live(job.state()) && job.ending().is_none());
    begun.filter(|job| of(job.spec())).count() as u32
}

fn running(c: &Cluster, pool: &str, kind: TaskKind) -> u32 {
    let jobs = c.state().jobs().filter(|job| job.spec().queue == pool);
    jobs.map(|job| job.tasks(kind).n_attempts()).sum()
}

/// The allocation file of pools with so many slots each, and with limits on the running jobs of pools or of users.
fn file(slots: &[u32], jobs: &[u32], of_users: bool) -> String {
    let mut text = String::new();
    for (name, (slots, jobs)) in POOLS.iter().zip(slots.iter().zip(jobs)) {
        text += &format!("[pool.{name}]\nmaxMaps = {slots}\nmaxReduces = {slots}\n");
        text += &if of_users { String::new() } else { format!("maxRunningJobs = {jobs}\n") };
    }
    for (name, jobs) in USERS.iter().zip(jobs).filter(|_| of_users) {
        text += &format!("[user.{name}]\nmaxRunningJobs = {jobs}\n");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    // docs/hadoop.md#fair: jobs sorted FIFO; user and pool running-job limits; maxMaps and maxReduces (1.2.1 alone).
    // Limits of one sort at a time: where both are, an older job that its pool held back may take its user's place from
    // a younger one, which then gets nothing more and runs out, in Hadoop as here.
    #[test]
    fn under_fair_no_pool_and_no_user_passes_its_maxima(
        old in any::<bool>(),
        of_users in any::<bool>(),
        slots in vec(1..6u32, 3),
        jobs in vec(1..4u32, 3),
        steps in vec(step(), 1..150),
    ) {
        let text = file(&slots, &jobs, of_users);
        let mut pairs = vec![("poolnameproperty", "queue"), ("allocations", &text), ("assignmultiple", "true")];
        pairs.extend(old.then_some(("dialect", "0.20.2")));
        let mut c = cluster("fair", &params(&pairs), 2, 1);
        for step in &steps {
            take(&mut c, step);
            for (place, (slots, jobs)) in slots.iter().zip(&jobs).enumerate() {
                let (name, user) = (POOLS[place], USERS[place]);
                let found = began(&c, |spec| if of_users { spec.user == user } else { spec.queue == name });
                prop_assert!(found <= *jobs, "{name} or {user}: {found} jobs of {jobs}");
                for kind in TaskKind::ALL {
                    let found = running(&c, name, kind);
                    prop_assert!(old || found <= *slots, "pool {name} runs {found} {kind}s of {slots}");
                }
            }
        }
    }

    // docs/hadoop.md#capacity: jobs under way are at most ceil(maximum-system-jobs × capacity), of one user that ×
    // minimum-user-limit-percent; maximum-capacity is a limit on slots.
    #[test]
    fn under_capacity_no_queue_and_no_user_passes_its_maxima(
        system in 2..12u32,
        percent in select(vec![25u32, 50, 100]),
        maximum in select(vec![30u32, 50, 75]),
        steps in vec(step(), 1..150),
    ) {
        let text = format!(
            "maximum_system_jobs = {system}\n[defaults]\nminimum_user_limit_percent = {percent}\nuser_limit_factor = 9\n\
             init_accept_jobs_factor = 1000\n[queues.red]\ncapacity = 20\n[queues.blue]\ncapacity = 30\n\
             maximum_capacity = {maximum}\n[queues.green]\ncapacity = 50\n"
        );
        let mut c = cluster("capacity", &params(&[("allocations", &text)]), 2, 1);
        for step in &steps {
            take(&mut c, step);
            for (name, capacity) in POOLS.into_iter().zip([20, 30, 50]) {
                let most = (system * capacity).div_ceil(100);
                let found = began(&c, |spec| spec.queue == name);
                prop_assert!(found <= most, "queue {name} runs {found} jobs of {most}");
                for user in USERS {
                    let most = (most * percent).div_ceil(100);
                    let found = began(&c, |spec| spec.queue == name && spec.user == user);
                    prop_assert!(found <= most, "user {user} of {name} runs {found} jobs of {most}");
                }
            }
            for kind in TaskKind::ALL {
                let slots = c.state().totals().slots[kind];
                let most = (slots * maximum / 100).max(1);
                let found = running(&c, "blue", kind);
                prop_assert!(found <= most, "queue blue runs {found} {kind}s of {most}");
            }
        }
    }

    // docs/hadoop.md#fair: for a pool below its minimum share for longer than its timeout the next check stops as many
    // attempts as it lacks, whoever holds the slots. These are kept for nobody: another pool below its own minimum may
    // take them, at most that minimum in all, and for each the pool may have to wait for one more check. No task ever
    // ends by itself here: nothing but preemption helps.
    #[test]
    fn with_preemption_no_pool_stays_below_its_minimum_share_for_long(
        min in vec(1..4u32, 2),
        wanted in vec(1..7u32, 2),
        later_ms in vec(0..20_000u64, 2),
        timeout_s in 1..20u64,
        interval_s in 1..10u64,
    ) {
        let mut text = format!("defaultMinSharePreemptionTimeout = {timeout_s}\n");
        for (name, min) in POOLS.iter().zip(&min) {
            text += &format!("[pool.{name}]\nminMaps = {min}\n");
        }
        let interval = (interval_s * 1_000).to_string();
        let pairs = [("poolnameproperty", "queue"), ("allocations", text.as_str()), ("preemption", "true")];
        let pairs = [&pairs[..], &[("preemption.interval", interval.as_str()), ("locality.delay", "0")]].concat();
        // Eight slots, which the third pool holds; both minimum shares together are at most six.
        let mut c = cluster("fair", &params(&pairs), 2, 0);
        c.submit(spec(2, 2, 40, 0));
        beat_all(&mut c);
        prop_assert_eq!(running(&c, POOLS[2], TaskKind::Map), 8);
        // A job is noticed at the next update and starves for its timeout; then come checks, each with heartbeats of
        // everyone until the stopped attempts are gone and their slots given out.
        let bound_ms = |other: usize| 500 + timeout_s * 1_000 + u64::from(1 + min[other]) * (interval_s * 1_000 + 1_500);
        let longest_ms = bound_ms(0).max(bound_ms(1));
        let mut came = [None; 2];
        for now in (0..20_000 + longest_ms + 1_000).step_by(500) {
            for pool in 0..2 {
                if came[pool].is_none() && now >= later_ms[pool] {
                    came[pool] = Some(now);
                    c.submit(spec(pool, pool, wanted[pool], 0));
                }
            }
            beat_all(&mut c);
            c.advance(500);
            for pool in 0..2 {
                if came[pool].is_some_and(|came| now >= came + bound_ms(1 - pool)) {
                    let (found, due) = (running(&c, POOLS[pool], TaskKind::Map), min[pool].min(wanted[pool]));
                    prop_assert!(found >= due, "{} runs {found} of {due} at {now}", POOLS[pool]);
                }
            }
        }
        prop_assert!(running(&c, POOLS[2], TaskKind::Map) > 0, "nobody takes what is due to the third pool");
    }

    // docs/hadoop.md#fair: running ÷ weight, the smallest first. While everyone wants more, a slot that becomes free
    // goes to where the quotient is smallest, so that none is ever more than one task ahead: (running − 1) ÷ weight of
    // each is at most running ÷ weight of any other, whatever ends where.
    #[test]
    fn weights_hold_to_one_task_while_tasks_end_anywhere(
        weights in vec(1..12u32, 3),
        ends in vec((0..WORKERS, vec(any::<Index>(), 1..4)), 1..60),
    ) {
        let pools = POOLS.iter().zip(&weights);
        let text: String = pools.map(|(name, weight)| format!("[pool.{name}]\nweight = {weight}.0\n")).collect();
        let pairs = [("poolnameproperty", "queue"), ("allocations", text.as_str()), ("update.interval", "0")];
        let mut c = cluster("fair", &params(&pairs), 4, 0);
        for pool in 0..3 {
            c.submit(spec(pool, pool, 1_000, 0));
        }
        beat_all(&mut c);
        for (worker, which) in &ends {
            let mut on = c.running_on(*worker);
            let mut over = Vec::new();
            for which in which {
                over.push((on.remove(which.index(on.len())), Succeeded));
            }
            // The report of the ends is the heartbeat that hands out their slots.
            c.report(*worker, &over);
            c.effects.clear();
            let ran = POOLS.map(|pool| running(&c, pool, TaskKind::Map));
            prop_assert_eq!(ran.iter().sum::<u32>(), 16);
            for (a, wa) in ran.iter().zip(&weights) {
                for (b, wb) in ran.iter().zip(&weights) {
                    prop_assert!(a.saturating_sub(1) * wb <= b * wa, "{ran:?} of {weights:?}");
                }
            }
        }
    }

    // balanced-pools §4.3: pools are clusters of their own; here the third takes what is left. Lent slots are none's.
    #[test]
    fn under_balanced_pools_no_pool_passes_its_slots(slots in vec((1..4u32, 1..3u32), 2), steps in vec(step(), 1..120)) {
        let [red, blue] = [slots[0], slots[1]];
        let text = format!("red:{}+{},blue:{}+{}", red.0, red.1, blue.0, blue.1);
        let mut c = cluster("balanced-pools", &params(&[("pools", &text)]), 2, 1);
        for step in &steps {
            take(&mut c, step);
            for (name, (maps, reduces)) in POOLS.into_iter().zip(&slots) {
                let found = [TaskKind::Map, TaskKind::Reduce].map(|kind| running(&c, name, kind));
                prop_assert!(found[0] <= *maps && found[1] <= *reduces, "{name} runs {found:?}");
            }
            let rest = [8 - red.0 - blue.0, 4_u32.saturating_sub(red.1 + blue.1)];
            let found = [TaskKind::Map, TaskKind::Reduce].map(|kind| running(&c, "green", kind));
            prop_assert!(found[0] <= rest[0] && found[1] <= rest[1], "the rest runs {found:?} of {rest:?}");
        }
    }
}
