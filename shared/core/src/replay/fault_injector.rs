//! How attempts end before their time: as the trace says, or by lot.
//!
//! *Scripted*: a lost attempt of the trace is lost again when the replay launches the attempt with the same task and
//! number. It holds its slot as long as it did then, waiting for maps included. Every failed one is scripted. A killed
//! one is scripted unless it was speculative (it lost a race, and races are the policy's) or its job did not succeed
//! (the job's end may have killed it, and will again).
//!
//! *By lot*: whether an attempt fails, and at which share of its time, is a hash of the seed, the job's place in
//! the trace, task and number, so that two policies under one seed meet the same luck in whatever order they go.
//! The time of a reduce that waits for maps counts from their end.

use std::collections::BTreeMap;

use super::options::FaultPlan;
use crate::job::profile::{JobTemplate, LostAttempt};
use crate::job::{AttemptId, AttemptState, TaskKind};
use crate::time::Span;

#[derive(Clone, Debug)]
pub(super) struct FaultInjector {
    /// By the job's place in the trace, kind, index and number: how it ends, and after which time.
    script: BTreeMap<(u32, TaskKind, u32, u16), (AttemptState, Span)>,
    failing_ppm: u32,
    key: [u8; 32],
}

impl FaultInjector {
    pub(super) fn new(plan: &FaultPlan, jobs: &[JobTemplate], seed: u64) -> FaultInjector {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"howdah replay injector\0").update(&seed.to_le_bytes());
        let jobs = if plan.scripted { jobs } else { &[] };
        let scripted = |(place, job)| script(place as u32, job);
        FaultInjector {
            script: jobs.iter().enumerate().flat_map(scripted).collect(),
            failing_ppm: plan.attempt_failure_ppm,
            key: *hasher.finalize().as_bytes(),
        }
    }

    /// Whether every attempt does its work and succeeds.
    pub(super) fn are_plain(&self) -> bool {
        self.script.is_empty() && self.failing_ppm == 0
    }

    /// How the trace has the attempt end, and after how much time on a plain worker.
    #[inline]
    pub(super) fn scripted(&self, template: u32, id: AttemptId) -> Option<(AttemptState, Span)> {
        if self.script.is_empty() {
            return None;
        }
        self.script.get(&(template, id.kind, id.index, id.number)).copied()
    }

    /// How an attempt with so much work ends, and after how much of it.
    #[inline]
    pub(super) fn drawn(&self, template: u32, id: AttemptId, work: Span) -> (AttemptState, Span) {
        if self.failing_ppm == 0 {
            return (AttemptState::Succeeded, work);
        }
        let [luck, share] = self.lots(template, id);
        // The high half of the product, so that a share of 1,000,000 millionths is everyone.
        if (u128::from(luck) * 1_000_000) >> 64 >= u128::from(self.failing_ppm) {
            return (AttemptState::Succeeded, work);
        }
        let done = (u128::from(share) * u128::from(work.as_us())) >> 64;
        (AttemptState::Failed, Span::from_us(done as u64))
    }

    fn lots(&self, template: u32, id: AttemptId) -> [u64; 2] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&template.to_le_bytes()).update(&[id.kind as u8]);
        hasher.update(&id.index.to_le_bytes()).update(&id.number.to_le_bytes());
        let hash = hasher.finalize();
        let half =
            |from: usize| hash.as_bytes()[from..from + 8].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        [half(0), half(8)]
    }
}

/// A job's lost attempts that are to happen again.
fn script(
    place: u32,
    job: &JobTemplate,
) -> impl Iterator<Item = ((u32, TaskKind, u32, u16), (AttemptState, Span))> + '_ {
    let unfinished = !matches!(job.outcome.as_str(), "" | "SUCCEEDED");
    let again = move |lost: &&LostAttempt| lost.failed || !(lost.speculative || unfinished);
    job.lost_attempts.iter().filter(again).map(move |lost| {
        let kind = if lost.reduce { TaskKind::Reduce } else { TaskKind::Map };
        let state = if lost.failed { AttemptState::Failed } else { AttemptState::Killed };
        ((place, kind, lost.index, lost.number), (state, Span::from_us(lost.ms.saturating_mul(1_000))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobId;

    fn map(index: u32, number: u16) -> AttemptId {
        AttemptId { job: JobId(1), kind: TaskKind::Map, index, number }
    }

    fn drawing(failing_ppm: u32, seed: u64) -> FaultInjector {
        FaultInjector::new(&FaultPlan { attempt_failure_ppm: failing_ppm, ..FaultPlan::default() }, &[], seed)
    }

    #[test]
    fn failures_are_scripted_and_kills_unless_a_race_or_the_end_of_the_job_explains_them() {
        let lost =
            |number, failed, speculative| LostAttempt { number, failed, speculative, ms: 7, ..Default::default() };
        let attempts = vec![lost(0, true, false), lost(1, false, false), lost(2, true, true), lost(3, false, true)];
        let job = |outcome: &str| JobTemplate {
            lost_attempts: attempts.clone(),
            outcome: outcome.to_owned(),
            ..JobTemplate::default()
        };
        let jobs = [job("SUCCEEDED"), job(""), job("FAILED"), job("KILLED")];
        let injector = FaultInjector::new(&FaultPlan { scripted: true, ..FaultPlan::default() }, &jobs, 0);
        let states = |place| [0, 1, 2, 3].map(|number| injector.scripted(place, map(0, number)).map(|fate| fate.0));
        let (failed, killed) = (Some(AttemptState::Failed), Some(AttemptState::Killed));
        assert_eq!([states(0), states(1)], [[failed, killed, failed, None]; 2]);
        assert_eq!([states(2), states(3)], [[failed, None, failed, None]; 2]);
        assert_eq!(injector.scripted(0, map(0, 0)).unwrap().1, Span::from_ms(7));
        assert_eq!(FaultInjector::new(&FaultPlan::default(), &jobs, 0).scripted(0, map(0, 0)), None);
    }

    #[test]
    fn the_share_of_failing_attempts_is_met_at_points_all_over_their_time() {
        let injector = drawing(200_000, 1);
        let work = Span::from_us(1_000_000);
        let ends: Vec<_> = (0..20_000).map(|index| injector.drawn(0, map(index, 0), work)).collect();
        let mut points: Vec<u64> =
            ends.iter().filter(|end| end.0 == AttemptState::Failed).map(|end| end.1.as_us()).collect();
        assert!(ends.iter().all(|end| end.0 == AttemptState::Failed || end.1 == work));
        assert!((3_700..4_300).contains(&points.len()), "{}", points.len());
        points.sort_unstable();
        let quartiles = [1, 2, 3].map(|i| points[points.len() * i / 4]);
        assert!(
            quartiles.iter().zip([250_000, 500_000, 750_000]).all(|(&q, at): (_, u64)| q.abs_diff(at) < 30_000),
            "{quartiles:?}"
        );
    }

    #[test]
    fn none_and_all_can_fail() {
        let work = Span::from_ms(5);
        assert!((0..500).all(|index| drawing(0, 1).drawn(0, map(index, 0), work) == (AttemptState::Succeeded, work)));
        let all = drawing(1_000_000, 1);
        assert!((0..500).all(|index| all.drawn(0, map(index, 0), work).0 == AttemptState::Failed));
    }

    #[test]
    fn luck_differs_by_seed_job_kind_index_and_number_and_by_nothing_else() {
        let lots = |seed, place, id| drawing(1, seed).lots(place, id);
        let here = lots(1, 2, map(3, 4));
        assert_eq!(here, lots(1, 2, AttemptId { job: JobId(99), ..map(3, 4) }));
        let reduce = AttemptId { kind: TaskKind::Reduce, ..map(3, 4) };
        for other in [
            lots(2, 2, map(3, 4)),
            lots(1, 3, map(3, 4)),
            lots(1, 2, map(4, 4)),
            lots(1, 2, map(3, 5)),
            lots(1, 2, reduce),
        ] {
            assert_ne!(here, other);
        }
    }
}
