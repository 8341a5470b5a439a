//! Threads that are busy for a share of the time, and what they achieved.
//!
//! The first thread holds the first whole task of the load, the next the second; one holds the fraction by turns of
//! work and sleep. A turn counts from when the thread should have woken: waiting for a core is load too. What a turn
//! gets too much or too little the next ones make up for, so the mean holds also where cores are short.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Rounds of work between two looks at the clock: some tens of microseconds.
const ROUNDS: u32 = 20_000;
/// A turn of work and sleep, on average. Short against the seconds over which load is measured.
const TURN: Duration = Duration::from_millis(20);
/// Parts of a task that is always busy.
const WHOLE: u32 = 1_000_000;

/// Threads under one load.
#[derive(Debug)]
pub(crate) struct Spinners {
    all: Vec<Arc<Spinner>>,
}

/// One thread's orders and its account.
#[derive(Debug, Default)]
struct Spinner {
    /// Of its time, in millionths.
    share: AtomicU32,
    /// Time that it was busy or waited for a core.
    busy_us: AtomicU64,
    /// Whether it is to end.
    stop: AtomicBool,
    idle: Mutex<()>,
    woken: Condvar,
}

impl Spinners {
    /// As many as the largest load needs; none is busy yet.
    ///
    /// # Errors
    /// When the machine gives no more threads.
    pub(crate) fn start(largest: f64) -> std::io::Result<Spinners> {
        let mut spinners = Spinners { all: Vec::new() };
        for n in 0..largest.ceil() as u32 {
            let spinner = Arc::new(Spinner::default());
            let own = spinner.clone();
            std::thread::Builder::new().name("load".to_owned()).stack_size(64 << 10).spawn(move || own.run(n))?;
            spinners.all.push(spinner);
        }
        Ok(spinners)
    }

    /// Holds this load from now on.
    pub(crate) fn hold(&self, load: f64) {
        for (n, spinner) in self.all.iter().enumerate() {
            let share = ((load - n as f64).clamp(0.0, 1.0) * f64::from(WHOLE)).round() as u32;
            let _idle = spinner.idle.lock().unwrap_or_else(PoisonError::into_inner);
            spinner.share.store(share, Ordering::Relaxed);
            spinner.woken.notify_one();
        }
    }

    /// The time that all threads together were busy or waited for a core.
    pub(crate) fn busy(&self) -> Duration {
        Duration::from_micros(self.all.iter().map(|spinner| spinner.busy_us.load(Ordering::Relaxed)).sum())
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for spinner in &self.all {
            let _idle = spinner.idle.lock().unwrap_or_else(PoisonError::into_inner);
            spinner.stop.store(true, Ordering::Relaxed);
            spinner.woken.notify_one();
        }
    }
}

impl Spinner {
    fn run(&self, n: u32) {
        let mut work = Work(u64::from(n) + 1);
        let mut turns = n;
        // Too much that was done, in seconds; below 0 it is owed.
        let mut excess = 0.0_f64;
        while !self.stop.load(Ordering::Relaxed) {
            let share = f64::from(self.share.load(Ordering::Relaxed)) / f64::from(WHOLE);
            let began = Instant::now();
            if share <= 0.0 {
                excess = 0.0;
                let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                let nothing =
                    |(): &mut ()| self.share.load(Ordering::Relaxed) == 0 && !self.stop.load(Ordering::Relaxed);
                drop(self.woken.wait_while(idle, nothing).unwrap_or_else(PoisonError::into_inner));
                continue;
            }
            // Turns of one length could keep pace with whoever measures.
            turns = turns.wrapping_add(1);
            let uneven = 0.75 + f64::from(turns.wrapping_mul(0x9E37_79B1) >> 16) / f64::from(1 << 17);
            let turn = TURN.as_secs_f64() * uneven;
            let wanted = share * turn;
            let busy = if share >= 1.0 { turn } else { (wanted - excess).clamp(0.0, turn) };
            work.until(began + Duration::from_secs_f64(busy));
            let mut spent = began.elapsed().as_secs_f64();
            if spent < turn && share < 1.0 {
                let wake = began + Duration::from_secs_f64(turn);
                std::thread::sleep(wake.saturating_duration_since(Instant::now()));
                // The kernel's slack is a little of that; the wait for a core is the rest.
                spent += wake.elapsed().as_secs_f64();
            }
            self.busy_us.fetch_add((spent * 1e6) as u64, Ordering::Relaxed);
            let whole = began.elapsed().as_secs_f64();
            excess = if share < 1.0 { (excess + spent - share * whole).clamp(-1.0, 1.0) } else { 0.0 };
        }
    }
}

/// Work that needs a core and nothing else.
struct Work(u64);

impl Work {
    fn until(&mut self, end: Instant) {
        while Instant::now() < end {
            for _ in 0..ROUNDS {
                self.0 ^= self.0 << 13;
                self.0 ^= self.0 >> 7;
                self.0 ^= self.0 << 17;
            }
            std::hint::black_box(self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_held_by_turns_and_a_whole_task_without_pause() {
        let spinners = Spinners::start(1.5).unwrap();
        spinners.hold(1.5);
        let began = Instant::now();
        let mut mean = 0.0;
        // Until the mean is that of many turns; a bound only for a machine that gives no turns at all.
        while began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(200));
            mean = spinners.busy().as_secs_f64() / began.elapsed().as_secs_f64();
            if began.elapsed() > Duration::from_secs(1) && (mean - 1.5).abs() < 0.08 {
                return;
            }
        }
        panic!("a load of 1.5 came out as {mean}");
    }

    #[test]
    fn nothing_is_done_for_no_load() {
        let spinners = Spinners::start(2.0).unwrap();
        spinners.hold(0.0);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(spinners.busy(), Duration::ZERO);
        spinners.hold(1.0);
        let began = Instant::now();
        while spinners.busy().is_zero() {
            assert!(began.elapsed() < Duration::from_secs(20), "it was woken");
            std::thread::yield_now();
        }
    }
}
