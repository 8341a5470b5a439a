//! How a worker leaves: what it ran is held against nobody if it was asked to go.

/// How a worker leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// By its own word, or somebody's. A drained one was asked, however it goes.
    Asked,
    /// It fell silent, or was started anew without a word.
    Unasked,
}
