//! What holds for FBQ, TAGS, SITA and COMP whatever the workload.

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptState, TaskKind};
use howdah_core::replay::summary::size;
use howdah_core::replay::{AttemptRecord, ReplayOptions, Simulation};
use howdah_core::schedulers::by_name;
use howdah_core::time::Time;
use proptest::prelude::*;

use super::kit::world::{Dice, World};
use super::play::{Memory, a_fork_goes_on_as_its_original, after, all_succeeded, in_slots, params, recorded};

const LIMITS: &str = "20s,60s";
const LIMITS_US: [u64; 2] = [20_000_000, 60_000_000];
const SHARES: &str = "25%,25%,50%";

/// Parameters of each policy for three queues.
fn pairs(policy: &str, service: &'static str) -> Vec<(&'static str, &'static str)> {
    match policy {
        "fbq" => vec![("limits", LIMITS), ("service", service)],
        "tags" => vec![("limits", LIMITS), ("service", service), ("partitions", SHARES)],
        "sita" => vec![("limits", LIMITS), ("prediction", "trace"), ("partitions", SHARES)],
        _ => vec![("queues", "3")],
    }
}

fn job() -> impl Strategy<Value = JobTemplate> {
    let times = || prop::collection::vec(1..20_000u64, 1..4);
    (0..120_000u64, 0..12u32, times(), 0..5u32, times(), prop_oneof![Just(0), Just(50_000), Just(1_000_000)]).prop_map(
        |(submit_ms, n_maps, map_ms, n_reduces, reduce_ms, slowstart)| JobTemplate {
            submit_ms,
            n_maps,
            map_ms,
            n_reduces,
            reduce_ms,
            slowstart_ppm: Some(slowstart),
            ..JobTemplate::default()
        },
    )
}

fn workload() -> impl Strategy<Value = (Trace, ReplayOptions)> {
    let policy = prop_oneof![Just("fbq"), Just("tags"), Just("sita"), Just("comp")];
    let service = prop_oneof![Just("queue"), Just("total")];
    (prop::collection::vec(job(), 1..15), policy, service, 3..10u16, 3..6u16).prop_map(
        |(jobs, policy, service, maps, reduces)| {
            let options = in_slots(policy, &pairs(policy, service), (maps, reduces));
            (Trace { jobs, ..Trace::default() }, options)
        },
    )
}

/// Plays it and remembers every attempt; with one cluster for all queues, no slot is idle while a task could use it.
fn play(trace: &Trace, options: &ReplayOptions) -> Vec<AttemptRecord> {
    let memory = Memory::default();
    let mut simulation = Simulation::new(trace, options).expect("slots of both kinds");
    simulation.observe(Box::new(memory.clone()));
    let conserving = matches!(&options.scheduler[..], "fbq" | "comp");
    while simulation.step() {
        let totals = simulation.tracker().state().totals();
        for kind in 0..2 {
            assert!(totals.running[kind] <= totals.slots[kind]);
            let idle = totals.running[kind] < totals.slots[kind];
            assert!(!(conserving && idle && totals.offerable_jobs[kind] > 0), "an idle slot at {:?}", simulation.now());
        }
    }
    all_succeeded(&simulation.report());
    memory.attempts()
}

/// The queue, from 0, that a job is in at an instant, found from its attempts alone: what they received by then against
/// the limits, or its size.
fn queue_at(trace: &Trace, options: &ReplayOptions, place: u32, own: &[AttemptRecord], at: Time) -> usize {
    let received = |at: Time| -> u64 {
        let served = |a: &AttemptRecord| at.min(a.end).since(a.maps_done.unwrap_or(a.start)).as_us();
        own.iter().map(served).sum()
    };
    if options.scheduler == "sita" {
        let size = size(&trace.jobs[place as usize]).as_us();
        return LIMITS_US.iter().filter(|&&limit| size > limit).count();
    }
    let counted_in_queue = options.scheduler_params["service"] == "queue";
    let limits = if counted_in_queue { [LIMITS_US[0], LIMITS_US[0] + LIMITS_US[1]] } else { LIMITS_US };
    limits.iter().filter(|&&limit| received(at) >= limit).count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // slowdown-variability §IV-A: completed work is saved, whatever queue a job is moved to.
    #[test]
    fn every_task_runs_once_and_no_slot_is_idle_where_the_policy_is_work_conserving((trace, options) in workload()) {
        let attempts = play(&trace, &options);
        let tasks: u32 = trace.jobs.iter().map(|job| job.n_maps + job.n_reduces).sum();
        prop_assert_eq!(attempts.len(), tasks as usize);
        prop_assert!(attempts.iter().all(|a| a.state == AttemptState::Succeeded && a.attempt.number == 0));
    }

    // slowdown-variability §IV-A: jobs from queue k are restricted to using resources in the corresponding partition.
    #[test]
    fn no_partition_runs_more_than_its_slots((trace, options) in workload(), maps in 3..12u16) {
        let scheduler = if options.scheduler == "tags" || options.scheduler == "fbq" { "tags" } else { "sita" };
        let service = if maps % 2 == 0 { "queue" } else { "total" };
        let options = in_slots(scheduler, &pairs(scheduler, service), (maps, 4));
        let (report, attempts) = recorded(trace.jobs.clone(), &options);
        let places: BTreeMap<u32, u32> = report.jobs.iter().map(|job| (job.id.0, job.template)).collect();
        // Sizes of 25 %, 25 % and 50 %, as the partitions' own test has them rounded.
        let size = |kind: TaskKind, queue: usize| {
            let slots = u64::from(if kind == TaskKind::Map { maps } else { 4 });
            let quarters: &[u64] = match slots { 3 => &[1, 1, 1], 4 => &[1, 1, 2], 5 => &[1, 1, 3], _ => &[0, 0, 0] };
            if quarters[0] > 0 { quarters[queue] } else { (slots * [1, 1, 2][queue]).div_ceil(4) }
        };
        let mut queued = Vec::new();
        for a in &attempts {
            let own: Vec<AttemptRecord> = attempts.iter().filter(|b| b.attempt.job == a.attempt.job).copied().collect();
            queued.push((queue_at(&trace, &options, places[&a.attempt.job.0], &own, a.start), a));
        }
        for &(queue, a) in &queued {
            let beside = queued.iter().filter(|(other, b)| {
                *other == queue && b.attempt.kind == a.attempt.kind && b.start <= a.start && a.start < b.end
            });
            let n = beside.count() as u64;
            prop_assert!(n <= size(a.attempt.kind, queue), "{} {:?} in queue {}: {:?}", n, a.attempt.kind, queue, a);
        }
    }

    #[test]
    fn a_fork_runs_on_as_its_original((trace, options) in workload(), steps in 0..60u32) {
        a_fork_goes_on_as_its_original(after(&trace, &options, steps));
    }

    // Failures, losses, kills, priorities, switches: every job still ends, and each batch keeps the core's invariants.
    #[test]
    fn every_job_of_a_random_world_ends(
        numbers in prop::collection::vec(any::<u32>(), 0..800), policy in 0..4usize, switch_at in 0..200usize,
    ) {
        let policy = ["fbq", "tags", "sita", "comp"][policy];
        let make = || by_name(policy, &params(&pairs(policy, "queue"))).expect("right parameters");
        let mut dice = Dice(numbers.iter());
        let mut world = World::new(&mut dice);
        for step in 0.. {
            if dice.is_empty() {
                break;
            }
            // At the start, or in charge of what another policy began.
            if step == switch_at % 40 {
                world.cluster.tracker.switch_scheduler(make());
            }
            world.step(&mut dice);
        }
        world.finish();
    }
}
