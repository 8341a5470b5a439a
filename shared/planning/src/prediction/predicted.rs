//! The predictor's times for the tasks of a simulation: as expected, or drawn.
//!
//! In a draw each class is off by what its history does not tell, and each task by what its class scatters. What running tasks
//! tell of themselves, a reduce its phase and a map its progress, counts where it tells more than the class.

use std::collections::BTreeMap;

use super::class::{Class, Part, family};
use super::course::{OfJob, TaskTimes};
use super::input::InputSizes;
use super::models::TWO_SIDED_90;
use super::predictor::{Known, TaskPredictor};
use super::progress::{Look, Seen};
use howdah_core::job::JobId;
use howdah_core::models::Random;
use howdah_core::time::Span;

/// What is left of an attempt that has taken longer than expected, as a share of what it should have taken.
const OVERDUE: f64 = 0.1;
/// An attempt ends no sooner than this.
const SOON: Span = Span::from_ms(10);
/// A drawn time is at least this share of the expected one.
const LEAST: f64 = 0.1;
/// By which an unseen class may be off; one of them is drawn for each class.
const UNSEEN_FACTORS: [f64; 7] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0];
/// Of a class that was seen, off by this share of its tasks' deviation.
const CLASS_SHARE: f64 = 0.3;

/// The predictor's times, as expected or drawn.
pub(super) struct Predicted<'a> {
    predictor: &'a TaskPredictor<'a>,
    application: &'a dyn Fn(JobId) -> String,
    random: Option<Random>,
    pub(super) whole_reduces: bool,
    pub(super) without_progress: bool,
    /// What progress says, where nothing is drawn.
    pub(super) looks: Vec<Look>,
    /// How far off a class is in this draw.
    off: BTreeMap<Class, f64>,
    /// Of the jobs that were asked for.
    jobs: BTreeMap<JobId, Foreseen>,
}

/// What is known of a job.
struct Foreseen {
    sizes: InputSizes,
    /// By part, and how far off it is in this draw.
    known: [(Known, f64); Part::ALL.len()],
}

impl<'a> Predicted<'a> {
    pub(super) fn new(
        predictor: &'a TaskPredictor<'a>,
        application: &'a dyn Fn(JobId) -> String,
        random: Option<Random>,
    ) -> Predicted<'a> {
        Predicted {
            predictor,
            application,
            random,
            whole_reduces: false,
            without_progress: false,
            looks: Vec::new(),
            off: BTreeMap::new(),
            jobs: BTreeMap::new(),
        }
    }

    fn class(&self, of: OfJob<'_>, part: Part) -> Class {
        Class { application: (self.application)(of.job), family: family(&of.spec.name), part }
    }

    /// Whether tasks of all its classes were seen before, and none has much more input than those; and whether the sizes of its
    /// tasks' input are known as far as they tell.
    pub(super) fn seen_and_sized(&self, of: OfJob<'_>) -> (bool, bool) {
        // All of the sizes are known, or none is.
        let sizes = InputSizes::of(of.spec);
        let asked = Part::TASKS.iter().filter(|part| **part == Part::Map || of.spec.n_reduces > 0);
        asked.fold((true, true), |(seen, sized), &part| {
            let known = self.predictor.known(&self.class(of, part));
            let bytes = if part == Part::Map { sizes.largest_map(of.spec) } else { sizes.reduce() };
            (seen && known.was_seen_with(bytes), sized && !known.misses_size(bytes))
        })
    }

    fn known(&mut self, of: OfJob<'_>) -> &Foreseen {
        if !self.jobs.contains_key(&of.job) {
            let known = Part::ALL.map(|part| {
                let class = self.class(of, part);
                let known = self.predictor.known(&class);
                let off = self.off(class, known.is_seen());
                (known, off)
            });
            self.jobs.insert(of.job, Foreseen { sizes: InputSizes::of(of.spec), known });
        }
        &self.jobs[&of.job]
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
        let speeds = self.predictor.speeds();
        let job = self.known(of);
        let bytes = if part == Part::Map { job.sizes.map(of.spec, index) } else { job.sizes.reduce() };
        let (known, off) = &job.known[part as usize];
        let (seen, misses_size, off) = (known.is_seen(), known.misses_size(bytes), *off);
        let is_beyond_reach = known.is_beyond_reach(bytes);
        let estimate = known.estimate_at(bytes, worker, speeds);
        let us = match (&mut self.random, seen) {
            (None, _) => estimate.expected,
            (Some(_), false) => estimate.expected * off,
            // As none of that size was seen, all of them are off the same way.
            (Some(_), true) if is_beyond_reach => {
                let by = off / CLASS_SHARE / TWO_SIDED_90;
                let half = if by < 0.0 { estimate.expected - estimate.low } else { estimate.high - estimate.expected };
                (estimate.expected + half * by).max(estimate.expected * LEAST)
            }
            (Some(random), true) => {
                let deviation = (estimate.high - estimate.low) / (2.0 * TWO_SIDED_90);
                // Where their size is not known, tasks are large or small together.
                let by = if misses_size { off / CLASS_SHARE } else { off + random.normal() };
                (estimate.expected + deviation * by).max(estimate.expected * LEAST)
            }
        };
        Span::from_us(us.round() as u64)
    }

    fn map_seen(&mut self, of: OfJob<'_>, index: u32, worker: Option<&str>, seen: &Seen) -> Option<Span> {
        let speeds = self.predictor.speeds();
        let job = self.known(of);
        let known = &job.known[Part::Map as usize].0;
        if !known.is_seen() {
            return None;
        }
        let expected = known.estimate_at(job.sizes.map(of.spec, index), worker, speeds).expected;
        let look = Look::new(seen, self.class(of, Part::Map), expected);
        let worth = self.predictor.progress_worth(&look.class, look.third).filter(|_| !self.without_progress);
        let us = worth.map(|worth| {
            let drawn = self.random.as_mut().map_or(0.0, |random| random.normal() * worth.deviation * expected);
            (worth.time(&look) + drawn).max(expected * LEAST)
        });
        if self.random.is_none() {
            self.looks.push(look);
        }
        us.map(|us| Span::from_us(us.round() as u64))
    }

    fn left(&mut self, of: OfJob<'_>, phase: Part, whole: Part, worker: Option<&str>) -> Option<Span> {
        if self.whole_reduces {
            return None;
        }
        let Foreseen { sizes, known } = self.known(of);
        let width = |part: Part| {
            let estimate = known[part as usize].0.estimate(sizes.reduce(), worker);
            estimate.high - estimate.low
        };
        // A phase is told late, with a heartbeat: where shuffles are alike, the launch may tell more.
        let tells_enough = known[phase as usize].0.is_seen() && width(phase) <= width(whole);
        tells_enough.then(|| self.time(of, phase, 0, worker))
    }

    fn speed_ppm(&self, worker: &str) -> u32 {
        let slower = self.predictor.speeds().map_or(1.0, |speeds| speeds.on(worker));
        (1e6 / slower).clamp(1.0, f64::from(u32::MAX)) as u32
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
