//! One speed for a core whose own changes: what it can do beyond that is taken from it.
//!
//! As one sets a machine to one clock frequency before measuring on it. Where a neighbour on the core's other thread
//! slows it down no setting helps; so somebody on the core counts what it could do, and computes for nothing while it is
//! ahead of the speed that it is held at. What was missed while the core was slower still is made up for afterwards, up
//! to a point: a task sees one speed as long as it takes much longer than a few such turns.

use super::speed::of_tasks;

/// What is missed by more than this is not made up for: a core that idled for long has nothing to catch up with.
const MOST_BEHIND_MS: f64 = 250.0;
/// No longer at a time, however far it is ahead: others wait meanwhile.
const MOST_AT_ONCE_MS: f64 = 20.0;

/// Holds a core at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steady {
    /// What a piece of work takes at that speed.
    piece_ms: f64,
    /// What the core could have done beyond that speed so far, in ms at it.
    ahead_ms: f64,
}

impl Steady {
    /// At the speed at which a piece of work takes so many milliseconds.
    pub(crate) fn at(piece_ms: f64) -> Steady {
        Steady { piece_ms, ahead_ms: 0.0 }
    }

    /// CPU time in milliseconds to take from the core now. `all_ms` passed since it was asked last, others had `left_ms`
    /// of them, and a piece of work took `ms`.
    pub(crate) fn take_ms(&mut self, all_ms: f64, left_ms: f64, ms: f64) -> f64 {
        let done_ms = left_ms * of_tasks(self.piece_ms, ms);
        self.ahead_ms = (self.ahead_ms + done_ms - all_ms).max(-MOST_BEHIND_MS);
        self.ahead_ms.clamp(0.0, MOST_AT_ONCE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a core on which pieces take these times by turns, 5 ms each, go on; what others had done, in ms at the speed
    /// that it is held at, and the whole time in ms.
    fn done(steady: &mut Steady, pieces_ms: impl IntoIterator<Item = f64>) -> (f64, f64) {
        let (mut taken, mut done, mut all) = (0.0, 0.0, 0.0);
        for ms in pieces_ms {
            let turn_ms = taken + 5.0 + ms;
            taken = steady.take_ms(turn_ms, 5.0, ms);
            done += 5.0 * of_tasks(steady.piece_ms, ms);
            all += turn_ms;
        }
        (done, all + taken)
    }

    #[test]
    fn a_core_that_is_fast_and_slow_by_turns_does_what_one_of_the_held_speed_does() {
        let mut steady = Steady::at(0.16);
        let (done, all_ms) = done(&mut steady, (0..2_000).map(|n| if n % 50 < 20 { 0.15 } else { 0.1 }));
        assert!((done / all_ms - 1.0).abs() < 0.01, "{done} in {all_ms} ms");
    }

    #[test]
    fn what_was_missed_is_made_up_for_if_it_was_little() {
        let mut steady = Steady::at(0.16);
        // 20 ms at half the speed it is held at, then fast: the first turns take nothing.
        let (slow, slow_ms) = done(&mut steady, [0.32; 4]);
        let (fast, fast_ms) = done(&mut steady, [0.1; 100]);
        assert!(((slow + fast) / (slow_ms + fast_ms) - 1.0).abs() < 0.01);
        // A minute of it is lost for good.
        let _ = done(&mut steady, vec![0.32; 12_000]);
        let (_, before) = done(&mut steady, vec![0.1; 200]);
        let (later, after) = done(&mut steady, vec![0.1; 200]);
        assert!(before < after && (later / after - 1.0).abs() < 0.01);
    }

    #[test]
    fn nothing_is_taken_from_a_core_that_is_no_faster() {
        let mut steady = Steady::at(0.1);
        assert!((0..100).all(|_| steady.take_ms(5.1, 5.0, 0.12).abs() < f64::EPSILON));
    }

    #[test]
    fn others_never_wait_long_at_once() {
        assert!(Steady::at(0.2).take_ms(1_000.0, 1_000.0, 0.1) <= MOST_AT_ONCE_MS);
    }
}
