//! What holds for the capacity scheduler and for FIFO as Hadoop's whatever the workload.

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{SplitHosts, TaskKind};
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::schedulers::by_name;
use howdah_core::schedulers::registry::Params;
use howdah_core::time::Span;
use proptest::prelude::*;

use super::kit::job_with;
use super::kit::world::{Dice, World};
use super::play::{a_fork_goes_on_as_its_original, after, all_succeeded, in_two_racks, params};

const QUEUES: [&str; 3] = ["a", "b", "default"];

fn job() -> impl Strategy<Value = JobTemplate> {
    let times = || prop::collection::vec(1..20_000u64, 1..4);
    let hosts = prop::option::of(prop::collection::vec(0..5u32, 12));
    (0..60_000u64, 0..12u32, times(), 0..6u32, times(), 0..3usize, 0..3u32, hosts).prop_map(
        |(submit_ms, n_maps, map_ms, n_reduces, reduce_ms, queue, user, hosts)| {
            let names: Vec<String> = hosts.iter().flatten().map(|host| format!("h{host}")).collect();
            let splits = names.iter().take(n_maps as usize).map(|host| [host.as_str()]);
            JobTemplate {
                submit_ms,
                n_maps,
                map_ms,
                n_reduces,
                reduce_ms,
                queue: QUEUES[queue].to_owned(),
                user: format!("u{user}"),
                split_hosts: if hosts.is_some() { SplitHosts::new(splits) } else { SplitHosts::default() },
                ..JobTemplate::default()
            }
        },
    )
}

fn trace() -> impl Strategy<Value = Trace> {
    prop::collection::vec(job(), 1..15).prop_map(|jobs| Trace { jobs, ..Trace::default() })
}

/// One pool of slots, or workers with heartbeats.
fn view() -> impl Strategy<Value = View> {
    let slots = (2..10u16, 2..6u16).prop_map(|(maps, reduces)| View::Slots { maps, reduces });
    let workers = (1..6u32, 0..3_000u64, any::<bool>()).prop_map(|(n, interval, out_of_band)| {
        // Short intervals stand for none.
        let interval = if interval < 300 { Span::ZERO } else { Span::from_ms(interval) };
        let heartbeat = SimHeartbeat { interval, out_of_band };
        View::Workers(WorkersView { workers: (0..n).map(in_two_racks).collect(), heartbeat, ..WorkersView::default() })
    });
    prop_oneof![slots, workers]
}

fn capacity(file: &str) -> (String, Params) {
    ("capacity".to_owned(), params(&[("allocations", file)]))
}

fn fifo(dialect: &str) -> (String, Params) {
    ("fifo".to_owned(), params(&[("dialect", dialect)]))
}

fn policy() -> impl Strategy<Value = (String, Params)> {
    prop_oneof![
        Just(capacity(LIMITED)),
        Just(capacity(ELASTIC)),
        Just(capacity(POOLS)),
        Just(fifo("0.20.2")),
        Just(fifo("1.2.1")),
    ]
}

fn options((scheduler, scheduler_params): (String, Params), mut view: View) -> ReplayOptions {
    if scheduler_params == capacity(POOLS).1 {
        hold_pools(&mut view);
    }
    ReplayOptions { scheduler, scheduler_params, view, ..ReplayOptions::default() }
}

/// Maxima, user limits and one map and one reduce per heartbeat.
const LIMITED: &str = "[defaults]\nminimum_user_limit_percent = 30\n[queues.a]\ncapacity = 30\nmaximum_capacity = 50\n\
                       [queues.b]\ncapacity = 20\nuser_limit_factor = 2\nsupports_priority = true\n\
                       [queues.default]\ncapacity = 50\nmaximum_capacity = 80\n";
/// Nothing keeps a queue from using the whole cluster.
const ELASTIC: &str = "[defaults]\nuser_limit_factor = 1000\n[queues.a]\ncapacity = 30\n[queues.b]\ncapacity = 10\n\
                       [queues.default]\ncapacity = 60\n";
/// Fixed slots.
const POOLS: &str = "[queues.a]\nmap_slots = 2\nreduce_slots = 1\n[queues.b]\nmap_slots = 1\nreduce_slots = 2\n\
                     [queues.default]\nmap_slots = 3\nreduce_slots = 1\n";

/// Adds slots until the fixed queues are there: a replay without them does not begin.
fn hold_pools(view: &mut View) {
    match view {
        View::Slots { maps, reduces } => (*maps, *reduces) = ((*maps).max(6), (*reduces).max(4)),
        View::Workers(view) => {
            for index in view.workers.len()..4 {
                let name = format!("w{index}");
                view.workers.push(SimWorker { host: format!("h{index}"), name, ..view.workers[0].clone() });
            }
        }
    }
}

/// Running attempts by queue and by user of a queue.
fn held(simulation: &Simulation<'_>, kind: TaskKind) -> (BTreeMap<String, u32>, BTreeMap<(String, String), u32>) {
    let (mut queues, mut users) = (BTreeMap::new(), BTreeMap::new());
    for job in simulation.tracker().state().jobs() {
        let (spec, n) = (job.spec(), job.tasks(kind).n_attempts());
        *queues.entry(spec.queue.to_string()).or_insert(0) += n;
        *users.entry((spec.queue.to_string(), spec.user.to_string())).or_insert(0) += n;
    }
    (queues, users)
}

/// Plays to the end; the digest of all decisions.
fn end(mut simulation: Simulation<'_>) -> String {
    simulation.run();
    let report = simulation.report();
    all_succeeded(&report);
    report.decisions_digest
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // docs/hadoop.md#capacity: maximum capacity; one user has at most capacity × user-limit-factor.
    #[test]
    fn no_queue_and_no_user_exceeds_its_limits(trace in trace(), view in view()) {
        let mut simulation = Simulation::new(&trace, &options(capacity(LIMITED), view)).expect("the queues exist");
        while simulation.step() {
            for kind in TaskKind::ALL {
                let slots = simulation.tracker().state().totals().slots[kind];
                let part = |percent: u32| slots * percent / 100;
                let (queues, users) = held(&simulation, kind);
                for (queue, maximum) in [("a", part(50)), ("default", part(80))] {
                    prop_assert!(queues.get(queue).is_none_or(|&held| held <= maximum.max(1)), "{queues:?} of {slots}");
                }
                for (queue, most) in [("a", part(30).max(1)), ("b", part(20).max(1) * 2), ("default", part(50).max(1))] {
                    let over = users.iter().find(|((of, _), held)| of == queue && **held > most);
                    prop_assert_eq!(over, None, "of {}", slots);
                }
            }
        }
        end(simulation);
    }

    // BalancedPools §3.3: pools are clusters of their own.
    #[test]
    fn pools_have_their_slots_and_never_more(trace in trace(), view in view()) {
        let mut simulation = Simulation::new(&trace, &options(capacity(POOLS), view)).expect("the queues exist");
        while simulation.step() {
            for (kind, sizes) in [(TaskKind::Map, [2, 1, 3]), (TaskKind::Reduce, [1, 2, 1])] {
                let (queues, _) = held(&simulation, kind);
                for (queue, size) in QUEUES.into_iter().zip(sizes) {
                    prop_assert!(queues.get(queue).is_none_or(|&held| held <= size), "{queues:?}");
                }
            }
        }
        end(simulation);
    }

    // docs/hadoop.md#capacity: elastic use of idle capacity. Without heartbeats and places nothing else limits a round.
    #[test]
    fn no_slot_is_idle_while_an_elastic_queue_has_work(mut trace in trace(), maps in 2..10u16, reduces in 2..6u16) {
        trace.jobs.iter_mut().for_each(|job| job.split_hosts = SplitHosts::default());
        let options = options(capacity(ELASTIC), View::Slots { maps, reduces });
        let mut simulation = Simulation::new(&trace, &options).expect("the queues exist");
        while simulation.step() {
            let totals = simulation.tracker().state().totals();
            for kind in 0..2 {
                let idle = totals.running[kind] < totals.slots[kind];
                prop_assert!(!(idle && totals.offerable_jobs[kind] > 0), "an idle slot at {:?}", simulation.now());
            }
        }
        end(simulation);
    }

    #[test]
    fn a_fork_goes_on_as_the_original(trace in trace(), view in view(), policy in policy(), steps in 0..60u32) {
        all_succeeded(&a_fork_goes_on_as_its_original(after(&trace, &options(policy, view), steps)));
    }

    // A policy that takes over half-way has the books of the one that was there from the start; only chances to wait
    // for data begin anew.
    #[test]
    fn a_policy_that_takes_over_decides_the_same(mut trace in trace(), view in view(), policy in policy(), steps in 0..60u32) {
        trace.jobs.iter_mut().for_each(|job| job.split_hosts = SplitHosts::default());
        let options = options(policy, view);
        let simulation = after(&trace, &options, steps);
        let mut other = simulation.fork();
        other.switch_scheduler(by_name(&options.scheduler, &options.scheduler_params).expect("made before"));
        prop_assert_eq!(end(simulation), end(other));
    }

    // Failures, losses, kills, changes of priority and switches of policy, with messages: all jobs end.
    #[test]
    fn every_job_of_a_random_world_ends(numbers in prop::collection::vec(any::<u32>(), 0..600), policy in policy(), at in 0..60u32) {
        let mut dice = Dice(numbers.iter());
        let mut world = World::new(&mut dice);
        let (name, params) = policy;
        let (fifo, elastic) = (fifo("1.2.1").1, capacity(ELASTIC).1);
        for step in 0..u32::MAX {
            if step == at || step % 50 == 49 {
                world.cluster.tracker.switch_scheduler(by_name(&name, &params).expect("made before"));
            }
            if step % 9 == 5 && [&fifo, &elastic].contains(&&params) {
                // Tasks of two slots, for which workers are kept; no queue has a maximum that forbids them.
                world.cluster.submit(job_with(2, 1, |conf| (conf.slots_per_map, conf.slots_per_reduce) = (2, 2)));
            }
            if dice.is_empty() && step > at {
                break;
            }
            world.step(&mut dice);
        }
        // The only worker that is large enough may be blacklisted by now.
        world.cluster.add_worker("h9", "/r0", 2, 2);
        world.finish();
    }
}
