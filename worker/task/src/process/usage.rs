//! What the attempt used: CPU time and memory of this process and of the children that it has waited for.
//!
//! A streaming task's work is done by its command, which is such a child.

use std::fs::File;
use std::io::Read;

use nix::sys::resource::{UsageWho, getrusage};

/// User and system time so far, in milliseconds.
pub(crate) fn cpu_ms() -> u64 {
    let us = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let of = |who| getrusage(who).map_or(0, |usage| us(usage.user_time()) + us(usage.system_time()));
    u64::try_from((of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)) / 1_000).unwrap_or(0)
}

/// Most memory that this process or one of its children had, in bytes. The peak of several at the same time is only known
/// to a control group.
pub(crate) fn peak_bytes() -> u64 {
    let children = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
    own_peak_bytes().max(u64::try_from(children).unwrap_or(0) * 1024)
}

/// Most memory of this process that was resident since its start or [`reset_peak`], in bytes; 0 where unknown.
fn own_peak_bytes() -> u64 {
    // One read and one line, at the end of every attempt: `procfs` would read all of it into a table.
    let mut buffer = [0; 4096];
    let read = File::open("/proc/self/status").and_then(|mut file| file.read(&mut buffer));
    let status = String::from_utf8_lossy(&buffer[..read.unwrap_or(0)]);
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Forgets the peak, for the next attempt of a reused process. Best effort: a new process has no need of it.
pub(crate) fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_childs_time_and_memory_are_the_attempts() {
        let (cpu, peak) = (cpu_ms(), own_peak_bytes());
        // Holds 256 MiB more than this process has ever had, and is busy with it.
        let size = peak / 1024 + (256 << 10);
        let script = format!(
            "dd if=/dev/zero of=/dev/null bs={size}k count=1 2>/dev/null; i=0; while test $i -lt 200000; do i=$((i+1)); done"
        );
        let status = std::process::Command::new("sh").args(["-c", &script]).status().expect("it starts");
        assert!(status.success());
        assert!(cpu_ms() >= cpu + 20, "{} ms", cpu_ms() - cpu);
        assert!(peak_bytes() >= size * 1024, "{} bytes of {size} KiB", peak_bytes());
    }
}
