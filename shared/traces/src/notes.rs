//! What a reader repaired, dropped or could not read.

use std::collections::BTreeMap;

/// One kind of repair or drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How often.
    pub count: u64,
    /// Where it happened first, such as `job job_1_0001` or `line 12`.
    pub first: String,
}

/// All repairs and drops of one import, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportNotes {
    reasons: BTreeMap<String, Note>,
}

impl ImportNotes {
    /// Counts one repair or drop. `reason` is a plain sentence without numbers, such as "attempt ends before it
    /// starts: its duration counts as 0".
    pub fn add(&mut self, reason: &str, place: impl FnOnce() -> String) {
        self.add_many(reason, 1, place);
    }

    /// Counts several.
    pub fn add_many(&mut self, reason: &str, count: u64, place: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        match self.reasons.get_mut(reason) {
            Some(note) => note.count += count,
            None => {
                self.reasons.insert(reason.to_owned(), Note { count, first: place() });
            }
        }
    }

    /// By reason, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Note)> {
        self.reasons.iter().map(|(reason, note)| (reason.as_str(), note))
    }

    /// All of them as `COUNT REASON`, for tests.
    #[cfg(test)]
    pub(super) fn lines(&self) -> Vec<String> {
        self.iter().map(|(reason, note)| format!("{} {reason}", note.count)).collect()
    }

    /// Whether nothing had to be repaired or dropped.
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Takes over another import's notes.
    pub fn extend(&mut self, other: ImportNotes) {
        for (reason, note) in other.reasons {
            let first = note.first;
            self.add_many(&reason, note.count, || first);
        }
    }
}

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The source breaks.
    #[error("{place}: {source}")]
    Io {
        /// Such as `line 12` or `byte 4096`.
        place: String,
        /// Why.
        source: std::io::Error,
    },
    /// A record is not what the format says.
    #[error("{place}: found {found}, expected {expected}")]
    Malformed {
        /// Such as `line 12` or `job 17, field submitTime`.
        place: String,
        /// As given, shortened.
        found: String,
        /// A noun phrase.
        expected: String,
    },
    /// No format fits, or another one than was named.
    #[error("format: found {found}, expected {expected}")]
    Format {
        /// What the beginning looks like.
        found: String,
        /// A noun phrase.
        expected: String,
    },
}
