//! What an allocation file says, one value after another, whichever syntax it is in.

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// At the top.
    Top,
    Pool(String),
    User(String),
}

/// One value of a file, or the bare declaration of a pool or user when `key` is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) key: String,
    pub(super) value: String,
    /// From 1.
    pub(super) line: u32,
}

/// What a syntax makes of a text.
pub(super) type Entries = Result<(Vec<Entry>, Vec<String>), SyntaxError>;

/// A text that is not of its syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// From 1.
    pub(super) line: u32,
    pub(super) problem: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Top => Ok(()),
            Place::Pool(name) => write!(f, " of pool `{name}`"),
            Place::User(name) => write!(f, " of user `{name}`"),
        }
    }
}
