//! The Task Predictor: what a task that has not ended will take, and how sure that is.
//!
//! It asks the model for the task's class; where no task of the class is remembered, for the application's tasks of that
//! part under any name; a reduce's first and later kinds stand in for each other. Of a task that nothing is remembered of,
//! it tells a stated time by input size with an interval from a tenth to ten times of it: a starting point, never a
//! certainty (§II-A, Limitations). Much more input than anything that finished is such a point as well ([`Reach`]).
//!
//! A task whose input is of unknown size, of a class in which sizes are known, is not taken for one without input: it takes the
//! class's mean with a wide interval. What finished with input of unknown size tells nothing of how time follows from size.
//!
//! A model's interval is scaled by what it would have had to be: the older half of what is remembered of a class predicts the
//! newer half, and nine of ten of those must have lain within (split conformal prediction).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::calibration::quantile;
use super::class::{Class, Part};
use super::fallback::Fallback;
use super::history::{Sample, TaskHistory};
use super::models::{Estimate, Fitted, TaskTimeModel, whatever_the_size};
use super::place::Speeds;
use super::progress::Worth;
use super::reach::Reach;
use howdah_core::time::Span;

/// What is known of a class, as one forecast asks for it.
#[derive(Clone)]
pub(super) enum Known {
    /// Tasks were seen.
    Seen(Told),
    /// None were.
    Unseen(Fallback),
}

/// What tasks tell of others like them.
#[derive(Clone)]
pub(super) struct Told {
    fitted: Rc<dyn Fitted>,
    /// By how much its intervals are scaled.
    scale: f64,
    /// The sizes that it was learnt from; `None` where no size is known.
    reach: Option<Reach>,
    /// Of a task of unknown size; `None` where no size is known, so that none makes a difference.
    any_size: Option<Estimate>,
    /// Whether all that is for a worker without load at the stated frequency.
    at_one_speed: bool,
}

impl Told {
    /// From what finished; `None` if it does not tell enough. Intervals are not scaled by less than `least`.
    fn by(
        model: &dyn TaskTimeModel,
        samples: &[&Sample],
        least: f64,
        at_one_speed: bool,
        fallback: &Fallback,
    ) -> Option<Told> {
        let has_sizes = samples.iter().any(|sample| sample.bytes > Some(0));
        let any_size = if has_sizes { whatever_the_size(samples) } else { None };
        let tell = |sample: &&&Sample| sample.bytes.is_some() || !has_sizes;
        let samples: Vec<&Sample> = samples.iter().filter(tell).copied().collect();
        let fitted = Rc::from(model.fit(&samples)?);
        let (scale, reach) = (scale(model, &samples).max(least), Reach::of(&samples, fallback));
        Some(Told { fitted, scale, reach, any_size, at_one_speed })
    }

    fn estimate(&self, bytes: u64, worker: Option<&str>) -> Estimate {
        let model = |bytes| self.fitted.estimate(bytes, worker).scaled(self.scale);
        match &self.reach {
            Some(reach) if !reach.covers(bytes) => reach.beyond(bytes, model),
            _ => model(bytes),
        }
    }
}

impl Known {
    pub(super) fn estimate(&self, bytes: Option<u64>, worker: Option<&str>) -> Estimate {
        match self {
            Known::Seen(Told { any_size: Some(estimate), .. }) if bytes.is_none() => *estimate,
            Known::Seen(told) => told.estimate(bytes.unwrap_or(0), worker),
            Known::Unseen(fallback) => fallback.estimate(bytes),
        }
    }

    /// Whether a task's size is not known and would tell.
    pub(super) fn misses_size(&self, bytes: Option<u64>) -> bool {
        bytes.is_none() && matches!(self, Known::Seen(Told { any_size: Some(_), .. }))
    }

    /// Whether tasks of its class were seen, and some with about as much input.
    pub(super) fn was_seen_with(&self, bytes: Option<u64>) -> bool {
        self.is_seen() && !self.reach().zip(bytes).is_some_and(|(reach, bytes)| reach.is_exceeded(bytes))
    }

    /// Whether a task's size is far from any that was seen.
    pub(super) fn is_beyond_reach(&self, bytes: Option<u64>) -> bool {
        self.reach().zip(bytes).is_some_and(|(reach, bytes)| !reach.covers(bytes))
    }

    fn reach(&self) -> Option<&Reach> {
        match self {
            Known::Seen(told) => told.reach.as_ref(),
            Known::Unseen(_) => None,
        }
    }

    fn is_at_one_speed(&self) -> bool {
        matches!(self, Known::Seen(Told { at_one_speed: true, .. }))
    }

    /// The same, where speeds of workers are known: on this worker; or what it takes at a speed of 1 if workers' own are put to it
    /// later.
    pub(super) fn estimate_at(&self, bytes: Option<u64>, worker: Option<&str>, speeds: Option<&Speeds>) -> Estimate {
        let estimate = self.estimate(bytes, worker);
        let Some(speeds) = speeds else { return estimate };
        let by = match (self.is_at_one_speed(), worker) {
            (true, Some(worker)) => speeds.on(worker),
            (true, None) | (false, Some(_)) => 1.0,
            (false, None) => 1.0 / speeds.mean(),
        };
        estimate.times(by)
    }

    pub(super) fn is_seen(&self) -> bool {
        matches!(self, Known::Seen(..))
    }
}

/// Tells times from what is remembered. Made for one forecast: each class is fitted once.
pub struct TaskPredictor<'h> {
    history: &'h TaskHistory,
    model: &'h dyn TaskTimeModel,
    fallback: Fallback,
    speeds: Option<Speeds>,
    fitted: RefCell<BTreeMap<Class, Known>>,
}

impl<'h> TaskPredictor<'h> {
    /// Over a history, by a model.
    pub fn new(history: &'h TaskHistory, model: &'h dyn TaskTimeModel, fallback: Fallback) -> TaskPredictor<'h> {
        TaskPredictor { history, model, fallback, speeds: None, fitted: RefCell::default() }
    }

    /// The same, which tells times by how fast workers are.
    pub fn at(&self, speeds: Speeds) -> TaskPredictor<'h> {
        TaskPredictor { speeds: Some(speeds), ..TaskPredictor::new(self.history, self.model, self.fallback) }
    }

    pub(super) fn speeds(&self) -> Option<&Speeds> {
        self.speeds.as_ref()
    }

    /// The time of a task that ran somewhere as that was, and whether tasks like it were seen.
    pub fn estimate_of(&self, class: &Class, sample: &Sample) -> (Estimate, bool) {
        let (estimate, seen) = self.estimate(class, sample.bytes, Some(&sample.worker));
        let at_one_speed = self.known(class).is_at_one_speed();
        let factor = self.speeds.as_ref().filter(|_| at_one_speed).map(|speeds| {
            let at = sample.place.and_then(|place| speeds.at(&place));
            at.unwrap_or_else(|| speeds.on(&sample.worker))
        });
        (estimate.times(factor.unwrap_or(1.0)), seen)
    }

    /// The time of a task, and whether tasks like it were seen.
    pub fn estimate(&self, class: &Class, bytes: Option<u64>, worker: Option<&str>) -> (Estimate, bool) {
        let known = self.known(class);
        (known.estimate(bytes, worker), known.is_seen())
    }

    /// By which drawn intervals of ends are scaled under a policy, by the errors of earlier forecasts.
    pub(super) fn end_scale(&self, policy: &str) -> Option<f64> {
        self.history.end_errors.scale(policy)
    }

    /// What the progress of a class's running tasks is worth in a third of their way, if anything.
    pub(super) fn progress_worth(&self, class: &Class, third: u8) -> Option<Worth> {
        self.history.progress_worth(class, third)
    }

    pub(super) fn commit(&self) -> Span {
        self.history.commit()
    }

    pub(super) fn known(&self, class: &Class) -> Known {
        if let Some(known) = self.fitted.borrow().get(class) {
            return known.clone();
        }
        let other = match class.part {
            Part::Map | Part::AfterShuffle | Part::AfterSort => None,
            Part::FirstReduce => Some(Part::LaterReduce),
            Part::LaterReduce => Some(Part::FirstReduce),
        };
        let classes = [Some(class.clone()), other.map(|part| Class { part, ..class.clone() })];
        let in_order = classes.iter().flatten();
        let own = in_order.clone().map(|class| (self.history.of(class), 0.0));
        // Tasks under other names may differ: their intervals are never made narrower.
        let applications = in_order.map(|class| (self.history.of_application(class), 1.0));
        let known = own.chain(applications).find_map(|(samples, least)| {
            if let Some(speeds) = &self.speeds
                && let Some(alike) = at_one_speed(&samples, speeds)
            {
                return Told::by(self.model, &alike.iter().collect::<Vec<_>>(), least, true, &self.fallback);
            }
            Told::by(self.model, &samples, least, false, &self.fallback)
        });
        let known = known.map_or(Known::Unseen(self.fallback), Known::Seen);
        self.fitted.borrow_mut().insert(class.clone(), known.clone());
        known
    }
}

/// With fewer tasks of which it is known where they ran, times are taken as they are.
const PLACED: usize = 5;

/// The tasks as they would have been at the stated frequency without load; `None` where too few say where they ran.
fn at_one_speed(samples: &[&Sample], speeds: &Speeds) -> Option<Vec<Sample>> {
    let alike = |sample: &&Sample| {
        let us = sample.time.as_us() as f64 / speeds.at(&sample.place?)?;
        Some(Sample { time: Span::from_us(us.round() as u64), ..(*sample).clone() })
    };
    let alike: Vec<Sample> = samples.iter().filter_map(alike).collect();
    (alike.len() >= PLACED).then_some(alike)
}

/// With fewer tasks of a class its intervals are the model's own.
const ENOUGH: usize = 40;

/// By how much intervals are scaled so that nine of ten of the newer half would have lain within those of the older half.
fn scale(model: &dyn TaskTimeModel, samples: &[&Sample]) -> f64 {
    if samples.len() < ENOUGH {
        return 1.0;
    }
    let (older, newer) = samples.split_at(samples.len() / 2);
    let Some(fitted) = model.fit(older) else { return 1.0 };
    let error = |sample: &&Sample| {
        let estimate = fitted.estimate(sample.bytes.unwrap_or(0), Some(&sample.worker));
        estimate.error(sample.time.as_us() as f64)
    };
    quantile(newer.iter().map(error).collect()).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::history::Sample;
    use super::super::models::{MODELS, by_name};
    use super::*;

    fn class(application: &str, family: &str, part: Part) -> Class {
        Class { application: application.to_owned(), family: family.to_owned(), part }
    }

    fn estimated(history: &TaskHistory, class: &Class, bytes: Option<u64>) -> (u64, bool) {
        let model = by_name("linear").expect("it is listed");
        let predictor = TaskPredictor::new(history, &*model, Fallback::default());
        let (estimate, seen) = predictor.estimate(class, bytes, None);
        (estimate.expected.round() as u64 / 1_000, seen)
    }

    #[test]
    fn a_task_is_predicted_from_its_class_then_from_its_application_then_from_nothing() {
        let mut history = TaskHistory::default();
        let sample = |ms| Sample { bytes: Some(1 << 20), time: Span::from_ms(ms), worker: "w".to_owned(), place: None };
        let mib = |mib: u64| Some(mib << 20);
        history.add(class("grep", "logs", Part::Map), sample(700));
        history.add(class("grep", "mails", Part::Map), sample(900));
        assert_eq!(estimated(&history, &class("grep", "logs", Part::Map), mib(1)), (700, true));
        assert_eq!(estimated(&history, &class("grep", "new", Part::Map), mib(1)), (800, true));
        assert_eq!(estimated(&history, &class("sort", "new", Part::Map), mib(2)), (1_200, false));
        assert_eq!(estimated(&history, &class("sort", "new", Part::Map), mib(0)), (1_000, false), "an empty file");
        assert_eq!(estimated(&history, &class("sort", "new", Part::Map), None), (10_000, false));
        assert_eq!(
            estimated(&history, &class("", "new", Part::Map), None),
            (10_000, false),
            "no name is no application"
        );
    }

    #[test]
    fn first_and_later_reduces_stand_in_for_each_other() {
        let mut history = TaskHistory::default();
        let sample = Sample { bytes: None, time: Span::from_ms(400), worker: "w".to_owned(), place: None };
        history.add(class("grep", "logs", Part::FirstReduce), sample);
        assert_eq!(estimated(&history, &class("grep", "logs", Part::LaterReduce), None), (400, true));
        assert_eq!(estimated(&history, &class("grep", "logs", Part::Map), None), (10_000, false));
    }

    /// Maps of a second and 50 ms for each MiB, and then some of unknown size.
    fn wordcount(unknown_ms: &[u64]) -> TaskHistory {
        let mut history = TaskHistory::default();
        let sized = (1..=20).map(|mib: u64| (Some(mib << 20), 1_000 + 50 * mib));
        for (bytes, ms) in sized.chain(unknown_ms.iter().map(|&ms| (None, ms))) {
            let sample = Sample { bytes, time: Span::from_ms(ms), worker: "w".to_owned(), place: None };
            history.add(class("wordcount", "logs", Part::Map), sample);
        }
        history
    }

    #[test]
    fn a_task_of_unknown_size_is_not_one_without_input() {
        let logs = class("wordcount", "logs", Part::Map);
        for name in MODELS {
            let (model, history) = (by_name(name).expect("it is listed"), wordcount(&[]));
            let predictor = TaskPredictor::new(&history, &*model, Fallback::default());
            let (any, seen) = predictor.estimate(&logs, None, None);
            assert_eq!((any.expected.round(), seen), (1_525_000.0, true), "{name}: the mean");
            assert!(any.low <= 762_500.0 && any.high >= 2_000_000.0, "{name}: {any:?}");
        }
        assert_eq!(estimated(&wordcount(&[]), &logs, Some(0)), (1_000, true), "an empty file takes the intercept");
    }

    #[test]
    fn what_finished_with_input_of_unknown_size_does_not_bend_the_line_and_counts_in_the_mean() {
        let (logs, unknown) = (class("wordcount", "logs", Part::Map), [9_000; 20]);
        for mib in [2, 15, 40] {
            assert_eq!(estimated(&wordcount(&unknown), &logs, Some(mib << 20)), (1_000 + 50 * mib, true), "{mib} MiB");
        }
        assert_eq!(estimated(&wordcount(&unknown), &logs, None).0, (1_525 + 9_000) / 2);
    }

    #[test]
    fn a_class_in_which_no_size_is_known_has_its_mean_and_its_own_interval() {
        let (nap, mut history) = (class("sleep", "nap", Part::Map), TaskHistory::default());
        for ms in [990, 1_000, 1_010] {
            let sample = Sample { bytes: None, time: Span::from_ms(ms), worker: "w".to_owned(), place: None };
            history.add(nap.clone(), sample);
        }
        let model = by_name("linear").expect("it is listed");
        let (told, _) = TaskPredictor::new(&history, &*model, Fallback::default()).estimate(&nap, None, None);
        assert_eq!(told.expected.round(), 1_000_000.0);
        assert!(told.high - told.low < 100_000.0, "{told:?}");
    }

    /// Of the newer halves of six series of tasks, the share that lay in intervals made from those before, and their mean
    /// width over the expected time. `time_ms` tells a task's time from its MiB and a normal draw.
    fn covered(model: &str, time_ms: impl Fn(f64, f64) -> f64) -> (f64, f64) {
        let model = by_name(model).expect("it is listed");
        let class = class("sort", "sort", Part::Map);
        let (mut within, mut width, series, n) = (0, 0.0, 6, 400);
        for seed in 0..series {
            let (mut random, mut history) = (howdah_core::models::Random::new(11, seed), TaskHistory::default());
            let mut known = Known::Unseen(Fallback::default());
            for index in 0..2 * n {
                let mib = 8 + random.below(57) as u64;
                let ms = time_ms(mib as f64, random.normal()).max(1.0);
                let sample = Sample {
                    bytes: Some(mib << 20),
                    time: Span::from_us((ms * 1e3) as u64),
                    worker: "w".to_owned(),
                    place: None,
                };
                // A fit serves for a while, as in the running score.
                if index >= n && index % 40 == 0 {
                    known = TaskPredictor::new(&history, &*model, Fallback::default()).known(&class);
                }
                if index >= n {
                    let estimate = known.estimate(sample.bytes, None);
                    within += u32::from(estimate.holds(sample.time.as_us() as f64));
                    width += (estimate.high - estimate.low) / estimate.expected;
                }
                history.add(class.clone(), sample);
            }
        }
        let all = f64::from(n * series as u32);
        (f64::from(within) / all, width / all)
    }

    // Normal scatter, a skewed one with a long tail, and a step that one line does not fit: a normal deviation alone would state
    // too much of the second. Whoever does not look at sizes sees two piles of tasks instead of the step, of which one lies on
    // the edge of his interval.
    #[test]
    fn nine_of_ten_tasks_lie_in_their_intervals_however_they_scatter() {
        let normal = |mib: f64, normal: f64| (2_000.0 + 260.0 * mib) * (1.0 + 0.04 * normal);
        let skewed = |mib: f64, normal: f64| 1_000.0 + 20.0 * mib + 200.0 * normal.exp();
        let stepped = |mib: f64, normal: f64| if mib < 27.0 { 1_500.0 } else { 4_000.0 } + 50.0 * normal;
        for model in MODELS {
            let mut found = vec![("normal", covered(model, normal)), ("skewed", covered(model, skewed))];
            if !["mean", "quantile"].contains(&model) {
                found.push(("stepped", covered(model, stepped)));
            }
            for (what, (share, width)) in found {
                assert!(
                    (0.87..=0.93).contains(&share),
                    "{model}, {what}: {share} in intervals {width} of the time wide"
                );
            }
        }
        let (_, width) = covered("linear", normal);
        assert!((0.13..0.19).contains(&width), "{width} of the time: 2 times 1.645 deviations of 4 % are 0.13");
    }

    #[test]
    fn an_unseen_task_has_a_wide_interval() {
        let estimate = Fallback::default().estimate(Some(10 << 20));
        assert_eq!((estimate.low, estimate.expected, estimate.high), (200_000.0, 2_000_000.0, 20_000_000.0));
    }
}
