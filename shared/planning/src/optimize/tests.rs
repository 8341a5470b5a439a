//! The paper's worked examples, and properties over drawn batches.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::time::Span;
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::workloads::{Choices, find};

fn workload(name: &str, choices: &Choices) -> Trace {
    find(name).expect("a workload").generate(choices).expect("its own size")
}

fn example(name: &str) -> Trace {
    workload(name, &Choices::default())
}

const THIRTY: Slots = Slots { maps: 30, reduces: 30 };

fn makespan_s(trace: &Trace, method: Method) -> u64 {
    let makespan = plan(&Batch::new(trace, THIRTY), method).expect("slots of both kinds").makespan();
    assert_eq!(makespan.as_us() % 1_000_000, 0);
    makespan.as_us() / 1_000_000
}

// balanced-pools §3.1, Figure 4: whatever the order in which the two jobs are given.
#[rstest]
#[case("example-two-jobs")]
#[case("example-two-jobs-reversed")]
fn the_two_jobs_take_24_in_johnsons_order_and_42_reversed(#[case] name: &str) {
    let trace = example(name);
    assert_eq!(makespan_s(&trace, Method::Johnson), 24);
    assert_eq!(makespan_s(&trace, Method::ReverseJohnson), 42);
}

// balanced-pools §3.2, Figure 8.
#[rstest]
#[case("example-five-jobs")]
#[case("example-five-jobs-reversed")]
fn the_five_jobs_take_47_in_johnsons_order_and_78_reversed(#[case] name: &str) {
    let trace = example(name);
    let plan = plan(&Batch::new(&trace, THIRTY), Method::Johnson).expect("slots of both kinds");
    let names: Vec<&str> = plan.pools[0].jobs.iter().map(|&job| trace.jobs[job].name.as_str()).collect();
    assert_eq!(names, ["J2", "J5", "J1", "J4", "J3"]);
    assert_eq!(makespan_s(&trace, Method::Johnson), 47);
    assert_eq!(makespan_s(&trace, Method::ReverseJohnson), 78);
}

// balanced-pools §3.2: with the stages as Figure 6 gives them, each one full wave.
#[test]
fn the_abstraction_says_47_and_78_of_the_five_jobs() {
    let trace = example("example-five-jobs");
    let batch = Batch { bound: Bound::Low, ..Batch::new(&trace, THIRTY) };
    assert_eq!(theory(&batch), Theory { min: Span::from_secs(47), max: Span::from_secs(78) });
}

// balanced-pools §3.3, scenario 2, Figure 9: 47 under Johnson; pools of 10 and 20 slots take 39 and 40.
#[test]
fn the_second_scenario_is_cut_into_the_papers_two_pools() {
    let trace = example("example-five-jobs-two-sizes");
    assert_eq!(makespan_s(&trace, Method::Johnson), 47);
    let plan = plan(&Batch::new(&trace, THIRTY), Method::BALANCED_POOLS).expect("slots of both kinds");
    assert_eq!(plan.makespan(), Span::from_secs(40));
    let names = |pool: &Pool| {
        let mut names: Vec<&str> = pool.jobs.iter().map(|&job| trace.jobs[job].name.as_str()).collect();
        names.sort_unstable();
        names
    };
    // By maps, J3 and J4 have fewer: they are Algorithm 2's first pool, the paper's second.
    let [first, second] = &plan.pools[..] else { panic!("two pools, found {plan:?}") };
    assert_eq!((names(first), first.slots), (vec!["J3", "J4"], Slots { maps: 20, reduces: 20 }));
    assert_eq!((names(second), second.slots), (vec!["J1", "J2", "J5"], Slots { maps: 10, reduces: 10 }));
    assert_eq!([first.times.makespan, second.times.makespan], [Span::from_secs(40), Span::from_secs(39)]);
}

/// Small batches of every drawn workload.
fn drawn(seed: u64) -> Vec<Trace> {
    let choices = Choices { jobs: Some(8), seed, ..Choices::default() };
    ["synthetic1-unimodal", "synthetic1-bimodal", "synthetic2-bimodal"]
        .iter()
        .map(|name| workload(name, &choices))
        .collect()
}

// balanced-pools §4.2: the heuristic starts from Johnson's schedule and only ever takes a better one.
#[test]
fn pools_are_never_worse_than_johnsons_order_and_more_pools_never_worse_than_two() {
    for trace in (0..2).flat_map(drawn) {
        let batch = Batch::new(&trace, Slots { maps: 24, reduces: 16 });
        let run = |method| plan(&batch, method).expect("slots of both kinds").makespan();
        let pools = |most, sizes| Method::BalancedPools { most, sizes, objective: Objective::Makespan };
        let two = run(pools(2, Sizes::Machines));
        assert!(two <= run(Method::Johnson));
        assert!(run(pools(4, Sizes::Machines)) <= two);
        assert!(run(pools(2, Sizes::Apart)) <= run(Method::Johnson));
    }
}

#[test]
fn a_plan_gives_each_job_one_place_and_no_slot_twice_and_says_what_a_replay_says() {
    for trace in drawn(5) {
        let cluster = Slots { maps: 20, reduces: 30 };
        let batch = Batch::new(&trace, cluster);
        for (most, sizes) in [(2, Sizes::Machines), (2, Sizes::Apart), (5, Sizes::Apart)] {
            let method = Method::BalancedPools { most, sizes, objective: Objective::Makespan };
            let plan = plan(&batch, method).expect("slots of both kinds");
            let mut jobs: Vec<usize> = plan.submissions().into_iter().map(|(_, job)| job).collect();
            jobs.sort_unstable();
            assert_eq!(jobs, (0..8).collect::<Vec<_>>());
            let sum = |slots: fn(&Slots) -> u16| plan.pools.iter().map(|pool| slots(&pool.slots)).sum::<u16>();
            assert_eq!([sum(|slots| slots.maps), sum(|slots| slots.reduces)], [20, 30], "{plan:?}");
            let mut bench = Bench::new(&batch);
            for pool in &plan.pools {
                let again = bench.simulate(&pool.jobs, pool.slots, Span::MAX).expect("slots of both kinds");
                assert_eq!(again, Some(pool.times));
            }
        }
    }
}

#[test]
fn threads_change_nothing_in_the_plan() {
    for trace in drawn(9) {
        let on = |threads| {
            let batch = Batch { threads, ..Batch::new(&trace, Slots { maps: 16, reduces: 16 }) };
            let method = Method::BalancedPools { most: 3, sizes: Sizes::Apart, objective: Objective::Makespan };
            plan(&batch, method).expect("slots of both kinds")
        };
        assert_eq!(on(1), on(3));
    }
}

/// Every split with every size: what the search looks for.
fn exhaustive(trace: &Trace, slots: Slots) -> Span {
    let mut bench = Bench::new(&Batch::new(trace, slots));
    let mut jobs = all(trace);
    jobs.sort_by_key(|&job| (trace.jobs[job].n_maps, job));
    let mut best = plan(&Batch::new(trace, slots), Method::Johnson).expect("slots").makespan();
    for split in 1..jobs.len() {
        for size in 1..slots.maps {
            let sides = [(&jobs[..split], size), (&jobs[split..], slots.maps - size)];
            let ends = sides.map(|(jobs, size)| {
                let pool = Slots { maps: size, reduces: size };
                let order = bench.order(jobs, pool, Objective::Makespan);
                bench.simulate(&order, pool, Span::MAX).expect("slots").expect("no limit").makespan
            });
            best = best.min(ends[0].max(ends[1]));
        }
    }
    best
}

#[test]
fn the_search_with_its_pruning_comes_close_to_trying_every_size_of_every_split() {
    let slots = Slots { maps: 12, reduces: 12 };
    for trace in (0..2).flat_map(drawn) {
        let found = plan(&Batch::new(&trace, slots), Method::BALANCED_POOLS).expect("slots").makespan();
        let best = exhaustive(&trace, slots);
        assert!(found >= best);
        // A binary search can miss where a pool with fewer slots ends earlier, which greedy assignments allow.
        assert!(found.as_us() as f64 <= 1.05 * best.as_us() as f64, "{found:?} against {best:?}");
    }
}

// balanced-pools §6: the shortest job first is best for the mean delay on a single server.
#[test]
fn one_slot_of_each_kind_serves_the_shortest_first_for_the_mean_delay() {
    let job = |map_ms, reduce_ms| JobTemplate {
        n_maps: 1,
        n_reduces: u32::from(reduce_ms > 0),
        map_ms: vec![map_ms],
        reduce_ms: vec![reduce_ms],
        ..JobTemplate::default()
    };
    let trace = Trace { jobs: vec![job(9_000, 0), job(1_000, 0), job(4_000, 0)], ..Trace::default() };
    let plan = plan(&Batch::new(&trace, Slots { maps: 1, reduces: 1 }), Method::ShortestFirst).expect("slots");
    assert_eq!(plan.pools[0].jobs, [1, 2, 0]);
    assert_eq!(plan.mean_delay(), Span::from_us((1 + 5 + 14) * 1_000_000 / 3));
}

/// All orders without pools.
const ORDERS: [Method; 4] = [Method::Johnson, Method::ReverseJohnson, Method::ShortestFirst, Method::LongestFirst];

// balanced-pools §3.1, Figure 4: both jobs take 22 s, so that the shortest first says nothing; one after the other they
// end at 22 and 24 s, or at 22 and 42 s.
#[test]
fn the_two_jobs_have_the_mean_delay_of_johnsons_order_not_of_the_one_that_they_are_given_in() {
    for name in ["example-two-jobs", "example-two-jobs-reversed"] {
        let (trace, objective) = (example(name), Objective::MeanDelay);
        let method = Method::BalancedPools { most: 2, sizes: Sizes::Machines, objective };
        let plan = plan(&Batch::new(&trace, THIRTY), method).expect("slots");
        assert_eq!((plan.mean_delay(), plan.makespan()), (Span::from_secs(23), Span::from_secs(24)), "{name}");
    }
}

#[test]
fn pools_for_the_mean_delay_are_never_worse_than_any_order_without_pools() {
    for trace in (0..2).flat_map(drawn) {
        let batch = Batch::new(&trace, Slots { maps: 24, reduces: 24 });
        let objective = Objective::MeanDelay;
        let best = ORDERS.map(|order| plan(&batch, order).expect("slots").mean_delay()).into_iter().min();
        let run =
            |most, sizes| plan(&batch, Method::BalancedPools { most, sizes, objective }).expect("slots").mean_delay();
        assert!(Some(run(2, Sizes::Machines)) <= best);
        assert!(Some(run(3, Sizes::Apart)) <= best);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // Few slots and whole seconds, so that orders tie and cross, as the drawn workloads do not.
    #[test]
    fn a_plan_serves_its_objective_at_least_as_well_as_the_orders_that_it_starts_from(
        jobs in prop::collection::vec((1_u32..6, 0_u32..6, 1_u64..20, 1_u64..20), 1..6),
        (maps, reduces) in (1_u16..5, 1_u16..5),
        most in 2_usize..4,
        apart: bool,
    ) {
        let job = |&(n_maps, n_reduces, map_s, reduce_s): &(u32, u32, u64, u64)| JobTemplate {
            n_maps,
            n_reduces,
            map_ms: vec![map_s * 1_000],
            reduce_ms: if n_reduces > 0 { vec![reduce_s * 1_000] } else { Vec::new() },
            ..JobTemplate::default()
        };
        let trace = Trace { jobs: jobs.iter().map(job).collect(), ..Trace::default() };
        let batch = Batch { threads: 1, ..Batch::new(&trace, Slots { maps, reduces }) };
        let sizes = if apart { Sizes::Apart } else { Sizes::Machines };
        let run = |objective| plan(&batch, Method::BalancedPools { most, sizes, objective }).expect("slots");
        let johnson = plan(&batch, Method::Johnson).expect("slots");
        prop_assert!(run(Objective::Makespan).makespan() <= johnson.makespan());
        let chosen = run(Objective::MeanDelay).mean_delay();
        for order in ORDERS {
            let other = plan(&batch, order).expect("slots").mean_delay();
            prop_assert!(chosen <= other, "{chosen:?} against {other:?} of {}", order.name());
        }
    }
}

// balanced-pools §6: G comes at T + Δ while J runs.
#[test]
fn jobs_that_come_while_a_batch_runs_are_planned_with_what_is_left_of_it() {
    let wave = |name: &str, submit_ms, map_s: u64, reduce_s: u64| JobTemplate {
        name: name.to_owned(),
        submit_ms,
        n_maps: 30,
        n_reduces: 30,
        map_ms: vec![map_s * 1_000],
        reduce_ms: vec![reduce_s * 1_000],
        ..JobTemplate::default()
    };
    // At 15 the first job has 5 of its map stage left; the newcomer's short map stage then hides the long reduce.
    let jobs = vec![wave("a", 0, 20, 2), wave("b", 0, 20, 2), wave("c", 15_000, 2, 20)];
    let trace = Trace { jobs, ..Trace::default() };
    let plans = replan(&Batch::new(&trace, THIRTY), Method::Johnson).expect("slots");
    let [first, second] = &plans[..] else { panic!("two plans, found {plans:?}") };
    assert_eq!((first.at, first.end, &first.came), (Span::ZERO, Span::from_secs(42), &vec![0, 1]));
    assert_eq!((second.at, &second.came, &second.plan.pools[0].jobs), (Span::from_secs(15), &vec![2], &vec![2, 1, 0]));
    assert_eq!(second.end, Span::from_secs(15 + 2 + 20 + 5 + 2));
    assert_eq!(second.end_if_waiting, Span::from_secs(42 + 22));
}

#[test]
fn a_batch_planned_again_without_newcomers_in_the_middle_ends_as_it_would_have() {
    // A job without tasks comes at an odd instant: the rest of one pool takes exactly the rest of its time.
    for mut trace in drawn(2) {
        let batch_end = plan(&Batch::new(&trace, THIRTY), Method::Johnson).expect("slots").makespan();
        trace.jobs.push(JobTemplate { submit_ms: 1 + batch_end.as_ms() / 3, ..JobTemplate::default() });
        let plans = replan(&Batch::new(&trace, THIRTY), Method::Johnson).expect("slots");
        assert_eq!(plans[0].end, batch_end);
        // The rest is ordered by what is left, not by what was, so that it may end a little earlier or later.
        let ratio = plans[1].end.as_us() as f64 / batch_end.as_us() as f64;
        assert!((0.8..1.2).contains(&ratio), "{ratio}");
    }
}
