//! All formats by name, told apart by their first bytes, and one way to read any of them.

use std::io::{BufRead, Read};

use super::cost::CostModel;
use super::lines::shortened;
use super::numbers::scaled;
use super::source::Source;
use super::{ImportNotes, TraceError, coflow, hadoop1, howdah, jhist, rumen, sls, swf, swim};
use howdah_core::job::profile::Trace;
use howdah_guards::Guard;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rumen's job objects, one after another.
    Rumen,
    /// Hadoop 0.18 to 1.x text histories.
    Hadoop1,
    /// Job histories of Hadoop 0.23 and later, as JSON.
    Jhist,
    /// YARN's scheduler load simulator: native jobs, or a synthetic workload to draw jobs from.
    Sls,
    /// SWIM's workloads, both sets of columns.
    Swim,
    /// The Standard Workload Format of parallel machines.
    Swf,
    /// The coflow benchmark.
    Coflow,
    /// The project's own.
    Howdah,
}

/// What a reader is given besides the bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Makes tasks of SWIM's bytes.
    pub swim: CostModel,
    /// Makes durations of a coflow's megabytes.
    pub coflow: CostModel,
}

impl Format {
    pub const ALL: [Format; 8] = [
        Format::Rumen,
        Format::Hadoop1,
        Format::Jhist,
        Format::Sls,
        Format::Swim,
        Format::Swf,
        Format::Coflow,
        Format::Howdah,
    ];

    /// As typed after `--format`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Rumen => "rumen",
            Format::Hadoop1 => "hadoop1",
            Format::Jhist => "jhist",
            Format::Sls => "sls",
            Format::Swim => "swim",
            Format::Swf => "swf",
            Format::Coflow => "coflow",
            Format::Howdah => "howdah",
        }
    }

    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format of a text that begins like this; `None` when it is none that is known.
    pub fn detect(head: &[u8]) -> Option<Format> {
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('{') { of_json(text) } else { of_lines(text) }
    }
}

/// The first name that only one format knows decides.
fn of_json(text: &str) -> Option<Format> {
    const NAMES: [(&str, Format); 12] = [
        ("\"schema\"", Format::Howdah),
        ("\"jobID\"", Format::Rumen),
        ("\"mapTasks\"", Format::Rumen),
        ("\"reduceTasks\"", Format::Rumen),
        ("\"otherTasks\"", Format::Rumen),
        ("\"am.type\"", Format::Sls),
        ("\"job.id\"", Format::Sls),
        ("\"job.start.ms\"", Format::Sls),
        ("\"job.tasks\"", Format::Sls),
        ("\"num.nodes\"", Format::Sls),
        // Of the synthetic kind.
        ("\"num_jobs\"", Format::Sls),
        ("\"workloads\"", Format::Sls),
    ];
    let found = NAMES.into_iter().filter_map(|(name, format)| Some((text.find(name)?, format)));
    found.min_by_key(|(at, _)| *at).map(|(_, format)| format)
}

fn of_lines(text: &str) -> Option<Format> {
    if text.starts_with(';') {
        return Some(Format::Swf);
    }
    let line = text.lines().next()?;
    if ["Meta VERSION=\"", "Job JOBID=\"", "Task TASKID=\""].iter().any(|start| line.starts_with(start)) {
        return Some(Format::Hadoop1);
    }
    // Archives put a licence or a comment above it.
    if text.lines().any(|line| matches!(line.trim(), "Avro-Json" | "Avro-Binary")) {
        return Some(Format::Jhist);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let numbers = |words: &[&str]| words.iter().all(|word| word.parse::<f64>().is_ok());
    match words.len() {
        2 if numbers(&words) => Some(Format::Coflow),
        18 if numbers(&words) => Some(Format::Swf),
        // A name before numbers; the other set of columns has its numbers behind an id and a name.
        6.. if words[1..6].iter().all(|word| scaled(word, 1).is_some()) => Some(Format::Swim),
        _ if line.split('\t').count() >= 6 || (words.len() >= 10 && numbers(&words[2..10])) => Some(Format::Swim),
        _ => None,
    }
}

/// Reads a trace of any format, gzip or not; `format` is found out when it is not given.
///
/// # Errors
/// When the source breaks, no format fits, or a record is not what the format says.
pub fn read_any(
    source: impl Read,
    format: Option<Format>,
    options: &ImportOptions,
    notes: &mut ImportNotes,
) -> Result<Trace, TraceError> {
    let source = Source::open(source)?;
    let Some(format) = format.or_else(|| Format::detect(&source.head)) else {
        return Err(unknown(&source.head));
    };
    let trace = match format {
        Format::Rumen => rumen::read(source.rest, notes),
        Format::Hadoop1 => hadoop1::read(source.rest, notes),
        Format::Jhist => jhist::read(source.rest, notes),
        Format::Sls => sls::read(source.rest, notes),
        Format::Swim => swim::read(source.rest, &options.swim, notes),
        Format::Swf => swf::read(source.rest, notes),
        Format::Coflow => coflow::read(source.rest, &options.coflow, notes),
        Format::Howdah => howdah::read(source.rest, notes),
    }?;
    if Guard::ClaimedCounts.stands() {
        check_counts(&trace)?;
    }
    Ok(trace)
}

/// Tasks of one job, and of a whole trace.
const MOST_OF_JOB: u64 = 4_000_000;
const MOST_IN_ALL: u64 = 200_000_000;

/// Refuses counts that a few bytes claim and that whoever makes something for each task would need all memory for.
fn check_counts(trace: &Trace) -> Result<(), TraceError> {
    let mut all = 0_u64;
    for (place, job) in trace.jobs.iter().enumerate() {
        let tasks = u64::from(job.n_maps) + u64::from(job.n_reduces);
        all += tasks;
        let (found, most) = if tasks > MOST_OF_JOB { (tasks, MOST_OF_JOB) } else { (all, MOST_IN_ALL) };
        if found > most {
            let what = if tasks > MOST_OF_JOB { "tasks" } else { "tasks so far" };
            let (place, found) = (format!("job {}", place + 1), format!("{found} {what}"));
            return Err(TraceError::Malformed { place, found, expected: format!("at most {most}") });
        }
    }
    Ok(())
}

/// The bytes of a file that goes with a trace, without gzip.
///
/// # Errors
/// When the source breaks.
pub fn plain<'a>(source: impl Read + 'a) -> Result<Box<dyn BufRead + 'a>, TraceError> {
    Ok(Source::open(source)?.rest)
}

fn unknown(head: &[u8]) -> TraceError {
    let found = if head.trim_ascii().is_empty() {
        "nothing".to_owned()
    } else {
        shortened(&String::from_utf8_lossy(head.get(..200).unwrap_or(head)))
    };
    TraceError::Format {
        found,
        expected: format!("the beginning of a trace ({})", Format::ALL.map(Format::name).join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::own("{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}", Some(Format::Howdah))]
    #[case::own_after_a_mark("\u{feff} {\n \"schema\": 1}", Some(Format::Howdah))]
    #[case::swim("job0\t49\t49\t740773\t2339561\t627471\n", Some(Format::Swim))]
    #[case::swim_of_histories(
        "0   job0    1762  0   14347  1334329752  30  10  15  25  1  1  in\n",
        Some(Format::Swim)
    )]
    #[case::swim_with_names("id\tsubmit\tgap\tin\tshuffle\tout\n", Some(Format::Swim))]
    #[case::rumen("{\n  \"priority\" : \"NORMAL\",\n  \"jobID\" : \"job_1_0001\"", Some(Format::Rumen))]
    #[case::hadoop1("Meta VERSION=\"1\" .\n", Some(Format::Hadoop1))]
    #[case::hadoop_018("Job JOBID=\"job_1_0001\"", Some(Format::Hadoop1))]
    #[case::jhist("Avro-Json\n{\"type\":", Some(Format::Jhist))]
    #[case::jhist_below_a_licence("/**\n * Licensed to\n */\n\nAvro-Json\r\n", Some(Format::Jhist))]
    #[case::jhist_of_bytes("Avro-Binary\n\u{1}\u{2}", Some(Format::Jhist))]
    #[case::sls("{ \"yarn.sls.am.type\": \"mapreduce\", \"job.start.ms\": 0", Some(Format::Sls))]
    #[case::sls_with_nodes("{\"num.nodes\": 3}", Some(Format::Sls))]
    #[case::sls_synthetic("{\"description\": \"tiny\", \"num_nodes\": 20, \"num_jobs\": 1", Some(Format::Sls))]
    #[case::swf("; Version: 2.2\n", Some(Format::Swf))]
    #[case::swf_without_a_header("1 0 5 60 4 -1 -1 4 100 -1 1 3 1 7 2 -1 -1 -1\n", Some(Format::Swf))]
    #[case::coflow("150 526\n1 0 1 22 1 65:1.0\n", Some(Format::Coflow))]
    #[case::nothing("", None)]
    #[case::prose("Shall I compare thee to a summer's day\n", None)]
    #[case::other_json("{\"a\":1}", None)]
    fn formats_are_told_by_their_beginning(#[case] head: &str, #[case] expected: Option<Format>) {
        assert_eq!(Format::detect(head.as_bytes()), expected);
    }

    #[test]
    fn names_lead_back_to_their_formats() {
        assert!(Format::ALL.into_iter().all(|format| Format::named(format.name()) == Some(format)));
        assert_eq!(Format::named("avro"), None);
    }

    /// Jobs of so many tasks each, that take a few bytes.
    fn claims(n_jobs: usize, n_maps: u64) -> String {
        let head = "{\"schema\":\"howdah/trace/v1\",\"source\":\"\"}\n".to_owned();
        head + &format!("{{\"n_maps\":{n_maps},\"n_reduces\":1,\"map_ms\":[5],\"reduce_ms\":[5]}}\n").repeat(n_jobs)
    }

    #[rstest]
    #[case::own(claims(1, 1 << 31), "job 1: found 2147483649 tasks, expected at most 4000000")]
    #[case::own_in_all(claims(60, 3_999_999), "job 51: found 204000000 tasks so far, expected at most 200000000")]
    #[case::swim("job0\t49\t49\t288230376151711744\t0\t0\n".to_owned(), "")]
    #[case::swim_of_histories("0   job0    1762  0   14347  1334329752  2147483648  10  15  25  1  1  in\n".to_owned(), "")]
    #[case::coflow("2000000000 1\n1 0 1 22 1 65:1e18\n".to_owned(), "")]
    #[case::swf("1 0 5 60 2147483648 -1 -1 4 100 -1 1 3 1 7 2 -1 -1 -1\n".to_owned(), "")]
    #[case::rumen("{\"jobID\":\"job_1_0001\",\"totalMaps\":2147483648,\"submitTime\":1}".to_owned(), "")]
    #[case::hadoop1("Job JOBID=\"job_1_0001\" SUBMIT_TIME=\"1\" .\nJob JOBID=\"job_1_0001\" TOTAL_MAPS=\"2147483648\" .\n".to_owned(), "")]
    #[case::sls("{\"job.start.ms\":0,\"job.end.ms\":9,\"job.id\":\"j\",\"job.tasks\":[{\"container.type\":\"map\",\"count\":2147483648,\"container.start.ms\":0,\"container.end.ms\":5}]}".to_owned(), "")]
    fn a_few_bytes_do_not_claim_tasks_without_bound(#[case] text: String, #[case] refused: &str) {
        let read = read_any(text.as_bytes(), None, &ImportOptions::default(), &mut ImportNotes::default());
        match read {
            Ok(trace) => {
                assert_eq!(refused, "");
                let lists = trace.jobs.iter().map(|job| job.map_ms.len()).sum::<usize>();
                let tasks = trace.jobs.iter().map(|job| u64::from(job.n_maps)).sum::<u64>();
                assert!(lists as u64 <= MOST_OF_JOB && tasks <= MOST_OF_JOB, "{lists} {tasks}");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(if refused.is_empty() { !error.starts_with("format:") } else { error == refused }, "{error}");
            }
        }
    }

    #[test]
    fn what_no_format_fits_is_shown() {
        let error = |text: &[u8]| {
            read_any(text, None, &ImportOptions::default(), &mut ImportNotes::default()).unwrap_err().to_string()
        };
        assert!(error(b"hello").starts_with("format: found `hello`, expected the beginning of a trace ("));
        assert!(error(b"").starts_with("format: found nothing, expected"));
    }
}
