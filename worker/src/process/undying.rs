//! What is known of a process that waits in the kernel: one that was killed and does not end, or one that says nothing more.
//!
//! A process that waits in the kernel dies when that wait is over. A network file system whose server does not answer lets
//! it wait for ever: the signal is noted, and the process stays in state D. Nothing more can be done to it from here, so its
//! attempt is given up, and people are told what it waits for.

use procfs::process::{ProcState, Process};

/// A process by its number, with the state that keeps it alive and where in the kernel it waits, as far as that is told.
pub(super) fn describe(pid: i32) -> String {
    match waiting(pid) {
        Some(place) if !place.is_empty() => format!("process {pid}, state D at `{place}`"),
        Some(_) => format!("process {pid}, state D"),
        None => format!("process {pid}"),
    }
}

/// As [`describe`], of a process that waits for a disk or a file system; `None` of one that does not.
pub(super) fn held_up(pid: i32) -> Option<String> {
    if waiting(pid).is_some() {
        return Some(describe(pid));
    }
    let place = asks_a_program(pid)?;
    Some(format!("process {pid}, at `{place}`"))
}

/// Where the process, or one of its threads, waits and cannot be woken; empty where the kernel does not say.
fn waiting(pid: i32) -> Option<String> {
    let process = Process::new(pid).ok()?;
    let in_kernel = |state: procfs::ProcResult<procfs::process::Stat>| {
        state.ok().and_then(|stat| stat.state().ok()) == Some(ProcState::Waiting)
    };
    if in_kernel(process.stat()) {
        return Some(place(&format!("/proc/{pid}/wchan")));
    }
    let mut threads = process.tasks().ok()?.flatten();
    let thread = threads.find(|thread| in_kernel(thread.stat()))?;
    Some(place(&format!("/proc/{pid}/task/{}/wchan", thread.tid)))
}

/// Where the process waits for the answer of a file system that is a program (FUSE): a signal would still wake it, so that it
/// does not count as one that cannot be woken.
fn asks_a_program(pid: i32) -> Option<String> {
    let mut threads = Process::new(pid).ok()?.tasks().ok()?.flatten();
    let places = threads.by_ref().map(|thread| place(&format!("/proc/{pid}/task/{}/wchan", thread.tid)));
    { places }.find(|place| place == "request_wait_answer" || place.contains("fuse"))
}

fn place(wchan: &str) -> String {
    let place = std::fs::read_to_string(wchan).unwrap_or_default();
    // Who may not know is told `0`.
    if place == "0" { String::new() } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_wait_in_the_kernel_or_is_gone_is_its_number() {
        let own = std::process::id() as i32;
        assert_eq!(describe(own), format!("process {own}"));
        assert_eq!(describe(i32::MAX), format!("process {}", i32::MAX));
    }
}
