//! When a worker talks to the master: registration, reports, pauses after failures.
//!
//! A worker with free slots always has a report waiting at the master, which holds the answer back until
//! there is work ("parking"). News (an attempt ended, or waits for its commit) goes out at once and
//! supersedes the waiting report; otherwise a report is due when the interval of the last answer is over.
//! A worker that is at work and has just had two answers within a moment lets another moment pass before it parks:
//! attempts that end within it make the next report anyway, and a report that waits only to be superseded costs both
//! sides a call. One whose attempts end more rarely parks at once: what comes meanwhile finds its free slots.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::{TrackerConfig, TrackerEffect};
use crate::job::WorkerId;
use crate::time::{Span, Time};

/// What the master knows of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not registered; `asked` once a registration is under way.
    Unregistered { asked: bool },
    /// Registered under this number.
    Known(WorkerId),
}

/// Whether a report may wait at the master until there is work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parking {
    /// There is no slot for work.
    No,
    /// Nothing runs here: work is all that can come.
    AtOnce,
    /// Something runs here, and if it ends soon, as others did just now, its report can wait at the master instead.
    AfterPause,
}

/// One worker's side of the conversation.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    stage: Stage,
    incarnation: u64,
    /// Number of the newest answer we have.
    response_id: u32,
    last_seq: u32,
    /// The last report of the registration before; answers to it and to older ones mean nothing any more.
    old_seq: u32,
    /// The newest report that was answered.
    answered_seq: u32,
    /// The report whose answer we wait for, and when it was sent.
    outstanding: Option<(u32, Time)>,
    /// Nothing is sent before this, news included: the pause after a failure.
    not_before: Time,
    /// When the interval of the last answer is over.
    due_at: Time,
    interval: Span,
    /// When the last answer came.
    answered_at: Time,
    /// How long after the one before.
    answers_apart: Span,
    /// Whether the waiting report went out without news.
    plain: bool,
    /// Whether the last answer came early and empty: then parking again at once would turn into a tight loop.
    hushed: bool,
    pause: Span,
    first_pause: Span,
}

impl Contact {
    pub(super) fn new(incarnation: u64, pause: Span) -> Contact {
        Contact {
            stage: Stage::Unregistered { asked: false },
            incarnation,
            response_id: 0,
            last_seq: 0,
            old_seq: 0,
            answered_seq: 0,
            outstanding: None,
            not_before: Time::ZERO,
            due_at: Time::ZERO,
            interval: Span::ZERO,
            answered_at: Time::ZERO,
            answers_apart: Span::ZERO,
            plain: true,
            hushed: false,
            pause,
            first_pause: pause,
        }
    }

    pub(super) fn worker(&self) -> WorkerId {
        match self.stage {
            Stage::Known(worker) => worker,
            Stage::Unregistered { .. } => WorkerId(0),
        }
    }

    pub(super) fn incarnation(&self) -> u64 {
        self.incarnation
    }

    pub(super) fn response_id(&self) -> u32 {
        self.response_id
    }

    pub(super) fn last_seq(&self) -> u32 {
        self.last_seq
    }

    pub(super) fn outstanding(&self) -> Option<u32> {
        self.outstanding.map(|(seq, _)| seq)
    }

    /// Takes a number in; false when nobody asked for one.
    pub(super) fn on_registered(&mut self, now: Time, worker: WorkerId, interval: Span) -> bool {
        if self.stage != (Stage::Unregistered { asked: true }) {
            return false;
        }
        self.stage = Stage::Known(worker);
        self.response_id = 0;
        self.outstanding = None;
        self.hushed = false;
        self.interval = interval;
        self.due_at = now;
        true
    }

    /// The master could not be reached: pause, twice as long each time, with up to half as much again so
    /// that the workers of a cluster do not come back in step.
    pub(super) fn on_failure(&mut self, now: Time, config: &TrackerConfig, jitter: &mut ChaCha8Rng) {
        let half = (self.pause.as_us() / 2).max(1);
        self.not_before = now + self.pause + Span::from_us(jitter.next_u64() % half);
        self.pause = Span::from_us((self.pause.as_us() * 2).min(config.retry_max.as_us()));
        self.outstanding = None;
        self.due_at = self.not_before;
        if let Stage::Unregistered { asked } = &mut self.stage {
            *asked = false;
        }
    }

    /// Back to the beginning, as a younger incarnation.
    pub(super) fn on_reinit(&mut self) {
        self.stage = Stage::Unregistered { asked: false };
        self.incarnation += 1;
        self.outstanding = None;
        self.old_seq = self.last_seq;
    }

    pub(super) fn is_of_this_registration(&self, seq: u32) -> bool {
        matches!(self.stage, Stage::Known(_)) && seq > self.old_seq && seq <= self.last_seq
    }

    /// Takes an answer in; false when a newer one is here already.
    ///
    /// The number alone does not tell: when a report crosses an answer, the master answers it under the same number with
    /// what has come since. The older of the two may arrive last, and could start what the newer one stopped.
    pub(super) fn on_answer(&mut self, now: Time, seq: u32, response_id: u32, interval: Span, empty: bool) -> bool {
        if !self.is_of_this_registration(seq) || response_id < self.response_id || seq < self.answered_seq {
            return false;
        }
        self.response_id = response_id;
        self.answered_seq = seq;
        self.pause = self.first_pause;
        if let Some((waiting, sent)) = self.outstanding
            && waiting == seq
        {
            self.outstanding = None;
            self.hushed = empty && self.plain && now.since(sent).as_us() < self.interval.as_us() / 2;
        }
        self.interval = interval;
        self.due_at = now + interval;
        self.answers_apart = now.since(self.answered_at);
        self.answered_at = now;
        true
    }

    /// What to send now, if anything.
    pub(super) fn due(&mut self, now: Time, news: bool, parking: Parking, pause: Span) -> Option<TrackerEffect> {
        if now < self.not_before {
            return None;
        }
        match self.stage {
            Stage::Unregistered { asked: true } => None,
            Stage::Unregistered { asked: false } => {
                self.stage = Stage::Unregistered { asked: true };
                Some(TrackerEffect::Register { incarnation: self.incarnation })
            }
            Stage::Known(_) => {
                let waits = self.outstanding.is_some();
                if !news && (waits || now < self.next_plain(parking, pause)) {
                    return None;
                }
                self.last_seq += 1;
                self.outstanding = Some((self.last_seq, now));
                self.plain = !news;
                self.hushed = false;
                Some(TrackerEffect::Report { seq: self.last_seq })
            }
        }
    }

    /// When a report without news is due.
    fn next_plain(&self, parking: Parking, pause: Span) -> Time {
        match parking {
            Parking::AtOnce if !self.hushed => self.answered_at,
            Parking::AfterPause if !self.hushed && self.answers_apart > pause => self.answered_at,
            Parking::AfterPause if !self.hushed => self.due_at.min(self.answered_at + pause),
            Parking::No | Parking::AtOnce | Parking::AfterPause => self.due_at,
        }
    }

    /// When something would be due without any input.
    pub(super) fn deadline(&self, parking: Parking, pause: Span) -> Option<Time> {
        match self.stage {
            Stage::Unregistered { asked: true } => None,
            Stage::Unregistered { asked: false } => Some(self.not_before),
            Stage::Known(_) if self.outstanding.is_some() => None,
            Stage::Known(_) => Some(self.next_plain(parking, pause).max(self.not_before)),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    /// The pauses of a worker whose master cannot be reached so many times, one after the other.
    fn pauses(contact: &mut Contact, config: &TrackerConfig, seed: u64, n: usize) -> Vec<u64> {
        let mut jitter = ChaCha8Rng::seed_from_u64(seed);
        let mut now = Time::from_ms(1_000);
        let mut failed = || {
            contact.on_failure(now, config, &mut jitter);
            let pause = contact.not_before.since(now);
            now = contact.not_before;
            pause.as_us()
        };
        (0..n).map(|_| failed()).collect()
    }

    fn of(config: &TrackerConfig) -> Contact {
        Contact::new(1, config.retry_first)
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_are_half_as_long_again_at_most() {
        let config = TrackerConfig::default();
        let (first, longest) = (config.retry_first.as_us(), config.retry_max.as_us());
        for seed in 0..50 {
            for (n, pause) in pauses(&mut of(&config), &config, seed, 40).into_iter().enumerate() {
                let least = (first << n.min(20)).min(longest);
                assert!((least..least + least / 2).contains(&pause), "seed {seed}, failure {n}: {pause} us");
            }
        }
    }

    #[test]
    fn workers_of_one_cluster_do_not_come_back_in_step() {
        let config = TrackerConfig::default();
        for failures in [1, 3, 20] {
            let last = |seed| *pauses(&mut of(&config), &config, seed, failures).last().expect("there are some");
            let mut all: Vec<u64> = (0..100).map(last).collect();
            all.sort_unstable();
            let least = all[0];
            // Over most of the half that may be added, and hardly two at once.
            assert!(all[99] - least > least / 3, "after {failures} failures: {all:?}");
            all.dedup();
            assert!(all.len() > 95, "after {failures} failures: {all:?}");
            assert_eq!(last(7), last(7), "a seed's pauses are its own");
        }
    }

    #[test]
    fn after_an_answer_pauses_begin_with_the_first_again() {
        let config = TrackerConfig::default();
        let mut contact = of(&config);
        pauses(&mut contact, &config, 1, 12);
        assert!(contact.due(contact.not_before, false, Parking::No, Span::ZERO).is_some());
        assert!(contact.on_registered(contact.not_before, WorkerId(3), Span::from_ms(300)));
        assert!(contact.due(contact.not_before, false, Parking::No, Span::ZERO).is_some());
        assert!(contact.on_answer(contact.not_before, 1, 1, Span::from_ms(300), true));
        let first = config.retry_first.as_us();
        assert!((first..first + first / 2).contains(&pauses(&mut contact, &config, 2, 1)[0]));
    }
}
