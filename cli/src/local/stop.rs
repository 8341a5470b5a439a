//! Stopping daemons: workers first, then the master, gracefully within a bound, then at once, then by force.
//!
//! Workers say goodbye to a master that still listens, so the recorded run ends with an orderly cluster.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::access::Process;
use super::proc;

/// A daemon that was told to stop at once may take this long for its last words.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Names of those that did not just stop when asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// Still had work and were told to leave it.
    pub(crate) hurried: Vec<String>,
    /// Had to be killed.
    pub(crate) killed: Vec<String>,
}

/// Stops the processes that are still these very processes.
pub(crate) async fn stop_processes(processes: &[Process], grace: Duration) -> Stopped {
    let deadline = Instant::now() + grace;
    let (masters, workers): (Vec<&Process>, Vec<&Process>) =
        processes.iter().partition(|process| process.name == "master");
    let mut stopped = Stopped::default();
    for group in [workers, masters] {
        // A second SIGTERM means "at once". Without workers, a master has nothing to wait for but a moment.
        let kind = deadline.max(Instant::now() + Duration::from_millis(500));
        signal_all(&group, Signal::SIGTERM);
        stopped.hurried.extend(wait_until(&group, kind).await);
        signal_all(&group, Signal::SIGTERM);
        stopped.killed.extend(wait_until(&group, Instant::now() + LAST_WORDS).await);
        signal_all(&group, Signal::SIGKILL);
        wait_until(&group, Instant::now() + LAST_WORDS).await;
    }
    stopped
}

fn signal_all(group: &[&Process], signal: Signal) {
    for process in group {
        proc::signal(process.pid, process.start_ticks, signal);
    }
}

/// Waits for all of them; returns the names of those that still run at the end.
async fn wait_until(group: &[&Process], end: Instant) -> Vec<String> {
    while group.iter().any(|process| process.is_alive()) && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    group.iter().filter(|process| process.is_alive()).map(|process| process.name.clone()).collect()
}
