//! What is on its way to a process, in order.
//!
//! Several threads speak to one process, and the driver is one of them. The driver must never wait for a process that
//! does not read, as the worker's heartbeats would wait with it: it offers what fits into the socket at once and
//! leaves the rest to a thread that may wait. A process that does not take its message in time has lost a part of it,
//! so nothing more is written to it.

use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    /// Held while something is written; what the socket has not taken yet.
    begun: Mutex<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    deaf: bool,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// The socket has all of it.
    Taken,
    /// Somebody who can wait must [`flush`](Outbox::flush).
    Begun,
    /// Nobody reads at the other end.
    Deaf,
}

impl Outbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        if !waiting.deaf {
            waiting.bytes.extend_from_slice(line);
        }
    }

    fn give_up(&self) {
        *self.waiting() = Waiting { bytes: Vec::new(), deaf: true };
    }

    /// Takes what came since into the bytes that were begun.
    fn gather(&self, begun: &mut Vec<u8>) {
        begun.append(&mut self.waiting().bytes);
    }

    /// Writes a line, as long as the socket's own patience; false when nobody reads.
    pub(super) fn say(&self, socket: &UnixStream, line: &[u8]) -> bool {
        self.add(line);
        self.flush(socket)
    }

    /// Writes all that waits.
    pub(super) fn flush(&self, mut socket: &UnixStream) -> bool {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            self.gather(&mut begun);
            if begun.is_empty() {
                return !self.waiting().deaf;
            }
            let written = socket.write_all(&begun);
            begun.clear();
            if written.is_err() {
                self.give_up();
                return false;
            }
        }
    }

    /// Writes a line, or as much of it as finds room without waiting.
    pub(super) fn offer(&self, socket: &UnixStream, line: &[u8]) -> Offered {
        self.add(line);
        let mut begun = match self.begun.try_lock() {
            Ok(begun) => begun,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Who holds it may have looked for the last time.
            Err(TryLockError::WouldBlock) => return Offered::Begun,
        };
        self.gather(&mut begun);
        while !begun.is_empty() {
            match send(socket.as_raw_fd(), &begun, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
                Ok(n) => drop(begun.drain(..n)),
                Err(Errno::EINTR) => {}
                Err(errno) if std::io::Error::from(errno).kind() == ErrorKind::WouldBlock => return Offered::Begun,
                Err(_) => {
                    begun.clear();
                    self.give_up();
                }
            }
        }
        if self.waiting().deaf { Offered::Deaf } else { Offered::Taken }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::time::Duration;

    use super::*;

    /// More than a socket takes.
    fn long_line() -> Vec<u8> {
        let mut line = vec![b'x'; 4 << 20];
        line.push(b'\n');
        line
    }

    #[test]
    fn an_offer_does_not_wait_and_what_is_said_after_it_comes_after_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let outbox = Outbox::default();
        assert_eq!(outbox.offer(&ours, b"first\n"), Offered::Taken);
        // Nobody reads yet: with a write that waits this would not return.
        assert_eq!(outbox.offer(&ours, &long_line()), Offered::Begun);
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(outbox.say(&ours, b"last\n")));
            let lines: Vec<usize> = BufReader::new(&theirs).lines().take(3).map(|line| line.unwrap().len()).collect();
            assert_eq!(lines, [5, 4 << 20, 4]);
        });
        assert_eq!(outbox.offer(&ours, b"more\n"), Offered::Taken);
    }

    #[test]
    fn one_that_reads_too_late_is_deaf_for_good() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        let outbox = Outbox::default();
        assert_eq!(outbox.offer(&ours, &long_line()), Offered::Begun);
        assert!(!outbox.flush(&ours));
        assert!(!outbox.say(&ours, b"more\n"), "it would follow half a line");
        drop(theirs);
        assert_eq!(outbox.offer(&ours, b"more\n"), Offered::Deaf);
    }

    #[test]
    fn an_end_that_is_closed_is_deaf_at_once() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert_eq!(Outbox::default().offer(&ours, b"line\n"), Offered::Deaf);
    }
}
