//! Both views of the cluster give the same schedule where workers make no difference, and seeds decide only what is
//! drawn.

mod naive;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{
    Arrivals, Deadlines, JobOutcome, ReplayOptions, ReplayReport, SimWorker, Simulation, View, WorkersView,
};
use howdah_core::time::Span;
use naive::traces::{job, trace};
use proptest::collection::vec;
use proptest::prelude::*;

fn replay(trace: &Trace, options: &ReplayOptions) -> ReplayReport {
    let mut simulation = Simulation::new(trace, options).expect("slots of both kinds");
    while simulation.step() {}
    simulation.report()
}

/// Workers with immediate heartbeats, with these numbers of map and reduce slots.
fn workers(slots: &[(u16, u16)]) -> View {
    let worker = |(index, &(map_slots, reduce_slots)): (usize, &(u16, u16))| SimWorker {
        name: format!("worker-{index}"),
        host: format!("host-{index}"),
        rack: format!("/rack-{}", index % 3),
        map_slots,
        reduce_slots,
        ..SimWorker::default()
    };
    View::Workers(WorkersView { workers: slots.iter().enumerate().map(worker).collect(), ..WorkersView::default() })
}

fn pool(slots: &[(u16, u16)]) -> View {
    View::Slots { maps: slots.iter().map(|s| s.0).sum(), reduces: slots.iter().map(|s| s.1).sum() }
}

/// On workers with these slots, and on the pool of them.
fn both(trace: &Trace, slots: &[(u16, u16)]) -> [Vec<JobOutcome>; 2] {
    [workers(slots), pool(slots)].map(|view| replay(trace, &ReplayOptions { view, ..ReplayOptions::default() }).jobs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    // Plain FIFO does not look at workers; with instant heartbeats, no cost of distance and no failures, where a slot
    // is makes no difference to any job.
    #[test]
    fn workers_with_immediate_heartbeats_give_the_schedule_of_their_slots(
        jobs in vec(job(), 0..8),
        slots in vec((0..4_u16, 0..4_u16), 0..9),
        first in (1..3_u16, 1..3_u16),
    ) {
        let slots = [vec![first], slots].concat();
        let [ours, pool] = both(&trace(jobs), &slots);
        prop_assert_eq!(ours, pool);
    }

    #[test]
    fn one_worker_with_all_slots_is_the_slots_view(jobs in vec(job(), 0..8), maps in 1..9_u16, reduces in 1..9_u16) {
        let [ours, pool] = both(&trace(jobs), &[(maps, reduces)]);
        prop_assert_eq!(ours, pool);
    }
}

/// Jobs that compete for a few slots for a while.
fn busy() -> Trace {
    let job = |i: u64| JobTemplate {
        n_maps: 3 + (i * 7 % 5) as u32,
        n_reduces: (i % 4) as u32,
        submit_ms: i * 40,
        map_ms: (0..5).map(|k| 50 + (i * 31 + k * 17) % 90).collect(),
        first_shuffle_ms: vec![5],
        typical_shuffle_ms: vec![25],
        reduce_ms: vec![30 + i % 7],
        ..JobTemplate::default()
    };
    trace((0..60).map(job).collect())
}

fn few_slots() -> ReplayOptions {
    ReplayOptions { view: View::Slots { maps: 4, reduces: 2 }, ..ReplayOptions::default() }
}

fn with_seed(options: &ReplayOptions, seed: u64) -> ReplayReport {
    replay(&busy(), &ReplayOptions { seed, ..options.clone() })
}

#[test]
fn the_same_trace_options_and_seed_give_the_same_run() {
    let options = ReplayOptions {
        arrivals: Arrivals::Load { rho_ppm: 800_000 },
        deadlines: Deadlines::Uniform { factor_ppm: 2_000_000 },
        ..few_slots()
    };
    let (one, two) = (with_seed(&options, 5), with_seed(&options, 5));
    assert_eq!(one, two);
    assert_eq!(one.decisions_digest.len(), 64);
}

#[test]
fn where_nothing_is_drawn_the_seed_makes_no_difference() {
    for arrivals in [Arrivals::AsRecorded, Arrivals::Batch] {
        let options = ReplayOptions { arrivals, ..few_slots() };
        assert_eq!(with_seed(&options, 1), with_seed(&options, 2));
    }
}

#[test]
fn another_seed_moves_drawn_arrivals_and_with_them_the_decisions() {
    let options = ReplayOptions { arrivals: Arrivals::Poisson { mean: Span::from_ms(40) }, ..few_slots() };
    let (one, two) = (with_seed(&options, 1), with_seed(&options, 2));
    assert_ne!(one.decisions_digest, two.decisions_digest);
    assert_ne!(submits(&one), submits(&two));
}

#[test]
fn another_seed_moves_drawn_deadlines_and_nothing_that_does_not_read_them() {
    let options = ReplayOptions { deadlines: Deadlines::Uniform { factor_ppm: 2_000_000 }, ..few_slots() };
    let (one, two) = (with_seed(&options, 1), with_seed(&options, 2));
    assert_ne!(deadlines(&one), deadlines(&two));
    assert_eq!(one.decisions_digest, two.decisions_digest);
}

#[test]
fn drawing_deadlines_does_not_move_drawn_arrivals() {
    let plain = ReplayOptions { arrivals: Arrivals::Poisson { mean: Span::from_ms(40) }, ..few_slots() };
    let drawn = ReplayOptions { deadlines: Deadlines::Uniform { factor_ppm: 2_000_000 }, ..plain.clone() };
    assert_eq!(submits(&with_seed(&plain, 3)), submits(&with_seed(&drawn, 3)));
}

#[test]
fn decisions_that_differ_differ_in_their_digest() {
    let fewer = ReplayOptions { view: View::Slots { maps: 3, reduces: 2 }, ..few_slots() };
    assert_ne!(with_seed(&few_slots(), 1).decisions_digest, with_seed(&fewer, 1).decisions_digest);
}

fn submits(report: &ReplayReport) -> Vec<u64> {
    report.jobs.iter().map(|job| job.submit.as_us()).collect()
}

fn deadlines(report: &ReplayReport) -> Vec<Span> {
    report.jobs.iter().map(|job| job.deadline.expect("drawn for each job")).collect()
}
