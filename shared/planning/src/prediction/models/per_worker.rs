//! `per-worker`: a line for each worker that has finished enough tasks of the class, and one for the others, as machines
//! differ.

use std::collections::BTreeMap;

use super::super::history::Sample;
use super::{Estimate, Fitted, Line, TaskTimeModel, points};

/// The model.
pub(super) struct PerWorker;

struct Workers {
    all: Line,
    of: BTreeMap<String, Line>,
}

/// With so many tasks a worker has a line of its own.
const OWN: usize = 5;

impl TaskTimeModel for PerWorker {
    fn fit(&self, samples: &[&Sample]) -> Option<Box<dyn Fitted>> {
        let all = Line::through(&points(samples))?;
        let mut by_worker: BTreeMap<String, Vec<&Sample>> = BTreeMap::new();
        for sample in samples {
            by_worker.entry(sample.worker.clone()).or_default().push(sample);
        }
        let enough = by_worker.into_iter().filter(|(_, samples)| samples.len() >= OWN);
        let of = enough.filter_map(|(worker, samples)| Some((worker, Line::through(&points(&samples))?))).collect();
        Some(Box::new(Workers { all, of }))
    }
}

impl Fitted for Workers {
    fn estimate(&self, bytes: u64, worker: Option<&str>) -> Estimate {
        worker.and_then(|worker| self.of.get(worker)).unwrap_or(&self.all).at(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{estimate, ms, sample};
    use super::*;

    #[test]
    fn a_slow_worker_has_its_own_line() {
        let of = |worker: &str, ms: u64| (0..9).map(move |_| sample(1, ms, worker)).collect::<Vec<_>>();
        let both: Vec<Sample> =
            ["fast", "slow"].into_iter().zip([1_000, 3_000]).flat_map(|(w, ms)| of(w, ms)).collect();
        let of = |worker| ms(estimate("per-worker", &both, 1, worker));
        assert_eq!([of(Some("fast")), of(Some("slow")), of(Some("new")), of(None)], [1_000, 3_000, 2_000, 2_000]);
    }
}
