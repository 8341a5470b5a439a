//! SWIM's workload files: one job a line, bytes only, in either of its two sets of columns.
//!
//! Six columns (`FB-2009_samples_…tsv`, what its synthesis writes): name, submit time in seconds from the start,
//! gap to the job before, input, shuffle and output bytes; two columns with paths may follow. Ten columns or more
//! (what its parser of job histories writes): id, name, input, shuffle and output bytes, submit time in seconds
//! since the epoch, duration, task-seconds of maps, of reduces and of both; the numbers of maps and of reduces and
//! two paths may follow. What a file does not tell comes from the [`CostModel`].
//! Source: SWIM's `workloadSuite/README` and the parser beside it.

use std::io::{BufRead, Write};

use super::cost::CostModel;
use super::howdah::in_order;
use super::lines::{Lines, shortened};
use super::numbers::scaled;
use super::profiler::MAX_INSTANT_MS;
use super::{ImportNotes, TraceError};
use howdah_core::job::profile::{JobTemplate, Trace};

/// Longest line that is taken for a job.
const LONGEST_LINE: usize = 1 << 20;

/// Reads a workload.
///
/// # Errors
/// When the source breaks, or a line has other columns.
pub fn read(source: impl BufRead, model: &CostModel, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut lines = Lines::new(source, LONGEST_LINE, 0);
    let mut trace = Trace { source: "SWIM workload, durations from a cost model".to_owned(), ..Trace::default() };
    let (mut before_s, mut epoch) = (0, false);
    while lines.advance()? {
        let text = lines.text();
        if text.trim().is_empty() {
            continue;
        }
        let columns = split(&text);
        if lines.number() == 1 && columns.iter().skip(1).all(|column| scaled(column, 1).is_none()) {
            notes.add("line of column names: skipped", || "line 1".to_owned());
            continue;
        }
        let mut row = Row { place: lines.place(), columns, notes };
        if row.columns.len() >= 10 {
            epoch = true;
            trace.jobs.push(row.history(model)?);
        } else {
            trace.jobs.push(row.synthesized(model, &mut before_s)?);
        }
    }
    trace.jobs.shrink_to_fit();
    in_order(&mut trace, notes);
    if let (true, Some(start)) = (epoch, trace.jobs.first().map(|job| job.submit_ms)) {
        trace.start_ms_epoch = Some(start);
        trace.jobs.iter_mut().for_each(|job| job.submit_ms -= start);
    }
    Ok(trace)
}

/// Columns are separated by tabs; some files mix tabs and spaces.
fn split(text: &str) -> Vec<&str> {
    let by_tab: Vec<&str> = text.split('\t').map(str::trim).collect();
    let whole = |column: &&str| !column.contains(char::is_whitespace);
    if by_tab.len() >= 6 && by_tab[2..].iter().all(whole) { by_tab } else { text.split_whitespace().collect() }
}

/// Bytes of a job.
#[derive(Clone, Copy)]
struct Bytes {
    input: u64,
    shuffle: u64,
    output: u64,
}

impl Bytes {
    /// What leaves the maps.
    fn behind_maps(self) -> u64 {
        if self.shuffle == 0 { self.output } else { self.shuffle }
    }
}

struct Row<'a> {
    place: String,
    columns: Vec<&'a str>,
    notes: &'a mut ImportNotes,
}

impl Row<'_> {
    /// Six columns.
    fn synthesized(&mut self, model: &CostModel, before_s: &mut u64) -> Result<JobTemplate, TraceError> {
        if self.columns.len() < 6 {
            return Err(TraceError::Malformed {
                place: self.place.clone(),
                found: format!("{} columns", self.columns.len()),
                expected: "6 or at least 10, separated by tabs".to_owned(),
            });
        }
        let submit_ms = self.instant(1, "submit time")?;
        let gap_s = self.number(2, "gap", 1)?;
        if submit_ms / 1000 != before_s.saturating_add(gap_s) {
            let place = self.place.clone();
            self.notes.add("gap is not the difference of submit times: submit times were used", || place);
        }
        *before_s = submit_ms / 1000;
        let bytes = self.bytes(3)?;
        let mut job = JobTemplate { name: self.columns[0].to_owned(), submit_ms, ..JobTemplate::default() };
        self.fill(&mut job, bytes, model, None, None)?;
        Ok(job)
    }

    /// Ten columns or more.
    fn history(&mut self, model: &CostModel) -> Result<JobTemplate, TraceError> {
        let bytes = self.bytes(2)?;
        let submit_ms = self.instant(5, "submit time")?;
        self.instant(6, "duration")?;
        let map_ms = self.instant(7, "map task-seconds")?;
        let reduce_ms = self.instant(8, "reduce task-seconds")?;
        let count = |row: &mut Self, index: usize| match row.columns.get(index).filter(|text| !text.is_empty()) {
            Some(text) => match text.parse::<u32>() {
                Ok(count) => Ok(Some(count)),
                Err(_) => Err(row.malformed(index, "number of tasks", "a whole number below 4294967296")),
            },
            None => Ok(None),
        };
        let maps = count(self, 10)?;
        let reduces = count(self, 11)?;
        let mut job = JobTemplate {
            id: self.columns[0].to_owned(),
            name: self.columns[1].to_owned(),
            submit_ms,
            outcome: "SUCCEEDED".to_owned(),
            ..JobTemplate::default()
        };
        self.fill(&mut job, bytes, model, maps.map(|maps| (maps, map_ms)), reduces.map(|n| (n, reduce_ms)))?;
        if maps.is_none() && map_ms > 0 && job.n_maps > 0 {
            job.map_ms = vec![map_ms / u64::from(job.n_maps)];
        }
        if reduces.is_none() && reduce_ms > 0 {
            let n_reduces = job.n_reduces.max(1);
            self.reduces_of(&mut job, bytes, model, (n_reduces, reduce_ms));
        }
        Ok(job)
    }

    /// Tasks and durations: from the file where it tells them (number and task-milliseconds), else by the model.
    fn fill(
        &mut self,
        job: &mut JobTemplate,
        bytes: Bytes,
        model: &CostModel,
        maps: Option<(u32, u64)>,
        reduces: Option<(u32, u64)>,
    ) -> Result<(), TraceError> {
        job.input_bytes = Some(bytes.input);
        job.shuffle_bytes = Some(bytes.shuffle);
        job.output_bytes = Some(bytes.output);
        let place = || self.place.clone();
        let too_many = |bytes: u64, one: u64| TraceError::Malformed {
            place: place(),
            found: format!("{bytes} bytes"),
            expected: format!("at most 4294967295 tasks of {one} bytes"),
        };
        if maps.is_none() && bytes.input == 0 {
            self.notes.add("job without input: it gets one map", place);
        }
        job.n_maps = match maps {
            Some((maps, _)) => maps,
            None => model.maps(bytes.input).ok_or_else(|| too_many(bytes.input, model.split_bytes))?,
        };
        job.map_ms = match maps {
            Some((0, _)) => Vec::new(),
            Some((maps, ms)) if ms > 0 => vec![ms / u64::from(maps)],
            _ => vec![model.map_ms(bytes.input.saturating_add(bytes.behind_maps()), job.n_maps)],
        };
        let n_reduces = model.reduces(bytes.shuffle).ok_or_else(|| too_many(bytes.shuffle, model.reduce_bytes))?;
        self.reduces_of(job, bytes, model, reduces.unwrap_or((n_reduces, 0)));
        Ok(())
    }

    /// Shuffle and reduce durations. Task-seconds of reduces hold both; the model says how they share.
    fn reduces_of(&self, job: &mut JobTemplate, bytes: Bytes, model: &CostModel, (reduces, ms): (u32, u64)) {
        job.n_reduces = reduces;
        if reduces == 0 {
            return;
        }
        let mut shuffle = model.shuffle_ms(bytes.shuffle, reduces);
        let mut reduce = model.reduce_ms(bytes.shuffle.saturating_add(bytes.output), reduces);
        if ms > 0 {
            let each = ms / u64::from(reduces);
            let both = u128::from(shuffle) + u128::from(reduce);
            shuffle = (u128::from(each) * u128::from(shuffle)).checked_div(both).unwrap_or(0) as u64;
            reduce = each - shuffle;
        }
        job.typical_shuffle_ms = vec![shuffle];
        job.first_shuffle_ms = if model.overlap_ppm == 0 { Vec::new() } else { vec![model.first_shuffle_ms(shuffle)] };
        job.reduce_ms = vec![reduce];
    }

    fn bytes(&mut self, first: usize) -> Result<Bytes, TraceError> {
        Ok(Bytes {
            input: self.number(first, "input bytes", 1)?,
            shuffle: self.number(first + 1, "shuffle bytes", 1)?,
            output: self.number(first + 2, "output bytes", 1)?,
        })
    }

    /// Seconds, as milliseconds.
    fn instant(&mut self, index: usize, what: &str) -> Result<u64, TraceError> {
        let ms = self.number(index, what, 1000)?;
        if ms > MAX_INSTANT_MS { Err(self.malformed(index, what, "at most 253402300799 seconds")) } else { Ok(ms) }
    }

    fn number(&mut self, index: usize, what: &str, factor: u32) -> Result<u64, TraceError> {
        let text = self.columns.get(index).copied().unwrap_or_default();
        if text.is_empty() {
            let place = self.place.clone();
            self.notes.add("empty column: it counts as 0", || place);
            return Ok(0);
        }
        scaled(text, factor).ok_or_else(|| self.malformed(index, what, "a number that is not negative"))
    }

    fn malformed(&self, index: usize, what: &str, expected: &str) -> TraceError {
        TraceError::Malformed {
            place: format!("{}, column {} ({what})", self.place, index + 1),
            found: shortened(self.columns.get(index).copied().unwrap_or_default()),
            expected: expected.to_owned(),
        }
    }
}

/// Writes `trace` in six columns. Names are `job0`, `job1`, … as there; all that is no byte is lost.
///
/// # Errors
/// When the target breaks.
pub fn write(trace: &Trace, target: &mut dyn Write, notes: &mut ImportNotes) -> std::io::Result<()> {
    let mut before_s = 0;
    for (index, job) in trace.jobs.iter().enumerate() {
        let mut known = |what: &str, bytes: Option<u64>| {
            if bytes.is_none() {
                notes.add(&format!("{what} bytes unknown: written as 0"), || format!("job {}", index + 1));
            }
            bytes.unwrap_or(0)
        };
        let (input, shuffle) = (known("input", job.input_bytes), known("shuffle", job.shuffle_bytes));
        let output = known("output", job.output_bytes);
        let submit_s = job.submit_ms / 1000;
        writeln!(
            target,
            "job{index}\t{submit_s}\t{}\t{input}\t{shuffle}\t{output}",
            submit_s.saturating_sub(before_s)
        )?;
        before_s = submit_s;
    }
    target.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(text: &str) -> (Trace, ImportNotes) {
        let mut notes = ImportNotes::default();
        let trace = read(text.as_bytes(), &CostModel::default(), &mut notes).unwrap();
        (trace, notes)
    }

    fn error(text: &str) -> String {
        read(text.as_bytes(), &CostModel::default(), &mut ImportNotes::default()).unwrap_err().to_string()
    }

    #[test]
    fn six_columns_become_tasks_by_the_cost_model() {
        let (trace, notes) = from("job0\t49\t49\t134217729\t60000000\t30000000\njob1\t49\t0\t30000000\t0\t30000000\n");
        assert!(notes.is_empty(), "{notes:?}");
        let job = &trace.jobs[0];
        assert_eq!((job.n_maps, job.n_reduces, job.submit_ms), (3, 1, 49_000));
        assert_eq!(job.map_ms, [2_000 + 2_158]);
        assert_eq!((&job.typical_shuffle_ms[..], &job.reduce_ms[..]), (&[6_000][..], &[5_000][..]));
        assert!(job.first_shuffle_ms.is_empty());
        let map_only = &trace.jobs[1];
        assert_eq!((map_only.n_maps, map_only.n_reduces, &map_only.map_ms[..]), (1, 0, &[4_000][..]));
        assert_eq!(trace.start_ms_epoch, None);
    }

    #[test]
    fn a_job_that_moves_nothing_gets_one_map_and_a_note() {
        let (trace, notes) = from("job0\t0\t0\t0\t0\t0\tin\tout\n");
        assert_eq!((trace.jobs[0].n_maps, trace.jobs[0].n_reduces, trace.jobs[0].map_ms[0]), (1, 0, 2_000));
        assert_eq!(notes.iter().map(|(reason, _)| reason).collect::<Vec<_>>(), ["job without input: it gets one map"]);
    }

    #[test]
    fn ten_columns_bring_task_seconds_and_start_at_the_epoch() {
        let text = "b\tsecond one\t0\t0\t5\t1334329783.5\t30\t10\t5\t15\n\
                    a   first  90  80   70   1334329752   30  10  6  16  4  2  /in /out\n";
        let (trace, notes) = from(text);
        assert_eq!(trace.start_ms_epoch, Some(1_334_329_752_000));
        let jobs: Vec<_> =
            trace.jobs.iter().map(|job| (job.name.as_str(), job.submit_ms, job.n_maps, job.n_reduces)).collect();
        assert_eq!(jobs, [("first", 0, 4, 2), ("second one", 31_500, 1, 1)]);
        assert_eq!(trace.jobs[0].map_ms, [2_500]);
        // Task-seconds of reduces hold their shuffles.
        assert_eq!(trace.jobs[0].typical_shuffle_ms[0] + trace.jobs[0].reduce_ms[0], 3_000);
        assert_eq!(
            (trace.jobs[1].map_ms[0], trace.jobs[1].typical_shuffle_ms[0], trace.jobs[1].reduce_ms[0]),
            (10_000, 0, 5_000)
        );
        assert_eq!(notes.iter().count(), 2, "{notes:?}");
    }

    #[test]
    fn a_wrong_line_is_named_with_its_column() {
        assert_eq!(
            error("a\t1\t1\t2\t3\t4\nb\t2\n"),
            "line 2: found 2 columns, expected 6 or at least 10, separated by tabs"
        );
        assert_eq!(
            error("a\t1\t1\t2\t3\t4\nb\tsoon\t1\t2\t3\t4\n"),
            "line 2, column 2 (submit time): found `soon`, expected a number that is not negative"
        );
        assert_eq!(
            error(&format!("a\t1\t1\t{}\t3\t4\n", u64::MAX)),
            "line 1: found 18446744073709551615 bytes, expected at most 4294967295 tasks of 67108864 bytes"
        );
    }

    #[test]
    fn column_names_and_wrong_gaps_are_noted() {
        let (trace, notes) = from("id\tsubmit\tgap\tin\tshuffle\tout\na\t5\t5\t1\t1\t1\nb\t9\t3\t1\t1\t\n");
        assert_eq!(trace.jobs.len(), 2);
        let reasons: Vec<_> = notes.iter().map(|(reason, note)| (reason, note.count, note.first.as_str())).collect();
        assert_eq!(
            reasons,
            [
                ("empty column: it counts as 0", 1, "line 3"),
                ("gap is not the difference of submit times: submit times were used", 1, "line 3"),
                ("line of column names: skipped", 1, "line 1"),
            ]
        );
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let text = "job0\t49\t49\t1\t2\t3\njob1\t52\t3\t4\t0\t6\n";
        let (mut written, mut notes) = (Vec::new(), ImportNotes::default());
        write(&from(text).0, &mut written, &mut notes).unwrap();
        assert_eq!((String::from_utf8(written).unwrap().as_str(), notes.is_empty()), (text, true));
    }
}
