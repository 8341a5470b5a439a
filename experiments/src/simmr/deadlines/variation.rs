//! What the paper leaves open of its testbed mix: how long tasks are and how much they differ, how many reduces there
//! are, and how large the cluster is beside the jobs.

use howdah_core::job::profile::Trace;
use howdah_core::models::Random;

/// A change to every job of a trace, or to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variation {
    None,
    /// A sixteenth of the maps, each sixteen times as long.
    LongMaps,
    /// Maps with stragglers.
    Tails,
    /// Every second job is small, as most are in the Facebook workload.
    MixedSizes,
    /// Reduces in four waves.
    ManyReduces,
    /// Four times as long.
    LongReduces,
    LargeCluster,
}

/// Deviation of the logarithm of what multiplies maps; the mean stays.
const TAIL_SIGMA: f64 = 1.5;
/// The stream of a job's multipliers.
const TAILS: u64 = 2;

impl Variation {
    pub(super) const ALL: [Variation; 6] = [
        Variation::LongMaps,
        Variation::Tails,
        Variation::MixedSizes,
        Variation::ManyReduces,
        Variation::LongReduces,
        Variation::LargeCluster,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Variation::None => "as generated",
            Variation::LongMaps => "1/16 of the maps, 16 times as long",
            Variation::Tails => "maps with a lognormal tail, deviation 1.5",
            Variation::MixedSizes => "every second job of 4 maps and 1 reduce",
            Variation::ManyReduces => "256 reduces",
            Variation::LongReduces => "reduces and shuffles 4 times as long",
            Variation::LargeCluster => "256 + 256 slots",
        }
    }

    /// Of each kind.
    pub(super) fn slots(self) -> u16 {
        if self == Variation::LargeCluster { 256 } else { 64 }
    }

    pub(super) fn change(self, trace: &mut Trace) {
        let (merged, tails, reduces, longer) = match self {
            Variation::None | Variation::LargeCluster => return,
            Variation::MixedSizes => {
                for job in trace.jobs.iter_mut().step_by(2) {
                    job.n_maps = 4;
                    job.map_ms.truncate(4);
                    job.n_reduces = 1;
                }
                return;
            }
            Variation::LongMaps => (16, false, None, 1),
            Variation::Tails => (1, true, None, 1),
            Variation::ManyReduces => (1, false, Some(256), 1),
            Variation::LongReduces => (1, false, None, 4),
        };
        for (job, number) in trace.jobs.iter_mut().zip(0_u64..) {
            job.n_maps = (job.n_maps / merged).max(1);
            job.map_ms.truncate(job.n_maps as usize);
            let mut random = Random::new(number, TAILS);
            for ms in &mut job.map_ms {
                let tail = libm::exp(TAIL_SIGMA * random.normal() - TAIL_SIGMA * TAIL_SIGMA / 2.0);
                *ms = (*ms as f64 * f64::from(merged) * if tails { tail } else { 1.0 }).round() as u64;
            }
            job.n_reduces = reduces.unwrap_or(job.n_reduces);
            for list in [&mut job.first_shuffle_ms, &mut job.typical_shuffle_ms, &mut job.reduce_ms] {
                list.iter_mut().for_each(|ms| *ms *= longer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_planning::workloads::{Choices, find};

    #[test]
    fn variations_keep_the_work_of_the_maps() {
        let plain = find("simmr-testbed").expect("known").generate(&Choices::default()).expect("generates");
        let work = |trace: &Trace| trace.jobs.iter().flat_map(|job| &job.map_ms).sum::<u64>() as f64;
        for variation in Variation::ALL {
            let mut changed = plain.clone();
            variation.change(&mut changed);
            let is_other = changed != plain || variation.slots() != 64;
            assert!(is_other, "{}", variation.name());
            if variation == Variation::MixedSizes {
                continue;
            }
            let ratio = work(&changed) / work(&plain);
            assert!((0.8..1.2).contains(&ratio), "{}: {ratio}", variation.name());
        }
    }
}
