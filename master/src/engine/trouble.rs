//! When the journal cannot be written: a full or read-only disk, no file descriptors left.
//!
//! Nothing may be acknowledged then, so what the batch under way has to say stays here until its frame is on disk.
//! Whoever comes meanwhile is told that the master is not available, and comes again; questions are answered. What jobs, tasks and
//! attempts are said to be, and what clients wanted of them, is what is on disk. What workers reported last of progress and of
//! themselves, and what is asked of the core itself (queues, slots, explanations, forecasts), may be of the batch that is not.
//! The trouble ends by itself as soon as the journal can be written.

use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;

use super::{CoreError, Engine, Message};
use crate::journal::JournalError;

/// Between two tries to write the journal: the first pause, and the longest.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const LAST_RETRY: Duration = Duration::from_secs(2);
/// Between two lines in the log about the same trouble.
const REMIND: Duration = Duration::from_secs(60);

impl Engine {
    /// Tries until the journal is written.
    ///
    /// # Errors
    /// With the last failure, when the master is told to stop meanwhile.
    pub(super) fn wait_for_journal(&mut self, first: JournalError) -> Result<(), JournalError> {
        let began = Instant::now();
        let (mut error, mut pause, mut reminded) = (first, FIRST_RETRY, None::<Instant>);
        loop {
            let why = with_cause(&error);
            if reminded.is_none_or(|at| at.elapsed() >= REMIND) {
                reminded = Some(Instant::now());
                tracing::error!(why, "the journal cannot be written; nothing is acknowledged until it can");
            }
            self.turn_away(Instant::now() + pause, &why);
            if self.stopping {
                return Err(error);
            }
            match self.recorder.sync() {
                Ok(()) => {
                    tracing::info!(after_ms = began.elapsed().as_millis() as u64, "the journal can be written again");
                    // The reports that were turned away come again before anyone is taken for lost.
                    self.stalled();
                    return Ok(());
                }
                Err(e) => error = e,
            }
            pause = (pause * 2).min(LAST_RETRY);
        }
    }

    /// Answers what comes until `end` without touching the core.
    fn turn_away(&mut self, end: Instant, why: &str) {
        let refused = || CoreError::Journal(why.to_owned());
        while !self.stopping {
            match self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Message::Query(query)) => query(&self.view()),
                // The call ends without an answer, and the worker keeps what it runs.
                Ok(Message::Beat(beat)) => drop(beat),
                Ok(Message::Register { reply, .. }) => drop(reply.send(Err(refused()))),
                Ok(Message::Submit { jobs }) => {
                    jobs.into_iter().for_each(|(_, reply)| drop(reply.send(Err(refused()))));
                }
                Ok(Message::Request { reply, .. }) => drop(reply.send(Err(refused()))),
                // Nobody would say it again. There is one of each for a job at most: what comes next of it waits for this one.
                Ok(message @ (Message::Committed { .. } | Message::History { .. })) => self.deferred.push_back(message),
                // The core does not hear of it, and clients may come and go as they like.
                Ok(Message::Closed { connection }) => self.connection_closed(connection),
                Ok(Message::Change(change)) => change(&mut self.tables),
                // Found again at the next look.
                Ok(Message::Look | Message::Reach { .. } | Message::Unreached(_)) => {}
                Ok(Message::Stop) => self.stopping = true,
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => self.stopping = true,
            }
        }
    }
}

/// One line with what the system said.
fn with_cause(error: &JournalError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
