//! A policy's parameters, and what is wrong with them.
//!
//! They come as text (`-D key=value`, a configuration file) and are read once, by the policies' constructors, so that a
//! wrong one is named before anything starts.

use std::collections::BTreeMap;

use super::nearest::{instead, nearest};
use super::numbers::thousandths;
use crate::job::quantity;
use crate::models::bounds::Bound;
use crate::time::Span;

/// Parameters of a policy by name.
pub type Params = BTreeMap<String, String>;

/// A policy that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchedulerError {
    /// No policy has this name.
    #[error("scheduler `{name}`: no such scheduler, {}", instead(name, known.split(", ")))]
    Unknown {
        /// As given.
        name: String,
        /// All names, joined by commas.
        known: String,
    },
    /// The policy has no such parameter.
    #[error("scheduler `{scheduler}`: unknown parameter `{key}`, {expected}")]
    UnknownParameter {
        /// The policy.
        scheduler: String,
        /// As given.
        key: String,
        /// The parameter that was probably meant, or all that there are.
        expected: String,
    },
    /// A rule for speculative execution has such a parameter, and another one is in charge.
    #[error("scheduler `{scheduler}`: parameter `{key}`: {problem}")]
    OfAnotherRule {
        /// The policy.
        scheduler: String,
        /// As given.
        key: String,
        /// The rule in charge, and those that have it.
        problem: String,
    },
    /// A file of allocations is inconsistent.
    #[error("scheduler `{scheduler}`: {file}: {problem}")]
    BadFile {
        /// The policy.
        scheduler: String,
        /// The file's path, or the parameter that held its text.
        file: String,
        /// The key, what is wrong with it and what was expected.
        problem: String,
    },
    /// A parameter's value does not read.
    #[error("scheduler `{scheduler}`: parameter `{key}`: `{value}` is not {expected}")]
    BadParameter {
        /// The policy.
        scheduler: String,
        /// The parameter.
        key: String,
        /// As given.
        value: String,
        /// A noun phrase.
        expected: String,
    },
}

/// Reads a policy's parameters by `make`, for policies that are not in the registry because the core could not run them.
///
/// # Errors
/// What `make` finds wrong, or a parameter that it did not ask for.
pub fn read<T>(
    name: &str,
    params: &Params,
    make: impl FnOnce(&mut Reader<'_>) -> Result<T, SchedulerError>,
) -> Result<T, SchedulerError> {
    let mut reader = Reader { scheduler: name, params, known: Vec::new(), rules_that_read: None };
    let made = make(&mut reader)?;
    reader.finish()?;
    Ok(made)
}

/// The text of a policy's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocations {
    /// Its path, or what else to call it.
    pub file: String,
    /// XML if it begins with `<`, else TOML.
    pub text: String,
}

/// Reads a policy's parameters and notes which it knows.
pub struct Reader<'a> {
    scheduler: &'a str,
    params: &'a Params,
    known: Vec<&'static str>,
    /// Where the policy takes any rule for speculative execution: finds the rules that read a parameter.
    rules_that_read: Option<fn(&str) -> Vec<&'static str>>,
}

impl<'a> Reader<'a> {
    /// The text of a parameter, if it was given.
    pub fn text(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        self.params.get(key).map(String::as_str)
    }

    /// `bound`: average, low or upper.
    ///
    /// # Errors
    /// When the value is another word.
    pub fn bound(&mut self) -> Result<Bound, SchedulerError> {
        Ok(match self.word("bound", &["average", "low", "upper"])? {
            "low" => Bound::Low,
            "upper" => Bound::Upper,
            _ => Bound::Average,
        })
    }

    /// One of a few words; the first is the default.
    ///
    /// # Errors
    /// When the value is another word.
    pub fn word(&mut self, key: &'static str, words: &[&'static str]) -> Result<&'static str, SchedulerError> {
        let Some(value) = self.text(key) else { return Ok(words[0]) };
        let found = words.iter().find(|word| **word == value);
        found.copied().ok_or_else(|| self.wrong(key, value, &words.join(" or ")))
    }

    /// A parsed value, or the default.
    ///
    /// # Errors
    /// When it does not parse; `expected` says as what.
    pub fn value<T: std::str::FromStr>(
        &mut self,
        key: &'static str,
        default: T,
        expected: &str,
    ) -> Result<T, SchedulerError> {
        let Some(value) = self.text(key) else { return Ok(default) };
        value.trim().parse().map_err(|_| self.wrong(key, value, expected))
    }

    /// The text of the policy's file, which the driver has read, and the name to call it by.
    pub fn allocations(&mut self) -> Option<Allocations> {
        let file = self.text("allocation.file").unwrap_or("parameter `allocations`");
        self.text("allocations").map(|text| Allocations { file: file.to_owned(), text: text.to_owned() })
    }

    /// An error in such a file: the key, what is wrong with it and what was expected.
    pub fn bad_file(&self, file: &str, problem: impl Into<String>) -> SchedulerError {
        SchedulerError::BadFile { scheduler: self.scheduler.to_owned(), file: file.to_owned(), problem: problem.into() }
    }

    /// A length of time such as `500ms`, `10s`, `2.5m` or `3h`; seconds without a unit.
    ///
    /// # Errors
    /// When it does not parse.
    pub fn span(&mut self, key: &'static str, default: Span) -> Result<Span, SchedulerError> {
        let Some(value) = self.text(key) else { return Ok(default) };
        quantity::span(value).ok_or_else(|| self.wrong(key, value, "a length of time such as 500ms, 10s or 2.5m"))
    }

    /// A share from 0 to 1 in ten-thousandths.
    ///
    /// # Errors
    /// When it is none, or has more than three decimals.
    pub fn parts(&mut self, key: &'static str, default: u16) -> Result<u16, SchedulerError> {
        let Some(value) = self.text(key) else { return Ok(default) };
        let parts = thousandths(value.trim()).filter(|&thousandths| thousandths <= 1_000).map(|n| n as u16 * 10);
        parts.ok_or_else(|| self.wrong(key, value, "a share from 0 to 1 with at most three decimals"))
    }

    /// The error of a value that is not what `expected`, a noun phrase, says.
    pub fn wrong(&self, key: &str, value: &str, expected: &str) -> SchedulerError {
        SchedulerError::BadParameter {
            scheduler: self.scheduler.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// Whether a parameter was asked for.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.known.contains(&key)
    }

    /// Another reader, for finding out what somebody asks for.
    pub(super) fn of<'p>(params: &'p Params) -> Reader<'p> {
        Reader { scheduler: "", params, known: Vec::new(), rules_that_read: None }
    }

    /// Notes that the policy takes any rule for speculative execution, for parameters of the rules that it did not take.
    pub(super) fn takes_any_rule(&mut self, rules_that_read: fn(&str) -> Vec<&'static str>) {
        self.rules_that_read = Some(rules_that_read);
    }

    fn finish(self) -> Result<(), SchedulerError> {
        let unread = self.params.keys().find(|key| !self.knows(key));
        if let Some(error) = unread.and_then(|key| self.of_another_rule(key)) {
            return Err(error);
        }
        match self.params.keys().find(|key| !self.known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(SchedulerError::UnknownParameter {
                scheduler: self.scheduler.to_owned(),
                key: key.clone(),
                expected: match nearest(key, self.known.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("expected one of {}", self.plain_names().join(", ")),
                },
            }),
        }
    }

    /// The parameters that were asked for, without those that are another one with Hadoop's prefix.
    fn plain_names(&self) -> Vec<&'static str> {
        let twin = |name: &str, prefix: &str| name.strip_prefix(prefix).is_some_and(|plain| self.knows(plain));
        let prefixed = |name: &str| HADOOPS_PREFIXES.iter().any(|prefix| twin(name, prefix));
        self.known.iter().copied().filter(|name| !prefixed(name)).collect()
    }
}

/// With which some parameters are known a second time.
const HADOOPS_PREFIXES: [&str; 2] = ["mapred.fairscheduler.", "mapred."];

impl Reader<'_> {
    /// A parameter that another rule for speculative execution reads, where the policy takes any.
    fn of_another_rule(&self, key: &str) -> Option<SchedulerError> {
        let rules = self.rules_that_read.map_or_else(Vec::new, |rules_that_read| rules_that_read(key));
        let rule = self.params.get("speculation").map_or("none", String::as_str);
        (!rules.is_empty()).then(|| SchedulerError::OfAnotherRule {
            scheduler: self.scheduler.to_owned(),
            key: key.to_owned(),
            problem: format!("`speculation` is {rule}, expected {}, which reads it", rules.join(" or ")),
        })
    }
}
