//! The jobs of a replay as a table for other programs: one row for each job, in order of submission.
//!
//! Times are seconds from the trace's start with all digits; what is not known is empty. Quoting is RFC 4180's.

use std::io::Write;

use howdah_core::job::profile::Trace;
use howdah_core::replay::ReplayReport;
use howdah_core::replay::summary::Summary;
use howdah_core::time::{Span, Time};

use super::replayed::job_id;

/// Names of the columns.
pub(crate) const HEADER: [&str; 15] = [
    "job",
    "name",
    "queue",
    "state",
    "maps",
    "reduces",
    "submit_s",
    "start_s",
    "maps_done_s",
    "finish_s",
    "completion_s",
    "slowdown",
    "deadline_s",
    "failed_attempts",
    "killed_attempts",
];

/// Writes the rows, each behind `lead`.
pub(crate) fn write<W: Write>(
    trace: &Trace,
    report: &ReplayReport,
    summary: &Summary,
    lead: &[&str],
    out: &mut csv::Writer<W>,
) -> csv::Result<()> {
    for (job, slowdown) in report.jobs.iter().zip(&summary.slowdowns) {
        let template = &trace.jobs[job.template as usize];
        let over = job.state.is_final();
        let queue = if template.queue.is_empty() { "default" } else { &template.queue };
        let row: [&str; HEADER.len()] = [
            &job_id(template, job.template),
            &template.name,
            queue,
            job.state.name(),
            &template.n_maps.to_string(),
            &template.n_reduces.to_string(),
            &known(Some(instant(job.submit))),
            &known(job.start.map(instant)),
            &known(job.maps_done.map(instant)),
            &known(over.then(|| instant(job.finish))),
            &known(over.then(|| job.completion().as_secs_f64())),
            &known(*slowdown),
            &known(job.deadline.map(Span::as_secs_f64)),
            &job.failed_attempts.to_string(),
            &job.killed_attempts.to_string(),
        ];
        out.write_record(lead.iter().copied().chain(row))?;
    }
    Ok(())
}

fn known(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn instant(at: Time) -> f64 {
    at.as_us() as f64 / 1e6
}
