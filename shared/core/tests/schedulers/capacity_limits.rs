//! Where the capacity scheduler's limits round, and what they count. Source of each rule: `docs/hadoop.md#capacity`,
//! MR1
//! CapacitySchedulerQueue.

use howdah_core::job::{JobConf, JobSpec, TaskKind};

use crate::capacity::{cluster, four_racks, free, large, of, of_on, policy};
use crate::kit::*;
use crate::play::given;

// docs/hadoop.md#capacity: queueCap' = max(cap, req), so that a queue smaller than one of its tasks makes progress.
#[test]
fn a_queue_smaller_than_a_task_runs_one_at_a_time() {
    // Of 8 slots a has 10 %, which is less than one.
    let mut cluster = cluster(&free("[queues.a]\ncapacity = 10\n[queues.b]\ncapacity = 90\n"), 2);
    cluster.submit(large("a", 2, 2));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1], vec![]));
}

// docs/hadoop.md#capacity: queue skipped if occupied + slots > max. `Deviation:` a maximum of less than one slot is one
// slot.
#[test]
fn a_maximum_of_less_than_one_slot_is_one_slot() {
    let file = free(
        "[defaults]\nuser_limit_factor = 9\n[queues.a]\ncapacity = 5\nmaximum_capacity = 10\n[queues.b]\ncapacity = 95\n",
    );
    let mut cluster = cluster(&file, 2);
    cluster.submit(of("a", "u", 5, 0));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1], vec![]));
}

// docs/hadoop.md#capacity: "capacity 0 ⇒ ratio 1": it is served once the others are full.
#[test]
fn a_queue_without_capacity_comes_after_those_that_have_some_left() {
    let mut cluster = cluster(&free("[queues.a]\ncapacity = 0\n[queues.b]\ncapacity = 100\n"), 1);
    cluster.submit(of("a", "u", 9, 0));
    cluster.submit(of("b", "v", 3, 0));
    assert_eq!(given(&mut cluster, 0), [2, 2, 2, 1], "though by name it would be the first of equally empty ones");
}

// docs/hadoop.md#capacity: slotsPerTask; reject if userOcc + req > limit, where req is all slots of the task.
#[test]
fn a_users_limit_counts_all_slots_of_the_next_task() {
    // Of 8 slots a has 3: a second map of two slots would make 4.
    let mut cluster = cluster(&free("[queues.a]\ncapacity = 40\n[queues.b]\ncapacity = 60\n"), 2);
    cluster.submit(large("a", 9, 2));
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1], vec![]));
}

// docs/hadoop.md#allocation-files: maximum-initialized-active-tasks is the queue's, whoever submits; -per-user is one
// user's.
#[test]
fn tasks_under_way_are_limited_for_the_queue_and_for_each_user() {
    let file = free("[queues.default]\ncapacity = 100\nmaximum_initialized_active_tasks = 5\n");
    let mut queue = cluster(&file, 2);
    for (user, maps) in [("u", 3), ("v", 3), ("w", 1)] {
        queue.submit(of("default", user, maps, 0));
    }
    assert_eq!(given(&mut queue, 0), [1; 3], "3 + 3 > 5 ends the search: the small job does not overtake");
    let file = free("[queues.default]\ncapacity = 100\nmaximum_initialized_active_tasks_per_user = 3\n");
    let mut user = cluster(&file, 2);
    for (name, maps) in [("u", 2), ("u", 2), ("v", 1)] {
        user.submit(of("default", name, maps, 0));
    }
    assert_eq!(given(&mut user, 0), [1, 1, 3], "another user's job does");
}

// docs/hadoop.md#capacity: missed opportunities > localityWaitFactor · min(remaining maps, trackers).
#[test]
fn a_job_with_few_maps_left_waits_for_few_chances() {
    // One map, one of four hosts: more than a quarter of a chance.
    let mut cluster = four_racks();
    cluster.submit(of_on("default", "u", &["h1"]));
    assert_eq!(given(&mut cluster, 2), [1]);
}

// MR1 JobInProgress: a map near its data resets the opportunities.
#[test]
fn a_map_near_its_data_begins_the_wait_anew() {
    let mut cluster = four_racks();
    cluster.submit(of_on("default", "u", &["h1", "h1", "h1", "h1", "h0", "h0"]));
    let far = |cluster: &mut Cluster| [2, 3, 2].map(|worker| given(cluster, worker).len());
    let mut other = cluster.fork();
    assert_eq!(far(&mut other), [0, 0, 1], "more than half of four chances");
    assert_eq!((given(&mut cluster, 2), given(&mut cluster, 3)), (vec![], vec![]));
    assert_eq!(given(&mut cluster, 1), [1; 4]);
    assert_eq!(far(&mut cluster), [0, 0, 1], "the same again, as none of the maps is done");
}

// docs/hadoop.md#capacity, reserved trackers: no more of them than tasks that wait.
#[test]
fn no_more_workers_are_kept_than_large_tasks_wait() {
    let file = free("[queues.default]\ncapacity = 100\nuser_limit_factor = 2\n");
    let mut cluster = Cluster::made(|_| {}, policy(&file)).workers(2, 2, 0);
    for spec in [of("default", "u", 4, 0), large("default", 1, 2), of("default", "u", 5, 0)] {
        cluster.submit(JobSpec { conf: JobConf { commits_output: false, ..spec.conf.clone() }, ..spec });
    }
    assert_eq!((given(&mut cluster, 0), given(&mut cluster, 1)), (vec![1, 1], vec![1, 1]));
    let kept =
        |cluster: &Cluster| [0, 1].map(|worker: usize| cluster.state().workers()[worker].reserved(TaskKind::Map));
    cluster.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(cluster.launches(), []);
    cluster.report(1, &[(map(1, 2, 0), Succeeded)]);
    assert_eq!(cluster.launches(), [(1, map(3, 0, 0))]);
    assert_eq!(kept(&cluster).map(|job| job.map(|job| job.0)), [Some(2), None]);
}
