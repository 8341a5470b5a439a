//! The fast paths on which attempts start and end do what the general ones do.
//!
//! Nearly all that a simulation does is an attempt that succeeds alone and another one that starts, so that the tracker
//! has a path of its own for each ([`JobTracker`](crate::tracker::JobTracker)). The same workload is played once with
//! them and once without; everything that happens, and when, must be the same.

use std::collections::BTreeMap;

use crate::job::profile::{JobTemplate, Trace};
use crate::replay::{
    FaultPlan, ReplayOptions, ReplayReport, SimHeartbeat, SimWorker, Simulation, View, WorkerLoss, WorkersView,
};
use crate::time::{Span, Time};
use crate::tracker::planted::{Fault, plant};

/// Small numbers that look like chance: the same for the same seed.
fn below(seed: &mut u64, n: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n
}

fn trace(mut seed: u64) -> Trace {
    let mut job = |index: u64| {
        let mut random = |n| below(&mut seed, n);
        let n_maps = random(12) as u32;
        JobTemplate {
            submit_ms: index * random(400),
            user: format!("user{}", random(3)),
            n_maps,
            n_reduces: random(5) as u32,
            map_ms: (0..=random(6)).map(|_| 50 + random(900)).collect(),
            first_shuffle_ms: vec![random(200)],
            typical_shuffle_ms: vec![random(300)],
            reduce_ms: (0..=random(3)).map(|_| 50 + random(700)).collect(),
            slots_per_map: 1 + u16::from(random(6) == 0),
            ..JobTemplate::default()
        }
    };
    Trace { jobs: (0..14).map(&mut job).collect(), ..Trace::default() }
}

fn options(seed: u64, scheduler: &str, params: &[(&str, &str)]) -> ReplayOptions {
    let worker = |index: u64| SimWorker {
        name: format!("w{index}"),
        host: format!("h{index}"),
        rack: format!("/r{}", index % 2),
        map_slots: 2,
        reduce_slots: 2,
        speed: vec![(Time::ZERO, if index == 0 { 200_000 } else { 1_000_000 })],
        ..SimWorker::default()
    };
    let loss = WorkerLoss {
        worker: 2,
        at: Time::from_ms(700),
        expiry: Span::from_ms(300),
        back_after: Some(Span::from_ms(900)),
    };
    let view = if seed.is_multiple_of(3) {
        View::Slots { maps: 4, reduces: 3 }
    } else {
        let interval = if seed % 3 == 1 { Span::ZERO } else { Span::from_ms(300) };
        let heartbeat = SimHeartbeat { interval, out_of_band: seed.is_multiple_of(2) };
        View::Workers(WorkersView { workers: (0..4).map(worker).collect(), heartbeat, ..WorkersView::default() })
    };
    let losses = if matches!(view, View::Workers(_)) { vec![loss] } else { Vec::new() };
    ReplayOptions {
        scheduler: scheduler.to_owned(),
        scheduler_params: params
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
        faults: FaultPlan { attempt_failure_ppm: (seed as u32 % 4) * 60_000, losses, ..FaultPlan::default() },
        seed,
        view,
        ..ReplayOptions::default()
    }
}

fn played(trace: &Trace, options: &ReplayOptions, fault: Option<Fault>) -> ReplayReport {
    plant(fault);
    let mut simulation = Simulation::new(trace, options).unwrap_or_else(|error| panic!("{error}"));
    while simulation.step() {
        simulation.tracker().check_invariants().unwrap_or_else(|problem| panic!("{problem}"));
    }
    plant(None);
    simulation.report()
}

#[test]
fn attempts_start_and_end_on_the_fast_paths_as_on_the_general_ones() {
    let policies: [(&str, &[(&str, &str)]); 5] = [
        ("fifo", &[]),
        ("fifo", &[("dialect", "1.2.1"), ("speculation", "late")]),
        ("fair", &[("speculation", "hadoop")]),
        ("minedf", &[]),
        ("tags", &[]),
    ];
    for seed in 0..24 {
        let trace = trace(seed);
        for (scheduler, params) in policies {
            let options = options(seed, scheduler, params);
            let fast = played(&trace, &options, None);
            let general = played(&trace, &options, Some(Fault::NoFastPaths));
            assert!(fast.events > 0, "seed {seed}: something ran");
            assert_eq!(fast, general, "seed {seed}, {scheduler} {params:?}");
        }
    }
}
