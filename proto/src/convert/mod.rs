//! Between the wire and the domain.
//!
//! What comes off the wire was written by a peer that may be old, broken or hostile: every number is checked
//! against the range of its domain type and every list against a limit, and what does not fit is a
//! [`ConvertError`] that names the field. The other direction cannot fail.

mod directive;
mod journal;
mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use howdah_core::cluster::SpeculationCosts;
use howdah_core::job::counters::{Counters, KNOWN};
use howdah_core::job::limits::{self, Cut, NAME_BYTES};
use howdah_core::job::{AttemptId, AttemptState, JobId, Phase, TaskKind};
use howdah_guards::Guard;

pub use howdah_core::job::requirement::MAX_ATTRIBUTES;

pub use directive::{cause_text, directive};
pub use journal::{decision, locality, recorded};
pub use report::{check_warnings, drop_bad_fields, grouped_outputs, map_outputs, registration};

use crate::v1;

/// Attempts in one report; more than any worker has slots.
pub const MAX_ATTEMPTS: usize = 65_536;
/// Fetch failures that one attempt's recorded status may have; live ones are cut to [`limits::FETCH_FAILURES`].
pub const MAX_FETCH_FAILURES: usize = 65_536;
/// Bytes of a probe's warning.
pub const MAX_WARNING_BYTES: usize = 1_024;

/// A message that cannot be what it claims to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A field that must be there is not.
    #[error("field `{field}` is missing")]
    Missing {
        /// Its name in the contract.
        field: &'static str,
    },
    /// A number outside its range.
    #[error("field `{field}`: {value} is out of range, expected at most {max}")]
    Range {
        /// Its name in the contract.
        field: &'static str,
        /// As received.
        value: u64,
        /// The largest allowed.
        max: u64,
    },
    /// An enumeration value that this version does not know, or that makes no sense here.
    #[error("field `{field}`: {value} is not a known value")]
    Enum {
        /// Its name in the contract.
        field: &'static str,
        /// As received.
        value: i64,
    },
    /// A list or text that is too long.
    #[error("field `{field}`: has length {length}, expected at most {max}")]
    TooLong {
        /// Its name in the contract.
        field: &'static str,
        /// As received.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// An embedded document that does not parse.
    #[error("field `{field}`: {problem}")]
    Document {
        /// Its name in the contract.
        field: &'static str,
        /// What the parser said.
        problem: String,
    },
}

pub(crate) fn small(field: &'static str, value: u32) -> Result<u16, ConvertError> {
    u16::try_from(value).map_err(|_| ConvertError::Range { field, value: value.into(), max: u16::MAX.into() })
}

pub(crate) fn at_most(field: &'static str, length: usize, max: usize) -> Result<(), ConvertError> {
    if length <= max { Ok(()) } else { Err(ConvertError::TooLong { field, length, max }) }
}

pub(crate) fn name(field: &'static str, text: &str) -> Result<String, ConvertError> {
    at_most(field, text.len(), NAME_BYTES)?;
    Ok(text.to_owned())
}

impl From<SpeculationCosts> for v1::SpeculationCosts {
    fn from(costs: SpeculationCosts) -> v1::SpeculationCosts {
        let SpeculationCosts { launched, won, lost, wasted } = costs;
        v1::SpeculationCosts { launched, won, lost, wasted_slot_ms: wasted.as_ms() }
    }
}

impl From<AttemptId> for v1::AttemptId {
    fn from(id: AttemptId) -> v1::AttemptId {
        v1::AttemptId {
            job: id.job.0,
            reduce: id.kind == TaskKind::Reduce,
            index: id.index,
            number: u32::from(id.number),
        }
    }
}

impl TryFrom<v1::AttemptId> for AttemptId {
    type Error = ConvertError;

    fn try_from(id: v1::AttemptId) -> Result<AttemptId, ConvertError> {
        let kind = if id.reduce { TaskKind::Reduce } else { TaskKind::Map };
        Ok(AttemptId { job: JobId(id.job), index: id.index, number: small("attempt.number", id.number)?, kind })
    }
}

/// A required attempt id.
///
/// # Errors
/// When it is missing or out of range.
pub fn attempt_id(field: &'static str, id: Option<v1::AttemptId>) -> Result<AttemptId, ConvertError> {
    id.ok_or(ConvertError::Missing { field })?.try_into()
}

impl From<AttemptState> for v1::AttemptState {
    /// `Launching` is the master's own view and never reported; it becomes the unspecified value.
    fn from(state: AttemptState) -> v1::AttemptState {
        match state {
            AttemptState::Launching => v1::AttemptState::Unspecified,
            AttemptState::Running => v1::AttemptState::Running,
            AttemptState::CommitPending => v1::AttemptState::CommitPending,
            AttemptState::Succeeded => v1::AttemptState::Succeeded,
            AttemptState::Failed => v1::AttemptState::Failed,
            AttemptState::Killed => v1::AttemptState::Killed,
        }
    }
}

/// A reported state by its wire number.
///
/// # Errors
/// When the number is unknown or unspecified.
pub fn attempt_state(value: i32) -> Result<AttemptState, ConvertError> {
    match v1::AttemptState::try_from(value) {
        Ok(v1::AttemptState::Running) => Ok(AttemptState::Running),
        Ok(v1::AttemptState::CommitPending) => Ok(AttemptState::CommitPending),
        Ok(v1::AttemptState::Succeeded) => Ok(AttemptState::Succeeded),
        Ok(v1::AttemptState::Failed) => Ok(AttemptState::Failed),
        Ok(v1::AttemptState::Killed) => Ok(AttemptState::Killed),
        Ok(v1::AttemptState::Unspecified) | Err(_) => {
            Err(ConvertError::Enum { field: "attempts.state", value: value.into() })
        }
    }
}

impl From<Phase> for v1::Phase {
    fn from(phase: Phase) -> v1::Phase {
        match phase {
            Phase::Starting => v1::Phase::Starting,
            Phase::Map => v1::Phase::Map,
            Phase::Shuffle => v1::Phase::Shuffle,
            Phase::Sort => v1::Phase::Sort,
            Phase::Reduce => v1::Phase::Reduce,
        }
    }
}

impl From<v1::Phase> for Phase {
    fn from(phase: v1::Phase) -> Phase {
        match phase {
            v1::Phase::Starting => Phase::Starting,
            v1::Phase::Map => Phase::Map,
            v1::Phase::Shuffle => Phase::Shuffle,
            v1::Phase::Sort => Phase::Sort,
            v1::Phase::Reduce => Phase::Reduce,
        }
    }
}

/// A phase by its wire number.
///
/// # Errors
/// When the number is unknown.
pub fn phase(value: i32) -> Result<Phase, ConvertError> {
    match v1::Phase::try_from(value) {
        Ok(phase) => Ok(phase.into()),
        Err(_) => Err(ConvertError::Enum { field: "attempts.phase", value: value.into() }),
    }
}

impl From<&Counters> for v1::Counters {
    fn from(counters: &Counters) -> v1::Counters {
        let group = |(name, values): (&String, &BTreeMap<String, i64>)| v1::CounterGroup {
            name: name.clone(),
            counters: values.iter().map(|(name, &value)| v1::Counter { name: name.clone(), value }).collect(),
        };
        v1::Counters { groups: counters.0.iter().map(group).collect(), ..v1::Counters::default() }
    }
}

/// Counters as workers report them: those of the core's list by number, the others by name.
pub fn numbered(counters: &Counters) -> v1::Counters {
    let mut wire = v1::Counters::from(counters);
    for group in &mut wire.groups {
        let place = |name: &str| KNOWN.iter().position(|known| *known == (group.name.as_str(), name));
        group.counters.retain(|counter| {
            let Some(place) = place(&counter.name) else { return true };
            wire.known.push(place as u32);
            wire.known_values.push(counter.value);
            false
        });
    }
    // One that was empty before says so itself.
    wire.groups
        .retain(|group| !group.counters.is_empty() || counters.0.get(&group.name).is_some_and(BTreeMap::is_empty));
    wire
}

/// Counters off the wire, within the bounds of one attempt. Whatever a program named them, the rest of the report counts:
/// what does not fit is left out and counted, and so is a number that this version has no name for.
pub fn counters(wire: &v1::Counters) -> (Counters, Cut) {
    counters_within(wire, limits::COUNTERS)
}

/// Counters of a job or an attempt off the wire, `most` of them.
pub fn counters_within(wire: &v1::Counters, most: usize) -> (Counters, Cut) {
    let (mut counters, mut cut) = (Counters::default(), Cut::default());
    // The framework's own first: they are never left out.
    for (&place, &value) in wire.known.iter().zip(&wire.known_values).take(KNOWN.len()) {
        match KNOWN.get(place as usize) {
            Some((group, name)) => counters.add(group, name, value),
            None => cut.counters += 1,
        }
    }
    cut.counters += wire.known.len().saturating_sub(wire.known_values.len().min(KNOWN.len())) as u64;
    for group in &wire.groups {
        for counter in &group.counters {
            if !Guard::Counters.stands() {
                counters.add(&group.name, &counter.name, counter.value);
                continue;
            }
            limits::count(&mut counters, (&group.name, &counter.name), counter.value, most, &mut cut);
        }
        // A group without counters stays, so that what was sent is what is read.
        if group.counters.is_empty() && counters.0.len() < most {
            counters.0.entry(limits::counter_name(&group.name).into_owned()).or_default();
        }
    }
    (counters, cut)
}
