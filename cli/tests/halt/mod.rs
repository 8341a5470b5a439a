//! Halting a process for a while, as a test means it: when this returns, none of its threads does anything any more.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::waiting::wait_within;

/// Long enough for a slow machine; reached only when something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends SIGSTOP and waits until it has done its work: it stops a process only once one of its threads gets to run, and on
/// a busy machine the others answer requests until then.
#[track_caller]
pub(crate) fn halt(pid: Pid) {
    kill(pid, Signal::SIGSTOP).expect("halt the process");
    wait_within(PATIENCE, &format!("all threads of process {pid} to be halted"), || is_halted(pid).then_some(()));
}

fn is_halted(pid: Pid) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process is there").flatten();
    let states = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    // The state follows the name, which may have anything in it.
    states.into_iter().all(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')))
}
