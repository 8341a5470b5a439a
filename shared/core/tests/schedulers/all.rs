//! What every registered policy must hold, whatever its order: it is looked up here by name, so that a new one is
//! tested from the day of its registration.
//!
//! Worlds are the kit's: workers that crash, lie still and come back, attempts that fail, requests at the worst moment.
//! The kit checks the core's invariants after every input.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{JobSpec, JobState, Priority, SplitHosts, TaskKind};
use howdah_core::replay::{
    FaultPlan, ReplayOptions, ReplayReport, SimHeartbeat, SimWorker, Simulation, View, WorkerLoss, WorkersView,
};
use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{Reason, Scheduler, by_name, names};
use howdah_core::time::{Span, Time};
use proptest::prelude::*;

use super::kit::world::{Dice, World};
use super::play::{after, in_two_racks};

/// A policy with its defaults.
fn policy(name: &str) -> Box<dyn Scheduler> {
    by_name(name, &Params::new()).unwrap_or_else(|error| panic!("a policy has defaults: {error}"))
}

/// No worker runs more than it has slots, and there is a sentence for every job.
fn look(world: &World, name: &str) {
    let state = world.cluster.state();
    for worker in state.workers() {
        for kind in TaskKind::ALL {
            let running = state.attempts_on(worker.id()).filter(|attempt| attempt.id().kind == kind).count();
            assert!(running <= usize::from(worker.slots(kind)), "{name}: {} runs {running} {kind}s", worker.name());
        }
    }
    for job in state.jobs() {
        let reason = world.cluster.tracker.explain(job.id());
        assert_ne!(reason, Reason::Unknown, "{name}: job {:?} is there", job.id());
        assert!(reason.to_string().ends_with('.'), "{name}: `{reason}` is a sentence");
    }
}

fn steps(world: &mut World, dice: &mut Dice<'_>, n: usize, name: &str) {
    for _ in 0..n {
        if dice.is_empty() {
            return;
        }
        world.step(dice);
        look(world, name);
    }
}

/// Plays a world under a policy to its end; `finish` fails if a job never ends.
fn play(name: &str, numbers: &[u32]) -> World {
    let mut dice = Dice(numbers.iter());
    let mut world = World::under(&mut dice, policy(name));
    steps(&mut world, &mut dice, usize::MAX, name);
    world.finish();
    world
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn every_job_ends_and_no_slot_runs_two_tasks_under_any_policy(numbers in prop::collection::vec(any::<u32>(), 0..800)) {
        for name in names() {
            play(name, &numbers);
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_effects_under_any_policy(numbers in prop::collection::vec(any::<u32>(), 0..400)) {
        for name in names() {
            prop_assert!(play(name, &numbers).cluster.effects == play(name, &numbers).cluster.effects, "{}", name);
        }
    }

    #[test]
    fn a_fork_goes_on_as_the_original_under_any_policy(
        before in prop::collection::vec(any::<u32>(), 0..300),
        after in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        for name in names() {
            let mut dice = Dice(before.iter());
            let mut world = World::under(&mut dice, policy(name));
            steps(&mut world, &mut dice, usize::MAX, name);
            let mut fork = world.fork();
            for world in [&mut world, &mut fork] {
                steps(world, &mut Dice(after.iter()), usize::MAX, name);
                world.finish();
            }
            prop_assert!(world.cluster.effects == fork.cluster.effects, "{}", name);
        }
    }

    #[test]
    fn any_policy_takes_over_from_any_other_in_the_middle_of_a_run(
        numbers in prop::collection::vec(any::<u32>(), 0..500),
        from in any::<prop::sample::Index>(),
    ) {
        let all: Vec<&str> = names().collect();
        let first = all[from.index(all.len())];
        let mut dice = Dice(numbers.iter());
        let mut world = World::under(&mut dice, policy(first));
        steps(&mut world, &mut dice, numbers.len() / 2, first);
        for second in all {
            let mut world = world.fork();
            world.cluster.tracker.switch_scheduler(policy(second));
            look(&world, second);
            steps(&mut world, &mut Dice(dice.0.clone()), usize::MAX, second);
            world.finish();
        }
    }
}

prop_compose! {
    fn job()(
        submit_ms in 0..60_000_u64,
        n_maps in 0..9_u32,
        map_ms in prop::collection::vec(1..9_000_u64, 1..4),
        n_reduces in 0..4_u32,
        reduce_ms in prop::collection::vec(1..9_000_u64, 1..4),
        who in 0..3_u32,
        priority in 0..5_usize,
        deadline_ms in proptest::option::of(1..90_000_u64),
        slowstart in prop_oneof![Just(None), Just(Some(0)), Just(Some(1_000_000))],
    ) -> JobTemplate {
        JobTemplate {
            submit_ms,
            n_maps,
            map_ms,
            n_reduces,
            reduce_ms: reduce_ms.clone(),
            first_shuffle_ms: reduce_ms.clone(),
            typical_shuffle_ms: reduce_ms,
            user: format!("user{who}"),
            priority: Priority::ALL[priority],
            deadline_ms,
            slowstart_ppm: slowstart,
            ..JobTemplate::default()
        }
    }
}

prop_compose! {
    fn workload()(
        jobs in prop::collection::vec(job(), 1..12),
        slots in prop::collection::vec((0..4_u16, 0..3_u16), 0..4),
        regular in any::<bool>(),
        lost in proptest::option::of((1..40_000_u64, 1..20_000_u64)),
        attempt_failure_ppm in prop_oneof![3 => Just(0), 1 => Just(50_000)],
        seed in any::<u64>(),
    ) -> (Trace, ReplayOptions) {
        let slots = [vec![(1, 1)], slots].concat();
        let workers = slots.into_iter().enumerate().map(|(index, (map_slots, reduce_slots))| SimWorker {
            map_slots,
            reduce_slots,
            ..in_two_racks(index as u32)
});
        let loss = |(at, back)| WorkerLoss {
            worker: 0,
            at: Time::from_ms(at),
            expiry: Span::from_ms(5_000),
            back_after: Some(Span::from_ms(back)),
        };
        let heartbeat = SimHeartbeat { interval: Span::from_ms(if regular { 700 } else { 0 }), out_of_band: true };
        let view = WorkersView { workers: workers.collect(), heartbeat, ..WorkersView::default() };
        let faults = FaultPlan { scripted: false, attempt_failure_ppm, losses: lost.map(loss).into_iter().collect() };
        let options = ReplayOptions { view: View::Workers(view), faults, seed, ..ReplayOptions::default() };
        (Trace { jobs, ..Trace::default() }, options)
    }
}

/// Simulates to the end with a look into the core after every step.
fn simulate(trace: &Trace, options: &ReplayOptions, scheduler: Box<dyn Scheduler>) -> ReplayReport {
    let name = scheduler.name();
    let mut simulation = Simulation::with_scheduler(trace, options, scheduler).expect("the first worker has all slots");
    while simulation.step() {
        let tracker = simulation.tracker();
        tracker.check_invariants().unwrap_or_else(|broken| panic!("{name}: {broken}"));
        for job in tracker.state().jobs() {
            assert_ne!(tracker.explain(job.id()), Reason::Unknown, "{name}");
        }
    }
    simulation.report()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_simulated_workload_ends_under_any_policy_and_twice_in_the_same_way((trace, options) in workload()) {
        for name in names() {
            let report = simulate(&trace, &options, policy(name));
            let all_over = report.jobs.iter().all(|job| matches!(job.state, JobState::Succeeded | JobState::Failed));
            prop_assert!(all_over, "{}: {:?}", name, report.jobs);
            if options.faults.attempt_failure_ppm == 0 {
                prop_assert!(report.jobs.iter().all(|job| job.state == JobState::Succeeded), "{}", name);
            }
            let again = simulate(&trace, &options, policy(name));
            prop_assert_eq!(report.decisions_digest, again.decisions_digest, "{}", name);
        }
    }

    #[test]
    fn a_simulated_workload_changes_hands_between_any_two_policies(
        (trace, options) in workload(),
        from in any::<prop::sample::Index>(),
        n in 0..80_u32,
    ) {
        let all: Vec<&str> = names().collect();
        let first = all[from.index(all.len())];
        let simulation = after(&trace, &ReplayOptions { scheduler: first.to_owned(), ..options }, n);
        for second in all {
            let mut fork = simulation.fork();
            fork.switch_scheduler(policy(second));
            while fork.step() {
                fork.tracker().check_invariants().unwrap_or_else(|broken| panic!("{first}, then {second}: {broken}"));
            }
            let over = fork.report().jobs.iter().all(|job| job.state.is_final());
            prop_assert!(over, "{}, then {}: {:?}", first, second, fork.report().jobs);
        }
    }
}

/// Fair lets a map wait 10 s for its data, with a deadline of its own; whoever takes over has no such deadline.
#[test]
fn who_takes_over_from_a_policy_that_waits_is_asked_at_once() {
    let job = JobTemplate {
        n_maps: 1,
        map_ms: vec![1_000],
        split_hosts: SplitHosts::new([["elsewhere"]]),
        ..JobTemplate::default()
    };
    let trace = Trace { jobs: vec![job], ..Trace::default() };
    let worker = |name: &str, map_slots, reduce_slots| SimWorker {
        name: name.to_owned(),
        host: name.to_owned(),
        rack: "/r".to_owned(),
        map_slots,
        reduce_slots,
        ..SimWorker::default()
    };
    let workers = vec![worker("here", 1, 0), worker("elsewhere", 0, 1)];
    let delay = [("locality.delay".to_owned(), "10000".to_owned())];
    let options = ReplayOptions {
        scheduler: "fair".to_owned(),
        scheduler_params: delay.into(),
        view: View::Workers(WorkersView { workers, ..WorkersView::default() }),
        ..ReplayOptions::default()
    };
    let mut fair = Simulation::new(&trace, &options).expect("a replay");
    while fair.tracker().state().n_jobs() == 0 {
        assert!(fair.step(), "the job comes");
    }
    assert!(fair.tracker().state().attempts().is_empty(), "its map waits");
    for second in names().filter(|name| *name != "fair") {
        let mut other = fair.fork();
        other.switch_scheduler(policy(second));
        other.run();
        assert_eq!(other.report().jobs[0].state, JobState::Succeeded, "{second}");
    }
    fair.run();
    assert!(fair.report().makespan > Span::from_secs(10), "or there was no wait");
}

/// A replay finds profiles and sizes from durations only for policies that read them.
#[test]
fn who_reads_profiles_has_them_though_the_policy_before_did_not() {
    let job = |ms| JobTemplate { n_maps: 2, map_ms: vec![ms, 2 * ms], ..JobTemplate::default() };
    let trace = Trace { jobs: vec![job(1_000), job(500)], ..Trace::default() };
    let begun = |scheduler: &str| {
        let options = ReplayOptions {
            scheduler: scheduler.to_owned(),
            view: View::Slots { maps: 1, reduces: 1 },
            ..ReplayOptions::default()
        };
        let mut simulation = Simulation::new(&trace, &options).expect("a replay");
        assert!(simulation.step(), "both jobs come");
        simulation
    };
    let specs = |simulation: &Simulation<'_>| -> Vec<JobSpec> {
        simulation.tracker().state().jobs().map(|job| (**job.spec()).clone()).collect()
    };
    let plain = begun("fifo");
    assert!(specs(&plain).iter().all(|spec| spec.profile.is_none() && spec.conf.size.is_none()));
    for second in names() {
        let mut other = plain.fork();
        other.switch_scheduler(policy(second));
        assert_eq!(specs(&other), specs(&begun(second)), "{second}");
        let known = specs(&other).iter().all(|spec| spec.profile.is_some() && spec.conf.size.is_some());
        assert_eq!(known, policy(second).capabilities().reads_profiles, "{second}");
    }
    assert!(
        policy("minedf").capabilities().reads_profiles
            && policy("sita").capabilities().reads_profiles
            && policy("johnson").capabilities().reads_profiles
    );
}
