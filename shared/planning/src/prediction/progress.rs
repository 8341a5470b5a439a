//! What the progress of a running task tells of its time, as far as it has told the truth before.
//!
//! A task that has done a share of its work in some time takes that time over that share, if its application reports
//! progress evenly. Many do not: input is read long before it is sorted, and some jump. So a forecast notes what progress
//! said of each running task ([`Look`]), and when the task ends, that is held against what the task took. Of each class and
//! third of the way there is a line from what progress said to what was true, both as shares of the time that the model had
//! predicted; it weighs progress against the model by how much the one could tell that the other could not, and takes away
//! what progress always says too much or too little. **Where that line would not have been clearly better than the
//! model alone, or too little was seen, progress counts for nothing.**

use serde::{Deserialize, Serialize};

use super::class::Class;
use howdah_core::job::{AttemptId, Progress};
use howdah_core::time::Span;

/// Parts of a task's way that are told apart.
pub(super) const THIRDS: u8 = 3;
/// With fewer looks at tasks that have ended, progress tells nothing.
const ENOUGH: f64 = 12.0;
/// Looks count half once so many came after them.
const MOST: f64 = 600.0;
/// What is left of the model's squared errors, at most, where progress counts.
const CLEARLY: f64 = 0.8;
/// Shares beyond these are cut: a jump from nothing says next to nothing of how long a task takes.
const SHARES: [f64; 2] = [-0.9, 2.0];

/// How far a running task was, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub attempt: AttemptId,
    /// As reported; neither nothing nor all.
    pub progress: Progress,
    /// From the task's launch to that report.
    pub passed: Span,
}

/// What progress said of a running task when a forecast was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub(super) attempt: AttemptId,
    pub(super) class: Class,
    pub(super) third: u8,
    /// The time that the model had predicted for the whole task, in microseconds.
    pub(super) expected: f64,
    /// By how much of it the task takes longer, or shorter, by its progress.
    pub(super) says: f64,
}

impl Look {
    pub(super) fn new(seen: &Seen, class: Class, expected: f64) -> Look {
        let done = seen.progress.fraction().max(1e-4);
        let whole = seen.passed.as_us() as f64 / done;
        let third = ((done * f64::from(THIRDS)) as u8).min(THIRDS - 1);
        Look { attempt: seen.attempt, class, third, expected, says: share(whole, expected) }
    }
}

fn share(time: f64, expected: f64) -> f64 {
    (time / expected.max(1.0) - 1.0).clamp(SHARES[0], SHARES[1])
}

/// What looks at a class's tasks said, and what then was: sums, so that thousands of looks take a few numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Evidence {
    n: f64,
    said: f64,
    was: f64,
    said_squared: f64,
    product: f64,
    was_squared: f64,
}

/// What progress is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    offset: f64,
    slope: f64,
    /// How far tasks then still are from it, as a share of the predicted time.
    pub(super) deviation: f64,
}

impl Worth {
    /// The whole task's time in microseconds.
    pub(super) fn time(&self, look: &Look) -> f64 {
        look.expected * (1.0 + self.offset + self.slope * look.says).max(1.0 + SHARES[0])
    }
}

impl Evidence {
    /// Whether looks may have come to these sums, as each of their shares is within bounds.
    pub(super) fn can_be(&self) -> bool {
        // And a little for rounding.
        let most = self.n * SHARES[1] * SHARES[1] * (1.0 + 1e-9);
        let sums = [self.said, self.was, self.said_squared, self.product, self.was_squared];
        (0.0..=MOST).contains(&self.n) && sums.iter().all(|sum| sum.abs() <= most)
    }

    /// A task has ended that took `time` microseconds.
    pub(super) fn ended(&mut self, look: &Look, time: f64) {
        self.add(look.says, share(time, look.expected));
    }

    fn add(&mut self, said: f64, was: f64) {
        let Evidence { n, said: a, was: b, said_squared, product, was_squared } = self;
        if *n >= MOST {
            for sum in [&mut *n, &mut *a, &mut *b, &mut *said_squared, &mut *product, &mut *was_squared] {
                *sum /= 2.0;
            }
        }
        *n += 1.0;
        *a += said;
        *b += was;
        *said_squared += said * said;
        *product += said * was;
        *was_squared += was * was;
    }

    /// `None` where the model alone does as well.
    pub(super) fn worth(&self) -> Option<Worth> {
        let n = self.n;
        if n < ENOUGH {
            return None;
        }
        let (said, was) = (self.said / n, self.was / n);
        let spread = (self.said_squared - n * said * said).max(0.0);
        let together = self.product - n * said * was;
        let all = (self.was_squared - n * was * was).max(0.0);
        let without = self.was_squared / n;
        // As if one task more had had an error of its own of which progress said nothing: few looks count little.
        let slope = (together / (spread + without).max(1e-12)).clamp(0.0, 1.5);
        let left = (all - 2.0 * slope * together + slope * slope * spread).max(0.0) / (n - 2.0);
        (left < CLEARLY * without).then(|| Worth { offset: was - slope * said, slope, deviation: left.sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::{JobId, TaskKind};
    use howdah_core::models::Random;

    use super::super::class::Part;
    use super::*;

    /// What progress is worth after so many tasks that scatter by a tenth; `says` makes what progress said of the truth.
    fn worth(n: u32, says: impl Fn(f64, &mut Random) -> f64) -> Option<Worth> {
        let (mut random, mut evidence) = (Random::new(5, 1), Evidence::default());
        for _ in 0..n {
            let was = 0.1 * random.normal();
            evidence.add(says(was, &mut random), was);
        }
        evidence.worth()
    }

    #[test]
    fn even_progress_is_believed_once_enough_tasks_have_ended() {
        assert_eq!(worth(11, |was, _| was), None);
        let few = worth(12, |was, _| was).expect("it is worth something");
        let many = worth(200, |was, _| was).expect("it is worth something");
        assert!(few.slope > 0.8 && few.slope < many.slope && many.slope > 0.99, "{few:?} {many:?}");
        assert!(many.deviation < 0.01 && many.offset.abs() < 0.01, "{many:?}");
    }

    #[test]
    fn what_progress_always_says_too_much_is_taken_away() {
        let late = worth(200, |was, _| 0.5 + was).expect("it is worth something");
        let look = Look { says: 0.5, ..look(0) };
        assert!((late.time(&look) / look.expected - 1.0).abs() < 0.02, "{late:?}");
    }

    #[test]
    fn progress_that_jumps_counts_for_nothing_and_a_vague_one_for_a_part() {
        assert_eq!(worth(500, |_, random| random.normal()), None);
        assert_eq!(worth(500, |_, _| 2.0), None);
        let vague = worth(500, |was, random| was + 0.1 * random.normal()).expect("half of it is worth something");
        assert!((0.35..0.65).contains(&vague.slope), "{vague:?}");
    }

    // Once the machine was slower than what is remembered, and progress stands still until the end.
    #[test]
    fn looks_that_were_all_wrong_by_the_same_teach_that() {
        let mut evidence = Evidence::default();
        (0..50).for_each(|_| evidence.add(1.0, 0.3));
        let worth = evidence.worth().expect("it tells how slow the machine is");
        assert!((worth.time(&Look { says: 1.0, ..look(0) }) / 1e6 - 1.3).abs() < 1e-6, "{worth:?}");
    }

    #[test]
    fn new_looks_outweigh_old_ones() {
        let mut evidence = Evidence::default();
        (0..10_000).for_each(|_| evidence.add(0.0, 1.0));
        (0..3_000).for_each(|at| evidence.add(f64::from(at % 2) * 0.2, f64::from(at % 2) * 0.2));
        assert!(evidence.worth().is_some_and(|worth| worth.slope > 0.8), "{:?}", evidence.worth());
    }

    fn look(index: u32) -> Look {
        let attempt = AttemptId { job: JobId(1), kind: TaskKind::Map, index, number: 0 };
        let class = Class { application: String::new(), family: String::new(), part: Part::Map };
        Look { attempt, class, third: 0, expected: 1e6, says: 0.0 }
    }

    #[test]
    fn a_look_says_the_time_over_the_share_of_the_work() {
        let seen = |progress, passed_ms| Seen {
            attempt: look(0).attempt,
            progress: Progress::from_fraction(progress),
            passed: Span::from_ms(passed_ms),
        };
        let of = |progress, passed_ms| Look::new(&seen(progress, passed_ms), look(0).class, 10e6);
        assert!((of(0.5, 6_000).says - 0.2).abs() < 1e-9);
        assert_eq!(of(0.0001, 6_000).says, SHARES[1], "cut");
        assert_eq!([0.1, 0.34, 0.9999].map(|progress| of(progress, 1).third), [0, 1, 2]);
    }
}
