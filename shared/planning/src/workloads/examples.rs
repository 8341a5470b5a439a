//! The worked examples of balanced-pools §3, for 30 map and 30 reduce slots.
//!
//! Stage durations are the paper's, in seconds, one wave of equal tasks each. The text states 30 tasks for the two
//! equal jobs and for the five jobs; for the two jobs of Figure 4 it says that they use the whole cluster.

use howdah_core::job::profile::{JobTemplate, Trace};

use super::Choices;
use super::build::job;

/// `tasks` maps of `map_s` and as many reduces of `reduce_s`; one entry stands for all of them.
fn stages(name: &str, tasks: u32, map_s: u64, reduce_s: u64) -> JobTemplate {
    let mut template = job(name, tasks, tasks);
    template.map_ms = vec![map_s * 1000];
    template.reduce_ms = vec![reduce_s * 1000];
    template
}

fn trace(jobs: impl IntoIterator<Item = JobTemplate>) -> Trace {
    Trace { jobs: jobs.into_iter().collect(), ..Trace::default() }
}

/// J1 = (20, 2) before J2 = (2, 20): makespan 42 (Figure 4a).
pub(super) fn two(_: &Choices, _: usize) -> Trace {
    trace([stages("J1", 30, 20, 2), stages("J2", 30, 2, 20)])
}

/// J2 before J1: makespan 24 (Figure 4b).
pub(super) fn two_reversed(_: &Choices, _: usize) -> Trace {
    trace([stages("J2", 30, 2, 20), stages("J1", 30, 20, 2)])
}

/// Two jobs (10, 10): 30 under FIFO, 40 under Fair (Figure 5).
pub(super) fn equal(_: &Choices, _: usize) -> Trace {
    trace([stages("J1", 30, 10, 10), stages("J2", 30, 10, 10)])
}

/// Figure 6's jobs J1 to J5: map and reduce stage in seconds.
const FIVE: [(&str, u64, u64); 5] = [("J1", 4, 5), ("J2", 1, 4), ("J3", 30, 4), ("J4", 6, 30), ("J5", 2, 3)];
/// Johnson's order of them (§3.2).
const JOHNSON: [usize; 5] = [1, 4, 0, 3, 2];

fn five_in(order: [usize; 5], tasks: impl Fn(usize) -> u32) -> Trace {
    trace(order.map(|index| stages(FIVE[index].0, tasks(index), FIVE[index].1, FIVE[index].2)))
}

/// In Figure 6's order.
pub(super) fn five(_: &Choices, _: usize) -> Trace {
    five_in([0, 1, 2, 3, 4], |_| 30)
}

/// In Johnson's order: makespan 47.
pub(super) fn five_johnson(_: &Choices, _: usize) -> Trace {
    five_in(JOHNSON, |_| 30)
}

/// In the reverse order: makespan 78.
pub(super) fn five_reversed(_: &Choices, _: usize) -> Trace {
    let mut order = JOHNSON;
    order.reverse();
    five_in(order, |_| 30)
}

/// Scenario 2 (§3.3): J3 and J4 have 20 + 20 tasks. In Johnson's order 47 again; two pools reach 40.
pub(super) fn five_two_sizes(_: &Choices, _: usize) -> Trace {
    five_in(JOHNSON, |index| if index == 2 || index == 3 { 20 } else { 30 })
}
