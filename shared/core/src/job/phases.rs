//! A job's profile: how long the parts of its tasks take on average and at most, whatever slots it has.
//!
//! This is what remains of a [`JobTemplate`](super::profile::JobTemplate) when only averages and maxima are kept, and all that the bounds on
//! completion times need. It travels with the job's specification, because decisions read it.
//! Source: SimMR §II ("a compact job profile comprised of performance invariants"), balanced-pools §2.2.

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// Average and longest duration of one part of a job's tasks; both zero where the job has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseTimes {
    /// Arithmetic mean, rounded up to whole microseconds.
    #[serde(rename = "avg_us")]
    pub avg: Span,
    /// The longest.
    #[serde(rename = "max_us")]
    pub max: Span,
}

/// Average and longest durations of a job's parts, counted as in a [`JobTemplate`](super::profile::JobTemplate).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobProfile {
    /// Maps.
    pub map: PhaseTimes,
    /// Shuffle of first-wave reduces, from the end of the map stage.
    pub first_shuffle: PhaseTimes,
    /// Shuffle of later reduces.
    pub typical_shuffle: PhaseTimes,
    /// Reduces after their shuffle.
    pub reduce: PhaseTimes,
}

impl PhaseTimes {
    /// Of tasks that all take as long.
    pub const fn even(time: Span) -> PhaseTimes {
        PhaseTimes { avg: time, max: time }
    }

    /// Of so many tasks, task `i` taking entry `i mod len`, as a replay gives them out; zero without entries or tasks.
    pub(super) fn of(list_ms: &[u64], n: u32) -> PhaseTimes {
        let (len, n) = (list_ms.len(), n as usize);
        if len == 0 || n == 0 {
            return PhaseTimes::default();
        }
        let used = &list_ms[..len.min(n)];
        // Sum and maximum in one go: a replay does this for every entry of its trace.
        let both =
            |list: &[u64]| list.iter().fold((0, 0), |(sum, max): (u128, u64), &ms| (sum + u128::from(ms), max.max(ms)));
        let (sum_ms, max_ms) = both(used);
        let all_ms = sum_ms * (n / used.len()) as u128 + both(&used[..n % used.len()]).0;
        let avg_us = (all_ms * 1_000).div_ceil(n as u128);
        PhaseTimes {
            avg: Span::from_us(u64::try_from(avg_us).unwrap_or(u64::MAX)),
            max: Span::from_us(max_ms.saturating_mul(1_000)),
        }
    }
}

impl JobProfile {
    /// Its four parts with their names, in the order of a job's run.
    pub fn parts(&self) -> [(&'static str, PhaseTimes); 4] {
        [
            ("map", self.map),
            ("first_shuffle", self.first_shuffle),
            ("typical_shuffle", self.typical_shuffle),
            ("reduce", self.reduce),
        ]
    }

    /// The first part whose average is above its maximum, which no durations have.
    pub fn contradiction(&self) -> Option<&'static str> {
        self.parts().into_iter().find(|(_, times)| times.avg > times.max).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::profile::JobTemplate;

    fn times(avg_us: u64, max_us: u64) -> PhaseTimes {
        PhaseTimes { avg: Span::from_us(avg_us), max: Span::from_us(max_us) }
    }

    #[test]
    fn averages_count_an_entry_as_often_as_a_replay_gives_it_out() {
        let template = JobTemplate {
            n_maps: 3,
            n_reduces: 2,
            map_ms: vec![10, 40],
            first_shuffle_ms: vec![5],
            reduce_ms: vec![7, 9, 1_000],
            ..JobTemplate::default()
        };
        let profile = JobProfile::of(&template).expect("all durations are known");
        assert_eq!(profile.map, times(20_000, 40_000), "10, 40, 10");
        assert_eq!(profile.reduce, times(8_000, 9_000), "a third reduce does not exist");
        assert_eq!(profile.first_shuffle, times(5_000, 5_000));
        assert_eq!(profile.typical_shuffle, profile.first_shuffle, "the one that is known stands in");
        assert_eq!(profile.contradiction(), None);
    }

    #[test]
    fn a_template_without_durations_has_no_profile() {
        let no_maps = JobTemplate { n_maps: 1, ..JobTemplate::default() };
        let no_reduces = JobTemplate { n_maps: 1, map_ms: vec![1], n_reduces: 1, ..JobTemplate::default() };
        assert_eq!((JobProfile::of(&no_maps), JobProfile::of(&no_reduces)), (None, None));
        assert_eq!(JobProfile::of(&JobTemplate::default()), Some(JobProfile::default()));
    }

    #[test]
    fn an_average_above_the_maximum_is_noticed() {
        let profile = JobProfile { reduce: times(2, 1), ..JobProfile::default() };
        assert_eq!(profile.contradiction(), Some("reduce"));
    }

    #[test]
    fn the_written_form_carries_its_units() {
        let profile = JobProfile { map: times(1, 2), ..JobProfile::default() };
        let text = serde_json::to_string(&profile).expect("plain data");
        assert!(text.starts_with(r#"{"map":{"avg_us":1,"max_us":2},"#), "{text}");
        assert_eq!(serde_json::from_str::<JobProfile>(&text).expect("reads back"), profile);
        assert!(serde_json::from_str::<JobProfile>(r#"{"map":{"avg":1,"max":2}}"#).is_err());
    }
}
