//! The sections of the configuration, and the flags that stand for keys of one.

use serde::Serialize;

use crate::failure::Failure;

/// A section of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Section {
    Master,
    Worker,
    Client,
    Log,
}

impl Section {
    /// As in the file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Section::Master => "master",
            Section::Worker => "worker",
            Section::Client => "client",
            Section::Log => "log",
        }
    }

    /// Variables that set `key`, the first one set wins. A worker may share the client's HOWDAH_MASTER.
    pub(crate) fn variables(self, key: &str) -> Vec<String> {
        let name = key.to_ascii_uppercase().replace(['.', '-'], "_");
        match self {
            Section::Master => vec![format!("HOWDAH_MASTER_{name}")],
            Section::Worker if key == "master" => vec!["HOWDAH_WORKER_MASTER".to_owned(), "HOWDAH_MASTER".to_owned()],
            Section::Worker => vec![format!("HOWDAH_WORKER_{name}")],
            Section::Client => vec![format!("HOWDAH_{name}")],
            Section::Log => vec![format!("HOWDAH_LOG_{name}")],
        }
    }
}

/// A flag as typed, or not.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) value: Option<serde_json::Value>,
}

impl Flag {
    /// `name` as typed sets `key`.
    pub(crate) fn new<T: Serialize>(name: &'static str, key: &'static str, value: &Option<T>) -> Flag {
        let value = value.as_ref().and_then(|value| serde_json::to_value(value).ok());
        Flag { name, key, value }
    }
}

/// The file has the fault; nothing was started.
pub(crate) fn bad(message: impl Into<String>) -> Failure {
    Failure::usage(message)
}
