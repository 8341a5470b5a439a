//! What goes wrong between here and a store.

use crate::store::StoreError;

/// Why something could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The executable has no client.
    #[error("this howdah was built without S3")]
    NotBuilt,
    /// Where the store is, or who asks, is not known.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is neither an object nor a directory.
    #[error("there is nothing of this name in the bucket")]
    Missing,
    /// There is something where something was to be made.
    #[error("there is something of this name in the bucket")]
    Exists,
    /// Whoever asked does not wait any longer.
    #[error("nobody waits for it any more")]
    GivenUp,
    /// No answer, or none in time; or the store says that it is in trouble.
    #[error("{endpoint}: {problem}")]
    Unreached {
        /// The store.
        endpoint: String,
        /// What happened.
        problem: String,
    },
    /// The store refused, or its answer makes no sense.
    #[error("{endpoint}: {problem}")]
    Refused {
        /// The store.
        endpoint: String,
        /// In its words.
        problem: String,
    },
}

impl Error {
    /// Whether there is nothing.
    pub fn is_missing(&self) -> bool {
        matches!(self, Error::Missing)
    }

    /// Whether the store itself is in trouble, and not what was asked of it. Another try may end better.
    pub fn is_trouble(&self) -> bool {
        matches!(self, Error::Unreached { .. })
    }
}
