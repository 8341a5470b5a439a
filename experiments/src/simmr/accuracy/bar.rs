//! The bars of an error.

/// What the project asks of one kind of prediction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    /// For the mean error.
    pub(super) mean: f64,
    /// For the largest.
    pub(super) max: Option<f64>,
}
