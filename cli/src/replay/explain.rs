//! `replay --explain JOB@TIME`: the policy's own answer at an instant of the simulation.

use howdah_core::job::JobId;
use howdah_core::job::profile::Trace;
use howdah_core::replay::Simulation;
use howdah_json::Listing;
use serde_json::json;

use super::replayed::job_id;
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::flag_values::Question;
use crate::output::Screen;

/// Simulates up to the instant, all that happens at it included, and says why the job does not run (more) then.
pub(super) fn explain(
    screen: &Screen,
    format: Format,
    trace: &Trace,
    mut simulation: Simulation<'_>,
    question: &Question,
) -> Outcome {
    while simulation.next_time().is_some_and(|next| next <= question.at) && simulation.step() {}
    let printed = |template: u32| job_id(&trace.jobs[template as usize], template);
    let report = simulation.report();
    let number = question.job.parse::<u32>().ok();
    let asked = |id: JobId, template: u32| number == Some(id.0) || printed(template) == question.job;
    let at_s = question.at.as_us() as f64 / 1e6;
    let (job, text) = match report.jobs.iter().find(|job| asked(job.id, job.template)) {
        Some(job) => (printed(job.template), simulation.tracker().explain(job.id).to_string()),
        None => (to_come(trace, question)?, "The job has not come yet.".to_owned()),
    };
    match format {
        Format::Json => screen.json(&Listing::new("explain", json!({ "job": job, "at_s": at_s, "text": text })))?,
        Format::Table => screen.line(text)?,
    }
    Ok(Exit::Done)
}

/// What to call a job that comes later.
fn to_come(trace: &Trace, question: &Question) -> Outcome<String> {
    let n = trace.jobs.len();
    let known = trace.jobs.iter().zip(0..).any(|(job, place)| job_id(job, place) == question.job);
    if known || question.job.parse().is_ok_and(|number: usize| (1..=n).contains(&number)) {
        return Ok(question.job.clone());
    }
    Err(Failure::usage(format!(
        "--explain: there is no job `{}`, expected an id of the trace or a number from 1 to {n}",
        question.job
    )))
}
