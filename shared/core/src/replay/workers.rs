//! The machines of a replay: how fast each is, what distance costs, and when one goes or comes.

use super::losses::Losses;
use super::options::{LocalityCost, SimWorker};
use crate::job::{Locality, WorkerId};
use crate::time::{Span, Time};

/// A plain worker's speed, and the cost of no distance.
const PLAIN: u32 = 1_000_000;

#[derive(Clone, Debug)]
pub(super) struct Machines {
    /// By worker; empty when all are plain.
    speeds: Vec<Vec<(Time, u32)>>,
    /// What distance makes of a time, in millionths, by locality.
    distance: [u32; 4],
    /// Who stops and comes back.
    pub(super) losses: Losses,
}

impl Machines {
    pub(super) fn new(workers: &[SimWorker], locality: LocalityCost, losses: Losses) -> Machines {
        let plain = workers.iter().all(|worker| worker.speed.is_empty());
        let speeds = if plain { Vec::new() } else { workers.iter().map(|worker| worker.speed.clone()).collect() };
        let mut distance = [PLAIN; 4];
        distance[Locality::Rack as usize] = locality.rack_ppm;
        distance[Locality::OffRack as usize] = locality.off_rack_ppm;
        Machines { speeds, distance, losses }
    }

    /// Machines of constant speeds, by worker, in millionths of a plain one's; those beyond the list are plain.
    pub(super) fn at_speeds(speeds: &[u32]) -> Machines {
        let speeds = speeds.iter().map(|&speed| vec![(Time::ZERO, speed)]).collect();
        Machines { speeds, ..Machines::new(&[], LocalityCost::default(), Losses::default()) }
    }

    /// Whether all work at full speed, wherever its data, and none is ever lost.
    pub(super) fn are_plain(&self) -> bool {
        self.speeds.is_empty() && self.distance == [PLAIN; 4] && !self.losses.any()
    }

    /// A map's time at a distance from its data.
    #[inline]
    pub(super) fn at_distance(&self, time: Span, locality: Locality) -> Span {
        let factor = self.distance[locality as usize];
        if factor == PLAIN { time } else { scaled(time, factor, PLAIN) }
    }

    /// When a plain worker's `work` that starts at `from` is done on this worker.
    #[inline]
    pub(super) fn end_of(&self, worker: WorkerId, from: Time, work: Span) -> Time {
        match self.speeds.get(worker.0 as usize) {
            None => from + work,
            Some(steps) => end_at_speeds(steps, from, work),
        }
    }
}

/// Work at a speed that changes in steps: exact, rounded up once to a whole microsecond.
fn end_at_speeds(steps: &[(Time, u32)], from: Time, work: Span) -> Time {
    // In microseconds at full speed, times PLAIN, so that no step rounds.
    let mut left = u128::from(work.as_us()) * u128::from(PLAIN);
    let mut at = from;
    let first = steps.partition_point(|step| step.0 <= from);
    let mut speed = first.checked_sub(1).map_or(PLAIN, |last| steps[last].1);
    for &(next, then) in &steps[first..] {
        let done = u128::from(next.since(at).as_us()) * u128::from(speed);
        if done >= left {
            break;
        }
        left -= done;
        (at, speed) = (next, then);
    }
    match (left, speed) {
        (0, _) => at,
        (_, 0) => Time::MAX,
        _ => at + Span::from_us(u64::try_from(left.div_ceil(u128::from(speed))).unwrap_or(u64::MAX)),
    }
}

/// `span × by / per`, rounded up; `per` is not 0.
fn scaled(span: Span, by: u32, per: u32) -> Span {
    let us = (u128::from(span.as_us()) * u128::from(by)).div_ceil(u128::from(per));
    Span::from_us(u64::try_from(us).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(speed: &[(u64, u32)]) -> SimWorker {
        SimWorker {
            name: "w".to_owned(),
            speed: speed.iter().map(|&(at, ppm)| (Time::from_us(at), ppm)).collect(),
            ..SimWorker::default()
        }
    }

    fn end(speed: &[(u64, u32)], from: u64, work: u64) -> Option<u64> {
        let machines = Machines::new(&[worker(speed)], LocalityCost::default(), Losses::default());
        let at = machines.end_of(WorkerId(0), Time::from_us(from), Span::from_us(work));
        (at < Time::MAX).then_some(at.as_us())
    }

    #[test]
    fn work_takes_its_time_at_full_speed_and_longer_at_less() {
        assert_eq!(end(&[], 5, 100), Some(105));
        assert_eq!(end(&[(0, 500_000)], 5, 100), Some(205));
        assert_eq!(end(&[(50, 500_000)], 0, 100), Some(150), "half of it before the step, half at half the speed");
        assert_eq!(end(&[(50, 2_000_000)], 0, 100), Some(75));
        assert_eq!(end(&[(50, 2_000_000)], 0, 50), Some(50), "it ends as the step comes");
        assert_eq!(end(&[(10, 0), (30, 1_000_000)], 0, 40), Some(60), "20 us without work");
    }

    #[test]
    fn a_standing_worker_ends_nothing_but_what_is_done_already() {
        assert_eq!(end(&[(10, 0)], 0, 11), None);
        assert_eq!(end(&[(10, 0)], 0, 10), Some(10));
        assert_eq!(end(&[(0, 0), (70, 1)], 20, 0), Some(20));
    }

    #[test]
    fn many_steps_round_only_once() {
        // At a third of the speed for a microsecond each, 1,000 times: rounding each step would lose 667 us.
        let steps: Vec<(u64, u32)> = (0..3_000).map(|at| (at, 333_333 + (at % 2) as u32)).collect();
        let done: u64 = steps[..1_000].iter().map(|step| u64::from(step.1)).sum();
        let us = done / 1_000_000;
        assert_eq!(us, 333);
        let end = end(&steps, 0, us).expect("it moves");
        let before = |end: u64| steps[..end as usize].iter().map(|step| u64::from(step.1)).sum::<u64>();
        assert!(before(end) >= us * 1_000_000 && before(end - 1) < us * 1_000_000, "{end}");
    }

    #[test]
    fn distance_multiplies_and_unknown_places_cost_nothing() {
        let cost = LocalityCost { rack_ppm: 1_500_000, off_rack_ppm: 2_000_001 };
        let machines = Machines::new(&[], cost, Losses::default());
        let time = |locality| machines.at_distance(Span::from_us(100), locality).as_us();
        use Locality::{Node, OffRack, Rack, Unknown};
        assert_eq!([Node, Rack, OffRack, Unknown].map(time), [100, 150, 201, 100], "rounded up");
    }
}
