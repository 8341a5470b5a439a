//! SimMR's Table I: runs of one application are close, runs of different applications far apart.
//!
//! Between every two runs the symmetric Kullback–Leibler divergence of map, shuffle and reduce durations is taken;
//! an application's row is the least, mean and largest over the pairs of its own runs (ten pairs for the paper's
//! five runs). The sentence below the table compares different applications and gives the same three numbers over
//! pairs of runs of which each is of another application. The caption says 95th percentile where the columns say
//! Max; it is the largest here.

use howdah_core::job::profile::Trace;
use howdah_core::models::divergence::Divergence;
use howdah_core::models::moments::Moments;

use crate::phase::Phase;

/// Several runs of one application.
#[derive(Clone, Debug)]
pub struct Application<'t> {
    /// For people.
    pub name: String,
    pub runs: Vec<&'t Trace>,
}

/// Over a set of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Least.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// Largest.
    pub max: f64,
    /// Pairs that had durations on both sides.
    pub pairs: usize,
}

impl Spread {
    /// `None` for no pairs.
    fn of(values: &[f64]) -> Option<Spread> {
        let Moments { count: pairs, mean: avg, min, max, .. } = Moments::of(values);
        (pairs > 0).then_some(Spread { min, avg, max, pairs })
    }
}

/// The table.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarity {
    /// For each application, in the order given: over pairs of its runs, by phase in the order of [`Phase::ALL`].
    pub within: Vec<(String, [Option<Spread>; 3])>,
    /// Over pairs of runs of different applications.
    pub between: [Option<Spread>; 3],
}

/// Durations of one run by phase.
type Run = [Vec<f64>; 3];

/// Compares all runs with all others.
pub fn similarity(applications: &[Application<'_>], divergence: Divergence) -> Similarity {
    let durations: Vec<Vec<Run>> = applications
        .iter()
        .map(|application| application.runs.iter().map(|run| Phase::ALL.map(|phase| phase.of_trace(run))).collect())
        .collect();
    let over = |pairs: &[(&Run, &Run)]| {
        [0, 1, 2].map(|phase| {
            let values: Vec<f64> =
                pairs.iter().filter_map(|(a, b)| divergence.symmetric(&a[phase], &b[phase])).collect();
            Spread::of(&values)
        })
    };
    let within = applications.iter().zip(&durations).map(|(application, runs)| {
        let pairs: Vec<_> =
            (0..runs.len()).flat_map(|a| (a + 1..runs.len()).map(move |b| (&runs[a], &runs[b]))).collect();
        (application.name.clone(), over(&pairs))
    });
    let mut pairs = Vec::new();
    for (index, runs) in durations.iter().enumerate() {
        for other in &durations[index + 1..] {
            pairs.extend(runs.iter().flat_map(|a| other.iter().map(move |b| (a, b))));
        }
    }
    Similarity { within: within.collect(), between: over(&pairs) }
}

#[cfg(test)]
mod tests {
    use howdah_core::job::profile::JobTemplate;
    use howdah_core::models::{Distribution, Random};

    use super::*;

    fn run(map: &str, reduce: &str, seed: u64) -> Trace {
        let draw = |text: &str, stream| {
            let distribution: Distribution = text.parse().expect(text);
            let mut random = Random::new(seed, stream);
            (0..400).map(|_| distribution.sample_whole(&mut random)).collect::<Vec<u64>>()
        };
        let job = JobTemplate {
            n_maps: 400,
            n_reduces: 400,
            map_ms: draw(map, 0),
            reduce_ms: draw(reduce, 1),
            ..JobTemplate::default()
        };
        Trace { jobs: vec![job], ..Trace::default() }
    }

    #[test]
    fn runs_of_one_application_are_close_and_different_applications_far_apart() {
        let short: Vec<Trace> = (0..5).map(|seed| run("lognormal(7,0.2)", "lognormal(6,0.3)", seed)).collect();
        let long: Vec<Trace> = (5..10).map(|seed| run("lognormal(10,0.2)", "lognormal(9,0.3)", seed)).collect();
        let applications = [("short", &short), ("long", &long)]
            .map(|(name, runs)| Application { name: name.to_owned(), runs: runs.iter().collect() });
        let table = similarity(&applications, Divergence::default());
        for (name, phases) in &table.within {
            let map = phases[0].expect("there are maps");
            assert_eq!(map.pairs, 10, "{name}");
            assert!(map.max < 0.2 && map.min <= map.avg && map.avg <= map.max, "{name}: {map:?}");
            assert_eq!(phases[1], None, "{name} has no shuffles");
        }
        let apart = table.between[0].expect("there are maps");
        assert_eq!(apart.pairs, 25);
        assert!(apart.min > 10.0 && apart.max <= 1e6_f64.ln(), "{apart:?}");
    }

    #[test]
    fn one_run_has_nothing_to_be_compared_with() {
        let only = run("constant(5)", "constant(6)", 0);
        let table = similarity(&[Application { name: "only".to_owned(), runs: vec![&only] }], Divergence::default());
        assert_eq!(table.within[0].1, [None; 3]);
        assert_eq!(table.between, [None; 3]);
    }
}
