//! What an attempt leaves in the place of a file: an upload that has all bytes, and that the master completes or drops.

use serde::{Deserialize, Serialize};

/// An upload that is not completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Where the object is to be.
    pub path: String,
    /// Its bytes.
    pub length: u64,
    /// The store's name of the upload; none of an empty object.
    pub upload: Option<String>,
    /// What the store said of each part.
    pub tags: Vec<String>,
}

impl Pending {
    /// As it is kept in the store.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text and numbers are JSON")
    }

    /// As it was kept, if it is one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Pending> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_note_is_none() {
        let pending = Pending { path: "/out/part".to_owned(), length: 0, upload: None, tags: Vec::new() };
        assert_eq!(Pending::from_bytes(&pending.to_bytes()), Some(pending));
        for none in ["", "{}", "part"] {
            assert_eq!(Pending::from_bytes(none.as_bytes()), None);
        }
    }
}
