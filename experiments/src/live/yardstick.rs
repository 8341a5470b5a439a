//! How fast this machine is while something else runs on it: a fixed piece of work, done again and again.
//!
//! On a virtual machine a neighbour on the other thread of a core makes everything half as slow again, for milliseconds
//! or minutes, and no counter that a guest can read tells it: it is neither load nor stolen time. The same work, timed
//! by the CPU time that it took, shows it. It is small and rare enough, a few milliseconds a second, to disturb nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use howdah_shared::models::Random;
use howdah_shared::models::moments::{percentile, sorted};

/// From one piece of work to the next.
const EVERY: Duration = Duration::from_millis(500);
/// Numbers that a piece of work sorts: 256 KiB of them, less than a core's own cache.
const NUMBERS: usize = 32_768;
/// How often a piece of work makes and sorts them.
const ROUNDS: usize = 4;
/// How often the thread looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What the pieces of work took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// How many there were.
    pub(crate) pieces: usize,
    /// CPU time in milliseconds: the 5th percentile, the median, the 95th percentile; 0 without pieces.
    pub(crate) ms: [f64; 3],
}

impl Pace {
    fn of(times_ms: &[f64]) -> Pace {
        let ascending = sorted(times_ms.iter().copied());
        let at = |percent| percentile(&ascending, percent).unwrap_or(0.0);
        Pace { pieces: times_ms.len(), ms: [5.0, 50.0, 95.0].map(at) }
    }

    /// How much slower the slow pieces were than the fast ones: 0.5 is half as long again; 0 without pieces.
    pub(crate) fn unsteadiness(&self) -> f64 {
        let [fast, _, slow] = self.ms;
        if fast > 0.0 { slow / fast - 1.0 } else { 0.0 }
    }
}

/// Works until it is stopped or dropped.
pub(crate) struct Yardstick {
    stop: Arc<AtomicBool>,
    /// `None` once it was waited for, or if it never started.
    thread: Option<JoinHandle<Vec<f64>>>,
}

impl Yardstick {
    /// Begins. A machine that gives no further thread gives no measurements.
    pub(crate) fn start() -> Yardstick {
        let stop = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("yardstick".to_owned()).spawn(move || {
            let (mut times_ms, mut numbers) = (Vec::new(), Vec::new());
            while !heard.load(Ordering::Relaxed) {
                times_ms.push(piece_ms(&mut numbers));
                let until = Instant::now() + EVERY;
                while Instant::now() < until && !heard.load(Ordering::Relaxed) {
                    std::thread::sleep(LOOK);
                }
            }
            times_ms
        });
        Yardstick { stop, thread: thread.ok() }
    }

    /// Ends; what was measured.
    pub(crate) fn stop(mut self) -> Pace {
        self.stop.store(true, Ordering::Relaxed);
        let times_ms = self.thread.take().and_then(|thread| thread.join().ok());
        Pace::of(&times_ms.unwrap_or_default())
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The same numbers in the same order are sorted each time.
fn piece_ms(numbers: &mut Vec<u64>) -> f64 {
    let mut random = Random::new(0, 0);
    let (began, before) = (Instant::now(), cpu_ms());
    for _ in 0..ROUNDS {
        numbers.clear();
        numbers.extend((0..NUMBERS).map(|_| random.bits()));
        numbers.sort_unstable();
        std::hint::black_box(&numbers);
    }
    match before.zip(cpu_ms()) {
        Some((before, after)) => after - before,
        // Where the kernel does not say, waiting counts as well.
        None => began.elapsed().as_secs_f64() * 1e3,
    }
}

/// CPU time of this thread, by the kernel's own account, which it brings up to date when a thread yields.
fn cpu_ms() -> Option<f64> {
    std::thread::yield_now();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(stat.split_whitespace().next()?.parse::<f64>().ok()? / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_tells_the_usual_time_and_how_far_the_slow_are_from_the_fast() {
        let pace = Pace::of(&[2.0, 2.0, 3.0, 2.0, 2.0]);
        assert_eq!((pace.pieces, pace.ms[0], pace.ms[1]), (5, 2.0, 2.0));
        assert!((pace.unsteadiness() - 0.4).abs() < 1e-9, "{pace:?}");
        assert_eq!((Pace::of(&[]), Pace::of(&[]).unsteadiness()), (Pace::default(), 0.0));
    }

    #[test]
    fn the_same_work_is_done_until_it_is_told_to_stop() {
        let mut numbers = Vec::new();
        // Each is several times the hundred microseconds that the fastest core takes.
        let times: Vec<f64> = (0..8).map(|_| piece_ms(&mut numbers)).collect();
        assert!(times.iter().all(|&ms| ms > 0.4), "{times:?}");
        assert!(numbers.is_sorted() && numbers.len() == NUMBERS);
        let pace = Yardstick::start().stop();
        assert!(pace.pieces <= 1, "{pace:?}");
    }
}
