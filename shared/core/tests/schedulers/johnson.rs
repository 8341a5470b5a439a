//! Johnson's order and pools that hold it: the makespan paper's worked examples, rule by rule.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{JobConf, JobId, JobProfile, JobSpec, PhaseTimes, Priority, Requirements, TaskKind, WorkerId};
use howdah_core::replay::{ReplayOptions, ReplayReport, Simulation};
use howdah_core::schedulers::{self, Reason};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Input, SchedulerChoice};
use rstest::rstest;

use super::fair::maps;
use super::kit::{Cluster, Succeeded, job_with, map};
use super::play::{
    self, a_fork_goes_on_as_its_original, all_succeeded, given, in_slots, most_at_once, params, recorded,
};

/// A job whose stages take so many seconds when all of its tasks run at once.
fn stages(name: &str, tasks: u32, map_s: u64, reduce_s: u64) -> JobTemplate {
    JobTemplate {
        name: name.to_owned(),
        n_maps: tasks,
        n_reduces: if reduce_s == 0 { 0 } else { tasks },
        map_ms: vec![map_s * 1_000],
        reduce_ms: vec![reduce_s * 1_000],
        ..JobTemplate::default()
    }
}

/// balanced-pools Figure 6, in its order.
fn figure_6(tasks: [u32; 5]) -> Vec<JobTemplate> {
    let stage = [("J1", 4, 5), ("J2", 1, 4), ("J3", 30, 4), ("J4", 6, 30), ("J5", 2, 3)];
    stage.iter().zip(tasks).map(|(&(name, map, reduce), tasks)| stages(name, tasks, map, reduce)).collect()
}

/// The paper's 30 slots of each kind.
fn options(scheduler: &str, pairs: &[(&str, &str)]) -> ReplayOptions {
    in_slots(scheduler, pairs, (30, 30))
}

fn replay(jobs: Vec<JobTemplate>, scheduler: &str, pairs: &[(&str, &str)]) -> ReplayReport {
    let report = play::replay(jobs, &options(scheduler, pairs));
    all_succeeded(&report);
    report
}

// balanced-pools §3.1 Figure 4, §3.2 Figure 8: the policy finds the order whatever the order of submission.
#[test]
fn johnsons_order_is_found_from_the_profiles() {
    let two = || vec![stages("J1", 30, 20, 2), stages("J2", 30, 2, 20)];
    assert_eq!(replay(two(), "johnson", &[]).makespan, Span::from_secs(24));
    assert_eq!(replay(two(), "johnson", &[("order", "reverse")]).makespan, Span::from_secs(42));
    let five = || figure_6([30; 5]);
    assert_eq!(replay(five(), "johnson", &[]).makespan, Span::from_secs(47));
    assert_eq!(replay(five(), "johnson", &[("order", "reverse")]).makespan, Span::from_secs(78));
    // §3.3, scenario 2.
    assert_eq!(replay(figure_6([30, 30, 20, 20, 30]), "johnson", &[]).makespan, Span::from_secs(47));
}

// balanced-pools §2.2 divides a stage's work by all slots; here by those that its tasks fill, unless asked for.
#[rstest]
#[case::usable("usable", 22)]
#[case::printed("printed", 24)]
fn a_job_of_few_tasks_goes_first_only_by_the_papers_division(#[case] stages_as: &str, #[case] second_ends: u64) {
    // On 30 slots the first takes 12 s for its maps, or, as printed, 3 · 12 / 30 s; the second 2 s either way.
    let jobs = || vec![stages("few", 3, 12, 13), stages("many", 30, 2, 20)];
    for scheduler in ["johnson", "balanced-pools"] {
        let report = replay(jobs(), scheduler, &[("bound", "low"), ("stages", stages_as)]);
        assert_eq!(report.jobs[1].finish, Time::from_ms(second_ends * 1_000), "{scheduler}");
    }
}

// balanced-pools §3.2 orders by profiles; jobs without one come behind those with one: ours.
#[test]
fn jobs_without_a_profile_wait_behind_those_with_one() {
    let mut c =
        Cluster::made(|_| {}, schedulers::by_name("johnson", &params(&[])).expect("it exists")).workers(1, 1, 1);
    let long = JobProfile { map: PhaseTimes::even(Span::from_secs(100)), ..JobProfile::default() };
    c.submit(job_with(1, 1, |_| {}));
    c.submit(JobSpec { profile: Some(Box::new(long)), ..job_with(1, 0, |_| {}) });
    assert_eq!(given(&mut c, 0), [2], "as a job of equally long tasks, a second each, the first would be the first");
}

/// On one slot the map stage of the first is the longer one (100 s against 20 s), and the second goes first; on ten it
/// is the shorter one, of 10 s, and goes before that of 30 s.
fn two_whose_order_depends_on_the_slots(queue: &str) -> [JobSpec; 2] {
    [(10, 10, 20), (1, 30, 40)].map(|(maps, map_s, reduce_s)| {
        let [map, reduce] = [map_s, reduce_s].map(|s| PhaseTimes::even(Span::from_secs(s)));
        let profile = JobProfile { map, reduce, ..JobProfile::default() };
        JobSpec { profile: Some(Box::new(profile)), queue: queue.into(), ..job_with(maps, 1, |_| {}) }
    })
}

// balanced-pools §2.2: stages are those on the slots that there are.
#[test]
fn the_order_follows_the_clusters_slots() {
    for (maps, first) in [(1, 2), (10, 1)] {
        let mut c = Cluster::made(|_| {}, schedulers::by_name("johnson", &params(&[])).expect("it exists"));
        for spec in two_whose_order_depends_on_the_slots("default") {
            c.submit(spec);
        }
        c.add_worker("h0", "/r", maps, 1);
        c.effects.clear();
        assert_eq!(given(&mut c, 0)[0], first, "{maps} slots");
    }
}

// balanced-pools §3.3: each pool is a cluster of its own, with its own order.
#[test]
fn the_order_in_a_pool_follows_the_pools_slots() {
    for (pools, first) in [("p:1+1", 2), ("p:10+1", 1)] {
        let policy = schedulers::by_name("balanced-pools", &params(&[("pools", pools)])).expect("it exists");
        let mut c = Cluster::made(|_| {}, policy).workers(1, 10, 1);
        for spec in two_whose_order_depends_on_the_slots("p") {
            c.submit(spec);
        }
        assert_eq!(given(&mut c, 0)[0], first, "{pools}");
    }
}

// balanced-pools §4.3: a slot that a pool gets back may be any worker's; that parked ones are woken for it is ours.
#[test]
fn a_parked_worker_is_woken_when_its_pool_has_a_slot_again() {
    let policy = schedulers::by_name("balanced-pools", &params(&[("pools", "p:1+0")])).expect("it exists");
    let mut c = Cluster::made(|_| {}, policy).workers(2, 1, 0).parking();
    c.submit(JobSpec { queue: "p".into(), ..job_with(2, 0, |conf| conf.commits_output = false) });
    c.beat(0);
    c.beat(1);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))], "the other worker's slot is not the pool's");
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: true }]);
    c.report(0, &[(map(1, 0, 0), Succeeded)]);
    assert_eq!(c.launches(), [(1, map(1, 1, 0))]);
}

// docs/hadoop.md#fifo: priority first, as under FIFO; the paper's batches have none.
#[test]
fn priorities_go_before_johnsons_order() {
    let urgent = JobTemplate { priority: Priority::High, ..stages("J1", 30, 20, 2) };
    let report = replay(vec![stages("J2", 30, 2, 20), urgent], "johnson", &[]);
    assert_eq!(report.makespan, Span::from_secs(42), "as reversed: the long map stage first");
}

// balanced-pools §6: what comes later takes its place among those that wait.
#[test]
fn a_job_that_comes_later_goes_before_those_that_wait_behind_its_place() {
    let mut jobs = vec![stages("a", 30, 10, 2), stages("b", 30, 10, 2), stages("late", 30, 2, 10)];
    jobs[2].submit_ms = 5_000;
    let report = replay(jobs, "johnson", &[]);
    // a maps until 10, late until 12, b until 22.
    let done = |job: usize| report.jobs[job].maps_done;
    assert_eq!([done(0), done(2), done(1)], [10, 12, 22].map(|s| Some(Time::from_ms(s * 1_000))));
}

// The project's choice: balanced-pools §3.2 knows every job's stages.
#[test]
fn a_job_without_durations_waits_behind_those_that_have_some() {
    let unknown = JobTemplate { map_ms: Vec::new(), n_maps: 1, ..JobTemplate::default() };
    let report = replay(vec![unknown, stages("a", 30, 10, 0), stages("b", 30, 10, 0)], "johnson", &[]);
    assert_eq!(report.jobs[0].start, Some(Time::from_ms(20_000)));
}

/// In one of the two pools of §3.3, by name.
fn in_pools(small: &str, big: &str) -> Vec<JobTemplate> {
    let mut jobs = figure_6([30, 30, 20, 20, 30]);
    for job in &mut jobs {
        job.queue = if ["J3", "J4"].contains(&job.name.as_str()) { big.to_owned() } else { small.to_owned() };
    }
    jobs
}

// balanced-pools §3.3, scenario 2, Figure 9 (b): 39 and 40 instead of 47; pools by parameter or by their own names.
#[rstest]
#[case::given("small", "big", &[("pools", "small:10+10,big:20+20")])]
#[case::brought("batch-1:10+10", "batch-2:20+20", &[])]
fn two_pools_of_ten_and_twenty_take_forty(#[case] small: &str, #[case] big: &str, #[case] pairs: &[(&str, &str)]) {
    let report = replay(in_pools(small, big), "balanced-pools", pairs);
    assert_eq!(report.makespan, Span::from_secs(40));
    let last = |jobs: &[usize]| jobs.iter().map(|&job| report.jobs[job].finish).max();
    assert_eq!(last(&[0, 1, 4]), Some(Time::from_ms(39_000)));
    assert_eq!(last(&[2, 3]), Some(Time::from_ms(40_000)));
}

// balanced-pools §6: new jobs while a batch runs; what is planned again is applied to jobs that are there already.
#[test]
fn a_moved_job_is_in_its_new_pool_with_all_that_it_runs() {
    let mut c = Cluster::made(|_| {}, schedulers::by_name("balanced-pools", &params(&[])).expect("its defaults"))
        .workers(1, 4, 0);
    for queue in ["x:1+0", "y:3+0"] {
        c.submit(JobSpec { queue: queue.into(), ..job_with(9, 0, |conf| conf.commits_output = false) });
    }
    c.beat(0);
    assert_eq!(maps(&c), [1, 3]);
    let moved = params(&[("moved", "1=z:2+0;2=w:2+0;7=w:2+0")]);
    let choice = SchedulerChoice { name: "balanced-pools".to_owned(), params: moved };
    c.apply(&[Input::SetScheduler(Box::new(choice))]);
    assert_eq!(maps(&c), [1, 3], "what runs goes on");
    let pools: Vec<(String, [u32; 2])> =
        c.tracker.scheduler().queues().list(c.state()).into_iter().map(|pool| (pool.name, pool.running)).collect();
    let expected = [("the rest", [0, 0]), ("w:2+0", [3, 0]), ("z:2+0", [1, 0])];
    assert_eq!(pools, expected.map(|(name, running)| (name.to_owned(), running)));
    c.report(0, &[(map(2, 0, 0), Succeeded)]);
    assert_eq!(maps(&c), [2, 2], "the slot is one of the other pool's");
    c.report(0, &[(map(2, 1, 0), Succeeded)]);
    assert_eq!(maps(&c), [2, 2], "and this one stays");
}

/// The most attempts of a kind that jobs of a queue had running at once.
fn most_running(jobs: Vec<JobTemplate>, queue: &str, kind: TaskKind, pairs: &[(&str, &str)]) -> usize {
    let (_, attempts) = recorded(jobs.clone(), &options("balanced-pools", pairs));
    most_at_once(&attempts, |a| a.attempt.kind == kind && jobs[a.attempt.job.0 as usize - 1].queue == queue)
}

// balanced-pools §4.3: "enforce these pools".
#[test]
fn pools_are_hard_limits_unless_they_lend() {
    let pools = ("pools", "small:10+10,big:20+20");
    // Nobody wants the other pool's slots.
    let small = || in_pools("small", "big").into_iter().filter(|job| job.queue == "small").collect();
    for kind in TaskKind::ALL {
        assert_eq!(most_running(small(), "small", kind, &[pools]), 10);
        assert_eq!(most_running(small(), "small", kind, &[pools, ("spare", "lend")]), 30);
    }
}

// The project's choice: balanced-pools §4.3 has no jobs beside the pools'.
#[test]
fn other_queues_share_what_no_pool_has_claimed_and_get_the_rest_when_a_pool_has_gone() {
    let mut short = stages("short", 20, 5, 0);
    short.queue = "batch:20+20".to_owned();
    let other = stages("other", 40, 10, 0);
    let report = replay(vec![short, other], "balanced-pools", &[]);
    // Ten of its maps from 0, twenty more from 5 when the pool goes, the last ten from 10.
    assert_eq!(report.jobs[1].finish, Time::from_ms(20_000));
}

// balanced-pools §6: more than two pools.
#[test]
fn more_than_64_pools_are_asked_one_after_another() {
    let pools: Vec<String> = (1..=70).map(|n| format!("p{n}:1+0")).collect();
    let policy = schedulers::by_name("balanced-pools", &params(&[("pools", &pools.join(","))])).expect("pools");
    let mut cluster = Cluster::made(|_| {}, policy).workers(1, 1, 0);
    let of = |queue: &str, conf: fn(&mut JobConf)| JobSpec { queue: queue.into(), ..job_with(1, 0, conf) };
    cluster.submit(of("p66", |conf| conf.requires = Requirements::parse(&["gpu"]).expect("a requirement")));
    cluster.submit(of("p67", |_| {}));
    assert_eq!(given(&mut cluster, 0), [2], "the worker has nothing that p66 asks for");
}

// What `howdah queue list` shows; no source.
#[test]
fn pools_are_listed_with_their_slots_and_what_their_jobs_want() {
    let policy = schedulers::by_name("balanced-pools", &params(&[("pools", "small:1+1")])).expect("pools");
    let mut cluster = Cluster::made(|_| {}, policy).workers(1, 4, 3);
    let of = |queue: &str, maps| JobSpec { queue: queue.into(), ..job_with(maps, 1, |_| {}) };
    cluster.submit(of("small", 3));
    cluster.submit(of("p:2+1", 1));
    cluster.beat(0);
    let listed = cluster.tracker.scheduler().queues().list(cluster.tracker.state());
    let found: Vec<_> =
        listed.iter().map(|pool| (pool.name.as_str(), pool.jobs, pool.running, pool.demand, pool.max)).collect();
    let expected = [
        ("p:2+1", 1, [1, 0], [1, 1], [Some(2), Some(1)]),
        ("small", 1, [1, 0], [3, 1], [Some(1), Some(1)]),
        ("the rest", 0, [0, 0], [0, 0], [Some(1), Some(1)]),
    ];
    assert_eq!(found, expected);
}

// balanced-pools §4.3: the limit that holds a job back.
#[test]
fn explain_names_the_pool_that_is_full() {
    let trace = Trace {
        jobs: vec![JobTemplate { queue: "p:3+3".to_owned(), ..stages("a", 30, 10, 0) }; 2],
        ..Trace::default()
    };
    let mut simulation = Simulation::new(&trace, &options("balanced-pools", &[])).expect("slots");
    assert!(simulation.step());
    let why = |job| simulation.tracker().explain(JobId(job)).to_string();
    assert_eq!(why(1), "It is next, but its pool `p:3+3` has 3 map slots and all are taken.");
    assert_eq!(why(2), "It is behind job 1, which still has maps waiting.");
    assert!(!matches!(simulation.tracker().explain(JobId(1)), Reason::NextHeartbeat(_)));
}

// Every policy's promise: `fork`, then run, is run.
#[rstest]
#[case("johnson", &[])]
#[case("balanced-pools", &[("pools", "small:10+10,big:20+20")])]
fn a_fork_goes_on_as_the_run_it_was_taken_from(#[case] name: &str, #[case] pairs: &[(&str, &str)]) {
    let trace = Trace { jobs: in_pools("small", "big"), ..Trace::default() };
    let mut one = Simulation::new(&trace, &options(name, pairs)).expect("slots");
    for _ in 0..5 {
        assert!(one.step());
    }
    a_fork_goes_on_as_its_original(one);
}

// No source: errors name what was expected.
#[rstest]
#[case("johnson", "order", "best", "scheduler `johnson`: parameter `order`: `best` is not johnson or reverse")]
#[case(
    "balanced-pools",
    "pools",
    "a:3",
    "scheduler `balanced-pools`: parameter `pools`: `a:3` is not a list of pools such as small:3+3,large:61+61 (map and reduce slots), each name once"
)]
fn wrong_parameters_are_named(#[case] name: &str, #[case] key: &str, #[case] value: &str, #[case] said: &str) {
    let error = schedulers::by_name(name, &params(&[(key, value)])).err().expect("not a value of it");
    assert_eq!(error.to_string(), said);
}
