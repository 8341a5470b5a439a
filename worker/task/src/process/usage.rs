//! What the attempt used: CPU time and memory of this process.

use std::fs::File;
use std::io::Read;

use nix::sys::resource::{UsageWho, getrusage};

/// User and system time of this process so far, in milliseconds.
pub(crate) fn cpu_ms() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return 0 };
    let ms = |time: nix::sys::time::TimeVal| time.tv_sec() * 1000 + time.tv_usec() / 1000;
    u64::try_from(ms(usage.user_time()) + ms(usage.system_time())).unwrap_or(0)
}

/// Most memory that was resident since the process or [`reset_peak`], in bytes; 0 where unknown.
pub(crate) fn peak_bytes() -> u64 {
    // One read: the kernel makes the whole text anew for each.
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
