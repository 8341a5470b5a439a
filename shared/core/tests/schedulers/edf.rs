//! MaxEDF and MinEDF, one rule of SimMR at a time.

use std::collections::BTreeMap;

use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{AttemptState, JobConf, JobId, JobProfile, JobSpec, PhaseTimes, Priority, TaskKind};
use howdah_core::replay::AttemptRecord;
use howdah_core::schedulers::by_name;
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Input, SchedulerChoice};
use rstest::rstest;

use super::kit::{Cluster, job_with, map, reduce};
use super::play::{self, explained, params, recorded};
use super::size_based::{maps, options};

fn due(deadline_s: u64, job: JobTemplate) -> JobTemplate {
    JobTemplate { deadline_ms: Some(deadline_s * 1_000), ..job }
}

/// All attempts in the order of their starts.
fn attempts(jobs: Vec<JobTemplate>, scheduler: &str, params: &[(&str, &str)], slots: (u16, u16)) -> Vec<AttemptRecord> {
    let (_, mut attempts) = recorded(jobs, &options(scheduler, params, slots));
    assert!(attempts.iter().all(|attempt| attempt.state == AttemptState::Succeeded));
    attempts.sort_by_key(|attempt| (attempt.start, attempt.attempt));
    attempts
}

/// When each job was over, in seconds.
fn finish_s(attempts: &[AttemptRecord]) -> Vec<u64> {
    let mut finish: BTreeMap<JobId, u64> = BTreeMap::new();
    for attempt in attempts {
        let end = finish.entry(attempt.attempt.job).or_default();
        *end = (*end).max(attempt.end.as_us() / 1_000_000);
    }
    finish.into_values().collect()
}

/// The most attempts of a kind and job that ran at once.
fn most_at_once(attempts: &[AttemptRecord], job: u32, kind: TaskKind) -> usize {
    play::most_at_once(attempts, |a| a.attempt.job == JobId(job) && a.attempt.kind == kind)
}

// SimMR §III-C: "the job with the earliest deadline which has an unscheduled map (or reduce) task", nothing preempted.
#[rstest]
#[case::fifo("fifo", [30, 50])]
#[case::maxedf("maxedf", [50, 30])]
fn the_earlier_deadline_takes_every_slot_that_becomes_free(#[case] scheduler: &str, #[case] finish: [u64; 2]) {
    let jobs = vec![due(1_000, maps(0, 6, 10)), due(50, maps(5, 4, 10))];
    assert_eq!(finish_s(&attempts(jobs, scheduler, &[], (2, 1))), finish);
}

// SimMR §III-C orders by deadline and knows no job without one; ours come last.
// A job whose deadline has passed is the most urgent of all: its instant is the earliest.
#[rstest]
#[case("maxedf")]
#[case("minedf")]
fn jobs_without_deadline_come_after_those_with_one_and_in_the_order_of_fifo(#[case] scheduler: &str) {
    let low = JobTemplate { priority: Priority::Low, ..maps(0, 1, 10) };
    let jobs = vec![maps(0, 1, 10), low, maps(0, 1, 10), due(9_000, maps(1, 1, 10)), due(2, maps(2, 1, 10))];
    // The first one starts when nobody else is there.
    assert_eq!(finish_s(&attempts(jobs, scheduler, &[], (1, 1))), [10, 50, 40, 30, 20]);
}

// SimMR §V-A: "the minimum sufficient resources to the job for completing within the deadline and leaves the remaining,
// spare resources to the next arriving job". 8 maps of 10 s in 20 s: 80/S; 75/S + 5; 70/S + 10.
#[rstest]
#[case::low("low", 4, 20)]
#[case::average("average", 5, 20)]
#[case::upper("upper", 7, 20)]
fn a_job_gets_the_slots_that_its_deadline_needs_and_the_next_one_the_rest(
    #[case] bound: &str,
    #[case] slots: usize,
    #[case] finish: u64,
) {
    let found = attempts(vec![due(20, maps(0, 8, 10)), maps(0, 16, 10)], "minedf", &[("bound", bound)], (8, 1));
    assert_eq!(most_at_once(&found, 1, TaskKind::Map), slots);
    assert_eq!(most_at_once(&found[..8], 2, TaskKind::Map), 8 - slots);
    assert_eq!(finish_s(&found)[0], finish);
}

// SimMR §V-A: "Typically, the average of lower and upper bounds is a good approximation": the default.
#[test]
fn the_mean_of_the_bounds_is_the_default() {
    let jobs = || vec![due(20, maps(0, 8, 10))];
    let named = attempts(jobs(), "minedf", &[("bound", "average")], (8, 1));
    assert_eq!(attempts(jobs(), "minedf", &[], (8, 1)), named);
    assert_ne!(attempts(jobs(), "minedf", &[("bound", "low")], (8, 1)), named);
}

// SimMR §V-A, Lagrange's point of 36/S_M + 4/S_R = 8: (36 + 12) / 8 = 6 and (4 + 12) / 8 = 2.
#[test]
fn both_kinds_of_slots_are_the_fewest_in_sum() {
    let job = JobTemplate { n_reduces: 4, reduce_ms: vec![1_000], ..maps(0, 36, 1) };
    let found = attempts(vec![due(8, job)], "minedf", &[("bound", "low")], (20, 20));
    let most = TaskKind::ALL.map(|kind| most_at_once(&found, 1, kind));
    assert_eq!(most, [6, 2]);
    assert_eq!(finish_s(&found), [8]);
}

// SimMR §III-C caps the running tasks at the wanted number; giving the rest away is the other reading.
#[rstest]
#[case::kept("false", 4, 20)]
#[case::given_away("true", 8, 10)]
fn spare_slots_are_kept_or_given_away(#[case] spare: &str, #[case] most: usize, #[case] finish: u64) {
    let params = [("bound", "low"), ("spare", spare)];
    let found = attempts(vec![due(20, maps(0, 8, 10))], "minedf", &params, (8, 1));
    assert_eq!((most_at_once(&found, 1, TaskKind::Map), finish_s(&found)), (most, vec![finish]));
}

// SimMR §III-C names no such jobs: after those with a deadline, before slots beyond a demand.
#[test]
fn spare_slots_go_to_jobs_without_deadline_first() {
    let jobs = vec![due(20, maps(0, 8, 10)), maps(0, 4, 10)];
    let found = attempts(jobs, "minedf", &[("bound", "low"), ("spare", "true")], (8, 1));
    assert_eq!(most_at_once(&found[..8], 1, TaskKind::Map), 4);
    assert_eq!(finish_s(&found), [20, 10]);
}

// SimMR §V-A: no allocation meets it, so the maximum, as MaxEDF gives (§III-C).
#[test]
fn a_deadline_out_of_reach_is_handled_as_under_maxedf() {
    let jobs = || vec![due(5, maps(0, 20, 10)), due(6, maps(0, 4, 10))];
    assert_eq!(attempts(jobs(), "minedf", &[], (8, 1)), attempts(jobs(), "maxedf", &[], (8, 1)));
}

// SimMR §III-C: computed "when the job arrives"; `recompute` is ours.
// The project's option: the second job was planned with 2 slots for 40 s; when it starts, 20 s are left.
#[rstest]
#[case::at_arrival("false", [20, 60])]
#[case::while_it_runs("true", [20, 40])]
fn a_demand_stays_or_follows_the_time_that_is_left(#[case] recompute: &str, #[case] finish: [u64; 2]) {
    let jobs = vec![due(20, maps(0, 4, 20)), due(40, maps(0, 8, 10))];
    let params = [("bound", "low"), ("recompute", recompute)];
    assert_eq!(finish_s(&attempts(jobs, "minedf", &params, (4, 1))), finish);
}

// The project's option, as above; SimMR §III-C computes the demand once, when the job arrives.
#[test]
fn a_recomputed_demand_falls_when_tasks_were_faster_than_their_average() {
    // 40 s of work on average tasks: 4 slots for 10 s; after the five short ones there is time for fewer.
    let uneven = JobTemplate { map_ms: [vec![100; 8], vec![9_800; 4]].concat(), ..maps(0, 12, 0) };
    let running = |recompute| {
        let found =
            attempts(vec![due(12, uneven.clone())], "minedf", &[("bound", "low"), ("recompute", recompute)], (8, 1));
        most_at_once(&found[8..], 1, TaskKind::Map)
    };
    assert!(running("true") < running("false"), "{} of {}", running("true"), running("false"));
}

// SimMR §III-C: the wanted number of slots is the reason to wait.
#[test]
fn explain_names_the_demand_and_the_deadline_that_cannot_be_met() {
    let said = explained(vec![due(20, maps(0, 8, 10))], &options("minedf", &[], (8, 1)), 1, 1);
    assert_eq!(
        said,
        "It has 5 maps running and needs no more for its deadline: 5 map and 0 reduce slots are enough by its profile."
    );
    let said = explained(vec![due(5, maps(0, 20, 10))], &options("minedf", &[], (8, 1)), 1, 1);
    assert_eq!(
        said,
        "It is next, but 8 map slots are taken. Its deadline cannot be met: with all slots it would take 29.375 s, and \
         it had 5.000 s; so it may take all that it can use."
    );
    let said =
        explained(vec![due(100, maps(0, 9, 10)), due(200, maps(0, 9, 10))], &options("maxedf", &[], (8, 1)), 1, 2);
    assert_eq!(said, "It is behind job 1, which still has maps waiting.");
}

fn live() -> Cluster {
    Cluster::made(|_| {}, by_name("minedf", &params(&[("bound", "low")])).expect("right parameters")).workers(1, 4, 1)
}

/// Maps whose success needs no grant.
fn plain_job(n_maps: u32, deadline_s: Option<u64>) -> JobSpec {
    job_with(n_maps, 0, |conf| {
        conf.commits_output = false;
        conf.deadline = deadline_s.map(Span::from_secs);
    })
}

/// A run of the application is over: four maps of 10 s, all at once.
fn after_a_run() -> Cluster {
    let mut c = live();
    let first = c.submit(plain_job(4, None));
    c.beat(0);
    assert_eq!(c.launches().len(), 4);
    c.now = Time::from_us(c.now.as_us() + 10_000_000);
    c.report(0, &[0, 1, 2, 3].map(|index| (map(1, index, 0), AttemptState::Succeeded)));
    c.apply(&[Input::JobCommitted { job: first, ok: true }]);
    c
}

// SimMR §III: profiles come from jobs that ran (MRProfiler); that the last run of an application stands in for the next
// is the project's choice.
#[test]
fn without_a_profile_the_last_run_of_the_application_stands_in() {
    let mut c = after_a_run();
    // 8 maps of 10 s in 40 s.
    let second = c.submit(plain_job(8, Some(40)));
    c.beat(0);
    assert_eq!(c.launches().len(), 2, "{}", c.tracker.explain(second));
    let said = c.tracker.explain(second).to_string();
    assert!(said.ends_with("2 map and 0 reduce slots are enough by an earlier run of `test`."), "{said}");
}

// SimMR §III: the profile of an earlier run; how long it is kept is ours.
// The same profiles outlive a change of parameters.
#[test]
fn what_was_learned_stays_when_the_parameters_change_and_goes_with_another_policy() {
    let mut c = after_a_run();
    let set = |name: &str, pairs: &[(&str, &str)]| {
        Input::SetScheduler(Box::new(SchedulerChoice { name: name.to_owned(), params: params(pairs) }))
    };
    // 8 maps of 10 s in 40 s: two at a time at the least, three by the upper bound, also for a job that is there.
    let waiting = c.submit(plain_job(8, Some(40)));
    c.apply(&[set("minedf", &[("bound", "upper")])]);
    c.beat(0);
    assert_eq!(c.launches().len(), 3, "{}", c.tracker.explain(waiting));
    let said = c.tracker.explain(waiting).to_string();
    assert!(said.ends_with("3 map and 0 reduce slots are enough by an earlier run of `test`."), "{said}");
    c.apply(&[set("fifo", &[]), set("minedf", &[])]);
    let said = c.tracker.explain(waiting).to_string();
    assert!(said.ends_with("Nothing is known yet of how long its tasks take, so it has no limit."), "{said}");
}

// SimMR §V-A's bounds over the job's own finished tasks, where there is no past execution: the project's choice.
#[test]
fn without_any_run_the_jobs_own_tasks_show_what_it_needs() {
    let mut c = live();
    let job = c.submit(plain_job(8, Some(80)));
    c.beat(0);
    assert_eq!(c.launches().len(), 4, "nothing is known, so nothing is held back");
    let said = c.tracker.explain(job).to_string();
    assert!(said.ends_with("Nothing is known yet of how long its tasks take, so it has no limit."), "{said}");
    // One of 8 maps took 10 s: the other 7 fit one after the other into the 70 s that are left.
    c.now = Time::from_us(c.now.as_us() + 10_000_000);
    c.report(0, &[(map(1, 0, 0), AttemptState::Succeeded)]);
    assert_eq!(c.launches().len(), 0, "{}", c.tracker.explain(job));
    let said = c.tracker.explain(job).to_string();
    assert!(said.ends_with("1 map and 0 reduce slots are enough by its own 1 maps and 0 reduces so far."), "{said}");
}

// SimMR §III: profiles are of tasks that ran to their end; what failed shows nothing.
#[test]
fn attempts_and_runs_that_fail_teach_nothing() {
    let mut c = live();
    let strict = |deadline| {
        let spec = plain_job(5, deadline);
        JobSpec { conf: JobConf { max_map_attempts: 1, ..spec.conf.clone() }, ..spec }
    };
    let patient = c.submit(plain_job(5, Some(100)));
    c.beat(0);
    assert_eq!(c.launches().len(), 4);
    c.advance(1_000);
    c.report(0, &[(map(patient.0, 0, 0), AttemptState::Failed)]);
    let said = c.tracker.explain(patient).to_string();
    assert!(said.ends_with("Nothing is known yet of how long its tasks take, so it has no limit."), "{said}");
    let mut c = live();
    let failed = c.submit(strict(None));
    c.beat(0);
    c.advance(10_000);
    c.report(0, &[(map(failed.0, 0, 0), AttemptState::Succeeded)]);
    c.report(0, &[(map(failed.0, 1, 0), AttemptState::Failed)]);
    let running: Vec<_> = c.running_on(0).into_iter().map(|id| (id, AttemptState::Killed)).collect();
    c.report(0, &running);
    c.launches();
    // By a run of 10 s a map it would have two.
    c.submit(plain_job(8, Some(40)));
    c.beat(0);
    assert_eq!(c.launches().len(), 4, "the run before it failed");
}

// SimMR §II: a reduce occupies its slot while it waits for maps; what it learns of a reduce is its own time.
#[test]
fn a_reduce_that_waited_for_maps_is_remembered_without_its_wait() {
    let policy = by_name("minedf", &params(&[("bound", "low")])).expect("right parameters");
    let mut c = Cluster::made(|_| {}, policy).workers(1, 4, 4);
    let spec = |n_maps, n_reduces, deadline_s: Option<u64>| {
        job_with(n_maps, n_reduces, |conf| {
            (conf.slowstart_ppm, conf.commits_output) = (0, false);
            conf.deadline = deadline_s.map(Span::from_secs);
        })
    };
    let first = c.submit(spec(1, 1, None));
    c.beat(0);
    assert_eq!(c.launches().len(), 2);
    c.advance(10_000);
    c.report(0, &[(map(1, 0, 0), AttemptState::Succeeded)]);
    c.advance(5_000);
    c.report(0, &[(reduce(1, 0, 0), AttemptState::Succeeded)]);
    c.apply(&[Input::JobCommitted { job: first, ok: true }]);
    // Four reduces of 5 s in 10 s. With the wait they would be of 15 s, and out of reach.
    c.submit(spec(0, 4, Some(10)));
    c.beat(0);
    assert_eq!(c.launches().len(), 2);
}

// SimMR §V-A: the demand of a job that comes before the workers do is what its deadline needs.
#[test]
fn a_job_that_comes_before_the_workers_has_its_demand() {
    let policy = by_name("minedf", &params(&[("bound", "low")])).expect("right parameters");
    let mut c = Cluster::made(|_| {}, policy);
    let times = PhaseTimes::even(Span::from_secs(10));
    let profile = JobProfile { map: times, ..Default::default() };
    c.submit(JobSpec { profile: Some(Box::new(profile)), ..plain_job(8, Some(40)) });
    c.add_worker("h0", "/r", 4, 0);
    c.effects.clear();
    c.beat(0);
    assert_eq!(c.launches().len(), 2, "8 maps of 10 s in 40 s");
}

// The project's question of what would be with another deadline; SimMR's jobs keep theirs.
#[test]
fn a_job_with_another_deadline_stands_in_another_place() {
    let mut c = Cluster::made(|_| {}, by_name("maxedf", &params(&[])).expect("right parameters")).workers(1, 1, 1);
    let [_, second] = [100, 200].map(|within| c.submit(plain_job(1, Some(within))));
    let due = Time::from_us(c.now.as_us() + 50_000_000);
    c.tracker.set_deadline(second, due);
    assert_eq!(c.state().job(second).expect("it waits").deadline(), Some(due));
    assert_eq!(play::given(&mut c, 0), [second.0]);
}

// The same of its demand: 8 maps of 10 s, without a deadline or in 40 s before, in 20 s after.
#[rstest]
#[case::of_another(Some(40))]
#[case::of_none(None)]
fn a_job_with_another_deadline_has_another_demand(#[case] before: Option<u64>) {
    let mut c = after_a_run();
    let job = c.submit(plain_job(8, before));
    c.tracker.set_deadline(job, Time::from_us(c.now.as_us() + 20_000_000));
    c.beat(0);
    assert_eq!(c.launches().len(), 4, "{}", c.tracker.explain(job));
    let said = c.tracker.explain(job).to_string();
    assert!(said.ends_with("4 map and 0 reduce slots are enough by an earlier run of `test`."), "{said}");
}

// No source: errors name what was expected.
#[rstest]
#[case(("bound", "middle"), "scheduler `minedf`: parameter `bound`: `middle` is not average or low or upper")]
#[case(("spare", "yes"), "scheduler `minedf`: parameter `spare`: `yes` is not false or true")]
fn wrong_parameters_are_named(#[case] (key, value): (&str, &str), #[case] said: &str) {
    assert_eq!(by_name("minedf", &params(&[(key, value)])).err().expect("refused").to_string(), said);
}
