//! Hadoop's five priorities of jobs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SpecError;

/// Hadoop's five job priorities; smaller sorts first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum Priority {
    /// Before all others.
    VeryHigh = 0,
    /// Before normal jobs.
    High = 1,
    /// The default.
    #[default]
    Normal = 2,
    /// After normal jobs.
    Low = 3,
    /// After all others.
    VeryLow = 4,
}

impl Priority {
    /// All five, highest first.
    pub const ALL: [Priority; 5] =
        [Priority::VeryHigh, Priority::High, Priority::Normal, Priority::Low, Priority::VeryLow];

    /// Hadoop's name.
    pub const fn name(self) -> &'static str {
        match self {
            Priority::VeryHigh => "VERY_HIGH",
            Priority::High => "HIGH",
            Priority::Normal => "NORMAL",
            Priority::Low => "LOW",
            Priority::VeryLow => "VERY_LOW",
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Priority {
    type Err = SpecError;

    /// Takes Hadoop's names in any case, `-` for `_` too.
    fn from_str(text: &str) -> Result<Priority, SpecError> {
        let wanted = text.to_ascii_uppercase().replace('-', "_");
        Priority::ALL.into_iter().find(|p| p.name() == wanted).ok_or_else(|| SpecError::Property {
            key: "mapred.job.priority".to_owned(),
            value: text.to_owned(),
            expected: "VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW",
        })
    }
}
