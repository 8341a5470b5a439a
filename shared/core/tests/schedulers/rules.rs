//! What every rule for speculative execution must hold, whatever the workers report of their loads and progress, and a
//! dry run and the costs, which all rules have alike.

use howdah_core::job::JobId;
use howdah_core::schedulers::{Reason, by_name};
use howdah_core::time::Span;
use howdah_core::tracker::Input;
use proptest::prelude::*;

use crate::kit::world::{Dice, World};
use crate::kit::*;
use crate::play::params;
use crate::speculation::{cluster, progress, uncommitted};

type Pairs = &'static [(&'static str, &'static str)];

/// Under different orders, and so that they pick whatever they may.
const RULES: [(&str, Pairs); 9] = [
    ("fifo", &[("speculation", "hadoop"), ("speculation.age", "0"), ("speculation.gap", "0")]),
    ("fifo", &[("speculation", "late"), ("speculation.age", "0"), ("speculation.cap", "none")]),
    ("fifo", &[("speculation", "hadoop-0.21"), ("speculation.age", "0"), ("speculation.slow-task-deviations", "0")]),
    ("fair", &[("speculation", "hadoop-0.21"), ("speculation.age", "0"), ("speculation.dry-run", "true")]),
    ("load-aware", &[("speculation.age", "0"), ("speculation.gap", "0")]),
    ("load-aware", &[("dialect", "0.20.2"), ("load-aware.formula", "printed"), ("speculation.age", "0")]),
    ("fifo", &[("speculation", "load-aware"), ("load-aware.formula", "corrected"), ("speculation.age", "0")]),
    ("capacity", &[("speculation", "load-aware"), ("load-aware.curve", "below=1,exponential=1")]),
    ("balanced-pools", &[("speculation", "load-aware"), ("speculation.dry-run", "true")]),
];

fn world(dice: &mut Dice<'_>, (scheduler, pairs): (&str, Pairs)) -> World {
    let policy = by_name(scheduler, &params(pairs)).unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::under(dice, policy);
    world.cluster.noisy = true;
    world
}

fn play_on(world: &mut World, dice: &mut Dice<'_>) {
    while !dice.is_empty() {
        world.step(dice);
        for job in world.cluster.state().jobs() {
            let reason = world.cluster.tracker.explain(job.id());
            assert_ne!(reason, Reason::Unknown);
            assert!(reason.to_string().ends_with('.'), "`{reason}` is a sentence");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    /// With Load-Aware that is its promise that every job makes progress; `finish` fails if one never ends.
    #[test]
    fn every_job_ends_under_any_rule_whatever_workers_say_of_their_loads(numbers in prop::collection::vec(any::<u32>(), 0..800)) {
        for rule in RULES {
            let mut dice = Dice(numbers.iter());
            let mut world = world(&mut dice, rule);
            play_on(&mut world, &mut dice);
            world.finish();
            let costs = *world.cluster.state().costs();
            prop_assert_eq!(costs.launched, costs.won + costs.lost, "{:?}: {:?}", rule, costs);
        }
    }

    #[test]
    fn a_fork_goes_on_as_the_original_under_any_rule(
        before in prop::collection::vec(any::<u32>(), 0..400),
        after in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        for rule in RULES {
            let mut dice = Dice(before.iter());
            let mut original = world(&mut dice, rule);
            play_on(&mut original, &mut dice);
            let mut fork = original.fork();
            for world in [&mut original, &mut fork] {
                play_on(world, &mut Dice(after.iter()));
                world.finish();
            }
            prop_assert!(original.cluster.effects == fork.cluster.effects, "{:?}", rule);
            prop_assert_eq!(original.cluster.tracker.take_notes(), fork.cluster.tracker.take_notes(), "{:?}", rule);
        }
    }
}

/// Three workers run a map each; after 61 s the second one is done and the third is at 10 %.
fn straggler(pairs: &[(&str, &str)]) -> Cluster {
    let mut c = cluster("fifo", pairs).workers(3, 1, 0);
    c.submit(uncommitted(3));
    (0..3).for_each(|worker| c.beat(worker));
    c.advance(61_000);
    progress(&mut c, 2, &[(map(1, 2, 0), 10)]);
    progress(&mut c, 0, &[(map(1, 0, 0), 90)]);
    c.launches();
    progress(&mut c, 1, &[(map(1, 1, 0), 100)]);
    c
}

#[test]
fn a_dry_run_notes_each_pick_once_and_starts_nothing() {
    let mut c = straggler(&[("speculation", "hadoop"), ("speculation.dry-run", "true")]);
    assert_eq!(c.launches(), []);
    let note = "speculation, dry run: map 2 of job 1 would get a speculative attempt on worker `w1` at 10 % of the first; 1 \
                so far";
    assert_eq!(c.tracker.take_notes(), [note]);
    for _ in 0..5 {
        c.advance(3_000);
        c.beat(1);
    }
    assert_eq!(c.tracker.take_notes(), [""; 0], "the task counts as having its speculative attempt");
    assert_eq!(c.launches(), []);
    // The attempt fails, runs again on the same worker and falls behind again: another pick.
    c.report(2, &[(map(1, 2, 0), Failed)]);
    c.report(1, &[]);
    let again = c.launches();
    assert_eq!(again, [(1, map(1, 2, 1))], "a pending task is given whatever the rule");
    c.advance(61_000);
    progress(&mut c, 1, &[(map(1, 2, 1), 5)]);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    let notes = c.tracker.take_notes();
    assert!(notes.len() == 1 && notes[0].ends_with("worker `w0` at 5 % of the first; 2 so far"), "{notes:?}");
    assert_eq!(c.state().costs().launched, 0);
}

#[test]
fn the_costs_of_a_race_are_the_losers_slot_time() {
    let mut c = straggler(&[("speculation", "hadoop")]);
    assert_eq!(c.launches(), [(1, map(1, 2, 1))]);
    let running = *c.state().job(JobId(1)).expect("it runs").costs();
    assert_eq!((running.launched, running.won, running.lost, running.wasted), (1, 0, 0, Span::ZERO));
    c.advance(20_000);
    progress(&mut c, 1, &[(map(1, 2, 1), 100)]);
    progress(&mut c, 0, &[(map(1, 0, 0), 100)]);
    let costs = *c.state().costs();
    assert_eq!((costs.launched, costs.won, costs.lost), (1, 1, 0));
    assert_eq!(costs.wasted, Span::from_secs(81), "the original, from its assignment to the copy's success");
    c.apply(&[Input::JobCommitted { job: JobId(1), ok: true }]);
    let job = c.state().ended_job(JobId(1)).expect("it is over");
    assert_eq!(job.costs, costs);
    let mut c = straggler(&[("speculation", "hadoop")]);
    c.advance(20_000);
    progress(&mut c, 2, &[(map(1, 2, 0), 100)]);
    let costs = *c.state().costs();
    assert_eq!((costs.won, costs.lost, costs.wasted), (0, 1, Span::from_secs(20)), "the copy");
}
