//! The Task Predictor: what a task that has not ended will take, and how sure that is.
//!
//! It asks the model for the task's class; where no task of the class is remembered, for the application's tasks of that
//! part under any name; a reduce's first and later kinds stand in for each other. Of a task that nothing is remembered of,
//! it tells a stated time by input size with an interval from a tenth to ten times of it: a starting point, never a
//! certainty (§II-A, Limitations).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::class::{Class, Part};
use super::history::TaskHistory;
use super::model::{Estimate, Fitted, TaskTimeModel};
use howdah_core::time::Span;

/// What is notified of a task that nothing is remembered of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// Whatever the input.
    pub start: Span,
    /// For each MiB of it.
    pub per_mib: Span,
    /// In the place of both where the size of the input is not known.
    pub unknown: Span,
}

impl Default for Fallback {
    /// A second and 10 MiB a second; 10 s for input of unknown size.
    fn default() -> Fallback {
        Fallback { start: Span::from_secs(1), per_mib: Span::from_ms(100), unknown: Span::from_secs(10) }
    }
}

/// An unseen task may take this many times less, or more.
const UNSEEN: f64 = 10.0;

impl Fallback {
    fn estimate(&self, bytes: u64) -> Estimate {
        let us = |span: Span| span.as_us() as f64;
        let expected = match bytes {
            0 => us(self.unknown),
            _ => us(self.start) + us(self.per_mib) * bytes as f64 / f64::from(1 << 20),
        };
        Estimate { expected, low: expected / UNSEEN, high: expected * UNSEEN }
    }
}

/// What is known of a class, as one forecast asks for it.
#[derive(Clone)]
pub(super) enum Known {
    /// Tasks were seen.
    Seen(Rc<dyn Fitted>),
    /// None were.
    Unseen(Fallback),
}

impl Known {
    pub(super) fn estimate(&self, bytes: u64, worker: Option<&str>) -> Estimate {
        match self {
            Known::Seen(fitted) => fitted.estimate(bytes, worker),
            Known::Unseen(fallback) => fallback.estimate(bytes),
        }
    }

    pub(super) fn is_seen(&self) -> bool {
        matches!(self, Known::Seen(_))
    }
}

/// Tells times from what is remembered. Made for one forecast: each class is fitted once.
pub struct TaskPredictor<'h> {
    history: &'h TaskHistory,
    model: &'h dyn TaskTimeModel,
    fallback: Fallback,
    fitted: RefCell<BTreeMap<Class, Known>>,
}

impl<'h> TaskPredictor<'h> {
    /// Over a history, by a model.
    pub fn new(history: &'h TaskHistory, model: &'h dyn TaskTimeModel, fallback: Fallback) -> TaskPredictor<'h> {
        TaskPredictor { history, model, fallback, fitted: RefCell::default() }
    }

    /// The time of a task, and whether tasks like it were seen.
    pub fn estimate(&self, class: &Class, bytes: u64, worker: Option<&str>) -> (Estimate, bool) {
        let known = self.known(class);
        (known.estimate(bytes, worker), known.is_seen())
    }

    pub(super) fn commit(&self) -> Span {
        self.history.commit()
    }

    pub(super) fn known(&self, class: &Class) -> Known {
        if let Some(known) = self.fitted.borrow().get(class) {
            return known.clone();
        }
        let other = match class.part {
            Part::Map => None,
            Part::FirstReduce => Some(Part::LaterReduce),
            Part::LaterReduce => Some(Part::FirstReduce),
        };
        let classes = [Some(class.clone()), other.map(|part| Class { part, ..class.clone() })];
        let in_order = classes.iter().flatten();
        let own = in_order.clone().map(|class| self.history.of(class));
        let applications = in_order.map(|class| self.history.of_application(class));
        let fitted = own.chain(applications).find_map(|samples| self.model.fit(&samples));
        let known = fitted.map_or(Known::Unseen(self.fallback), |fitted| Known::Seen(Rc::from(fitted)));
        self.fitted.borrow_mut().insert(class.clone(), known.clone());
        known
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::Sample;
    use super::super::model::by_name;
    use super::*;

    fn class(application: &str, family: &str, part: Part) -> Class {
        Class { application: application.to_owned(), family: family.to_owned(), part }
    }

    fn estimated(history: &TaskHistory, class: &Class, bytes: u64) -> (u64, bool) {
        let model = by_name("linear").expect("it is listed");
        let predictor = TaskPredictor::new(history, &*model, Fallback::default());
        let (estimate, seen) = predictor.estimate(class, bytes, None);
        (estimate.expected.round() as u64 / 1_000, seen)
    }

    #[test]
    fn a_task_is_predicted_from_its_class_then_from_its_application_then_from_nothing() {
        let mut history = TaskHistory::default();
        let sample = |ms| Sample { bytes: 1 << 20, time: Span::from_ms(ms), worker: "w".to_owned() };
        history.add(class("grep", "logs", Part::Map), sample(700));
        history.add(class("grep", "mails", Part::Map), sample(900));
        assert_eq!(estimated(&history, &class("grep", "logs", Part::Map), 1 << 20), (700, true));
        assert_eq!(estimated(&history, &class("grep", "new", Part::Map), 1 << 20), (800, true));
        assert_eq!(estimated(&history, &class("sort", "new", Part::Map), 2 << 20), (1_200, false));
        assert_eq!(estimated(&history, &class("sort", "new", Part::Map), 0), (10_000, false));
        assert_eq!(estimated(&history, &class("", "new", Part::Map), 0), (10_000, false), "no name is no application");
    }

    #[test]
    fn first_and_later_reduces_stand_in_for_each_other() {
        let mut history = TaskHistory::default();
        let sample = Sample { bytes: 0, time: Span::from_ms(400), worker: "w".to_owned() };
        history.add(class("grep", "logs", Part::FirstReduce), sample);
        assert_eq!(estimated(&history, &class("grep", "logs", Part::LaterReduce), 0), (400, true));
        assert_eq!(estimated(&history, &class("grep", "logs", Part::Map), 0), (10_000, false));
    }

    #[test]
    fn an_unseen_task_has_a_wide_interval() {
        let estimate = Fallback::default().estimate(10 << 20);
        assert_eq!((estimate.low, estimate.expected, estimate.high), (200_000.0, 2_000_000.0, 20_000_000.0));
    }
}
