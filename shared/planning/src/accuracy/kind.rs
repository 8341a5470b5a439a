//! What a prediction is compared by.

/// What the profile was to the run that it predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The run itself.
    Own,
    /// Another run on a cluster of the same shape under the same policy.
    CrossRun,
    /// A run on another cluster or under another policy.
    CrossShape,
}

impl Kind {
    /// All, from the easiest to the hardest.
    pub const ALL: [Kind; 3] = [Kind::Own, Kind::CrossRun, Kind::CrossShape];

    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Own => "self",
            Kind::CrossRun => "cross-run",
            Kind::CrossShape => "cross-shape",
        }
    }
}
