//! The switcher: it follows forecasts round by round, has a rule choose, and holds back what comes too soon after a switch.
//!
//! **At most one switch in `dwell`, whatever the rule.** Less than that a rule may promise, and says so in its file; with a dwell
//! of 0 there is nothing else against going back and forth.

use howdah_core::time::{Span, Time};
use serde::Serialize;

use super::super::forecast::Forecast;
use super::{Measure, RuleName, Standing, SwitchingRule, Thresholds};

/// When a candidate takes over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchOptions {
    /// By what candidates are compared.
    pub measure: Measure,
    /// What chooses.
    pub rule: RuleName,
    /// What it goes by.
    pub thresholds: Thresholds,
    /// No other switch so long after one.
    pub dwell: Span,
}

impl Default for SwitchOptions {
    /// 5 %, three rounds running, a minute.
    fn default() -> SwitchOptions {
        SwitchOptions {
            measure: Measure::default(),
            rule: RuleName::default(),
            thresholds: Thresholds { margin: 0.05, rounds: 3 },
            dwell: Span::from_secs(60),
        }
    }
}

/// A switch and what justified it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Switch {
    /// When the new policy took over.
    pub at: Time,
    /// The place of the policy that was in charge in the list of candidates.
    pub from: usize,
    /// The place of the one that is.
    pub to: usize,
    /// The figure that staying would have had.
    pub staying: f64,
    /// The figure that was forecast for the switch.
    pub switching: f64,
}

/// Follows forecasts and says when to switch.
#[derive(Debug)]
pub struct Switcher {
    measure: Measure,
    rule: Box<dyn SwitchingRule>,
    dwell: Span,
    last: Option<Time>,
}

impl Switcher {
    /// Has seen nothing yet.
    pub fn new(options: &SwitchOptions) -> Switcher {
        let SwitchOptions { measure, rule, thresholds, dwell } = *options;
        Switcher { measure, rule: rule.rule(thresholds), dwell, last: None }
    }

    /// Looks at forecasts of one instant, one for each candidate, of which `present` is in charge.
    pub fn consider(&mut self, present: usize, forecasts: &[Forecast]) -> Option<Switch> {
        let figures: Vec<f64> = forecasts.iter().map(|forecast| self.measure.of(forecast)).collect();
        let staying = *figures.get(present)?;
        let at = forecasts[present].at;
        let to_come = staying - self.measure.sunk(&forecasts[present]);
        let named = self.rule.consider(&Standing { at, present, figures: &figures, to_come });
        if self.last.is_some_and(|last| at.since(last) < self.dwell) {
            return None;
        }
        // Who is in charge already, or is no candidate, takes over from nobody.
        let to = named.filter(|&to| to != present && to < figures.len())?;
        self.rule.switched();
        self.last = Some(at);
        Some(Switch { at, from: present, to, staying, switching: figures[to] })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::forecast::JobForecast;
    use super::super::tests::{forecast, options};
    use super::*;

    // Jobs that have waited for an hour make every gain small beside their completion times.
    #[test]
    fn what_lies_behind_makes_no_gain_smaller() {
        let waited = |ends| Forecast {
            jobs: vec![JobForecast { submitted: Time::ZERO, ..forecast(3_600, ends).jobs[0].clone() }],
            ..forecast(3_600, ends)
        };
        for rule in RuleName::all() {
            let thresholds = Thresholds { margin: 0.05, rounds: 1 };
            let mut switcher = Switcher::new(&SwitchOptions { thresholds, ..options(rule, 60) });
            assert!(switcher.consider(0, &[waited(3_700), waited(3_680)]).is_some(), "{rule}");
        }
    }

    #[test]
    fn a_rule_that_names_the_one_in_charge_or_nobody_in_the_list_switches_nothing() {
        #[derive(Debug)]
        struct Stubborn(usize);

        impl SwitchingRule for Stubborn {
            fn consider(&mut self, _standing: &Standing<'_>) -> Option<usize> {
                Some(self.0)
            }

            fn switched(&mut self) {
                assert_eq!(self.0, 0, "the others have not taken over");
            }
        }

        for (named, switched) in [(0, Some(0)), (1, None), (2, None)] {
            let rule = Box::new(Stubborn(named));
            let mut switcher = Switcher { rule, ..Switcher::new(&SwitchOptions::default()) };
            let found = switcher.consider(1, &[forecast(0, 100), forecast(0, 50)]);
            assert_eq!(found.map(|switch| switch.to), switched, "{named}");
        }
    }
}
