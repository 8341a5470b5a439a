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

use super::changes::{Changes, ChangesError, Hypothetical, lose};
use super::course::{Heartbeats, OfJob, TaskTimes, course, template};
use super::place::Speeds;
use super::predicted::Predicted;
use super::predictor::TaskPredictor;
use super::progress::Look;
use super::silence::silent;
use howdah_core::cluster::WorkerState;
use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::job::{AttemptId, JobId, JobSpec, Locality, TaskKind, WorkerId};
use howdah_core::models::Random;
use howdah_core::replay::{Course, JobOutcome, Observer, SimHeartbeat, Simulation};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::JobTracker;

/// An interval that is scaled goes so far either way at least, before it is scaled.
const LEAST_HALF_US: f64 = 100_000.0;

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
    /// Whether the progress of running maps tells nothing, as in the paper.
    pub without_progress: bool,
    /// Whether workers are taken to be alike though curves tell how they differ.
    pub alike_workers: bool,
    /// Whether each job's time alone is told, for slowdowns.
    pub alone: bool,
}

/// Simulations with drawn times that tell how likely a deadline is met, in steps of a simulation.
const DEADLINE_DRAWS: u32 = 19;

impl ForecastOptions {
    /// With as many simulations at least as these changes call for.
    #[must_use]
    pub fn enough_for(self, changes: &Changes) -> ForecastOptions {
        let least = if changes.tells_deadlines() { DEADLINE_DRAWS } else { 0 };
        ForecastOptions { draws: self.draws.max(least), ..self }
    }
}

impl Default for ForecastOptions {
    fn default() -> ForecastOptions {
        ForecastOptions {
            horizon: Span::from_secs(3_600),
            draws: 8,
            starts: 10_000,
            heartbeats: Heartbeats::default(),
            whole_reduces: false,
            without_progress: false,
            alike_workers: false,
            alone: false,
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
    /// The least that it could take if the cluster were its own, where that was asked for.
    pub alone: Option<Span>,
    /// When its first task starts, or has started.
    pub start: Option<Time>,
    /// When it is over; `None` beyond the horizon, or never as things are.
    pub finish: Option<Time>,
    /// Nine of ten ends are expected from here; `None` if that is beyond the horizon, too.
    pub low: Option<Time>,
    /// To here; `None` beyond the horizon.
    pub high: Option<Time>,
    /// How far the drawn interval goes before and after `finish`, not scaled and not cut off at the present; `None` where
    /// nothing is drawn, the job's like was not seen or its input is of unknown size, or some ends lie beyond the horizon.
    pub drawn: Option<[Span; 2]>,
    /// Its ends in all simulations, of which the first had the expected times; empty where there was one without draws.
    pub ends: Vec<Option<Time>>,
    /// Of all simulations, the share in which it meets its deadline; `None` without one.
    pub in_time: Option<f64>,
    /// Whether tasks of all its classes were seen before, and none of its own has much more input than those.
    pub seen: bool,
    /// Whether the sizes of its tasks' input are known, as far as those of the tasks that were seen are.
    pub sized: bool,
    /// Whether it was only thought of.
    pub hypothetical: bool,
}

/// A task that waits now, and when and where it will start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStart {
    pub attempt: AttemptId,
    /// When its slot is free, by the forecast.
    pub at: Time,
    /// The worker that has the slot.
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
    /// What progress says of running maps whose like was seen.
    pub running: Vec<Look>,
}

impl Forecast {
    /// When the last job is over; `None` if that is beyond the horizon.
    pub fn makespan(&self) -> Option<Span> {
        let ends: Option<Vec<Time>> = self.jobs.iter().map(|job| job.finish).collect();
        ends.map(|ends| ends.into_iter().max().map_or(Span::ZERO, |last| last.since(self.at)))
    }

    /// Judges jobs by other deadlines, from the forecast's instant on, than those that they ran under.
    pub fn hold_to(&mut self, deadlines: &[(JobId, Span)]) {
        for &(id, within) in deadlines {
            for job in self.jobs.iter_mut().filter(|job| job.job == id) {
                job.deadline = Some((self.at + within).since(job.submitted));
                job.judge_deadline();
            }
        }
    }
}

/// Simulates what follows from a fork of a tracker. `application` names what a job runs.
///
/// # Errors
/// Names the change that cannot be made.
pub fn forecast(
    mut fork: JobTracker,
    predictor: &TaskPredictor<'_>,
    application: &dyn Fn(JobId) -> String,
    changes: &Changes,
    options: &ForecastOptions,
) -> Result<Forecast, ChangesError> {
    let speeds = Speeds::of(&mut fork).filter(|_| !options.alike_workers);
    let world = World::new(fork, changes, options)?;
    let by_speeds = speeds.map(|speeds| predictor.at(speeds));
    let predictor = by_speeds.as_ref().unwrap_or(predictor);
    let predicted = |random| {
        let mut times = Predicted::new(predictor, application, random);
        (times.whole_reduces, times.without_progress) = (options.whole_reduces, options.without_progress);
        times
    };
    let mut times = predicted(None);
    let central = world.run(&mut times, true);
    let known = |of: OfJob<'_>| times.seen_and_sized(of);
    let mut forecast = world.forecast(central, known);
    forecast.running = std::mem::take(&mut times.looks);
    if options.alone {
        forecast
            .jobs
            .iter_mut()
            .zip(world.all_jobs())
            .for_each(|(job, of)| job.alone = Some(world.alone(of, &mut times)));
    }
    let bereft = world.without(&silent(&world.tracker));
    let mut drawn_ends: Vec<Vec<Option<Time>>> = forecast.jobs.iter().map(|job| vec![job.finish]).collect();
    for draw in 0..options.draws {
        let random = Random::new(u64::from(draw), world.tracker.state().now().as_us());
        let mut drawn = predicted(Some(random));
        // Nobody knows whether the silent come back: in every other simulation they do not.
        let run = bereft.as_ref().filter(|_| draw % 2 == 1).unwrap_or(&world).run(&mut drawn, false);
        forecast.events += run.events;
        for (job, ends) in forecast.jobs.iter().zip(&mut drawn_ends) {
            ends.push(run.ends.get(&job.job).copied().flatten());
        }
    }
    // What earlier forecasts needed says nothing of a worker that may be lost.
    let scale = predictor.end_scale(&forecast.scheduler).filter(|_| bereft.is_none());
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
        if let (true, Some(finish), Some(low), Some(high)) =
            (self.tells_of_others() && ends.len() > 1, self.finish, low, high)
        {
            let finish = finish.since(now).as_us() as f64;
            let halves = [finish - low, high - finish].map(|half| half.max(LEAST_HALF_US));
            self.drawn = Some(halves.map(|half| Span::from_us(half.round() as u64)));
            if let Some(scale) = scale {
                self.low = Some(at(finish - scale * halves[0]));
                self.high = Some(at(finish + scale * halves[1]));
            }
        }
        self.ends = ends.to_vec();
        self.judge_deadline();
    }

    /// One of a job that came at the origin, with its end.
    #[cfg(test)]
    pub(super) fn told(finish: Option<Time>) -> JobForecast {
        JobForecast {
            job: JobId(1),
            name: String::new(),
            submitted: Time::ZERO,
            deadline: None,
            alone: None,
            start: None,
            finish,
            low: None,
            high: None,
            drawn: None,
            ends: Vec::new(),
            in_time: None,
            seen: true,
            sized: true,
            hypothetical: false,
        }
    }

    /// When it is to be over.
    pub fn due(&self) -> Option<Time> {
        self.deadline.map(|deadline| self.submitted + deadline)
    }

    fn judge_deadline(&mut self) {
        self.in_time = self.due().map(|due| {
            let met = self.ends.iter().flatten().filter(|&&end| end <= due).count();
            met as f64 / self.ends.len().max(1) as f64
        });
    }

    /// Whether how far off it is tells how far off others will be, and the other way round: no part of it is a fallback.
    fn tells_of_others(&self) -> bool {
        self.seen && self.sized
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
    world.forecast(run, |_| (true, true))
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

    /// The same where these workers are lost; `None` of none.
    fn without(&self, gone: &[WorkerId]) -> Option<World> {
        if gone.is_empty() {
            return None;
        }
        let mut tracker = self.tracker.fork().into_direct();
        lose(&mut tracker, gone);
        Some(World {
            tracker,
            asking_all: true,
            killed: self.killed.clone(),
            specs: self.specs.clone(),
            at: self.at.clone(),
            ..*self
        })
    }

    /// The jobs to come with the numbers that they will have.
    fn to_come(&self) -> impl Iterator<Item = OfJob<'_>> {
        let first = self.tracker.state().last_job() + 1;
        (first..).map(JobId).zip(&self.specs).map(|(job, spec)| OfJob { job, spec })
    }

    /// Those that are told of: not over and not killed, by number, then those to come.
    fn all_jobs(&self) -> impl Iterator<Item = OfJob<'_>> {
        let live = self.tracker.state().jobs().filter(|job| !self.killed.contains(&job.id()));
        live.map(|job| OfJob { job: job.id(), spec: job.spec() }).chain(self.to_come())
    }

    /// The least that a job could take if all slots were its own: of each of its two phases no less than the longest task, nor
    /// than all work over all slots.
    fn alone(&self, of: OfJob<'_>, times: &mut dyn TaskTimes) -> Span {
        let slots = self.tracker.state().totals().slots;
        let template = template(of, true, times);
        let phase = |list: &[u64], n: u32, slots: u32| {
            let longest = list.iter().copied().max().unwrap_or(0);
            // Where all tasks are alike the list has one of them.
            let work: u64 = list.iter().sum::<u64>() * u64::from(n) / list.len().max(1) as u64;
            longest.max(work / u64::from(slots.max(1)))
        };
        let maps = phase(&template.map_ms, template.n_maps, slots[TaskKind::Map as usize]);
        let reduces = phase(&template.first_shuffle_ms, template.n_reduces, slots[TaskKind::Reduce as usize]);
        Span::from_ms((maps + reduces + template.commit_ms).max(1))
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

    /// `known` tells of a job whether its like was seen, and whether its sizes are known.
    fn forecast(&self, run: Run, known: impl Fn(OfJob<'_>) -> (bool, bool)) -> Forecast {
        let state = self.tracker.state();
        let of_job = |of: OfJob<'_>, hypothetical: bool| {
            let finish = run.ends.get(&of.job).copied().flatten();
            let (seen, sized) = known(of);
            JobForecast {
                job: of.job,
                name: of.spec.name.to_string(),
                submitted: state.job(of.job).map_or(state.now(), |job| job.submitted()),
                deadline: of.spec.conf.deadline,
                alone: None,
                start: run.begins.get(&of.job).copied().flatten(),
                finish,
                low: finish,
                high: finish,
                drawn: None,
                ends: Vec::new(),
                in_time: None,
                seen,
                sized,
                hypothetical,
            }
        };
        let to_come = |of: &OfJob<'_>| of.job.0 > state.last_job();
        let jobs = self.all_jobs().map(|of| of_job(of, to_come(&of))).collect();
        Forecast {
            at: state.now(),
            until: self.until,
            scheduler: self.tracker.scheduler().name().to_owned(),
            jobs,
            starts: run.starts,
            events: run.events,
            running: Vec::new(),
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
    fn a_scale_narrows_the_interval_of_a_job_whose_like_and_input_are_known_and_of_no_other() {
        let ends = [200.0, 190.0, 210.0, 200.0].map(|end| Some(at(end)));
        let spread = |seen, sized, scale| {
            let mut job = JobForecast { seen, sized, ..job(200.0) };
            job.spread(&ends, at(100.0), scale);
            job
        };
        let (wide, narrow) = (spread(true, true, None), spread(true, true, Some(0.5)));
        assert_eq!(wide.drawn, narrow.drawn, "what is scored does not depend on the scale");
        let halves =
            |job: &JobForecast| [at(200.0).since(job.low.expect("known")), job.high.expect("known").since(at(200.0))];
        assert_eq!(
            halves(&narrow).map(|half| half.as_us().div_ceil(10)),
            halves(&wide).map(|half| half.as_us().div_ceil(20))
        );
        for (seen, sized) in [(false, true), (true, false)] {
            let fallback = spread(seen, sized, Some(0.5));
            assert_eq!((fallback.low, fallback.high, fallback.drawn), (wide.low, wide.high, None));
        }
    }

    fn job(finish_s: f64) -> JobForecast {
        JobForecast::told(Some(at(finish_s)))
    }
}
