//! All predictions among several runs of one workload.

use howdah_core::job::profile::Trace;

use super::kind::Kind;
use super::{AccuracyError, Comparison, Maker, Model, compare_under, kind};

/// One run predicted from one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// What the profile was to the run.
    pub kind: Kind,
    /// Place of the run that gave the profile.
    pub profile: usize,
    /// Place of the run that was predicted.
    pub measured: usize,
    /// How it went.
    pub comparison: Comparison,
}

/// Each run predicted from itself; each from every other one of the same shape and policy; and those of other
/// shapes or policies than the first run from all that are like the first. `make` makes the runs' policies.
///
/// # Errors
/// When a run cannot be simulated, or the runs are not of one workload.
pub fn across(runs: &[&Trace], model: Model, make: Maker) -> Result<Vec<Prediction>, AccuracyError> {
    each(runs, |profile, measured| compare_under(runs[profile], runs[measured], model, make))
}

/// The same by any comparison of a profile's run and a measured one, identified by their places.
pub(super) fn each(
    runs: &[&Trace],
    mut compare: impl FnMut(usize, usize) -> Result<Comparison, AccuracyError>,
) -> Result<Vec<Prediction>, AccuracyError> {
    let mut predictions = Vec::new();
    let mut add = |kind, profile: usize, measured: usize| {
        let comparison = compare(profile, measured)?;
        predictions.push(Prediction { kind, profile, measured, comparison });
        Ok::<(), AccuracyError>(())
    };
    for place in 0..runs.len() {
        add(Kind::Own, place, place)?;
    }
    for profile in 0..runs.len() {
        let is_like_first = profile == 0 || kind(runs[0], runs[profile]) == Kind::CrossRun;
        for measured in (0..runs.len()).filter(|&measured| measured != profile) {
            let kind = kind(runs[profile], runs[measured]);
            if kind == Kind::CrossRun || is_like_first {
                add(kind, profile, measured)?;
            }
        }
    }
    Ok(predictions)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use howdah_core::job::profile::{JobTemplate, Measured, TraceCluster, TraceWorker};
    use howdah_core::schedulers::by_name;

    /// One job, a map for each time, on so many map slots, over after so long.
    pub(in crate::accuracy) fn run(map_slots: u16, map_ms: &[u64], finish_ms: u64) -> Trace {
        let worker = TraceWorker { map_slots, reduce_slots: 1, ..TraceWorker::default() };
        Trace {
            cluster: Some(TraceCluster {
                scheduler: "fifo".to_owned(),
                workers: vec![worker],
                ..TraceCluster::default()
            }),
            jobs: vec![JobTemplate {
                name: "a".to_owned(),
                n_maps: map_ms.len() as u32,
                map_ms: map_ms.to_vec(),
                outcome: "SUCCEEDED".to_owned(),
                measured: Some(Measured { finish_ms, ..Measured::default() }),
                ..JobTemplate::default()
            }],
            ..Trace::default()
        }
    }

    #[test]
    fn repeats_predict_each_other_and_another_shape_is_predicted_from_the_repeats_alone() {
        let (a, b, other) = (run(2, &[100; 4], 200), run(2, &[110; 4], 220), run(1, &[100; 4], 400));
        let found = across(&[&a, &b, &other], Model::SimMr, by_name).expect("simulates");
        let pairs: Vec<_> = found.iter().map(|p| (p.kind, p.profile, p.measured)).collect();
        let (own, run, shape) = (Kind::Own, Kind::CrossRun, Kind::CrossShape);
        assert_eq!(
            pairs,
            [(own, 0, 0), (own, 1, 1), (own, 2, 2), (run, 0, 1), (shape, 0, 2), (run, 1, 0), (shape, 1, 2)]
        );
        let error = |place: usize| found[place].comparison.summary().max_error;
        assert_eq!([error(0), error(1), error(2)], [0.0; 3]);
        // 200 ms for 220, 400 for 400, 220 for 200, 440 for 400.
        let expected = [20.0 / 220.0, 0.0, 0.1, 0.1];
        for (place, expected) in expected.into_iter().enumerate() {
            assert!((error(place + 3) - expected).abs() < 1e-9, "{place}: {}", error(place + 3));
        }
    }

    #[test]
    fn runs_under_a_policy_that_the_core_has_not_are_predicted_by_who_can_make_it() {
        let mut runs = [run(2, &[100; 4], 200), run(2, &[110; 4], 220)];
        for run in &mut runs {
            run.cluster.as_mut().expect("a cluster").scheduler = "mine".to_owned();
        }
        let [a, b] = &runs;
        let unknown = across(&[a, b], Model::SimMr, by_name).expect_err("the core has no such policy");
        assert!(matches!(unknown, AccuracyError::Replay(_)), "{unknown}");
        let found = across(&[a, b], Model::SimMr, |name, params| {
            assert_eq!(name, "mine");
            by_name("fifo", params)
        });
        assert_eq!(found.expect("simulates").len(), 4);
    }
}
