//! How well task times are predicted while tasks end: each is predicted from what was remembered before it.
//!
//! Fitting a class anew for each of its tasks would cost a thousand times what a task tells, so a fit is kept until the
//! class has grown by a fiftieth since. A small class is fitted for every task.

use std::collections::{BTreeMap, VecDeque};

use super::class::Class;
use super::history::{Sample, TaskHistory};
use super::model_name::ModelName;
use super::predictor::{Fallback, Known, TaskPredictor};
use super::score::Score;

/// Tasks that are kept.
const KEPT: usize = 10_000;
/// Classes whose fits are kept.
const CLASSES: usize = 2_000;
/// A fit is made anew when its class has grown by this part of itself.
const GROWTH: usize = 50;

/// See the module's documentation.
#[derive(Default)]
pub struct RunningScore {
    model: ModelName,
    fits: BTreeMap<Class, Fit>,
    /// Tasks whose class was seen before; the newest last.
    tasks: VecDeque<Judged>,
    unseen: u64,
}

/// One task against its prediction.
struct Judged {
    /// In percent.
    error: f64,
    /// Whether it took what its interval said.
    within_interval: bool,
}

struct Fit {
    known: Known,
    /// Tasks that it still serves.
    serves: usize,
}

impl RunningScore {
    /// Of predictions by a model.
    pub fn of(model: ModelName) -> RunningScore {
        RunningScore { model, ..RunningScore::default() }
    }

    /// Predicts a task that has ended from a history without it.
    pub fn judge(&mut self, history: &TaskHistory, class: &Class, sample: &Sample) {
        let fit = match self.fits.get_mut(class) {
            Some(fit) if fit.serves > 0 => fit,
            _ => {
                let fit = fit(self.model, history, class);
                if self.fits.len() >= CLASSES {
                    self.fits.clear();
                }
                self.fits.entry(class.clone()).insert_entry(fit).into_mut()
            }
        };
        fit.serves = fit.serves.saturating_sub(1);
        if !fit.known.is_seen() {
            self.unseen += 1;
        } else if sample.time.as_us() > 0 {
            if self.tasks.len() >= KEPT {
                self.tasks.pop_front();
            }
            let estimate = fit.known.estimate(sample.bytes, Some(&sample.worker));
            let time = sample.time.as_us() as f64;
            self.tasks.push_back(Judged {
                error: 100.0 * (estimate.expected / time - 1.0),
                within_interval: estimate.holds(time),
            });
        }
    }

    /// Of the last tasks whose class was seen before.
    pub fn score(&self) -> Score {
        Score::of(self.tasks.iter().map(|task| task.error))
    }

    /// The share of them that took what their intervals said; `None` of none.
    pub fn coverage(&self) -> Option<f64> {
        let within = self.tasks.iter().filter(|task| task.within_interval).count();
        (!self.tasks.is_empty()).then(|| within as f64 / self.tasks.len() as f64)
    }

    /// Tasks of which nothing was remembered.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }
}

fn fit(model: ModelName, history: &TaskHistory, class: &Class) -> Fit {
    let model = model.model();
    let known = TaskPredictor::new(history, &*model, Fallback::default()).known(class);
    Fit { known, serves: 1 + history.remembered(class) / GROWTH }
}

#[cfg(test)]
mod tests {
    use howdah_core::time::Span;

    use super::super::class::Part;
    use super::*;

    fn judged(times: &[u64]) -> RunningScore {
        judged_by(ModelName::default(), times)
    }

    fn judged_by(model: ModelName, times: &[u64]) -> RunningScore {
        let class = Class { application: "sleep".to_owned(), family: "nap".to_owned(), part: Part::Map };
        let (mut history, mut running) = (TaskHistory::default(), RunningScore::of(model));
        for &ms in times {
            let sample = Sample { bytes: None, time: Span::from_ms(ms), worker: "w".to_owned(), place: None };
            running.judge(&history, &class, &sample);
            history.add(class.clone(), sample);
        }
        running
    }

    #[test]
    fn each_task_is_judged_by_what_was_known_before_it() {
        let running = judged(&[100, 100, 125]);
        let errors: Vec<i64> = running.tasks.iter().map(|task| task.error.round() as i64).collect();
        assert_eq!((running.unseen(), errors), (1, vec![0, -20]));
        // The first of these was predicted from one task, to within half of it; the second from two that were alike.
        assert_eq!((running.coverage(), judged(&[100]).coverage()), (Some(0.5), None));
    }

    // The mean of the three before is 400 ms, their median 100 ms.
    #[test]
    fn tasks_are_judged_by_the_chosen_model() {
        let last = |model: &str| {
            let model = model.parse().expect("it is listed");
            judged_by(model, &[100, 100, 1_000, 100]).tasks.back().expect("it was judged").error.round()
        };
        assert_eq!([last("linear"), last("quantile")], [300.0, 0.0]);
    }

    #[test]
    fn a_fit_is_not_older_than_a_fiftieth_of_its_class() {
        // After 200 tasks of 100 ms the time doubles: the mean must have followed it by then.
        let mut times = vec![100; 200];
        times.extend([200; 400]);
        let last = judged(&times).tasks.back().unwrap().error;
        let exact = 100.0 * ((200.0 * 100.0 + 399.0 * 200.0) / 599.0 / 200.0 - 1.0);
        assert!((last - exact).abs() < 0.5, "{last} % and {exact} %");
    }
}
