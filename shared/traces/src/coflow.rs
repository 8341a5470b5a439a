//! The coflow benchmark's trace: who shuffles how much from which racks to which, and nothing else.
//!
//! A coflow is one job's shuffle. It becomes a job with one map per mapper location and one reduce per reducer
//! location, whose durations the [`CostModel`] makes of its megabytes: maps share what is shuffled equally, as they
//! do there, and each reduce has its own. The maps' racks become the places of their input, as hosts `rack-N`.
//! Source: the benchmark's format as described beside it; a megabyte is taken as 2^20 bytes.

use std::io::BufRead;
use std::str::SplitAsciiWhitespace;

use super::cost::CostModel;
use super::howdah::in_order;
use super::lines::{Lines, shortened};
use super::numbers::scaled;
use super::profiler::MAX_INSTANT_MS;
use super::{ImportNotes, TraceError};
use howdah_core::job::SplitHosts;
use howdah_core::job::profile::{JobTemplate, Trace};

/// Longest line that is taken for a coflow.
const LONGEST_LINE: usize = 1 << 20;

/// Reads a trace.
///
/// # Errors
/// When the source breaks, or a line is not what its own counts say.
pub fn read(source: impl BufRead, model: &CostModel, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut lines = Lines::new(source, LONGEST_LINE, 0);
    let mut trace = Trace { source: "coflow trace, durations from a cost model".to_owned(), ..Trace::default() };
    let mut announced = None;
    while lines.advance()? {
        let text = lines.text();
        if text.trim().is_empty() {
            continue;
        }
        let mut words = Words { words: text.split_ascii_whitespace(), place: lines.place() };
        match announced {
            None => {
                words.number("the number of racks", 1)?;
                announced = Some(words.number("the number of coflows", 1)?);
                words.end()?;
            }
            Some(_) => trace.jobs.push(coflow(words, model, notes)?),
        }
    }
    let found = trace.jobs.len() as u64;
    if announced.unwrap_or(0) != found {
        notes.add("first line announces another number of coflows than there are", || format!("{found} found"));
    }
    trace.jobs.shrink_to_fit();
    in_order(&mut trace, notes);
    Ok(trace)
}

fn coflow(mut words: Words<'_>, model: &CostModel, notes: &mut ImportNotes) -> Result<JobTemplate, TraceError> {
    let id = words.next("a coflow's id")?.to_owned();
    let submit_ms = words.number("an arrival in ms", 1)?;
    let n_maps = words.number("the number of mappers", 1)?;
    let mut racks = Vec::new();
    for _ in 0..n_maps {
        racks.push(format!("rack-{}", words.number("a mapper's rack", 1)?));
    }
    let n_reduces = words.number("the number of reducers", 1)?;
    let mut bytes = Vec::new();
    for _ in 0..n_reduces {
        let word = words.next("a reducer as rack:megabytes")?;
        let (rack, size) = word.split_once(':').unwrap_or(("", ""));
        match (scaled(rack, 1), scaled(size, 1 << 20)) {
            (Some(_), Some(size)) => bytes.push(size),
            _ => return Err(words.malformed(word, "a reducer as rack:megabytes")),
        }
    }
    words.end()?;
    if submit_ms > MAX_INSTANT_MS {
        return Err(words.malformed(&submit_ms.to_string(), "an arrival of at most 253402300799999 ms"));
    }
    if racks.is_empty() || bytes.is_empty() {
        notes.add("coflow without mappers or reducers: its job has no such tasks", || words.place.clone());
    }
    let shuffle = bytes.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    let typical: Vec<u64> = bytes.iter().map(|bytes| model.shuffle_ms(*bytes, 1)).collect();
    let first = typical.iter().map(|ms| model.first_shuffle_ms(*ms)).collect();
    Ok(JobTemplate {
        name: format!("coflow-{id}"),
        id,
        submit_ms,
        // Each stood on the line as a word, so there are not more than a line can hold.
        n_maps: racks.len() as u32,
        n_reduces: bytes.len() as u32,
        map_ms: if racks.is_empty() { Vec::new() } else { vec![model.map_ms(shuffle, racks.len() as u32)] },
        first_shuffle_ms: if model.overlap_ppm == 0 { Vec::new() } else { first },
        typical_shuffle_ms: typical,
        reduce_ms: bytes.iter().map(|bytes| model.reduce_ms(*bytes, 1)).collect(),
        shuffle_bytes: Some(shuffle),
        split_hosts: SplitHosts::new(racks.iter().map(|rack| [rack.as_str()])),
        ..JobTemplate::default()
    })
}

struct Words<'a> {
    words: SplitAsciiWhitespace<'a>,
    place: String,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &str) -> Result<&'a str, TraceError> {
        self.words.next().ok_or_else(|| TraceError::Malformed {
            place: self.place.clone(),
            found: "the end of the line".to_owned(),
            expected: expected.to_owned(),
        })
    }

    fn number(&mut self, expected: &str, factor: u32) -> Result<u64, TraceError> {
        let word = self.next(expected)?;
        scaled(word, factor).ok_or_else(|| self.malformed(word, expected))
    }

    fn end(&mut self) -> Result<(), TraceError> {
        match self.words.next() {
            Some(word) => Err(self.malformed(word, "the end of the line")),
            None => Ok(()),
        }
    }

    fn malformed(&self, found: &str, expected: &str) -> TraceError {
        TraceError::Malformed { place: self.place.clone(), found: shortened(found), expected: expected.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(text: &str, model: &CostModel) -> Result<(Trace, ImportNotes), TraceError> {
        let mut notes = ImportNotes::default();
        Ok((read(text.as_bytes(), model, &mut notes)?, notes))
    }

    #[test]
    fn a_coflow_becomes_a_job_with_a_task_per_location() {
        let model = CostModel {
            startup_ms: 100,
            map_rate: 1 << 20,
            shuffle_rate: 1 << 20,
            reduce_rate: 2 << 20,
            ..CostModel::default()
        };
        let (trace, notes) = from("150 1\n7 250 2 3 9 2 0:2.0 5:4.0\n", &model).unwrap();
        assert!(notes.is_empty());
        let job = &trace.jobs[0];
        assert_eq!((job.name.as_str(), job.submit_ms, job.n_maps, job.n_reduces), ("coflow-7", 250, 2, 2));
        assert_eq!((&job.map_ms[..], &job.typical_shuffle_ms[..]), (&[3_100][..], &[2_000, 4_000][..]));
        assert_eq!((&job.reduce_ms[..], job.shuffle_bytes), (&[1_100, 2_100][..], Some(6 << 20)));
        assert_eq!(job.split_hosts.of(1).collect::<Vec<_>>(), ["rack-9"]);
    }

    #[test]
    fn counts_that_do_not_fit_are_named() {
        let error = |text: &str| from(text, &CostModel::default()).unwrap_err().to_string();
        assert_eq!(error("150 1\n1 0 1 3\n"), "line 2: found the end of the line, expected the number of reducers");
        assert_eq!(error("150 1\n1 0 1 3 1 4\n"), "line 2: found `4`, expected a reducer as rack:megabytes");
        assert_eq!(error("150 1\n1 0 1 3 1 4:1.0 9\n"), "line 2: found `9`, expected the end of the line");
        assert_eq!(
            error("150 1\n1 0 99999999999999 3\n"),
            "line 2: found the end of the line, expected a mapper's rack"
        );
        let (_, notes) = from("150 2\n1 0 0 1 4:1.0\n", &CostModel::default()).unwrap();
        assert_eq!(notes.iter().count(), 2);
    }
}
