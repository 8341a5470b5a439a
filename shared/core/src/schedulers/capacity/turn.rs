//! What a worker may get in one heartbeat, by the limits that the settings give.

use super::config::Settings;
use crate::schedulers::Round;
use crate::time::Time;

/// What a worker may still get in its present heartbeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) round: Round,
    /// Maps that it may still get.
    pub(super) maps: u32,
    /// Of these, so many far from their data.
    pub(super) off_switch: u32,
    /// Maps near their data that may follow once none may be far.
    pub(super) after_off_switch: u32,
    pub(super) reduces: u32,
    /// Whether a job refused a map because it waits for a worker near its data.
    pub(super) waits: bool,
}

impl Turn {
    pub(super) fn new(round: Round, settings: &Settings) -> Turn {
        Turn {
            round,
            maps: settings.tasks,
            off_switch: settings.off_switch,
            after_off_switch: settings.tasks_after_off_switch,
            reduces: settings.reduces,
            waits: false,
        }
    }

    pub(super) fn now(&self) -> Time {
        self.round.now
    }

    pub(super) fn waits_for_locality(&self) -> bool {
        self.waits
    }

    /// Counts a map that was given. As in Hadoop, the limit after a far one counts from that one on.
    pub(super) fn count_map(&mut self, far: bool) {
        self.maps -= 1;
        // Tasks of several slots go far from their data although none may.
        self.off_switch = self.off_switch.saturating_sub(far.into());
        if self.off_switch > 0 {
            return;
        }
        match self.after_off_switch.checked_sub(1) {
            None => self.maps = 0,
            Some(left) => self.after_off_switch = left,
        }
    }
}
