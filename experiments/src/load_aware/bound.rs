//! How short a point's total time could be, so that a reader sees how much there is to win.
//!
//! *Least*: no schedule ends earlier, speculative attempts or not. By then the workers together must be able to do all
//! work, and each can finish no more tasks than fit if it had the smallest ones for itself. *Listed*: each task in
//! order goes where it ends first, by somebody who knows the times of all tasks and all loads to come, and tells
//! workers at once; no policy knows as much. The shortest schedule lies between the two.

/// Both ends, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) least_s: f64,
    pub(super) listed_s: f64,
}

/// How fast a worker of one slot is from each instant on, as a share of full speed. Ascending, the first at 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pace(pub(super) Vec<(f64, f64)>);

impl Pace {
    /// Work done from the start to an instant.
    fn done_by(&self, end_s: f64) -> f64 {
        self.spans().map(|(from, to, speed)| (to.min(end_s) - from).max(0.0) * speed).sum()
    }

    /// When so much work ends that begins at an instant; never, on a worker that stands still at the end.
    fn end_of(&self, start_s: f64, mut work: f64) -> f64 {
        for (from, to, speed) in self.spans().filter(|&(_, to, _)| to > start_s) {
            let from = from.max(start_s);
            let can = (to - from) * speed;
            if work <= can {
                return from + work / speed;
            }
            work -= can;
        }
        f64::INFINITY
    }

    fn spans(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let ends = self.0.iter().skip(1).map(|step| step.0).chain([f64::INFINITY]);
        self.0.iter().zip(ends).map(|(&(from, speed), to)| (from, to, speed))
    }
}

/// Of tasks, in seconds at full speed, that are there from the start.
pub(super) fn bounds(works: &[f64], paces: &[Pace]) -> Bounds {
    let listed_s = listed(works, paces);
    let mut ascending = works.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    // Above `late` there is a schedule, so it can be done; it is never said of anything that cannot.
    let (mut early, mut late) = (0.0, listed_s);
    for _ in 0..50 {
        let middle = (early + late) / 2.0;
        if may_fit(&ascending, paces, middle) { late = middle } else { early = middle }
    }
    Bounds { least_s: late, listed_s }
}

/// Whether nothing speaks against all being done by an instant.
fn may_fit(ascending: &[f64], paces: &[Pace], end_s: f64) -> bool {
    let can: Vec<f64> = paces.iter().map(|pace| pace.done_by(end_s)).collect();
    let tasks = |can: &f64| {
        let mut left = *can;
        ascending
            .iter()
            .take_while(|&&work| {
                left -= work;
                left >= 0.0
            })
            .count()
    };
    can.iter().sum::<f64>() >= ascending.iter().sum() && can.iter().map(tasks).sum::<usize>() >= ascending.len()
}

fn listed(works: &[f64], paces: &[Pace]) -> f64 {
    let mut free = vec![0.0; paces.len()];
    for &work in works {
        let ends = paces.iter().zip(&free).map(|(pace, &free)| pace.end_of(free, work));
        let first = ends.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((worker, end)) = first {
            free[worker] = end;
        }
    }
    free.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }

    /// Fig. 1.1 of the thesis: worker one is 1.5 times as fast; six tasks of a minute.
    #[test]
    fn a_bound_counts_whole_tasks_where_work_alone_would_flow_into_every_gap() {
        let paces = [Pace(vec![(0.0, 1.0)]), Pace(vec![(0.0, 1.0 / 1.5)])];
        let found = bounds(&[60.0; 6], &paces);
        // Work alone: 360 ÷ (1 + 2/3) = 216. By 240 s four fit on the first and two on the second.
        near(found.least_s, 240.0);
        near(found.listed_s, 240.0);
    }

    #[test]
    fn work_is_a_bound_where_tasks_are_many_and_small() {
        let found = bounds(&[1.0; 1_000], &[Pace(vec![(0.0, 1.0)]), Pace(vec![(0.0, 0.25)])]);
        near(found.least_s, 800.0);
        assert!((800.0..801.5).contains(&found.listed_s), "{found:?}");
    }

    #[test]
    fn a_worker_that_is_freed_catches_up() {
        let pace = Pace(vec![(0.0, 0.5), (100.0, 1.0)]);
        near(pace.done_by(120.0), 70.0);
        near(pace.end_of(80.0, 30.0), 120.0);
        assert_eq!(Pace(vec![(0.0, 1.0), (10.0, 0.0)]).end_of(5.0, 6.0), f64::INFINITY);
    }

    #[test]
    fn of_unequal_tasks_the_bound_is_below_every_schedule() {
        let works: Vec<f64> = (0..17u32).map(|n| 40.0 + f64::from(n * 7 % 17) * 3.0).collect();
        let paces: Vec<Pace> = (0..4u32).map(|n| Pace(vec![(0.0, 1.0 / f64::from(n + 1))])).collect();
        let found = bounds(&works, &paces);
        assert!(found.least_s <= found.listed_s && found.least_s > 0.8 * found.listed_s, "{found:?}");
    }
}
