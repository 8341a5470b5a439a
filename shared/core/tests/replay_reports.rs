//! The simulation's short way to the core gives the decisions of the real protocol: the same attempts at the same
//! instants on the same workers as whole reports and answers give.

mod full_protocol;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use full_protocol::FullProtocol;
use full_protocol::live::Live;
use howdah_core::job::profile::{JobTemplate, LostAttempt, Trace};
use howdah_core::job::{AttemptId, JobId, JobState, Priority, SplitHosts, WorkerId};
use howdah_core::replay::{
    AttemptRecord, FaultPlan, LocalityCost, Observer, ReplayOptions, SimHeartbeat, SimWorker, Simulation, View,
    WorkersView,
};
use howdah_core::time::{Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

type Ends = BTreeMap<JobId, (Time, JobState)>;
type Launch = Option<(Time, WorkerId)>;
type Launches = BTreeMap<AttemptId, (Time, WorkerId)>;

#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Launches>>);

impl Observer for Seen {
    fn attempt(&mut self, record: &AttemptRecord) {
        self.0.borrow_mut().insert(record.attempt, (record.start, record.worker));
    }
}

/// Launches, and the ends of the jobs.
fn simulated(trace: &Trace, view: &WorkersView) -> (Launches, Ends) {
    let faults = FaultPlan { scripted: true, ..FaultPlan::default() };
    let options = ReplayOptions { view: View::Workers(view.clone()), faults, ..ReplayOptions::default() };
    let mut simulation = Simulation::new(trace, &options).expect("slots of both kinds");
    let seen = Seen::default();
    simulation.observe(Box::new(seen.clone()));
    simulation.run();
    let finished = simulation.report().jobs.iter().map(|job| (job.id, (job.finish, job.state))).collect();
    (seen.0.take(), finished)
}

fn by_full_protocol<'t>(trace: &'t Trace, view: &'t WorkersView, parks: bool) -> FullProtocol<'t> {
    let mut full_protocol = FullProtocol::new(trace, view, parks);
    full_protocol.run();
    full_protocol
}

/// Attempts that were not launched at the same instant on the same worker, by both.
fn differences(ours: &Launches, theirs: &Launches) -> Vec<(AttemptId, Launch, Launch)> {
    let attempts: BTreeSet<AttemptId> = ours.keys().chain(theirs.keys()).copied().collect();
    let both = attempts.into_iter().map(|id| (id, ours.get(&id).copied(), theirs.get(&id).copied()));
    let mut differing: Vec<_> = both.filter(|(_, ours, theirs)| ours != theirs).collect();
    differing.sort_by_key(|&(_, ours, theirs)| ours.into_iter().chain(theirs).min());
    differing
}

fn when(launches: &Launches) -> Vec<(AttemptId, Time)> {
    launches.iter().map(|(&attempt, at)| (attempt, at.0)).collect()
}

/// Times of tasks in milliseconds. Nothing takes no time: what begins and ends in one instant would ask how often an
/// instant lets a worker speak, which the two need not answer alike.
fn times() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![3 => vec(1..5_u64, 1..6), 2 => vec(1..90_u64, 1..20), 1 => vec(1..900_u64, 1..20)]
}

fn hosts(n_maps: u32) -> impl Strategy<Value = SplitHosts> {
    let split = vec(0..8_u32, 0..3);
    prop_oneof![
        Just(SplitHosts::default()),
        vec(split, n_maps as usize).prop_map(|splits| {
            let named: Vec<Vec<String>> =
                splits.iter().map(|hosts| hosts.iter().map(|host| format!("h{host}")).collect()).collect();
            SplitHosts::new(named.iter().map(|hosts| hosts.iter().map(String::as_str)))
        }),
    ]
}

prop_compose! {
    fn job()(n_maps in prop_oneof![1 => Just(0), 5 => 0..12_u32, 1 => 0..40_u32])(
        n_maps in Just(n_maps),
        split_hosts in hosts(n_maps),
        n_reduces in prop_oneof![1 => Just(0), 3 => 0..10_u32],
        (map_ms, reduce_ms, first_shuffle_ms, typical_shuffle_ms) in (times(), times(), times(), times()),
        submit_ms in prop_oneof![2 => Just(0), 2 => 0..20_u64, 1 => 0..400_u64],
        slowstart_ppm in proptest::option::of(prop_oneof![Just(0), Just(1_000_000), 0..1_000_001_u32]),
        priority in prop_oneof![4 => Just(Priority::Normal), 1 => Just(Priority::High)],
        commit_ms in prop_oneof![Just(0), 0..9_u64],
    ) -> JobTemplate {
        JobTemplate {
            n_maps, n_reduces, split_hosts, map_ms, reduce_ms, first_shuffle_ms, typical_shuffle_ms, submit_ms,
            slowstart_ppm, priority, commit_ms, ..JobTemplate::default()
        }
    }
}

prop_compose! {
    fn lost()(reduce in any::<bool>(), index in 0..4_u32, number in 0..5_u16, failed in any::<bool>(), ms in 1..60_u64)
        -> LostAttempt {
        LostAttempt { reduce, index, number, failed, ms, speculative: false }
    }
}

/// Some lost attempts; often all those that a task may have.
fn losses() -> impl Strategy<Value = Vec<LostAttempt>> {
    let doomed = (any::<bool>(), 0..3_u32, vec(1..60_u64, 4)).prop_map(|(reduce, index, times)| {
        let lost = |(number, ms)| LostAttempt { reduce, index, number, failed: true, ms, speculative: false };
        (0..).zip(times).map(lost).collect::<Vec<_>>()
    });
    (vec(lost(), 0..9), prop_oneof![Just(Vec::new()), doomed]).prop_map(|(some, all)| [some, all].concat())
}

/// Each attempt at most once.
fn once(lost: Vec<LostAttempt>) -> Vec<LostAttempt> {
    let by_attempt: BTreeMap<_, _> =
        lost.into_iter().map(|lost| ((lost.reduce, lost.index, lost.number), lost)).collect();
    by_attempt.into_values().collect()
}

/// Any number of workers, the first of which can do anything.
fn workers() -> impl Strategy<Value = Vec<SimWorker>> {
    vec((0..4_u16, 0..4_u16, 0..6_u32, 0..3_u32), 0..8).prop_map(|list| {
        let list = [vec![(1, 1, 0, 0)], list].concat();
        let worker = |(index, &(map_slots, reduce_slots, host, rack)): (usize, &(u16, u16, u32, u32))| SimWorker {
            name: format!("w{index}"),
            host: format!("h{host}"),
            rack: format!("/r{rack}"),
            map_slots,
            reduce_slots,
            ..SimWorker::default()
        };
        list.iter().enumerate().map(worker).collect()
    })
}

fn locality() -> impl Strategy<Value = LocalityCost> {
    prop_oneof![Just(LocalityCost::default()), Just(LocalityCost { rack_ppm: 1_200_000, off_rack_ppm: 2_500_001 })]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn regular_heartbeats_give_the_launches_of_the_whole_protocol(
        jobs in vec(job(), 0..7),
        workers in workers(),
        interval_ms in prop_oneof![5..20_u64, 20..400_u64],
        out_of_band in any::<bool>(),
        locality in locality(),
    ) {
        let trace = Trace { jobs, ..Trace::default() };
        let heartbeat = SimHeartbeat { interval: Span::from_ms(interval_ms), out_of_band };
        let view = WorkersView { workers, heartbeat, locality, ..WorkersView::default() };
        let (ours, ends) = simulated(&trace, &view);
        let theirs = by_full_protocol(&trace, &view, false);
        prop_assert_eq!(differences(&ours, &theirs.launches), []);
        prop_assert_eq!(ends, theirs.finished);
    }

    // Failures count against tasks and workers, and jobs that fail stop their attempts by directives: all this by
    // another way than in the simulation too. Times are such that workers rarely speak at the same instant.
    #[test]
    fn lost_attempts_and_failing_jobs_are_those_of_the_whole_protocol(
        jobs in vec((job(), losses()), 1..7),
        workers in workers(),
        interval in 5_003..60_000_u64,
        out_of_band in any::<bool>(),
    ) {
        let jobs = jobs.into_iter().map(|(job, lost_attempts)| JobTemplate { lost_attempts: once(lost_attempts), ..job });
        let trace = Trace { jobs: jobs.collect(), ..Trace::default() };
        let heartbeat = SimHeartbeat { interval: Span::from_us(interval), out_of_band };
        let view = WorkersView { workers, heartbeat, ..WorkersView::default() };
        let theirs = by_full_protocol(&trace, &view, false);
        prop_assume!(!theirs.is_ambiguous);
        let (ours, ends) = simulated(&trace, &view);
        prop_assert_eq!(differences(&ours, &theirs.launches), []);
        prop_assert_eq!(ends, theirs.finished);
    }

    // A parked worker is notified of work at once, as in the simulation every worker does. The one asks those that waited
    // longest first and the other in the order of their numbers: who of them starts an attempt may differ, when may
    // not, if no map prefers anyone.
    #[test]
    fn parked_workers_start_the_same_attempts_at_the_same_instants(jobs in vec(job(), 0..7), workers in workers()) {
        let anywhere = |job| JobTemplate { split_hosts: SplitHosts::default(), ..job };
        let trace = Trace { jobs: jobs.into_iter().map(anywhere).collect(), ..Trace::default() };
        let view = WorkersView { workers, ..WorkersView::default() };
        let (ours, ends) = simulated(&trace, &view);
        let theirs = by_full_protocol(&trace, &view, true);
        prop_assert_eq!(when(&ours), when(&theirs.launches));
        prop_assert_eq!(ends, theirs.finished);
    }

    // With the workers' own state machine as well, which decides when to report and to park.
    #[test]
    fn both_state_machines_start_the_same_attempts_at_the_same_instants(jobs in vec(job(), 0..7), workers in workers()) {
        let anywhere = |job| JobTemplate { split_hosts: SplitHosts::default(), ..job };
        let trace = Trace { jobs: jobs.into_iter().map(anywhere).collect(), ..Trace::default() };
        let view = WorkersView { workers, ..WorkersView::default() };
        let (ours, ends) = simulated(&trace, &view);
        let mut live = Live::new(&trace, &view);
        live.run();
        prop_assert_eq!(when(&ours), when(&live.launches));
        prop_assert_eq!(ends, live.finished);
    }
}
