//! Numbers in thousandths.

pub(super) fn milli(load: f64) -> u32 {
    (load.max(0.0) * 1_000.0).round().min(f64::from(u32::MAX)) as u32
}
