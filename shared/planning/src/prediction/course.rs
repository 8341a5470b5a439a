//! From a tracker's state and what its tasks will take to a course that can be simulated.
//!
//! Time left is what an attempt will take less what has passed since its launch; one that has taken longer already is
//! given a floor, as it may end at any moment and has not, and at least half of what it is late by. Where ends are reported
//! with regular heartbeats, one that should have ended within the last interval is taken to wait for its worker's next heartbeat. A reduce that waits for
//! maps counts from their end, one that is known to sort or to reduce from where it began to. What a map's reported progress says
//! counts as far as it is worth something.

use super::class::Part;
use super::progress::Seen;
use howdah_core::cluster::{Attempt, Job, Worker, WorkerState};
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{JobId, JobSpec, JobState, Phase, Progress, TaskKind, WorkerId};
use howdah_core::replay::{Course, SimHeartbeat};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::JobTracker;

/// The speed of a plain worker.
const PLAIN: u32 = 1_000_000;

/// A job whose tasks are asked for.
#[derive(Clone, Copy)]
pub struct OfJob<'a> {
    /// Its number; of one that is only thought of, the number that it would get.
    pub job: JobId,
    /// As submitted.
    pub spec: &'a JobSpec,
}

/// What tasks take: the predictor's word, or the truth in a test.
pub trait TaskTimes {
    /// The time of a task. The worker is known of those that run.
    fn time(&mut self, of: OfJob<'_>, part: Part, index: u32, worker: Option<&str>) -> Span;

    /// The time of a running map whose progress is known; `None` where that says no more than [`TaskTimes::time`].
    fn map_seen(&mut self, _of: OfJob<'_>, _index: u32, _worker: Option<&str>, _seen: &Seen) -> Option<Span> {
        None
    }

    /// The time from where a phase of a reduce began to its end; `None` where that says no more than the time of the `whole`
    /// reduce.
    fn left(&mut self, _of: OfJob<'_>, _phase: Part, _whole: Part, _worker: Option<&str>) -> Option<Span> {
        None
    }

    /// How fast a worker is, in millionths of the speed that times are for where no worker is known.
    fn speed_ppm(&self, _worker: &str) -> u32 {
        PLAIN
    }

    /// Whether tasks of one part of a job with equal input may take different times.
    fn varies(&self) -> bool;

    /// From a job's last task to its end.
    fn commit(&mut self, of: OfJob<'_>) -> Span;

    /// What is left of an attempt that should have taken so long and has taken longer already.
    fn overdue(&mut self, expected: Span) -> Span;
}

/// When workers of the simulated cluster send heartbeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heartbeats {
    /// As the tracker's own settings say: at once where heartbeats may be parked, else by the present interval, and the
    /// end of an attempt at once.
    #[default]
    AsConfigured,
    /// As said: for a tracker that a replay drives.
    Given(SimHeartbeat),
}

impl Heartbeats {
    pub(super) fn of(self, tracker: &JobTracker) -> SimHeartbeat {
        match self {
            Heartbeats::Given(heartbeat) => heartbeat,
            Heartbeats::AsConfigured if tracker.config().max_parking_ms > 0 => SimHeartbeat::default(),
            Heartbeats::AsConfigured => {
                let interval = Span::from_ms(u64::from(tracker.interval_ms()));
                SimHeartbeat { interval, out_of_band: true }
            }
        }
    }
}

/// What is to happen from where a tracker is, if tasks take these times. Jobs to come are the caller's business.
pub(super) fn course(tracker: &JobTracker, times: &mut dyn TaskTimes, heartbeat: SimHeartbeat) -> (Trace, Course) {
    let state = tracker.state();
    let now = state.now();
    let mut trace = Trace::default();
    let mut course = Course { heartbeat, asking: asking(tracker, heartbeat), ..Course::default() };
    course.speeds = state.workers().iter().map(|worker| times.speed_ppm(worker.name())).collect();
    if course.speeds.iter().all(|&speed| speed == PLAIN) {
        course.speeds.clear();
    }
    for job in state.jobs() {
        let of = OfJob { job: job.id(), spec: job.spec() };
        course.jobs.push((job.id(), trace.jobs.len() as u32));
        let template = template(of, job.tasks(TaskKind::Map).n_left() > 0, times);
        if job.state() == JobState::Committing {
            course.commits.push((job.id(), now + Span::from_ms(template.commit_ms)));
        }
        trace.jobs.push(template);
    }
    for (reference, attempt) in state.attempts().iter() {
        let worker = state.worker(attempt.worker()).map(|worker| worker.name());
        if let Some(job) = state.job(attempt.id().job)
            && let Some(end) = end(job, attempt, worker, (now, heartbeat), times)
        {
            course.ends.push((reference, end));
        }
    }
    (trace, course)
}

/// Workers of a tracker driven by reports that have slots to fill and no heartbeat with the master: their next one is on
/// its way. A parked one has been offered what waits.
fn asking(tracker: &JobTracker, heartbeat: SimHeartbeat) -> Vec<WorkerId> {
    if tracker.is_direct() || heartbeat.interval > Span::ZERO {
        return Vec::new();
    }
    let state = tracker.state();
    let asks = |worker: &&Worker| worker.state() == WorkerState::Live && !worker.is_parked();
    state.workers().iter().filter(asks).map(Worker::id).collect()
}

/// When a running attempt ends; `None` for a reduce that waits for maps.
fn end(
    job: &Job,
    attempt: &Attempt,
    worker: Option<&str>,
    (now, heartbeat): (Time, SimHeartbeat),
    times: &mut dyn TaskTimes,
) -> Option<Time> {
    let (id, started) = (attempt.id(), attempt.started());
    let of = OfJob { job: job.id(), spec: job.spec() };
    let (since, part) = match id.kind {
        TaskKind::Map => (started, Part::Map),
        TaskKind::Reduce if job.tasks(TaskKind::Map).n_left() > 0 => return None,
        TaskKind::Reduce => match job.maps_done().filter(|&done| started < done) {
            Some(done) => (done, Part::FirstReduce),
            None => (started, Part::LaterReduce),
        },
    };
    let phase = attempt.phase_from().and_then(|from| {
        let phase = if attempt.phase() == Phase::Sort { Part::AfterShuffle } else { Part::AfterSort };
        Some((from, times.left(of, phase, part, worker)?))
    });
    let by_progress = seen(attempt).and_then(|seen| Some((since, times.map_seen(of, id.index, worker, &seen)?)));
    let known = phase.or(by_progress);
    let (since, takes) = known.unwrap_or_else(|| (since, times.time(of, part, id.index, worker)));
    let end = since + takes;
    // One that should have ended since its worker's last message most likely has: the next heartbeat will say.
    let unreported = !heartbeat.out_of_band && now.since(end) < heartbeat.interval;
    // What is late by much is not about to end: nobody knows what holds it up, or its time was never known.
    let late = Span::from_us(now.since(end).as_us() / 2);
    Some(if end > now || unreported { end } else { end.max(now + times.overdue(takes).max(late)) })
}

/// How far a running map was at its last report, if it told.
fn seen(attempt: &Attempt) -> Option<Seen> {
    let (id, progress) = (attempt.id(), attempt.progress());
    let tells = id.kind == TaskKind::Map && progress > Progress::ZERO && progress < Progress::DONE;
    let passed = attempt.reported()?.since(attempt.started());
    (tells && passed > Span::ZERO).then_some(Seen { attempt: id, progress, passed })
}

/// A job's template: an entry for each of its tasks, or one for all where they are alike.
pub(super) fn template(of: OfJob<'_>, maps_left: bool, times: &mut dyn TaskTimes) -> JobTemplate {
    let spec = of.spec;
    let alike = !times.varies();
    let n_maps = match () {
        () if !maps_left => 0,
        () if alike && spec.map_input_bytes.is_empty() => spec.n_maps.min(1),
        () => spec.n_maps,
    };
    let n_reduces = if alike { spec.n_reduces.min(1) } else { spec.n_reduces };
    let mut list = |part, n| (0..n).map(|index| ms(times.time(of, part, index, None))).collect();
    JobTemplate {
        n_maps: spec.n_maps,
        n_reduces: spec.n_reduces,
        map_ms: list(Part::Map, n_maps),
        // Both with the reduce's own time, which is predicted with its shuffle.
        first_shuffle_ms: list(Part::FirstReduce, n_reduces),
        typical_shuffle_ms: list(Part::LaterReduce, n_reduces),
        commit_ms: ms(times.commit(of)),
        ..JobTemplate::default()
    }
}

fn ms(span: Span) -> u64 {
    span.as_us().div_ceil(1_000)
}
