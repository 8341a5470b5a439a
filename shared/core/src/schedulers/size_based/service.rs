//! Slot time that a job has received, kept as a sum and a rate.
//!
//! Between two changes of what a job has running, its service grows by the number of running attempts per time; so the
//! sum is exact at any instant, costs nothing while nothing changes, and tells when it will reach a limit. What
//! attempts took that failed or were killed has been received too.

use crate::cluster::Job;
use crate::job::TaskKind;
use crate::time::Time;

/// Whether a reduce that holds a slot while its job's maps are not done receives service.
///
/// The paper leaves it open. Its §III defines the size of a job as the sum of its task run times, and §II says that
/// "reduce tasks can only start their actual processing after the entire map phase is finished": with `Free`, service
/// adds up to that size and no job is moved on for more than it needs. With `Counts`, it is the time that slots were
/// held, which is what Table II's column of job sizes adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitingReduces {
    /// Waiting is no service.
    #[default]
    Free,
    /// Every held slot is.
    Counts,
}

/// What a job has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Service {
    total_us: u64,
    since: Time,
    running: u32,
}

impl Service {
    /// What it has received by `now`, in microseconds of slots.
    pub(super) fn at(&self, now: Time) -> u64 {
        let grown = now.since(self.since).as_us().saturating_mul(u64::from(self.running));
        self.total_us.saturating_add(grown)
    }

    /// From `now` on it grows at another rate.
    pub(super) fn set_running(&mut self, now: Time, running: u32) {
        self.total_us = self.at(now);
        self.since = self.since.max(now);
        self.running = running;
    }

    /// It had this much before it was first looked at.
    pub(super) fn begin_with(&mut self, us: u64) {
        self.total_us = self.total_us.saturating_add(us);
    }

    /// The first instant at which it has received `us`, if it goes on as now.
    pub(super) fn reaches(&self, us: u64) -> Option<Time> {
        let left = us.saturating_sub(self.total_us);
        match (left, self.running) {
            (0, _) => Some(self.since),
            (_, 0) => None,
            (left, running) => {
                let wait = left.div_ceil(u64::from(running));
                self.since.as_us().checked_add(wait).map(Time::from_us)
            }
        }
    }
}

impl WaitingReduces {
    /// How many of the job's running attempts receive service now.
    pub(super) fn served(self, job: &Job) -> u32 {
        let (maps, reduces) = (job.tasks(TaskKind::Map), job.tasks(TaskKind::Reduce));
        let counts = self == WaitingReduces::Counts || maps.all_done();
        maps.n_attempts() + if counts { reduces.n_attempts() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_grows_with_what_runs_and_tells_when_it_reaches_a_limit() {
        let mut service = Service::default();
        service.set_running(Time::from_us(10), 3);
        assert_eq!(service.at(Time::from_us(14)), 12);
        // 3 per microsecond: 20 are reached in the seventh.
        assert_eq!(service.reaches(20), Some(Time::from_us(17)));
        service.set_running(Time::from_us(14), 0);
        assert_eq!((service.at(Time::from_us(99)), service.reaches(20)), (12, None));
        assert_eq!(service.reaches(12), Some(Time::from_us(14)), "what is reached is reached, whatever runs");
    }

    #[test]
    fn nothing_overflows() {
        let mut service = Service::default();
        service.set_running(Time::from_us(1), u32::MAX);
        assert_eq!(service.at(Time::MAX), u64::MAX);
        assert!(service.reaches(u64::MAX).is_some());
        service.begin_with(u64::MAX);
        assert_eq!(service.at(Time::MAX), u64::MAX);
    }
}
