//! The papers' worked examples with the papers' numbers, and SimMR's semantics one rule at a time.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{JobOutcome, ReplayOptions, ReplayReport, ShuffleModel, Simulation, View};
use howdah_core::time::{Span, Time};
use rstest::rstest;

/// A job whose stages take so many seconds when all of its tasks run at once. The papers' stages have no shuffle of
/// their own.
fn stages(tasks: u32, map_s: u64, reduce_s: u64) -> JobTemplate {
    JobTemplate {
        n_maps: tasks,
        n_reduces: tasks,
        map_ms: vec![map_s * 1_000],
        reduce_ms: vec![reduce_s * 1_000],
        ..JobTemplate::default()
    }
}

fn replay(jobs: Vec<JobTemplate>, maps: u16, reduces: u16, shuffle: ShuffleModel) -> ReplayReport {
    let trace = Trace { jobs, ..Trace::default() };
    let options = ReplayOptions { view: View::Slots { maps, reduces }, shuffle, ..ReplayOptions::default() };
    let mut simulation = Simulation::new(&trace, &options).expect("slots of both kinds");
    while simulation.step() {}
    simulation.report()
}

/// On 30 map and 30 reduce slots.
fn makespan_s(jobs: Vec<JobTemplate>) -> u64 {
    let makespan = replay(jobs, 30, 30, ShuffleModel::SimMr).makespan;
    assert_eq!(makespan.as_us() % 1_000_000, 0);
    makespan.as_us() / 1_000_000
}

// BalancedPools §3.1, Figure 4: the order of two jobs.
#[rstest]
#[case::long_map_first([(20, 2), (2, 20)], 42)]
#[case::long_reduce_first([(2, 20), (20, 2)], 24)]
fn two_jobs_take_the_time_of_their_order(#[case] jobs: [(u64, u64); 2], #[case] expected: u64) {
    assert_eq!(makespan_s(jobs.map(|(m, r)| stages(30, m, r)).to_vec()), expected);
}

// BalancedPools §3.1, Figure 5 (a): both orders of two equal jobs on 30 + 30 slots.
#[test]
fn two_equal_jobs_under_fifo_take_thirty() {
    assert_eq!(makespan_s(vec![stages(30, 10, 10); 2]), 30);
}

/// BalancedPools §3.2, Figure 6: the map and reduce stages of J1 to J5.
const FIGURE_6: [(u64, u64); 5] = [(4, 5), (1, 4), (30, 4), (6, 30), (2, 3)];

fn figure_6(order: [usize; 5], tasks: [u32; 5]) -> Vec<JobTemplate> {
    order.map(|j| stages(tasks[j - 1], FIGURE_6[j - 1].0, FIGURE_6[j - 1].1)).to_vec()
}

// BalancedPools §3.2, Figure 8, and the worst order, its reverse. §3.3 scenario 1: each job fills the cluster.
#[rstest]
#[case::johnson([2, 5, 1, 4, 3], 47)]
#[case::reversed([3, 4, 1, 5, 2], 78)]
fn the_five_jobs_of_figure_6_take_the_time_of_their_order(#[case] order: [usize; 5], #[case] expected: u64) {
    assert_eq!(makespan_s(figure_6(order, [30; 5])), expected);
}

// BalancedPools §3.3, scenario 2, Figure 9 (a): J3 and J4 have 20 tasks only, which changes the execution slightly
// and the makespan not at all; Figure 9 (b): the two pools, each a cluster of its own here, take 39 and 40.
#[test]
fn the_second_scenario_takes_as_long_as_the_first_and_its_pools_less() {
    let tasks = [30, 30, 20, 20, 30];
    assert_eq!(makespan_s(figure_6([2, 5, 1, 4, 3], tasks)), 47);
    let jobs = figure_6([2, 5, 1, 4, 3], tasks);
    let pool = |jobs: &[JobTemplate], slots| replay(jobs.to_vec(), slots, slots, ShuffleModel::SimMr).makespan;
    assert_eq!(pool(&jobs[..3], 10), Span::from_secs(39));
    assert_eq!(pool(&jobs[3..], 20), Span::from_secs(40));
}

// SimMR §III-B from here on; where the paper leaves something open, the project's rule is in the test's name.

fn job(n_maps: u32, map_ms: &[u64], n_reduces: u32, first: &[u64], typical: &[u64], reduce_ms: &[u64]) -> JobTemplate {
    JobTemplate {
        n_maps,
        n_reduces,
        map_ms: map_ms.to_vec(),
        first_shuffle_ms: first.to_vec(),
        typical_shuffle_ms: typical.to_vec(),
        reduce_ms: reduce_ms.to_vec(),
        ..JobTemplate::default()
    }
}

fn only(report: &ReplayReport) -> &JobOutcome {
    assert_eq!(report.jobs.len(), 1);
    &report.jobs[0]
}

fn alone(job: JobTemplate, maps: u16, reduces: u16) -> JobOutcome {
    *only(&replay(vec![job], maps, reduces, ShuffleModel::SimMr))
}

#[test]
fn first_wave_reduces_end_a_first_shuffle_after_the_maps_and_later_ones_pay_a_typical_shuffle() {
    // Two maps one after the other end at 200; the filler at 200 + 7 + 30, then the second reduce takes 50 + 30.
    let outcome = alone(job(2, &[100], 2, &[7], &[50], &[30]), 1, 1);
    assert_eq!(outcome.maps_done, Some(Time::from_ms(200)));
    assert_eq!(outcome.finish, Time::from_ms(237 + 80));
}

#[test]
fn first_wave_reduces_hold_their_slots_while_they_wait() {
    // The first job's only reduce waits from its first map's end on, so the second job's reduce comes after it.
    let slow = job(20, &[100], 1, &[5], &[50], &[10]);
    let quick = job(1, &[1], 1, &[5], &[50], &[10]);
    let report = replay(vec![slow, quick], 1, 1, ShuffleModel::SimMr);
    assert_eq!(report.jobs[0].finish, Time::from_ms(2_000 + 15));
    assert_eq!(report.jobs[1].maps_done, Some(Time::from_ms(2_001)));
    assert_eq!(report.jobs[1].finish, Time::from_ms(2_015 + 60));
}

#[rstest]
// Of 20 maps of 100 ms on one slot, the first ends at 100: the other job's reduce, which comes then, is too late.
#[case::five_percent(50_000, 1)]
#[case::ten_percent(100_000, 2)]
#[case::just_over_ten_percent(100_001, 3)]
#[case::all(1_000_000, 20)]
fn reduces_start_when_the_share_of_maps_is_done(#[case] slowstart_ppm: u32, #[case] maps: u64) {
    let first = JobTemplate { slowstart_ppm: Some(slowstart_ppm), ..job(20, &[100], 1, &[0], &[0], &[0]) };
    // It comes a millisecond too late for the only reduce slot, or a millisecond early enough.
    let rival = |submit_ms| JobTemplate { submit_ms, ..job(0, &[], 1, &[], &[], &[50_000]) };
    let late = replay(vec![first.clone(), rival(maps * 100 + 1)], 1, 1, ShuffleModel::SimMr);
    assert_eq!(late.jobs[0].finish, Time::from_ms(2_000));
    let early = replay(vec![first, rival(maps * 100 - 1)], 1, 1, ShuffleModel::SimMr);
    assert_eq!(early.jobs[0].finish, Time::from_ms(maps * 100 - 1 + 50_000));
}

#[test]
fn reduces_with_slow_start_zero_start_with_the_maps() {
    let eager = JobTemplate { slowstart_ppm: Some(0), ..job(1, &[100], 1, &[7], &[50], &[30]) };
    assert_eq!(alone(eager, 1, 1).finish, Time::from_ms(137));
}

#[test]
fn reduces_that_start_when_the_maps_are_done_pay_the_typical_shuffle_even_at_that_instant() {
    let patient = JobTemplate { slowstart_ppm: Some(1_000_000), ..job(2, &[100], 1, &[7], &[50], &[30]) };
    assert_eq!(alone(patient, 2, 1).finish, Time::from_ms(180));
    // With 5 % it is the same when all maps end at once: no reduce was there before.
    assert_eq!(alone(job(2, &[100], 1, &[7], &[50], &[30]), 2, 1).finish, Time::from_ms(180));
}

#[test]
fn mumaks_reduces_take_no_time_to_shuffle() {
    let jobs = vec![job(2, &[100], 2, &[7], &[50], &[30])];
    assert_eq!(replay(jobs, 1, 1, ShuffleModel::Mumak).jobs[0].finish, Time::from_ms(200 + 30 + 30));
}

#[test]
fn jobs_without_reduces_end_with_their_last_map() {
    let outcome = alone(job(3, &[100, 50], 0, &[], &[], &[]), 2, 1);
    assert_eq!((outcome.maps_done, outcome.finish), (Some(Time::from_ms(150)), Time::from_ms(150)));
}

#[test]
fn jobs_without_maps_pay_the_typical_shuffle_from_their_submission() {
    let outcome = alone(JobTemplate { submit_ms: 40, ..job(0, &[], 1, &[7], &[50], &[30]) }, 1, 1);
    assert_eq!((outcome.start, outcome.maps_done), (Some(Time::from_ms(40)), None));
    assert_eq!(outcome.completion(), Span::from_ms(80));
}

#[test]
fn jobs_without_tasks_end_when_they_come() {
    let outcome = alone(JobTemplate { submit_ms: 40, ..JobTemplate::default() }, 1, 1);
    assert_eq!((outcome.start, outcome.maps_done, outcome.finish), (None, None, Time::from_ms(40)));
}

#[test]
fn a_known_shuffle_stands_in_for_the_unknown_one() {
    assert_eq!(alone(job(2, &[100], 1, &[], &[50], &[30]), 1, 1).finish, Time::from_ms(280));
    assert_eq!(alone(job(1, &[100], 1, &[7], &[], &[30]), 1, 1).finish, Time::from_ms(137));
}

#[test]
fn entries_of_a_profile_meet_the_tasks_that_they_were_taken_from() {
    // Two maps and, on two reduce slots, two first-wave reduces and two later ones; all times differ.
    let outcome = alone(job(2, &[100, 200], 4, &[1, 2], &[10, 20], &[1_000, 3_000, 5_000, 7_000]), 1, 2);
    // Maps end at 300. Reduce 0: 1,301, then reduce 2 until 1,301 + 10 + 5,000; reduce 1: 3,302, then reduce 3.
    assert_eq!(outcome.finish, Time::from_ms(3_302 + 20 + 7_000));
}

#[test]
fn promotion_delays_the_jobs_end_and_nothing_else() {
    let first = JobTemplate { commit_ms: 500, ..job(1, &[100], 0, &[], &[], &[]) };
    let report = replay(vec![first, job(1, &[100], 0, &[], &[], &[])], 1, 1, ShuffleModel::SimMr);
    assert_eq!(report.jobs.iter().map(|job| job.finish.as_ms()).collect::<Vec<_>>(), [600, 200]);
}

#[test]
fn a_job_that_comes_as_a_slot_becomes_free_competes_for_it() {
    // At 100 the first job's map ends and an urgent job comes: it is in the queue when the slot is given away.
    let urgent = JobTemplate {
        submit_ms: 100,
        priority: howdah_core::job::Priority::VeryHigh,
        ..job(1, &[10], 0, &[], &[], &[])
    };
    let report = replay(vec![job(2, &[100], 0, &[], &[], &[]), urgent], 1, 1, ShuffleModel::SimMr);
    assert_eq!(report.jobs[1].finish, Time::from_ms(110));
    assert_eq!(report.jobs[0].finish, Time::from_ms(210));
}

#[test]
fn jobs_of_one_instant_run_in_the_traces_order() {
    let report = replay(vec![job(1, &[10], 0, &[], &[], &[]); 5], 1, 1, ShuffleModel::SimMr);
    let finishes: Vec<_> = report.jobs.iter().map(|job| (job.template, job.finish.as_ms())).collect();
    assert_eq!(finishes, [(0, 10), (1, 20), (2, 30), (3, 40), (4, 50)]);
}

#[test]
fn events_are_counted_as_simmr_counts_them() {
    let report = replay(vec![job(3, &[10], 2, &[1], &[1], &[1]); 4], 2, 2, ShuffleModel::SimMr);
    assert_eq!(report.events, 4 * (3 + 2 * 5));
}
