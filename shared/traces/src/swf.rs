//! The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, header lines after `;`.
//!
//! A parallel job holds its processors together; here it becomes a map-only job with one map per processor, each as
//! long as the job ran, and may start piece by piece. `Deviation:` that is the nearest thing that slots can do.
//! Lines of partial executions (status 2 to 4) repeat what the job's own line sums up and are left out, and so are
//! jobs that never ran. The preceding job and the think time after it are kept. -1 means unknown throughout.
//! Source: the archive's definition, version 2.2.

use std::io::BufRead;

use super::howdah::in_order;
use super::lines::{Lines, shortened};
use super::numbers::scaled;
use super::profiler::MAX_INSTANT_MS;
use super::{ImportNotes, TraceError};
use howdah_core::job::profile::{Follows, JobTemplate, Measured, Trace};

/// Longest line that is taken for a job or a comment.
const LONGEST_LINE: usize = 1 << 20;

/// Reads a log.
///
/// # Errors
/// When the source breaks, or a line does not have 18 numbers.
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut lines = Lines::new(source, LONGEST_LINE, 0);
    let mut trace = Trace { source: "SWF log".to_owned(), ..Trace::default() };
    while lines.advance()? {
        let text = lines.text();
        let text = text.trim();
        if let Some(comment) = text.strip_prefix(';') {
            header(comment, &mut trace);
        } else if !text.is_empty()
            && let Some(job) = job(text, &lines.place(), notes)?
        {
            trace.jobs.push(job);
        }
    }
    trace.jobs.shrink_to_fit();
    in_order(&mut trace, notes);
    Ok(trace)
}

fn header(comment: &str, trace: &mut Trace) {
    let Some((key, value)) = comment.split_once(':') else { return };
    match key.trim() {
        "UnixStartTime" => {
            trace.start_ms_epoch = scaled(value, 1000).filter(|ms| *ms > 0 && *ms <= MAX_INSTANT_MS);
        }
        "Computer" => trace.source = format!("SWF log of {}", value.trim()),
        _ => {}
    }
}

fn job(text: &str, place: &str, notes: &mut ImportNotes) -> Result<Option<JobTemplate>, TraceError> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 18 {
        return Err(TraceError::Malformed {
            place: place.to_owned(),
            found: format!("{} fields", fields.len()),
            expected: "18".to_owned(),
        });
    }
    // Field `n` as in the definition, from 1; nothing for -1.
    let field = |n: usize, factor: u32| -> Result<Option<u64>, TraceError> {
        let text = fields[n - 1];
        if text.parse::<f64>().is_ok_and(|value| value == -1.0) {
            return Ok(None);
        }
        scaled(text, factor).map(Some).ok_or_else(|| TraceError::Malformed {
            place: format!("{place}, field {n}"),
            found: shortened(text),
            expected: "a number that is not negative, or -1 for unknown".to_owned(),
        })
    };
    let ms = |n: usize| -> Result<Option<u64>, TraceError> {
        match field(n, 1000)? {
            Some(ms) if ms > MAX_INSTANT_MS => Err(TraceError::Malformed {
                place: format!("{place}, field {n}"),
                found: shortened(fields[n - 1]),
                expected: "at most 253402300799 seconds".to_owned(),
            }),
            ms => Ok(ms),
        }
    };
    let mut drop = |reason: &str| notes.add(reason, || place.to_owned());
    let status = field(11, 1)?;
    if let Some(2..=4) = status {
        drop("partial execution: left out, the job's own line sums it up");
        return Ok(None);
    }
    let Some(submit_ms) = ms(2)? else {
        drop("job without a submit time: left out");
        return Ok(None);
    };
    let Some(run_ms) = ms(4)? else {
        drop("job that never ran: left out");
        return Ok(None);
    };
    let used = field(5, 1)?.filter(|n| *n > 0);
    if used.is_none() {
        drop("allocated processors unknown: those requested were used, or one");
    }
    let n_maps = used.or(field(8, 1)?.filter(|n| *n > 0)).unwrap_or(1);
    let n_maps = u32::try_from(n_maps).map_err(|_| TraceError::Malformed {
        place: format!("{place}, field 5"),
        found: format!("{n_maps} processors"),
        expected: "at most 4294967295".to_owned(),
    })?;
    let measured = ms(3)?.map(|wait_ms| {
        let launch_ms = submit_ms + wait_ms;
        Measured { launch_ms, maps_done_ms: launch_ms + run_ms, finish_ms: launch_ms + run_ms }
    });
    let follows = match field(17, 1)?.filter(|job| *job > 0) {
        Some(job) => Some(Box::new(Follows { job: job.to_string(), after_ms: ms(18)?.unwrap_or(0) })),
        None => None,
    };
    let numbered = |what: &str, n: Option<u64>| n.map(|n| format!("{what}{n}")).unwrap_or_default();
    Ok(Some(JobTemplate {
        id: fields[0].to_owned(),
        name: numbered("executable-", field(14, 1)?),
        user: numbered("user-", field(12, 1)?),
        queue: numbered("queue-", field(15, 1)?),
        submit_ms,
        follows,
        n_maps,
        map_ms: vec![run_ms],
        outcome: match status {
            Some(0) => "FAILED",
            Some(1) => "SUCCEEDED",
            Some(5) => "KILLED",
            _ => "",
        }
        .to_owned(),
        measured: measured.filter(|measured| measured.finish_ms <= MAX_INSTANT_MS),
        ..JobTemplate::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "; Version: 2.2\n; Computer: a small one\n; UnixStartTime: 1000000\n;\n\
        1 0 5 60 4 -1 -1 4 100 -1 1 3 1 7 2 -1 -1 -1\n\
        2 10 -1 0.5 -1 -1 -1 8 100 -1 0 -1 -1 -1 -1 -1 -1 -1\n\
        3 12 0 30 4 -1 -1 4 100 -1 2 3 1 7 2 -1 -1 -1\n\
        4 13 -1 -1 -1 -1 -1 4 100 -1 5 3 1 7 2 -1 -1 -1\n";

    #[test]
    fn a_parallel_job_becomes_one_map_per_processor() {
        let mut notes = ImportNotes::default();
        let trace = read(LOG.as_bytes(), &mut notes).unwrap();
        assert_eq!((trace.source.as_str(), trace.start_ms_epoch), ("SWF log of a small one", Some(1_000_000_000)));
        let [first, second] = &trace.jobs[..] else { panic!("{} jobs", trace.jobs.len()) };
        assert_eq!((first.n_maps, &first.map_ms[..], first.completion_ms()), (4, &[60_000][..], Some(65_000)));
        assert_eq!(
            (first.user.as_str(), first.name.as_str(), first.queue.as_str()),
            ("user-3", "executable-7", "queue-2")
        );
        assert_eq!((second.n_maps, second.map_ms[0], second.outcome.as_str()), (8, 500, "FAILED"));
        assert_eq!(second.measured, None);
        let counts: Vec<_> = notes.iter().map(|(_, note)| (note.count, note.first.as_str())).collect();
        assert_eq!(counts, [(1, "line 6"), (1, "line 8"), (1, "line 7")]);
    }

    #[test]
    fn a_job_that_was_submitted_after_another_follows_it_with_its_think_time() {
        let log = "1 0 5 60 4 -1 -1 4 100 -1 1 3 1 7 2 -1 -1 -1\n2 90 0 1 1 -1 -1 1 9 -1 1 3 1 7 2 -1 1 25\n\
            3 95 0 1 1 -1 -1 1 9 -1 1 3 1 7 2 -1 2 -1\n";
        let trace = read(log.as_bytes(), &mut ImportNotes::default()).unwrap();
        let follows = trace.jobs.iter().map(|job| job.follows.as_ref().map(|it| (it.job.as_str(), it.after_ms)));
        assert_eq!(follows.collect::<Vec<_>>(), [None, Some(("1", 25_000)), Some(("2", 0))]);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_field() {
        let error = |text: &str| read(text.as_bytes(), &mut ImportNotes::default()).unwrap_err().to_string();
        assert_eq!(error("1 2 3\n"), "line 1: found 3 fields, expected 18");
        assert_eq!(
            error("; ok\n1 0 5 soon 4 -1 -1 4 100 -1 1 3 1 7 2 -1 -1 -1\n"),
            "line 2, field 4: found `soon`, expected a number that is not negative, or -1 for unknown"
        );
    }
}
