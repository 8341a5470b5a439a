//! The job's properties, as given with `-D key=value`.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::error::TaskError;

/// Properties by name. Hadoop's old and new names are both accepted where [`Properties::first`] lists both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, String>);

impl From<BTreeMap<String, String>> for Properties {
    fn from(map: BTreeMap<String, String>) -> Properties {
        Properties(map)
    }
}

impl Properties {
    /// One property as text.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The first of several names that is set, with its value.
    pub fn first<'a>(&'a self, keys: &[&'a str]) -> Option<(&'a str, &'a str)> {
        keys.iter().find_map(|&key| self.get(key).map(|value| (key, value)))
    }

    /// One property as a number or another value that parses, `default` when it is not set.
    ///
    /// # Errors
    /// When it is set to something else; the message names the property and `expected`.
    pub fn parse_or<T: FromStr>(&self, keys: &[&str], default: T, expected: &str) -> Result<T, TaskError> {
        let Some((key, value)) = self.first(keys) else { return Ok(default) };
        value.trim().parse().map_err(|_| TaskError::Property {
            key: key.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
