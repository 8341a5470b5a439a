//! Random traces: jobs with none to many tasks of both kinds, and times so alike that everything meets everything.

use howdah_core::job::Priority;
use howdah_core::job::profile::{JobTemplate, Trace};
use proptest::collection::vec;
use proptest::prelude::*;

/// Times of tasks: mostly so few values that ends and arrivals meet, sometimes any.
fn times() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        1 => Just(vec![]),
        3 => vec(0..4_u64, 1..6),
        2 => vec(0..60_u64, 1..40),
        1 => vec(0..5_000_000_u64, 1..40),
    ]
}

fn slowstart() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(50_000), Just(1_000_000), Just(333_333), 0..1_000_001_u32]
}

fn tasks() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 1 => Just(1), 4 => 0..8_u32, 2 => 0..50_u32]
}

prop_compose! {
    /// Any job.
    pub fn job()(
        (n_maps, n_reduces) in (tasks(), tasks()),
        (map_ms, reduce_ms, first_shuffle_ms, typical_shuffle_ms) in (times(), times(), times(), times()),
        submit_ms in prop_oneof![3 => Just(0), 3 => 0..6_u64, 1 => 0..300_u64],
        slowstart_ppm in proptest::option::of(slowstart()),
        priority in prop_oneof![4 => Just(Priority::Normal), 1 => Just(Priority::High), 1 => Just(Priority::VeryLow)],
        commit_ms in prop_oneof![4 => Just(0), 1 => 0..4_u64],
    ) -> JobTemplate {
        JobTemplate {
            n_maps, n_reduces, map_ms, reduce_ms, first_shuffle_ms, typical_shuffle_ms, submit_ms, slowstart_ppm,
            priority, commit_ms, ..JobTemplate::default()
        }
    }
}

/// Slots of a kind: one to thousands.
pub fn slots() -> impl Strategy<Value = u16> {
    prop_oneof![2 => Just(1), 2 => 2..5_u16, 2 => 5..40_u16, 1 => 1_000..5_000_u16]
}

/// Of these jobs.
pub fn trace(jobs: Vec<JobTemplate>) -> Trace {
    Trace { jobs, ..Trace::default() }
}
