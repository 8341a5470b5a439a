//! How fast the whole core is, to see where time goes: `cargo run --release -p howdah-core --example throughput`.
//!
//! A million one-map tasks go through submission, launch, report and end, on workers that report each end at
//! once; once with few jobs waiting, once with 10,000. An event is an attempt's start or end.

#![allow(clippy::print_stdout, reason = "an example prints its result")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use howdah_core::job::{AttemptId, AttemptState, JobConf, JobId, JobSpec, Phase, Progress, WorkerId};
use howdah_core::schedulers::by_name;
use howdah_core::time::Time;
use howdah_core::tracker::{AttemptReport, ClusterConfig, Effect, Input, JobTracker, Registration, Report, Vitals};

fn main() {
    for (workers, slots, jobs, maps) in [(64, 2, 50, 20_000), (64, 2, 10_000, 100), (1_000, 2, 1_000, 1_000)] {
        measure(workers, slots, jobs, maps);
    }
    fork();
}

/// What a copy for a prediction costs.
fn fork() {
    let mut tracker =
        JobTracker::new(ClusterConfig::default(), by_name("fifo", &BTreeMap::new()).expect("fifo exists"));
    let mut effects = Vec::new();
    for job in 1..=50 {
        let spec = Arc::new(JobSpec { n_maps: 1_000, ..JobSpec::default() });
        tracker.apply(Time::from_ms(1), &[Input::Submit { job: JobId(job), spec }], &mut effects);
    }
    let started = Instant::now();
    const N: u32 = 2_000;
    for _ in 0..N {
        drop(std::hint::black_box(tracker.fork()));
    }
    let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(N);
    let job = std::mem::size_of::<howdah_core::cluster::Job>();
    println!("a fork of 50 jobs with 50,000 tasks: {micros:.0} us; a job is {job} bytes and 16 1/8 a task");
}

/// All jobs at once, then rounds of reports until nothing is left.
fn measure(workers: u32, slots: u16, jobs: u32, maps: u32) {
    let scheduler = by_name("fifo", &BTreeMap::new()).expect("fifo exists");
    let mut tracker = JobTracker::new(ClusterConfig::default(), scheduler);
    let mut effects = Vec::new();
    let mut now = Time::from_ms(1);
    let conf = JobConf { commits_output: false, ..JobConf::default() };
    let spec = Arc::new(JobSpec { n_maps: maps, conf, ..JobSpec::default() });
    for worker in 0..workers {
        tracker.apply(now, &[register(worker, slots)], &mut effects);
    }
    for job in 1..=jobs {
        tracker.apply(now, &[Input::Submit { job: JobId(job), spec: Arc::clone(&spec) }], &mut effects);
    }
    let mut puppets = vec![(0u32, Vec::<AttemptId>::new()); workers as usize];
    let (mut events, mut reports, mut done) = (0u64, 0u64, 0u32);
    let started = Instant::now();
    while done < jobs {
        now = Time::from_us(now.as_us() + 1_000);
        for worker in 0..workers {
            effects.clear();
            let (response_id, running) = &mut puppets[worker as usize];
            let report = report(worker, *response_id, slots, running);
            events += running.len() as u64;
            reports += 1;
            running.clear();
            tracker.apply(now, &[Input::Report(Box::new(report))], &mut effects);
            let mut commits = Vec::new();
            for effect in &effects {
                match *effect {
                    Effect::Launch { attempt, .. } => running.push(attempt),
                    Effect::Answer { response_id: id, .. } => *response_id = id,
                    Effect::CommitJob { job } => commits.push(Input::JobCommitted { job, ok: true }),
                    _ => {}
                }
            }
            events += running.len() as u64;
            done += commits.len() as u32;
            if !commits.is_empty() {
                tracker.apply(now, &commits, &mut effects);
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{workers} workers, {jobs} jobs of {maps} maps: {:.2} million task events/s, {:.2} million reports/s, {:.0} ns an event",
        events as f64 / seconds / 1e6,
        reports as f64 / seconds / 1e6,
        seconds * 1e9 / events as f64
    );
}

fn register(worker: u32, slots: u16) -> Input {
    Input::Register(Box::new(Registration {
        worker: WorkerId(worker),
        incarnation: 1,
        name: format!("w{worker}"),
        host: format!("h{worker}"),
        rack: "/r".into(),
        map_slots: slots,
        reduce_slots: 0,
        attributes: Vec::new(),
    }))
}

fn report(worker: u32, response_id: u32, slots: u16, ended: &[AttemptId]) -> Report {
    let status = |&attempt| AttemptReport {
        attempt,
        state: AttemptState::Succeeded,
        phase: Phase::Map,
        progress: Progress::DONE,
        fetch_failures: Vec::new(),
        fatal: false,
    };
    Report {
        worker: WorkerId(worker),
        incarnation: 1,
        response_id,
        free_maps: slots,
        free_reduces: 0,
        accepts_tasks: true,
        may_park: false,
        attempts: ended.iter().map(status).collect(),
        vitals: Vitals::default(),
        attributes: None,
    }
}
