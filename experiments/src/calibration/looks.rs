//! How many tasks run or wait for a core while something is measured.
//!
//! The kernel's count of the whole machine, as a worker's vitals take it, looked at some fifty times a second. It tells
//! whether only the load that was meant ran beside the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};

/// Between two looks, on average.
const EVERY: Duration = Duration::from_millis(20);

/// Someone who looks until asked for the mean.
pub(super) struct Looks {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Looks {
    /// Begins.
    ///
    /// # Errors
    /// When the machine gives no thread.
    pub(super) fn start() -> Result<Looks> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let look = move || {
            let (mut sum, mut n) = (0.0, 0u32);
            while !stopped.load(Ordering::Relaxed) {
                let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
                // Less the thread that looks.
                sum += running_in(&text).map_or(0.0, |running| f64::from(running.saturating_sub(1)));
                n += 1;
                // Uneven, or what keeps the same pace would always or never be seen.
                let uneven = f64::from(n.wrapping_mul(0x9E37_79B1) >> 16) / f64::from(1 << 16);
                std::thread::sleep(EVERY.mul_f64(0.5 + uneven));
            }
            sum / f64::from(n.max(1))
        };
        let thread = std::thread::Builder::new().name("looks".to_owned()).spawn(look);
        Ok(Looks { stop, thread: thread.context("start the thread that looks at the load")? })
    }

    /// Tasks that ran or waited, on average, whoever's they were.
    ///
    /// # Errors
    /// When the thread is gone.
    pub(super) fn mean(self) -> Result<f64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("look at the load: its thread has failed")
    }
}

/// Of `/proc/loadavg`: the tasks that run or wait now.
fn running_in(loadavg: &str) -> Option<u32> {
    loadavg.split_ascii_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_tasks_are_the_fourth_word_up_to_the_slash() {
        assert_eq!(running_in("0.70 0.52 0.44 3/511 27181\n"), Some(3));
        assert_eq!(running_in("0.70 0.52"), None);
    }

    #[test]
    fn a_busy_task_is_seen() {
        // Other tests may run beside this one and only add to it.
        let looks = Looks::start().expect("a thread");
        let end = std::time::Instant::now() + Duration::from_millis(300);
        let mut rounds = 0u64;
        while std::time::Instant::now() < end {
            rounds = std::hint::black_box(rounds + 1);
        }
        let mean = looks.mean().expect("it looked");
        assert!(mean > 0.7, "{mean} while one task was busy for {rounds} rounds");
    }
}
