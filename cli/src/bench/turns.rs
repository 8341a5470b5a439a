//! Turns of a short measurement, and in which of them the core had all of its speed.
//!
//! A virtual machine shares its cores with others: while a neighbour works on a core's other thread, everything there
//! takes up to half as long again, and code that keeps the core busy loses more than code that waits for its own wrong
//! guesses. A ratio of the two then tells of the neighbour. No counter shows it; a fixed piece of work before and after
//! each turn does.

use howdah_experiments::yardstick_ms;

use crate::failure::Outcome;

/// A piece of work that took this much more than the fastest one met a neighbour. Spells make it 1.4 to 1.6 times as
/// long, undisturbed pieces differ by some hundredths.
const DISTURBED: f64 = 1.15;

/// Pieces at each end of a turn, of which the fastest counts: the first finds the caches full of something else.
const PIECES: usize = 4;

/// What was measured, turn by turn.
pub(super) struct Turns<T> {
    /// Each with the slower of the pieces around it, in milliseconds.
    all: Vec<(T, f64)>,
    fastest_ms: f64,
}

impl<T> Turns<T> {
    pub(super) fn new() -> Turns<T> {
        Turns { all: Vec::new(), fastest_ms: f64::INFINITY }
    }

    /// One turn more.
    ///
    /// # Errors
    /// Those of the measurement.
    pub(super) fn take(&mut self, measure: impl FnOnce() -> Outcome<T>) -> Outcome<&T> {
        let before = piece_ms();
        let measured = measure()?;
        self.put(measured, [before, piece_ms()]);
        Ok(&self.all[self.all.len() - 1].0)
    }

    fn put(&mut self, measured: T, [before, after]: [f64; 2]) {
        self.fastest_ms = self.fastest_ms.min(before).min(after);
        self.all.push((measured, before.max(after)));
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.all.iter().map(|(measured, _)| measured)
    }

    /// Those that began and ended at about the highest speed that any turn saw.
    pub(super) fn undisturbed(&self) -> impl Iterator<Item = &T> {
        let most = DISTURBED * self.fastest_ms;
        self.all.iter().filter(move |(_, ms)| *ms <= most).map(|(measured, _)| measured)
    }
}

fn piece_ms() -> f64 {
    (0..PIECES).map(|_| yardstick_ms()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_met_a_neighbour_at_either_end_does_not_count_once_the_full_speed_was_seen() {
        let mut turns = Turns::new();
        turns.put("slow, as far as is known", [1.5, 1.6]);
        assert_eq!(turns.undisturbed().count(), 1);
        turns.put("fast", [1.0, 1.1]);
        turns.put("from fast to slow", [1.0, 1.5]);
        turns.put("from slow to fast", [1.5, 1.0]);
        assert_eq!(turns.undisturbed().collect::<Vec<_>>(), [&"fast"]);
        assert_eq!(turns.all().count(), 4);
    }

    #[test]
    fn each_turn_is_taken_between_pieces_of_work() {
        let mut turns = Turns::new();
        assert_eq!(*turns.take(|| Ok(7)).unwrap_or(&0), 7);
        assert!(turns.fastest_ms > 0.0 && turns.all[0].1 >= turns.fastest_ms, "{}", turns.fastest_ms);
    }
}
