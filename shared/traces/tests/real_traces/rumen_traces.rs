//! Rumen's traces and topologies.

use std::collections::BTreeSet;

use howdah_core::job::profile::JobTemplate;
use howdah_traces::{ImportNotes, plain, rumen, topology};

use super::{
    ASIDE, Counts, DECLARED, EARLY, NO_ATTEMPT, NO_MAP, NO_REDUCE, assert_replays, bytes, import, job, locality,
};

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn nineteen_jobs_of_mumak_are_read_whole() {
    let (trace, notes) = import("rumen/19-jobs.trace.json.gz");
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
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn topology_of_mumak_has_its_racks_and_hosts() {
    let cases = [("rumen/19-jobs.topology.json.gz", 41, 1_545), ("rumen/zombie-input-topology.json", 41, 522)];
    for (file, racks, hosts) in cases.into_iter().chain([("sls/nodes.json", 5, 19)]) {
        let bytes = bytes(file);
        let mut notes = ImportNotes::default();
        let workers = topology::read(plain(&bytes[..]).unwrap(), &mut notes).unwrap();
        let names: BTreeSet<_> = workers.iter().map(|worker| worker.rack.as_str()).collect();
        assert_eq!((names.len(), workers.len()), (racks, hosts), "{file}");
        let unnamed = notes.iter().map(|(reason, note)| (reason, note.count)).collect::<Vec<_>>();
        let expected: &[(&str, u64)] = if racks == 5 { &[("host without a name: left out", 1)] } else { &[] };
        assert_eq!(unnamed, expected, "{file}");
    }
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn hosts_of_the_trace_are_those_of_its_topology() {
    let (trace, _) = import("rumen/19-jobs.trace.json.gz");
    let bytes = bytes("rumen/19-jobs.topology.json.gz");
    let workers = topology::read(plain(&bytes[..]).unwrap(), &mut ImportNotes::default()).unwrap();
    let known: BTreeSet<_> = workers.iter().map(|worker| worker.host.as_str()).collect();
    let splits: BTreeSet<_> =
        trace.jobs.iter().flat_map(|job| job.split_hosts.hosts.iter().map(String::as_str)).collect();
    assert!(splits.len() > 1_000, "{}", splits.len());
    assert_eq!(splits.difference(&known).count(), 0);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn zombie_trace_keeps_its_killed_and_its_unfinished_job() {
    let (trace, notes) = import("rumen/zombie-input-trace.json");
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
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn gridmix_trace_is_as_clean_as_said() {
    let (trace, notes) = import("rumen/gridmix-trace_5m.json.gz");
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
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn rumen_trace_of_sls_has_two_jobs_of_maps() {
    let (trace, notes) = import("sls/2jobs2min-rumen-jh.json");
    let counts = Counts::of(&trace);
    assert_eq!((counts.maps, counts.reduces, counts.attempts, counts.map_ms), (192, 0, [192, 0, 0], 3_986_286));
    assert_eq!(trace.jobs[1].submit_ms, 105_204);
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 16);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn rumen_traces_survive_the_way_out_and_back() {
    for file in ["rumen/19-jobs.trace.json.gz", "rumen/gridmix-trace_5m.json.gz", "rumen/zombie-input-trace.json"] {
        let (mut trace, _) = import(file);
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
