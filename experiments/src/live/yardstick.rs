//! How fast each core of this machine is while something else runs on it: a fixed piece of work, done again and again.
//!
//! On a virtual machine a neighbour on the other thread of a core makes everything half as slow again, for milliseconds
//! or minutes, and no counter that a guest can read tells it: it is neither load nor stolen time. The same work, timed
//! by the CPU time that it took, shows it. One thread stays on each core. Its pieces are small enough to disturb nobody
//! (a fiftieth of a core at most) and frequent enough to see such spells begin and end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use howdah_core::models::Random;
use nix::time::{ClockId, clock_gettime};

use super::cores;
use super::speed::{Piece, Speed};
use super::steady::Steady;

/// From one piece of work to the next, where cores are mostly idle or have a task each.
pub(crate) const OFTEN: Duration = Duration::from_millis(5);
/// The same where many tasks share a core: a yardstick that waits for the core is part of the load that others see.
pub(crate) const SELDOM: Duration = Duration::from_millis(50);
/// Numbers that a piece of work sorts: 16 KiB of them, so that what else runs keeps its caches.
const NUMBERS: usize = 2_048;
/// How often a piece of work makes and sorts them.
const ROUNDS: usize = 4;
/// From one look at how busy the core is to the next: the kernel tells it in hundredths of a second.
const LOOK: Duration = Duration::from_millis(40);
/// No more cores than these are watched: on a large machine they stand for the rest.
const MOST_CORES: usize = 16;

/// Works until it is stopped or dropped.
pub(crate) struct Yardstick {
    stop: Arc<AtomicBool>,
    threads: Vec<(usize, JoinHandle<Vec<Piece>>)>,
}

impl Yardstick {
    /// Begins, with a piece of work every so often. A machine that gives no further thread gives no measurements.
    pub(crate) fn start(every: Duration) -> Yardstick {
        Yardstick::begin(every, None)
    }

    /// The same, and holds each core at the speed at which a piece of work takes `held_ms`, as far as it is not slower.
    pub(crate) fn hold(every: Duration, held_ms: f64) -> Yardstick {
        Yardstick::begin(every, Some(Steady::at(held_ms)))
    }

    fn begin(every: Duration, steady: Option<Steady>) -> Yardstick {
        let stop = Arc::new(AtomicBool::new(false));
        let begin = |core: usize| {
            let stopped = Arc::clone(&stop);
            let thread = std::thread::Builder::new().name(format!("yardstick-{core}"));
            Some((core, thread.spawn(move || cores::on(core, || pieces(core, every, steady, &stopped))).ok()?))
        };
        let threads = cores::allowed().into_iter().take(MOST_CORES).filter_map(begin).collect();
        Yardstick { stop, threads }
    }

    /// Ends; what was measured.
    pub(crate) fn stop(mut self) -> Speed {
        self.stop.store(true, Ordering::Relaxed);
        let ended = std::mem::take(&mut self.threads).into_iter();
        Speed::new(ended.map(|(core, thread)| (core, thread.join().unwrap_or_default())))
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn pieces(core: usize, every: Duration, mut steady: Option<Steady>, stop: &AtomicBool) -> Vec<Piece> {
    let (mut pieces, mut numbers) = (Vec::<Piece>::new(), Vec::new());
    let mut turn = Turn::begin();
    let (mut looked, mut since, mut before) = (Instant::now(), 0, cores::ticks(core));
    while !stop.load(Ordering::Relaxed) {
        let ms = piece_ms(&mut numbers);
        let mut left = 1.0;
        if let Some(steady) = &mut steady {
            let (all_ms, left_ms) = turn.end();
            left = left_ms / all_ms;
            spend(steady.take_ms(all_ms, left_ms, ms));
        }
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        pieces.push(Piece { at_us: at.as_micros() as u64, ms, left, busy: 1.0 });
        if looked.elapsed() >= LOOK {
            let now = cores::ticks(core);
            if let Some(busy) = before.zip(now).and_then(|(before, now)| now.busy_since(before)) {
                pieces[since..].iter_mut().for_each(|piece| piece.busy = busy);
            }
            (looked, since, before) = (Instant::now(), pieces.len(), now);
        }
        std::thread::sleep(every);
    }
    pieces
}

/// The time from one piece of work to the next.
struct Turn {
    began: Instant,
    own_ms: f64,
}

impl Turn {
    fn begin() -> Turn {
        Turn { began: Instant::now(), own_ms: cpu_ms().unwrap_or_default() }
    }

    /// How many milliseconds it had, and how many of them this thread left to others. The next one begins.
    fn end(&mut self) -> (f64, f64) {
        let now = Turn::begin();
        let all_ms = now.began.duration_since(self.began).as_secs_f64() * 1e3;
        let own_ms = now.own_ms - self.own_ms;
        *self = now;
        (all_ms, (all_ms - own_ms).max(0.0))
    }
}

/// Computes for nothing until it has had so much CPU time.
fn spend(ms: f64) {
    let Some(before) = cpu_ms().filter(|_| ms > 0.0) else { return };
    while cpu_ms().is_some_and(|now| now - before < ms) {
        std::hint::spin_loop();
    }
}

/// CPU time in milliseconds that the fixed piece of work takes on this thread's core now.
pub fn yardstick_ms() -> f64 {
    piece_ms(&mut Vec::new())
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

/// CPU time of this thread.
fn cpu_ms() -> Option<f64> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
    Some(time.tv_sec() as f64 * 1e3 + time.tv_nsec() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_work_is_done_on_every_core_until_it_is_told_to_stop() {
        let mut numbers = Vec::new();
        // Each is several times the microseconds that the fastest core takes.
        let times: Vec<f64> = (0..8).map(|_| piece_ms(&mut numbers)).collect();
        assert!(times.iter().all(|&ms| ms > 0.01), "{times:?}");
        assert!(numbers.is_sorted() && numbers.len() == NUMBERS);
        let yardstick = Yardstick::start(OFTEN);
        let cores = yardstick.threads.len();
        assert_eq!(cores, cores::allowed().len().min(MOST_CORES));
        // The first piece needs no more than a thread that begins.
        std::thread::sleep(20 * OFTEN);
        let pace = yardstick.stop().pace();
        assert!(pace.pieces >= cores, "{pace:?}");
        assert!(pace.ms[0] > 0.01 && pace.ms[0] <= pace.ms[2], "{pace:?}");
    }
}
