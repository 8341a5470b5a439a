//! Faults in simulation, stated in seconds: what a lost worker, a failing attempt or a stuck cluster makes of a job.

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};
use howdah_core::job::{AttemptState, JobState, TaskKind};
use howdah_core::replay::{
    AttemptRecord, FaultPlan, Observer, ReplayOptions, ReplayReport, ShuffleModel, SimHeartbeat, SimWorker, Simulation,
    View, WorkerLoss, WorkersView,
};
use howdah_core::schedulers::Reason;
use howdah_core::time::{Span, Time};

/// So many workers with a slot of each kind.
fn workers(n: u32) -> View {
    let worker = |index| SimWorker {
        name: format!("w{index}"),
        host: format!("h{index}"),
        rack: "/r".to_owned(),
        map_slots: 1,
        reduce_slots: 1,
        ..SimWorker::default()
    };
    View::Workers(WorkersView { workers: (0..n).map(worker).collect(), ..WorkersView::default() })
}

fn loss(worker: u32, at: u64, expiry: u64, back_after: Option<u64>) -> WorkerLoss {
    WorkerLoss {
        worker,
        at: Time::from_ms(at * 1_000),
        expiry: Span::from_secs(expiry),
        back_after: back_after.map(Span::from_secs),
    }
}

/// Two maps of 10 s and a reduce of 5 s shuffle and 3 s reduce that starts at once.
fn job() -> JobTemplate {
    JobTemplate {
        n_maps: 2,
        n_reduces: 1,
        map_ms: vec![10_000],
        first_shuffle_ms: vec![5_000],
        typical_shuffle_ms: vec![7_000],
        reduce_ms: vec![3_000],
        slowstart_ppm: Some(0),
        ..JobTemplate::default()
    }
}

fn options(n: u32, losses: Vec<WorkerLoss>) -> ReplayOptions {
    let faults = FaultPlan { losses, ..FaultPlan::default() };
    ReplayOptions { view: workers(n), faults, ..ReplayOptions::default() }
}

fn replay(jobs: Vec<JobTemplate>, options: &ReplayOptions) -> ReplayReport {
    let trace = Trace { jobs, ..Trace::default() };
    let mut simulation = Simulation::new(&trace, options).expect("it fits");
    while simulation.step() {
        simulation.tracker().check_invariants().expect("the core is whole");
    }
    simulation.report()
}

/// When the one job is over, in seconds; it succeeds.
fn finish(job: JobTemplate, options: &ReplayOptions) -> f64 {
    let report = replay(vec![job], options);
    assert_eq!(report.jobs[0].state, JobState::Succeeded);
    report.makespan.as_secs_f64()
}

#[test]
fn a_map_on_a_lost_worker_runs_again_when_the_master_notices() {
    assert_eq!(finish(job(), &options(2, vec![])), 18.0);
    // Its map and the filler wait from 5 s to 25 s; then the map runs for 10 s.
    assert_eq!(finish(job(), &options(2, vec![loss(1, 5, 20, None)])), 25.0 + 10.0 + 5.0 + 3.0);
    // It ends at the very instant at which its worker stops, and its output goes with it.
    assert_eq!(finish(job(), &options(2, vec![loss(1, 10, 20, None)])), 30.0 + 10.0 + 5.0 + 3.0);
}

#[test]
fn a_reduce_that_still_shuffles_waits_for_a_lost_output_and_shuffles_again() {
    assert_eq!(finish(job(), &options(2, vec![loss(1, 12, 20, None)])), 32.0 + 10.0 + 5.0 + 3.0);
    // The master has not noticed by 15 s, when the shuffle would have been over: it cannot be.
    assert_eq!(finish(job(), &options(2, vec![loss(1, 14, 90, None)])), 104.0 + 10.0 + 5.0 + 3.0);
}

#[test]
fn a_reduce_that_has_sorted_goes_on_without_the_lost_output() {
    assert_eq!(finish(job(), &options(2, vec![loss(1, 15, 1, None)])), 18.0);
    let mumak = ReplayOptions { shuffle: ShuffleModel::Mumak, ..options(2, vec![loss(1, 11, 1, None)]) };
    assert_eq!(finish(job(), &mumak), 13.0);
}

#[test]
fn a_return_before_the_expiry_tells_the_master_what_is_lost() {
    // Back at 14 s; the map runs again on the first worker, which is free.
    assert_eq!(finish(job(), &options(2, vec![loss(1, 12, 20, Some(2))])), 14.0 + 10.0 + 5.0 + 3.0);
    // The only worker of a cluster stops with everything and comes back.
    let alone = JobTemplate { n_maps: 1, ..job() };
    assert_eq!(finish(alone, &options(1, vec![loss(0, 4, 600, Some(6))])), 10.0 + 10.0 + 5.0 + 3.0);
}

#[test]
fn maps_of_a_job_without_reduces_keep_their_output() {
    let maps = JobTemplate { n_maps: 3, n_reduces: 0, ..job() };
    // The second worker ends one at 10 s and stops; the third map runs on the first one.
    assert_eq!(finish(maps, &options(2, vec![loss(1, 10, 1, None)])), 20.0);
}

#[test]
fn a_reduce_that_starts_after_the_stop_waits_for_the_outputs_too() {
    // One reduce slot: the second reduce starts at 18 s, when the first one is over. The second worker has the output
    // of the second map and stops at 16 s, when the first reduce has sorted; the master notices at 26 s.
    let mut options = options(2, vec![loss(1, 16, 10, None)]);
    let View::Workers(view) = &mut options.view else { panic!("made of workers") };
    view.workers[1].reduce_slots = 0;
    let two = JobTemplate { n_reduces: 2, ..job() };
    assert_eq!(finish(two, &options), 26.0 + 10.0 + 5.0 + 3.0);
}

#[derive(Clone, Default)]
struct Records(Rc<RefCell<Vec<AttemptRecord>>>);

impl Observer for Records {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().push(*record);
    }
}

#[test]
fn scripted_attempts_are_lost_as_in_the_trace() {
    let lost = |reduce, number, failed, ms| LostAttempt { reduce, number, failed, ms, ..LostAttempt::default() };
    let lost_attempts = vec![lost(false, 0, true, 4_000), lost(false, 1, false, 25_000), lost(true, 0, true, 1_000)];
    let template = JobTemplate { lost_attempts, n_maps: 1, ..job() };
    let faults = FaultPlan { scripted: true, ..FaultPlan::default() };
    let options = ReplayOptions { view: View::Slots { maps: 1, reduces: 1 }, faults, ..ReplayOptions::default() };
    let trace = Trace { jobs: vec![template], ..Trace::default() };
    let mut simulation = Simulation::new(&trace, &options).expect("it fits");
    let records = Records::default();
    simulation.observe(Box::new(records.clone()));
    simulation.run();
    let notices: Vec<_> =
        records.0.take().iter().map(|r| (r.attempt.kind, r.attempt.number, r.state, r.end.as_ms())).collect();
    use AttemptState::{Failed, Killed, Succeeded};
    use TaskKind::{Map, Reduce};
    let expected = [
        (Reduce, 0, Failed, 1_000),
        (Map, 0, Failed, 4_000),
        (Map, 1, Killed, 29_000),
        (Map, 2, Succeeded, 39_000),
        (Reduce, 1, Succeeded, 47_000),
    ];
    assert_eq!(notices, expected);
    let outcome = simulation.report().jobs[0];
    assert_eq!((outcome.failed_attempts, outcome.killed_attempts), (2, 1));
}

#[test]
fn a_task_that_fails_four_times_fails_its_job_and_stops_the_others() {
    let faults = FaultPlan { attempt_failure_ppm: 1_000_000, ..FaultPlan::default() };
    let options = ReplayOptions { view: View::Slots { maps: 3, reduces: 3 }, faults, ..ReplayOptions::default() };
    let report = replay(vec![JobTemplate { n_maps: 3, ..job() }], &options);
    let job = report.jobs[0];
    assert_eq!((job.state, job.maps_done), (JobState::Failed, None));
    assert!((4..=10).contains(&job.failed_attempts) && job.killed_attempts >= 1, "{job:?}");
    assert!(job.finish < Time::from_ms(40_000), "four attempts of at most 10 s");
    assert_eq!(report.wasted_us, report.busy_us);
}

#[test]
fn two_seeds_have_different_luck_and_one_has_the_same() {
    let jobs = || vec![JobTemplate { n_maps: 60, ..job() }];
    let with = |seed| {
        let faults = FaultPlan { attempt_failure_ppm: 150_000, ..FaultPlan::default() };
        replay(jobs(), &ReplayOptions { seed, faults, ..ReplayOptions::default() })
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1).decisions_digest, with(2).decisions_digest);
}

#[test]
fn a_replay_without_workers_ends_and_shows_the_job_as_it_is() {
    let trace = Trace { jobs: vec![job()], ..Trace::default() };
    let options = options(1, vec![loss(0, 4, 6, None)]);
    let mut simulation = Simulation::new(&trace, &options).expect("it fits");
    simulation.run();
    let report = simulation.report();
    assert_eq!((report.jobs[0].state, report.jobs[0].finish), (JobState::Running, Time::from_ms(10_000)));
    assert_eq!(simulation.tracker().explain(report.jobs[0].id), Reason::NoWorkers { lost: 1 });
    assert_eq!(simulation.progress(), (0, 3));
}

/// The only task failed on the first worker and is kept for the second, which is down without anyone noticing.
#[test]
fn heartbeats_in_vain_end_after_an_hour() {
    let mut options = options(2, vec![WorkerLoss { expiry: Span::MAX, ..loss(1, 0, 0, None) }]);
    let View::Workers(view) = &mut options.view else { panic!("made of workers") };
    view.heartbeat = SimHeartbeat { interval: Span::from_ms(3_000), out_of_band: true };
    options.faults.scripted = true;
    let failed = LostAttempt { failed: true, ms: 1_000, ..LostAttempt::default() };
    let template = JobTemplate { n_maps: 1, n_reduces: 0, lost_attempts: vec![failed], ..job() };
    let trace = Trace { jobs: vec![template], ..Trace::default() };
    let mut simulation = Simulation::new(&trace, &options).expect("it fits");
    simulation.run();
    assert_eq!(simulation.report().jobs[0].state, JobState::Running);
    assert!((3_600..86_400).contains(&(simulation.now().as_ms() / 1_000)), "{:?}", simulation.now());
    assert!(matches!(
        simulation.tracker().explain(simulation.report().jobs[0].id),
        Reason::NextHeartbeat(TaskKind::Map)
    ));
}

#[test]
fn a_stopped_attempt_is_not_reported_when_it_would_have_ended() {
    let mut options = options(1, vec![]);
    let View::Workers(view) = &mut options.view else { panic!("made of workers") };
    view.workers[0].map_slots = 2;
    view.heartbeat = SimHeartbeat { interval: Span::from_secs(12), out_of_band: true };
    options.faults.scripted = true;
    let failed = |number| LostAttempt { number, failed: true, ms: 1_000, ..LostAttempt::default() };
    // Fails at 4 s with its first map; the second one would have ended at 100 s.
    let failing =
        JobTemplate { map_ms: vec![100_000], n_reduces: 0, lost_attempts: (0..4).map(failed).collect(), ..job() };
    let next = JobTemplate { submit_ms: 100_000, n_maps: 1, n_reduces: 0, ..job() };
    let report = replay(vec![failing, next], &options);
    assert_eq!((report.jobs[0].state, report.jobs[0].finish), (JobState::Failed, Time::from_ms(4_000)));
    // The worker next speaks at 108 s.
    assert_eq!(report.jobs[1].finish, Time::from_ms(118_000));
}

#[test]
fn in_band_a_stopped_attempt_is_reported_one_heartbeat_after_its_order() {
    let mut options = options(1, vec![]);
    let View::Workers(view) = &mut options.view else { panic!("made of workers") };
    view.workers[0].map_slots = 2;
    view.heartbeat = SimHeartbeat { interval: Span::from_secs(10), out_of_band: false };
    options.faults.scripted = true;
    let failed = |number| LostAttempt { number, failed: true, ms: 1_000, ..LostAttempt::default() };
    let lost_attempts = (0..4).map(failed).collect();
    let failing = JobTemplate { map_ms: vec![400_000], n_reduces: 0, lost_attempts, ..job() };
    // The first map's failures are reported at 10, 20, 30 and 40 s; the answer at 40 s stops the second map.
    let report = replay(vec![failing], &options);
    assert_eq!((report.jobs[0].state, report.jobs[0].finish), (JobState::Failed, Time::from_ms(50_000)));
}

#[test]
fn what_was_kept_for_a_worker_goes_to_another_one_when_it_is_lost() {
    let mut options = options(2, vec![loss(1, 0, 6, None)]);
    options.faults.scripted = true;
    let failed = LostAttempt { failed: true, ms: 1_000, ..LostAttempt::default() };
    let template = JobTemplate { n_maps: 1, n_reduces: 0, lost_attempts: vec![failed], ..job() };
    // It failed on the first worker at 1 s; nothing runs on the second when it is lost.
    assert_eq!(finish(template, &options), 6.0 + 10.0);
}

#[test]
fn a_regular_heartbeat_tells_only_what_ended_before_its_worker_stopped() {
    let maps = JobTemplate { n_maps: 1, n_reduces: 0, ..job() };
    let with = |stops| {
        let mut options = options(1, vec![loss(0, stops, 5, Some(20))]);
        let View::Workers(view) = &mut options.view else { panic!("made of workers") };
        view.heartbeat = SimHeartbeat { interval: Span::from_ms(3_000), out_of_band: false };
        finish(maps.clone(), &options)
    };
    // Launched at 0 s, over at 10 s, reported at 12 s.
    assert_eq!(with(12), 12.0);
    // Stops at 11 s: nobody ever knew. Back at 31 s, over at 41 s, reported at 42 s.
    assert_eq!(with(11), 42.0);
}
