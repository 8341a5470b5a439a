//! How fast a replay is, to see where time goes: `cargo run --release -p howdah-shared --example replay`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::time::Instant;

use howdah_shared::job::profile::{JobTemplate, Trace};
use howdah_shared::replay::{ReplayOptions, Simulation};

fn main() {
    let n: u32 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_148);
    let repeats = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut state = 1u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below + 1
    };
    let jobs = (0..n)
        .map(|index| JobTemplate {
            submit_ms: u64::from(index) * 10_000,
            n_maps: 140,
            n_reduces: 34,
            map_ms: (0..140).map(|_| draw(60_000)).collect(),
            first_shuffle_ms: (0..34).map(|_| draw(30_000)).collect(),
            typical_shuffle_ms: (0..34).map(|_| draw(30_000)).collect(),
            reduce_ms: (0..34).map(|_| draw(60_000)).collect(),
            ..JobTemplate::default()
        })
        .collect();
    let trace = Trace { jobs, ..Trace::default() };
    for _ in 0..repeats {
        let started = Instant::now();
        let mut simulation = Simulation::new(&trace, &ReplayOptions::default()).expect("the options fit");
        simulation.run();
        let seconds = started.elapsed().as_secs_f64();
        let report = simulation.report();
        println!(
            "{} events in {seconds:.3} s: {:.2} million a second, makespan {:.0} s, digest {}",
            report.events,
            report.events as f64 / seconds / 1e6,
            report.makespan.as_secs_f64(),
            &report.decisions_digest[..16]
        );
    }
}
