//! The log of a replay: the history of a simulated run, in the words of a real one.
//!
//! JSON lines: an object that tells of the cluster (`howdah/replay-log/v1`), then one `howdah/history/v1` object per
//! job, in order of submission, as a master writes them into a run's directory. The same extraction that makes a
//! trace of a real run makes one of this, so a log can be replayed.

use std::collections::BTreeMap;
use std::io::BufRead;

use howdah_core::job::profile::{TRACE_SCHEMA, Trace, TraceCluster};
use howdah_master::history::JobHistory;
use howdah_master::trace::{chain, template};
use howdah_traces::howdah::malformed;
use howdah_traces::{ImportNotes, TraceError};
use serde::{Deserialize, Serialize};

/// Value of `schema` in the first line.
pub(crate) const LOG_SCHEMA: &str = "howdah/replay-log/v1";

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LogHeader {
    pub(crate) schema: String,
    pub(crate) source: String,
    pub(crate) start_ms_epoch: u64,
    pub(crate) cluster: TraceCluster,
}

/// Whether a file that begins like this is a log.
pub(crate) fn is_log(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first.windows(LOG_SCHEMA.len()).any(|window| window == LOG_SCHEMA.as_bytes())
}

/// Reads a log as a trace. Jobs that were not over are left out, as `trace record` does.
///
/// # Errors
/// Says which line is wrong, and what was expected.
pub(crate) fn read(source: &mut dyn BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut lines = source.lines().enumerate();
    let mut next = || -> Option<Result<(usize, String), TraceError>> {
        let (index, line) = lines.next()?;
        let place = || format!("line {}", index + 1);
        Some(line.map(|line| (index, line)).map_err(|source| TraceError::Io { place: place(), source }))
    };
    let wrong = |place: &str, found: &str, expected: String| TraceError::Malformed {
        place: place.to_owned(),
        found: found.to_owned(),
        expected,
    };
    let header = "the header of a replay's log".to_owned();
    let (_, first) = next().unwrap_or_else(|| Err(wrong("line 1", "nothing", header)))?;
    let header: LogHeader = serde_json::from_str(&first).map_err(|error| malformed(&error, 0, "header"))?;
    if header.schema != LOG_SCHEMA {
        return Err(wrong("header, field `schema`", &format!("`{}`", header.schema), format!("`{LOG_SCHEMA}`")));
    }
    let mut jobs = Vec::new();
    // A job is never above the one that it followed.
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut number = 0;
    while let Some(line) = next() {
        let (before, line) = line?;
        if line.trim().is_empty() {
            continue;
        }
        number += 1;
        let history: JobHistory =
            serde_json::from_str(&line).map_err(|error| malformed(&error, before as u64, &format!("job {number}")))?;
        if history.state.is_final() {
            let mut job = template(&history, header.start_ms_epoch);
            chain(&mut job, &history, |id| ends.get(id).copied());
            ends.insert(history.id, history.finish_ms_epoch);
            jobs.push(job);
        } else {
            notes.add("job that was not over when the replay ended: left out", || history.id.clone());
        }
    }
    Ok(Trace {
        schema: TRACE_SCHEMA.to_owned(),
        source: header.source,
        start_ms_epoch: Some(header.start_ms_epoch),
        cluster: Some(header.cluster),
        jobs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_recognised_by_its_first_line() {
        assert!(is_log(br#"{"schema":"howdah/replay-log/v1","source":""}"#));
        assert!(!is_log(b"{\"schema\":\"howdah/trace/v1\"}\n\"howdah/replay-log/v1\""));
        assert!(!is_log(b""));
    }

    #[test]
    fn a_log_that_breaks_off_names_its_line() {
        let said =
            |text: &str| read(&mut text.as_bytes(), &mut ImportNotes::default()).expect_err("broken").to_string();
        assert!(said("").starts_with("line 1: found nothing"));
        let header = r#"{"schema":"howdah/replay-log/v1","source":"","start_ms_epoch":1,"cluster":{"scheduler":"fifo","workers":[]}}"#;
        assert_eq!(
            said(&format!("{header}\n\n{{\"schema\":")),
            "line 3, column 10 (job 1): found the end in the middle of it, expected a whole JSON object"
        );
        assert!(said(&header.replace("log/v1", "log/v9")).contains("expected `howdah/replay-log/v1`"));
    }
}
