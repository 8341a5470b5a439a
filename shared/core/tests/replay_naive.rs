//! The engine against the naive simulator: the same instants for every job, to the microsecond.

mod naive;

use howdah_core::job::JobState;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, ShuffleModel, Simulation, View};
use naive::traces::{job, slots, trace};
use naive::{Naive, Outcome};
use proptest::collection::vec;
use proptest::prelude::*;

/// What the engine says of each job, in the trace's order.
fn engine(trace: &Trace, naive: &Naive) -> Vec<Outcome> {
    let [maps, reduces] = naive.slots.map(|n| n as u16);
    let options =
        ReplayOptions { view: View::Slots { maps, reduces }, shuffle: naive.shuffle, ..ReplayOptions::default() };
    let mut simulation = Simulation::new(trace, &options).expect("slots of both kinds");
    while simulation.step() {}
    let report = simulation.report();
    let mut outcomes = vec![Outcome::default(); trace.jobs.len()];
    for job in &report.jobs {
        assert_eq!(job.state, JobState::Succeeded, "job {} of the trace", job.template);
        let finish = Some(job.finish);
        outcomes[job.template as usize] = Outcome { start: job.start, maps_done: job.maps_done, finish };
    }
    outcomes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_traces_run_as_the_naive_simulator_says(
        jobs in vec(job(), 0..9),
        slots in [slots(), slots()],
        mumak in any::<bool>(),
    ) {
        let shuffle = if mumak { ShuffleModel::Mumak } else { ShuffleModel::SimMr };
        let naive = Naive { slots: slots.map(usize::from), shuffle, slowstart_ppm: 50_000 };
        let trace = trace(jobs);
        prop_assert_eq!(engine(&trace, &naive), naive.run(&trace));
    }
}

/// Larger than what proptest would shrink in reasonable time: thousands of tasks, from one slot to thousands.
#[test]
fn large_traces_run_as_the_naive_simulator_says() {
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for (slots, slowstart_ppm) in [(1, 50_000), (13, 0), (64, 50_000), (64, 1_000_000), (3_000, 50_000)] {
        let jobs = (0..30).map(|_| JobTemplate {
            n_maps: draw(120) as u32,
            n_reduces: draw(50) as u32,
            submit_ms: draw(3_000),
            map_ms: (0..120).map(|_| draw(200)).collect(),
            reduce_ms: (0..50).map(|_| draw(300)).collect(),
            first_shuffle_ms: (0..7).map(|_| draw(50)).collect(),
            typical_shuffle_ms: (0..11).map(|_| draw(100)).collect(),
            slowstart_ppm: Some(slowstart_ppm),
            ..JobTemplate::default()
        });
        let trace = trace(jobs.collect());
        let naive = Naive { slots: [slots; 2], shuffle: ShuffleModel::SimMr, slowstart_ppm: 50_000 };
        assert_eq!(engine(&trace, &naive), naive.run(&trace), "{slots} slots of each kind");
    }
}
