//! A percentage with its sign.

/// A difference in percent.
pub(super) fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}
