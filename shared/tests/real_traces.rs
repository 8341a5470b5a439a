//! The real traces of other systems that may lie beside the checkout, in `../shared/traces`.
//!
//! Counts are those that their READMEs state, taken by other programs. Every note of an import is listed here with
//! its count, so that a warning nobody can explain fails the suite. Without the folder there is nothing to check,
//! and one line says so.

use std::io::Read;
use std::path::PathBuf;

use howdah_shared::job::profile::{JobTemplate, Trace};
use howdah_shared::replay::{ReplayOptions, Simulation, View};
use howdah_shared::traces::{ImportNotes, TraceError, jhist, rumen, sls, topology};

/// The bytes of a file of the folder; `None` when there is no folder.
fn bytes(file: &str) -> Option<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    if !folder.is_dir() {
        eprintln!("no real traces beside the checkout: `{file}` is not checked");
        return None;
    }
    let bytes = std::fs::read(folder.join(file)).unwrap();
    if !file.ends_with(".gz") {
        return Some(bytes);
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
    Some(plain)
}

type Reader = fn(&[u8], &mut ImportNotes) -> Result<Trace, TraceError>;

/// The trace, its notes as `count reason`.
fn import(file: &str, reader: Reader) -> Option<(Trace, Vec<String>)> {
    let mut notes = ImportNotes::default();
    let trace = reader(&bytes(file)?, &mut notes).unwrap();
    Some((trace, notes.iter().map(|(reason, note)| format!("{} {reason}", note.count)).collect()))
}

/// Sums over all jobs, in the order of the READMEs' tables.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    succeeded: usize,
    failed: usize,
    killed: usize,
    maps: u64,
    reduces: u64,
    /// Attempts that won, and those that failed and were killed.
    attempts: [usize; 3],
    map_ms: u64,
    reduce_ms: u64,
}

impl Counts {
    fn of(trace: &Trace) -> Counts {
        let mut counts = Counts::default();
        for job in &trace.jobs {
            match job.outcome.as_str() {
                "SUCCEEDED" => counts.succeeded += 1,
                "FAILED" => counts.failed += 1,
                "KILLED" => counts.killed += 1,
                other => panic!("job {} ended as `{other}`", job.id),
            }
            counts.maps += u64::from(job.n_maps);
            counts.reduces += u64::from(job.n_reduces);
            let failed = job.lost_attempts.iter().filter(|lost| lost.failed).count();
            counts.attempts[0] += job.map_ms.len() + job.reduce_ms.len();
            counts.attempts[1] += failed;
            counts.attempts[2] += job.lost_attempts.len() - failed;
            counts.map_ms += job.map_ms.iter().sum::<u64>();
            counts.reduce_ms += job.reduce_ms.iter().sum::<u64>();
        }
        counts
    }
}

fn locality(trace: &Trace) -> [u32; 4] {
    trace.jobs.iter().fold([0; 4], |mut sum, job| {
        sum.iter_mut().zip(job.maps_by_locality).for_each(|(sum, count)| *sum += count);
        sum
    })
}

/// All jobs come to an end with all their tasks under FIFO, on as many slots.
fn assert_replays(trace: &Trace, slots: u16) {
    let options = ReplayOptions { view: View::Slots { maps: slots, reduces: slots }, ..ReplayOptions::default() };
    let mut simulation = Simulation::new(trace, &options).unwrap();
    simulation.run();
    let (done, all) = simulation.progress();
    let tasks: u64 = trace.jobs.iter().map(|job| u64::from(job.n_maps) + u64::from(job.n_reduces)).sum();
    assert_eq!((done, all), (tasks, tasks));
    let report = simulation.report();
    assert_eq!(report.jobs.len(), trace.jobs.len());
    assert!(report.jobs.iter().all(|job| job.state.is_final()));
}

fn job<'t>(trace: &'t Trace, id: &str) -> &'t JobTemplate {
    trace.jobs.iter().find(|job| job.id == id).unwrap()
}

const ASIDE: &str = "set-up or clean-up task: left out, its time is not a slot's in a replay";
const EARLY: &str = "attempt starts before its job on its worker's clock: only differences of its times count";
const NO_ATTEMPT: &str = "task without an attempt: kept, without times";
const DECLARED: &str = "task declared but not listed: kept, without times";
const NO_MAP: &str = "no map of the job ended well: its maps take 0 ms";
const NO_REDUCE: &str = "no reduce of the job ended well: its reduces take 0 ms";

#[test]
fn nineteen_jobs_of_mumak_are_read_whole() {
    let Some((trace, notes)) = import("rumen/19-jobs.trace.json.gz", |bytes, notes| rumen::read(bytes, notes)) else {
        return;
    };
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.failed, counts.killed), (14, 5, 0));
    assert_eq!((counts.maps, counts.reduces), (8_573, 3_257));
    // The README counts 38 more that won and 7 more that failed: attempts of set-up and clean-up tasks.
    assert_eq!(counts.attempts, [8_442 - 38, 3_503 - 7, 1_096]);
    // Means of winners by the README: 304.1 s a map; a reduce's 1,252.1 s are shuffle and sort too.
    assert_eq!((counts.map_ms, counts.reduce_ms), (1_718_198_423, 3_396_705_374));
    // Of winners with a known place 3,034 on a node, 1,409 in a rack and 201 elsewhere; what did not win and has
    // no rack counts where it ran on a node of its split.
    assert_eq!(locality(&trace), [5_326, 1_409, 201, 2_680]);
    let last_submit = trace.jobs.iter().map(|job| job.submit_ms).max();
    let last_finish = trace.jobs.iter().filter_map(|job| job.measured.as_ref()).map(|job| job.finish_ms).max();
    assert_eq!((last_submit, last_finish), (Some(1_675_753), Some(7_757_364)));
    assert_eq!(
        notes,
        [
            // All of one host, whose start is written as 0.
            "6 attempt did not win and has no start or end: its time counts 0".to_owned(),
            "3 attempt ends before it starts: its time counts 0".to_owned(),
            format!("57 {EARLY}"),
            // Of the failed jobs 0007 and 0008: maps that never ended have no counters.
            "2 input bytes are known of some maps only: left out".to_owned(),
            format!("1 {NO_MAP}"),
            format!("2 {NO_REDUCE}"),
            format!("40 {ASIDE}"),
            format!("1 {DECLARED}"),
            // Of the five failed jobs.
            "3270 task of which no attempt succeeded: kept, without times".to_owned(),
            format!("155 {NO_ATTEMPT}"),
        ]
    );
    // By the workers' clocks 96 of these 98 first shuffles would end before the last map.
    let skewed = job(&trace, "job_200904211745_0020");
    assert!(skewed.first_shuffle_ms.len() > 90 && skewed.first_shuffle_ms.iter().all(|&ms| ms > 15_000));
    assert_replays(&trace, 1_545);
}

#[test]
fn topology_of_mumak_has_its_racks_and_hosts() {
    let cases = [("rumen/19-jobs.topology.json.gz", 41, 1_545), ("rumen/zombie-input-topology.json", 41, 522)];
    for (file, racks, hosts) in cases.into_iter().chain([("sls/nodes.json", 5, 19)]) {
        let Some(bytes) = bytes(file) else { return };
        let mut notes = ImportNotes::default();
        let workers = topology::read(&bytes[..], &mut notes).unwrap();
        let names: std::collections::BTreeSet<_> = workers.iter().map(|worker| worker.rack.as_str()).collect();
        assert_eq!((names.len(), workers.len()), (racks, hosts), "{file}");
        let unnamed = notes.iter().map(|(reason, note)| (reason, note.count)).collect::<Vec<_>>();
        let expected: &[(&str, u64)] = if racks == 5 { &[("host without a name: left out", 1)] } else { &[] };
        assert_eq!(unnamed, expected, "{file}");
    }
}

#[test]
fn hosts_of_the_trace_are_those_of_its_topology() {
    let Some((trace, _)) = import("rumen/19-jobs.trace.json.gz", |bytes, notes| rumen::read(bytes, notes)) else {
        return;
    };
    let Some(bytes) = bytes("rumen/19-jobs.topology.json.gz") else { return };
    let workers = topology::read(&bytes[..], &mut ImportNotes::default()).unwrap();
    let known: std::collections::BTreeSet<_> = workers.iter().map(|worker| worker.host.as_str()).collect();
    let splits: std::collections::BTreeSet<_> =
        trace.jobs.iter().flat_map(|job| job.split_hosts.hosts.iter().map(String::as_str)).collect();
    assert!(splits.len() > 1_000, "{}", splits.len());
    assert_eq!(splits.difference(&known).count(), 0);
}

#[test]
fn zombie_trace_keeps_its_killed_and_its_unfinished_job() {
    let Some((trace, notes)) = import("rumen/zombie-input-trace.json", |bytes, notes| rumen::read(bytes, notes)) else {
        return;
    };
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.failed, counts.killed), (3, 0, 1));
    assert_eq!((counts.maps, counts.reduces), (155, 50));
    assert_eq!(counts.attempts, [190 - 6, 5, 66]);
    assert_eq!((counts.map_ms, counts.reduce_ms), (4_004_610, 336_997));
    let unfinished = job(&trace, "job_200904211745_0004");
    assert_eq!((unfinished.outcome.as_str(), unfinished.commit_ms), ("SUCCEEDED", 0));
    assert_eq!(
        notes,
        [
            format!("1 {EARLY}"),
            "1 job without an end: the end of its last task counts".to_owned(),
            format!("1 {NO_MAP}"),
            format!("1 {NO_REDUCE}"),
            format!("6 {ASIDE}"),
            format!("2 {DECLARED}"),
            format!("19 {NO_ATTEMPT}"),
        ]
    );
    assert_replays(&trace, 100);
}

#[test]
fn gridmix_trace_is_as_clean_as_said() {
    let Some((trace, notes)) = import("rumen/gridmix-trace_5m.json.gz", |bytes, notes| rumen::read(bytes, notes))
    else {
        return;
    };
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.failed, counts.killed), (16, 0, 0));
    assert_eq!((counts.maps, counts.reduces, counts.attempts), (240, 540, [812 - 32, 0, 0]));
    assert_eq!((counts.map_ms, counts.reduce_ms, locality(&trace)), (752_580, 648_883, [221, 19, 0, 0]));
    assert!(trace.jobs.iter().all(|job| job.queue == "default" && job.slowstart_ppm == Some(50_000)));
    assert_eq!(trace.jobs.iter().map(|job| job.submit_ms).max(), Some(270_288));
    assert_eq!(notes, [format!("32 {ASIDE}")]);
    assert_replays(&trace, 16);
}

#[test]
fn rumen_trace_of_sls_has_two_jobs_of_maps() {
    let Some((trace, notes)) = import("sls/2jobs2min-rumen-jh.json", |bytes, notes| rumen::read(bytes, notes)) else {
        return;
    };
    let counts = Counts::of(&trace);
    assert_eq!((counts.maps, counts.reduces, counts.attempts, counts.map_ms), (192, 0, [192, 0, 0], 3_986_286));
    assert_eq!(trace.jobs[1].submit_ms, 105_204);
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 16);
}

#[test]
fn sleep_job_of_hadoop_two_is_read_whole() {
    let file = "jhist/job_1329348432655_0001-10.jhist";
    let Some((trace, notes)) = import(file, |bytes, notes| jhist::read(bytes, notes)) else { return };
    let counts = Counts::of(&trace);
    assert_eq!((counts.succeeded, counts.maps, counts.reduces, counts.attempts), (1, 10, 1, [11, 0, 0]));
    assert_eq!((trace.jobs[0].completion_ms().unwrap() + 50) / 100, 254);
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 2);
}

#[test]
fn failed_job_of_hadoop_two_keeps_its_failures() {
    let file = "jhist/job_2.0.3-alpha-FAILED.jhist";
    let Some((trace, notes)) = import(file, |bytes, notes| jhist::read(bytes, notes)) else { return };
    let counts = Counts::of(&trace);
    assert_eq!((counts.failed, counts.maps, counts.reduces, counts.attempts), (1, 2, 1, [0, 4, 0]));
    assert_eq!(trace.jobs[0].queue, "unfunded");
    assert_eq!(trace.jobs[0].lost_attempts.iter().map(|lost| lost.ms).sum::<u64>(), 3_364 + 3_324 + 3_343 + 3_347);
    assert_eq!(
        notes,
        [
            format!("1 {NO_MAP}"),
            format!("1 {NO_REDUCE}"),
            "1 task of which no attempt succeeded: kept, without times".to_owned(),
            // Map 1 and the reduce were killed before they had one.
            format!("2 {NO_ATTEMPT}"),
        ]
    );
    assert_replays(&trace, 2);
}

#[test]
fn history_that_breaks_off_is_used_as_far_as_it_goes() {
    let file = "jhist/job_1410289045532_259974-truncated.jhist";
    let Some((trace, notes)) = import(file, |bytes, notes| jhist::read(bytes, notes)) else { return };
    let job = &trace.jobs[0];
    assert_eq!(
        (job.id.as_str(), job.queue.as_str(), job.outcome.as_str()),
        ("job_1410289045532_259974", "root.someQueueName", "")
    );
    assert_eq!((job.n_maps, job.n_reduces, job.maps_by_locality), (1, 0, [0, 0, 1, 0]));
    assert_eq!(
        notes,
        [
            "1 attempt has no end: left out".to_owned(),
            "1 history breaks off before the end of its job".to_owned(),
            "1 job without an end: the end of its last task counts".to_owned(),
            format!("1 {NO_MAP}"),
            "1 task of which no attempt succeeded: kept, without times".to_owned(),
        ]
    );
    assert_replays(&trace, 2);
}

#[test]
fn native_sls_jobs_have_the_times_of_their_containers() {
    let Some((trace, notes)) = import("sls/inputsls.json", |bytes, notes| sls::read(bytes, notes)) else { return };
    let maps: Vec<_> = trace.jobs.iter().map(|job| &job.map_ms[..]).collect();
    assert_eq!(maps, [&[17_043, 14_928, 17_843][..], &[22_163, 19_589][..]]);
    assert_eq!(trace.jobs.iter().map(|job| job.submit_ms).collect::<Vec<_>>(), [0, 105_204]);
    assert_eq!(trace.jobs[1].measured.as_ref().map(|measured| measured.finish_ms), Some(197_256));
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 2);
}

#[test]
fn synthetic_sls_file_is_called_what_it_is() {
    let Some(bytes) = bytes("sls/syn.json") else { return };
    let error = sls::read(&bytes[..], &mut ImportNotes::default()).unwrap_err().to_string();
    assert!(error.starts_with("format: found an SLS synthetic workload"), "{error}");
}

#[test]
fn rumen_traces_survive_the_way_out_and_back() {
    for file in ["rumen/19-jobs.trace.json.gz", "rumen/gridmix-trace_5m.json.gz", "rumen/zombie-input-trace.json"] {
        let Some((mut trace, _)) = import(file, |bytes, notes| rumen::read(bytes, notes)) else { return };
        let mut text = Vec::new();
        rumen::write(&trace, &mut text).unwrap();
        let mut again = rumen::read(&text[..], &mut ImportNotes::default()).unwrap();
        for job in trace.jobs.iter_mut().chain(&mut again.jobs) {
            job.maps_by_locality = [0; 4];
            job.measured = None;
        }
        assert_eq!(again.jobs.len(), trace.jobs.len());
        // Of jobs of which some tasks did not end well the writer makes whole ones.
        let whole = |job: &JobTemplate| {
            job.map_ms.len() == job.n_maps as usize && job.reduce_ms.len() == job.n_reduces as usize
        };
        let pairs: Vec<_> = again.jobs.iter().zip(&trace.jobs).filter(|(_, job)| whole(job)).collect();
        assert!(pairs.len() + 6 >= trace.jobs.len(), "{} of {}", pairs.len(), trace.jobs.len());
        for (again, job) in pairs {
            assert!(again == job, "{}", job.id);
        }
    }
}
