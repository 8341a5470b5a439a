//! The capacity scheduler. Source of each rule: `docs/hadoop.md#capacity`, MR1 CapacityTaskScheduler.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, JobConf, JobSpec, Priority, Requirements, TaskKind, WorkerId};
use howdah_core::replay::{ReplayError, ReplayOptions, Simulation, View};
use howdah_core::schedulers::{Scheduler, by_name};
use howdah_core::time::Span;
use howdah_core::tracker::{Input, SchedulerChoice};

use crate::kit::*;
use crate::play::{given, in_slots, on, params, replay};

pub(crate) fn policy(file: &str) -> Box<dyn Scheduler> {
    by_name("capacity", &params(&[("allocations", file)])).expect("the file holds together")
}

/// So many workers of 4 map and 2 reduce slots.
pub(crate) fn cluster(file: &str, workers: u32) -> Cluster {
    Cluster::made(|_| {}, policy(file)).workers(workers, 4, 2)
}

pub(crate) fn of(queue: &str, user: &str, maps: u32, reduces: u32) -> JobSpec {
    let mut spec = job_with(maps, reduces, |conf| conf.slowstart_ppm = 0);
    (spec.queue, spec.user) = (queue.into(), user.into());
    spec
}

/// The same with each map's data on one host.
pub(crate) fn of_on(queue: &str, user: &str, hosts: &[&str]) -> JobSpec {
    JobSpec { queue: queue.into(), user: user.into(), ..on(hosts) }
}

/// Four hosts, each in a rack of its own, with 4 map and 2 reduce slots.
pub(crate) fn four_racks() -> Cluster {
    let mut cluster = Cluster::made(|_| {}, policy("[queues.default]\ncapacity = 100\n"));
    for worker in 0..4 {
        cluster.add_worker(&format!("h{worker}"), &format!("/r{worker}"), 4, 2);
    }
    cluster.effects.clear();
    cluster
}

/// Ends everything that runs on a worker, without a round in between.
fn end_all(cluster: &mut Cluster, worker: u32) {
    let running: Vec<(AttemptId, AttemptState)> =
        cluster.running_on(worker).into_iter().map(|id| (id, Killed)).collect();
    cluster.report(worker, &running);
}

const FREE: &str = "maximum_offswitch_per_heartbeat = 100\nmaximum_reduces_per_heartbeat = 100\n";
const HALVES: &str = "[queues.a]\ncapacity = 50\n[queues.b]\ncapacity = 50\n";

pub(crate) fn free(queues: &str) -> String {
    format!("{FREE}{queues}")
}

// docs/hadoop.md#capacity: queue order: occupied/capacity ascending, re-sorted per assignment.
#[test]
fn a_slot_goes_to_the_queue_that_uses_the_smallest_part_of_its_capacity() {
    let mut cluster = cluster(&free("[queues.a]\ncapacity = 75\n[queues.b]\ncapacity = 25\n"), 2);
    cluster.submit(of("b", "u", 20, 0));
    cluster.submit(of("a", "u", 20, 0));
    // Of 8 slots, a has 6 and b 2. Equally empty: by name. Then a 1/6, b 0; a 1/6, b 1/2; a 2/6; a 3/6, b 1/2: by name.
    assert_eq!(given(&mut cluster, 0), [2, 1, 2, 2]);
    assert_eq!(given(&mut cluster, 1), [2, 1, 2, 2]);
}

// MR1 CapacityTaskScheduler: scheduling information of queues.
#[test]
fn queues_are_listed_with_their_capacity_and_what_their_jobs_have_and_want() {
    let file = free(
        "[queues.a]\ncapacity = 75\nmaximum_capacity = 80\n[queues.\"b:1+1\"]\ncapacity = 25\n[queues.c]\ncapacity = 0\n",
    );
    let mut cluster = cluster(&file, 2);
    cluster.submit(of("a", "u", 20, 1));
    cluster.submit(of("b:1+1", "u", 1, 0));
    cluster.beat(0);
    let listed = cluster.tracker.scheduler().queues().list(cluster.tracker.state());
    let names: Vec<&str> = listed.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["a", "b:1+1", "c"], "also one without jobs");
    let [a, b, c] = &listed[..] else { panic!("three queues, found {listed:?}") };
    // Of 8 map and 4 reduce slots.
    assert_eq!((a.min, a.max, a.weight), ([6, 3], [Some(6), Some(3)], 75.0));
    assert_eq!((a.jobs, a.held_jobs, a.running, a.demand), (1, 0, [3, 1], [20, 1]));
    assert_eq!((b.min, b.max, b.running, b.demand), ([2, 1], [None, None], [1, 0], [1, 0]));
    assert_eq!((c.jobs, c.running, c.share), (0, [0, 0], [0.0, 0.0]));
}

// docs/hadoop.md#capacity: queues may use what others leave idle, and get their own back as slots become free: no
// preemption.
#[test]
fn idle_capacity_is_lent_and_comes_back_without_preemption() {
    let file = format!("{FREE}[defaults]\nuser_limit_factor = 10\n{HALVES}");
    let mut cluster = cluster(&file, 2);
    cluster.submit(of("a", "u", 20, 0));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1; 4], vec![1; 4]));
    cluster.submit(of("b", "u", 20, 0));
    assert_eq!(given(&mut cluster, 0), [0; 0]);
    assert_eq!(cluster.running_on(0).len(), 4, "nothing is stopped");
    end_all(&mut cluster, 0);
    let jobs: Vec<u32> = cluster.launches().iter().map(|(_, attempt)| attempt.job.0).collect();
    assert_eq!(jobs, [2; 4], "b takes what it is short of");
}

// docs/hadoop.md#capacity: queue skipped if occupied + slots > maximum capacity.
#[test]
fn a_queue_never_exceeds_its_maximum_capacity() {
    let file = free(
        "[defaults]\nuser_limit_factor = 10\n[queues.a]\ncapacity = 25\nmaximum_capacity = 50\n[queues.b]\ncapacity = 75\n",
    );
    let mut cluster = cluster(&file, 2);
    let job = cluster.submit(of("a", "u", 20, 20));
    assert_eq!(given(&mut cluster, 0), [1; 6], "4 of 8 map slots, 2 of 4 reduce slots");
    assert_eq!(given(&mut cluster, 1), [0; 0]);
    let why = cluster.tracker.explain(job).to_string();
    assert_eq!(why, "Queue `a` holds 4 map slots and may have 4 at most.");
}

// docs/hadoop.md#capacity, user limit, in words.
#[test]
fn users_without_a_name_are_not_named() {
    let mut cluster = cluster(&free(HALVES), 2);
    let job = cluster.submit(of("a", "", 20, 0));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1; 4], vec![]));
    let why = cluster.tracker.explain(job).to_string();
    assert_eq!(why, "Its user holds 4 map slots in queue `a`, and one user may have 4 there now.");
}

// docs/hadoop.md#capacity, queue order; requirements of jobs are ours.
#[test]
fn a_queue_whose_jobs_no_worker_may_serve_is_not_the_next_one() {
    let mut cluster = cluster(&free(HALVES), 1);
    cluster.submit(of("a", "u", 2, 0));
    cluster.submit(of("a", "v", 2, 0));
    assert_eq!(given(&mut cluster, 0).len(), 4);
    let waits = cluster.submit(of("a", "w", 2, 0));
    let mut other = of("b", "u", 2, 0);
    other.conf.requires = Requirements::parse(&["gpu"]).expect("requirements");
    cluster.submit(other);
    assert_eq!(cluster.tracker.explain(waits).to_string(), "It is next, but 4 map slots are taken.");
    cluster.submit(of("b", "v", 2, 0));
    let why = cluster.tracker.explain(waits).to_string();
    assert!(why.contains("queue `b` uses less of its capacity than `a`"), "{why}");
}

// docs/hadoop.md#capacity: "Default ⇒ one user can never exceed the queue's own capacity, even on an idle cluster"
// (factor 1).
#[test]
fn one_user_stays_within_the_queues_capacity_by_default() {
    let mut cluster = cluster(&free(HALVES), 2);
    let job = cluster.submit(of("a", "u", 20, 0));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1; 4], vec![]));
    let why = cluster.tracker.explain(job).to_string();
    assert_eq!(why, "User `u` holds 4 map slots in queue `a`, and one user may have 4 there now.");
    let mut fork = cluster.fork();
    // One whose limit holds it back stands before nobody.
    fork.submit(of("a", "u", 20, 0));
    let third = fork.submit(of("a", "v", 20, 0));
    let why = fork.tracker.explain(third).to_string();
    assert_eq!(why, "It is next and map slots are free: it starts with the next heartbeat of their workers.");
    // A second user has the queue go beyond its capacity: both may have ceil((4 + 1) × 100 %) of at most 4.
    cluster.submit(of("a", "v", 20, 0));
    assert_eq!(given(&mut cluster, 1), [2; 4]);
}

// docs/hadoop.md#capacity: user-limit-factor.
#[test]
fn the_user_limit_factor_lets_a_user_have_a_multiple_of_the_capacity() {
    let file = free("[defaults]\nuser_limit_factor = 1.5\n[queues.a]\ncapacity = 50\n[queues.b]\ncapacity = 50\n");
    let mut cluster = cluster(&file, 2);
    cluster.submit(of("a", "u", 20, 0));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1; 4], vec![1; 2]));
}

// docs/hadoop.md#capacity: limit = max(ceil(cur/activeUsers), ceil(ulMin·cur/100)).
#[test]
fn users_with_waiting_tasks_share_the_queue_down_to_the_minimum_percentage() {
    let file = free("[queues.default]\ncapacity = 100\nminimum_user_limit_percent = 25\n");
    let mut cluster = cluster(&file, 2);
    cluster.submit(of("default", "u", 20, 0));
    cluster.submit(of("default", "v", 20, 0));
    // Two users share 8 slots: 4 each, although all of u's came first.
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1; 4], vec![2; 4]));
    // With nine users nobody has less than 25 %: ceil(8 × 25 %) = 2, though an equal part is ceil(8 ÷ 9) = 1.
    let mut cluster = self::cluster(&file, 2);
    for user in ["u", "v", "w", "x", "y", "z", "p", "q", "r"] {
        cluster.submit(of("default", user, 20, 0));
    }
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1, 1, 2, 2], vec![3, 3, 4, 4]));
    // Three users may have ceil(8 ÷ 3) = 3.
    let mut cluster = self::cluster(&file, 2);
    for user in ["u", "v", "w"] {
        cluster.submit(of("default", user, 20, 0));
    }
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1, 1, 1, 2], vec![2, 2, 3, 3]));
}

// docs/hadoop.md#capacity: job order startTime, or priority if supports-priority.
#[test]
fn priorities_count_only_where_the_queue_supports_them() {
    let file = free("[queues.a]\ncapacity = 50\nsupports_priority = true\n[queues.b]\ncapacity = 50\n");
    for (queue, first) in [("a", 2), ("b", 1)] {
        let mut cluster = cluster(&file, 1);
        cluster.submit(of(queue, "u", 1, 0));
        cluster.submit(JobSpec { priority: Priority::High, ..of(queue, "u", 1, 0) });
        assert_eq!(given(&mut cluster, 0)[0], first, "{queue}");
    }
    // A change of priority moves a job that waits.
    let mut cluster = cluster(&file, 1);
    cluster.submit(of("a", "u", 2, 0));
    let second = cluster.submit(of("a", "u", 2, 0));
    cluster.apply(&[Input::SetPriority { job: second, priority: Priority::VeryHigh }]);
    assert_eq!(given(&mut cluster, 0), [2, 2]);
}

// docs/hadoop.md#capacity: reduces: 1 per heartbeat; one off-switch map, and maximum-tasks-after-offswitch (0) more.
#[test]
fn a_heartbeat_gives_one_map_without_known_place_and_one_reduce() {
    let mut cluster = cluster("[queues.default]\ncapacity = 100\n", 1);
    cluster.submit(of("default", "u", 10, 10));
    cluster.beat(0);
    assert_eq!(cluster.launches(), [(0, map(1, 0, 0)), (0, reduce(1, 0, 0))]);
    cluster.beat(0);
    assert_eq!(cluster.launches(), [(0, map(1, 1, 0)), (0, reduce(1, 1, 0))]);
}

// MR1: local maps fill the slots; the first off-switch one ends the heartbeat's maps.
#[test]
fn maps_near_their_data_fill_the_worker_and_one_from_elsewhere_ends_it() {
    let mut cluster = cluster("[queues.default]\ncapacity = 100\n", 2);
    cluster.submit(of_on("default", "u", &["h0", "h0", "h1", "h0"]));
    cluster.submit(of("default", "u", 5, 0));
    // All hosts are of one rack: h1's split is rack-local to h0.
    assert_eq!(given(&mut cluster, 0), [1, 1, 1, 1]);
    assert_eq!(given(&mut cluster, 1), [2]);
}

// docs/hadoop.md#allocation-files: maximum-tasks-per-heartbeat, maximum-tasks-after-offswitch.
#[test]
fn the_maps_of_a_heartbeat_and_those_after_a_far_one_have_limits() {
    let mut cluster = cluster("maximum_tasks_per_heartbeat = 3\n[queues.default]\ncapacity = 100\n", 1);
    cluster.submit(of_on("default", "u", &["h0"; 8]));
    assert_eq!(given(&mut cluster, 0), [1; 3]);
    assert_eq!(given(&mut cluster, 0), [1; 1]);
    let file = "maximum_tasks_after_offswitch = 2\n[queues.a]\ncapacity = 50\n[queues.b]\ncapacity = 50\n";
    let mut cluster = self::cluster(file, 1);
    cluster.submit(of("a", "u", 5, 0));
    cluster.submit(of_on("b", "u", &["h0"; 5]));
    // a's map has no known place; then only maps near their data, two of them, by b's capacity of 2.
    assert_eq!(given(&mut cluster, 0), [1, 2, 2]);
}

// docs/hadoop.md#capacity: off-switch allowed when missed opportunities > factor × min(remaining maps, trackers),
// factor = job's hosts over the cluster's.
#[test]
fn a_job_waits_for_a_worker_near_its_data_as_many_chances_as_it_wants_workers() {
    let mut cluster = four_racks();
    let job = cluster.submit(of_on("default", "u", &["h1", "h1", "h0", "h0"]));
    // 4 maps, 4 workers, 2 of 4 hosts: more than 2 chances.
    assert_eq!(given(&mut cluster, 2), [0; 0]);
    let why = cluster.tracker.explain(job).to_string();
    assert_eq!(why, "It waits for a worker near its data: it has let 1 chances pass and takes any worker at the 3th.");
    assert_eq!(given(&mut cluster, 3), [0; 0]);
    assert_eq!(given(&mut cluster, 2), [1]);
    // A far one does not begin the wait anew; one near its data does.
    assert_eq!(given(&mut cluster, 3), [1]);
    assert_eq!(given(&mut cluster, 0), [1, 1]);
}

// docs/hadoop.md#capacity: a map that ran before is given wherever it is (MR1 failedMaps).
#[test]
fn a_map_that_failed_does_not_wait_for_its_data() {
    let mut cluster = four_racks();
    cluster.submit(of_on("default", "u", &["h0", "h0", "h0", "h0", "h1", "h1"]));
    assert_eq!(given(&mut cluster, 0), [1; 4]);
    cluster.report(0, &[(map(1, 0, 0), Failed)]);
    cluster.launches();
    cluster.beat(2);
    assert_eq!(cluster.launches(), [(2, map(1, 0, 1))], "the others wait for three chances");
}

// docs/hadoop.md#capacity: init limits: ceil(maxSystemJobs·cap%), per user ×ulMin%.
#[test]
fn jobs_beyond_the_limits_are_not_begun_until_others_are_over() {
    let file =
        format!("maximum_system_jobs = 4\n{FREE}[queues.default]\ncapacity = 100\nminimum_user_limit_percent = 25\n");
    let mut cluster = cluster(&file, 2);
    let first = cluster.submit(of("default", "u", 1, 0));
    let second = cluster.submit(of("default", "u", 1, 0));
    cluster.submit(of("default", "v", 1, 0));
    assert_eq!(given(&mut cluster, 0), [1, 3], "u may have one job at a time, v another");
    let why = cluster.tracker.explain(second).to_string();
    assert_eq!(
        why,
        "User `u` has 1 job under way in queue `default`, as many as one user may (minimum-user-limit-percent)."
    );
    cluster.apply(&[Input::KillJob { job: first }]);
    cluster.report(0, &[(map(1, 0, 0), Killed)]);
    let jobs: Vec<u32> = cluster.launches().iter().map(|(_, attempt)| attempt.job.0).collect();
    assert_eq!(jobs, [2]);
}

// docs/hadoop.md#allocation-files: maximum-initialized-active-tasks, -per-user.
#[test]
fn tasks_of_jobs_under_way_have_limits() {
    let file = format!("{FREE}[queues.default]\ncapacity = 100\nmaximum_initialized_active_tasks = 5\n");
    let mut cluster = cluster(&file, 2);
    for maps in [3, 3, 1] {
        cluster.submit(of("default", "u", maps, 0));
    }
    // 3 + 3 > 5 ends the search: the small job does not overtake.
    assert_eq!(given(&mut cluster, 0), [1; 3]);
    let policy = cluster.tracker.scheduler();
    let error = policy.queues().accepts(&of("default", "u", 6, 0)).expect_err("could never begin");
    assert!(
        error.starts_with("the job has 6 tasks; queue `default` initialises at most 5 tasks of one user"),
        "{error}"
    );
}

// docs/hadoop.md#capacity: accept ×10 (init-accept-jobs-factor), said clearly; unknown queue.
#[test]
fn submissions_to_unknown_queues_and_beyond_the_limits_are_refused() {
    let file = "maximum_system_jobs = 2\n[defaults]\ninit_accept_jobs_factor = 2\nminimum_user_limit_percent = 50\n[queues.a]\ncapacity = 100\n";
    let mut cluster = cluster(file, 1);
    let refusal = |cluster: &Cluster, queue: &str, user: &str| {
        cluster.tracker.scheduler().queues().accepts(&of(queue, user, 1, 0)).err().unwrap_or_default()
    };
    let room = |cluster: &Cluster, user: &str| cluster.tracker.scheduler().queues().room(&of("a", user, 1, 0));
    assert_eq!(room(&cluster, "u"), Some(2));
    assert_eq!(refusal(&cluster, "x", "u"), "queue `x` does not exist, expected one of a");
    for user in ["u", "u"] {
        assert_eq!(refusal(&cluster, "a", user), "");
        cluster.submit(of("a", user, 1, 0));
    }
    assert!(refusal(&cluster, "a", "u").starts_with("user `u` has 2 jobs in queue `a`, which accepts at most 2"));
    assert_eq!((room(&cluster, "u"), room(&cluster, "v")), (Some(0), Some(2)));
    for user in ["v", "v"] {
        cluster.submit(of("a", user, 1, 0));
    }
    assert_eq!(room(&cluster, "w"), Some(0));
    assert!(refusal(&cluster, "a", "w").starts_with("queue `a` has 4 jobs and accepts at most 4"));
}

/// The same with so many slots for each map.
pub(crate) fn large(queue: &str, maps: u32, slots: u16) -> JobSpec {
    let mut spec = of(queue, "u", maps, 0);
    spec.conf.slots_per_map = slots;
    spec
}

// MR1: tasks of several slots do not wait for locality, so that one may follow the far map that was the last to be.
#[test]
fn large_maps_far_from_their_data_count_as_what_may_follow_a_far_one() {
    let file = "maximum_tasks_after_offswitch = 2\n[queues.default]\ncapacity = 100\n";
    let mut cluster = Cluster::made(|_| {}, policy(file)).workers(1, 8, 0);
    cluster.submit(large("default", 4, 2));
    assert_eq!(given(&mut cluster, 0), [1; 3], "the far one and two more");
    assert_eq!(given(&mut cluster, 0), [1; 1]);
}

// docs/hadoop.md#capacity: slotsPerTask = ceil(job mem/slot mem); queue and user count slots, not tasks.
#[test]
fn tasks_of_several_slots_count_with_all_of_them() {
    let mut cluster = cluster(
        &free(
            "[defaults]\nuser_limit_factor = 2\n[queues.a]\ncapacity = 60\nmaximum_capacity = 70\n[queues.b]\ncapacity = 40\n",
        ),
        2,
    );
    cluster.submit(large("a", 9, 2));
    cluster.submit(of("b", "u", 9, 0));
    // Of 8 slots a has 4 and at most 5, so two maps of two slots.
    assert_eq!(given(&mut cluster, 0), [1, 2, 2]);
    assert_eq!(cluster.state().workers()[0].occupied(TaskKind::Map), 4);
    assert_eq!(given(&mut cluster, 1), [1, 2, 2]);
    cluster.report(0, &[(map(1, 0, 0), Failed)]);
    assert_eq!(cluster.launches().len(), 1, "the same map again, in the two slots that it left");
    assert_eq!(cluster.state().workers()[0].occupied(TaskKind::Map), 4);
}

// docs/hadoop.md#capacity: if it does not fit, reserve the tracker (fallow slots); MR1 getTaskFromQueue: and give
// nobody else anything.
#[test]
fn a_worker_with_too_few_free_slots_is_kept_for_a_large_task() {
    let mut cluster = Cluster::made(|_| {}, policy(&free("[queues.default]\ncapacity = 100\nuser_limit_factor = 2\n")))
        .workers(1, 2, 0);
    for spec in [of("default", "u", 2, 0), large("default", 1, 2), of("default", "u", 5, 0)] {
        cluster.submit(JobSpec { conf: JobConf { commits_output: false, ..spec.conf.clone() }, ..spec });
    }
    assert_eq!(given(&mut cluster, 0), [1, 1]);
    cluster.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(cluster.launches(), [], "one slot lies fallow");
    assert_eq!(cluster.state().workers()[0].reserved(TaskKind::Map).map(|job| job.0), Some(2));
    cluster.report(0, &[(map(1, 1, 0), Succeeded)]);
    assert_eq!(cluster.launches(), [(0, map(2, 0, 0))]);
    assert_eq!(cluster.state().workers()[0].reserved(TaskKind::Map), None);
    cluster.report(0, &[(map(2, 0, 0), Succeeded)]);
    assert_eq!(cluster.launches().len(), 2, "then it is the others' turn");
}

// docs/hadoop.md#capacity, reserved trackers; changing the policy is ours.
#[test]
fn a_worker_is_kept_for_nobody_once_another_policy_decides() {
    let mut cluster = Cluster::made(|_| {}, policy(&free("[queues.default]\ncapacity = 100\nuser_limit_factor = 2\n")))
        .workers(1, 2, 0);
    for spec in [of("default", "u", 2, 0), large("default", 1, 2), of("default", "u", 5, 0)] {
        cluster.submit(JobSpec { conf: JobConf { commits_output: false, ..spec.conf.clone() }, ..spec });
    }
    assert_eq!(given(&mut cluster, 0), [1, 1]);
    cluster.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(cluster.state().workers()[0].reserved(TaskKind::Map).map(|job| job.0), Some(2));
    let fifo = SchedulerChoice { name: "fifo".into(), ..SchedulerChoice::default() };
    cluster.apply(&[Input::SetScheduler(Box::new(fifo))]);
    assert_eq!(cluster.state().workers()[0].reserved(TaskKind::Map), None);
    assert_eq!(given(&mut cluster, 0), [3], "the large task does not fit, the next job's does");
}

// docs/hadoop.md#capacity, reserved trackers.
#[test]
fn a_task_larger_than_every_worker_keeps_none() {
    let mut cluster = cluster(&free("[queues.default]\ncapacity = 100\n"), 2);
    let job = cluster.submit(large("default", 1, 5));
    cluster.submit(of("default", "u", 4, 0));
    assert_eq!(given(&mut cluster, 0), [2; 4]);
    let why = cluster.tracker.explain(job).to_string();
    assert_eq!(why, "Each of its maps takes 5 slots, more than any live worker has.");
}

// docs/hadoop.md#capacity, reserved trackers. A worker that goes, and a job that is over, end what is kept.
#[test]
fn nothing_is_kept_for_a_job_that_is_over_or_on_a_worker_that_is_gone() {
    for gone in [false, true] {
        let file = free("[queues.default]\ncapacity = 100\nuser_limit_factor = 2\n");
        let mut cluster = Cluster::made(|_| {}, policy(&file)).workers(2, 2, 0);
        let small = of("default", "u", 2, 0);
        cluster.submit(JobSpec { conf: JobConf { commits_output: false, ..small.conf.clone() }, ..small });
        let job = cluster.submit(large("default", 2, 2));
        assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1, 1], vec![2]));
        cluster.report(0, &[(map(1, 0, 0), Succeeded)]);
        assert!(cluster.launches().is_empty());
        let kept = |cluster: &Cluster| cluster.state().workers()[0].reserved(TaskKind::Map);
        assert_eq!(kept(&cluster), Some(job));
        if gone {
            cluster.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
            cluster.report(1, &[(map(2, 0, 0), Killed)]);
        } else {
            cluster.apply(&[Input::KillJob { job }]);
            cluster.report(1, &[(map(2, 0, 0), Killed)]);
        }
        assert_eq!(kept(&cluster), None, "gone: {gone}");
    }
}

fn choice(file: &str) -> SchedulerChoice {
    SchedulerChoice { name: "capacity".into(), params: params(&[("allocations", file)]) }
}

fn set(file: &str) -> Input {
    Input::SetScheduler(Box::new(choice(file)))
}

// docs/hadoop.md#capacity: deleting a queue on refresh is an error; an invalid file keeps the old one.
#[test]
fn a_file_read_again_takes_over_unless_a_queue_is_gone() {
    let mut cluster = cluster(&free(HALVES), 2);
    cluster.submit(of("a", "u", 20, 0));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1; 4], vec![]));
    let choice = choice("[queues.a]\ncapacity = 100\n");
    let error = cluster.tracker.check_scheduler(&choice).expect_err("queue b is gone").to_string();
    assert_eq!(
        error,
        "scheduler `capacity`: parameter `allocations`: queue `b` is not there any more; expected all queues that \
         there were"
    );
    for file in ["[queues.a]\ncapacity = 100\n", "[queues.a]\ncapacity = 10\n[queues.b]\ncapacity = 10\n"] {
        cluster.apply(&[set(file)]);
        assert_eq!(given(&mut cluster, 1), [0; 0], "the old file holds");
    }
    cluster.apply(&[set(&free("[queues.a]\ncapacity = 75\n[queues.b]\ncapacity = 20\n[queues.c]\ncapacity = 5\n"))]);
    assert_eq!(given(&mut cluster, 1), [1; 2], "6 of 8 slots, of which 4 are held");
    assert_eq!(cluster.tracker.scheduler().queues().accepts(&of("c", "u", 1, 0)), Ok(()));
}

fn template(queue: &str, tasks: u32, map_ms: u64, reduce_ms: u64) -> JobTemplate {
    JobTemplate {
        queue: queue.into(),
        n_maps: tasks,
        n_reduces: tasks,
        map_ms: vec![map_ms],
        reduce_ms: vec![reduce_ms],
        ..JobTemplate::default()
    }
}

fn options(file: &str, maps: u16, reduces: u16) -> ReplayOptions {
    in_slots("capacity", &[("allocations", file)], (maps, reduces))
}

// BalancedPools §3.3, scenario 2, Figure 9 (b): pools of 10 and 20 slots take 39 and 40, the whole 40 instead of 47.
#[test]
fn fixed_pools_run_as_clusters_of_their_own() {
    let stage = |queue, tasks, map_s: u64, reduce_s: u64| template(queue, tasks, map_s * 1_000, reduce_s * 1_000);
    let jobs = vec![
        stage("small", 30, 1, 4),
        stage("small", 30, 2, 3),
        stage("small", 30, 4, 5),
        stage("large", 20, 6, 30),
        stage("large", 20, 30, 4),
    ];
    let makespan = |jobs: Vec<JobTemplate>, file: &str| replay(jobs, &options(file, 30, 30)).makespan;
    let pools =
        "[queues.small]\nmap_slots = 10\nreduce_slots = 10\n[queues.large]\nmap_slots = 20\nreduce_slots = 20\n";
    // Hadoop's limits per heartbeat take no time where heartbeats take none.
    for file in [free(pools), pools.to_owned()] {
        assert_eq!(makespan(jobs.clone(), &file), Span::from_secs(40));
    }
    let alone = |queue: &str| jobs.iter().filter(|job| job.queue == queue).cloned().collect::<Vec<_>>();
    assert_eq!(makespan(alone("large"), pools), Span::from_secs(40), "idle slots of the other pool stay idle");
}

// BalancedPools §3.3: pools of fixed slots.
#[test]
fn a_task_larger_than_its_pool_is_refused() {
    let policy = policy("[queues.a]\nmap_slots = 2\nreduce_slots = 0\n");
    assert_eq!(policy.queues().accepts(&large("a", 1, 2)), Ok(()));
    assert_eq!(
        policy.queues().accepts(&large("a", 1, 3)),
        Err("each map takes 3 slots, and queue `a` has 2".to_owned())
    );
}

// docs/hadoop.md#capacity: a job of an unknown queue is refused.
#[test]
fn a_replay_with_an_unknown_queue_does_not_begin() {
    let trace = Trace { jobs: vec![template("x", 1, 1, 1)], ..Trace::default() };
    let error = Simulation::new(&trace, &options(HALVES, 1, 1)).err().expect("no such queue");
    assert!(matches!(error, ReplayError::Refused { .. }));
    assert_eq!(error.to_string(), "job 1 (``): queue `x` does not exist, expected one of a, b");
}

// SimMR's replay with tasks of several slots: two at a time on four slots.
#[test]
fn a_replay_runs_tasks_of_several_slots() {
    let job = JobTemplate { slots_per_map: 2, ..template("default", 4, 1_000, 1_000) };
    let run = |maps: u16| {
        let trace = Trace { jobs: vec![JobTemplate { n_reduces: 0, ..job.clone() }], ..Trace::default() };
        let options = ReplayOptions { view: View::Slots { maps, reduces: 1 }, ..ReplayOptions::default() };
        let mut simulation = Simulation::new(&trace, &options).map_err(|error| error.to_string())?;
        simulation.run();
        Ok((simulation.report().makespan, simulation.report().busy_us[0]))
    };
    assert_eq!(run(5), Ok((Span::from_secs(2), 8_000_000)));
    assert_eq!(run(1), Err("job 1 (``): each map takes 2 slots, expected at most the 1 of a worker".to_owned()));
}

// docs/hadoop.md#capacity, missed opportunities.
// A job with data on hosts that are not there must not wait for ever where nobody speaks of himself.
#[test]
fn a_wait_for_data_ends_without_heartbeats_too() {
    let mut job = template("a", 3, 1_000, 1_000);
    job.split_hosts = howdah_core::job::SplitHosts::new([["x"], ["y"], ["z"]]);
    let report = replay(vec![job], &options(HALVES, 4, 4));
    assert!(report.jobs.iter().all(|job| job.state.is_final()));
}
