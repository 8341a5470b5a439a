//! Shortest job first, and the chapter of the guide that writes it and the smallest policy.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::replay::{ReplayOptions, Simulation};

use super::fewest_running::FewestRunning;
use super::play::{after, in_slots, replay};

fn options() -> ReplayOptions {
    in_slots("shortest", &[], (2, 0))
}

fn job(submit_ms: u64, n_maps: u32) -> JobTemplate {
    JobTemplate { submit_ms, n_maps, map_ms: vec![1_000], ..JobTemplate::default() }
}

fn finishes(jobs: Vec<JobTemplate>) -> Vec<u64> {
    replay(jobs, &options()).jobs.iter().map(|job| job.finish.as_ms()).collect()
}

#[test]
fn the_job_with_the_fewest_tasks_left_is_next() {
    // Two slots: 2, 4 and 6 maps of a second end after 1, 3 and 6 seconds.
    assert_eq!(finishes(vec![job(0, 6), job(0, 4), job(0, 2)]), [6_000, 3_000, 1_000]);
    // At 2.5 s four maps of the first job are not done, which is fewer than five; at equality the earlier one goes on.
    assert_eq!(finishes(vec![job(0, 8), job(2_500, 5)]), [4_000, 7_000]);
}

#[test]
fn a_job_that_loses_to_a_shorter_one_keeps_what_runs() {
    // When the short job comes both slots are taken; it gets them as they become free.
    assert_eq!(finishes(vec![job(0, 6), job(500, 2)]), [4_000, 2_000]);
}

#[test]
fn it_says_behind_whom_a_job_waits() {
    let trace = Trace { jobs: vec![job(0, 6), job(0, 4)], ..Trace::default() };
    let said = after(&trace, &options(), 1).tracker().explain(howdah_core::job::JobId(1)).to_string();
    assert_eq!(said, "It is behind job 2, which still has maps waiting.");
}

#[test]
fn a_policy_of_three_methods_shares_the_slots_among_jobs() {
    // Two slots: each job has one of them until the shorter one is done after 2 s; its successor starts at once.
    let trace = Trace { jobs: vec![job(0, 6), job(0, 2), job(0, 1)], ..Trace::default() };
    let policy = Box::new(FewestRunning::default());
    let mut simulation =
        Simulation::with_scheduler(&trace, &options(), policy).unwrap_or_else(|error| panic!("{error}"));
    simulation.run();
    let finishes: Vec<u64> = simulation.report().jobs.iter().map(|job| job.finish.as_ms()).collect();
    assert_eq!(finishes, [5_000, 2_000, 3_000]);
}

/// The chapter's code is the file, so that what people copy has been compiled and tested.
#[test]
fn the_guides_chapter_shows_the_file_as_it_is() {
    let chapter = include_str!("../../../../docs/guide/schedulers/writing-a-policy.md");
    let file = include_str!("../../src/schedulers/shortest.rs");
    assert!(chapter.contains(&format!("```rust\n{file}```\n")), "writing-a-policy.md and shortest.rs differ");
    let smallest = include_str!("fewest_running.rs");
    let page = include_str!("../../../../docs/guide/schedulers/smallest-policy.md");
    assert!(page.contains(&format!("```rust\n{smallest}```\n")), "smallest-policy.md and fewest_running.rs differ");
    let registry = include_str!("../../src/schedulers/registry.rs");
    let line = r#"    ("shortest", |params| ordered(Shortest, params)),"#;
    assert!(registry.contains(line) && chapter.contains(line), "the chapter's registry line is not the registry's");
}
