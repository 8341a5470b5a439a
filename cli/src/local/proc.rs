//! What `/proc` says about a process: whether it is still the one we mean, what it has used, its peak memory.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};

/// A process as of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// State letter: R, S, D, Z, …
    pub(crate) state: u8,
    /// Clock ticks between the machine's start and the process's: with the pid it names one process for good.
    pub(crate) start_ticks: u64,
    /// User and system time of the process itself.
    pub(crate) cpu: Duration,
    /// The same of its children that have ended and were waited for.
    pub(crate) children_cpu: Duration,
}

/// Reads `/proc/PID/stat`; `None` when there is no such process.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The name in parentheses may hold anything, a `)` included; fields are counted after the last one.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // Field 3 of proc(5) is index 0 here.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        state: *fields.first()?.as_bytes().first()?,
        start_ticks: number(22)?,
        cpu: ticks(number(14)? + number(15)?),
        children_cpu: ticks(number(16)? + number(17)?),
    })
}

fn ticks(n: u64) -> Duration {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100).max(1) as u64;
    Duration::from_micros(n * 1_000_000 / per_second)
}

/// CPU time of all threads in nanoseconds as the scheduler counts it, finer than ticks; falls back to them.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let mut total = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let Ok(text) = std::fs::read_to_string(thread.path().join("schedstat")) else { continue };
        total += text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    }
    let coarse = stat(pid)?.cpu;
    // Threads that have ended are in the ticks only.
    Some(coarse.max(Duration::from_nanos(total)))
}

/// CPU time of a process's thread of this name, as the scheduler counts it; `None` where there is no such thread, or where
/// the kernel does not count.
pub(crate) fn thread_time(pid: u32, name: &str) -> Option<Duration> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let is_it = |dir: &Path| std::fs::read_to_string(dir.join("comm")).is_ok_and(|comm| comm.trim_end() == name);
    let dir = threads.map(|thread| thread.path()).find(|dir| is_it(dir))?;
    let text = std::fs::read_to_string(dir.join("schedstat")).ok()?;
    let spent: u64 = text.split_whitespace().next()?.parse().ok()?;
    (spent > 0).then(|| Duration::from_nanos(spent))
}

/// Peak resident memory in KiB.
pub(crate) fn peak_kib(pid: u32) -> Option<u64> {
    status_kib(pid, "VmHWM:")
}

/// Resident memory in KiB that is no file's: what the process asked for.
pub(crate) fn anonymous_kib(pid: u32) -> Option<u64> {
    status_kib(pid, "RssAnon:")
}

fn status_kib(pid: u32, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// Whether the process that had this pid at this start still runs; zombies do not.
pub(crate) fn is_alive(pid: u32, start_ticks: u64) -> bool {
    stat(pid).is_some_and(|stat| stat.start_ticks == start_ticks && !matches!(stat.state, b'Z' | b'X'))
}

/// Sends a signal to this very process, never to a later one of the same number.
pub(crate) fn signal(pid: u32, start_ticks: u64, signal: Signal) -> bool {
    is_alive(pid, start_ticks) && kill(Pid::from_raw(pid as i32), signal).is_ok()
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

    #[test]
    fn a_name_with_parentheses_and_spaces_is_skipped() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 150 50 30 20 20 0 1 0 4711 1000 10 1844";
        let stat = parse_stat(text).expect("well-formed");
        assert_eq!((stat.state, stat.start_ticks), (b'S', 4711));
        assert_eq!(stat.cpu, ticks(200));
        assert_eq!(stat.children_cpu, ticks(50));
    }
}
