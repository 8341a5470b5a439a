//! What a policy learns of jobs that came without a profile: from their own tasks that succeeded, and from earlier
//! runs of the application, which is the job's name.
//!
//! A policy sees when attempts begin and end, not what they did in between, so that a reduce counts as one part: from
//! its start, or from the end of the maps if it waited for them, to its end. A profile made of this has no shuffles.

use std::collections::BTreeMap;

use crate::cluster::Job;
use crate::job::{JobProfile, PerKind, PhaseTimes, TaskKind};
use crate::time::{Span, Time};

/// Applications that are remembered; beyond it, the one that has not run for longest is forgotten.
const MOST_APPLICATIONS: usize = 1_000;

/// Durations of the tasks that succeeded, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    kinds: PerKind<Sum>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    n: u32,
    us: u128,
    max: Span,
}

impl Sum {
    fn times(&self) -> Option<PhaseTimes> {
        let avg = self.us.div_ceil(u128::from(self.n.max(1)));
        (self.n > 0).then(|| PhaseTimes { avg: Span::from_us(u64::try_from(avg).unwrap_or(u64::MAX)), max: self.max })
    }
}

impl Seen {
    /// A task's success.
    pub(super) fn add(&mut self, job: &Job, kind: TaskKind, started: Time, now: Time) {
        let from = match (kind, job.maps_done()) {
            (TaskKind::Reduce, Some(maps_done)) => started.max(maps_done),
            _ => started,
        };
        let time = now.since(from);
        let sum = &mut self.kinds[kind];
        sum.n += 1;
        sum.us += u128::from(time.as_us());
        sum.max = sum.max.max(time);
    }

    /// Tasks that were seen, by kind.
    pub(super) fn counts(&self) -> PerKind<u32> {
        self.kinds.map(|sum| sum.n)
    }

    /// A profile for a job of so many tasks; `None` while nothing is known of its first stage. Until a reduce has
    /// been seen, reduces are taken to last as long as maps do.
    pub(super) fn profile(&self, n_maps: u32, n_reduces: u32) -> Option<JobProfile> {
        let [map, reduce] = self.kinds.map(|sum| sum.times());
        if n_maps > 0 && map.is_none() {
            return None;
        }
        let reduce = if n_reduces > 0 { reduce.or(map)? } else { PhaseTimes::default() };
        Some(JobProfile { map: map.unwrap_or_default(), reduce, ..JobProfile::default() })
    }
}

/// Earlier runs by application.
#[derive(Clone, Debug, Default)]
pub(super) struct Applications {
    by_name: BTreeMap<String, (u64, Seen)>,
    /// Names by the number of their last run.
    by_age: BTreeMap<u64, String>,
    n_runs: u64,
}

impl Applications {
    /// The last run of an application.
    pub(super) fn get(&self, name: &str) -> Option<&Seen> {
        self.by_name.get(name).map(|(_, seen)| seen)
    }

    /// A run is over. The last one counts: data grow and programs change.
    pub(super) fn remember(&mut self, name: &str, seen: Seen) {
        self.n_runs += 1;
        if let Some((age, _)) = self.by_name.insert(name.to_owned(), (self.n_runs, seen)) {
            self.by_age.remove(&age);
        }
        self.by_age.insert(self.n_runs, name.to_owned());
        if self.by_age.len() > MOST_APPLICATIONS
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.by_name.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(maps_ms: &[u64], reduces_ms: &[u64]) -> Seen {
        let sum = |list: &[u64]| Sum {
            n: list.len() as u32,
            us: list.iter().map(|&ms| u128::from(ms) * 1_000).sum(),
            max: Span::from_ms(list.iter().copied().max().unwrap_or(0)),
        };
        Seen { kinds: [sum(maps_ms), sum(reduces_ms)] }
    }

    #[test]
    fn a_profile_needs_the_first_stage_and_guesses_the_second_from_it() {
        assert_eq!(seen(&[], &[]).profile(3, 1), None);
        let maps_only = seen(&[10, 30], &[]).profile(3, 1).expect("maps are known");
        assert_eq!(maps_only.map, PhaseTimes { avg: Span::from_ms(20), max: Span::from_ms(30) });
        assert_eq!(maps_only.reduce, maps_only.map);
        let both = seen(&[10], &[4]).profile(3, 1).expect("both are known");
        assert_eq!(both.reduce, PhaseTimes::even(Span::from_ms(4)));
        assert_eq!(seen(&[10], &[4]).profile(3, 0).map(|profile| profile.reduce), Some(PhaseTimes::default()));
        assert!(seen(&[], &[4]).profile(0, 2).is_some());
    }

    #[test]
    fn the_application_that_has_not_run_for_longest_is_forgotten() {
        let mut known = Applications::default();
        for n in 0..MOST_APPLICATIONS {
            known.remember(&format!("app {n}"), seen(&[1], &[]));
        }
        known.remember("app 0", seen(&[2], &[]));
        known.remember("new", seen(&[3], &[]));
        assert_eq!(known.get("app 0"), Some(&seen(&[2], &[])), "it ran again");
        assert_eq!((known.get("app 1"), known.by_name.len()), (None, MOST_APPLICATIONS));
        assert!(known.get("new").is_some());
    }
}
