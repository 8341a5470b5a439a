//! The finished tasks that are remembered: the last of each class, so that what changed long ago is forgotten.

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
pub struct Sample {
    /// Its input: a map's split, or its share of the job's whole input if it is a reduce. 0 where unknown.
    pub bytes: u64,
    /// What it took.
    pub time: Span,
    /// Where it ran, by name.
    pub worker: String,
    /// And how that was; `None` where nothing was told, as of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
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
    fn from(Stored { classes, commits, seen, end_errors, progress }: Stored) -> TaskHistory {
        let (classes, progress) = (classes.into_iter().collect(), progress.into_iter().collect());
        TaskHistory { classes, commits, seen, end_errors, progress }
    }
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
        self.seen += 1;
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
        let sum: u64 = self.commits.iter().map(|span| span.as_us()).sum();
        Span::from_us(sum.checked_div(self.commits.len() as u64).unwrap_or(0))
    }
}
