//! Random clusters with random faults: the core stays whole, every job ends or is truly stuck, nothing is used that
//! was lost, and everything happens again in the same way.

mod naive;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};
use howdah_core::job::{AttemptState, JobId, JobState, TaskId, TaskKind};
use howdah_core::replay::{
    AttemptRecord, FaultPlan, Observer, ReplayOptions, ReplayReport, ShuffleModel, SimHeartbeat, SimWorker, Simulation,
    View, WorkerLoss, WorkersView,
};
use howdah_core::schedulers::registry::Params;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::EndCause;
use naive::traces::job;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

#[derive(Clone, Default)]
struct Records(Rc<RefCell<Vec<AttemptRecord>>>);

impl Observer for Records {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().push(*record);
    }
}

/// A worker that is down from one instant until another.
type Down = (u32, Time, Time);

/// When workers are down: a loss of one that is down is none.
fn downs(losses: &[WorkerLoss]) -> Vec<Down> {
    let mut losses: Vec<&WorkerLoss> = losses.iter().collect();
    losses.sort_by_key(|loss| loss.at);
    let mut downs: Vec<Down> = Vec::new();
    for loss in losses {
        if downs.iter().all(|&(worker, _, until)| worker != loss.worker || until <= loss.at) {
            downs.push((loss.worker, loss.at, loss.back_after.map_or(Time::MAX, |after| loss.at + after)));
        }
    }
    downs
}

/// Instants in milliseconds and speeds from there on.
fn speed() -> impl Strategy<Value = BTreeMap<u64, u32>> {
    btree_map(0..300_u64, prop_oneof![Just(250_000_u32), Just(1_000_000), Just(3_000_001)], 0..4)
}

prop_compose! {
    fn worker()(
        map_slots in 0..4_u16,
        reduce_slots in 0..4_u16,
        place in 0..5_u32,
        speed in speed(),
    ) -> (u16, u16, u32, Vec<(Time, u32)>) {
        (map_slots, reduce_slots, place, speed.into_iter().map(|(ms, ppm)| (Time::from_ms(ms), ppm)).collect())
    }
}

fn workers() -> impl Strategy<Value = Vec<SimWorker>> {
    vec(worker(), 0..6).prop_map(|list| {
        let list = [vec![(1, 1, 0, Vec::new())], list].concat();
        let named = |(index, (map_slots, reduce_slots, place, speed))| SimWorker {
            name: format!("w{index}"),
            host: format!("h{place}"),
            rack: format!("/r{}", place % 2),
            map_slots,
            reduce_slots,
            speed,
            ..SimWorker::default()
        };
        list.into_iter().enumerate().map(named).collect()
    })
}

fn heartbeat() -> impl Strategy<Value = SimHeartbeat> {
    let regular = (5..60_u64, any::<bool>())
        .prop_map(|(ms, out_of_band)| SimHeartbeat { interval: Span::from_ms(ms), out_of_band });
    prop_oneof![1 => Just(SimHeartbeat::default()), 2 => regular]
}

fn losses(n_workers: usize) -> impl Strategy<Value = Vec<WorkerLoss>> {
    let loss = (0..n_workers as u32, 0..200_u64, 0..80_u64, proptest::option::weighted(0.7, 1..120_u64));
    vec(loss, 0..8).prop_map(|losses| {
        let made = |(worker, at, expiry, back)| WorkerLoss {
            worker,
            at: Time::from_ms(at),
            expiry: Span::from_ms(expiry),
            back_after: Option::map(back, Span::from_ms),
        };
        losses.into_iter().map(made).collect()
    })
}

prop_compose! {
    fn lost()(reduce in any::<bool>(), index in 0..6_u32, number in 0..4_u16, failed in any::<bool>(), ms in 0..40_u64)
        -> LostAttempt {
        LostAttempt { reduce, index, number, failed, ms, speculative: false }
    }
}

prop_compose! {
    fn faulty_job()(job in job(), lost_attempts in vec(lost(), 0..6)) -> JobTemplate {
        // Short enough that losses meet them.
        let short = |list: Vec<u64>| list.into_iter().map(|ms| ms % 97).collect();
        JobTemplate {
            map_ms: short(job.map_ms),
            reduce_ms: short(job.reduce_ms),
            first_shuffle_ms: short(job.first_shuffle_ms),
            typical_shuffle_ms: short(job.typical_shuffle_ms),
            lost_attempts,
            ..job
        }
    }
}

prop_compose! {
    /// A trace, its options.
    fn world()(workers in workers())(
        losses in losses(workers.len()),
        workers in Just(workers),
        heartbeat in heartbeat(),
        jobs in vec(faulty_job(), 0..6),
        scripted in any::<bool>(),
        attempt_failure_ppm in prop_oneof![2 => Just(0), 2 => Just(60_000), 1 => Just(300_000), 1 => Just(1_000_000)],
        shuffle in prop_oneof![4 => Just(ShuffleModel::SimMr), 1 => Just(ShuffleModel::Mumak)],
        seed in any::<u64>(),
    ) -> (Trace, ReplayOptions) {
        let view = View::Workers(WorkersView { workers, heartbeat, ..WorkersView::default() });
        let faults = FaultPlan { scripted, attempt_failure_ppm, losses };
        (Trace { jobs, ..Trace::default() }, ReplayOptions { view, faults, shuffle, seed, ..ReplayOptions::default() })
    }
}

/// Runs and looks into the core after every step.
fn play(trace: &Trace, options: &ReplayOptions) -> (ReplayReport, Vec<AttemptRecord>) {
    let mut simulation = Simulation::new(trace, options).expect("the first worker can do anything");
    let records = Records::default();
    simulation.observe(Box::new(records.clone()));
    let mut last = Time::ZERO;
    while simulation.step() {
        simulation.tracker().check_invariants().expect("the core is whole");
        assert!(simulation.now() >= last);
        last = simulation.now();
    }
    let report = simulation.report();
    let stuck = report.jobs.iter().filter(|job| !job.state.is_final()).count();
    let state = simulation.tracker().state();
    assert_eq!(stuck, state.n_jobs() as usize);
    assert_eq!(report.jobs.len(), trace.jobs.len(), "all jobs came");
    if stuck > 0 {
        assert!(state.totals().slots.contains(&0), "{stuck} jobs are stuck with slots {:?}", state.totals().slots);
    }
    (report, records.0.take())
}

fn never_more_running_than_slots(workers: &[SimWorker], records: &[AttemptRecord]) {
    for (index, worker) in workers.iter().enumerate() {
        for kind in TaskKind::ALL {
            let mut changes: Vec<(Time, i32)> = records
                .iter()
                .filter(|r| r.worker.0 as usize == index && r.attempt.kind == kind && r.start < r.end)
                .flat_map(|record| [(record.end, -1), (record.start, 1)])
                .collect();
            changes.sort_unstable();
            let slots = i32::from([worker.map_slots, worker.reduce_slots][kind]);
            let mut running = 0;
            for (at, change) in changes {
                running += change;
                assert!(running <= slots, "{running} {kind} attempts on {slots} slots of w{index} at {at:?}");
            }
        }
    }
}

/// A worker that is down starts nothing and ends nothing.
fn nothing_happens_on_workers_that_are_down(downs: &[Down], records: &[AttemptRecord]) {
    for record in records {
        let own = || downs.iter().filter(|down| down.0 == record.worker.0);
        assert!(own().all(|&(_, from, until)| !(from..until).contains(&record.start)), "{record:?} {downs:?}");
        let reported = record.cause == EndCause::Reported;
        let silent = |&(_, from, until): &Down| record.start <= from && from < record.end && until > from;
        assert!(!reported || !own().any(silent), "{record:?} {downs:?}");
    }
}

/// What a reduce shuffles lies on workers that are up, until it has sorted.
fn no_reduce_uses_what_was_lost(trace: &Trace, report: &ReplayReport, downs: &[Down], records: &[AttemptRecord]) {
    let mut winners: BTreeMap<TaskId, Vec<&AttemptRecord>> = BTreeMap::new();
    for record in succeeded(records) {
        winners.entry(record.attempt.task()).or_default().push(record);
    }
    let reduces = winners.values().flatten().filter(|record| record.attempt.kind == TaskKind::Reduce);
    for reduce in reduces {
        let job: JobId = reduce.attempt.job;
        let n_maps = trace.jobs[report.jobs[job.0 as usize - 1].template as usize].n_maps;
        let (from, until) = (reduce.maps_done.expect("it shuffled"), reduce.sorted.expect("it sorted"));
        for index in 0..n_maps {
            let maps = winners.get(&TaskId { job, kind: TaskKind::Map, index }).map_or(&[][..], Vec::as_slice);
            let is_there = |map: &&AttemptRecord| {
                let goes = |&(worker, at, _): &Down| worker == map.worker.0 && map.end <= at && at < until;
                map.end <= from && !downs.iter().any(goes)
            };
            assert!(
                maps.iter().any(is_there),
                "{reduce:?} shuffles map {index}, which it cannot have: {maps:?} {downs:?}"
            );
        }
    }
}

/// Outcomes are what the attempts tell.
fn the_report_adds_up(report: &ReplayReport, records: &[AttemptRecord]) {
    for job in &report.jobs {
        let ended = |state| records.iter().filter(|r| r.attempt.job == job.id && r.state == state).count() as u32;
        assert_eq!(job.failed_attempts, ended(AttemptState::Failed));
        assert_eq!(job.killed_attempts, ended(AttemptState::Killed));
        let mut failures: BTreeMap<TaskId, u32> = BTreeMap::new();
        let failed = records.iter().filter(|r| r.attempt.job == job.id && r.state == AttemptState::Failed);
        failed.for_each(|record| *failures.entry(record.attempt.task()).or_default() += 1);
        let out_of_attempts = failures.values().any(|&n| n >= 4);
        assert_eq!(job.state == JobState::Failed, out_of_attempts && job.state.is_final(), "{job:?} {failures:?}");
    }
    for kind in TaskKind::ALL {
        let of_kind = || records.iter().filter(|record| record.attempt.kind == kind);
        let held = |r: &AttemptRecord| r.end.since(r.start).as_us();
        let wasted: u64 = of_kind().filter(|r| r.state != AttemptState::Succeeded).map(held).sum();
        assert_eq!(report.busy_us[kind], of_kind().map(held).sum::<u64>());
        assert_eq!(report.wasted_us[kind], wasted);
    }
}

/// Rules that find something to do among short tasks.
const RULES: [&str; 3] = [
    "speculation=hadoop speculation.age=0s speculation.gap=0.05",
    "speculation=hadoop speculation.age=0s speculation.gap=0.3 speculation.cap=1",
    "speculation=late speculation.age=0s speculation.cap=90%",
];

fn rule(text: &str) -> Params {
    let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn workers_of(options: &mut ReplayOptions) -> &mut WorkersView {
    let View::Workers(view) = &mut options.view else { unreachable!("worlds have workers") };
    view
}

/// No task of the job takes no time.
fn takes_time(job: &mut JobTemplate) {
    for list in [&mut job.map_ms, &mut job.first_shuffle_ms, &mut job.typical_shuffle_ms, &mut job.reduce_ms] {
        list.push(1);
        list.iter_mut().for_each(|ms| *ms = (*ms).max(1));
    }
    job.lost_attempts.iter_mut().for_each(|lost| lost.ms = lost.ms.max(1));
}

fn succeeded(records: &[AttemptRecord]) -> impl Iterator<Item = &AttemptRecord> {
    records.iter().filter(|record| record.state == AttemptState::Succeeded)
}

fn config(cases: u32) -> ProptestConfig {
    let seeds = FileFailurePersistence::Direct("tests/replay_faults.proptest-regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(seeds)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn faults_break_nothing(world in world()) {
        let (trace, options) = world;
        let (report, records) = play(&trace, &options);
        let View::Workers(view) = &options.view else { unreachable!("worlds have workers") };
        let downs = downs(&options.faults.losses);
        never_more_running_than_slots(&view.workers, &records);
        nothing_happens_on_workers_that_are_down(&downs, &records);
        no_reduce_uses_what_was_lost(&trace, &report, &downs, &records);
        the_report_adds_up(&report, &records);
    }

    // Attempts then end when their machine's clock says, not as planned at their launch: another way to the same ends.
    #[test]
    fn load_that_slows_nobody_down_changes_nothing(world in world()) {
        let (trace, options) = world;
        let mut loaded = options.clone();
        workers_of(&mut loaded).workers[0].cores_milli = 900_000;
        workers_of(&mut loaded).workers[0].foreign = vec![(Time::from_ms(20), 1_000)];
        let ((plain, mut expected), (report, mut records)) = (play(&trace, &options), play(&trace, &loaded));
        // What is ordered to stop in one instant stops in no particular order.
        prop_assume!(!expected.iter().any(|record| record.cause == EndCause::JobEnded));
        prop_assert_eq!(report, plain);
        // A plan says when a reduce would have sorted, even if it failed before, or its worker had stopped.
        let lost = |record: &&mut AttemptRecord| record.state != AttemptState::Succeeded;
        for record in expected.iter_mut().chain(&mut records).filter(lost) {
            (record.maps_done, record.sorted) = (None, None);
        }
        prop_assert_eq!(records, expected);
    }

    // Where heartbeats are immediate, or tasks take no time, a report is one more turn at its instant, and who comes
    // first may change.
    #[test]
    fn reports_on_which_nobody_acts_change_nothing(world in world(), ms in 5..60_u64) {
        let (mut trace, mut options) = world;
        trace.jobs.iter_mut().for_each(takes_time);
        workers_of(&mut options).heartbeat.interval = Span::from_ms(ms);
        options.faults.losses.retain(|loss| loss.back_after.is_some());
        let (plain, records) = play(&trace, &options);
        prop_assume!(!records.iter().any(|record| record.cause == EndCause::JobEnded));
        options.scheduler_params = rule("speculation=hadoop speculation.cap=0");
        prop_assert_eq!(play(&trace, &options).0, plain);
    }

    #[test]
    fn second_attempts_break_nothing_either(
        world in world(),
        loads in vec(btree_map(0..200_u64, 0..5_000_u32, 0..4), 7),
        cores in vec(1..4_u32, 7),
        rule_index in 0..RULES.len(),
        steps in 0..80_usize,
    ) {
        let (trace, mut options) = world;
        // All workers come back, so that nobody waits for ever.
        options.faults.losses.retain(|loss| loss.back_after.is_some());
        options.scheduler_params = rule(RULES[rule_index]);
        let view = workers_of(&mut options);
        view.report_interval = Span::from_ms(10);
        for (worker, (loads, cores)) in view.workers.iter_mut().zip(loads.into_iter().zip(cores)) {
            worker.foreign = loads.into_iter().map(|(ms, milli)| (Time::from_ms(ms), milli)).collect();
            worker.cores_milli = cores * 1_000;
        }
        let workers = view.workers.clone();
        let (report, records) = play(&trace, &options);
        never_more_running_than_slots(&workers, &records);
        nothing_happens_on_workers_that_are_down(&downs(&options.faults.losses), &records);
        the_report_adds_up(&report, &records);
        if options.faults.losses.is_empty() {
            let mut winners: Vec<TaskId> = succeeded(&records).map(|record| record.attempt.task()).collect();
            winners.sort_unstable();
            prop_assert!(winners.windows(2).all(|pair| pair[0] != pair[1]), "two winners");
        }
        let mut one = Simulation::new(&trace, &options).expect("the first worker can do anything");
        (0..steps).for_each(|_| _ = one.step());
        let mut fork = one.fork();
        fork.run();
        prop_assert_eq!(fork.report(), report);
    }

    #[test]
    fn a_fork_runs_as_the_original_does_and_both_as_another_run(world in world(), steps in 0..80_usize) {
        let (trace, options) = world;
        let mut one = Simulation::new(&trace, &options).expect("the first worker can do anything");
        for _ in 0..steps {
            one.step();
        }
        let mut fork = one.fork();
        let at_fork = fork.report();
        one.run();
        prop_assert_eq!(fork.report(), at_fork, "the fork does not follow its original");
        fork.run();
        prop_assert_eq!(fork.report(), one.report());
        prop_assert_eq!(fork.now(), one.now());
        prop_assert_eq!(play(&trace, &options).0, one.report());
    }
}

/// Otherwise the properties above would hold for want of events.
#[test]
fn the_worlds_are_wild_enough() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..150 {
        let (trace, options) = world().new_tree(&mut runner).expect("worlds can be made").current();
        let (report, records) = play(&trace, &options);
        let states = report.jobs.iter().map(|job| format!("job {:?}", job.state));
        let causes = records.iter().map(|record| format!("{:?} {:?}", record.state, record.cause));
        states.chain(causes).for_each(|what| *seen.entry(what).or_default() += 1);
        let mut winners: Vec<TaskId> = succeeded(&records).map(|record| record.attempt.task()).collect();
        winners.sort_unstable();
        if winners.windows(2).any(|pair| pair[0] == pair[1]) {
            *seen.entry("map output lost".to_owned()).or_default() += 1;
        }
    }
    for wanted in [
        "job Succeeded",
        "job Failed",
        "job Running",
        "Succeeded Reported",
        "Failed Reported",
        "Killed Reported",
        "Killed WorkerLost",
        "Killed JobEnded",
        "map output lost",
    ] {
        assert!(seen.get(wanted).is_some_and(|&n| n >= 3), "too few worlds show `{wanted}`: {seen:?}");
    }
}
