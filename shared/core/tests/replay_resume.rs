//! A simulation that goes on from a tracker's state against the replay that it was taken from: with the same durations
//! both do the same, to the microsecond.

mod kit;
mod naive;

use std::cell::RefCell;
use std::rc::Rc;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, AttemptState, JobId, JobState, Locality, TaskKind, WorkerId};
use howdah_core::replay::{
    Course, JobOutcome, Observer, ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView,
};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::JobTracker;
use kit::world::{Dice, World};
use naive::traces::{job, trace};
use proptest::collection::vec;
use proptest::prelude::*;

type Launch = (Time, AttemptId, WorkerId, Locality);
/// All of them, in order.
type Launches = Rc<RefCell<Vec<Launch>>>;

struct Launching(Launches);

impl Observer for Launching {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, locality: Locality, _: bool) {
        self.0.borrow_mut().push((at, attempt, worker, locality));
    }
}

fn observed(mut simulation: Simulation<'_>) -> (Vec<Launch>, Vec<JobOutcome>) {
    let launches = Launches::default();
    simulation.observe(Box::new(Launching(Rc::clone(&launches))));
    simulation.run();
    let jobs = simulation.report().jobs;
    drop(simulation);
    (launches.take(), jobs)
}

/// Jobs whose tasks all take some time, so that what ran before an instant can be distinguished from what began at it.
fn timed() -> impl Strategy<Value = JobTemplate> {
    job().prop_map(|job| {
        let longer = |list: Vec<u64>| if list.is_empty() { vec![1] } else { list.iter().map(|ms| ms + 1).collect() };
        JobTemplate {
            map_ms: longer(job.map_ms),
            reduce_ms: longer(job.reduce_ms),
            first_shuffle_ms: longer(job.first_shuffle_ms),
            typical_shuffle_ms: longer(job.typical_shuffle_ms),
            ..job
        }
    })
}

fn workers(slots: &[(u16, u16)], heartbeat: SimHeartbeat) -> View {
    let worker = |(index, &(map_slots, reduce_slots)): (usize, &(u16, u16))| SimWorker {
        name: format!("worker-{index}"),
        host: format!("host-{index}"),
        rack: format!("/rack-{}", index % 3),
        map_slots,
        reduce_slots,
        ..SimWorker::default()
    };
    let workers = slots.iter().enumerate().map(worker).collect();
    View::Workers(WorkersView { workers, heartbeat, ..WorkersView::default() })
}

fn cycle(list: &[u64], index: usize) -> Span {
    Span::from_ms(list[index % list.len()])
}

/// What is to come by the trace, from where the tracker is.
fn truth(tracker: &JobTracker, trace: &Trace, submitted: &[JobOutcome], heartbeat: SimHeartbeat) -> Course {
    let state = tracker.state();
    let template = |job: JobId| submitted.iter().find(|known| known.id == job).map(|known| known.template).unwrap();
    let mut course = Course { heartbeat, ..Course::default() };
    for job in state.jobs() {
        course.jobs.push((job.id(), template(job.id())));
    }
    for (reference, attempt) in state.attempts().iter() {
        let (id, job) = (attempt.id(), state.job(attempt.id().job).unwrap());
        let template = &trace.jobs[template(id.job) as usize];
        let index = id.index as usize;
        let end = match (id.kind, job.maps_done()) {
            (TaskKind::Map, _) => attempt.started() + cycle(&template.map_ms, index),
            (TaskKind::Reduce, Some(done)) if attempt.started() < done => {
                done + cycle(&template.first_shuffle_ms, index) + cycle(&template.reduce_ms, index)
            }
            (TaskKind::Reduce, _) => {
                let later = index.checked_sub(template.first_shuffle_ms.len()).unwrap_or(index);
                attempt.started() + cycle(&template.typical_shuffle_ms, later) + cycle(&template.reduce_ms, index)
            }
        };
        course.ends.push((reference, end));
    }
    course.arrivals = (0..trace.jobs.len() as u32)
        .filter(|place| submitted.iter().all(|known| known.template != *place))
        .map(|place| (Time::from_ms(trace.jobs[place as usize].submit_ms), place))
        .collect();
    course.arrivals.sort_by_key(|&(at, place)| (at, place));
    course
}

fn heartbeats() -> impl Strategy<Value = SimHeartbeat> {
    let interval = prop_oneof![2 => Just(0), 1 => 1..40_u64, 1 => Just(3_000)];
    (interval, any::<bool>()).prop_map(|(ms, out_of_band)| SimHeartbeat { interval: Span::from_ms(ms), out_of_band })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_taken_up_anywhere_goes_on_as_the_replay_does(
        jobs in vec(timed(), 1..8),
        slots in vec((1..4_u16, 1..4_u16), 1..7),
        heartbeat in heartbeats(),
        policy in prop_oneof![Just("fifo"), Just("fair"), Just("capacity"), Just("johnson"), Just("maxedf"), Just("naive-fair"), Just("fbq")],
        steps in 0..120_u32,
    ) {
        // A promotion under way says nothing of how long it will take.
        let jobs = jobs.into_iter().map(|job| JobTemplate { commit_ms: 0, ..job }).collect();
        let trace = trace(jobs);
        let options =
            ReplayOptions { scheduler: policy.to_owned(), view: workers(&slots, heartbeat), ..ReplayOptions::default() };
        let mut replay = Simulation::new(&trace, &options).expect("slots of both kinds");
        replay.run_for(steps);
        // An instant may take several steps, and is over then.
        while replay.next_time() == Some(replay.now()) && replay.step() {}
        let submitted = replay.report().jobs;
        let course = truth(replay.tracker(), &trace, &submitted, heartbeat);
        let resumed = Simulation::resume(replay.tracker().fork(), &trace, &course);
        let running: Vec<JobId> = replay.tracker().state().jobs().map(|job| job.id()).collect();
        let (ours, theirs) = (observed(resumed), observed(replay.fork()));
        prop_assert_eq!(&ours.0, &theirs.0, "launches");
        let mut finishes = 0;
        for outcome in theirs.1.iter().filter(|job| running.contains(&job.id) || submitted.iter().all(|known| known.id != job.id)) {
            let found = ours.1.iter().find(|job| job.id == outcome.id).map(|job| (job.state, job.finish));
            prop_assert_eq!(found, Some((outcome.state, outcome.finish)), "job {:?}", outcome.id);
            finishes += 1;
        }
        prop_assert_eq!(finishes, ours.1.len(), "and no job more");
    }
}

/// A reproducible list of numbers.
fn numbers(seed: u64, n: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    (0..n).map(step).collect()
}

/// What is to be the same before and after the step to direct driving.
fn held(tracker: &JobTracker) -> Vec<String> {
    let state = tracker.state();
    let jobs = state.jobs().map(|job| {
        let tasks = TaskKind::ALL.map(|kind| {
            let tasks = job.tasks(kind);
            (tasks.pending().iter().collect::<Vec<_>>(), tasks.n_running(), tasks.n_succeeded(), tasks.n_failed())
        });
        format!("{:?} {:?} {:?} {tasks:?}", job.id(), job.state(), job.ending())
    });
    let workers = state.workers().iter().map(|worker| {
        let mut on: Vec<_> = state.attempts_on(worker.id()).map(|a| (a.id(), a.slots(), a.detached())).collect();
        on.sort();
        format!("{} {:?} {:?} {on:?}", worker.name(), worker.state(), TaskKind::ALL.map(|kind| worker.occupied(kind)))
    });
    jobs.chain(workers).collect()
}

// Worlds with lost messages, parked workers, launches and orders under way, commits in progress and losses.
#[test]
fn a_fork_driven_by_reports_goes_on_directly_with_what_it_had_and_the_original_knows_nothing_of_it() {
    let mut kinds = [0; 4];
    for seed in 1..120 {
        let all = numbers(seed, 900);
        let mut dice = Dice(all.iter());
        let mut world = World::new(&mut dice);
        for _ in 0..seed * 3 {
            world.step(&mut dice);
        }
        let live = &world.cluster.tracker;
        let before = (held(live), format!("{:?}", live.state()));
        kinds[0] += live.state().workers().iter().filter(|worker| worker.is_parked()).count();
        kinds[1] += live.state().attempts().iter().filter(|(_, a)| a.state() == AttemptState::Launching).count();
        kinds[2] += live.state().attempts().iter().filter(|(_, a)| a.being_killed().is_some()).count();
        kinds[3] += live.state().jobs().filter(|job| job.state() == JobState::Committing).count();

        let fork = live.fork().into_direct();
        fork.check_invariants().unwrap_or_else(|e| panic!("world {seed}: {e}"));
        assert_eq!(held(&fork), before.0, "world {seed}");

        let template = JobTemplate { map_ms: vec![1_000], reduce_ms: vec![2_000], ..JobTemplate::default() };
        let trace = Trace { jobs: vec![template], ..Trace::default() };
        let now = live.state().now();
        let course = Course {
            jobs: live.state().jobs().map(|job| (job.id(), 0)).collect(),
            ends: live.state().attempts().iter().map(|(r, _)| (r, now + Span::from_ms(500))).collect(),
            asking: live.state().workers().iter().map(|worker| worker.id()).collect(),
            ..Course::default()
        };
        let mut resumed = Simulation::resume(fork, &trace, &course);
        while resumed.step() {
            resumed.tracker().check_invariants().unwrap_or_else(|e| panic!("world {seed}: {e}"));
        }
        for job in resumed.report().jobs.iter().filter(|job| !job.state.is_final()) {
            let why = resumed.tracker().explain(job.id).to_string();
            let present = resumed.tracker().state().totals().live;
            assert!(present == 0 || !why.contains("no reason"), "world {seed}: {:?} is stuck: {why}", job.id);
        }
        let live = &world.cluster.tracker;
        assert_eq!((held(live), format!("{:?}", live.state())), before, "the original of world {seed} changed");
    }
    assert!(kinds.iter().all(|&n| n > 0), "parked, launching, being stopped, committing: {kinds:?}");
}
