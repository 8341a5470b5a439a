//! Whether a worker is present: when it last sent a heartbeat, through which connection, and how it left.
//!
//! The core knows live, draining, blacklisted and lost workers. People want to know more, and sooner: that a worker
//! is silent long before it counts as lost, that one stopped of its own accord, that one takes nothing because its
//! disk is full.

use howdah_core::time::{Span, Time};
use howdah_proto::v1::Refusal;

/// Heartbeats that a worker may miss before it counts as silent.
const MISSED_BEATS: u64 = 3;
/// Shorter silences say nothing: a busy machine is late by as much.
const LEAST_SILENCE: Span = Span::from_secs(2);
/// Rows of workers that are gone leave the list after this.
const LISTED_FOR: Span = Span::from_secs(600);

/// How a worker went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    /// It said goodbye.
    Stopped,
    /// Its connection closed, and it did not come back.
    Closed,
    /// It registered again: what ran before is lost, the worker is not.
    Again,
    /// Someone removed it.
    Removed,
}

/// One worker's presence.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// Number of the connection that it spoke through last; 0 for none.
    pub(crate) connection: u64,
    /// When that connection closed, if it did.
    pub(crate) closed: Option<Time>,
    /// Whether it is silent, as of the last look.
    pub(crate) silent: bool,
    /// The interval that it was given last.
    pub(super) interval: Span,
    /// Why it takes no tasks, as it says itself.
    pub(crate) refusal: Refusal,
    /// How it is about to go, or went.
    pub(crate) going: Option<Going>,
    /// Since when it is gone.
    pub(super) gone: Option<Time>,
    /// Someone drained it; holds over its restarts.
    pub(crate) drained: bool,
    /// Known from before this master started, and without a message to it yet: nobody can count on it.
    pub(crate) remembered: bool,
    /// Someone removed it: it is not listed until it registers again.
    pub(crate) hidden: bool,
}

impl Presence {
    /// A run of the worker says hello.
    pub(crate) fn arrive(&mut self, connection: u64) {
        let going = self.gone.is_none().then_some(Going::Again);
        let (interval, drained) = (self.interval, self.drained);
        *self = Presence { connection, interval, going, drained, ..Presence::default() };
    }

    /// It reported.
    pub(crate) fn note_heartbeat(&mut self, connection: u64, refusal: Refusal) {
        (self.connection, self.closed, self.refusal) = (connection, None, refusal);
        self.remembered = false;
    }

    /// Whether its heartbeats are missing, or have not come yet.
    pub(crate) const fn is_silent(&self) -> bool {
        self.silent || self.remembered
    }

    /// It was told when to report again.
    pub(crate) fn set_interval(&mut self, interval_ms: u32) {
        self.interval = Span::from_ms(interval_ms.into());
    }

    /// It is lost from now on.
    pub(crate) fn lost(&mut self, now: Time) {
        self.gone.get_or_insert(now);
    }

    /// It is there again.
    pub(crate) fn present(&mut self) {
        (self.gone, self.going) = (None, None);
    }

    /// How long it may say nothing before it is silent; `interval_ms` is what it would be given now.
    pub(crate) fn patience(&self, interval_ms: u32) -> Span {
        let interval = self.interval.max(Span::from_ms(interval_ms.into()));
        Span::from_us(interval.as_us().saturating_mul(MISSED_BEATS)).max(LEAST_SILENCE)
    }

    /// When a worker whose connection closed has had the time to report through another: at its next heartbeat. A closing
    /// before `from` counts as one of then.
    pub(crate) fn back_by(&self, last_contact: Time, from: Time, grace: Span) -> Option<Time> {
        self.closed.map(|closed| closed.max(from).max(last_contact + self.interval) + grace)
    }

    /// Whether lists show it without being asked for everything.
    pub(crate) fn is_listed(&self, now: Time) -> bool {
        !self.hidden && self.gone.is_none_or(|gone| now.since(gone) < LISTED_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_silent_after_three_of_the_longer_intervals_and_two_seconds_at_least() {
        let mut presence = Presence::default();
        assert_eq!(presence.patience(300), LEAST_SILENCE);
        presence.set_interval(10_000);
        assert_eq!(presence.patience(300), Span::from_secs(30));
        assert_eq!(presence.patience(20_000), Span::from_secs(60));
    }

    #[test]
    fn a_worker_whose_connection_closed_has_until_after_its_next_heartbeat_to_come_back() {
        let mut presence = Presence::default();
        presence.set_interval(10_000);
        let grace = Span::from_secs(3);
        assert_eq!(presence.back_by(Time::from_ms(1_000), Time::ZERO, grace), None);
        presence.closed = Some(Time::from_ms(2_000));
        assert_eq!(presence.back_by(Time::from_ms(1_000), Time::ZERO, grace), Some(Time::from_ms(14_000)));
        presence.set_interval(300);
        assert_eq!(presence.back_by(Time::from_ms(1_000), Time::ZERO, grace), Some(Time::from_ms(5_000)));
        let later = Time::from_ms(17_000);
        assert_eq!(presence.back_by(Time::from_ms(1_000), later, grace), Some(Time::from_ms(20_000)));
    }

    #[test]
    fn a_worker_of_before_a_restart_is_silent_until_its_first_message() {
        let mut presence = Presence { remembered: true, ..Presence::default() };
        assert!(presence.is_silent());
        presence.note_heartbeat(1, Refusal::Unspecified);
        assert!(!presence.is_silent());
        presence.remembered = true;
        presence.arrive(2);
        assert!(!presence.is_silent());
    }

    #[test]
    fn a_worker_that_is_gone_leaves_the_list_and_returns_to_it() {
        let mut presence = Presence { drained: true, ..Presence::default() };
        presence.lost(Time::from_ms(0));
        assert!(presence.is_listed(Time::from_ms(599_999)) && !presence.is_listed(Time::from_ms(600_000)));
        presence.arrive(7);
        assert!(presence.is_listed(Time::from_ms(600_000)) && presence.drained);
    }
}
