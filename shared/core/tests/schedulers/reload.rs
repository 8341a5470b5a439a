//! Parameters that change while jobs run: whatever the policy, it goes on with what it has learned.
//!
//! What a policy has learned is nowhere to be read, so it is inferred from what it decides: after a change that means nothing,
//! every decision is the one of an undisturbed run.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::schedulers::registry::Params;
use howdah_core::schedulers::{by_name, names};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Input, SchedulerChoice};
use proptest::prelude::*;

use super::load_aware::Stage;
use super::play::params;

/// Fair and its kin compute shares at once when they read their file again, ahead of their next update; that is all that
/// may differ.
const UPDATES_AT_ONCE: [&str; 3] = ["fair", "load-aware", "naive-fair"];
const RULES: [&str; 5] = ["none", "hadoop", "hadoop-0.21", "late", "load-aware"];

/// Two sets of parameters that mean the same, with a rule that fires early and often; `None` where the policy does not
/// have the rule.
fn same(name: &str, rule: &str) -> Option<[Params; 2]> {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut first: Params = [pair("speculation", rule)].into();
    if rule != "none" {
        first.extend([pair("speculation.age", "1"), pair("speculation.cap", "1000")]);
    }
    by_name(name, &first).ok()?;
    let mut second = first.clone();
    if rule != "none" {
        second.insert("speculation.cap".to_owned(), "1001".to_owned());
    }
    Some([first, second])
}

prop_compose! {
    fn job()(
        submit_ms in 0..40_000_u64,
        n_maps in 1..7_u32,
        map_ms in prop::collection::vec(2_000..9_000_u64, 1..4),
        n_reduces in 0..3_u32,
        reduce_ms in 1_000..9_000_u64,
        deadline_ms in proptest::option::of(1..90_000_u64),
        name in 0..2_u32,
    ) -> JobTemplate {
        JobTemplate {
            name: format!("application {name}"),
            submit_ms,
            n_maps,
            map_ms,
            n_reduces,
            reduce_ms: vec![reduce_ms],
            deadline_ms,
            ..JobTemplate::default()
        }
    }
}

/// Workers of different speeds, so that speculative attempts are worth something.
fn options(name: &str, params: &Params, foreign: &[u32]) -> ReplayOptions {
    let worker = |(index, load): (usize, &u32)| SimWorker {
        name: format!("w{index}"),
        host: format!("h{index}"),
        rack: "/r".to_owned(),
        map_slots: 1,
        reduce_slots: 1,
        foreign: vec![(Time::ZERO, load * 1_000)],
        ..SimWorker::default()
    };
    let workers = foreign.iter().enumerate().map(worker).collect();
    let heartbeat = SimHeartbeat { interval: Span::from_ms(500), out_of_band: true };
    ReplayOptions {
        scheduler: name.to_owned(),
        scheduler_params: params.clone(),
        view: View::Workers(WorkersView { workers, heartbeat, ..WorkersView::default() }),
        ..ReplayOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_change_that_means_nothing_changes_nothing_under_any_policy_and_rule(
        jobs in prop::collection::vec(job(), 1..7),
        foreign in prop::collection::vec(0..5_u32, 2..5),
        n in 0..200_u32,
    ) {
        let trace = Trace { jobs, ..Trace::default() };
        for name in names().filter(|name| !UPDATES_AT_ONCE.contains(name)) {
            for rule in RULES {
                let Some([first, second]) = same(name, rule) else { continue };
                let mut simulation = Simulation::new(&trace, &options(name, &first, &foreign)).expect("a replay");
                simulation.run_for(n);
                let mut reloaded = simulation.fork();
                reloaded.set_scheduler(&SchedulerChoice { name: name.to_owned(), params: second });
                for simulation in [&mut simulation, &mut reloaded] {
                    while simulation.step() {
                        simulation.tracker().check_invariants().unwrap_or_else(|broken| panic!("{name}, {rule}: {broken}"));
                    }
                }
                let [left, reloaded] = [simulation.report(), reloaded.report()];
                prop_assert_eq!(left.decisions_digest, reloaded.decisions_digest, "{}, {}", name, rule);
            }
        }
    }
}

const MINUTE: u64 = 60_000;

/// What a worker did before the change is what says, after it, that a copy there is worth it; and so after a change of
/// policy, as the rule is not the policy's own.
#[test]
fn load_aware_remembers_finished_tasks_under_every_policy_and_from_one_to_the_next() {
    let rule = [("speculation", "load-aware"), ("speculation.age", "90s")];
    let copies = |from: &str, change: Option<(&str, (&'static str, &'static str))>| {
        let mut stage = Stage::new(from, &rule, &[MINUTE, 4 * MINUTE]);
        stage.submit(2);
        // The first map has ended, and it is too early for a copy of the second.
        stage.until(70_000);
        assert_eq!(stage.copies(), [], "{from}");
        if let Some((to, change)) = change {
            let choice = SchedulerChoice { name: to.to_owned(), params: params(&[&rule[..], &[change]].concat()) };
            stage.c.apply(&[Input::SetScheduler(Box::new(choice))]);
        }
        stage.until(100_000);
        stage.until(100_001);
        stage.copies().len()
    };
    // Under these both maps ran in the one slot of their partition, and none is slow.
    let partitioned = ["sita", "tags"];
    for name in names() {
        let wanted = usize::from(!partitioned.contains(&name));
        assert_eq!(copies(name, None), wanted, "{name}, undisturbed");
        for change in [("load-aware.curve", "below=0.5,linear=1"), ("speculation.cap", "5")] {
            for to in [name, "fifo", "fair"] {
                assert_eq!(copies(name, Some((to, change))), wanted, "{name} to {to}, {change:?}: a minute there");
            }
        }
    }
}
