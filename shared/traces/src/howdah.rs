//! The project's own format, `howdah/trace/v1`: a header object, then one job object per line.
//!
//! The types are the format (see `job::profile`); this file adds what serde cannot check: lengths that fit the
//! numbers of tasks, indexes below them, numbers small enough to add up, workers named once, jobs in order of
//! submission. The header may spread over lines and may hold the jobs itself, so a trace written by hand or
//! printed prettily reads as well. Durations may be fewer than tasks: they are used round and round.

use std::collections::BTreeSet;
use std::io::{BufRead, Read, Write};

use serde::Deserialize;

use super::json;
use super::lines::Lines;
use super::profiler::MAX_INSTANT_MS;
use super::{ImportNotes, TraceError};
use howdah_core::job::profile::{JobTemplate, TRACE_SCHEMA, Trace, TraceCluster};
use howdah_core::job::{JobProfile, SplitHosts};

/// Longest line of a job: 100 million tasks with six-digit durations.
const LONGEST_LINE: usize = 1 << 30;

/// Writes `trace`: the header on one line, then one job per line.
///
/// # Errors
/// When the target breaks.
pub fn write(trace: &Trace, target: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer(&mut *target, &trace.header())?;
    target.write_all(b"\n")?;
    for job in &trace.jobs {
        serde_json::to_writer(&mut *target, job)?;
        target.write_all(b"\n")?;
    }
    target.flush()
}

/// Reads a trace.
///
/// # Errors
/// When the source breaks, or a job is not what the format says.
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut source = Counted { source, line_feeds: 0 };
    // Stops right behind the closing brace: what follows is still in the source.
    let mut header = serde_json::Deserializer::from_reader(&mut source);
    let mut trace = Trace::deserialize(&mut header).map_err(|error| malformed(&error, 0, "header"))?;
    if trace.schema != TRACE_SCHEMA {
        return Err(TraceError::Malformed {
            place: "header, field `schema`".to_owned(),
            found: format!("`{}`", trace.schema),
            expected: format!("`{TRACE_SCHEMA}`"),
        });
    }
    check_cluster(trace.cluster.as_ref())?;
    for (index, job) in trace.jobs.iter_mut().enumerate() {
        settle(job, index as u64 + 1, notes)?;
    }
    let before = source.line_feeds;
    let mut lines = Lines::new(source, LONGEST_LINE, before);
    while lines.advance()? {
        if lines.bytes().trim_ascii().is_empty() {
            continue;
        }
        let number = trace.jobs.len() as u64 + 1;
        let mut job: JobTemplate = serde_json::from_slice(lines.bytes())
            .map_err(|error| malformed(&error, lines.number() - 1, &format!("job {number}")))?;
        settle(&mut job, number, notes)?;
        trace.jobs.push(job);
    }
    trace.jobs.shrink_to_fit();
    in_order(&mut trace, notes);
    Ok(trace)
}

/// Sorts jobs by submission, those of one instant as they stood.
pub(super) fn in_order(trace: &mut Trace, notes: &mut ImportNotes) {
    let late = trace.jobs.windows(2).filter(|pair| pair[1].submit_ms < pair[0].submit_ms).count();
    let first = trace.jobs.windows(2).position(|pair| pair[1].submit_ms < pair[0].submit_ms);
    notes.add_many("job submitted before the one above it: jobs were sorted", late as u64, || {
        format!("job {}", first.unwrap_or_default() + 2)
    });
    if late > 0 {
        trace.jobs.sort_by_key(|job| job.submit_ms);
    }
}

/// Checks one job, counts what it does not tell, and gives back the memory that reading it left over.
fn settle(job: &mut JobTemplate, number: u64, notes: &mut ImportNotes) -> Result<(), TraceError> {
    check_job(job).map_err(|(field, found, expected)| TraceError::Malformed {
        place: if field.is_empty() { format!("job {number}") } else { format!("job {number}, field `{field}`") },
        found,
        expected,
    })?;
    note_missing_durations(job, number, notes);
    for list in [
        &mut job.map_ms,
        &mut job.first_shuffle_ms,
        &mut job.typical_shuffle_ms,
        &mut job.reduce_ms,
        &mut job.map_input_bytes,
    ] {
        list.shrink_to_fit();
    }
    job.lost_attempts.shrink_to_fit();
    Ok(())
}

/// A phase without a list takes no time. Where that is all that a job says of its tasks, somebody may have forgotten it.
fn note_missing_durations(job: &JobTemplate, number: u64, notes: &mut ImportNotes) {
    let place = || match job.id.is_empty() {
        true if job.name.is_empty() => format!("job {number}"),
        true => format!("job {number}, `{}`", job.name),
        false => job.id.clone(),
    };
    if job.n_maps > 0 && job.map_ms.is_empty() {
        notes.add("job without durations of its maps: they take 0 ms", place);
    }
    let of_reduces = [&job.first_shuffle_ms, &job.typical_shuffle_ms, &job.reduce_ms];
    if job.n_reduces > 0 && of_reduces.iter().all(|list| list.is_empty()) {
        notes.add("job without durations of its reduces: they take 0 ms", place);
    }
}

/// Field (or nothing), found, expected.
type Complaint = (&'static str, String, String);

fn check_job(job: &JobTemplate) -> Result<(), Complaint> {
    let lists = [
        ("map durations", &job.map_ms, job.n_maps),
        ("reduce durations", &job.reduce_ms, job.n_reduces),
        ("first shuffle durations", &job.first_shuffle_ms, job.n_reduces),
        ("typical shuffle durations", &job.typical_shuffle_ms, job.n_reduces),
    ];
    for (name, list, most) in lists {
        if list.len() as u64 > u64::from(most) {
            return Err(("", format!("{} {name}", list.len()), format!("at most {most}, one per task")));
        }
        if let Some(ms) = list.iter().find(|ms| **ms > MAX_INSTANT_MS) {
            return Err(("", format!("{ms} ms among the {name}"), format!("at most {MAX_INSTANT_MS} ms")));
        }
    }
    let instants = [("submit_ms", job.submit_ms), ("commit_ms", job.commit_ms)]
        .into_iter()
        .chain(job.deadline_ms.map(|ms| ("deadline_ms", ms)))
        .chain(job.follows.iter().map(|follows| ("follows", follows.after_ms)))
        .chain(
            job.measured
                .iter()
                .flat_map(|m| [("measured", m.launch_ms), ("measured", m.maps_done_ms), ("measured", m.finish_ms)]),
        );
    for (field, ms) in instants {
        if ms > MAX_INSTANT_MS {
            return Err((field, format!("{ms}"), format!("at most {MAX_INSTANT_MS} ms")));
        }
    }
    if let Some(part) = job.profile.as_ref().and_then(JobProfile::contradiction) {
        return Err(("profile", format!("an average {part} above its maximum"), "at most the maximum".to_owned()));
    }
    let sizes = job.map_input_bytes.len();
    if sizes != 0 && sizes as u64 != u64::from(job.n_maps) {
        return Err(("map_input_bytes", format!("{sizes} sizes"), format!("{} or none, one per map", job.n_maps)));
    }
    if let Some(ppm) = job.slowstart_ppm.filter(|ppm| *ppm > 1_000_000) {
        return Err(("slowstart_ppm", ppm.to_string(), "at most 1000000, which is all maps".to_owned()));
    }
    if !["", "SUCCEEDED", "FAILED", "KILLED"].contains(&job.outcome.as_str()) {
        return Err(("outcome", format!("`{}`", job.outcome), "SUCCEEDED, FAILED or KILLED".to_owned()));
    }
    for lost in &job.lost_attempts {
        let (name, tasks) = if lost.reduce { ("reduces", job.n_reduces) } else { ("maps", job.n_maps) };
        if lost.index >= tasks {
            return Err(("lost_attempts", format!("index {}", lost.index), format!("less than the {tasks} {name}")));
        }
        if lost.ms > MAX_INSTANT_MS {
            return Err(("lost_attempts", format!("{} ms", lost.ms), format!("at most {MAX_INSTANT_MS} ms")));
        }
    }
    check_hosts(&job.split_hosts, job.n_maps)
}

fn check_hosts(table: &SplitHosts, n_maps: u32) -> Result<(), Complaint> {
    let wrong = |found: String, expected: String| Err(("split_hosts", found, expected));
    if *table == SplitHosts::default() {
        return Ok(());
    }
    if table.offsets.len() as u64 != u64::from(n_maps) + 1 {
        let expected = format!("{}, one more than maps", u64::from(n_maps) + 1);
        return wrong(format!("{} offsets", table.offsets.len()), expected);
    }
    if table.offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return wrong("offsets that go down".to_owned(), "ascending offsets".to_owned());
    }
    let last = table.offsets.last().copied().unwrap_or_default();
    if last as usize != table.entries.len() {
        return wrong(format!("{last} as the last offset"), format!("{}, the entries' number", table.entries.len()));
    }
    match table.entries.iter().find(|entry| **entry as usize >= table.hosts.len()) {
        Some(entry) => wrong(format!("entry {entry}"), format!("less than the {} hosts", table.hosts.len())),
        None => Ok(()),
    }
}

fn check_cluster(cluster: Option<&TraceCluster>) -> Result<(), TraceError> {
    let mut names = BTreeSet::new();
    for worker in cluster.iter().flat_map(|cluster| &cluster.workers) {
        if !names.insert(&worker.name) {
            return Err(TraceError::Malformed {
                place: "header, field `workers`".to_owned(),
                found: format!("`{}` twice", worker.name),
                expected: "every worker's name once".to_owned(),
            });
        }
        let instants: Vec<u64> = worker.attribute_changes.iter().map(|change| change.at_ms).collect();
        let ascend = instants.iter().zip([0].iter().chain(&instants)).all(|(at, before)| at > before);
        if !ascend || instants.last().is_some_and(|&at| at > MAX_INSTANT_MS) {
            return Err(TraceError::Malformed {
                place: format!("header, worker `{}`, field `attribute_changes`", worker.name),
                found: format!("instants {instants:?}"),
                expected: format!("ascending ones from 1 to {MAX_INSTANT_MS} ms"),
            });
        }
    }
    Ok(())
}

/// serde's complaint in our words, for any file of JSON lines that is read as a trace; `before` are the lines in front of
/// those that serde has seen, `record` is what it was reading, such as `job 3`.
pub fn malformed(error: &serde_json::Error, before: u64, record: &str) -> TraceError {
    let line = before + error.line() as u64;
    if let Some(kind) = error.io_error_kind() {
        return TraceError::Io { place: format!("line {line}"), source: kind.into() };
    }
    let place = format!("line {line}, column {} ({record})", error.column());
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or(&text);
    let (found, expected) = match said.split_once(", expected ") {
        Some((found, expected)) => (found.to_owned(), in_words(expected).to_owned()),
        None if error.is_eof() => ("the end in the middle of it".to_owned(), "a whole JSON object".to_owned()),
        None if error.is_data() => (said.to_owned(), "the format's fields".to_owned()),
        None => (json::found(said), "a JSON object".to_owned()),
    };
    TraceError::Malformed { place, found, expected }
}

/// Types of numbers as people call them.
fn in_words(expected: &str) -> &str {
    match expected {
        "u64" => "a whole number",
        "u32" => "a whole number up to 4294967295",
        "u16" => "a whole number up to 65535",
        other => other,
    }
}

/// Counts the line feeds that pass.
struct Counted<R> {
    source: R,
    line_feeds: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read(into)?;
        self.line_feeds += into[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.source.consume(amount);
    }
}

#[cfg(test)]
mod tests;
