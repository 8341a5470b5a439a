//! What goes wrong between here and a name node.

/// Why something could not be read of an HDFS.
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

    /// Whether another try may end better: nobody answered, or the refusal was not of this very file.
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Unreached { .. } => true,
            Error::Refused { exception, .. } => exception != "AccessControlException" && !self.is_missing(),
            Error::Senseless { .. } => false,
        }
    }
}
