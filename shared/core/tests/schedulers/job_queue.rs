//! FIFO as Hadoop's. Source of each rule: `docs/hadoop.md#fifo`, MR1 JobQueueTaskScheduler.

use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{JobSpec, Priority};
use howdah_core::schedulers::{Scheduler, by_name};
use howdah_core::time::Span;
use howdah_core::tracker::Input;
use rstest::rstest;

use crate::kit::*;
use crate::play::{self, given, in_slots, params, replay};
use crate::speculation::{cluster as progressing, progress};

fn fifo(dialect: &str) -> Box<dyn Scheduler> {
    by_name("fifo", &params(&[("dialect", dialect)])).expect("the dialect exists")
}

fn cluster(workers: u32, maps: u16, reduces: u16) -> Cluster {
    Cluster::made(|_| {}, fifo("1.2.1")).workers(workers, maps, reduces)
}

fn on(hosts: &[&str]) -> JobSpec {
    let mut spec = play::on(hosts);
    spec.conf.commits_output = false;
    spec
}

fn quick_reduces(maps: u32, reduces: u32) -> JobSpec {
    job_with(maps, reduces, |conf| conf.slowstart_ppm = 0)
}

// docs/hadoop.md#fifo: "the first non-local map ends map assignment", "at most 1 per heartbeat"; reduces at most 1.
#[rstest]
fn a_heartbeat_gives_one_map_far_from_its_data_and_one_reduce(#[values("0.20.2", "1.2.1")] dialect: &str) {
    let mut cluster = Cluster::made(|_| {}, fifo(dialect)).workers(1, 4, 4);
    let job = cluster.submit(quick_reduces(10, 10));
    cluster.beat(0);
    assert_eq!(cluster.launches(), [(0, map(1, 0, 0)), (0, reduce(1, 0, 0))]);
    let why = cluster.tracker.explain(job).to_string();
    assert_eq!(
        why,
        "It is next and map slots are free: a heartbeat gives at most one map far from its data, and a worker runs no \
         larger part of its slots than the load of 10 maps is of the cluster's 4."
    );
    cluster.beat(0);
    assert_eq!(cluster.launches(), [(0, map(1, 1, 0)), (0, reduce(1, 1, 0))]);
}

// docs/hadoop.md#fifo: "a local assignment continues filling"; node- or rack-local, then non-local of the same job
// before the next.
#[test]
fn maps_near_their_data_fill_the_worker_and_a_far_one_goes_before_the_next_jobs_near_ones() {
    let mut cluster = Cluster::made(|_| {}, fifo("1.2.1"));
    cluster.add_worker("h0", "/r0", 6, 0);
    cluster.add_worker("h1", "/r1", 6, 0);
    cluster.effects.clear();
    cluster.submit(on(&["h0", "h0", "h1", "h1"]));
    cluster.submit(on(&["h0"; 10]));
    assert_eq!(given(&mut cluster, 0), [1, 1, 1], "two near ones, one far one, and nothing of the next job");
    assert_eq!(given(&mut cluster, 0), [1], "the last one is far again");
    assert_eq!(given(&mut cluster, 0), [2, 2], "then near ones up to the slots");
}

// docs/hadoop.md#fifo: cap = min(ceil(load/clusterCap · trackerCap), trackerCap), so that work is spread over the
// workers.
#[test]
fn a_worker_runs_its_share_of_the_load_and_no_more() {
    let mut cluster = cluster(4, 4, 4);
    cluster.submit(on(&["h0"; 6]));
    // 6 maps for 16 slots: ceil(6/16 × 4) = 2 each, though all data are in its rack.
    for worker in 0..4 {
        let expected = [2, 2, 2, 0][worker as usize];
        assert_eq!(given(&mut cluster, worker).len(), expected, "worker {worker}");
    }
    // What is done is no load any more, what runs is.
    cluster.report(0, &[(map(1, 0, 0), Succeeded), (map(1, 1, 0), Succeeded)]);
    cluster.submit(on(&["h0"; 2]));
    assert_eq!(given(&mut cluster, 1).len(), 0, "6 of 16 again: 2 run here");
    assert_eq!(given(&mut cluster, 0).len(), 2);
}

// docs/hadoop.md#fifo: reduce load only from jobs past slow-start.
#[test]
fn reduces_that_may_not_start_are_no_load() {
    let mut cluster = cluster(2, 2, 2);
    cluster.submit(job_with(2, 8, |conf| conf.slowstart_ppm = 1_000_000));
    cluster.submit(quick_reduces(0, 1));
    // Of the reduces only one is load: ceil(1/4 × 2) = 1.
    assert_eq!(given(&mut cluster, 0), [1, 2]);
    cluster.submit(quick_reduces(0, 1));
    assert_eq!(given(&mut cluster, 0), [0; 0], "the load is 2 of 4, so a worker runs 1, as this one does");
    assert_eq!(given(&mut cluster, 1), [1, 3]);
}

// docs/hadoop.md#fifo: padding = min(trackerSlots, int(needed·0.01)) only if > 3 trackers; exceeded if running +
// padding ≥ capacity; when exceeded: one map only.
#[test]
fn near_a_full_cluster_a_heartbeat_gives_one_map_even_near_its_data() {
    // 4 × 4 slots, and 200 maps of a job with reduces: a padding of 2.
    let with_reduces = || JobSpec { n_reduces: 1, ..on(&["h0"; 200]) };
    let mut cluster = self::cluster(4, 4, 1);
    cluster.submit(with_reduces());
    assert_eq!([0, 1, 2].map(|worker| given(&mut cluster, worker).len()), [4, 4, 4]);
    // 12 + 2 < 16: this heartbeat is not padded; on three workers nothing ever is.
    assert_eq!(given(&mut cluster, 3).len(), 4);
    cluster.report(3, &[(map(1, 12, 0), Succeeded), (map(1, 13, 0), Succeeded)]);
    assert_eq!(cluster.launches().len(), 1, "14 run, 2 are kept");
    let mut small = self::cluster(3, 4, 1);
    small.submit(with_reduces());
    assert_eq!([0, 1, 2].map(|worker| given(&mut small, worker).len()), [4, 4, 4]);
    small.report(2, &[(map(1, 8, 0), Succeeded), (map(1, 9, 0), Succeeded)]);
    assert_eq!(small.launches().len(), 2);
}

// docs/hadoop.md#fifo, quirk: the padding loop skips jobs with 0 reduces even for maps.
#[test]
fn jobs_without_reduces_are_never_padded() {
    let mut cluster = cluster(4, 4, 1);
    cluster.submit(on(&["h0"; 200]));
    (0..4).for_each(|worker| assert_eq!(given(&mut cluster, worker).len(), 4));
    cluster.report(3, &[(map(1, 12, 0), Succeeded), (map(1, 13, 0), Succeeded)]);
    assert_eq!(cluster.launches().len(), 2);
    // Nor do they count beside one with reduces: 1 % of its single map is nothing.
    cluster.submit(JobSpec { n_reduces: 1, ..on(&["h0"]) });
    cluster.report(3, &[(map(1, 14, 0), Succeeded), (map(1, 15, 0), Succeeded)]);
    assert_eq!(cluster.launches().len(), 2);
}

// docs/hadoop.md#fifo: padding = min(trackerSlots, int(needed·0.01)).
#[test]
fn no_more_is_kept_free_than_one_workers_slots() {
    let mut cluster = cluster(4, 2, 1);
    cluster.submit(JobSpec { n_reduces: 1, ..on(&["h0"; 1_000]) });
    // 1 % are 10 slots, of which 2 count: the last worker alone meets 6 + 2 of 8.
    assert_eq!([0, 1, 2, 3].map(|worker| given(&mut cluster, worker).len()), [2, 2, 2, 1]);
}

// docs/hadoop.md#fifo: "the first non-local (or speculative) map ends map assignment".
#[test]
fn a_second_attempt_ends_the_maps_of_a_heartbeat() {
    let mut c = progressing("fifo", &[("dialect", "1.2.1"), ("speculation", "hadoop")]).workers(3, 2, 0);
    c.submit(on(&["h0"; 6]));
    // These wait for what nobody has, and are load all the same.
    c.submit(job_for(20, &["gpu"]));
    (0..3).for_each(|worker| c.beat(worker));
    assert_eq!(c.launches().len(), 6);
    c.advance(61_000);
    let done = |c: &Cluster, worker: u32| c.running_on(worker).into_iter().map(|id| (id, 100)).collect::<Vec<_>>();
    let (second, third) = (done(&c, 1), done(&c, 2));
    progress(&mut c, 1, &second);
    c.launches();
    progress(&mut c, 2, &third);
    assert_eq!(c.launches().len(), 1, "two tasks are far behind, two slots are free, and the data are near");
}

// docs/hadoop.md#fifo: when exceeded, "only the first runnable job is tried for a reduce".
#[test]
fn near_a_full_cluster_only_the_first_job_gets_a_reduce() {
    for (reduces, expected) in [(300, vec![]), (90, vec![2])] {
        let mut cluster = cluster(4, 1, 4);
        // The first job's reduces may not start; the second has many.
        cluster.submit(job_with(2, 1, |conf| conf.slowstart_ppm = 1_000_000));
        cluster.submit(quick_reduces(0, reduces));
        for worker in 0..4 {
            for _ in 0..3 {
                cluster.beat(worker);
            }
        }
        cluster.launches();
        // 12 run of 16; a padding of int(301 × 0.01) = 3 leaves one more, of int(91 × 0.01) = 0 all.
        cluster.beat(0);
        assert_eq!(cluster.launches().len(), 1);
        assert_eq!(given(&mut cluster, 1), expected, "{reduces}");
    }
}

// docs/hadoop.md#tasks-and-attempts: failed maps are offered first and ignore locality; in 0.20.2 they keep their place
// in the caches.
#[rstest]
#[case::hadoop_1("1.2.1", vec![1, 1, 1])]
#[case::hadoop_0("0.20.2", vec![1])] // the failed one, far from its data, ends the heartbeat's maps
fn a_map_that_ran_before_counts_as_near_its_data_in_1_2_1_only(#[case] dialect: &str, #[case] expected: Vec<u32>) {
    let mut cluster = Cluster::made(|_| {}, fifo(dialect));
    cluster.add_worker("h0", "/r0", 4, 0);
    cluster.add_worker("h1", "/r1", 4, 0);
    cluster.effects.clear();
    cluster.submit(on(&["h0", "h1", "h1", "h1", "h1"]));
    assert_eq!(given(&mut cluster, 0), [1, 1]);
    cluster.report(0, &[(map(1, 0, 0), Failed)]);
    cluster.launches();
    assert_eq!(given(&mut cluster, 1), expected);
}

// docs/hadoop.md#fifo: order: priority, startTime, JobID; five priorities.
#[rstest]
fn the_five_priorities_go_first(#[values("plain", "0.20.2", "1.2.1")] dialect: &str) {
    let mut cluster = Cluster::made(|_| {}, fifo(dialect)).workers(1, 6, 0);
    for priority in Priority::ALL.into_iter().rev() {
        cluster.submit(JobSpec { priority, ..on(&["h0"]) });
    }
    assert_eq!(given(&mut cluster, 0), [5, 4, 3, 2, 1]);
    for _ in 0..2 {
        cluster.submit(on(&["h0"; 3]));
    }
    cluster.apply(&[Input::SetPriority { job: howdah_core::job::JobId(7), priority: Priority::High }]);
    assert_eq!(given(&mut cluster, 0)[0], 7);
}

// docs/hadoop.md#fifo: caps are per heartbeat, and here heartbeats take no time.
// A heartbeat of a replay's slots takes no time, so limits per heartbeat do not slow it down.
#[test]
fn in_the_slots_view_all_dialects_take_the_same_time() {
    let job = |map_ms, reduce_ms| JobTemplate {
        n_maps: 30,
        n_reduces: 30,
        map_ms: vec![map_ms],
        reduce_ms: vec![reduce_ms],
        ..JobTemplate::default()
    };
    for dialect in ["plain", "0.20.2", "1.2.1"] {
        let report = replay(vec![job(10_000, 10_000); 2], &in_slots("fifo", &[("dialect", dialect)], (30, 30)));
        assert_eq!(report.makespan, Span::from_secs(30), "{dialect}");
    }
}
