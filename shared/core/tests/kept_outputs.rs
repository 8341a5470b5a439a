//! Scenarios of map output that outlives its worker's process.

mod kit;

use howdah_core::job::{AttemptId, JobId, JobState, TaskKind, WorkerId};
use howdah_core::schedulers::by_name;
use howdah_core::tracker::{Effect, EndCause, Input};
use kit::*;

/// What became of map outputs: kept, or lost.
fn outputs(c: &mut Cluster) -> Vec<(AttemptId, bool)> {
    c.take(|effect| match *effect {
        Effect::OutputKept { attempt, .. } => Some((attempt, true)),
        Effect::MapOutputLost { attempt, .. } => Some((attempt, false)),
        _ => None,
    })
}

fn attempts_of_maps(c: &Cluster) -> (u32, u32, u32, u32) {
    let maps = c.state().job(JobId(1)).expect("it is not over").tasks(TaskKind::Map);
    (maps.n_succeeded(), maps.pending().count(), maps.attempts_failed(), maps.attempts_killed())
}

/// Worker 0 has done both maps of a job, worker 1 runs its reduce.
fn maps_done() -> Cluster {
    let mut c = Cluster::new().workers(2, 2, 1);
    c.apply(&[Input::Drain { worker: WorkerId(1), drain: true }]);
    c.submit(job(2, 1));
    c.beat(0);
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: true }, Input::Drain { worker: WorkerId(1), drain: false }]);
    c.report(0, &[(map(1, 0, 0), Succeeded), (map(1, 1, 0), Succeeded)]);
    c.beat(1);
    c.apply(&[Input::Drain { worker: WorkerId(0), drain: false }]);
    assert_eq!(c.running_on(1), [reduce(1, 0, 0)]);
    c.effects.clear();
    c
}

#[test]
fn a_restarted_worker_keeps_what_it_says_it_has() {
    let mut c = maps_done();
    c.restart_with(0, &[map(1, 1, 0), map(1, 0, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), true), (map(1, 1, 0), true)]);
    assert_eq!(attempts_of_maps(&c), (2, 0, 0, 0));
    let job = c.state().job(JobId(1)).expect("it runs");
    assert_eq!(job.failures_on(WorkerId(0)), 0, "nothing is lost, and nobody is charged");
    c.beat(0);
    c.report(1, &[(reduce(1, 0, 0), CommitPending)]);
    c.report(1, &[(reduce(1, 0, 0), Succeeded)]);
    assert_eq!(c.job_state(JobId(1)), JobState::Committing);
}

#[test]
fn what_it_does_not_say_it_has_runs_again() {
    let mut c = maps_done();
    c.restart_with(0, &[map(1, 1, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), false), (map(1, 1, 0), true)]);
    assert_eq!(attempts_of_maps(&c), (1, 1, 0, 1));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 1))]);
}

#[test]
fn only_what_won_on_the_worker_is_kept() {
    let mut c = maps_done();
    let nonsense =
        [map(1, 0, 1), map(1, 9, 0), map(2, 0, 0), reduce(1, 0, 0), AttemptId { job: JobId(0), ..map(1, 0, 0) }];
    c.restart_with(1, &[map(1, 0, 0), map(1, 1, 0)]);
    assert_eq!(outputs(&mut c), [], "they are another worker's");
    c.restart_with(0, &nonsense);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), false), (map(1, 1, 0), false)]);
    c.restart_with(0, &[]);
    assert_eq!(outputs(&mut c), []);
}

#[test]
fn output_of_a_lost_worker_counts_again_while_its_maps_wait() {
    let mut c = maps_done();
    c.apply(&[
        Input::Drain { worker: WorkerId(1), drain: true },
        Input::Goodbye { worker: WorkerId(0), incarnation: 1 },
    ]);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), false), (map(1, 1, 0), false)]);
    assert_eq!(attempts_of_maps(&c), (0, 2, 0, 2));
    c.restart_with(0, &[map(1, 0, 0), map(1, 1, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), true), (map(1, 1, 0), true)]);
    assert_eq!(attempts_of_maps(&c), (2, 0, 0, 0));
    c.beat(0);
    assert_eq!(c.launches(), [], "nothing of it runs again");
}

#[test]
fn an_attempt_that_does_a_lost_map_again_stops_when_its_output_is_back_and_one_that_is_done_stays() {
    let mut c = maps_done();
    c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
    c.beat(1);
    assert_eq!(c.running_on(1).len(), 3, "both maps run again");
    c.report(1, &[(map(1, 0, 1), Succeeded)]);
    c.effects.clear();
    c.restart_with(0, &[map(1, 0, 0), map(1, 1, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 1, 0), true)]);
    c.expect(Effect::AttemptEnded {
        attempt: map(1, 1, 1),
        worker: WorkerId(1),
        state: Killed,
        cause: EndCause::LostRace,
        started: c.now,
    });
    assert_eq!(attempts_of_maps(&c).0, 2);
    // Neither comes back a second time.
    c.restart_with(0, &[map(1, 0, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 1, 0), false)]);
}

#[test]
fn output_that_nobody_could_fetch_does_not_come_back() {
    let mut c = maps_done();
    let mut report = c.report_of(1);
    report.attempts.iter_mut().for_each(|reduce| reduce.fetch_failures = vec![map(1, 0, 0); 3]);
    c.apply(&[Input::Report(Box::new(report))]);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), false)]);
    c.restart_with(0, &[map(1, 0, 0), map(1, 1, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 1, 0), true)]);
}

#[test]
fn a_snapshot_knows_what_may_come_back() {
    let mut c = maps_done();
    c.apply(&[
        Input::Drain { worker: WorkerId(1), drain: true },
        Input::Goodbye { worker: WorkerId(0), incarnation: 1 },
    ]);
    c.apply(&[Input::Snapshot(Box::new(howdah_core::tracker::SchedulerChoice {
        name: "fifo".to_owned(),
        params: Default::default(),
    }))]);
    c.effects.clear();
    c.restart_with(0, &[map(1, 0, 0)]);
    assert_eq!(outputs(&mut c), [(map(1, 0, 0), true)]);
}

// Fair of Hadoop 0.20.2 counts for itself how many maps are done.
#[test]
fn a_reduce_may_start_when_the_only_maps_output_is_back_whoever_decides_that() {
    for (name, dialect) in [("fair", Some("0.20.2")), ("fair", None), ("fifo", None)] {
        let params = dialect.map(|dialect| ("dialect".to_owned(), dialect.to_owned())).into_iter().collect();
        let policy = by_name(name, &params).expect("a policy");
        let mut c = Cluster::made(|_| {}, policy).workers(2, 1, 1);
        let drain = |worker, drain| [Input::Drain { worker: WorkerId(worker), drain }];
        c.apply(&drain(1, true));
        c.submit(job_with(1, 1, |conf| conf.slowstart_ppm = 0));
        c.advance(20_000);
        c.beat(0);
        assert!(c.running_on(0).contains(&map(1, 0, 0)), "{name} {dialect:?}");
        c.report(0, &[(map(1, 0, 0), Succeeded)]);
        c.advance(20_000);
        c.beat(0);
        assert_eq!(c.running_on(0), [reduce(1, 0, 0)], "{name} {dialect:?}");
        c.apply(&[Input::Goodbye { worker: WorkerId(0), incarnation: 1 }]);
        // Tried elsewhere in vain: that no map is done was looked at.
        c.apply(&drain(1, false));
        c.advance(20_000);
        c.beat(1);
        assert!(c.running_on(1).contains(&map(1, 0, 1)), "{name} {dialect:?}");
        c.apply(&drain(1, true));
        let failed: Vec<_> = c.running_on(1).into_iter().map(|id| (id, Failed)).collect();
        c.report(1, &failed);
        c.restart_with(0, &[map(1, 0, 0)]);
        c.advance(20_000);
        c.beat(0);
        let reduces = c.running_on(0);
        assert!(
            reduces.iter().all(|id| id.kind == TaskKind::Reduce) && reduces.len() == 1,
            "{name} {dialect:?}: {reduces:?}"
        );
    }
}
