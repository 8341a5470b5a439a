//! Fair's delay scheduling that looks ahead, against the fixed waits: it waits where slots beside the data come soon, and
//! only there.
//!
//! Source: the online-prediction paper, §I: if it can be foreseen that better locality will come, a delay can be
//! avoided where it would not.

use howdah_core::job::profile::JobTemplate;
use howdah_core::job::{JobSpec, Locality, SplitHosts, TaskKind};
use howdah_core::replay::{LocalityCost, ReplayOptions, View, WorkersView};
use howdah_core::tracker::{ClusterConfig, HeartbeatRule};

use crate::fair::{end, fair, of};
use crate::kit::*;
use crate::play::{all_succeeded, in_two_racks, params, recorded};

/// Two workers on `h0` and `h1` with a map slot each, whose heartbeats may be held back for minutes.
fn two_places(node_ms: &str) -> Cluster {
    let patient = |config: &mut ClusterConfig| {
        config.heartbeat = HeartbeatRule::Fixed { interval_ms: 600_000 };
        config.max_parking_ms = 600_000;
    };
    let policy = fair(&[("locality.delay", node_ms), ("locality.forecast", "true")]);
    let mut c = Cluster::made(patient, policy).parking();
    c.add_worker("h0", "/r", 1, 0);
    c.add_worker("h1", "/r", 1, 0);
    c.effects.clear();
    c
}

/// A job of so many maps with their data on `h0`.
fn on_h0(maps: u32) -> JobSpec {
    JobSpec { split_hosts: SplitHosts::new((0..maps).map(|_| ["h0"])), ..of("ann", maps, 0) }
}

/// A job with its data on `h0`, of whose three maps the first has taken so long and the second has just begun; `h1` is
/// free.
fn after_one_map_of(c: &mut Cluster, ms: u64) {
    c.submit(on_h0(3));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(1, 0, 0))]);
    c.advance(ms);
    end(c, 0, map(1, 0, 0));
    assert_eq!(c.launches(), [(0, map(1, 1, 0))]);
    c.beat(1);
}

#[test]
fn a_job_waits_while_a_slot_beside_its_data_should_come_in_time_and_gets_it() {
    let mut c = two_places("5000");
    after_one_map_of(&mut c, 2_000);
    assert_eq!(c.launches(), []);
    c.advance(2_000);
    assert_eq!(c.launches(), []);
    end(&mut c, 0, map(1, 1, 0));
    assert_eq!(c.launches(), [(0, map(1, 2, 0))], "beside its data");
}

#[test]
fn a_job_does_not_wait_for_a_slot_that_would_come_too_late() {
    let mut c = two_places("5000");
    after_one_map_of(&mut c, 20_000);
    assert_eq!(c.launches(), [(1, map(1, 2, 0))], "at once");
}

#[test]
fn a_job_waits_no_longer_than_its_wait_for_a_map_that_takes_longer_than_it_should() {
    let mut c = two_places("5000");
    after_one_map_of(&mut c, 2_000);
    // The workers' heartbeats are held back; only the policy's own deadlines wake them.
    c.advance(4_999);
    assert_eq!(c.launches(), []);
    c.advance(1);
    assert_eq!(c.launches(), [(1, map(1, 2, 0))]);
}

#[test]
fn while_nothing_is_known_of_any_map_the_wait_is_as_given() {
    let mut c = two_places("5000");
    c.beat(1);
    c.submit(on_h0(1));
    c.advance(4_999);
    assert_eq!(c.launches(), []);
    c.advance(1);
    assert_eq!(c.launches(), [(1, map(1, 0, 0))], "5 s for the host; the worker is in its rack");
}

#[test]
fn a_job_of_which_no_map_has_finished_expects_of_its_maps_what_others_took() {
    let mut c = two_places("5000");
    after_one_map_of(&mut c, 20_000);
    assert_eq!(c.launches(), [(1, map(1, 2, 0))]);
    c.advance(20_000);
    end(&mut c, 0, map(1, 1, 0));
    c.submit(on_h0(2));
    c.beat(0);
    assert_eq!(c.launches(), [(0, map(2, 0, 0))]);
    end(&mut c, 1, map(1, 2, 0));
    assert_eq!(c.launches(), [(1, map(2, 1, 0))], "20 s are too long, as they were for the first job");
}

// The slot beside the data comes after 3 s, but is the first job's; the second one's would come after 6 s.
#[test]
fn a_job_does_not_wait_for_a_slot_that_a_job_before_it_will_take() {
    let mut c = two_places("5000");
    after_one_map_of(&mut c, 3_000);
    assert_eq!(c.launches(), [], "the first job waits for it");
    c.submit(on_h0(1));
    assert_eq!(c.launches(), [(1, map(2, 0, 0))], "the second one starts at once");
}

/// How a workload went.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Maps beside their data, in percent.
    local: u64,
    /// Mean time from submission to end, in tenths of a second.
    completion_ds: u64,
}

/// Ten workers in two racks with two map slots each; a map takes 1.3 times as long off its host and 2 times off its rack.
fn ten_workers(pairs: &[(&str, &str)]) -> ReplayOptions {
    ReplayOptions {
        scheduler: "fair".to_owned(),
        scheduler_params: params(pairs),
        view: View::Workers(WorkersView {
            workers: (0..10).map(in_two_racks).collect(),
            locality: LocalityCost { rack_ppm: 1_300_000, off_rack_ppm: 2_000_000 },
            ..WorkersView::default()
        }),
        ..ReplayOptions::default()
    }
}

fn played(jobs: &[JobTemplate], pairs: &[(&str, &str)]) -> Outcome {
    let (report, attempts) = recorded(jobs.to_vec(), &ten_workers(pairs));
    all_succeeded(&report);
    let maps: Vec<_> = attempts.iter().filter(|attempt| attempt.attempt.kind == TaskKind::Map).collect();
    let local = maps.iter().filter(|attempt| attempt.locality == Locality::Node).count();
    let sum: u64 = report.jobs.iter().map(|job| job.completion().as_ms()).sum();
    Outcome { local: (local * 100 / maps.len()) as u64, completion_ds: sum / report.jobs.len() as u64 / 100 }
}

/// Jobs of so many maps, one every so many milliseconds, with the data of each map on one of the first hosts.
fn jobs(n: u64, n_maps: u32, every_ms: u64, map_ms: u64, hosts: u64) -> Vec<JobTemplate> {
    const HOSTS: [&str; 10] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9"];
    let host = |job: u64, map: u32| HOSTS[((job * 7 + u64::from(map) * 3 + job * job) % hosts) as usize];
    let job = |job: u64| JobTemplate {
        n_maps,
        n_reduces: 0,
        submit_ms: job * every_ms,
        map_ms: (0..n_maps).map(|map| map_ms + (job * 31 + u64::from(map) * 17) % (map_ms / 4)).collect(),
        split_hosts: SplitHosts::new((0..n_maps).map(|map| [host(job, map)])),
        ..JobTemplate::default()
    };
    (0..n).map(job).collect()
}

/// How a workload goes under waits of 0, 5 and 15 s as they are, and under 5 and 15 s where it is looked ahead.
fn compared(jobs: &[JobTemplate]) -> [Outcome; 5] {
    let ways = [("0", "false"), ("5000", "false"), ("15000", "false"), ("5000", "true"), ("15000", "true")];
    ways.map(|(wait, forecast)| played(jobs, &[("locality.delay", wait), ("locality.forecast", forecast)]))
}

fn outcomes(figures: [(u64, u64); 5]) -> [Outcome; 5] {
    figures.map(|(local, completion_ds)| Outcome { local, completion_ds })
}

// These are the figures of docs/guide/schedulers/fair.md.
#[test]
fn where_slots_beside_the_data_come_soon_looking_ahead_waits_as_the_fixed_waits_do() {
    let jobs = jobs(60, 3, 1_500, 4_000, 10);
    assert_eq!(compared(&jobs), outcomes([(21, 70), (100, 60), (100, 60), (100, 60), (100, 60)]));
}

// All data lies on two of ten hosts, where a slot comes free every 5 s at best while six maps wait.
#[test]
fn where_slots_beside_the_data_come_late_looking_ahead_loses_little_of_what_the_fixed_waits_lose() {
    let jobs = jobs(20, 6, 15_000, 20_000, 2);
    assert_eq!(compared(&jobs), outcomes([(33, 264), (35, 322), (53, 773), (35, 269), (44, 322)]));
}
