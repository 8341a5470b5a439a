//! The process's end of the umbilical: JSON lines over a connected Unix socket.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout};

use crate::api::error::TaskError;
use crate::umbilical::{FromTask, ToTask};

/// A message is at most this long: the events of a million maps fit.
const MAX_LINE_BYTES: usize = 256 << 20;

/// Messages are short. A vectorised search would ask the processor what it can do, which on a virtual machine costs
/// more than everything else that a task does which has nothing to do.
fn line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == b'\n')
}

/// Sends and receives; one thread only.
pub(crate) struct Link {
    stream: UnixStream,
    inbox: RefCell<Vec<u8>>,
}

/// What came.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(ToTask),
    /// The worker closed the connection or is gone.
    Closed,
    /// Nothing yet.
    Nothing,
}

/// Where there is something to read.
pub(crate) struct Readable {
    here: bool,
    pub(crate) other: bool,
}

impl Link {
    pub(crate) fn new(stream: UnixStream) -> Link {
        Link { stream, inbox: RefCell::default() }
    }

    /// Sends a message. Waits when the worker is slow to read.
    pub(crate) fn send(&self, message: &FromTask) -> Result<(), TaskError> {
        let mut line = serde_json::to_vec(message).map_err(|e| TaskError::Umbilical(format!("encode: {e}")))?;
        line.push(b'\n');
        (&self.stream).write_all(&line).map_err(|e| TaskError::Umbilical(format!("send: {e}")))
    }

    /// The next message, waiting until `deadline`; for ever without one.
    pub(crate) fn receive(&self, deadline: Option<Instant>) -> Result<Incoming, TaskError> {
        loop {
            if let Some(message) = self.take_line()? {
                return Ok(Incoming::Message(message));
            }
            if let Some(deadline) = deadline
                && !self.wait(None, deadline)?.here
            {
                return Ok(Incoming::Nothing);
            }
            if !self.read_some()? {
                return Ok(Incoming::Closed);
            }
        }
    }

    /// Waits until there is something to read here or at `other`, or the deadline has passed.
    pub(crate) fn wait(&self, other: Option<BorrowedFd<'_>>, deadline: Instant) -> Result<Readable, TaskError> {
        let mut fds = vec![PollFd::new(self.stream.as_fd(), PollFlags::POLLIN)];
        fds.extend(other.map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let left = deadline.saturating_duration_since(Instant::now()).min(Duration::from_secs(60));
        // Rounded up: a wait of half a millisecond must not spin.
        let timeout = PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::ZERO);
        match nix::poll::poll(&mut fds, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(TaskError::Umbilical(format!("poll: {error}"))),
        }
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
        Ok(Readable { here: ready(&fds[0]), other: fds.get(1).is_some_and(ready) })
    }

    /// Whether a whole message has already been read.
    pub(crate) fn has_line(&self) -> bool {
        line_end(&self.inbox.borrow()).is_some()
    }

    /// Reads what has come, for later. A worker that speaks to an attempt at work must not wait for its end.
    pub(crate) fn soak(&self) -> Result<(), TaskError> {
        while self.wait(None, Instant::now())?.here {
            if !self.read_some()? {
                return Err(TaskError::Umbilical("the worker closed the connection".to_owned()));
            }
        }
        Ok(())
    }

    fn read_some(&self) -> Result<bool, TaskError> {
        let mut inbox = self.inbox.borrow_mut();
        if inbox.len() > MAX_LINE_BYTES {
            return Err(TaskError::Umbilical(format!("a message of more than {MAX_LINE_BYTES} bytes")));
        }
        let mut chunk = [0; 16 * 1024];
        match (&self.stream).read(&mut chunk) {
            Ok(n) => {
                inbox.extend_from_slice(&chunk[..n]);
                Ok(n > 0)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(false),
            Err(error) => Err(TaskError::Umbilical(format!("receive: {error}"))),
        }
    }

    fn take_line(&self) -> Result<Option<ToTask>, TaskError> {
        let mut inbox = self.inbox.borrow_mut();
        let Some(end) = line_end(&inbox) else { return Ok(None) };
        let message = serde_json::from_slice(&inbox[..end]);
        inbox.drain(..=end);
        let message = message.map_err(|e| TaskError::Umbilical(format!("a message that is not one of ours: {e}")))?;
        Ok(Some(message))
    }
}
