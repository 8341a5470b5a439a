//! What `/proc` says about a process: whether it is still the one we mean, what it has used, its peak memory.

use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::{Process, Task};

/// A process as of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// State letter: R, S, D, Z, …
    pub(crate) state: char,
    /// Clock ticks between the machine's start and the process's: with the pid it names one process for good.
    pub(crate) start_ticks: u64,
    /// User and system time of the process itself.
    pub(crate) cpu: Duration,
    /// The same of its children that have ended and were waited for.
    pub(crate) children_cpu: Duration,
}

/// `None` when there is no such process.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    let stat = process(pid)?.stat().ok()?;
    Some(Stat {
        state: stat.state,
        start_ticks: stat.starttime,
        cpu: ticks(stat.utime + stat.stime),
        children_cpu: ticks(u64::try_from(stat.cutime + stat.cstime).unwrap_or(0)),
    })
}

fn process(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

fn ticks(n: u64) -> Duration {
    Duration::from_micros(n * 1_000_000 / procfs::ticks_per_second().max(1))
}

/// CPU time of all threads in nanoseconds as the scheduler counts it, finer than ticks; falls back to them.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let threads = process(pid)?.tasks().ok()?.flatten();
    let total = threads.filter_map(|thread| scheduled(&thread)).sum();
    // Threads that have ended are in the ticks only.
    Some(stat(pid)?.cpu.max(total))
}

/// CPU time of a process's thread of this name, as the scheduler counts it; `None` where there is no such thread, or where
/// the kernel does not count.
pub(crate) fn thread_time(pid: u32, name: &str) -> Option<Duration> {
    let mut threads = process(pid)?.tasks().ok()?.flatten();
    let thread = threads.find(|thread| thread.stat().is_ok_and(|stat| stat.comm == name))?;
    scheduled(&thread).filter(|spent| !spent.is_zero())
}

fn scheduled(thread: &Task) -> Option<Duration> {
    Some(Duration::from_nanos(thread.schedstat().ok()?.sum_exec_runtime))
}

/// Peak resident memory in KiB.
pub(crate) fn peak_kib(pid: u32) -> Option<u64> {
    process(pid)?.status().ok()?.vmhwm
}

/// Resident memory in KiB that is no file's: what the process asked for.
pub(crate) fn anonymous_kib(pid: u32) -> Option<u64> {
    process(pid)?.status().ok()?.rssanon
}

/// Whether the process that had this pid at this start still runs; zombies do not.
pub(crate) fn is_alive(pid: u32, start_ticks: u64) -> bool {
    stat(pid).is_some_and(|stat| stat.start_ticks == start_ticks && !matches!(stat.state, 'Z' | 'X'))
}

/// Sends a signal to this very process, never to a later one of the same number.
pub(crate) fn signal(pid: u32, start_ticks: u64, signal: Signal) -> bool {
    is_alive(pid, start_ticks) && kill(Pid::from_raw(pid as i32), signal).is_ok()
}

/// Whether this user may send it signals. A process that is gone is nobody's any more.
pub(crate) fn may_signal(pid: u32) -> bool {
    kill(Pid::from_raw(pid as i32), None) != Err(Errno::EPERM)
}

/// Whose process it is, by name where the machine knows one.
pub(crate) fn owner(pid: u32) -> Option<String> {
    let uid = process(pid)?.uid().ok()?;
    Some(howdah_proto::names::user_name(uid).unwrap_or_else(|| format!("user {uid}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_a_later_one_of_its_number_is_not_it() {
        let pid = std::process::id();
        let now = stat(pid).expect("this process runs");
        assert!(is_alive(pid, now.start_ticks));
        assert!(!is_alive(pid, now.start_ticks + 1));
        assert!(!signal(pid, now.start_ticks + 1, Signal::SIGKILL));
        let (peak, own) = (peak_kib(pid).expect("has memory"), anonymous_kib(pid).expect("of its own"));
        assert!(own > 0 && own <= peak, "{own} of {peak} KiB");
    }

    #[test]
    fn a_threads_time_is_its_own_and_not_that_of_its_neighbours() {
        let (busy, ready) = (std::sync::Arc::new(std::sync::Barrier::new(2)), std::sync::mpsc::channel());
        let held = busy.clone();
        let lazy = std::thread::Builder::new().name("lazy-one".to_owned()).spawn(move || {
            ready.0.send(()).expect("somebody listens");
            held.wait();
        });
        ready.1.recv().expect("it runs");
        let began = std::time::Instant::now();
        let mut rounds = 0u64;
        while began.elapsed() < Duration::from_millis(300) {
            rounds = std::hint::black_box(rounds + 1);
        }
        let spent = thread_time(std::process::id(), "lazy-one").expect("the kernel counts");
        assert!(spent < Duration::from_millis(100), "{spent:?} beside {rounds} rounds");
        assert_eq!(thread_time(std::process::id(), "nobody"), None);
        busy.wait();
        lazy.expect("it started").join().expect("it ended");
    }
}
