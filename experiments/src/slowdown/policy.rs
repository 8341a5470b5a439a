//! A policy with its parameters, and what it is called.

/// A policy with its parameters, for tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) label: String,
    pub(super) scheduler: &'static str,
    pub(super) params: Vec<(&'static str, String)>,
}

impl Policy {
    pub(super) fn new(scheduler: &'static str, params: &[(&'static str, String)]) -> Policy {
        Policy { label: scheduler.to_uppercase(), scheduler, params: params.to_vec() }
    }

    pub(super) fn named(mut self, label: &str) -> Policy {
        self.label = label.to_owned();
        self
    }

    pub(super) fn with(mut self, key: &'static str, value: impl Into<String>) -> Policy {
        self.params.push((key, value.into()));
        self
    }
}
