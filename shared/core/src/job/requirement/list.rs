//! All requirements of a job, and the attributes of a worker as they are read and written.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Requirement, RequirementError};

/// Requirements of one job.
pub const MAX_REQUIREMENTS: usize = 64;

/// All that a job requires of a worker; several of one name are allowed.
///
/// Sorted and without repetition, so that two jobs that require the same are equal. In files a list of texts; a table of
/// names and values, as earlier versions wrote it, reads as so many `name=value`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Requirements(Box<[Requirement]>);

impl Requirements {
    /// Of these.
    ///
    /// # Errors
    /// When there are more than [`MAX_REQUIREMENTS`].
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Result<Requirements, RequirementError> {
        let mut list: Vec<Requirement> = requirements.into_iter().collect();
        list.sort();
        list.dedup();
        match list.len() {
            found if found > MAX_REQUIREMENTS => Err(RequirementError::TooMany { found }),
            _ => Ok(Requirements(list.into())),
        }
    }

    /// Reads each text.
    ///
    /// # Errors
    /// Names the first text that is no requirement, or their number.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Requirements, RequirementError> {
        let list: Result<Vec<Requirement>, _> = texts.iter().map(|text| text.as_ref().parse()).collect();
        Requirements::new(list?)
    }

    /// Whether any worker will do.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each, ascending by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Requirement> {
        self.0.iter()
    }

    /// Each as text.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(Requirement::to_string).collect()
    }
}

impl<'a> IntoIterator for &'a Requirements {
    type Item = &'a Requirement;
    type IntoIter = std::slice::Iter<'a, Requirement>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().join(", "))
    }
}

impl Serialize for Requirements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Requirement::to_string))
    }
}

impl<'de> Deserialize<'de> for Requirements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Requirements, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Requirements;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of requirements such as [\"gpu>=1\", \"rack=r2\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Requirements, A::Error> {
        let mut texts: Vec<String> = Vec::new();
        while let Some(text) = seq.next_element()? {
            texts.push(text);
        }
        Requirements::parse(&texts).map_err(A::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Requirements, A::Error> {
        let mut pairs: BTreeMap<String, String> = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            pairs.insert(name, value);
        }
        let texts: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        Requirements::parse(&texts).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_of_one_name_are_kept_and_repetitions_are_not() {
        let list = Requirements::parse(&["ram<64", "gpu", "ram>=8", "gpu"]).expect("three");
        assert_eq!(list.texts(), ["gpu", "ram>=8", "ram<64"]);
        assert_eq!(list, Requirements::parse(&["gpu", "ram>=8", "ram<64"]).expect("the same"));
        assert_eq!(list.to_string(), "gpu, ram>=8, ram<64");
        let many: Vec<String> = (0..=MAX_REQUIREMENTS).map(|n| format!("n{n}")).collect();
        let error = Requirements::parse(&many).expect_err("too many");
        assert_eq!(error.to_string(), "65 requirements, expected at most 64");
    }

    #[test]
    fn files_have_a_list_and_those_of_earlier_versions_a_table() {
        let list = Requirements::parse(&["gpu>=1", "rack=r2"]).expect("two");
        let json = serde_json::to_string(&list).expect("it serialises");
        assert_eq!(json, r#"["gpu>=1","rack=r2"]"#);
        assert_eq!(serde_json::from_str::<Requirements>(&json).expect("the same"), list);
        let old: Requirements = serde_json::from_str(r#"{"rack":"r2","gpu":"yes"}"#).expect("a table");
        assert_eq!(old.texts(), ["gpu=yes", "rack=r2"]);
        assert!(serde_json::from_str::<Requirements>("{}").expect("an empty table").is_empty());
        let error = serde_json::from_str::<Requirements>(r#"["gpu>=x"]"#).expect_err("no number").to_string();
        assert!(error.contains("`x` is no number"), "{error}");
        let error = serde_json::from_str::<Requirements>("3").expect_err("no list").to_string();
        assert!(error.contains("a list of requirements"), "{error}");
    }
}
