//! Each workload has the properties that its source states, and never changes.

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::{Distribution, Negative};
use howdah_core::replay::{Arrivals, ReplayOptions, Simulation, View};
use rstest::rstest;

use super::facebook_table::BINS;
use super::properties::{self, Property, size_ms};
use super::table_two::ROWS;
use super::*;

fn generate(name: &str, choices: Choices) -> Trace {
    find(name).expect(name).generate(&choices).expect(name)
}

fn plain(name: &str) -> Trace {
    generate(name, Choices::default())
}

fn sum(trace: &Trace, number: impl Fn(&JobTemplate) -> u64) -> u64 {
    trace.jobs.iter().map(number).sum()
}

fn mean(trace: &Trace, values: impl Fn(&JobTemplate) -> &[u64]) -> f64 {
    let all: Vec<f64> = trace.jobs.iter().flat_map(|job| values(job).iter().map(|ms| *ms as f64)).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// FNV-1a over all numbers and names, in order.
fn digest(trace: &Trace) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for job in &trace.jobs {
        take(job.name.as_bytes());
        for number in [job.submit_ms, u64::from(job.n_maps), u64::from(job.n_reduces), job.input_bytes.unwrap_or(0)] {
            take(&number.to_le_bytes());
        }
        for number in
            job.map_ms.iter().chain(&job.first_shuffle_ms).chain(&job.typical_shuffle_ms).chain(&job.reduce_ms)
        {
            take(&number.to_le_bytes());
        }
    }
    hash
}

fn makespan_s(trace: &Trace, maps: u16, reduces: u16) -> f64 {
    let options = ReplayOptions {
        view: View::Slots { maps, reduces },
        arrivals: Arrivals::AsRecorded,
        ..ReplayOptions::default()
    };
    let mut simulation = Simulation::new(trace, &options).expect("a sound trace");
    simulation.run();
    simulation.report().makespan.as_us() as f64 / 1e6
}

#[test]
fn names_are_unique_and_every_workload_says_what_it_is() {
    for (index, workload) in all().iter().enumerate() {
        assert!(all()[..index].iter().all(|other| other.name != workload.name), "{}", workload.name);
        assert!(!workload.about.is_empty() && !workload.source.is_empty() && !workload.open.is_empty());
        let trace = plain(workload.name);
        assert_eq!(trace.jobs.len(), workload.jobs, "{}", workload.name);
        assert!(trace.jobs.iter().all(|job| job.n_maps > 0 && !job.map_ms.is_empty()), "{}", workload.name);
    }
}

#[rstest]
#[case("simmr-facebook", 0xe936_be67_7bee_f97d)]
#[case("simmr-facebook-1148", 0x0983_efa1_0a5f_1cdc)]
#[case("simmr-testbed", 0xb018_9feb_27c5_7175)]
#[case("yahoo-m45-unimodal", 0x59ba_942f_a10a_0ed6)]
#[case("yahoo-m45-bimodal", 0x90bc_baee_5ba0_479f)]
#[case("facebook-table1", 0x1af6_b435_57ec_eec0)]
#[case("synthetic1-unimodal", 0xc01d_64c3_21ad_70a9)]
#[case("synthetic1-unimodal-20", 0x5972_ec83_ef59_1ec7)]
#[case("synthetic1-unimodal-10", 0x2e10_086c_a682_43e3)]
#[case("synthetic1-bimodal", 0x2270_1b93_4f44_f04e)]
#[case("synthetic1-bimodal-20", 0x503d_a719_16ae_a4bc)]
#[case("synthetic1-bimodal-10", 0xd51d_0c00_6b0e_f614)]
#[case("synthetic2-bimodal", 0x4037_2138_fd2b_4875)]
#[case("synthetic2-bimodal-20", 0x902c_39e3_e701_7dcd)]
#[case("synthetic2-bimodal-10", 0x4796_17c7_c47a_aec4)]
#[case("slowdown-table2", 0xfc04_e66d_ea46_ce73)]
#[case("slowdown-swim", 0x6871_01e6_bc95_d25f)]
#[case("example-two-jobs", 0x9185_cb89_bc61_0b6c)]
#[case("example-two-jobs-reversed", 0x9abf_f20b_b2e5_84c0)]
#[case("example-equal-jobs", 0x7594_1675_f285_04a8)]
#[case("example-five-jobs", 0x3d8c_5059_95db_9350)]
#[case("example-five-jobs-johnson", 0x3748_19e3_77b2_989c)]
#[case("example-five-jobs-reversed", 0x3263_9333_40c2_8754)]
#[case("example-five-jobs-two-sizes", 0x31c2_88d4_956e_d79c)]
fn every_workload_is_frozen_at_a_seed(#[case] name: &str, #[case] expected: u64) {
    let found = digest(&generate(name, Choices { seed: 7, ..Choices::default() }));
    assert_eq!(found, expected, "{name}: {found:#018x}");
}

#[test]
fn another_seed_is_another_trace_where_anything_is_drawn() {
    for workload in all().iter().filter(|workload| workload.resizable) {
        let seeded = |seed| digest(&workload.generate(&Choices { seed, ..Choices::default() }).expect("generates"));
        assert_ne!(seeded(1), seeded(2), "{}", workload.name);
    }
}

#[test]
fn the_facebook_table_has_exact_numbers_of_jobs() {
    let trace = plain("facebook-table1");
    for (name, maps, reduces, jobs) in BINS {
        let like = |job: &&JobTemplate| job.name == name && job.n_maps == maps && job.n_reduces == reduces;
        assert_eq!(trace.jobs.iter().filter(like).count(), jobs as usize, "{name} {maps}");
    }
    let map_only = trace.jobs.iter().filter(|job| job.n_reduces == 0).count();
    let small = trace.jobs.iter().filter(|job| job.n_maps <= 10).count();
    let large = trace.jobs.iter().filter(|job| job.n_maps >= 2400).count();
    // The text's own percentages.
    assert_eq!((map_only, small, large), (74, 68, 4));
}

#[test]
fn the_facebook_lognormals_have_their_means() {
    let trace = generate("simmr-facebook", Choices { jobs: Some(400), ..Choices::default() });
    for (found, distribution) in [
        (mean(&trace, |job| &job.map_ms), simmr_facebook::MAP_MS),
        (mean(&trace, |job| &job.reduce_ms), simmr_facebook::REDUCE_MS),
    ] {
        assert!((found / distribution.mean() - 1.0).abs() < 0.06, "{found}, {}", distribution.mean());
    }
}

#[test]
fn the_large_facebook_variant_has_its_number_of_tasks() {
    for seed in 0..3 {
        let trace = generate("simmr-facebook-1148", Choices { seed, ..Choices::default() });
        assert_eq!(trace.jobs.len(), 1148);
        assert_eq!(sum(&trace, |job| u64::from(job.n_maps) + u64::from(job.n_reduces)), 200_000);
        assert!(trace.jobs.iter().all(|job| job.map_ms.len() == job.n_maps as usize));
    }
}

#[test]
fn the_makespan_papers_normals_have_the_moments_of_the_chosen_treatment() {
    for negative in [Negative::Clamp, Negative::Redraw, Negative::Absolute] {
        let choices = Choices { jobs: Some(600), negative, ..Choices::default() };
        let trace = generate("yahoo-m45-unimodal", choices);
        let normal = |mean, sd| Distribution::Normal { mean, sd, negative }.mean();
        let maps = sum(&trace, |job| u64::from(job.n_maps)) as f64 / 600.0;
        // Clamped counts are raised to 1, the treatment's only other effect.
        assert!((maps / normal(154.0, 558.0) - 1.0).abs() < 0.12, "{negative}: {maps}");
        // Factors are uniform in [1, 10]: 5.5 on average.
        let map_ms = mean(&trace, |job| &job.map_ms);
        assert!((map_ms / (normal(50.0, 200.0) * 5500.0) - 1.0).abs() < 0.12, "{negative}: {map_ms}");
    }
}

#[rstest]
#[case("synthetic1-bimodal", 80, 1000.0, 200.0)]
#[case("synthetic1-bimodal-10", 8, 1000.0, 200.0)]
#[case("synthetic2-bimodal", 90, 100.0, 50.0)]
#[case("synthetic2-bimodal-20", 18, 100.0, 50.0)]
fn bimodal_sets_have_exact_shares_of_short_jobs(
    #[case] name: &str,
    #[case] short: usize,
    #[case] map_sd: f64,
    #[case] reduce_mean: f64,
) {
    let trace = plain(name);
    assert!(trace.jobs.iter().all(|job| (1..=100).contains(&job.n_maps) && (1..=50).contains(&job.n_reduces)));
    // A long job's mean map is at least 8 times the base mean, a short one's at most 3 times; means of few tasks
    // spread, so only jobs with many are told apart, and their share is near the exact one.
    let base = Distribution::Normal { mean: reduce_mean / 2.0, sd: map_sd, negative: Negative::Redraw }.mean();
    let many: Vec<&JobTemplate> = trace.jobs.iter().filter(|job| job.n_maps >= 40).collect();
    let few =
        |job: &&&JobTemplate| job.map_ms.iter().sum::<u64>() as f64 / f64::from(job.n_maps) / (base * 1000.0) < 5.0;
    let share = many.iter().filter(few).count() as f64 / many.len() as f64;
    let expected = short as f64 / trace.jobs.len() as f64;
    assert!((share - expected).abs() < 0.25, "{name}: {share} of {}", many.len());
}

#[test]
fn the_first_jobs_of_a_larger_set_are_those_of_a_smaller_one() {
    let of = |jobs| generate("simmr-facebook", Choices { jobs: Some(jobs), ..Choices::default() }).jobs;
    assert_eq!(of(10), of(40)[..10]);
}

#[test]
fn table_two_replays_to_its_own_run_times_alone() {
    let trace = plain("slowdown-table2");
    for row in &ROWS {
        let same = |job: &&JobTemplate| job.name == row.application && job.n_maps == row.maps;
        let jobs: Vec<&JobTemplate> = trace.jobs.iter().filter(same).collect();
        assert_eq!(jobs.len(), row.jobs as usize, "{} {}", row.application, row.maps);
        let alone = Trace { jobs: vec![jobs[0].clone()], ..Trace::default() };
        let found = makespan_s(&alone, table_two::SLOTS.0, table_two::SLOTS.1);
        // Durations are whole milliseconds; ten waves of them add up to some.
        assert!((found - row.alone_s).abs() < 0.02, "{} {}: {found}", row.application, row.maps);
    }
}

#[rstest]
#[case("example-two-jobs", 42.0)]
#[case("example-two-jobs-reversed", 24.0)]
#[case("example-equal-jobs", 30.0)]
#[case("example-five-jobs-johnson", 47.0)]
#[case("example-five-jobs-reversed", 78.0)]
#[case("example-five-jobs-two-sizes", 47.0)]
fn worked_examples_take_as_long_as_the_paper_says(#[case] name: &str, #[case] expected: f64) {
    assert_eq!(makespan_s(&plain(name), 30, 30), expected);
}

#[test]
fn the_swim_like_set_has_the_properties_that_the_paper_states() {
    let workload = find("slowdown-swim").expect("it is there");
    let trace = plain("slowdown-swim");
    let found = properties::of(&trace, workload.slots).expect("replays");
    let get = |property| found.iter().find(|(other, _)| *other == property).expect("computed").1;
    let near = |property, low: f64, high: f64| {
        assert!((low..=high).contains(&get(property)), "{property:?}: {}", get(property));
    };
    // Stated: 16.35, 3.32, fewer than 8 %, about 60 h, fewer than ten to more than 10,000 tasks.
    near(Property::ReferenceScv, 15.5, 17.5);
    near(Property::SizeScv, 3.1, 3.5);
    near(Property::HalfLoadShare, 0.07, 0.08);
    near(Property::ReferenceHours, 57.0, 63.0);
    near(Property::FewestTasks, 1.0, 9.0);
    near(Property::MostTasks, 10_000.0, 40_000.0);
    near(Property::InputCorrelation, 0.9, 1.0);
    // Nearly three orders of magnitude between shortest and longest (§I).
    assert!(get(Property::LongestReference) > 400.0 * get(Property::ShortestReference));
}

#[test]
fn the_swim_like_set_has_the_same_sizes_whatever_the_seed() {
    let sizes = |seed| {
        let trace = generate("slowdown-swim", Choices { seed, jobs: Some(200), ..Choices::default() });
        let mut sizes: Vec<u64> = trace.jobs.iter().map(|job| size_ms(job) / 10_000).collect();
        sizes.sort_unstable();
        sizes
    };
    // Tasks are whole milliseconds, so a job of thousands may differ by seconds.
    assert!(sizes(1).iter().zip(sizes(2)).all(|(one, two)| one.abs_diff(two) <= 1));
}

#[test]
fn gaps_are_chosen_freely_and_sizes_where_they_may() {
    let gaps = Some(Distribution::Constant(1500.0));
    let trace = generate("example-five-jobs", Choices { gaps, ..Choices::default() });
    assert_eq!(trace.jobs.iter().map(|job| job.submit_ms).collect::<Vec<_>>(), [0, 1500, 3000, 4500, 6000]);
    let asked = Choices { jobs: Some(6), ..Choices::default() };
    let error = find("example-five-jobs").expect("it is there").generate(&asked).expect_err("fixed");
    assert_eq!(error.to_string(), "workload `example-five-jobs`: expected its own 5 jobs, found 6");
    let none = Choices { jobs: Some(0), ..Choices::default() };
    assert_eq!(find("simmr-facebook").expect("it is there").generate(&none), Err(WorkloadError::NoJobs));
}

const NIGHTLY: &str = r#"
name = "nightly"
jobs = 10
gaps_ms = "exponential(30000)"

[[class]]
name = "small"
share = 0.8
maps = "uniform(1,10)"
map_ms = "lognormal(9.2,0.4)"
priority = "LOW"

[[class]]
name = "large"
share = 0.2
maps = 500
reduces = 20
map_ms = 1000
first_shuffle_ms = 800
typical_shuffle_ms = 4000
reduce_ms = 2000
factor = 3
deadline_ms = "uniform(600000,1200000)"
bytes_per_map = 67108864
user = "night"
queue = "batch"
"#;

#[test]
fn a_description_becomes_the_jobs_that_it_describes() {
    let description = custom::Description::parse(NIGHTLY).expect("sound");
    let trace = description.generate(&Choices::default()).expect("generates");
    let large: Vec<&JobTemplate> = trace.jobs.iter().filter(|job| job.name == "large").collect();
    assert_eq!((trace.jobs.len(), large.len()), (10, 2));
    for job in large {
        assert_eq!((job.n_maps, job.n_reduces), (500, 20));
        assert!(job.map_ms.iter().all(|ms| *ms == 3000) && job.reduce_ms.iter().all(|ms| *ms == 6000));
        assert!(
            job.first_shuffle_ms.iter().all(|ms| *ms == 2400) && job.typical_shuffle_ms.iter().all(|ms| *ms == 12_000)
        );
        assert!((600_000..=1_200_000).contains(&job.deadline_ms.expect("described")));
        assert_eq!(job.input_bytes, Some(500 * 67_108_864));
        assert_eq!((job.user.as_str(), job.queue.as_str()), ("night", "batch"));
    }
    assert!(
        trace.jobs.iter().filter(|job| job.name == "small").all(|job| job.n_maps <= 10 && job.reduce_ms.is_empty())
    );
    assert!(trace.jobs[9].submit_ms > 0);
}

#[rstest]
#[case("jobs = 3", "missing field `name`")]
#[case("name = 'x'\njobs = 0\nclass = []", "expected at least 1")]
#[case("name = 'x'\njobs = 1\nclass = []", "class: expected at least one [[class]], found none")]
#[case("name = 'x'\njobs = 1\n[[class]]\nname = 'a'\nmaps = 1\nmap = 2", "unknown field `map`")]
#[case("name = 'x'\njobs = 1\n[[class]]\nname = 'a'\nmaps = 'uniform(9,1)'", "the lower one first")]
#[case(
    "name = 'x'\njobs = 1\n[[class]]\nname = 'a'\nmaps = 1\nshare = -1",
    "class 1 (a), share: expected a number above 0, found -1"
)]
#[case("name = 'x'\njobs = 1\n[[class]]\nname = 'a'\nmaps = 1e9", "class 1 (a), maps: expected at most")]
fn descriptions_that_make_no_sense_are_told_why(#[case] text: &str, #[case] expected: &str) {
    let error = custom::Description::parse(text).expect_err(text).to_string();
    assert!(error.contains(expected), "{error}");
}
