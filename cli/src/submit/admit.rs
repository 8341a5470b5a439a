//! `submit --admit`: before a job with a deadline is submitted, a forecast of the cluster with it beside one without.
//!
//! The master lists the job's input and simulates it among the others; nothing is made. A deadline can be met if more
//! simulations meet it than not: one with the expected task times, the others with times drawn as finished ones scattered.

use howdah_json::{ForecastView, JobView};
use howdah_proto::v1::{Forecast, PredictChanges, PredictRequest, SubmitJobRequest};
use serde::Serialize;

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::predict::looked::no_forecast;
use crate::predict::view::{by_id, doubt};
use crate::submit::args::Admit;
use crate::units;

/// A deadline that fewer simulations meet cannot be met.
const LIKELY: f64 = 0.5;
/// Whoever is later by less does not suffer.
const NOTICED_S: f64 = 1.0;
/// Of the jobs that would be delayed, at most so many are listed.
const TOLD: usize = 5;

/// What was forecast of a job before it was submitted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Admitted {
    deadline_s: f64,
    /// From now; null beyond the horizon.
    ends_in_s: Option<f64>,
    earliest_s: Option<f64>,
    latest_s: Option<f64>,
    /// Share of the simulations that meet the deadline.
    in_time: f64,
    /// Whether tasks like its own, with about as much input, were seen before; else their times are far from certain.
    seen: bool,
    /// Who would be later, most first.
    later: Vec<Later>,
}

/// Another job that would be later.
#[derive(Clone, Debug, Serialize)]
struct Later {
    job: String,
    name: String,
    /// Null if it would end only beyond the horizon.
    by_s: Option<f64>,
    /// Whether it would most likely miss a deadline that it most likely meets now.
    misses_its_deadline: bool,
}

/// Asks; fails with exit code 1 where the rule is to check and the deadline cannot be met.
pub(super) async fn ask(client: &mut Client, request: &SubmitJobRequest, rule: Admit) -> Outcome<Admitted> {
    let changes = PredictChanges { enter: vec![request.clone()], ..PredictChanges::default() };
    let asked = PredictRequest { changes: Some(changes), ..PredictRequest::default() };
    let answer = client.rpc.predict(asked).await?.into_inner();
    let admission =
        admitted(request.deadline_ms, answer.present.as_ref(), answer.changed.as_ref()).ok_or_else(no_forecast)?;
    if rule == Admit::Check && admission.in_time < LIKELY {
        let failure = Failure::failed(format!(
            "the deadline of {} cannot be met: {}",
            units::seconds(admission.deadline_s),
            admission.sentence()
        ));
        let failure = admission.suffering().into_iter().fold(failure, Failure::help);
        return Err(failure.help("nothing was submitted; `--admit force` submits it anyway"));
    }
    Ok(admission)
}

fn admitted(deadline_ms: u64, present: Option<&Forecast>, changed: Option<&Forecast>) -> Option<Admitted> {
    let (present, changed) = (ForecastView::from(present?), ForecastView::from(changed?));
    let own = changed.jobs.iter().find(|job| job.hypothetical)?;
    let since = |ms: Option<u64>| ms.map(|ms| (ms as f64 - changed.at_ms_epoch as f64) / 1e3);
    Some(Admitted {
        deadline_s: deadline_ms as f64 / 1e3,
        ends_in_s: own.left_s,
        earliest_s: since(own.low_ms_epoch),
        latest_s: since(own.high_ms_epoch),
        in_time: own.in_time?,
        seen: own.seen,
        later: later(&present, &changed),
    })
}

fn later(present: &ForecastView, changed: &ForecastView) -> Vec<Later> {
    let now = by_id(present);
    let of = |job: &JobView| {
        let id = job.job.as_deref()?;
        let before = now.get(id)?;
        let by_s = match (before.left_s?, job.left_s) {
            (before, Some(after)) => Some(after - before),
            (_, None) => None,
        };
        let likely = |job: &JobView| job.in_time.map(|share| share >= LIKELY);
        let misses_its_deadline = likely(before) == Some(true) && likely(job) == Some(false);
        let suffers = by_s.is_none_or(|by| by >= NOTICED_S) || misses_its_deadline;
        suffers.then(|| Later { job: id.to_owned(), name: job.name.clone(), by_s, misses_its_deadline })
    };
    let mut later: Vec<Later> = changed.jobs.iter().filter_map(of).collect();
    let most = |later: &Later| later.by_s.unwrap_or(f64::INFINITY);
    later.sort_by(|a, b| most(b).total_cmp(&most(a)));
    later
}

impl Admitted {
    /// For people: what is forecast, and who would be later.
    pub(super) fn lines(&self) -> Vec<String> {
        let first = format!("Deadline in {}: {}", units::seconds(self.deadline_s), self.sentence());
        std::iter::once(first).chain(self.suffering()).collect()
    }

    fn sentence(&self) -> String {
        let end = |s: Option<f64>| s.map_or_else(|| "beyond the horizon".to_owned(), units::seconds);
        format!(
            "it would end in about {}, between {} and {}, and is in time in {} of the simulations{}",
            end(self.ends_in_s),
            end(self.earliest_s),
            end(self.latest_s),
            units::percent(self.in_time),
            doubt(self.seen)
        )
    }

    fn suffering(&self) -> Vec<String> {
        let line = |later: &Later| {
            let by = later
                .by_s
                .map_or_else(|| "beyond the horizon".to_owned(), |by| format!("by {}", units::seconds(by.max(0.0))));
            let misses = if later.misses_its_deadline { ", and would miss its deadline" } else { "" };
            format!("{} ({}) would end later {by}{misses}", later.job, later.name)
        };
        let more = self.later.len().saturating_sub(TOLD);
        let rest = (more > 0).then(|| format!("and {} more would end later", units::counted(more as u64, "job")));
        self.later.iter().take(TOLD).map(line).chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_proto::v1::JobForecast;

    fn job(id: &str, finish_s: u64, in_time: Option<f64>) -> JobForecast {
        JobForecast {
            job: id.to_owned(),
            name: "w".to_owned(),
            finish_ms_epoch: finish_s * 1_000,
            low_ms_epoch: finish_s * 900,
            high_ms_epoch: finish_s * 1_100,
            seen: true,
            hypothetical: id.is_empty(),
            in_time,
            ..JobForecast::default()
        }
    }

    fn forecast(jobs: Vec<JobForecast>) -> Forecast {
        Forecast { at_ms_epoch: 1_000_000, jobs, ..Forecast::default() }
    }

    #[test]
    fn jobs_that_end_later_are_listed_with_the_deadlines_that_would_be_missed() {
        let present = forecast(vec![
            job("job_1_0001", 1_010, None),
            job("job_1_0002", 1_020, Some(1.0)),
            job("job_1_0003", 1_030, None),
        ]);
        let changed = forecast(vec![
            job("job_1_0001", 1_010, None),
            job("job_1_0002", 1_035, Some(0.2)),
            job("job_1_0003", 0, None),
            job("", 1_040, Some(0.75)),
        ]);
        let admission = admitted(60_000, Some(&present), Some(&changed)).expect("both are there");
        let lines = admission.lines();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("Deadline in 60.0 s: it would end in about 40.0 s, between "), "{}", lines[0]);
        assert!(lines[0].ends_with("is in time in 75 % of the simulations"), "{}", lines[0]);
        assert_eq!(lines[1], "job_1_0003 (w) would end later beyond the horizon");
        assert_eq!(lines[2], "job_1_0002 (w) would end later by 15.0 s, and would miss its deadline");
    }

    #[test]
    fn an_answer_without_the_job_is_no_admission() {
        let present = forecast(vec![]);
        assert!(admitted(1, Some(&present), None).is_none(), "a master of an earlier version");
        assert!(admitted(1, Some(&present), Some(&present)).is_none());
    }
}
