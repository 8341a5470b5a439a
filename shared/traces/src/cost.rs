//! From bytes to tasks and durations, for traces that tell bytes only.
//!
//! The model is deliberately plain, so that whoever reads a result can hold it in mind, and every number of it can
//! be set. Splits of a job are equal, and so are its reduces: one duration stands for all (see `JobTemplate`).
//!
//! ```text
//! maps     = ceil(input / split_bytes), at least 1
//! reduces  = ceil(shuffle / reduce_bytes), none when nothing is shuffled
//! map      = startup + (input + what leaves the maps) / maps / map_rate
//! shuffle  = shuffle / reduces / shuffle_rate
//! first    = (1 - overlap) × shuffle: what of it a first-wave reduce has left when the maps are done
//! reduce   = startup + (shuffle + output) / reduces / reduce_rate
//! ```
//!
//! What leaves the maps is the shuffle, or the output where nothing is shuffled.

use super::profiler::MAX_INSTANT_MS;

/// The rates of an imagined cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    /// Input of one map, at least 1.
    pub split_bytes: u64,
    /// Shuffled bytes of one reduce, at least 1.
    pub reduce_bytes: u64,
    /// Bytes per second through a map, read and written, at least 1.
    pub map_rate: u64,
    /// Bytes per second that one reduce fetches, at least 1.
    pub shuffle_rate: u64,
    /// Bytes per second through a reduce, merged and written, at least 1.
    pub reduce_rate: u64,
    /// Milliseconds that every task takes however little it does.
    pub startup_ms: u64,
    /// Share of the shuffle that first-wave reduces have behind them when the maps are done, in millionths.
    pub overlap_ppm: u32,
}

impl Default for CostModel {
    /// A disk-bound slot of 2009: 64 MiB splits, a gigabyte per reduce, 30 MB/s through tasks, 10 MB/s through
    /// the network, two seconds to start a JVM.
    fn default() -> CostModel {
        CostModel {
            split_bytes: 64 << 20,
            reduce_bytes: 1 << 30,
            map_rate: 30_000_000,
            shuffle_rate: 10_000_000,
            reduce_rate: 30_000_000,
            startup_ms: 2_000,
            overlap_ppm: 0,
        }
    }
}

impl CostModel {
    /// Maps for this input; `None` when they are more than a job can have.
    pub(super) fn maps(&self, input: u64) -> Option<u32> {
        u32::try_from(input.div_ceil(self.split_bytes.max(1)).max(1)).ok()
    }

    /// Reduces for this shuffle; `None` when they are more than a job can have.
    pub(super) fn reduces(&self, shuffle: u64) -> Option<u32> {
        u32::try_from(shuffle.div_ceil(self.reduce_bytes.max(1))).ok()
    }

    /// One of `maps` maps through which `bytes` pass together.
    pub(super) fn map_ms(&self, bytes: u64, maps: u32) -> u64 {
        self.startup_ms.saturating_add(ms(bytes, maps, self.map_rate)).min(MAX_INSTANT_MS)
    }

    /// One of `reduces` shuffles that fetch `bytes` together.
    pub(super) fn shuffle_ms(&self, bytes: u64, reduces: u32) -> u64 {
        ms(bytes, reduces, self.shuffle_rate)
    }

    /// What is left of a shuffle of `typical_ms` for a reduce of the first wave.
    pub(super) fn first_shuffle_ms(&self, typical_ms: u64) -> u64 {
        let left = 1_000_000 - u128::from(self.overlap_ppm.min(1_000_000));
        (u128::from(typical_ms) * left / 1_000_000) as u64
    }

    /// One of `reduces` reduces through which `bytes` pass together.
    pub(super) fn reduce_ms(&self, bytes: u64, reduces: u32) -> u64 {
        self.startup_ms.saturating_add(ms(bytes, reduces, self.reduce_rate)).min(MAX_INSTANT_MS)
    }
}

/// Milliseconds of one of `tasks` equal tasks, rounded to the nearest.
fn ms(bytes: u64, tasks: u32, rate: u64) -> u64 {
    let per_ms = u128::from(tasks.max(1)) * u128::from(rate.max(1));
    let ms = (u128::from(bytes) * 1_000 + per_ms / 2) / per_ms;
    u64::try_from(ms).unwrap_or(u64::MAX).min(MAX_INSTANT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_tasks_follows_the_bytes() {
        let model = CostModel::default();
        assert_eq!([0, 1, 64 << 20, (64 << 20) + 1].map(|bytes| model.maps(bytes)), [1, 1, 1, 2].map(Some));
        assert_eq!([0, 1, 1 << 30, (1 << 30) + 1].map(|bytes| model.reduces(bytes)), [0, 1, 1, 2].map(Some));
        assert_eq!(CostModel { split_bytes: 1, ..model }.maps(u64::MAX), None);
    }

    #[test]
    fn durations_are_bytes_over_rates() {
        let model = CostModel { overlap_ppm: 250_000, ..CostModel::default() };
        assert_eq!(model.map_ms(60_000_000, 2), 2_000 + 1_000);
        assert_eq!(model.shuffle_ms(80_000_000, 4), 2_000);
        assert_eq!(model.first_shuffle_ms(2_000), 1_500);
        assert_eq!(model.reduce_ms(0, 1), 2_000);
        assert_eq!(model.map_ms(u64::MAX, 1), MAX_INSTANT_MS);
    }
}
