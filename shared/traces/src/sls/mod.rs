//! YARN's scheduler load simulator: its native job files.
//!
//! One JSON object per job, one after another, with dotted keys. Containers tell when they ran and for how long, not
//! what they waited for, so a reduce has no shuffle here: one that ran beside maps gets what is left of it after the
//! last map, the others all of it. `container.host` is what SLS asks the scheduler for, so it is the split's place.
//! Numbers may be quoted. `count` stands for equal containers, `job.count` for equal jobs; both are written out, up
//! to [`MOST_REPEATED`] tasks in a file. From SLS's *synthetic* files, which describe distributions, jobs are drawn.
//! Source: the SLSRunner of Hadoop 3 and the format's notes there.

mod reader;
mod synthetic;
mod workload;

pub use self::reader::MOST_REPEATED;

use std::io::BufRead;

use howdah_core::job::profile::Trace;

use self::reader::{Reader, Record, cluster};
use super::json::for_each;
use super::{ImportNotes, TraceError};
use synthetic::draw;

/// Reads a trace. Its cluster is that of the first object, where there is one, with 0 slots per worker.
///
/// # Errors
/// When the source breaks, holds no job or another format, or counts beyond [`MOST_REPEATED`].
pub fn read(source: impl BufRead, notes: &mut ImportNotes) -> Result<Trace, TraceError> {
    let mut trace = Trace { source: "SLS job file".to_owned(), ..Trace::default() };
    let mut reader = Reader { notes, left: MOST_REPEATED };
    let expected = "an SLS job (an object with job.tasks)";
    for_each(source, expected, |number, record: Record| {
        if let Some(workloads) = record.workloads {
            let seed = record.rand_seed.0.unwrap_or(0);
            trace.source = format!("SLS synthetic workload, seed {seed}");
            trace.jobs.extend(draw(&workloads.0, record.num_jobs.count().unwrap_or(0), seed, &mut reader)?);
            let nodes = record.num_nodes.count().unwrap_or(0);
            if nodes > 0 {
                let racks = nodes.div_ceil(record.nodes_per_rack.count().unwrap_or(1).max(1));
                trace.cluster = Some(cluster("num_nodes", nodes, racks)?);
            }
            return Ok(());
        }
        match (&record.tasks, record.nodes.count()) {
            (Some(_), _) => reader.add_job(number, record, &mut trace.jobs)?,
            (None, Some(nodes)) if trace.cluster.is_none() => {
                trace.cluster = Some(cluster("num.nodes", nodes, record.racks.count().unwrap_or(1).max(1))?);
            }
            (None, _) => {
                return Err(TraceError::Malformed {
                    place: format!("record {number}"),
                    found: "an object without job.tasks".to_owned(),
                    expected: expected.to_owned(),
                });
            }
        }
        Ok(())
    })?;
    if trace.jobs.is_empty() {
        return Err(TraceError::Format { found: "no job".to_owned(), expected: "SLS jobs".to_owned() });
    }
    let behind = trace.jobs.windows(2).filter(|pair| pair[1].submit_ms < pair[0].submit_ms).count() as u64;
    let reason = "job submitted before the job above it: sorted by submission";
    reader.notes.add_many(reason, behind, || trace.source.clone());
    trace.jobs.sort_by_key(|job| job.submit_ms);
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use howdah_core::job::profile::JobTemplate;

    use super::*;
    use crate::arbitrary::damaged;

    const SMALL: &str = include_str!("../../tests/fixtures/sls-small.json");

    fn imported(text: &str) -> Result<(Trace, Vec<String>), String> {
        let mut notes = ImportNotes::default();
        let trace = read(text.as_bytes(), &mut notes).map_err(|error| error.to_string())?;
        Ok((trace, notes.lines()))
    }

    #[test]
    fn small_file_is_read_whole() {
        let (trace, notes) = imported(SMALL).unwrap();
        let workers = &trace.cluster.as_ref().unwrap().workers;
        let racks: Vec<_> = workers.iter().map(|worker| format!("{}/{}", worker.rack, worker.host)).collect();
        assert_eq!(racks, ["/rack1/node1", "/rack2/node2", "/rack1/node3"]);
        let [first, second, third] = &trace.jobs[..] else { panic!("{} jobs", trace.jobs.len()) };
        assert_eq!((first.id.as_str(), first.user.as_str(), first.queue.as_str()), ("job_1", "ada", "etl"));
        assert_eq!((first.submit_ms, first.n_maps, first.n_reduces), (0, 3, 2));
        assert_eq!(first.map_ms, [4_000, 2_500, 2_500]);
        assert_eq!((&first.first_shuffle_ms[..], &first.typical_shuffle_ms[..]), (&[0][..], &[0][..]));
        assert_eq!(first.reduce_ms, [3_000, 2_000]);
        assert_eq!((first.commit_ms, first.completion_ms()), (500, Some(9_500)));
        assert_eq!(first.split_hosts.of(0).collect::<Vec<_>>(), ["node3"]);
        assert_eq!(first.split_hosts.of(1).count(), 0);
        assert_eq!((second.id.as_str(), third.id.as_str()), ("job_2", "job_2-2"));
        assert_eq!((second.submit_ms, &second.map_ms[..], &second.measured), (10_000, &[700][..], &None));
        assert_eq!(JobTemplate { id: second.id.clone(), ..third.clone() }, *second);
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn odd_times_kinds_and_orders_are_counted() {
        let text = r#"{"job.start.ms":50,"yarn.sls.am.type":"dag","job.end.ms":40,"job.tasks":[
            {"container.start.ms":60,"container.end.ms":55},{"container.type":"vertex","duration.ms":-5},
            {"container.start.ms":10,"duration.ms":"7","container.priority":10}]}
            {"job.start.ms":20,"job.tasks":[]}"#;
        let (trace, notes) = imported(text).unwrap();
        assert_eq!(
            trace.jobs.iter().map(|job| (job.id.as_str(), job.submit_ms)).collect::<Vec<_>>(),
            [("job_2", 20), ("job_1", 50)]
        );
        assert_eq!((&trace.jobs[1].map_ms[..], &trace.jobs[1].reduce_ms[..]), (&[0, 0][..], &[0][..]));
        assert_eq!(
            notes,
            [
                "1 container ends before it starts: its time counts 0",
                "1 container of another type than map and reduce: counts as a map",
                "1 container starts before its job: only its duration counts",
                "1 container without an end or a duration: its time counts 0",
                "1 job ends before its last container: its last container's end counts",
                "1 job of another kind than mapreduce: its containers count as tasks",
                "1 job submitted before the job above it: sorted by submission",
                "1 time that cannot be: counts as unknown",
            ]
        );
    }

    #[rstest]
    #[case("", "format: found no job, expected SLS jobs")]
    #[case(r#"{"jobID":"x"}"#, "record 1: found an object without job.tasks, expected an SLS job")]
    #[case(r#"{"num.nodes":100001}"#, "num.nodes: found 100001, expected at most 100000 nodes")]
    #[case(
        r#"{"job.id":"j","job.tasks":[{"count":9000000000}]}"#,
        "j: found counts that stand for 8999999999 more tasks"
    )]
    #[case(r#"{"job.id":"j","job.count":99999999,"job.tasks":[]}"#, "expected at most 1000000 in the file")]
    #[case(r#"{"job.tasks":[{"container.start.ms":"soon"}]}"#, "expected a whole number or null")]
    fn what_cannot_be_is_refused(#[case] text: &str, #[case] part: &str) {
        let error = imported(text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    proptest! {
        #[test]
        fn no_damage_makes_the_reader_panic(bytes in damaged(SMALL)) {
            let _ = read(&bytes[..], &mut ImportNotes::default());
        }
    }
}
