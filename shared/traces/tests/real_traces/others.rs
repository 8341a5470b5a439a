//! Traces that are neither Rumen's nor a history.

use super::{assert_replays, import};

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn native_sls_jobs_have_the_times_of_their_containers() {
    let (trace, notes) = import("sls/inputsls.json");
    let maps: Vec<_> = trace.jobs.iter().map(|job| &job.map_ms[..]).collect();
    assert_eq!(maps, [&[17_043, 14_928, 17_843][..], &[22_163, 19_589][..]]);
    assert_eq!(trace.jobs.iter().map(|job| job.submit_ms).collect::<Vec<_>>(), [0, 105_204]);
    assert_eq!(trace.jobs[1].measured.as_ref().map(|measured| measured.finish_ms), Some(197_256));
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 2);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn synthetic_sls_file_is_drawn_from_with_its_own_seed() {
    let (trace, notes) = import("sls/syn.json");
    assert_eq!((trace.jobs.len(), trace.cluster.as_ref().map(|cluster| cluster.workers.len())), (10, Some(20)));
    assert!(trace.jobs.iter().all(|job| job.name == "class_1" && job.user == "foobar" && job.queue == "sls_queue_1"));
    assert!(trace.jobs.iter().all(|job| (1_000..60_000).contains(&job.submit_ms)));
    // 5 ± 1 maps of 10 ± 2 s.
    assert!(trace.jobs.iter().all(|job| (1..=12).contains(&job.n_maps) && job.map_ms.iter().all(|ms| *ms < 30_000)));
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 4);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn swim_day_has_its_jobs_bytes_and_maps() {
    let (trace, notes) = import("swim/FB-2009_samples_24_times_1hr_0.tsv");
    assert_eq!(trace.jobs.len(), 5_894);
    let maps =
        |trace: &howdah_core::job::profile::Trace| trace.jobs.iter().map(|job| u64::from(job.n_maps)).sum::<u64>();
    assert_eq!((maps(&trace), trace.jobs.iter().map(|job| job.n_maps).max()), (406_005, Some(112_523)));
    assert_eq!((trace.jobs[0].submit_ms, trace.jobs[5_893].submit_ms), (49_000, 86_404_000));
    assert_eq!(trace.jobs.iter().filter(|job| job.n_reduces == 0).count(), 4_448);
    assert_eq!(notes, ["86 job without input: it gets one map"]);
    assert_replays(&trace, 600);

    let (first, notes) = import("swim/FB-2009_samples_24_times_1hr_0_first50jobs.tsv");
    assert_eq!((first.jobs.len(), maps(&first)), (50, 290));
    assert!(first.jobs == trace.jobs[..50]);
    assert_eq!(notes, ["2 job without input: it gets one map"]);
    assert_replays(&first, 10);
}

#[test]
#[cfg_attr(not(real_traces), ignore = "no real traces beside the checkout")]
fn coflows_have_their_mappers_and_reducers() {
    let (trace, notes) = import("coflow/FB2010-1Hr-150-0.txt");
    let [maps, reduces] =
        [0, 1].map(|kind| trace.jobs.iter().map(|job| if kind == 0 { job.n_maps } else { job.n_reduces }).sum::<u32>());
    assert_eq!((trace.jobs.len(), maps, reduces), (526, 10_753, 10_609));
    assert_eq!(trace.jobs.iter().map(|job| job.submit_ms).max(), Some(3_629_235));
    assert_eq!(notes, [""; 0]);
    assert_replays(&trace, 150);
}
