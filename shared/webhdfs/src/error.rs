//! What goes wrong between here and a name node.

/// Java's names of refusals that another try does not change: what is asked for cannot be, or not for this user.
const FINAL: [&str; 14] = [
    "AccessControlException",
    "FileAlreadyExistsException",
    "IllegalArgumentException",
    "InvalidPathException",
    "DSQuotaExceededException",
    "NSQuotaExceededException",
    "ParentNotDirectoryException",
    "PathComponentTooLongException",
    "MaxDirectoryItemsExceededException",
    "PathIsNotEmptyDirectoryException",
    "QuotaByStorageTypeExceededException",
    "SecurityException",
    "UnresolvedPathException",
    "UnsupportedOperationException",
];

/// Why something could not be read of an HDFS, or written to it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer, or none in time.
    #[error("{url}: {problem}")]
    Unreached {
        /// What was asked for, without its query.
        url: String,
        /// What happened.
        problem: String,
    },
    /// The other side refused.
    #[error("{url}: {exception}: {message}")]
    Refused {
        /// What was asked for, without its query.
        url: String,
        /// Java's name of the error, or the HTTP status.
        exception: String,
        /// In the other side's words; may be empty.
        message: String,
    },
    /// What was to be written could not be read here.
    #[error("{url}: what was to be written: {problem}")]
    Content {
        /// Where it was to be written, without the query.
        url: String,
        /// What happened.
        problem: String,
    },
    /// An answer that is none.
    #[error("{url}: not an answer of WebHDFS: {problem}")]
    Senseless {
        /// What was asked for, without its query.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    /// Whether the file is not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Error::Refused { exception, .. } if exception == "FileNotFoundException")
    }

    /// Whether there is something already where something was to be made.
    pub fn is_existing(&self) -> bool {
        matches!(self, Error::Refused { exception, .. } if exception == "FileAlreadyExistsException")
    }

    /// Whether a directory was to be removed in which something is.
    pub fn is_not_empty(&self) -> bool {
        matches!(self, Error::Refused { exception, .. } if exception == "PathIsNotEmptyDirectoryException")
    }

    /// Whether the file system itself is in trouble, and not what was asked of it: it gives no answer, or none that makes
    /// sense, or says that it cannot serve now.
    pub fn is_trouble(&self) -> bool {
        match self {
            Error::Unreached { .. } | Error::Senseless { .. } => true,
            Error::Content { .. } => false,
            Error::Refused { exception, .. } => {
                let now_not = ["StandbyException", "SafeModeException", "RetriableException"];
                now_not.contains(&exception.as_str()) || exception.starts_with("HTTP status 5")
            }
        }
    }

    /// Whether another try may end better: nobody answered, or the refusal was not of this very file.
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Unreached { .. } => true,
            Error::Refused { exception, .. } => !FINAL.contains(&exception.as_str()) && !self.is_missing(),
            Error::Senseless { .. } | Error::Content { .. } => false,
        }
    }
}
