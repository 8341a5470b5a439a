//! Templates with everything that a format of attempts can hold, for the tests of those that are written, and damaged
//! texts for those that are read.

use proptest::prelude::*;

use howdah_core::job::SplitHosts;
use howdah_core::job::profile::{JobTemplate, LostAttempt, Measured};

prop_compose! {
    /// `text` with one byte changed, perhaps cut off after it.
    pub(super) fn damaged(text: &'static str)(
        at in 0..text.len(), byte in any::<u8>(), until in 0..text.len(),
    ) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = byte;
        bytes.truncate(until.max(at));
        bytes
    }
}

prop_compose! {
    pub(super) fn a_job()(
        n_maps in 1u32..6, firsts in 0u32..4, later in 0u32..4,
        ms in prop::collection::vec(0u64..10_000, 20),
        gaps in prop::collection::vec(0u64..5_000, 4),
        lost in prop::collection::vec((any::<bool>(), 0u32..4, any::<bool>(), 1u64..300), 0..6),
        known in any::<[bool; 3]>(),
    ) -> JobTemplate {
        let n_reduces = firsts + later;
        let mut numbers = std::collections::BTreeMap::new();
        let mut lost_attempts: Vec<LostAttempt> = lost.into_iter()
            .filter(|&(reduce, index, ..)| index < if reduce { n_reduces } else { n_maps })
            .map(|(reduce, index, failed, ms)| {
                let number = numbers.entry((reduce, index)).or_insert(0u16);
                *number += 1;
                LostAttempt { reduce, index, number: *number - 1, failed, speculative: false, ms }
            })
            .collect();
        // Of the first task of each kind the second try was beside the first one.
        for lost in &mut lost_attempts {
            lost.speculative = lost.number == 1 && lost.index == 0;
        }
        lost_attempts.sort_by_key(|lost| (lost.reduce, lost.index, lost.number));
        JobTemplate {
            id: "job_7_0001".to_owned(),
            n_maps,
            n_reduces,
            deadline_ms: known[0].then_some(ms[19]),
            slowstart_ppm: known[1].then_some(ms[18] as u32 * 100),
            map_ms: ms[..n_maps as usize].to_vec(),
            first_shuffle_ms: ms[6..6 + firsts as usize].to_vec(),
            typical_shuffle_ms: ms[10..10 + later as usize].to_vec(),
            reduce_ms: ms[3..3 + n_reduces as usize].to_vec(),
            commit_ms: gaps[0],
            split_hosts: if known[2] { SplitHosts::new((0..n_maps).map(|map| ["x", "y"].into_iter().take(map as usize % 3))) }
                else { SplitHosts::default() },
            maps_by_locality: [0, 0, 0, n_maps + lost_attempts.iter().filter(|lost| !lost.reduce).count() as u32],
            lost_attempts,
            outcome: "SUCCEEDED".to_owned(),
            measured: Some(Measured { launch_ms: gaps[1], maps_done_ms: gaps[1] + gaps[2], finish_ms: gaps[3] }),
            ..JobTemplate::default()
        }
    }
}
