//! Running baselines as processes, taking their CPU time and memory, and medians.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::failure::{Failure, Outcome};

/// What a process used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) wall: Duration,
    /// User and system, of it and of the children that it waited for.
    pub(crate) cpu: Duration,
    pub(crate) peak_kib: u64,
}

/// Runs `howdah bench PART ARGS…` to its end.
pub(crate) fn run_part(part: &str, args: &[String]) -> Outcome<Used> {
    let exe = std::env::current_exe().map_err(|error| Failure::broke(format!("find this program: {error}")))?;
    let mut command = Command::new(exe);
    command.args(["bench", part]).args(args).stdin(Stdio::null()).stdout(Stdio::null());
    run_command(&mut command, &format!("bench {part}"))
}

/// Runs a command to its end.
pub(crate) fn run_command(command: &mut Command, name: &str) -> Outcome<Used> {
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| Failure::broke(format!("cannot start `{name}`: {error}")))?;
    let ended = child.wait4().map_err(|error| Failure::broke(format!("wait for `{name}`: {error}")))?;
    let wall = began.elapsed();
    if !ended.status.success() {
        return Err(Failure::broke(format!("`{name}` ended with {}", ended.status)));
    }
    Ok(Used { wall, cpu: ended.rusage.utime + ended.rusage.stime, peak_kib: ended.rusage.maxrss / 1024 })
}

/// Does what takes long in a thread of its own: the master closes connections that do not answer meanwhile.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> Outcome<T> + Send + 'static) -> Outcome<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failure::broke(format!("a part of the benchmark: {error}")))?
}

/// CPU time of this thread so far: what a computation costs, whoever else uses the machine.
pub(crate) fn thread_time() -> Outcome<Duration> {
    let spent = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    Ok(spent.map_err(|error| Failure::broke(format!("read the thread's clock: {error}")))?.into())
}

/// The middle value; the lower one of two.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The smallest value that at least this share of all does not exceed.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(median(&values), 3.0);
        assert_eq!(quantile(&values, 0.99), 5.0);
        assert_eq!(quantile(&values, 0.2), 1.0);
        assert_eq!(median(&[7.0]), 7.0);
    }
}
