//! How well task times are predicted while tasks run: each is predicted when it is launched, for its worker as fast as that was at
//! the last forecast, and what was told is kept until the task has ended.
//!
//! A task whose launch nobody saw, as one from before the master's start, is predicted at its end, from what was remembered before it.
//!
//! Fitting a class anew for each of its tasks would cost a thousand times what a task tells, so a fit is kept until the
//! class has grown by a fiftieth since. A small class is fitted for every task.

use std::collections::{BTreeMap, VecDeque};

use howdah_core::job::{AttemptId, JobId};

use super::class::{Class, Part};
use super::fallback::Fallback;
use super::history::{Sample, TaskHistory};
use super::model_name::ModelName;
use super::models::Estimate;
use super::place::Speeds;
use super::predictor::{Known, TaskPredictor};
use super::score::Score;

/// Tasks that are kept.
const KEPT: usize = 10_000;
/// Classes whose fits are kept.
const CLASSES: usize = 2_000;
/// A fit is made anew when its class has grown by this part of itself.
const GROWTH: usize = 50;
/// Running attempts of which is kept what was told at their launch.
const RUNNING: usize = 100_000;

/// See the module's documentation.
#[derive(Default)]
pub struct RunningScore {
    model: ModelName,
    /// As at the last forecast, where the policy has curves of load and frequency.
    speeds: Option<Speeds>,
    fits: BTreeMap<Class, Fit>,
    /// What was told of attempts that run, by job.
    running: BTreeMap<JobId, BTreeMap<AttemptId, Told>>,
    n_running: usize,
    /// Tasks whose class was seen before; the newest last.
    tasks: VecDeque<Judged>,
    unseen: u64,
}

/// A prediction.
#[derive(Clone, Copy, Debug)]
struct Told {
    part: Part,
    estimate: Estimate,
    seen: bool,
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
    /// Tasks by which its class may still grow.
    serves: usize,
}

impl RunningScore {
    /// Of predictions by a model.
    pub fn of(model: ModelName) -> RunningScore {
        RunningScore { model, ..RunningScore::default() }
    }

    /// How fast workers are from now on, where that is known.
    pub fn at(&mut self, speeds: Option<Speeds>) {
        // A fit is for one speed or for workers as they were.
        if speeds.is_some() != self.speeds.is_some() {
            self.fits.clear();
        }
        self.speeds = speeds;
    }

    /// Predicts an attempt that was launched.
    pub fn launched(
        &mut self,
        history: &TaskHistory,
        attempt: AttemptId,
        class: &Class,
        bytes: Option<u64>,
        worker: &str,
    ) {
        if self.n_running < RUNNING {
            let told = self.tell(history, class, bytes, worker);
            let before = self.running.entry(attempt.job).or_default().insert(attempt, told);
            self.n_running += usize::from(before.is_none());
        }
    }

    /// A job is over, and all its attempts with it.
    pub fn ended(&mut self, job: JobId) {
        self.n_running -= self.running.remove(&job).map_or(0, |attempts| attempts.len());
    }

    /// Holds what was told of a task against what it took. `history` is without it.
    pub fn judge(&mut self, history: &TaskHistory, attempt: AttemptId, class: &Class, sample: &Sample) {
        let told = self.running.get_mut(&attempt.job).and_then(|attempts| attempts.remove(&attempt));
        self.n_running -= usize::from(told.is_some());
        // A reduce counts from its launch or from the end of the maps: what was told of the one says nothing of the other.
        let told = told.filter(|told| told.part == class.part);
        let told = told.unwrap_or_else(|| self.tell(history, class, sample.bytes, &sample.worker));
        // The class grows by the task now.
        if let Some(fit) = self.fits.get_mut(class) {
            fit.serves = fit.serves.saturating_sub(1);
        }
        if !told.seen {
            self.unseen += 1;
        } else if sample.time.as_us() > 0 {
            if self.tasks.len() >= KEPT {
                self.tasks.pop_front();
            }
            let time = sample.time.as_us() as f64;
            self.tasks.push_back(Judged {
                error: 100.0 * (told.estimate.expected / time - 1.0),
                within_interval: told.estimate.holds(time),
            });
        }
    }

    fn tell(&mut self, history: &TaskHistory, class: &Class, bytes: Option<u64>, worker: &str) -> Told {
        let fit = match self.fits.get_mut(class) {
            Some(fit) if fit.serves > 0 => fit,
            _ => {
                let fit = self.fit(history, class);
                if self.fits.len() >= CLASSES {
                    self.fits.clear();
                }
                self.fits.entry(class.clone()).insert_entry(fit).into_mut()
            }
        };
        let estimate = fit.known.estimate_at(bytes, Some(worker), self.speeds.as_ref());
        Told { part: class.part, estimate, seen: fit.known.is_seen() }
    }

    fn fit(&self, history: &TaskHistory, class: &Class) -> Fit {
        let model = self.model.model();
        let predictor = TaskPredictor::new(history, &*model, Fallback::default());
        let by_speeds = self.speeds.clone().map(|speeds| predictor.at(speeds));
        let known = by_speeds.as_ref().unwrap_or(&predictor).known(class);
        Fit { known, serves: 1 + history.remembered(class) / GROWTH }
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

#[cfg(test)]
mod tests {
    use howdah_core::job::TaskKind;
    use howdah_core::time::Span;

    use super::*;

    fn attempt(job: u32, index: u32) -> AttemptId {
        AttemptId { job: JobId(job), kind: TaskKind::Map, index, number: 0 }
    }

    fn class(part: Part) -> Class {
        Class { application: "sleep".to_owned(), family: "nap".to_owned(), part }
    }

    fn took(ms: u64) -> Sample {
        Sample { bytes: None, time: Span::from_ms(ms), worker: "w".to_owned(), place: None }
    }

    /// A score and a history of maps that took so long.
    fn taught(times: &[u64]) -> (RunningScore, TaskHistory) {
        let mut history = TaskHistory::default();
        times.iter().for_each(|&ms| history.add(class(Part::Map), took(ms)));
        (RunningScore::default(), history)
    }

    fn judged(times: &[u64]) -> RunningScore {
        judged_by(ModelName::default(), times)
    }

    fn judged_by(model: ModelName, times: &[u64]) -> RunningScore {
        let class = class(Part::Map);
        let (mut history, mut running) = (TaskHistory::default(), RunningScore::of(model));
        for (&ms, index) in times.iter().zip(0..) {
            running.judge(&history, attempt(1, index), &class, &took(ms));
            history.add(class.clone(), took(ms));
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

    #[test]
    fn a_task_is_judged_by_what_was_told_at_its_launch_and_not_by_what_was_learnt_since() {
        let (mut score, mut history) = taught(&[100, 100]);
        let map = class(Part::Map);
        score.launched(&history, attempt(1, 0), &map, None, "w");
        (0..3).for_each(|_| history.add(map.clone(), took(900)));
        for index in 0..2 {
            score.judge(&history, attempt(1, index), &map, &took(100));
        }
        let errors: Vec<i64> = score.tasks.iter().map(|task| task.error.round() as i64).collect();
        assert_eq!(errors, [0, 480], "of the second one nobody saw the launch: the mean is 580 ms");
        assert_eq!(score.n_running, 0);
    }

    #[test]
    fn a_reduce_that_turned_out_to_be_of_another_part_is_told_anew() {
        let (mut score, mut history) = taught(&[]);
        for (part, ms) in [(Part::FirstReduce, 100), (Part::LaterReduce, 400)] {
            history.add(class(part), took(ms));
        }
        score.launched(&history, attempt(1, 0), &class(Part::FirstReduce), None, "w");
        score.judge(&history, attempt(1, 0), &class(Part::LaterReduce), &took(400));
        assert_eq!(score.tasks.back().expect("it was judged").error, 0.0);
    }

    #[test]
    fn what_was_told_of_attempts_goes_with_their_job_and_is_bounded() {
        let (mut score, history) = taught(&[100]);
        for job in 1..=2 {
            (0..RUNNING as u32 * 3 / 4).for_each(|index| {
                score.launched(&history, attempt(job, index), &class(Part::Map), None, "w");
            });
        }
        let kept = |score: &RunningScore| score.running.values().map(BTreeMap::len).sum::<usize>();
        assert_eq!((score.n_running, kept(&score)), (RUNNING, RUNNING));
        score.ended(JobId(1));
        assert_eq!((score.n_running, kept(&score)), (RUNNING / 4, RUNNING / 4));
        score.ended(JobId(2));
        score.ended(JobId(3));
        assert_eq!((score.n_running, kept(&score)), (0, 0));
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
