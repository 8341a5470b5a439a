//! What a yardstick showed: how long the same piece of work took on each core, over time.

use std::collections::BTreeMap;

use howdah_core::models::moments::{percentile, sorted};
use howdah_core::time::Time;

/// A piece of work that was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// Its end, in microseconds since the epoch.
    pub(crate) at_us: u64,
    /// Its CPU time in milliseconds.
    pub(crate) ms: f64,
    /// The share of the time before it that was left to others; 1 unless the core is held at one speed.
    pub(crate) left: f64,
    /// The share of the time around it in which the core had something to do.
    pub(crate) busy: f64,
}

/// A piece that took so many times the fast ones' time was interrupted: no neighbour does that.
const INTERRUPTED: f64 = 2.5;
/// Nobody takes more than all but this of a core.
const LEAST_LEFT: f64 = 0.01;
/// Where the piece takes so many times as long, tasks take that to this power: sorting numbers in a core's own cache is
/// nothing but computing, and loses more to a neighbour than work that waits for memory as well. Found by timing word
/// count, grep and sort beside it.
const TASKS: f64 = 0.85;
/// An idle core counts for so little beside a busy one that nothing else is known of it.
const IDLE: f64 = 1e-3;

/// How many times as fast tasks are on a core that does the piece of work in `ms` as on one that takes `plain_ms` for it.
pub(super) fn of_tasks(plain_ms: f64, ms: f64) -> f64 {
    libm::pow(plain_ms / ms, TASKS)
}

impl Piece {
    /// What the same work would have taken of somebody who had all that was left.
    fn left_ms(&self) -> f64 {
        self.ms / self.left.max(LEAST_LEFT)
    }

    /// How fast tasks were, 1 being that of a core that takes `plain_ms`.
    fn tasks(&self, plain_ms: f64) -> f64 {
        of_tasks(plain_ms, self.ms) * self.left.max(LEAST_LEFT)
    }

    /// How much it counts beside those of other cores.
    fn share(&self) -> f64 {
        self.busy.max(IDLE)
    }
}

/// What the pieces of work took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// How many there were.
    pub(crate) pieces: usize,
    /// CPU time in milliseconds: the 5th percentile, the median, the 95th percentile; 0 without pieces.
    pub(crate) ms: [f64; 3],
}

impl Pace {
    fn of(times_ms: impl Iterator<Item = f64>) -> Pace {
        let ascending = sorted(times_ms);
        let at = |percent| percentile(&ascending, percent).unwrap_or(0.0);
        Pace { pieces: ascending.len(), ms: [5.0, 50.0, 95.0].map(at) }
    }

    /// How much slower the slow pieces were than the fast ones: 0.5 is half as long again; 0 without pieces.
    pub(crate) fn unsteadiness(&self) -> f64 {
        let [fast, _, slow] = self.ms;
        if fast > 0.0 { slow / fast - 1.0 } else { 0.0 }
    }
}

/// Each core's speed over time. A core at speed 1 does the piece of work in the time that the caller names, which cancels
/// out wherever two speeds are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Speed {
    /// By number; in order of time.
    cores: BTreeMap<usize, Vec<Piece>>,
}

impl Speed {
    /// From each core's pieces, without those that something interrupted within the kernel's own account.
    pub(crate) fn new(cores: impl Iterator<Item = (usize, Vec<Piece>)>) -> Speed {
        let mut speed = Speed { cores: cores.collect() };
        let most_ms = speed.pace().ms[0] * INTERRUPTED;
        speed.cores.values_mut().for_each(|pieces| pieces.retain(|piece| piece.ms <= most_ms));
        speed.cores.retain(|_, pieces| !pieces.is_empty());
        speed
    }

    /// Of all cores together.
    pub(crate) fn pace(&self) -> Pace {
        Pace::of(self.cores.values().flatten().map(|piece| piece.ms))
    }

    /// In steps of millionths from an instant in ms since the epoch on, of one core; or where none is named, the mean of
    /// all, each as far as it is busy: nobody knows which of them a task is on, but it is on none that idles. What holds
    /// at the instant and each change after it. A core at speed 1,000,000 does the piece in `plain_ms`.
    pub(crate) fn steps(&self, core: Option<usize>, from_ms: u64, plain_ms: f64) -> Vec<(Time, u32)> {
        let cores: Vec<&Vec<Piece>> = match core.and_then(|core| self.cores.get(&core)) {
            Some(pieces) => vec![pieces],
            None => self.cores.values().collect(),
        };
        let mut changes: Vec<(usize, &Piece)> = Vec::new();
        for (n, pieces) in cores.iter().enumerate() {
            changes.extend(pieces.iter().map(|piece| (n, piece)));
        }
        changes.sort_by_key(|&(n, piece)| (piece.at_us, n));
        // Before its first piece a core is as it is then.
        let mut now: Vec<&Piece> = cores.iter().map(|pieces| &pieces[0]).collect();
        let mut steps: Vec<(Time, u32)> = Vec::new();
        for (n, piece) in changes {
            now[n] = piece;
            let sum: f64 = now.iter().map(|piece| piece.share() * piece.tasks(plain_ms)).sum();
            let mean = sum / now.iter().map(|piece| piece.share()).sum::<f64>();
            let at = Time::from_us(piece.at_us.saturating_sub(from_ms * 1_000));
            let step = (at, (mean * 1e6).round().max(1.0) as u32);
            match steps.last_mut() {
                Some(last) if last.0 == at => *last = step,
                _ => steps.push(step),
            }
        }
        steps
    }

    /// The mean over all of the time and all cores, each as far as it was busy, in pieces of work per millisecond; `None`
    /// where nothing was measured.
    pub(crate) fn mean(&self) -> Option<f64> {
        let (mut sum, mut shares) = (0.0, 0.0);
        for piece in self.cores.values().flatten() {
            sum += piece.share() / piece.left_ms();
            shares += piece.share();
        }
        (shares > 0.0).then(|| sum / shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(times_ms: &[f64]) -> Vec<Piece> {
        (0..).zip(times_ms).map(|(n, &ms)| Piece { at_us: 1_000_000 + n * 10_000, ms, left: 1.0, busy: 1.0 }).collect()
    }

    #[test]
    fn a_pace_tells_the_usual_time_and_how_far_the_slow_are_from_the_fast() {
        let pace = Pace::of([2.0, 2.0, 3.0, 2.0, 2.0].into_iter());
        assert_eq!((pace.pieces, pace.ms[0], pace.ms[1]), (5, 2.0, 2.0));
        assert!((pace.unsteadiness() - 0.4).abs() < 1e-9, "{pace:?}");
        assert_eq!((Pace::of(std::iter::empty()), Pace::default().unsteadiness()), (Pace::default(), 0.0));
    }

    #[test]
    fn a_cores_speed_follows_its_pieces_without_the_interrupted_ones() {
        let speed = Speed::new([(3, core(&[1.0, 1.0, 7.0, 1.0, 2.0]))].into_iter());
        let at = |ms: u64| Time::from_ms(ms);
        // Tasks lose less than the piece: 0.5 to the power of 0.85.
        let steps = [(at(0), 1_000_000), (at(20), 1_000_000), (at(30), 554_785)];
        assert_eq!(speed.steps(Some(3), 1_010, 1.0), steps, "what came before the instant holds at it");
        assert_eq!(speed.pace().pieces, 4);
    }

    #[test]
    fn a_core_that_idles_says_nothing_of_the_others() {
        let mut idle = core(&[2.0; 3]);
        idle.iter_mut().for_each(|piece| piece.busy = 0.0);
        let speed = Speed::new([(0, core(&[1.0; 3])), (1, idle)].into_iter());
        assert!(speed.steps(None, 1_000, 1.0).iter().all(|step| step.1 > 999_000), "{speed:?}");
        assert!(speed.mean().is_some_and(|mean| mean > 0.999), "{speed:?}");
    }

    #[test]
    fn without_a_core_named_it_is_the_mean_of_all() {
        let speed = Speed::new([(0, core(&[1.0; 3])), (1, core(&[2.0; 3]))].into_iter());
        assert!(speed.steps(None, 1_000, 1.0).iter().all(|step| step.1 == 777_392), "{speed:?}");
        assert!(speed.mean().is_some_and(|mean| (mean - 0.75).abs() < 1e-9));
        assert_eq!((Speed::default().steps(None, 0, 1.0), Speed::default().mean()), (Vec::new(), None));
    }
}
