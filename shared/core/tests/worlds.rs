//! Random worlds: safety after every batch, an end for every job, and the same effects every time.

mod kit;

use std::collections::BTreeMap;

use howdah_core::cluster::ClusterState;
use howdah_core::job::{JobId, TaskKind};
use howdah_core::schedulers::by_name;
use howdah_core::tracker::{Effect, JobTracker, Recorded};
use kit::world::{Dice, World};
use proptest::prelude::*;

/// Plays a world to its end.
fn play(numbers: &[u32]) -> World {
    let mut dice = Dice(numbers.iter());
    let mut world = World::new(&mut dice);
    while !dice.is_empty() {
        world.step(&mut dice);
    }
    world.finish();
    world
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_job_of_a_random_world_ends(numbers in proptest::collection::vec(any::<u32>(), 0..1_500)) {
        play(&numbers);
    }

    #[test]
    fn the_same_world_twice_gives_the_same_effects(numbers in proptest::collection::vec(any::<u32>(), 0..600)) {
        prop_assert_eq!(play(&numbers).cluster.effects, play(&numbers).cluster.effects);
    }
}

/// A reproducible list of numbers.
fn numbers(seed: u64, n: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    (0..n).map(step).collect()
}

/// All effects of a few worlds in one number.
fn digest() -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for seed in 1..20 {
        for effect in play(&numbers(seed, 600)).cluster.effects {
            for byte in format!("{effect:?}").bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    digest
}

/// Hash maps are seeded anew in each process: one that decides something would show here.
#[test]
fn another_process_computes_the_same_effects() {
    const NAME: &str = "another_process_computes_the_same_effects";
    const MARK: &str = "digest of the worlds: ";
    let ours = format!("{MARK}{:016x}", digest());
    if std::env::args().any(|arg| arg == "--nocapture") {
        eprintln!("{ours}");
        return;
    }
    let this = std::env::current_exe().expect("a running program has a path");
    let other = std::process::Command::new(this).args(["--exact", NAME, "--nocapture"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&other.stderr).into_owned() + &String::from_utf8_lossy(&other.stdout);
    assert!(text.contains(&ours), "expected `{ours}` in {text}");
}

#[test]
fn a_fork_goes_on_as_the_original_does() {
    for seed in 1..30 {
        let all = numbers(seed, 900);
        let mut dice = Dice(all.iter());
        let mut world = World::new(&mut dice);
        for _ in 0..60 {
            world.step(&mut dice);
        }
        let rest: Vec<u32> = dice.0.copied().collect();
        let mut fork = world.fork();
        for world in [&mut world, &mut fork] {
            let mut dice = Dice(rest.iter());
            while !dice.is_empty() {
                world.step(&mut dice);
            }
            world.finish();
        }
        assert!(world.cluster.effects == fork.cluster.effects, "the fork of world {seed} went another way");
    }
}

#[test]
fn what_was_decided_stands_under_another_policy() {
    let (mut preempted, mut reserved) = (0, 0);
    for seed in 1..120 {
        let world = play(&numbers(seed, 1_200));
        let fifo = by_name("fifo", &BTreeMap::new()).expect("fifo exists");
        let mut tracker = JobTracker::new(world.cluster.tracker.config().clone(), fifo);
        for (time, inputs, effects, preemptions, reservations) in world.cluster.batches.as_ref().expect("they are kept")
        {
            preempted += preemptions.len();
            reserved += reservations.len();
            let mut found = Vec::new();
            let recorded = Recorded::of(effects, preemptions, reservations);
            tracker.apply_recorded(*time, inputs, recorded, &mut found);
            assert_eq!(&found, effects, "world {seed} at {time:?}: {inputs:?}");
        }
        tracker.check_invariants().expect("they hold");
        assert_eq!(tracker.state().last_job(), world.cluster.state().last_job());
        let kept = |state: &ClusterState| -> Vec<[Option<JobId>; 2]> {
            state.workers().iter().map(|worker| TaskKind::ALL.map(|kind| worker.reserved(kind))).collect()
        };
        assert_eq!(kept(tracker.state()), kept(world.cluster.state()), "what is reserved for whom in world {seed}");
    }
    assert!(preempted > 20, "{preempted} preemptions show nothing");
    assert!(reserved > 20, "{reserved} reservations show nothing");
}

/// Otherwise the properties above would hold for want of events.
#[test]
fn the_worlds_are_wild_enough() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 1..150 {
        for effect in play(&numbers(seed, 1_500)).cluster.effects {
            let text = match effect {
                Effect::AttemptEnded { state, cause, .. } => format!("{state:?} {cause:?}"),
                Effect::MapOutputLost { cause, .. } => format!("output {cause:?}"),
                Effect::JobState { state, .. } => format!("{state:?}"),
                Effect::WorkerState { state, .. } => format!("{state:?}"),
                Effect::Kill { cause, .. } => format!("kill {cause:?}"),
                Effect::Rejected { why, .. } => format!("{why:?}").split('(').next().unwrap_or("").to_owned(),
                other => format!("{other:?}").split(' ').next().unwrap_or("").to_owned(),
            };
            *seen.entry(text).or_insert(0u32) += 1;
        }
    }
    for expected in [
        "Failed Reported",
        "Failed Requested",
        "Failed LaunchExpired",
        "Killed Reported",
        "Killed Requested",
        "Killed Vanished",
        "Killed LostRace",
        "Killed Preempted",
        "Killed WorkerLost",
        "Killed JobEnded",
        "Succeeded Reported",
        "output WorkerLost",
        "OutputKept",
        "output TooManyFetchFailures",
        "Succeeded",
        "Failed",
        "Killed",
        "Blacklisted",
        "Draining",
        "Lost",
        "Live",
        "Commit",
        "CommitJob",
        "AbortJob",
        "ForgetJob",
        "TaskFailed",
        "Reinit",
        "kill JobEnded",
    ] {
        assert!(seen.contains_key(expected), "no world shows {expected}; seen {seen:?}");
    }
}
