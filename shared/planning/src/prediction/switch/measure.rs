//! By what forecasts of candidates are compared: one figure of each, less is better.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::super::forecast::{Forecast, JobForecast};

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
    pub(super) fn sunk(self, forecast: &Forecast) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::super::tests::forecast;
    use super::*;
    use howdah_core::time::Span;

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
