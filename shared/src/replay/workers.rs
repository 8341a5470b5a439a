//! The machines of a replay: how fast each is, what distance costs, and when one goes or comes.

use super::options::{LocalityCost, SimWorker};
use crate::job::{Locality, WorkerId};
use crate::time::{Span, Time};
use crate::tracker::Input;

/// A plain worker's speed, and the cost of no distance.
const PLAIN: u32 = 1_000_000;

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Machines {
    /// By worker; empty when all are plain.
    speeds: Vec<Vec<(Time, u32)>>,
    locality: LocalityCost,
}

impl Machines {
    pub(super) fn new(workers: &[SimWorker], locality: LocalityCost) -> Machines {
        let plain = workers.iter().all(|worker| worker.speed.is_empty());
        let speeds = if plain { Vec::new() } else { workers.iter().map(|worker| worker.speed.clone()).collect() };
        Machines { speeds, locality }
    }

    /// A map's time at a distance from its data.
    pub(super) fn at_distance(&self, time: Span, locality: Locality) -> Span {
        let factor = match locality {
            Locality::Rack => self.locality.rack_ppm,
            Locality::OffRack => self.locality.off_rack_ppm,
            Locality::Node | Locality::Unknown => PLAIN,
        };
        if factor == PLAIN { time } else { scaled(time, factor, PLAIN) }
    }

    /// When a plain worker's `work` that starts at `from` is done on this worker.
    pub(super) fn end_of(&self, worker: WorkerId, from: Time, work: Span) -> Time {
        match self.speeds.get(worker.0 as usize) {
            None => from + work,
            Some(steps) => end_at_speeds(steps, from, work),
        }
    }

    /// When a worker next goes or comes; [`Time::MAX`] when none does.
    pub(super) fn next_change(&self) -> Time {
        Time::MAX
    }

    /// Adds what the master hears of workers that go or come now.
    pub(super) fn changes_at(&mut self, _now: Time, _inputs: &mut Vec<Input>) {}
}

/// Work at a speed that changes in steps.
fn end_at_speeds(steps: &[(Time, u32)], from: Time, work: Span) -> Time {
    let mut at = from;
    let mut left = work;
    let mut speed = steps.iter().take_while(|step| step.0 <= from).last().map_or(PLAIN, |step| step.1);
    for &(next, then) in steps.iter().filter(|step| step.0 > from) {
        let done = scaled(next.since(at), speed, PLAIN);
        if done >= left && speed > 0 {
            break;
        }
        left = Span::from_us(left.as_us().saturating_sub(done.as_us()));
        (at, speed) = (next, then);
    }
    if left == Span::ZERO {
        at
    } else if speed == 0 {
        Time::MAX
    } else {
        at + scaled(left, PLAIN, speed)
    }
}

/// `span × by / per`, rounded up; `per` is not 0.
fn scaled(span: Span, by: u32, per: u32) -> Span {
    let us = (u128::from(span.as_us()) * u128::from(by)).div_ceil(u128::from(per));
    Span::from_us(u64::try_from(us).unwrap_or(u64::MAX))
}
