//! How fast a replay is, to see where time goes: `cargo run --release -p howdah-core --example replay`, with
//! `-- JOBS REPEATS WORKERS RULE` for workers of 2 + 2 slots with heartbeats every 3 s under a rule for speculative
//! execution.

#![allow(clippy::print_stdout, reason = "an example prints its result")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::time::Instant;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
use howdah_core::time::Span;

/// So many workers, or a pool of slots, and the rule.
fn options(workers: u32, rule: &str) -> ReplayOptions {
    let mut options = ReplayOptions::default();
    if workers > 0 {
        let (map_slots, reduce_slots) = (2, 2);
        let named = |n| SimWorker { name: format!("w{n}"), host: format!("h{n}"), ..SimWorker::default() };
        let workers = (0..workers).map(|n| SimWorker { map_slots, reduce_slots, ..named(n) }).collect();
        let heartbeat = SimHeartbeat { interval: Span::from_secs(3), out_of_band: false };
        options.view = View::Workers(WorkersView { workers, heartbeat, ..WorkersView::default() });
        options.scheduler_params.insert("speculation".to_owned(), rule.to_owned());
    }
    options
}

fn main() {
    let n: u32 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_148);
    let repeats = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(5);
    let workers = std::env::args().nth(3).and_then(|n| n.parse().ok()).unwrap_or(0);
    let options = options(workers, &std::env::args().nth(4).unwrap_or_else(|| "none".to_owned()));
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
        let mut simulation = Simulation::new(&trace, &options).expect("the options fit");
        simulation.run();
        let seconds = started.elapsed().as_secs_f64();
        let report = simulation.report();
        println!(
            "{} events in {seconds:.3} s: {:.2} million a second, {} speculative attempts, makespan {:.0} s, digest {}",
            report.events,
            report.events as f64 / seconds / 1e6,
            report.costs.launched,
            report.makespan.as_secs_f64(),
            &report.decisions_digest[..16]
        );
    }
}
