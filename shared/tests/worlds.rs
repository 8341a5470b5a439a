//! Random worlds: safety after every batch, an end for every job, and the same effects every time.

mod kit;

use howdah_shared::tracker::Effect;
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
        "Killed WorkerLost",
        "Killed JobEnded",
        "Succeeded Reported",
        "output WorkerLost",
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
