//! The four scenarios of the thesis's chapter 4, in units of one map's time, so that they fit eight machines of the
//! thesis and four small ones here.
//!
//! The thesis's testbed: 8 nodes of 4 cores with Hyper-Threading; 9,000 games are 8 maps of about 60 s each; sudokus
//! vary, so maps do.

/// Maps of the thesis's job of 9,000 games: one for each worker.
const JOB: f64 = 1.0;

/// What varies within an experiment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// For tables and figures.
    pub(super) label: String,
    /// Maps of each job, as multiples of the number of workers, submitted together in this order.
    pub(super) jobs: Vec<f64>,
    /// A map's time as a share of the usual one.
    pub(super) map: f64,
    /// What is wrong with whom.
    pub(super) trouble: Trouble,
}

/// What makes workers differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// Foreign load on a share of the workers: from each instant, in maps' times, on.
    Load(Vec<Loaded>),
    /// This share of the workers has this frequency, as a share of the others'.
    Frequency(f64, f64),
}

/// Workers that carry the same foreign load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loaded {
    /// Share of all workers; the next ones in order of their numbers.
    pub(super) workers: f64,
    /// Instant and load.
    pub(super) steps: Vec<(f64, f64)>,
}

/// Which section of the chapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// §4.1
    Unnecessary,
    /// §4.2
    Dynamic,
    /// §4.3
    Jobs,
    /// §4.4
    Waves,
}

impl Section {
    /// The points, in order.
    pub(super) fn points(self) -> Vec<Point> {
        let one_loaded = || Trouble::Load(vec![Loaded { workers: 1.0 / 8.0, steps: vec![(0.0, 6.0)] }]);
        let point = |label: String, jobs: Vec<f64>, map: f64, trouble: Trouble| Point { label, jobs, map, trouble };
        match self {
            Section::Unnecessary => vec![
                point("one worker loaded".to_owned(), vec![JOB; 2], 1.0, one_loaded()),
                // 2268 MHz and 1416 MHz.
                point(
                    "one worker slowed".to_owned(),
                    vec![JOB; 2],
                    1.0,
                    Trouble::Frequency(1.0 / 8.0, 1416.0 / 2268.0),
                ),
                // The attempts that are needed (§4.3, and the thesis's first objective): nobody else wants the slots.
                point(
                    "one job alone, one worker slowed".to_owned(),
                    vec![JOB],
                    1.0,
                    Trouble::Frequency(1.0 / 8.0, 1416.0 / 2268.0),
                ),
                // So slow that a copy which starts once the others' maps have ended ends first.
                point(
                    "one job alone, one worker slowed to a third".to_owned(),
                    vec![JOB],
                    1.0,
                    Trouble::Frequency(1.0 / 8.0, 1.0 / 3.0),
                ),
            ],
            Section::Dynamic => {
                let at = |workers, steps: &[(f64, f64)]| Loaded { workers, steps: steps.to_vec() };
                // Half of the workers at 4; after three minutes two of them at 8 and two free.
                let trouble =
                    Trouble::Load(vec![at(0.25, &[(0.0, 4.0), (3.0, 8.0)]), at(0.25, &[(0.0, 4.0), (3.0, 0.0)])]);
                let games = [30_000.0, 20_000.0, 10_000.0, 10_000.0];
                vec![point("load that moves".to_owned(), games.map(|games| games / 9_000.0).to_vec(), 1.0, trouble)]
            }
            Section::Jobs => [1usize, 2, 3, 4, 6, 8]
                .into_iter()
                .map(|n| point(format!("{n}"), vec![JOB; n], 1.0, one_loaded()))
                .collect(),
            Section::Waves => [1.0, 2.0, 3.0, 4.0, 6.0, 8.0]
                .into_iter()
                .map(|waves| point(format!("{waves}"), vec![waves; 2], 1.0 / waves, one_loaded()))
                .collect(),
        }
    }

    /// Whether Load-Aware is to win here, not only not to lose (the and the thesis's word for §4.1, §4.2).
    pub(super) fn is_won(self) -> bool {
        matches!(self, Section::Unnecessary | Section::Dynamic)
    }

    /// What varies, for an axis; `None` where points are of different kinds.
    pub(super) fn axis(self) -> Option<&'static str> {
        match self {
            Section::Jobs => Some("number of jobs"),
            Section::Waves => Some("maps of a job for each worker"),
            Section::Unnecessary | Section::Dynamic => None,
        }
    }

    /// What the thesis's text states; its figures' curves are not in the text.
    pub(super) fn paper(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Section::Unnecessary => &[
                ("total time, loaded worker: LA against the others", "25 % shorter on average (Fig. 4.1a)"),
                ("total time, slowed worker: LA against the others", "20 % shorter on average (Fig. 4.1b)"),
                ("speculative attempts", "LA launches fewer (Fig. 4.1c)"),
            ],
            Section::Dynamic => &[
                ("total time: LA against the others", "up to 15 % shorter (Fig. 4.2a)"),
                ("speculative attempts that LA avoids", "90 % (Fig. 4.2b)"),
                ("LATE against default", "shorter, because of its cap of 2"),
            ],
            Section::Jobs => &[
                ("one job", "LA performs like default and LATE (Fig. 4.3a)"),
                ("more jobs", "LA avoids more attempts; the difference in total time stays (Fig. 4.3a, c)"),
                ("idle time", "grows with the attempts avoided (Fig. 4.3b)"),
            ],
            Section::Waves => &[("more maps for each worker", "less improvement (Fig. 4.4)")],
        }
    }
}

impl Point {
    /// Maps of each job on so many workers, at least one.
    pub(super) fn maps(&self, workers: u32) -> Vec<u32> {
        self.jobs.iter().map(|job| ((job * f64::from(workers)).round() as u32).max(1)).collect()
    }

    /// Foreign load of each of so many workers: from each instant, in maps' times, on; at least one worker is loaded.
    pub(super) fn loads(&self, workers: u32) -> Vec<Vec<(f64, f64)>> {
        let mut all = Vec::new();
        if let Trouble::Load(groups) = &self.trouble {
            for group in groups {
                let n = ((group.workers * f64::from(workers)).round() as usize).max(1);
                all.extend(std::iter::repeat_n(group.steps.clone(), n));
            }
        }
        all.resize(workers as usize, Vec::new());
        all
    }

    /// Frequency of each of so many workers as a share of the usual one.
    pub(super) fn frequencies(&self, workers: u32) -> Vec<f64> {
        let mut all = vec![1.0; workers as usize];
        if let Trouble::Frequency(share, frequency) = self.trouble {
            let n = ((share * f64::from(workers)).round() as usize).max(1);
            all.iter_mut().take(n).for_each(|one| *one = frequency);
        }
        all
    }

    /// Whether a speculative attempt can help a job of one map a worker that runs alone: a copy starts once the other
    /// maps have ended, and takes as long as they did. `None` where load is what is wrong; it is seen by what comes of
    /// it.
    pub(super) fn slow_enough(&self) -> Option<bool> {
        match self.trouble {
            Trouble::Frequency(_, frequency) => Some(frequency < 0.5),
            Trouble::Load(_) => None,
        }
    }

    /// Whether more than one job runs.
    pub(super) fn has_several(&self) -> bool {
        self.jobs.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thesis_has_eight_maps_a_job_and_four_loaded_workers_of_eight() {
        let [dynamic] = Section::Dynamic.points().try_into().expect("one point");
        assert_eq!(dynamic.maps(8), [27, 18, 9, 9]);
        let loads = dynamic.loads(8);
        assert_eq!(loads.iter().filter(|load| !load.is_empty()).count(), 4);
        assert_eq!(loads[0], [(0.0, 4.0), (3.0, 8.0)]);
        assert_eq!(loads[3], [(0.0, 4.0), (3.0, 0.0)]);
        let unnecessary = Section::Unnecessary.points();
        assert_eq!((unnecessary[0].maps(8), unnecessary[0].loads(4)[0].len()), (vec![8, 8], 1));
        let slowed = unnecessary[1].frequencies(8);
        assert!((slowed[0] - 0.624).abs() < 0.001 && slowed[1..].iter().all(|&f| f == 1.0));
    }

    /// 1416 of 2268 MHz make a map of a minute 96 s long; a copy would end after two minutes at best.
    #[test]
    fn a_worker_at_the_thesiss_lower_frequency_is_not_slow_enough_for_a_copy() {
        let points = Section::Unnecessary.points();
        let alone: Vec<_> = points.iter().filter(|point| !point.has_several()).map(Point::slow_enough).collect();
        assert_eq!(alone, [Some(false), Some(true)]);
    }

    #[test]
    fn waves_split_the_same_work() {
        for point in Section::Waves.points() {
            assert!((point.jobs[0] * point.map - 1.0).abs() < 1e-9, "{}", point.label);
        }
    }
}
