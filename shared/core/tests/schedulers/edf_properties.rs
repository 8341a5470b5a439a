//! What holds for MaxEDF and MinEDF whatever the workload.

use howdah_core::cluster::{ClusterState, Job};
use howdah_core::job::TaskKind;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::bounds::{Bound, Demand, JobModel, Slots};
use howdah_core::replay::{ReplayOptions, Simulation};
use howdah_core::time::Time;
use proptest::prelude::*;

use super::play::{a_fork_goes_on_as_its_original, after, all_succeeded};
use super::size_based::options;

fn job() -> impl Strategy<Value = JobTemplate> {
    let times = || prop::collection::vec(1..20_000u64, 1..4);
    let deadline = prop::option::weighted(0.8, 1..200_000u64);
    (0..60_000u64, 0..12u32, times(), 0..5u32, times(), times(), deadline).prop_map(
        |(submit_ms, n_maps, map_ms, n_reduces, reduce_ms, typical_shuffle_ms, deadline_ms)| JobTemplate {
            submit_ms,
            n_maps,
            map_ms,
            n_reduces,
            reduce_ms,
            typical_shuffle_ms,
            deadline_ms,
            ..JobTemplate::default()
        },
    )
}

type Params = (&'static str, Vec<(&'static str, &'static str)>);

fn policy() -> impl Strategy<Value = Params> {
    let flag = || prop::sample::select(vec!["false", "true"]);
    let minedf = (prop::sample::select(vec!["average", "low", "upper"]), flag(), flag()).prop_map(
        |(bound, recompute, spare)| ("minedf", vec![("bound", bound), ("recompute", recompute), ("spare", spare)]),
    );
    prop_oneof![Just(("maxedf", vec![])), minedf]
}

fn workload() -> impl Strategy<Value = (Trace, Params, ReplayOptions)> {
    (prop::collection::vec(job(), 1..12), policy(), 1..8u16, 1..5u16).prop_map(|(jobs, policy, maps, reduces)| {
        let options = options(policy.0, &policy.1, (maps, reduces));
        (Trace { jobs, ..Trace::default() }, policy, options)
    })
}

/// What MinEDF computes when a job arrives, from the model alone.
fn limit(job: &Job, kind: TaskKind, state: &ClusterState, (scheduler, params): &Params) -> u32 {
    let spec = job.spec();
    let (Some(within), Some(profile), "minedf") = (spec.conf.deadline, spec.profile.as_deref(), *scheduler) else {
        return u32::MAX;
    };
    let bound = match params.iter().find(|(key, _)| *key == "bound").map(|(_, value)| *value) {
        Some("low") => Bound::Low,
        Some("upper") => Bound::Upper,
        _ => Bound::Average,
    };
    let [maps, reduces] = state.totals().slots;
    let model = JobModel { n_maps: spec.n_maps, n_reduces: spec.n_reduces, profile: *profile };
    match model.demand(within, Slots { maps, reduces }, bound) {
        Demand::Fewest(slots) => [slots.maps, slots.reduces][kind],
        Demand::Infeasible { .. } => u32::MAX,
    }
}

fn has(params: &Params, key: &str) -> bool {
    params.1.contains(&(key, "true"))
}

/// Checks an instant after all that it brought.
fn check(state: &ClusterState, params: &Params) {
    let totals = state.totals();
    for kind in TaskKind::ALL {
        assert!(totals.running[kind] <= totals.slots[kind]);
        let idle = totals.running[kind] < totals.slots[kind];
        // A recomputed demand may fall below what runs.
        let limited =
            |job: &Job| !has(params, "recompute") && job.tasks(kind).n_attempts() >= limit(job, kind, state, params);
        let mut order: Vec<&Job> = state.jobs().collect();
        order.sort_by_key(|job| (job.deadline().unwrap_or(Time::MAX), job.priority(), job.submitted(), job.id()));
        let first = order.iter().position(|job| job.offerable(kind) && !limited(job));
        if !has(params, "recompute") {
            assert!(first.is_none() || !idle, "{kind}: a slot is free for {:?}", first.map(|at| order[at].id()));
            if !has(params, "spare") {
                for job in &order {
                    assert!(job.tasks(kind).n_attempts() <= limit(job, kind, state, params), "{:?} {kind}", job.id());
                }
            }
            // Nobody behind the first that could run more got a slot now.
            let behind = order.iter().skip(first.map_or(order.len(), |at| at + 1));
            for job in behind {
                let now = state.attempts().iter().filter(|(_, a)| a.id().job == job.id() && a.id().kind == kind);
                assert!(now.into_iter().all(|(_, a)| a.started() < state.now()), "{:?} overtook", job.id());
            }
        }
        if has(params, "spare") || params.0 == "maxedf" {
            assert!(!idle || order.iter().all(|job| !job.offerable(kind)), "{kind}: a slot is idle");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // SimMR §III-C: the earliest deadline first, and never more than the wanted number of slots.
    #[test]
    fn the_order_of_deadlines_and_the_demands_hold_at_every_instant((trace, params, options) in workload()) {
        let mut simulation = Simulation::new(&trace, &options).expect("slots of both kinds");
        while simulation.step() {
            check(simulation.tracker().state(), &params);
        }
        all_succeeded(&simulation.report());
    }

    #[test]
    fn a_fork_runs_on_as_its_original((trace, _, options) in workload(), steps in 0..60u32) {
        a_fork_goes_on_as_its_original(after(&trace, &options, steps));
    }

    // A policy that is put in charge in the middle builds everything from the state.
    #[test]
    fn it_may_take_over_what_another_policy_began((trace, params, options) in workload(), steps in 0..60u32) {
        let fifo = ReplayOptions { scheduler: "fifo".to_owned(), scheduler_params: Default::default(), ..options.clone() };
        let mut simulation = after(&trace, &fifo, steps);
        let made = howdah_core::schedulers::by_name(params.0, &options.scheduler_params).expect("right parameters");
        simulation.switch_scheduler(made);
        simulation.run();
        all_succeeded(&simulation.report());
    }
}
