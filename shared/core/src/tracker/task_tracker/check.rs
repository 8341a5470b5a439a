//! What must always hold of a TaskTracker.

use super::TaskTracker;
use crate::job::TaskKind;

impl TaskTracker {
    /// Checks the whole state.
    ///
    /// # Errors
    /// A sentence that names what is violated.
    pub fn check_invariants(&self) -> Result<(), String> {
        for (kind, slots) in [(TaskKind::Map, self.config.map_slots), (TaskKind::Reduce, self.config.reduce_slots)] {
            let occupied = self.occupied(kind);
            if occupied > slots {
                return Err(format!("{occupied} {kind} attempts hold {slots} slots"));
            }
        }
        for (at, held) in self.attempts.iter().enumerate() {
            if self.attempts[..at].iter().any(|other| other.attempt == held.attempt) {
                return Err(format!("attempt {:?} is held twice", held.attempt));
            }
        }
        for (at, idle) in self.idle.iter().enumerate() {
            if self.idle[..at].iter().any(|other| other.process == idle.process) {
                return Err(format!("process {} waits twice", idle.process));
            }
            if !self.jobs.iter().any(|terms| terms.job == idle.job) {
                return Err(format!("process {} waits for attempts of a job that was forgotten", idle.process));
            }
        }
        if self.stopped && !(self.attempts.is_empty() && self.idle.is_empty()) {
            return Err("a stopped tracker still holds attempts or processes".to_owned());
        }
        Ok(())
    }
}
