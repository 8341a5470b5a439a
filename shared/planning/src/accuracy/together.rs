//! Several runs of one workload taken together: their common profile, and their common completion times.
//!
//! On a machine whose cores are shared with other programs one run is one draw: the same task takes half as long again when
//! a neighbour is busy. Two runs then differ by more than any simulation is off, and one of them predicts the other as
//! badly as the machine repeats itself. So there are two further readings beside run against run. *As it was*: what one
//! run measured stands as the prediction of another, without any simulation; no profile of that run can do better.
//! *Together*: the median profile of some runs predicts the median completion times of others, **never of the same
//! ones**, so that the answer does not leak. SimMR's Figure 5 also stands on three executions of each application.

use std::collections::BTreeMap;

use howdah_core::job::profile::{JobTemplate, Trace};
use howdah_core::models::moments::{median, sorted};

use super::compare::{Comparison, JobMeasure, Measure};
use super::kind::Kind;
use super::pair::{PairError, kind, partners};
use super::spread::measured_makespan_s;
use super::{AccuracyError, Maker, Model, Prediction, compare_under};

/// Some runs predicted from the common profile of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// What the runs of the profile were to those predicted; never [`Kind::Own`].
    pub kind: Kind,
    /// Places of the runs that gave the profile.
    pub profile: Vec<usize>,
    /// Places of the runs that were predicted, at least one.
    pub measured: Vec<usize>,
    /// Medians over the predicted runs, of what was measured and of what was simulated.
    pub comparison: Comparison,
}

/// Repeats by turns, the first, third, … of them from the second, fourth, … and the other way round; and all runs of
/// each other shape or policy from all that are like the first. Kinds with a single run have no repeats to predict.
///
/// # Errors
/// When a run cannot be simulated, or the runs are not of one workload.
pub fn together(runs: &[&Trace], model: Model, make: Maker) -> Result<Vec<Together>, AccuracyError> {
    let alike = alike(runs);
    let mut found = Vec::new();
    let mut add = |kind, profile: &[usize], measured: &[usize]| {
        let common = pooled(&profile.iter().map(|&place| runs[place]).collect::<Vec<_>>())?;
        let single = measured.iter().map(|&place| compare_under(&common, runs[place], model, make));
        let comparison = medians(&single.collect::<Result<Vec<_>, _>>()?);
        found.push(Together { kind, profile: profile.to_vec(), measured: measured.to_vec(), comparison });
        Ok::<(), AccuracyError>(())
    };
    for repeats in alike.iter().filter(|repeats| repeats.len() > 1) {
        let every_other = |from: usize| repeats.iter().skip(from).step_by(2).copied().collect::<Vec<_>>();
        let (odd, even) = (every_other(0), every_other(1));
        add(Kind::CrossRun, &odd, &even)?;
        add(Kind::CrossRun, &even, &odd)?;
    }
    if let Some((first, others)) = alike.split_first() {
        for other in others {
            add(Kind::CrossShape, first, other)?;
        }
    }
    Ok(found)
}

/// Each run from what each other run of its kind measured, as it was.
///
/// # Errors
/// When the runs are not of one workload.
pub fn as_it_was(runs: &[&Trace]) -> Result<Vec<Prediction>, AccuracyError> {
    let mut found = Vec::new();
    for repeats in alike(runs) {
        for &profile in &repeats {
            for &measured in repeats.iter().filter(|&&measured| measured != profile) {
                let comparison = side_by_side(runs[profile], runs[measured])?;
                found.push(Prediction { kind: Kind::CrossRun, profile, measured, comparison });
            }
        }
    }
    Ok(found)
}

/// Places of the runs of each shape and policy, in the order of the first of each; at least one each.
pub fn alike(runs: &[&Trace]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        match found.iter_mut().find(|alike| kind(runs[alike[0]], run) == Kind::CrossRun) {
            Some(alike) => alike.push(place),
            None => found.push(vec![place]),
        }
    }
    found
}

fn side_by_side(profile: &Trace, measured: &Trace) -> Result<Comparison, PairError> {
    let completion_s = |job: &JobTemplate| job.completion_ms().unwrap_or(0) as f64 / 1e3;
    let pairs = partners(profile, measured)?;
    let left_out = measured.jobs.len() - pairs.len();
    let jobs = pairs.into_iter().map(|(job, partner)| JobMeasure {
        id: job.id.clone(),
        name: job.name.clone(),
        completion: Measure { measured_s: completion_s(job), simulated_s: completion_s(partner) },
    });
    let makespan = Measure { measured_s: measured_makespan_s(measured), simulated_s: measured_makespan_s(profile) };
    Ok(Comparison { makespan, jobs: jobs.collect(), left_out })
}

/// The common profile of these runs, as a trace of the first one: each task has the median of its times in all runs.
/// Where runs know different numbers of a job's times of a kind (a reduce was of the first wave in one run and came
/// later in another), the list stands whose sum is the median of all sums.
///
/// # Errors
/// When the runs are not of one workload.
fn pooled(runs: &[&Trace]) -> Result<Trace, PairError> {
    let Some((&first, others)) = runs.split_first() else { return Ok(Trace::default()) };
    let mut jobs: Vec<Vec<&JobTemplate>> = partners(first, first)?.into_iter().map(|(job, _)| vec![job]).collect();
    for other in others {
        for (known, (_, partner)) in jobs.iter_mut().zip(partners(other, first)?) {
            known.push(partner);
        }
    }
    Ok(Trace { jobs: jobs.iter().map(|same| common(same)).collect(), ..first.header() })
}

fn common(same: &[&JobTemplate]) -> JobTemplate {
    let lists = |of: fn(&JobTemplate) -> &[u64]| median_list(&same.iter().map(|job| of(job)).collect::<Vec<_>>());
    JobTemplate {
        map_ms: lists(|job| &job.map_ms),
        first_shuffle_ms: lists(|job| &job.first_shuffle_ms),
        typical_shuffle_ms: lists(|job| &job.typical_shuffle_ms),
        reduce_ms: lists(|job| &job.reduce_ms),
        commit_ms: median_ms(same.iter().map(|job| job.commit_ms)),
        lost_attempts: Vec::new(),
        ..same[0].clone()
    }
}

fn median_list(lists: &[&[u64]]) -> Vec<u64> {
    if lists.iter().all(|list| list.len() == lists[0].len()) {
        return (0..lists[0].len()).map(|n| median_ms(lists.iter().map(|list| list[n]))).collect();
    }
    let mut by_sum: Vec<&[u64]> = lists.to_vec();
    by_sum.sort_by_key(|list| list.iter().sum::<u64>());
    by_sum[(by_sum.len() - 1) / 2].to_vec()
}

/// Of an even number of times the mean of the two in the middle, rounded up; 0 of none.
fn median_ms(times: impl Iterator<Item = u64>) -> u64 {
    let mut times: Vec<u64> = times.collect();
    times.sort_unstable();
    match times.len() {
        0 => 0,
        n => (times[(n - 1) / 2] + times[n / 2]).div_ceil(2),
    }
}

/// What several predictions say together: for each job and the makespan the median measured and the median simulated
/// time. Jobs of one name are told apart by their order.
fn medians(all: &[Comparison]) -> Comparison {
    let mut places: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    let mut jobs: Vec<(&JobMeasure, Vec<Measure>)> = Vec::new();
    for comparison in all {
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        for job in &comparison.jobs {
            let nth = taken.entry(&job.name).or_default();
            let place = *places.entry((&job.name, *nth)).or_insert_with(|| {
                jobs.push((job, Vec::new()));
                jobs.len() - 1
            });
            *nth += 1;
            jobs[place].1.push(job.completion);
        }
    }
    let jobs = jobs.into_iter().map(|(job, times)| JobMeasure { completion: middle(&times), ..job.clone() });
    Comparison {
        jobs: jobs.collect(),
        makespan: middle(&all.iter().map(|one| one.makespan).collect::<Vec<_>>()),
        left_out: all.iter().map(|one| one.left_out).max().unwrap_or(0),
    }
}

fn middle(times: &[Measure]) -> Measure {
    let of = |time: fn(&Measure) -> f64| median(&sorted(times.iter().map(time))).unwrap_or(0.0);
    Measure { measured_s: of(|time| time.measured_s), simulated_s: of(|time| time.simulated_s) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::across::tests::run;
    use howdah_core::schedulers::by_name;

    #[test]
    fn repeats_predict_by_turns_and_never_themselves_and_another_shape_is_predicted_from_all() {
        // Two maps on one slot. A neighbour slows one run of four down, by half.
        let runs = [
            run(1, &[100, 100], 200),
            run(1, &[102, 98], 200),
            run(1, &[150, 150], 300),
            run(1, &[100, 104], 204),
            run(2, &[100, 100], 100),
        ];
        let runs: Vec<&Trace> = runs.iter().collect();
        let found = together(&runs, Model::SimMr, by_name).expect("simulates");
        let who: Vec<_> = found.iter().map(|one| (one.kind, &one.profile[..], &one.measured[..])).collect();
        assert_eq!(
            who,
            [
                (Kind::CrossRun, &[0, 2][..], &[1, 3][..]),
                (Kind::CrossRun, &[1, 3][..], &[0, 2][..]),
                (Kind::CrossShape, &[0, 1, 2, 3][..], &[4][..])
            ]
        );
        // 125 + 125 for the median of 200 and 204; 101 + 101 for that of 200 and 300; 101 and 102 beside each other.
        let times: Vec<_> = found.iter().map(|one| one.comparison.jobs[0].completion).collect();
        let expected = [(0.202, 0.250), (0.250, 0.202), (0.100, 0.102)];
        for (time, (measured_s, simulated_s)) in times.iter().zip(expected) {
            assert!(
                (time.measured_s - measured_s).abs() < 1e-9 && (time.simulated_s - simulated_s).abs() < 1e-9,
                "{time:?}"
            );
        }
    }

    #[test]
    fn a_run_as_it_was_is_off_by_what_the_repeats_differ() {
        let runs = [run(1, &[100], 100), run(1, &[150], 150), run(2, &[100], 100)];
        let found = as_it_was(&runs.iter().collect::<Vec<_>>()).expect("one workload");
        let per_mille = |one: &Prediction| (one.comparison.summary().max_error * 1e3).round();
        let errors: Vec<_> = found.iter().map(|one| (one.profile, one.measured, per_mille(one))).collect();
        assert_eq!(errors, [(0, 1, 333.0), (1, 0, 500.0)]);
    }

    #[test]
    fn a_list_whose_length_differs_between_runs_is_taken_whole_from_the_run_in_the_middle() {
        assert_eq!(median_list(&[&[1, 9], &[3, 3], &[2, 5]]), [2, 5]);
        assert_eq!(median_list(&[&[1, 9], &[4, 4]]), [3, 7]);
        assert_eq!(median_list(&[&[10], &[3, 3], &[50, 1, 1]]), [10]);
        assert_eq!(median_ms([2, 2, 9].into_iter()), 2);
        assert_eq!(median_ms(std::iter::empty()), 0);
    }
}
