//! The Job Simulator: forks a tracker, lets it run ahead in virtual time to a horizon, and tells what happened there.
//!
//! One simulation with the expected times gives the forecast. Others, in which each class is off by what its history does
//! not tell and each task by what its class scatters, give every job the interval in which nine of ten ends are expected.
//! They are drawn from a stated seed, and scaled by what earlier forecasts had needed, which is part of the history: one state and
//! history have one forecast. No failures and no jobs but those asked about come
//! in virtual time; the next forecast will see what has changed (§II-B, Limitation).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::changes::{Changes, ChangesError, Hypothetical};
use super::class::{Class, Part, family};
use super::course::{Heartbeats, OfJob, TaskTimes, course, template};
use super::learner::{map_bytes, reduce_bytes};
use super::model::TWO_SIDED_90;
use super::predictor::{Known, TaskPredictor};
use howdah_core::cluster::WorkerState;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, JobId, JobSpec, Locality, WorkerId};
use howdah_core::models::Random;
use howdah_core::replay::{Course, JobOutcome, Observer, SimHeartbeat, Simulation};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::JobTracker;

/// What is left of an attempt that has taken longer than expected, as a share of what it should have taken.
const OVERDUE: f64 = 0.1;
/// An interval that is scaled goes so far either way at least, before it is scaled.
const LEAST_HALF_US: f64 = 100_000.0;
/// An attempt ends no sooner than this.
const SOON: Span = Span::from_ms(10);
/// A drawn time is at least this share of the expected one.
const LEAST: f64 = 0.1;
/// By which an unseen class may be off; one of them is drawn for each class.
const UNSEEN_FACTORS: [f64; 7] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0];
/// Of a class that was seen, off by this share of its tasks' deviation.
const CLASS_SHARE: f64 = 0.3;
/// How to look ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForecastOptions {
    /// How far; the paper's hour.
    pub horizon: Span,
    /// Simulations with drawn times, for the intervals; 0 tells none.
    pub draws: u32,
    /// Starts of tasks that are listed, the first ones.
    pub starts: usize,
    /// When workers send heartbeats.
    pub heartbeats: Heartbeats,
    /// Whether running reduces are predicted whole, as in the paper, and not by the phase that they are known to be in.
    pub whole_reduces: bool,
}

impl Default for ForecastOptions {
    fn default() -> ForecastOptions {
        ForecastOptions {
            horizon: Span::from_secs(3_600),
            draws: 8,
            starts: 10_000,
            heartbeats: Heartbeats::default(),
            whole_reduces: false,
        }
    }
}

/// One job's future.
#[derive(Clone, Debug, PartialEq)]
pub struct JobForecast {
    /// Which; of one that was only thought of, the number that it would have.
    pub job: JobId,
    pub name: String,
    /// When it was submitted.
    pub submitted: Time,
    /// From its submission.
    pub deadline: Option<Span>,
    /// When its first task starts, or has started.
    pub start: Option<Time>,
    /// When it is over; `None` beyond the horizon, or never as things are.
    pub finish: Option<Time>,
    /// Nine of ten ends are expected from here; `None` if that is beyond the horizon, too.
    pub low: Option<Time>,
    /// To here; `None` beyond the horizon.
    pub high: Option<Time>,
    /// How far the drawn interval goes before and after `finish`, not scaled and not cut off at the present; `None` where
    /// nothing is drawn, the job's like was not seen, or some ends lie beyond the horizon.
    pub drawn: Option<[Span; 2]>,
    /// Of all simulations, the share in which it meets its deadline; `None` without one.
    pub in_time: Option<f64>,
    /// Whether tasks of all its classes were seen before.
    pub seen: bool,
    /// Whether it was only thought of.
    pub hypothetical: bool,
}

/// A task that waits now, and when and where it will start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStart {
    pub attempt: AttemptId,
    /// When.
    pub at: Time,
    /// Where.
    pub worker: WorkerId,
}

/// What will happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The instant of the state it was made from.
    pub at: Time,
    /// Up to when it looks.
    pub until: Time,
    /// The policy.
    pub scheduler: String,
    /// All jobs that are not over, by number.
    pub jobs: Vec<JobForecast>,
    /// By time.
    pub starts: Vec<TaskStart>,
    /// Events of all simulations together.
    pub events: u64,
}

impl Forecast {
    /// When the last job is over; `None` if that is beyond the horizon.
    pub fn makespan(&self) -> Option<Span> {
        let ends: Option<Vec<Time>> = self.jobs.iter().map(|job| job.finish).collect();
        ends.map(|ends| ends.into_iter().max().map_or(Span::ZERO, |last| last.since(self.at)))
    }
}

/// Simulates what follows from a fork of a tracker. `application` names what a job runs.
///
/// # Errors
/// Names the change that cannot be made.
pub fn forecast(
    fork: JobTracker,
    predictor: &TaskPredictor<'_>,
    application: &dyn Fn(JobId) -> String,
    changes: &Changes,
    options: &ForecastOptions,
) -> Result<Forecast, ChangesError> {
    let world = World::new(fork, changes, options)?;
    let predicted =
        |random| Predicted { whole_reduces: options.whole_reduces, ..Predicted::new(predictor, application, random) };
    let mut times = predicted(None);
    let central = world.run(&mut times, true);
    let seen = |of: OfJob<'_>| times.all_seen(of);
    let mut forecast = world.forecast(central, seen);
    let mut drawn_ends: Vec<Vec<Option<Time>>> = forecast.jobs.iter().map(|job| vec![job.finish]).collect();
    for draw in 0..options.draws {
        let random = Random::new(u64::from(draw), world.tracker.state().now().as_us());
        let mut drawn = predicted(Some(random));
        let run = world.run(&mut drawn, false);
        forecast.events += run.events;
        for (job, ends) in forecast.jobs.iter().zip(&mut drawn_ends) {
            ends.push(run.ends.get(&job.job).copied().flatten());
        }
    }
    let scale = predictor.end_scale(&forecast.scheduler);
    for (job, ends) in forecast.jobs.iter_mut().zip(&drawn_ends) {
        job.spread(ends, forecast.at, scale);
    }
    Ok(forecast)
}

impl JobForecast {
    /// Takes its ends in all simulations, of which the first had the expected times.
    fn spread(&mut self, ends: &[Option<Time>], now: Time, scale: Option<f64>) {
        let (low, high) = interval(ends, now);
        let at = |us: f64| now + Span::from_us(us.max(0.0).round() as u64);
        (self.low, self.high) = (low.map(at), high.map(at));
        if let (true, Some(finish), Some(low), Some(high)) = (self.seen && ends.len() > 1, self.finish, low, high) {
            let finish = finish.since(now).as_us() as f64;
            let halves = [finish - low, high - finish].map(|half| half.max(LEAST_HALF_US));
            self.drawn = Some(halves.map(|half| Span::from_us(half.round() as u64)));
            if let Some(scale) = scale {
                self.low = Some(at(finish - scale * halves[0]));
                self.high = Some(at(finish + scale * halves[1]));
            }
        }
        self.in_time = self.deadline.map(|deadline| {
            let due = self.submitted + deadline;
            let met = ends.iter().flatten().filter(|&&end| end <= due).count();
            met as f64 / ends.len().max(1) as f64
        });
    }
}

/// Where nine of ten ends are expected, in microseconds from now: by the spread of the drawn ones, with Student's factor for so
/// few of them, and never narrower than all of them together.
fn interval(ends: &[Option<Time>], now: Time) -> (Option<f64>, Option<f64>) {
    let known: Vec<f64> = ends.iter().flatten().map(|end| end.since(now).as_us() as f64).collect();
    let (Some(&first), n) = (known.first(), known.len() as f64) else { return (None, None) };
    let (least, most) = known.iter().fold((first, first), |(low, high), &end| (low.min(end), high.max(end)));
    let drawn = &known[1.min(known.len() - 1)..];
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    let half = match n - 2.0 {
        free if free >= 1.0 => {
            let variance = drawn.iter().map(|end| (end - mean).powi(2)).sum::<f64>() / free;
            student_90(free) * (variance * (1.0 + 1.0 / (n - 1.0))).sqrt()
        }
        _ => 0.0,
    };
    let high = (known.len() == ends.len()).then(|| most.max(mean + half));
    (Some(least.min(mean - half)), high)
}

/// What 90 % of draws from a normal distribution stay within, either way, in deviations that so many degrees of freedom tell
/// (the Cornish-Fisher expansion of Student's quantile).
fn student_90(free: f64) -> f64 {
    let z = 1.644_854_f64;
    z + (z.powi(3) + z) / (4.0 * free) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * free * free)
}

/// Simulates what follows with times of the caller's choice, and with jobs to come.
pub fn outlook(
    fork: JobTracker,
    times: &mut dyn TaskTimes,
    arrivals: &[(Time, JobSpec)],
    options: &ForecastOptions,
) -> Forecast {
    let mut world = World {
        heartbeat: options.heartbeats.of(&fork),
        until: fork.state().now() + options.horizon,
        asking_all: false,
        killed: Vec::new(),
        tracker: fork,
        specs: Vec::new(),
        at: Vec::new(),
        starts: options.starts,
    };
    (world.at, world.specs) = arrivals.iter().cloned().unzip();
    let run = world.run(times, true);
    world.forecast(run, |_| true)
}

/// A fork with its changes made, of which simulations start.
struct World {
    tracker: JobTracker,
    heartbeat: SimHeartbeat,
    /// Whether all workers ask for work at the start, as things were changed.
    asking_all: bool,
    /// Jobs that are killed: what is left of them is being stopped, and nobody waits for it.
    killed: Vec<JobId>,
    /// Of the jobs to submit.
    specs: Vec<JobSpec>,
    /// When they come.
    at: Vec<Time>,
    until: Time,
    starts: usize,
}

/// What one simulation found.
struct Run {
    ends: BTreeMap<JobId, Option<Time>>,
    begins: BTreeMap<JobId, Option<Time>>,
    starts: Vec<TaskStart>,
    events: u64,
}

impl World {
    fn new(fork: JobTracker, changes: &Changes, options: &ForecastOptions) -> Result<World, ChangesError> {
        let heartbeat = options.heartbeats.of(&fork);
        // Who asks at once is only to be seen before.
        let tracker = if changes.is_empty() { fork } else { fork.into_direct() };
        let mut world = World {
            until: tracker.state().now() + options.horizon,
            asking_all: !changes.is_empty(),
            killed: changes.kill.clone(),
            specs: changes.submit.iter().map(Hypothetical::spec).chain(changes.enter.iter().cloned()).collect(),
            at: vec![tracker.state().now(); changes.submit.len() + changes.enter.len()],
            starts: options.starts,
            heartbeat,
            tracker,
        };
        if !changes.is_empty() {
            changes.apply(&mut world.tracker)?;
        }
        Ok(world)
    }

    /// The jobs to come with the numbers that they will have.
    fn to_come(&self) -> impl Iterator<Item = OfJob<'_>> {
        let first = self.tracker.state().last_job() + 1;
        (first..).map(JobId).zip(&self.specs).map(|(job, spec)| OfJob { job, spec })
    }

    fn run(&self, times: &mut dyn TaskTimes, tells_starts: bool) -> Run {
        let (mut trace, mut course) = course(&self.tracker, times, self.heartbeat);
        for (of, &at) in self.to_come().zip(&self.at) {
            course.arrivals.push((at, trace.jobs.len() as u32));
            trace.jobs.push(with_spec(template(of, true, times), of.spec));
        }
        if self.asking_all {
            let live = self.tracker.state().workers().iter().filter(|worker| worker.state() == WorkerState::Live);
            course.asking = live.map(|worker| worker.id()).collect();
        }
        self.simulate(&trace, &course, tells_starts)
    }

    fn simulate(&self, trace: &Trace, course: &Course, tells_starts: bool) -> Run {
        let mut simulation = Simulation::resume(self.tracker.fork(), trace, course);
        let starts = Rc::new(RefCell::new(Vec::new()));
        if tells_starts && self.starts > 0 {
            simulation.observe(Box::new(Starts { list: Rc::clone(&starts), most: self.starts }));
        }
        simulation.run_until(self.until);
        let report = simulation.report();
        let end = |job: &JobOutcome| job.state.is_final().then_some(job.finish);
        Run {
            ends: report.jobs.iter().map(|job| (job.id, end(job))).collect(),
            begins: report.jobs.iter().map(|job| (job.id, job.start)).collect(),
            starts: starts.take(),
            events: report.events,
        }
    }

    fn forecast(&self, run: Run, seen: impl Fn(OfJob<'_>) -> bool) -> Forecast {
        let state = self.tracker.state();
        let present = state
            .jobs()
            .filter(|job| !self.killed.contains(&job.id()))
            .map(|job| OfJob { job: job.id(), spec: job.spec() });
        let of_job = |of: OfJob<'_>, hypothetical: bool| {
            let finish = run.ends.get(&of.job).copied().flatten();
            JobForecast {
                job: of.job,
                name: of.spec.name.to_string(),
                submitted: state.job(of.job).map_or(state.now(), |job| job.submitted()),
                deadline: of.spec.conf.deadline,
                start: run.begins.get(&of.job).copied().flatten(),
                finish,
                low: finish,
                high: finish,
                drawn: None,
                in_time: None,
                seen: seen(of),
                hypothetical,
            }
        };
        let jobs = present.map(|of| of_job(of, false)).chain(self.to_come().map(|of| of_job(of, true))).collect();
        Forecast {
            at: state.now(),
            until: self.until,
            scheduler: self.tracker.scheduler().name().to_owned(),
            jobs,
            starts: run.starts,
            events: run.events,
        }
    }
}

/// A template with what the core reads of its job beside durations.
fn with_spec(durations: JobTemplate, spec: &JobSpec) -> JobTemplate {
    JobTemplate {
        name: spec.name.to_string(),
        user: spec.user.to_string(),
        queue: spec.queue.to_string(),
        pool: spec.conf.pool.clone().unwrap_or_default(),
        priority: spec.priority,
        slots_per_map: spec.conf.slots_per_map,
        slots_per_reduce: spec.conf.slots_per_reduce,
        requires: spec.conf.requires.clone(),
        slowstart_ppm: Some(spec.conf.slowstart_ppm),
        deadline_ms: spec.conf.deadline.map(|span| span.as_ms()),
        map_input_bytes: spec.map_input_bytes.clone(),
        split_hosts: spec.split_hosts.clone(),
        ..durations
    }
}

/// Notes the first launches.
struct Starts {
    list: Rc<RefCell<Vec<TaskStart>>>,
    most: usize,
}

impl Observer for Starts {
    fn launched(&mut self, at: Time, attempt: AttemptId, worker: WorkerId, _: Locality, _: bool) {
        let mut list = self.list.borrow_mut();
        if list.len() < self.most {
            list.push(TaskStart { attempt, at, worker });
        }
    }
}

/// The predictor's times, as expected or drawn.
struct Predicted<'a> {
    predictor: &'a TaskPredictor<'a>,
    application: &'a dyn Fn(JobId) -> String,
    random: Option<Random>,
    whole_reduces: bool,
    /// How far off a class is in this draw.
    off: BTreeMap<Class, f64>,
    /// What is known of the job that was asked for last, by part.
    last: Option<(JobId, [(Known, f64); Part::ALL.len()])>,
}

impl<'a> Predicted<'a> {
    fn new(
        predictor: &'a TaskPredictor<'a>,
        application: &'a dyn Fn(JobId) -> String,
        random: Option<Random>,
    ) -> Predicted<'a> {
        Predicted { predictor, application, random, whole_reduces: false, off: BTreeMap::new(), last: None }
    }

    fn class(&self, of: OfJob<'_>, part: Part) -> Class {
        Class { application: (self.application)(of.job), family: family(&of.spec.name), part }
    }

    fn all_seen(&self, of: OfJob<'_>) -> bool {
        let asked = |part: &&Part| **part == Part::Map || of.spec.n_reduces > 0;
        Part::TASKS.iter().filter(asked).all(|&part| self.predictor.known(&self.class(of, part)).is_seen())
    }

    fn known(&mut self, of: OfJob<'_>) -> &[(Known, f64); Part::ALL.len()] {
        if self.last.as_ref().is_none_or(|last| last.0 != of.job) {
            let known = Part::ALL.map(|part| {
                let class = self.class(of, part);
                let known = self.predictor.known(&class);
                let off = self.off(class, known.is_seen());
                (known, off)
            });
            self.last = Some((of.job, known));
        }
        &self.last.as_ref().expect("just made").1
    }

    /// In deviations if the class was seen, else a factor.
    fn off(&mut self, class: Class, seen: bool) -> f64 {
        let Some(random) = &mut self.random else { return if seen { 0.0 } else { 1.0 } };
        *self.off.entry(class).or_insert_with(|| match seen {
            true => random.normal() * CLASS_SHARE,
            false => UNSEEN_FACTORS[random.below(UNSEEN_FACTORS.len())],
        })
    }
}

impl TaskTimes for Predicted<'_> {
    fn time(&mut self, of: OfJob<'_>, part: Part, index: u32, worker: Option<&str>) -> Span {
        let bytes = if part == Part::Map { map_bytes(of.spec, index) } else { reduce_bytes(of.spec) };
        let (known, off) = &self.known(of)[part as usize];
        let (estimate, seen, off) = (known.estimate(bytes, worker), known.is_seen(), *off);
        let us = match (&mut self.random, seen) {
            (None, _) => estimate.expected,
            (Some(_), false) => estimate.expected * off,
            (Some(random), true) => {
                let deviation = (estimate.high - estimate.low) / (2.0 * TWO_SIDED_90);
                (estimate.expected + deviation * (off + random.normal())).max(estimate.expected * LEAST)
            }
        };
        Span::from_us(us.round() as u64)
    }

    fn left(&mut self, of: OfJob<'_>, phase: Part, whole: Part, worker: Option<&str>) -> Option<Span> {
        if self.whole_reduces {
            return None;
        }
        let bytes = reduce_bytes(of.spec);
        let known = self.known(of);
        let width = |part: Part| {
            let estimate = known[part as usize].0.estimate(bytes, worker);
            estimate.high - estimate.low
        };
        // A phase is told late, with a heartbeat: where shuffles are alike, the launch may tell more.
        let tells_enough = known[phase as usize].0.is_seen() && width(phase) <= width(whole);
        tells_enough.then(|| self.time(of, phase, 0, worker))
    }

    fn varies(&self) -> bool {
        self.random.is_some()
    }

    fn commit(&mut self, _of: OfJob<'_>) -> Span {
        self.predictor.commit()
    }

    fn overdue(&mut self, expected: Span) -> Span {
        Span::from_us((expected.as_us() as f64 * OVERDUE) as u64).max(SOON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: f64) -> Time {
        Time::from_us((s * 1e6) as u64)
    }

    #[test]
    fn about_nine_of_ten_truths_lie_within_whatever_the_number_of_draws() {
        for draws in [4, 8, 19] {
            let trials = 2_000;
            let within = (0..trials).filter(|&trial| {
                let mut random = Random::new(7, trial);
                let mut end = |scatter: f64| Some(at(1_000.0 + scatter * random.normal()));
                let ends: Vec<Option<Time>> = (0..=draws).map(|draw| end(if draw == 0 { 0.0 } else { 50.0 })).collect();
                let (low, high) = interval(&ends, at(0.0));
                let truth = end(50.0).map(|end| end.as_us() as f64);
                low <= truth && truth <= high
            });
            let share = within.count() as f64 / trials as f64;
            assert!((0.87..=0.95).contains(&share), "{share} with {draws} draws");
        }
    }

    #[test]
    fn an_end_beyond_the_horizon_has_no_latest_end_and_none_that_is_past() {
        let now = at(100.0);
        assert_eq!(interval(&[None, Some(at(200.0)), None], now), (Some(1e8), None));
        assert_eq!(interval(&[None, None], now), (None, None));
        assert_eq!(interval(&[Some(at(150.0))], now), (Some(5e7), Some(5e7)), "no draws, no interval");
        let mut job = job(101.0);
        job.spread(&[Some(at(101.0)), Some(at(101.0)), Some(at(300.0))], now, None);
        assert_eq!(job.low, Some(now));
        assert!(job.drawn.is_some_and(|[before, _]| before > Span::from_secs(1)), "not cut off: {job:?}");
    }

    #[test]
    fn a_scale_narrows_the_interval_of_a_job_whose_like_was_seen_and_of_no_other() {
        let ends = [200.0, 190.0, 210.0, 200.0].map(|end| Some(at(end)));
        let spread = |seen, scale| {
            let mut job = JobForecast { seen, ..job(200.0) };
            job.spread(&ends, at(100.0), scale);
            job
        };
        let (wide, narrow) = (spread(true, None), spread(true, Some(0.5)));
        assert_eq!(wide.drawn, narrow.drawn, "what is scored does not depend on the scale");
        let halves =
            |job: &JobForecast| [at(200.0).since(job.low.expect("known")), job.high.expect("known").since(at(200.0))];
        assert_eq!(
            halves(&narrow).map(|half| half.as_us().div_ceil(10)),
            halves(&wide).map(|half| half.as_us().div_ceil(20))
        );
        let unseen = spread(false, Some(0.5));
        assert_eq!((unseen.low, unseen.high, unseen.drawn), (wide.low, wide.high, None));
    }

    fn job(finish_s: f64) -> JobForecast {
        JobForecast {
            job: JobId(1),
            name: String::new(),
            submitted: Time::ZERO,
            deadline: None,
            start: None,
            finish: Some(at(finish_s)),
            low: None,
            high: None,
            drawn: None,
            in_time: None,
            seen: true,
            hypothetical: false,
        }
    }
}
