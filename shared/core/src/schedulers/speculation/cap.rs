//! How many speculative attempts may run at a time.

use std::collections::BTreeSet;

use crate::cluster::ClusterState;
use crate::job::AttemptId;
use crate::schedulers::Change;
use crate::schedulers::params::{Reader, SchedulerError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    None,
    Number(u32),
    /// Of all slots of live workers, in ten-thousandths.
    Share(u16),
}

/// The limit and what runs.
#[derive(Clone, Debug)]
pub(super) struct Cap {
    limit: Limit,
    running: BTreeSet<AttemptId>,
}

impl Cap {
    /// Reads `speculation.cap`: `none`, a number of attempts, or a share of all slots such as `10%` or `0.1`; `percent`
    /// is the default, 0 for none.
    pub(super) fn from_params(params: &mut Reader<'_>, percent: u16) -> Result<Cap, SchedulerError> {
        let default = if percent == 0 { Limit::None } else { Limit::Share(percent * 100) };
        let limit = match params.text("speculation.cap") {
            None => default,
            Some(text) => parse(text).ok_or_else(|| {
                let expected = "none, a whole number of attempts, or a share of the slots: 10%, or a fraction below 1";
                params.wrong("speculation.cap", text, expected)
            })?,
        };
        Ok(Cap { limit, running: BTreeSet::new() })
    }

    /// Whether one more may start beside those that run and `noted` ones that only would.
    pub(super) fn allows(&self, state: &ClusterState, noted: u64) -> bool {
        let running = self.running.len() as u64 + noted;
        match self.limit {
            Limit::None => true,
            Limit::Number(n) => running < u64::from(n),
            Limit::Share(parts) => {
                let slots: u32 = state.totals().slots.iter().sum();
                running * 10_000 < u64::from(slots) * u64::from(parts)
            }
        }
    }

    /// Speculative attempts that run.
    pub(super) fn running(&self) -> &BTreeSet<AttemptId> {
        &self.running
    }

    pub(super) fn observe(&mut self, change: &Change) {
        match *change {
            Change::Launched { attempt, speculative: true, .. } => drop(self.running.insert(attempt)),
            Change::Ended { attempt, .. } if !self.running.is_empty() => drop(self.running.remove(&attempt)),
            _ => {}
        }
    }

    pub(super) fn attach(&mut self, state: &ClusterState) {
        let speculative = state.attempts().iter().filter(|(_, attempt)| attempt.speculative() && !attempt.detached());
        self.running = speculative.map(|(_, attempt)| attempt.id()).collect();
    }
}

fn parse(text: &str) -> Option<Limit> {
    if text == "none" {
        return Some(Limit::None);
    }
    match text.strip_suffix('%') {
        Some(percent) => {
            let percent: f64 = percent.trim().parse().ok()?;
            (0.0..=100.0).contains(&percent).then(|| Limit::Share((percent * 100.0).round() as u16))
        }
        None if text.contains('.') => {
            let share: f64 = text.parse().ok()?;
            (0.0..1.0).contains(&share).then(|| Limit::Share((share * 10_000.0).round() as u16))
        }
        None => text.parse().ok().map(Limit::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_read_as_numbers_and_shares() {
        assert_eq!(parse("none"), Some(Limit::None));
        assert_eq!(parse("2"), Some(Limit::Number(2)));
        assert_eq!(parse("12.5%"), Some(Limit::Share(1_250)));
        assert_eq!((parse("0.1"), parse("0.125")), (parse("10%"), parse("12.5%")));
        // Nobody knows whether that is one attempt or every slot.
        assert_eq!((parse("1.0"), parse("2.5"), parse("-0.1"), parse(".")), (None, None, None, None));
        assert_eq!((parse("-1"), parse("101%"), parse("ten")), (None, None, None));
    }
}
