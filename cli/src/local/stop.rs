//! Stopping daemons: workers first, then the master, kindly within a bound, then by force.
//!
//! Workers say goodbye to a master that still listens, so the recorded run ends with an orderly cluster.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::access::Process;
use super::proc;

/// Stops the processes that are still these very processes. Returns the names of those that had to be killed.
pub(crate) async fn stop_processes(processes: &[Process], grace: Duration) -> Vec<String> {
    let deadline = Instant::now() + grace;
    let (masters, workers): (Vec<&Process>, Vec<&Process>) =
        processes.iter().partition(|process| process.name == "master");
    let mut killed = Vec::new();
    for group in [workers, masters] {
        for process in &group {
            proc::signal(process.pid, process.start_ticks, Signal::SIGTERM);
        }
        // The master gets a moment of its own even when the workers used all of the bound.
        let until = deadline.max(Instant::now() + Duration::from_millis(500));
        while group.iter().any(|process| process.is_alive()) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for process in group.iter().filter(|process| process.is_alive()) {
            proc::signal(process.pid, process.start_ticks, Signal::SIGKILL);
            killed.push(process.name.clone());
        }
    }
    // A killed process needs a moment to go.
    let gone = Instant::now() + Duration::from_secs(5);
    while processes.iter().any(Process::is_alive) && Instant::now() < gone {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    killed
}
