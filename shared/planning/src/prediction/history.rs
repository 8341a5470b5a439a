//! The finished tasks that are remembered: the last of each class, so that what changed long ago is forgotten.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::calibration::EndErrors;
use super::class::Class;
use super::place::Place;
use super::progress::{Evidence, THIRDS, Worth};
use howdah_core::time::Span;

/// Tasks that are remembered of each class.
const KEPT: usize = 1_000;
/// Classes that are remembered; the least recently seen ones go first.
const CLASSES: usize = 2_000;
/// Promotions that are remembered.
const COMMITS: usize = 100;

/// One finished task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredSample", into = "StoredSample")]
pub struct Sample {
    /// Its input: a map's split, or its share of the job's whole input if it is a reduce. `None` where unknown.
    pub bytes: Option<u64>,
    /// What it took.
    pub time: Span,
    /// Where it ran, by name.
    pub worker: String,
    /// And how that was; `None` where nothing was told, as of earlier builds.
    pub place: Option<Place>,
}

/// As it lies in a file.
#[derive(Serialize, Deserialize)]
struct StoredSample {
    /// 0 where unknown, which is all that earlier builds knew of 0.
    bytes: u64,
    /// Whether 0 is known to be the size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    empty: bool,
    time: Span,
    worker: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

impl From<StoredSample> for Sample {
    fn from(StoredSample { bytes, empty, time, worker, place }: StoredSample) -> Sample {
        Sample { bytes: (bytes > 0 || empty).then_some(bytes), time, worker, place }
    }
}

impl From<Sample> for StoredSample {
    fn from(Sample { bytes, time, worker, place }: Sample) -> StoredSample {
        StoredSample { bytes: bytes.unwrap_or(0), empty: bytes == Some(0), time, worker, place }
    }
}

/// The tasks of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Known {
    samples: VecDeque<Sample>,
    /// The number of the sample that came last, of all that ever came.
    last: u64,
}

/// All of them. Serialises as a list, as a class is no name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct TaskHistory {
    classes: BTreeMap<Class, Known>,
    commits: VecDeque<Span>,
    seen: u64,
    /// What came of earlier forecasts of ends.
    pub(super) end_errors: EndErrors,
    /// What the progress of running tasks told, by class and third of their way.
    progress: BTreeMap<(Class, u8), Evidence>,
}

/// As it lies in a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stored {
    classes: Vec<(Class, Known)>,
    commits: VecDeque<Span>,
    seen: u64,
    #[serde(default)]
    end_errors: EndErrors,
    #[serde(default)]
    progress: Vec<((Class, u8), Evidence)>,
}

impl From<Stored> for TaskHistory {
    /// Within the bounds in which it grows: a file may have been written by anybody.
    fn from(Stored { mut classes, mut commits, seen, end_errors, mut progress }: Stored) -> TaskHistory {
        classes.sort_by_key(|(_, known)| Reverse(known.last));
        classes.truncate(CLASSES);
        for (_, known) in &mut classes {
            known.last = known.last.min(seen);
            keep_last(&mut known.samples, KEPT);
        }
        let classes: BTreeMap<Class, Known> = classes.into_iter().collect();
        keep_last(&mut commits, COMMITS);
        progress.retain(|((_, third), evidence)| *third < THIRDS && evidence.can_be());
        progress.truncate(CLASSES * usize::from(THIRDS));
        let progress = progress.into_iter().collect();
        TaskHistory { classes, commits, seen, end_errors: end_errors.within_bounds(), progress }
    }
}

/// Lets go of the oldest, which stand first.
fn keep_last<T>(list: &mut VecDeque<T>, most: usize) {
    list.drain(..list.len().saturating_sub(most));
}

impl From<TaskHistory> for Stored {
    fn from(TaskHistory { classes, commits, seen, end_errors, progress }: TaskHistory) -> Stored {
        let (classes, progress) = (classes.into_iter().collect(), progress.into_iter().collect());
        Stored { classes, commits, seen, end_errors, progress }
    }
}

impl TaskHistory {
    /// A task of a class has finished.
    pub fn add(&mut self, class: Class, sample: Sample) {
        self.seen = self.seen.saturating_add(1);
        if self.classes.len() >= CLASSES
            && !self.classes.contains_key(&class)
            && let Some(oldest) =
                self.classes.iter().min_by_key(|(_, known)| known.last).map(|(class, _)| class.clone())
        {
            self.progress.retain(|(class, _), _| *class != oldest);
            self.classes.remove(&oldest);
        }
        let known = self.classes.entry(class).or_default();
        known.last = self.seen;
        if known.samples.len() >= KEPT {
            known.samples.pop_front();
        }
        known.samples.push_back(sample);
    }

    /// What the progress of a class's tasks told in a third of their way, to add to.
    pub(super) fn evidence(&mut self, class: &Class, third: u8) -> &mut Evidence {
        if self.progress.len() >= CLASSES * usize::from(THIRDS) {
            self.progress.retain(|(class, _), _| self.classes.contains_key(class));
        }
        self.progress.entry((class.clone(), third)).or_default()
    }

    /// What progress is worth there; `None` where it tells nothing more than the model.
    pub(super) fn progress_worth(&self, class: &Class, third: u8) -> Option<Worth> {
        self.progress.get(&(class.clone(), third))?.worth()
    }

    /// A job's output took so long to promote.
    pub fn add_commit(&mut self, time: Span) {
        if self.commits.len() >= COMMITS {
            self.commits.pop_front();
        }
        self.commits.push_back(time);
    }

    /// Tasks that ever came.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The classes of which tasks are remembered, with their number.
    pub fn classes(&self) -> impl Iterator<Item = (&Class, usize)> {
        self.classes.iter().map(|(class, known)| (class, known.samples.len()))
    }

    /// What is remembered of a class, oldest first.
    pub fn of(&self, class: &Class) -> Vec<&Sample> {
        self.classes.get(class).map_or_else(Vec::new, |known| known.samples.iter().collect())
    }

    /// How many tasks of a class are remembered.
    pub fn remembered(&self, class: &Class) -> usize {
        self.classes.get(class).map_or(0, |known| known.samples.len())
    }

    /// What is remembered of a part of an application's jobs, whatever their names.
    pub fn of_application(&self, class: &Class) -> Vec<&Sample> {
        if class.application.is_empty() {
            return Vec::new();
        }
        let same = |other: &&Class| other.application == class.application && other.part == class.part;
        let alike = self.classes.iter().filter(|(other, _)| same(other));
        alike.flat_map(|(_, known)| &known.samples).collect()
    }

    /// What promoting a job's output takes: the mean; nothing where none was seen.
    pub fn commit(&self) -> Span {
        let sum: u128 = self.commits.iter().map(|span| u128::from(span.as_us())).sum();
        let mean = sum.checked_div(self.commits.len() as u128).unwrap_or(0);
        Span::from_us(u64::try_from(mean).expect("a mean of such numbers is one"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::class::Part;
    use super::*;

    fn class(number: usize) -> Class {
        Class { application: "sort".to_owned(), family: format!("f-{number}"), part: Part::Map }
    }

    fn sample(us: u64) -> Sample {
        Sample { bytes: Some(1), time: Span::from_us(us), worker: "w".to_owned(), place: None }
    }

    #[test]
    fn a_file_with_more_than_is_ever_kept_is_cut_to_the_newest() {
        let known = |last, n| Known { samples: (0..n).map(sample).collect(), last };
        let many = CLASSES as u64 + 3;
        let mut classes: Vec<_> = (0..many).map(|n| (class(n as usize), known(n, 1))).collect();
        classes[CLASSES].1 = known(u64::MAX, KEPT as u64 + 7);
        let commits = (0..COMMITS as u64 + 5).map(Span::from_us).collect();
        let stored = Stored { classes, commits, seen: many, ..Stored::default() };
        let mut history: TaskHistory = serde_json::from_value(serde_json::to_value(&stored).unwrap()).unwrap();
        assert_eq!((history.classes.len(), history.commits.len()), (CLASSES, COMMITS));
        assert!(history.of(&class(2)).is_empty() && history.remembered(&class(3)) == 1, "the oldest classes went");
        let kept = &history.classes[&class(CLASSES)];
        assert_eq!((kept.samples.len(), kept.last, kept.samples[0].time), (KEPT, many, Span::from_us(7)));
        history.add(class(CLASSES), sample(9));
        assert_eq!(history.remembered(&class(CLASSES)), KEPT, "and it does not grow from there");
    }

    // `bytes` of 0 is what earlier builds wrote of both.
    #[test]
    fn input_of_unknown_size_and_no_input_are_told_apart_in_a_file_and_earlier_files_read() {
        let samples = [None, Some(0), Some(7)].map(|bytes| Sample { bytes, ..sample(5) });
        let written = serde_json::to_string(&samples).unwrap();
        assert_eq!(serde_json::from_str::<[Sample; 3]>(&written).unwrap(), samples, "{written}");
        let earlier = r#"[{"bytes":0,"time":5,"worker":"w"},{"bytes":7,"time":5,"worker":"w"}]"#;
        let read: Vec<Sample> = serde_json::from_str(earlier).unwrap();
        assert_eq!(read, [samples[0].clone(), samples[2].clone()]);
    }

    #[test]
    fn promotions_that_took_longer_than_time_itself_have_a_mean() {
        let mut history = TaskHistory::default();
        (0..3).for_each(|_| history.add_commit(Span::MAX));
        assert_eq!(history.commit(), Span::MAX);
    }
}
