//! The deadlines that are drawn, as factors of what a job takes alone.

/// Deadline factors df, in millionths: those of Figures 7 and 8.
pub(super) const FACTORS_PPM: [u32; 3] = [1_000_000, 1_500_000, 3_000_000];
