//! Finding and ending processes by a mark in their environment.
//!
//! Process groups would miss children that call `setsid`; the environment is inherited by all of them. Only
//! processes that carry this test's own mark are ever signalled.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wait_for;

/// Name of the variable.
const VARIABLE: &str = "CLUSTER_TEST_MARK";

/// A mark that no other cluster of any test has.
#[derive(Clone, Debug)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Mark {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Mark(format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Name and value for the environment of a process.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.0)
    }

    /// Processes that carry the mark and are no zombies, ascending, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let wanted = format!("{VARIABLE}={}", self.0);
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("list processes").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            // A process may end between the listing and the reading.
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            let carries = environment.split(|&b| b == 0).any(|variable| variable == wanted.as_bytes());
            if carries && pid != std::process::id() as i32 && alive(pid) {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push((pid, String::from_utf8_lossy(&words).replace('\0', " ").trim().to_owned()));
            }
        }
        found.sort();
        found
    }

    /// Kills all of them until none is left.
    pub(crate) fn kill_all(&self) {
        wait_for("marked processes to die", || {
            let left = self.processes();
            for (pid, _) in &left {
                // Gone already is as good.
                let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
            }
            left.is_empty().then_some(())
        });
    }

    /// Waits until none is left by itself.
    pub(crate) fn wait_until_gone(&self, after: &str) {
        wait_for(&format!("no processes after {after}, but there are {:?}", self.processes()), || {
            self.processes().is_empty().then_some(())
        });
    }
}

/// Whether the process exists and is no zombie.
pub(crate) fn alive(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return false;
    };
    // The state follows the command's name, which may hold anything but ends with the last `)`.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
