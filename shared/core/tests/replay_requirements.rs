//! Jobs that require something of workers, in replay: they wait as live ones do, and for the same reasons.

use howdah_core::job::profile::{AttributeChange, JobTemplate, Trace, TraceWorker};
use howdah_core::job::{JobId, JobState, Requirements};
use howdah_core::replay::{
    FaultPlan, ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkerLoss, WorkersView, alone,
};
use howdah_core::schedulers::names;
use howdah_core::time::{Span, Time};

fn at(s: u64) -> Time {
    Time::from_ms(s * 1_000)
}

fn says(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn worker(n: u32, attributes: &[(u64, &[(&str, &str)])]) -> SimWorker {
    SimWorker {
        name: format!("w{n}"),
        host: format!("h{n}"),
        rack: format!("/r{n}"),
        map_slots: 1,
        reduce_slots: 1,
        attributes: attributes.iter().map(|(s, pairs)| (at(*s), says(pairs))).collect(),
        ..SimWorker::default()
    }
}

/// Two maps of 10 s, then a reduce of 5 s.
fn job(requires: &[&str]) -> JobTemplate {
    JobTemplate {
        n_maps: 2,
        map_ms: vec![10_000],
        n_reduces: 1,
        reduce_ms: vec![5_000],
        slowstart_ppm: Some(1_000_000),
        requires: Requirements::parse(requires).expect("requirements"),
        ..JobTemplate::default()
    }
}

fn options(workers: Vec<SimWorker>) -> ReplayOptions {
    let view = WorkersView { workers, ..WorkersView::default() };
    ReplayOptions { view: View::Workers(view), ..ReplayOptions::default() }
}

fn trace(jobs: Vec<JobTemplate>) -> Trace {
    Trace { jobs, ..Trace::default() }
}

/// When the first job ends, in seconds; `None` if it never does, with the reason.
fn end(trace: &Trace, options: &ReplayOptions) -> Result<f64, String> {
    let mut simulation = Simulation::new(trace, options).unwrap_or_else(|error| panic!("{error}"));
    simulation.run();
    simulation.tracker().check_invariants().expect("they hold");
    let job = simulation.report().jobs[0];
    match job.state {
        JobState::Succeeded => Ok(job.finish.as_us() as f64 / 1e6),
        _ => Err(simulation.tracker().explain(JobId(1)).to_string()),
    }
}

#[test]
fn a_job_runs_where_its_requirements_are_met_under_any_policy() {
    let workers = vec![worker(0, &[]), worker(1, &[(0, &[("gpu", "2")])])];
    for name in names() {
        let options = ReplayOptions { scheduler: name.to_owned(), ..options(workers.clone()) };
        // One after the other on the one worker that has it.
        assert_eq!(end(&trace(vec![job(&["gpu>=1"])]), &options), Ok(25.0), "{name}");
        assert_eq!(end(&trace(vec![job(&["gpu>=1", "rack=r1", "host=h1"])]), &options), Ok(25.0), "{name}");
    }
    assert_eq!(end(&trace(vec![job(&[])]), &options(workers)), Ok(15.0), "both workers, where nothing is required");
}

#[test]
fn a_job_that_nobody_can_serve_waits_for_ever_and_says_why() {
    let workers = vec![worker(0, &[]), worker(1, &[(0, &[("gpu", "2")])])];
    for name in names() {
        let options = ReplayOptions { scheduler: name.to_owned(), ..options(workers.clone()) };
        let said = end(&trace(vec![job(&["gpu>=4"])]), &options).expect_err("nobody has four");
        assert_eq!(said, "No live worker meets gpu>=4 (of 2: 1 has no gpu, 1 has gpu=2).", "{name}");
    }
}

#[test]
fn an_attribute_that_comes_later_starts_what_waits_at_once_and_one_that_goes_stops_nothing() {
    let workers = || vec![worker(0, &[]), worker(1, &[(30, &[("gpu", "1")]), (45, &[])])];
    let one = trace(vec![job(&["gpu"])]);
    // The first map from 30 to 40, the second until 50 as it runs when the attribute goes; no reduce may start then.
    let said = end(&one, &options(workers())).expect_err("the reduce waits");
    assert_eq!(said, "No live worker meets gpu (of 2: 2 have no gpu).");
    let back = [workers(), vec![worker(2, &[(60, &[("gpu", "yes")])])]].concat();
    let ReplayOptions { view: View::Workers(mut view), .. } = options(back) else { unreachable!("workers were given") };
    for interval in [0, 3] {
        view.heartbeat = SimHeartbeat { interval: Span::from_secs(interval), out_of_band: true };
        let options = ReplayOptions { view: View::Workers(view.clone()), ..ReplayOptions::default() };
        let mut simulation = Simulation::new(&one, &options).expect("a replay");
        while simulation.next_time().is_some_and(|next| next <= at(29)) && simulation.step() {}
        let said = simulation.tracker().explain(JobId(1)).to_string();
        assert_eq!(said, "No live worker meets gpu (of 3: 3 have no gpu).", "as `job explain` says it");
        assert_eq!(end(&one, &options), Ok(65.0), "the change is reported at once, whatever the heartbeats");
    }
}

#[test]
fn a_worker_that_is_down_says_what_it_has_when_it_is_back() {
    let plan = |back| {
        let workers = vec![worker(0, &[]), worker(1, &[(0, &[("ssd", "no")]), (20, &[("ssd", "yes")])])];
        let loss = WorkerLoss { worker: 1, at: at(10), expiry: Span::from_secs(5), back_after: back };
        ReplayOptions { faults: FaultPlan { losses: vec![loss], ..FaultPlan::default() }, ..options(workers) }
    };
    let one = trace(vec![job(&["ssd"])]);
    assert_eq!(end(&one, &plan(Some(Span::from_secs(30)))), Ok(65.0), "from its return at 40 s on");
    let said = end(&one, &plan(None)).expect_err("it never comes back");
    assert_eq!(said, "No live worker meets ssd (of 1: 1 has no ssd).");
}

#[test]
fn a_pool_of_slots_has_no_workers_to_require_anything_of() {
    let pool = ReplayOptions { view: View::Slots { maps: 1, reduces: 1 }, ..ReplayOptions::default() };
    assert_eq!(end(&trace(vec![job(&["gpu>=4"])]), &pool), Ok(25.0));
}

#[test]
fn a_job_alone_has_the_cluster_as_it_is_in_the_end() {
    let workers = vec![worker(0, &[]), worker(1, &[(100, &[("gpu", "2")])])];
    let jobs = trace(vec![job(&["gpu"]), job(&[]), job(&["gpu>=9"])]);
    let times = alone(&jobs, &options(workers)).expect("a replay");
    let seconds: Vec<u64> = times.iter().map(|time| time.completion.as_us() / 1_000_000).collect();
    assert_eq!(seconds, [25, 15, 15], "without the wait; where nobody will ever do, as if nothing was required");
}

#[test]
fn what_a_recorded_worker_said_is_what_a_simulated_one_says() {
    let set = |pairs: &[(&str, &str)]| says(pairs).into_iter().collect();
    let recorded = TraceWorker {
        name: "w1".to_owned(),
        attributes: set(&[("gpu", "2")]),
        attribute_changes: vec![AttributeChange { at_ms: 7, attributes: set(&[]) }],
        ..TraceWorker::default()
    };
    let simulated = SimWorker::from(&recorded);
    assert_eq!(simulated.attributes, [(Time::ZERO, says(&[("gpu", "2")])), (Time::from_ms(7), vec![])]);
    assert_eq!(TraceWorker::from(&simulated), recorded);
    let plain = TraceWorker { name: "w2".to_owned(), ..TraceWorker::default() };
    assert!(SimWorker::from(&plain).attributes.is_empty());
    assert_eq!(TraceWorker::from(&SimWorker::from(&plain)), plain);
}

#[test]
fn attributes_that_do_not_fit_are_named() {
    let said = |workers| Simulation::new(&trace(vec![]), &options(workers)).err().expect("refused").to_string();
    assert_eq!(
        said(vec![worker(0, &[(0, &[("1gpu", "2")])])]),
        "attribute: found `1gpu=2` on worker `w0`, expected a name such as gpu, and a printable value"
    );
    assert_eq!(
        said(vec![worker(0, &[(5, &[]), (5, &[])])]),
        "steps of attributes: found 5000000 us after 5000000 us on worker `w0`, expected ascending instants"
    );
}
