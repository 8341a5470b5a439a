//! Where a task ran: how loaded and how fast its worker was, and what that does to its time.
//!
//! Where the policy's rule for speculative execution has curves of load and frequency, times are compared as they would be on a
//! worker without load at one stated frequency, and carried over from there to each worker as it is now. So a task on a slow
//! or loaded worker tells of others elsewhere, and the simulated workers differ as the real ones do. Source: Load-Aware
//! thesis §3.3; Wang et al., ICPADS 2013, §II-A, predict alike machines only.

use std::collections::BTreeMap;

use howdah_core::cluster::{ClusterState, Worker, WorkerState};
use howdah_core::job::TaskKind;
use howdah_core::models::{FrequencyCurve, LoadCurve};
use howdah_core::tracker::JobTracker;
use serde::{Deserialize, Serialize};

/// The frequency that times are compared at.
const KHZ: u32 = 1_000_000;

/// A worker as its tasks meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Tasks that run or wait for a core, in thousandths.
    pub load_milli: u32,
    /// Cores that they share, in thousandths, at least 1.
    pub cores_milli: u32,
    /// Effective frequency; 0 when unknown.
    pub khz: u32,
}

impl Place {
    /// With what runs on the worker now; `None` of one that has not told of its cores.
    pub fn of(worker: &Worker, state: &ClusterState) -> Option<Place> {
        Place::with(worker, state.attempts_on(worker.id()).count())
    }

    /// With all of its map slots in use, as they are while tasks wait.
    fn full(worker: &Worker, state: &ClusterState) -> Option<Place> {
        let running = state.attempts_on(worker.id()).count();
        Place::with(worker, running.max(usize::from(worker.slots(TaskKind::Map))))
    }

    fn with(worker: &Worker, own: usize) -> Option<Place> {
        let vitals = worker.vitals();
        let own_milli = u32::try_from(own).unwrap_or(u32::MAX).saturating_mul(1_000);
        let load_milli = vitals.foreign_milli.saturating_add(own_milli.max(1_000));
        let cores_milli = vitals.load_cores_milli(worker.slots(TaskKind::Map));
        (vitals.n_cpus > 0).then_some(Place { load_milli, cores_milli: cores_milli.max(1), khz: vitals.effective_khz })
    }

    /// In the middle of two moments.
    pub(super) fn between(self, earlier: Option<Place>) -> Place {
        let before = earlier.unwrap_or(self).load_milli;
        Place { load_milli: before.midpoint(self.load_milli), ..self }
    }
}

/// How long tasks take on each worker, over how long they would take at the stated frequency without load.
#[derive(Clone, Debug, PartialEq)]
pub struct Speeds {
    load: LoadCurve,
    /// `None` where some worker's frequency is unknown.
    frequency: Option<FrequencyCurve>,
    factors: BTreeMap<String, f64>,
    mean: f64,
}

impl Speeds {
    /// Of a cluster's workers as they are now, if the policy has curves and any worker has told of itself.
    pub fn of(tracker: &mut JobTracker) -> Option<Speeds> {
        let (load, frequency) = tracker.curves()?;
        let state = tracker.state();
        let live = state.workers().iter().filter(|worker| worker.state() != WorkerState::Lost);
        let places: Vec<(&Worker, Place)> = live.filter_map(|one| Some((one, Place::full(one, state)?))).collect();
        let frequency = places.iter().all(|(_, place)| place.khz > 0).then_some(frequency);
        let mut speeds = Speeds { load, frequency, factors: BTreeMap::new(), mean: 1.0 };
        for (worker, place) in &places {
            let factor = speeds.at(place)?;
            speeds.factors.insert(worker.name().to_owned(), factor);
        }
        speeds.mean = speeds.factors.values().sum::<f64>() / places.len() as f64;
        (!places.is_empty()).then_some(speeds)
    }

    /// What a task's time is multiplied by at a place; `None` where too little is known of it.
    pub(super) fn at(&self, place: &Place) -> Option<f64> {
        const LONG: u128 = 1 << 40;
        let by_load = self.load.factor_ppm(place.load_milli, place.cores_milli) as f64 / 1e6;
        match self.frequency {
            None => Some(by_load),
            Some(_) if place.khz == 0 => None,
            Some(curve) => Some(by_load * curve.time_us(LONG, KHZ, place.khz).max(1) as f64 / LONG as f64),
        }
    }

    /// The same on a worker as it is now; of one that is not known as on average.
    pub(super) fn on(&self, worker: &str) -> f64 {
        self.factors.get(worker).copied().unwrap_or(self.mean)
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeds(frequency: bool) -> Speeds {
        let load = "below=0,linear=1".parse().expect("a curve");
        Speeds { load, frequency: frequency.then(FrequencyCurve::default), factors: BTreeMap::new(), mean: 3.0 }
    }

    #[test]
    fn twice_the_load_and_half_the_frequency_take_four_times_as_long() {
        let place = |load_milli, khz| Place { load_milli, cores_milli: 2_000, khz };
        let [fast, slow] = [place(2_000, 2_000_000), place(4_000, 1_000_000)].map(|place| speeds(true).at(&place));
        assert!((slow.expect("known") / fast.expect("known") - 4.0).abs() < 1e-6, "{fast:?} {slow:?}");
        assert_eq!(speeds(true).at(&place(1, 0)), None, "one whose frequency is not known among others");
        assert_eq!(speeds(false).at(&place(4_000, 0)), Some(2.0), "where none is known, load alone counts");
        assert_eq!(speeds(true).on("new"), 3.0);
    }

    #[test]
    fn a_tasks_load_is_between_that_at_its_launch_and_that_at_its_end() {
        let place = |load_milli| Place { load_milli, cores_milli: 1_000, khz: 7 };
        assert_eq!(place(4_000).between(Some(place(2_000))), place(3_000));
        assert_eq!(place(4_000).between(None), place(4_000));
    }
}
