//! Choosing the scheduler by forecast (§IV-B): each candidate is simulated from the present state, and the one whose
//! forecast is best by a chosen measure takes over.
//!
//! Forecasts of two policies that do about as well change places with every draw of luck. So a candidate takes over only
//! once its gain exceeded a margin in enough forecasts running, where a gain of several margins counts as that many
//! forecasts: a small gain has to last, a large one is not waited for. After a switch nobody takes over for a while:
//! **no flapping.** Each switch keeps the two figures that justified it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::forecast::{Forecast, JobForecast};
use howdah_core::time::{Span, Time};

/// By what forecasts are compared; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Until the last job is over.
    Makespan,
    /// From a job's submission to its end, on average.
    #[default]
    MeanCompletion,
    /// The 95th percentile of jobs' slowdowns over their median; a slowdown is the time from submission to end over the least that
    /// the job could take alone.
    SlowdownVariability,
    /// By how much jobs with deadlines are late, as shares of their deadlines, in all.
    DeadlinesExceeded,
}

impl Measure {
    pub const ALL: [Measure; 4] =
        [Measure::Makespan, Measure::MeanCompletion, Measure::SlowdownVariability, Measure::DeadlinesExceeded];

    /// As written.
    pub const fn name(self) -> &'static str {
        match self {
            Measure::Makespan => "makespan",
            Measure::MeanCompletion => "mean-completion",
            Measure::SlowdownVariability => "slowdown-variability",
            Measure::DeadlinesExceeded => "deadlines-exceeded",
        }
    }

    /// Of a forecast. A job that is not over at the horizon counts as if it ended there.
    pub fn of(self, forecast: &Forecast) -> f64 {
        let end = |job: &JobForecast| job.finish.unwrap_or(forecast.until);
        let completion = |job: &JobForecast| end(job).since(job.submitted).as_secs_f64();
        let jobs = &forecast.jobs;
        match self {
            Measure::Makespan => jobs.iter().map(|job| end(job).since(forecast.at).as_secs_f64()).fold(0.0, f64::max),
            Measure::MeanCompletion => jobs.iter().map(completion).sum::<f64>() / jobs.len().max(1) as f64,
            Measure::SlowdownVariability => {
                let slowdown = |job: &JobForecast| Some(completion(job) / job.alone?.as_secs_f64().max(1e-3));
                variability(jobs.iter().filter_map(slowdown).collect())
            }
            Measure::DeadlinesExceeded => {
                let late = |job: &JobForecast| {
                    let deadline = job.deadline?.as_secs_f64().max(1e-6);
                    Some((completion(job) / deadline - 1.0).max(0.0))
                };
                jobs.iter().filter_map(late).sum()
            }
        }
    }
}

impl Measure {
    /// What of the figure lies behind already, so that no policy can change it.
    fn sunk(self, forecast: &Forecast) -> f64 {
        let jobs = &forecast.jobs;
        let waited = |job: &JobForecast| forecast.at.since(job.submitted).as_secs_f64();
        match self {
            Measure::MeanCompletion => jobs.iter().map(waited).sum::<f64>() / jobs.len().max(1) as f64,
            Measure::Makespan | Measure::SlowdownVariability | Measure::DeadlinesExceeded => 0.0,
        }
    }
}

/// The 95th percentile over the median; 1 of none (slowdown paper eq. 1).
fn variability(mut slowdowns: Vec<f64>) -> f64 {
    slowdowns.sort_by(f64::total_cmp);
    let at = |percent: usize| slowdowns.get((slowdowns.len() * percent).div_ceil(100).max(1) - 1).copied();
    at(95).zip(at(50)).map_or(1.0, |(high, median)| high / median.max(1e-9))
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Measure, String> {
        let known = || Measure::ALL.map(Measure::name).join(", ");
        let found = Measure::ALL.into_iter().find(|measure| measure.name() == text);
        found.ok_or_else(|| format!("`{text}` is no measure, expected one of {}", known()))
    }
}

/// When a candidate takes over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchRule {
    pub measure: Measure,
    /// Least gain, as a share of what the present policy's figure has still to come.
    pub margin: f64,
    /// Forecasts running in which a candidate must be better by that; one in which it is better by several margins
    /// counts as that many.
    pub times: u32,
    /// No other switch so long after one.
    pub dwell: Span,
}

impl Default for SwitchRule {
    /// 5 %, three forecasts running, a minute.
    fn default() -> SwitchRule {
        SwitchRule { measure: Measure::default(), margin: 0.05, times: 3, dwell: Span::from_secs(60) }
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
#[derive(Clone, Debug)]
pub struct Switcher {
    rule: SwitchRule,
    /// By candidate: its gains in the forecasts running in which they reached the margin, in margins.
    gained: Vec<f64>,
    last: Option<Time>,
}

impl Switcher {
    /// By a rule.
    pub fn new(rule: SwitchRule) -> Switcher {
        Switcher { rule, gained: Vec::new(), last: None }
    }

    /// Looks at forecasts of one instant, one for each candidate, of which `present` is in charge.
    pub fn consider(&mut self, present: usize, forecasts: &[Forecast]) -> Option<Switch> {
        let figures: Vec<f64> = forecasts.iter().map(|forecast| self.rule.measure.of(forecast)).collect();
        let staying = *figures.get(present)?;
        let at = forecasts[present].at;
        let to_come = staying - self.rule.measure.sunk(&forecasts[present]);
        self.gained.resize(figures.len(), 0.0);
        for (gained, figure) in self.gained.iter_mut().zip(&figures) {
            let gain = if to_come > 0.0 { (staying - figure) / to_come } else { 0.0 };
            *gained = if gain > 0.0 && gain >= self.rule.margin { *gained + gain / self.rule.margin } else { 0.0 };
        }
        if self.last.is_some_and(|last| at.since(last) < self.rule.dwell) {
            return None;
        }
        // Sums of equal gains fall a little short of what they should be.
        let enough = f64::from(self.rule.times.max(1)) - 1e-9;
        let ready = (0..figures.len()).filter(|&index| self.gained[index] >= enough);
        let best = ready.min_by(|&a, &b| figures[a].total_cmp(&figures[b]))?;
        (self.gained, self.last) = (Vec::new(), Some(at));
        Some(Switch { at, from: present, to: best, staying, switching: figures[best] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A forecast at a second whose only job ends after so many.
    fn forecast(at_s: u64, ends_s: u64) -> Forecast {
        let at = Time::from_ms(at_s * 1_000);
        let told = JobForecast::told(Some(Time::from_ms(ends_s * 1_000)));
        let [deadline, alone] = [50, 20].map(|s| Some(Span::from_secs(s)));
        let job = JobForecast { deadline, alone, ..told };
        let until = at + Span::from_secs(3_600);
        Forecast {
            at,
            until,
            scheduler: String::new(),
            jobs: vec![job],
            starts: Vec::new(),
            events: 0,
            running: Vec::new(),
        }
    }

    fn switches(figures: impl IntoIterator<Item = (u64, [u64; 2])>) -> Vec<(u64, usize)> {
        let mut switcher = Switcher::new(SwitchRule::default());
        let mut present = 0;
        let mut all = Vec::new();
        for (at, [a, b]) in figures {
            if let Some(switch) = switcher.consider(present, &[forecast(at, a), forecast(at, b)]) {
                assert!(switch.switching < switch.staying && switch.from == present);
                present = switch.to;
                all.push((at, present));
            }
        }
        all
    }

    #[test]
    fn a_gain_of_the_margin_has_to_last_and_a_large_one_switches_at_once_each_only_once() {
        assert_eq!(switches((0..10).map(|i| (i * 10, [10_000, 9_470]))), [(20, 1)]);
        assert_eq!(switches((0..10).map(|i| (i * 10, [10_000, 5_000]))), [(0, 1)]);
    }

    #[test]
    fn a_small_gain_or_a_passing_one_switches_nothing() {
        assert_eq!(switches((0..50).map(|i| (i * 10, [10_000, 9_700]))), []);
        let passing = |i| if i % 3 == 0 { [10_000, 10_000] } else { [10_000, 9_400] };
        assert_eq!(switches((0..50).map(|i| (i * 10, passing(i)))), []);
    }

    // Jobs that have waited for an hour make every gain small beside their completion times.
    #[test]
    fn what_lies_behind_makes_no_gain_smaller() {
        let waited = |ends| Forecast {
            jobs: vec![JobForecast { submitted: Time::ZERO, ..forecast(3_600, ends).jobs[0].clone() }],
            ..forecast(3_600, ends)
        };
        let mut switcher = Switcher::new(SwitchRule { times: 1, ..SwitchRule::default() });
        assert!(switcher.consider(0, &[waited(3_700), waited(3_680)]).is_some());
    }

    #[test]
    fn evidence_for_one_candidate_is_not_lost_when_another_leads_once() {
        let mut switcher = Switcher::new(SwitchRule::default());
        let figures = [[10_000, 9_400, 9_450], [10_000, 9_450, 9_400], [10_000, 9_400, 9_450]];
        let found = figures.into_iter().zip(0..).filter_map(|(ends, at)| {
            let forecasts = ends.map(|ends| forecast(at, ends));
            switcher.consider(0, &forecasts).map(|switch| (at, switch.to))
        });
        assert_eq!(found.collect::<Vec<_>>(), [(2, 1)]);
    }

    // Whoever is in charge looks worse: the most that comes of it is a switch for each dwell time.
    #[test]
    fn two_policies_that_take_turns_in_being_better_do_not_flap() {
        let mut switcher = Switcher::new(SwitchRule::default());
        let (mut present, mut n) = (0, 0);
        for i in 0..360 {
            let ends = if present == 0 { [4_000, 2_000] } else { [2_000, 4_000] };
            if let Some(switch) = switcher.consider(present, &ends.map(|ends| forecast(i, ends))) {
                (present, n) = (switch.to, n + 1);
            }
        }
        assert!((1..=6).contains(&n), "{n} switches in 360 s");
    }

    #[test]
    fn measures_are_what_their_names_say() {
        let forecast = forecast(20, 100);
        assert_eq!(Measure::ALL.map(|measure| measure.of(&forecast)), [80.0, 100.0, 1.0, 1.0]);
        // Slowdowns of 5, 5 and 20.
        let mut unequal = forecast.clone();
        unequal.jobs.extend(
            [20, 5].map(|alone| JobForecast { alone: Some(Span::from_secs(alone)), ..unequal.jobs[0].clone() }),
        );
        assert_eq!(Measure::SlowdownVariability.of(&unequal), 4.0);
        unequal.jobs.iter_mut().for_each(|job| job.alone = None);
        assert_eq!(Measure::SlowdownVariability.of(&unequal), 1.0, "nothing is known");
        assert!(Measure::ALL.iter().all(|measure| measure.name().parse() == Ok(*measure)));
        assert!("luck".parse::<Measure>().is_err());
    }
}
