//! Policies by name.
//!
//! A new policy is one line in `POLICIES`. Parameters come as text (`-D key=value`, a configuration file) and
//! are read once, here and in the policies' constructors, so that a wrong one is named before anything starts.

use std::collections::BTreeMap;

use super::nearest::nearest;
use super::numbers::{microseconds, thousandths};
use super::{BalancedPools, Johnson};
use super::{
    Capacity, Fifo, JobOrder, JobQueue, MaxEdf, MinEdf, Offer, Ordered, Scheduler, Shortest, fair, size_based,
};
use crate::models::bounds::Bound;
use crate::time::Span;

/// Parameters of a policy by name.
pub type Params = BTreeMap<String, String>;

/// A policy's name and what makes it from its parameters.
type Policy = (&'static str, fn(&mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError>);

/// All policies, by name.
const POLICIES: &[Policy] = &[
    ("balanced-pools", |params| Ok(Box::new(BalancedPools::from_params(params)?))),
    ("capacity", |params| Ok(Box::new(Capacity::from_params(params)?))),
    ("comp", size_based::comp),
    ("fair", |params| fair::by_params(fair::FAIR, params)),
    ("fbq", size_based::fbq),
    ("fifo", |params| match params.word("dialect", &["plain", "0.20.2", "1.2.1"])? {
        "plain" => ordered(Fifo, params),
        dialect => Ok(Box::new(JobQueue::from_params(dialect, params)?)),
    }),
    ("johnson", |params| ordered(Johnson::from_params(params)?, params)),
    ("load-aware", |params| fair::by_params(fair::LOAD_AWARE, params)),
    ("maxedf", |params| ordered(MaxEdf, params)),
    ("minedf", |params| ordered(MinEdf::from_params(params)?, params)),
    ("naive-fair", |params| fair::by_params(fair::NAIVE, params)),
    ("shortest", |params| ordered(Shortest, params)),
    ("sita", size_based::sita),
    ("tags", size_based::tags),
];

/// Whether a policy of this name orders jobs by their deadlines, and so does nothing special where none has one.
pub fn orders_by_deadline(name: &str) -> bool {
    ["maxedf", "minedf"].contains(&name)
}

/// A policy over an order of jobs, with the parameters that all of them have.
fn ordered(order: impl JobOrder, params: &mut Reader<'_>) -> Result<Box<dyn Scheduler>, SchedulerError> {
    Ok(Box::new(Ordered::new(order, Offer::from_params(params)?)))
}

/// A policy that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchedulerError {
    /// No policy has this name.
    #[error("scheduler `{name}`: no such scheduler, expected one of {known}")]
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

/// The names of all policies, ascending.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|&(name, _)| name)
}

/// Makes a policy from its name and parameters.
///
/// # Errors
/// Names the unknown policy or the parameter, and what was expected.
pub fn by_name(name: &str, params: &Params) -> Result<Box<dyn Scheduler>, SchedulerError> {
    let Some((_, make)) = POLICIES.iter().find(|(known, _)| *known == name) else {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(SchedulerError::Unknown { name: name.to_owned(), known });
    };
    read(name, params, make)
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
    let mut reader = Reader { scheduler: name, params, known: Vec::new() };
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
        let us = microseconds(value);
        us.map(Span::from_us).ok_or_else(|| self.wrong(key, value, "a length of time such as 500ms, 10s or 2.5m"))
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
        Reader { scheduler: "", params, known: Vec::new() }
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
        let takes_any = self.knows("speculation") && self.scheduler != "load-aware";
        let rules = if takes_any { super::speculation::rules_that_read(key) } else { Vec::new() };
        let rule = self.params.get("speculation").map_or("none", String::as_str);
        (!rules.is_empty()).then(|| SchedulerError::OfAnotherRule {
            scheduler: self.scheduler.to_owned(),
            key: key.to_owned(),
            problem: format!("`speculation` is {rule}, expected {}, which reads it", rules.join(" or ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> Params {
        pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect()
    }

    #[test]
    fn an_unknown_scheduler_is_answered_with_the_known_names() {
        let error = by_name("lottery", &params(&[])).err().expect("no such policy");
        let known = names().collect::<Vec<_>>().join(", ");
        assert_eq!(error.to_string(), format!("scheduler `lottery`: no such scheduler, expected one of {known}"));
    }

    #[test]
    fn a_parameter_of_another_rule_says_whose_it_is() {
        let said = |pairs: &[(&str, &str)]| by_name("fifo", &params(pairs)).err().expect("it is refused").to_string();
        let cap = said(&[("speculation.cap", "2")]);
        let all = "hadoop or hadoop-0.21 or late or load-aware";
        let expected = format!("`speculation` is none, expected {all}, which reads it");
        assert_eq!(cap, format!("scheduler `fifo`: parameter `speculation.cap`: {expected}"));
        assert_eq!(said(&[("speculation", "none"), ("speculation.cap", "2")]), cap);
        let curve = said(&[("speculation", "late"), ("load-aware.curve", "below=0,linear=1")]);
        assert!(
            curve.ends_with("`load-aware.curve`: `speculation` is late, expected load-aware, which reads it"),
            "{curve}"
        );
        let nobodys = said(&[("speculation", "late"), ("speculation.hat", "2")]);
        assert!(nobodys.ends_with("unknown parameter `speculation.hat`, did you mean `speculation.cap`?"), "{nobodys}");
    }

    #[test]
    fn a_misspelt_parameter_is_answered_with_the_one_that_was_meant_and_others_with_all() {
        let said = |key: &str| by_name("fair", &params(&[(key, "1")])).err().expect("it is refused").to_string();
        assert_eq!(said("preemptoin"), "scheduler `fair`: unknown parameter `preemptoin`, did you mean `preemption`?");
        let prefixed = said("mapred.fairscheduler.premption");
        assert!(prefixed.ends_with("did you mean `mapred.fairscheduler.preemption`?"), "{prefixed}");
        let all = said("quantum");
        assert!(all.contains("expected one of ") && all.contains(" sizebasedweight, "), "{all}");
        assert!(!all.contains("mapred."), "each name once: {all}");
    }

    #[test]
    fn wrong_parameters_are_named() {
        let error = by_name("fifo", &params(&[("quantum", "3")])).err().expect("no such parameter");
        assert_eq!(
            error.to_string(),
            "scheduler `fifo`: unknown parameter `quantum`, expected one of dialect, speculation"
        );
        let error = by_name("fifo", &params(&[("speculation", "maybe")])).err().expect("no such rule");
        assert_eq!(
            error.to_string(),
            "scheduler `fifo`: parameter `speculation`: `maybe` is not none or hadoop or hadoop-0.21 or late or load-aware"
        );
    }
}
