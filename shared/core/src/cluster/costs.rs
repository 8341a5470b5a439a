//! What speculative attempts cost: how many there were, how they fared, and the slot time of those that lost.
//!
//! The core counts as it launches and ends attempts, for each job and for the cluster, so that a live master, a
//! simulation and their pages have the same numbers and nobody folds effects again. **Invariant: won + lost +
//! those that run = launched.**

use serde::{Deserialize, Serialize};

use super::Attempt;
use crate::cluster::EndCause;
use crate::job::AttemptState;
use crate::time::{Span, Time};

/// The costs of speculative attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeculationCosts {
    /// Speculative attempts that were assigned.
    pub launched: u32,
    /// Those that succeeded: another attempt of their task was too late, or failed.
    pub won: u32,
    /// Those that ended in any other way.
    pub lost: u32,
    /// Slot time of losers, originals and copies: of attempts that ran until another one of their task won, and of
    /// speculative attempts that ended in any other way than by success. It counts from the assignment until the job
    /// was done with the attempt, once for each slot that the attempt held.
    pub wasted: Span,
}

impl SpeculationCosts {
    /// Speculative attempts that run now.
    pub fn running(&self) -> u32 {
        self.launched - self.won - self.lost
    }

    /// An attempt was assigned.
    pub(crate) fn launch(&mut self, speculative: bool) {
        self.launched += u32::from(speculative);
    }

    /// An attempt is over for its job.
    pub(crate) fn end(&mut self, attempt: &Attempt, state: AttemptState, cause: EndCause, now: Time) {
        let succeeded = state == AttemptState::Succeeded;
        if attempt.speculative() {
            self.won += u32::from(succeeded);
            self.lost += u32::from(!succeeded);
        }
        if !succeeded && (attempt.speculative() || cause == EndCause::LostRace) {
            let us = now.since(attempt.started()).as_us().saturating_mul(attempt.slots().into());
            self.wasted = self.wasted + Span::from_us(us);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, Locality, TaskId, TaskKind, WorkerId};

    fn attempt(started_s: u64, speculative: bool) -> Attempt {
        let task = TaskId { job: JobId(1), kind: TaskKind::Map, index: 0 };
        let started = Time::from_ms(started_s * 1_000);
        let running = AttemptState::Running;
        let mut attempt = Attempt::new(task.attempt(0), WorkerId(0), started, Locality::Unknown, running);
        attempt.speculative = speculative;
        attempt
    }

    #[test]
    fn losers_of_races_waste_their_slots_whether_original_or_copy() {
        let mut costs = SpeculationCosts::default();
        let now = Time::from_ms(100_000);
        costs.launch(false);
        (0..3).for_each(|_| costs.launch(true));
        assert_eq!((costs.launched, costs.running()), (3, 3));
        costs.end(&attempt(80, true), AttemptState::Succeeded, EndCause::Reported, now);
        costs.end(&attempt(10, false), AttemptState::Killed, EndCause::LostRace, now);
        assert_eq!((costs.won, costs.lost, costs.wasted), (1, 0, Span::from_secs(90)), "the original lost");
        costs.end(&attempt(95, true), AttemptState::Killed, EndCause::LostRace, now);
        costs.end(&attempt(98, true), AttemptState::Failed, EndCause::Reported, now);
        assert_eq!((costs.won, costs.lost, costs.wasted), (1, 2, Span::from_secs(97)));
        costs.end(&attempt(0, false), AttemptState::Failed, EndCause::Reported, now);
        costs.end(&attempt(0, false), AttemptState::Killed, EndCause::WorkerLost, now);
        assert_eq!(costs.wasted, Span::from_secs(97), "what is lost without a race is not speculation's");
        assert_eq!(costs.running(), 0);
    }
}
