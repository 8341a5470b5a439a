//! Tells the worker how the attempt is doing, seldom enough to cost nothing, and keeps the attempt's log.

use std::rc::Rc;
use std::time::{Duration, Instant};

use howdah_core::job::counters::Counters;
use howdah_core::job::{Phase, Progress};

use super::link::Link;
use super::log::Syslog;
use crate::api::error::TaskError;
use crate::umbilical::FromTask;

/// Least time between two reports of progress.
const BEAT: Duration = Duration::from_millis(500);
/// Least time between two reports of counters within a phase.
const COUNTERS_BEAT: Duration = Duration::from_secs(3);

/// The attempt's way of speaking.
pub(crate) struct Reporter {
    link: Rc<Link>,
    phase: Phase,
    message: Option<String>,
    last: Instant,
    last_counters: Instant,
    pub(crate) log: Syslog,
}

impl Reporter {
    pub(crate) fn new(link: Rc<Link>, log: Syslog) -> Reporter {
        let now = Instant::now();
        Reporter { link, phase: Phase::Starting, message: None, last: now, last_counters: now, log }
    }

    /// Replaces the status line; it travels with the next report.
    pub(crate) fn set_message(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Reports progress if the last report is old enough.
    pub(crate) fn beat(&mut self, fraction: f64, counters: &dyn Fn() -> Counters) -> Result<(), TaskError> {
        let now = Instant::now();
        if !self.is_due(now) {
            return Ok(());
        }
        self.link.soak()?;
        let counters = (now - self.last_counters >= COUNTERS_BEAT).then(counters);
        self.send(fraction, now, counters)
    }

    /// Enters a phase. A reduce's phases are reported at once, with counters, as their times are part of the job's
    /// history; a map has only one, which its first beat reports.
    pub(crate) fn enter(&mut self, phase: Phase, fraction: f64, counters: Counters) -> Result<(), TaskError> {
        self.phase = phase;
        if phase == Phase::Map { Ok(()) } else { self.send(fraction, Instant::now(), Some(counters)) }
    }

    /// Whether a beat would be sent.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now - self.last >= BEAT
    }

    fn send(&mut self, fraction: f64, now: Instant, counters: Option<Counters>) -> Result<(), TaskError> {
        self.last = now;
        if counters.is_some() {
            self.last_counters = now;
        }
        self.link.send(&FromTask::Status {
            phase: self.phase,
            progress: Progress::from_fraction(fraction),
            counters,
            message: self.message.take(),
        })
    }
}
