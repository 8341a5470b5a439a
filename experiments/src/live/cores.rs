//! Which cores this process may use, and how something is started on one of them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// This thread.
const HERE: Pid = Pid::from_raw(0);

/// Numbers of the cores that this thread may use, ascending; empty where the kernel does not say.
pub(crate) fn allowed() -> Vec<usize> {
    sched_getaffinity(HERE).map(|set| of(&set)).unwrap_or_default()
}

/// Does something on one core alone; what it starts inherits that. Where the kernel does not let it, on any core.
pub(crate) fn on<T>(core: usize, act: impl FnOnce() -> T) -> T {
    let before = sched_getaffinity(HERE);
    let mut one = CpuSet::new();
    if one.set(core).is_ok() {
        // On another core it is done as well.
        let _ = sched_setaffinity(HERE, &one);
    }
    let done = act();
    if let Ok(before) = before {
        let _ = sched_setaffinity(HERE, &before);
    }
    done
}

/// What a core has done since the machine began, in hundredths of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    idle: u64,
    all: u64,
}

impl Ticks {
    /// The share of the time since then in which the core had something to do; `None` if none has passed.
    pub(crate) fn busy_since(self, before: Ticks) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|&all| all > 0)?;
        Some(1.0 - self.idle.saturating_sub(before.idle).min(all) as f64 / all as f64)
    }
}

/// By the kernel's account; `None` where it has none.
pub(crate) fn ticks(core: usize) -> Option<Ticks> {
    ticks_in(&std::fs::read_to_string("/proc/stat").ok()?, core)
}

fn ticks_in(stat: &str, core: usize) -> Option<Ticks> {
    let columns = columns(stat, &format!("cpu{core}"))?;
    Some(Ticks { idle: columns.get(3)? + columns.get(4)?, all: columns.iter().sum() })
}

/// A line of `/proc/stat`, `cpu` being that of all cores together: user, nice, system, idle, waiting for a disk,
/// interrupts of two kinds, stolen, as far as they are there; what guests had is in user. By name: `procfs` numbers the lines,
/// and a core that is switched off has none.
pub(crate) fn columns(stat: &str, name: &str) -> Option<Vec<u64>> {
    let mut words = stat.lines().map(str::split_whitespace).find(|words| words.clone().next() == Some(name))?;
    words.next();
    Some(words.take(8).map_while(|word| word.parse().ok()).collect())
}

fn of(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_on_a_core_has_that_core_only_and_is_free_again_afterwards() {
        let before = allowed();
        let last = *before.last().expect("a core");
        assert_eq!(on(last, allowed), [last]);
        assert_eq!(allowed(), before);
    }

    #[test]
    fn how_busy_a_core_was_is_in_its_own_line() {
        let stat = "cpu  30 0 0 300 0 0 0 0 9 0\ncpu1 10 1 4 100 5 2 3 5 9 0\ncpu11 1 1 1 1 1 1 1 1\n";
        let before = ticks_in(stat, 1).expect("its line");
        assert_eq!(before, Ticks { idle: 105, all: 130 });
        let later = Ticks { idle: 108, all: 140 };
        assert!(later.busy_since(before).is_some_and(|busy| (busy - 0.7).abs() < 1e-9));
        assert_eq!((before.busy_since(before), ticks_in(stat, 2)), (None, None));
        assert!(ticks(allowed()[0]).is_some_and(|ticks| ticks.all > 0));
    }
}
