//! What each worker's load has done to its tasks so far, as sums over time.
//!
//! A worker's load holds from one report, launch or end to the next. Over it run two sums: the load itself, and the
//! time that work would have taken at no load, `∫ dt ÷ f(load)`. The difference of two readings is a task's mean load,
//! and the work that its worker let it do, whatever the load did meanwhile; a mean of the factors themselves would
//! count slow times twice.

use super::formula::{Formula, Place};
use crate::cluster::{ClusterState, Worker};
use crate::job::{TaskKind, WorkerId};
use crate::models::load_curve::ONE_PPM;
use crate::time::Time;

/// One worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strain {
    at: Time,
    place: Place,
    /// Of full speed, in millionths.
    speed_ppm: u64,
    sums: Sums,
}

/// The sums up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Microseconds at no load, in millionths.
    pub(super) work: u128,
    /// Microseconds times load in thousandths.
    pub(super) load: u128,
}

impl Sums {
    /// Microseconds at no load since an earlier reading.
    pub(super) fn work_us_since(self, earlier: Sums) -> u64 {
        (self.work.saturating_sub(earlier.work) / u128::from(ONE_PPM)) as u64
    }

    /// The mean load since an earlier reading, so many microseconds ago.
    pub(super) fn mean_load_milli_since(self, earlier: Sums, us: u64) -> u32 {
        (self.load.saturating_sub(earlier.load) / u128::from(us.max(1))) as u32
    }
}

impl Strain {
    fn new(now: Time, place: Place, formula: Formula) -> Strain {
        Strain { at: now, place, speed_ppm: speed_ppm(&place, formula), sums: Sums::default() }
    }

    /// As if the worker had always been as it is: what is known of one whose tasks began before anybody looked.
    pub(super) fn since_ever(now: Time, place: Place, formula: Formula) -> Strain {
        let mut strain = Strain::new(Time::ZERO, place, formula);
        strain.advance(now);
        strain
    }

    fn advance(&mut self, now: Time) {
        self.sums = self.sums_at(now);
        self.at = self.at.max(now);
    }

    /// The sums at a time, with the present load since it was last looked at, and before where that is earlier.
    pub(super) fn sums_at(&self, time: Time) -> Sums {
        let (later, us) = match time >= self.at {
            true => (true, time.since(self.at).as_us()),
            false => (false, self.at.since(time).as_us()),
        };
        let work = u128::from(us) * u128::from(self.speed_ppm);
        let load = u128::from(us) * u128::from(self.place.load_milli);
        match later {
            true => Sums { work: self.sums.work + work, load: self.sums.load + load },
            false => Sums { work: self.sums.work.saturating_sub(work), load: self.sums.load.saturating_sub(load) },
        }
    }

    /// The worker as its running tasks meet it.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }
}

/// All workers, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Strains(Vec<Strain>);

impl Strains {
    /// A worker's load may be another one from now on.
    pub(super) fn look(&mut self, id: WorkerId, state: &ClusterState, formula: Formula) {
        let Some(worker) = state.worker(id) else { return };
        let (now, place) = (state.now(), place_of(worker, state, 0));
        while self.0.len() <= id.0 as usize {
            let next = WorkerId(self.0.len() as u32);
            self.0.push(Strain::new(now, Place::unknown(next), formula));
        }
        let strain = &mut self.0[id.0 as usize];
        strain.advance(now);
        if strain.place != place {
            (strain.place, strain.speed_ppm) = (place, speed_ppm(&place, formula));
        }
    }

    /// Begins with the present, as if it had always been.
    pub(super) fn attach(&mut self, state: &ClusterState, formula: Formula) {
        let strain = |worker| Strain::since_ever(state.now(), place_of(worker, state, 0), formula);
        self.0 = state.workers().iter().map(strain).collect();
    }

    pub(super) fn get(&self, id: WorkerId) -> Option<&Strain> {
        self.0.get(id.0 as usize)
    }
}

/// A worker with its attempts and so many more. Attempts that are being stopped do not count.
pub(super) fn place_of(worker: &Worker, state: &ClusterState, more: u32) -> Place {
    let (id, vitals) = (worker.id(), worker.vitals());
    let own = state.attempts_on(id).filter(|attempt| attempt.being_killed().is_none()).count() as u32 + more;
    Place {
        worker: id,
        load_milli: vitals.foreign_milli.saturating_add(own.saturating_mul(1_000)),
        cores_milli: vitals.load_cores_milli(worker.slots(TaskKind::Map)),
        khz: vitals.effective_khz,
    }
}

fn speed_ppm(place: &Place, formula: Formula) -> u64 {
    ONE_PPM * ONE_PPM / formula.factor_ppm(place).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::FrequencyCurve;

    fn at(s: u64) -> Time {
        Time::from_ms(s * 1_000)
    }

    #[test]
    fn work_and_load_add_up_over_times_of_different_load() {
        let formula = Formula::Fitted("below=0,linear=1".parse().expect("a curve"), FrequencyCurve::default());
        let place = |load_milli| Place { load_milli, cores_milli: 1_000, ..Place::unknown(WorkerId(0)) };
        let mut strain = Strain::new(at(0), place(1_000), formula);
        let begin = strain.sums_at(at(10));
        strain.advance(at(30));
        (strain.place, strain.speed_ppm) = (place(4_000), speed_ppm(&place(4_000), formula));
        let end = strain.sums_at(at(70));
        // 20 s alone and 40 s as one of four.
        assert_eq!(end.work_us_since(begin), 30_000_000);
        assert_eq!(end.mean_load_milli_since(begin, 60_000_000), 3_000, "(20 × 1 + 40 × 4) ÷ 60");
        let ever = Strain::since_ever(at(70), place(4_000), formula);
        assert_eq!(ever.sums_at(at(70)).work_us_since(ever.sums_at(at(30))), 10_000_000);
    }
}
