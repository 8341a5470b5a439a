//! Jobs as CSV with the field names of Batsim's `jobs.csv`, which tools for job schedulers read.
//!
//! One row per job. Times are seconds with milliseconds. A job's resources are its tasks; what a trace or a replay
//! does not know (energy, walltimes, places) stays empty, as Batsim allows.
//! Source: Batsim's documentation of its job output.

use std::io::Write;

use howdah_core::job::profile::{JobTemplate, Trace};

/// The first line.
const HEADER: [&str; 17] = [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "consumed_energy",
    "allocated_resources",
    "metadata",
];

/// Writes the jobs of `trace`, as measured, under the name `workload`.
///
/// # Errors
/// When the target breaks.
pub fn write(trace: &Trace, workload: &str, target: &mut dyn Write) -> std::io::Result<()> {
    let mut rows = csv::Writer::from_writer(target);
    rows.write_record(HEADER)?;
    for (index, job) in trace.jobs.iter().enumerate() {
        let id = if job.id.is_empty() { (index + 1).to_string() } else { job.id.clone() };
        rows.write_record(row(&id, workload, job))?;
    }
    rows.flush()
}

fn row(id: &str, workload: &str, job: &JobTemplate) -> [String; HEADER.len()] {
    let (success, state) = match job.outcome.as_str() {
        "SUCCEEDED" => ("1", "COMPLETED_SUCCESSFULLY"),
        "FAILED" => ("0", "COMPLETED_FAILED"),
        "KILLED" => ("0", "COMPLETED_KILLED"),
        _ => ("", ""),
    };
    let tasks = u64::from(job.n_maps) + u64::from(job.n_reduces);
    let [start, run, finish, wait, all, stretch] = match &job.measured {
        Some(measured) => {
            let run_ms = measured.finish_ms.saturating_sub(measured.launch_ms);
            let all_ms = measured.finish_ms.saturating_sub(job.submit_ms);
            let stretch = if run_ms == 0 { String::new() } else { format!("{:.6}", all_ms as f64 / run_ms as f64) };
            let wait_ms = measured.launch_ms.saturating_sub(job.submit_ms);
            let [start, run, finish] = [measured.launch_ms, run_ms, measured.finish_ms].map(seconds);
            [start, run, finish, seconds(wait_ms), seconds(all_ms), stretch]
        }
        None => Default::default(),
    };
    let [none, energy, places, more] = Default::default();
    let own = |text: &str| text.to_owned();
    [
        own(id),
        own(workload),
        own(&job.name),
        seconds(job.submit_ms),
        tasks.to_string(),
        none,
        own(success),
        own(state),
        start,
        run,
        finish,
        wait,
        all,
        stretch,
        energy,
        places,
        more,
    ]
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::job::profile::Measured;

    #[test]
    fn a_row_has_a_field_for_each_name_and_quotes_what_needs_it() {
        let measured = JobTemplate {
            id: "job_1_0001".to_owned(),
            name: "word, \"count\"".to_owned(),
            submit_ms: 1_500,
            n_maps: 3,
            n_reduces: 1,
            outcome: "SUCCEEDED".to_owned(),
            measured: Some(Measured { launch_ms: 2_000, maps_done_ms: 3_000, finish_ms: 4_000 }),
            ..JobTemplate::default()
        };
        let trace = Trace { jobs: vec![measured, JobTemplate::default()], ..Trace::default() };
        let mut text = Vec::new();
        write(&trace, "run", &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "job_1_0001,run,\"word, \"\"count\"\"\",1.500,4,,1,COMPLETED_SUCCESSFULLY,2.000,2.000,4.000,0.500,2.500,1.250000,,,"
        );
        assert_eq!(lines[2], "2,run,,0.000,0,,,,,,,,,,,,");
        assert_eq!(lines[0], HEADER.join(","));
        assert_eq!(lines[2].matches(',').count() + 1, HEADER.len());
    }
}
