//! FBQ, TAGS, SITA and COMP, one rule of the slowdown paper at a time.

use std::collections::BTreeMap;

use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{AttemptState, JobId, Priority, TaskKind};
use howdah_core::replay::ReplayOptions;
use howdah_core::schedulers::by_name;
use howdah_core::time::Time;
use rstest::rstest;

use super::kit;
use super::play::{all_succeeded, explained, in_slots, most_at_once, params, recorded, replay};

/// So many maps of so many seconds, submitted at a second.
pub(super) fn maps(submit_s: u64, n_maps: u32, map_s: u64) -> JobTemplate {
    JobTemplate { submit_ms: submit_s * 1_000, n_maps, map_ms: vec![map_s * 1_000], ..JobTemplate::default() }
}

/// The same, and reduces.
fn job(submit_s: u64, (n_maps, map_s): (u32, u64), (n_reduces, reduce_s): (u32, u64)) -> JobTemplate {
    JobTemplate { n_reduces, reduce_ms: vec![reduce_s * 1_000], ..maps(submit_s, n_maps, map_s) }
}

/// Reduces start when a twentieth of the maps is done.
pub(super) fn options(scheduler: &str, params: &[(&str, &str)], slots: (u16, u16)) -> ReplayOptions {
    ReplayOptions { slowstart_ppm: Some(50_000), ..in_slots(scheduler, params, slots) }
}

/// When each job was over, in seconds, by its place in the trace.
fn finish_s(jobs: Vec<JobTemplate>, options: &ReplayOptions) -> Vec<u64> {
    let report = replay(jobs, options);
    all_succeeded(&report);
    let by_place: BTreeMap<u32, u64> =
        report.jobs.iter().map(|job| (job.template, job.finish.as_us() / 1_000_000)).collect();
    by_place.into_values().collect()
}

// slowdown-variability §IV-B: the job is entitled to 40 s of service, which two slots give by 20 s; from then on its
// tasks wait behind the small job's. FIFO makes the small job wait for the whole large one.
#[rstest]
#[case::fbq("fbq", &[("limits", "40s")], [60, 40])]
#[case::fifo("fifo", &[], [50, 60])]
fn a_job_beyond_its_limit_waits_behind_new_ones(
    #[case] scheduler: &str,
    #[case] params: &[(&str, &str)],
    #[case] finish: [u64; 2],
) {
    assert_eq!(finish_s(vec![maps(0, 10, 10), maps(21, 2, 10)], &options(scheduler, params, (2, 1))), finish);
}

// slowdown-variability §IV-B: "If its processing requirement does not exceed L_1, it will depart the system from queue
// 1": the second job never goes before the rest of the first.
#[rstest]
#[case::not_exceeded("40s", [40, 50])]
#[case::exceeded("29s", [50, 40])]
fn a_job_within_its_limit_departs_from_the_first_queue(#[case] limit: &str, #[case] finish: [u64; 2]) {
    let jobs = vec![maps(0, 4, 10), maps(5, 1, 10)];
    assert_eq!(finish_s(jobs, &options("fbq", &[("limits", limit)], (1, 1))), finish);
}

// slowdown-variability §IV-A, §VI-C: running tasks finish whatever happens to their job, and nothing is done twice.
#[test]
fn a_demotion_stops_nothing_and_loses_nothing() {
    let jobs = vec![job(0, (9, 10), (2, 5)), maps(12, 3, 10), maps(33, 2, 1)];
    for policy in ["fbq", "tags"] {
        let (report, attempts) = recorded(jobs.clone(), &options(policy, &[("limits", "25s")], (4, 2)));
        assert_eq!(attempts.len(), 9 + 2 + 3 + 2, "{policy}");
        assert!(attempts.iter().all(|a| a.state == AttemptState::Succeeded && a.attempt.number == 0), "{policy}");
        assert_eq!(report.wasted_us, [0, 0], "{policy}");
    }
}

// slowdown-variability §IV-A against §VI-E, on one slot. The first job is moved on at 20 s, and the third at 60 s. By
// then the first has received 10 s in queue 2, and goes before the third; or 30 s in all, so that it is in queue 3.
#[rstest]
#[case::received_in_the_queue("queue", [80, 30, 90])]
#[case::received_in_all("total", [90, 30, 70])]
fn a_limit_counts_what_was_received_in_the_queue_or_in_all(#[case] service: &str, #[case] finish: [u64; 3]) {
    let jobs = vec![maps(0, 5, 10), maps(15, 1, 10), maps(31, 3, 10)];
    let params = [("limits", "20s,30s"), ("service", service)];
    assert_eq!(finish_s(jobs, &options("fbq", &params, (1, 1))), finish);
}

// slowdown-variability §II: a reduce occupies its slot during the map phase and does nothing there. 25 s are received by
// two maps of 10 s and half a reduce of 10 s; or, with the waiting counted, before the second map is over.
#[rstest]
#[case::waiting_is_free("free", 30)]
#[case::waiting_counts("count", 20)]
fn a_reduce_that_waits_for_maps_receives_service_or_not(#[case] waiting: &str, #[case] finish_of_second: u64) {
    let jobs = vec![job(0, (3, 10), (1, 10)), maps(5, 1, 10)];
    let params = [("limits", "25s"), ("waiting.reduces", waiting)];
    // One map slot. Counted, the limit is reached at 17.5 s, and the second job goes before the third map.
    let jobs = finish_s(jobs, &options("fbq", &params, (1, 1)));
    assert_eq!(jobs[1], finish_of_second + 10);
}

// docs/guide/replay.md: at equal times, ends of tasks come before submissions. The third job comes in the instant in which
// the first departs and is larger than it, so that it waits behind the fourth, which is not.
#[test]
fn a_job_is_compared_with_one_that_departs_as_it_comes() {
    let jobs = vec![maps(0, 1, 10), maps(5, 3, 10), maps(10, 2, 10), maps(11, 1, 5)];
    let params = [("prediction", "trace")];
    assert_eq!(finish_s(jobs, &options("comp", &params, (1, 1))), [10, 40, 65, 45]);
    // One whose output is promoted for a second departs only then.
    let jobs = |commit_ms| {
        let first = JobTemplate { commit_ms, ..maps(0, 1, 10) };
        vec![first, maps(5, 3, 10), maps(10, 2, 10), maps(11, 1, 5)]
    };
    assert_eq!(finish_s(jobs(500), &options("comp", &params, (1, 1))), [10, 40, 60, 65]);
}

// slowdown-variability §IV-C: jobs of one queue stay in its partition even if the other one is idle, and a job that is
// moved on runs its next tasks in the next one while what runs of it finishes where it is.
#[test]
fn tags_confines_each_queue_to_its_partition() {
    // Partitions of 2 and 4 map slots. By 10 s the job has its limit of 20 s; 8 of its maps are left for 4 slots.
    let (report, attempts) =
        recorded(vec![maps(0, 10, 10)], &options("tags", &[("limits", "20s"), ("partitions", "34%")], (6, 2)));
    let started = |s: u64| attempts.iter().filter(|a| a.start == Time::from_ms(s * 1_000)).count();
    assert_eq!([started(0), started(10), started(20)], [2, 4, 4]);
    assert_eq!(report.jobs[0].finish, Time::from_ms(30_000));
    // A limit in the middle of a task: at 15 s the two that began at 10 s run on, and four more start beside them.
    let (_, attempts) =
        recorded(vec![maps(0, 10, 10)], &options("tags", &[("limits", "30s"), ("partitions", "34%")], (6, 2)));
    let started = |s: u64| attempts.iter().filter(|a| a.start == Time::from_ms(s * 1_000)).count();
    assert_eq!([started(0), started(10), started(15), started(20), started(25)], [2, 2, 4, 0, 2]);
}

// slowdown-variability §V-B: partition 1 of 30 % of 60 + 20 slots is 18 + 6; reduces are confined as maps are.
#[test]
fn partitions_hold_whole_slots_of_both_kinds() {
    let params = [("limits", "1h"), ("partitions", "30%")];
    let (_, attempts) = recorded(vec![job(0, (100, 10), (20, 5))], &options("tags", &params, (60, 20)));
    assert_eq!(TaskKind::ALL.map(|kind| most_at_once(&attempts, |a| a.attempt.kind == kind)), [18, 6]);
}

// slowdown-variability §IV-D: a job of a predicted size between the limits runs in its own partition till completion,
// "even if the prediction is wrong". 80 s per GiB are 10 s for each map of an unknown block.
#[test]
fn sita_places_by_predicted_size_and_never_moves_a_job() {
    let params = [("limits", "50s"), ("partitions", "50%"), ("fit", "80s")];
    // Five maps are predicted to take 50 s and take 500 s: partition 1, two slots, until the end. Six: partition 2.
    let (report, attempts) = recorded(vec![maps(0, 5, 100), maps(0, 6, 10)], &options("sita", &params, (4, 2)));
    let of = |job: u32| attempts.iter().filter(move |a| a.attempt.job == JobId(job));
    for start in [0, 100, 200] {
        let expected = if start == 200 { 1 } else { 2 };
        assert_eq!(of(1).filter(|a| a.start == Time::from_ms(start * 1_000)).count(), expected);
    }
    assert_eq!(report.jobs[1].finish, Time::from_ms(30_000));
}

// §III: the size of a job is the sum of its task run times; §IV-D: predicted upon arrival.
// The same by the trace's own sizes: the prediction of a replay that knows the future.
#[test]
fn a_replay_can_predict_by_the_traces_own_sizes() {
    let params = [("limits", "50s"), ("partitions", "50%"), ("prediction", "trace")];
    // 60 s go to partition 2, whatever the number of maps; 50 s to partition 1; and 500 s wait for partition 2.
    let jobs = vec![maps(0, 10, 6), maps(0, 2, 25), maps(0, 5, 100)];
    assert_eq!(finish_s(jobs, &options("sita", &params, (4, 2))), [30, 25, 330]);
}

// slowdown-variability §IV-D: a fit from the jobs so far. The first job teaches 10 s a map; then 4 maps are 40 s.
#[test]
fn sita_learns_from_the_jobs_that_succeeded() {
    let params = [("limits", "50s"), ("partitions", "50%")];
    let jobs = vec![maps(0, 2, 10), maps(20, 6, 10), maps(20, 4, 10)];
    // Alone in partitions of two slots each: 30 s and 20 s. Without a fit both would share partition 1 and take 50 s.
    assert_eq!(finish_s(jobs, &options("sita", &params, (4, 2))), [10, 50, 40]);
}

// slowdown-variability §IV-E: larger than exactly m of the last K − 1 departures, queue m + 1.
#[test]
fn comp_compares_with_the_last_departures() {
    // One slot, K = 3. Sizes 10, 30 depart. Then one of 100 (m = 2) comes just before one of 20 (m = 1) and one of 5 (0).
    let jobs =
        vec![maps(0, 1, 10), maps(0, 1, 30), maps(41, 1, 100), maps(50, 10, 10), maps(51, 1, 20), maps(52, 1, 5)];
    let params = [("queues", "3"), ("prediction", "trace")];
    let finish = finish_s(jobs, &options("comp", &params, (1, 1)));
    // Nothing is taken away from the one of 100 that runs; then by queue: 5, 20, and the other 100 last.
    assert_eq!(finish, [10, 40, 141, 266, 166, 146]);
}

// slowdown-variability §IV-E: of the last K − 1, so that with K = 2 the 10 that departed first counts no more.
#[test]
fn comp_forgets_departures_before_the_last_ones() {
    let jobs = vec![maps(0, 1, 10), maps(0, 1, 30), maps(41, 1, 100), maps(50, 1, 20), maps(51, 1, 5)];
    let params = [("queues", "2"), ("prediction", "trace")];
    // 20 is not above 30: it stays before the smaller one that came later.
    assert_eq!(finish_s(jobs, &options("comp", &params, (1, 1))), [10, 40, 141, 161, 166]);
}

// slowdown-variability §IV-E does not say whether a departure counts with its size or with what was predicted of it.
#[rstest]
#[case::size("size", [100, 201, 206, 213])]
#[case::prediction("prediction", [100, 201, 213, 208])]
fn comp_compares_with_sizes_or_with_predictions_of_departures(#[case] departed: &str, #[case] finish: [u64; 4]) {
    // 10 s are predicted for each map. One of 100 s departs; then one of a predicted 50 s comes, and one of 10 s.
    let jobs = vec![maps(0, 1, 100), maps(101, 1, 100), maps(110, 5, 1), maps(111, 1, 7)];
    let params = [("queues", "2"), ("fit", "80s"), ("departed", departed)];
    assert_eq!(finish_s(jobs, &options("comp", &params, (1, 1))), finish);
}

// slowdown-variability §IV-B: a job is appended to the next queue, in which arrivals count anew.
#[test]
fn a_demoted_job_goes_behind_those_that_were_demoted_before() {
    // Three slots take the second job past 20 s before the one map of the first has run so long. Both then want the one
    // reduce slot: the second job's second reduce is before the first job's.
    let jobs = vec![job(0, (1, 30), (1, 5)), job(1, (9, 10), (2, 5))];
    assert_eq!(finish_s(jobs, &options("fbq", &[("limits", "20s")], (4, 1))), [46, 41]);
}

// slowdown-variability §IV-A; taking over a running cluster is ours: what runs has received its time.
#[test]
fn a_policy_that_takes_over_counts_what_runs_against_the_limit() {
    let mut c = kit::Cluster::made(|_| {}, by_name("fifo", &params(&[])).expect("it exists")).workers(1, 1, 0);
    let job = c.submit(kit::job(6, 0));
    c.beat(0);
    c.advance(8_000);
    c.tracker.switch_scheduler(by_name("fbq", &params(&[("limits", "10s,1h")])).expect("it exists"));
    let queue = |c: &kit::Cluster| c.tracker.explain(job).to_string().chars().take(22).collect::<String>();
    c.submit(kit::job(1, 0));
    c.advance(1_999);
    c.beat(0);
    assert_eq!(queue(&c), "It is next, but 1 map ");
    c.advance(1);
    c.beat(0);
    assert_eq!(queue(&c), "It is in queue 2 of 3,");
}

// slowdown-variability §IV-E leaves open what K − 1 departures are before there were any: those that there are.
#[test]
fn before_the_first_departure_comp_is_fifo() {
    let jobs = vec![maps(0, 1, 10), maps(1, 3, 30), maps(2, 1, 1)];
    let params = [("queues", "4"), ("prediction", "trace")];
    assert_eq!(finish_s(jobs, &options("comp", &params, (1, 1))), [10, 100, 101]);
}

// slowdown-variability §II: FIFO with five priority levels is the order within a queue.
#[test]
fn priorities_go_first_within_a_queue_only() {
    let high = |job| JobTemplate { priority: Priority::VeryHigh, ..job };
    // The urgent job goes before the other new one; demoted at 40 s, it is behind it.
    let jobs = vec![maps(0, 1, 10), maps(1, 2, 10), high(maps(2, 4, 10))];
    let finish = finish_s(jobs, &options("fbq", &[("limits", "30s")], (1, 1)));
    assert_eq!(finish, [10, 60, 70]);
}

// slowdown-variability §IV-B: "multiple jobs at potentially different priorities may run simultaneously".
#[test]
fn what_the_first_queue_cannot_use_goes_to_the_next() {
    let jobs = vec![maps(0, 40, 10), maps(21, 1, 10)];
    let (_, attempts) = recorded(jobs, &options("fbq", &[("limits", "40s")], (4, 1)));
    let at_30 = attempts.iter().filter(|a| a.start == Time::from_ms(30_000));
    assert_eq!(at_30.map(|a| a.attempt.job.0).filter(|&job| job == 1).count(), 3);
}

// slowdown-variability §IV-A: partitions are disjoint, so no queue can starve another one.
#[rstest]
#[case::tags("tags", &[("limits", "10s"), ("partitions", "50%")])]
#[case::sita("sita", &[("limits", "10s"), ("partitions", "50%"), ("prediction", "trace")])]
fn partitions_let_large_jobs_end_under_a_stream_of_small_ones(#[case] policy: &str, #[case] params: &[(&str, &str)]) {
    // A small job of 5 s every second on two slots: more than they can do.
    let mut jobs: Vec<JobTemplate> = (0..2_000).map(|s| maps(s, 1, 5)).collect();
    jobs.insert(0, maps(0, 10, 30));
    let finish = finish_s(jobs.clone(), &options(policy, params, (2, 2)));
    assert!(finish[0] <= 340, "{policy}: {}", finish[0]);
    // FBQ promises nothing of the kind.
    let fbq = finish_s(jobs, &options("fbq", &[("limits", "10s")], (2, 2)));
    assert!(fbq[0] > 2_000, "fbq: {}", fbq[0]);
}

// §IV-A: queues 1 to K.
#[test]
fn why_a_job_waits_is_said_with_its_queue() {
    let at = |policy: &str, params: &[(&str, &str)], s: u64, job: u32| {
        explained(vec![maps(0, 10, 10), maps(21, 4, 10)], &options(policy, params, (2, 2)), s, job)
    };
    assert_eq!(
        at("fbq", &[("limits", "40s")], 30, 1),
        "It is in queue 2 of 2, having received 60.000 s of slot time. Before it 1 job has maps waiting, first job 2."
    );
    assert_eq!(
        at("tags", &[("limits", "20s")], 30, 2),
        "It is in queue 1 of 2, having received 9.000 s of slot time. 1 of 1 map slots of its partition are taken."
    );
    assert_eq!(
        at("sita", &[("fit", "80s")], 21, 2),
        "It is in queue 1 of 2, for a predicted 40.000 s of slot time. 1 of 1 map slots of its partition are taken; \
         1 job waits before it."
    );
}

// §IV-C: running tasks finish where they are.
#[test]
fn a_partition_that_holds_more_than_its_size_says_so() {
    let mut c = kit::Cluster::made(|_| {}, by_name("fifo", &params(&[])).expect("it exists")).workers(1, 4, 0);
    let job = c.submit(kit::job(6, 0));
    c.beat(0);
    assert_eq!(c.launches().len(), 4);
    let pairs = params(&[("limits", "1h"), ("partitions", "50%")]);
    c.tracker.switch_scheduler(by_name("tags", &pairs).expect("it exists"));
    assert_eq!(
        c.tracker.explain(job).to_string(),
        "It is in queue 1 of 2, having received 0.000 s of slot time. Its partition holds 4 map slots, more than its 2, \
         until attempts end."
    );
}

// §IV-A has partitions of a total; fewer slots than queues cannot be divided, and then the order of §IV-B holds.
#[test]
fn queues_of_a_kind_too_small_to_be_partitioned_stand_behind_each_other() {
    let pairs = [("limits", "10s"), ("partitions", "50%")];
    let said = explained(vec![maps(0, 9, 15), maps(16, 4, 10)], &options("tags", &pairs, (1, 2)), 17, 1);
    assert!(said.ends_with("Before it 1 job has maps waiting, first job 2."), "{said}");
}
