//! A child process that is spoken to in lines, with a time limit on every word.
//!
//! Both pipes are non-blocking and waited for by `poll`: a program that neither reads nor answers costs its time
//! limit and no more, and no thread stands between the core and an answer. The program leads a process group of its
//! own, so that a signal from the terminal is ours to handle and whatever it starts ends with it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// No answer needs more bytes than this.
const LONGEST_LINE: usize = 16 << 20;
/// How long a program may take to end by itself once its input has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What can go wrong between two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The time limit is over.
    Late,
    /// The other end of a pipe is closed.
    Ended,
    /// A line without end.
    Endless,
}

/// The program, while it runs.
pub(super) struct Process {
    child: Child,
    /// `None` once it is to end.
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What was read, from `begin` on not yet looked at.
    read: Vec<u8>,
    begin: usize,
}

impl Process {
    /// Starts a command line by the shell; what the program says on standard error goes to ours.
    pub(super) fn start(command: &str) -> io::Result<Process> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = shell.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = (stdin.expect("it was asked for"), stdout.expect("it was asked for"));
        let process = Process { child, stdin: Some(stdin), stdout, read: Vec::new(), begin: 0 };
        for end in [process.stdin.as_ref().map(AsFd::as_fd), Some(process.stdout.as_fd())].into_iter().flatten() {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok(process)
    }

    /// Writes all of it before `until`.
    pub(super) fn send(&mut self, mut text: &[u8], until: Instant) -> Result<(), Broken> {
        while !text.is_empty() {
            let Some(stdin) = &mut self.stdin else { return Err(Broken::Ended) };
            match stdin.write(text) {
                Ok(0) => return Err(Broken::Ended),
                Ok(n) => text = &text[n..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready(stdin.as_fd(), PollFlags::POLLOUT, until)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Ended),
            }
        }
        Ok(())
    }

    /// The next line, without its end, if all of it comes before `until`.
    pub(super) fn line(&mut self, until: Instant) -> Result<&[u8], Broken> {
        let mut looked_at = self.begin;
        let end = loop {
            if let Some(place) = self.read[looked_at..].iter().position(|&byte| byte == b'\n') {
                break looked_at + place;
            }
            if self.begin > 0 {
                self.read.drain(..self.begin);
                self.begin = 0;
            }
            looked_at = self.read.len();
            if looked_at > LONGEST_LINE {
                return Err(Broken::Endless);
            }
            self.read_more(until)?;
        };
        let line = self.begin..end;
        self.begin = end + 1;
        Ok(&self.read[line])
    }

    fn read_more(&mut self, until: Instant) -> Result<(), Broken> {
        let mut part = [0; 4096];
        loop {
            match self.stdout.read(&mut part) {
                Ok(0) => return Err(Broken::Ended),
                Ok(n) => {
                    self.read.extend_from_slice(&part[..n]);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready(self.stdout.as_fd(), PollFlags::POLLIN, until)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Ended),
            }
        }
    }

    /// Ends it, if need be by force, and says how it ended.
    pub(super) fn stop(&mut self) -> String {
        self.stdin = None;
        // A program that reads to the end of its input gets the time to end by itself; its output then ends, too.
        let until = Instant::now() + LAST_WORDS;
        while self.read_more(until).is_ok() {
            self.read.clear();
            self.begin = 0;
        }
        // The leader may be gone while something that it started is not.
        let gone = self.child.try_wait();
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        match gone.ok().flatten() {
            Some(status) => status.to_string(),
            None => self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.stdin.is_some() {
            self.stop();
        }
    }
}

/// Waits until the pipe can be used.
fn ready(pipe: BorrowedFd<'_>, what: PollFlags, until: Instant) -> Result<(), Broken> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Broken::Late);
        }
        // Rounded up, or the last millisecond would be waited for in circles.
        let left = PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(pipe, what)], left) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(_) => return Err(Broken::Ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn lines_come_back_one_by_one() {
        let mut cat = Process::start("cat").unwrap();
        cat.send(b"one\ntwo\nthr", soon()).unwrap();
        assert_eq!(cat.line(soon()), Ok(&b"one"[..]));
        assert_eq!(cat.line(soon()), Ok(&b"two"[..]));
        cat.send(b"ee\n", soon()).unwrap();
        assert_eq!(cat.line(soon()), Ok(&b"three"[..]));
        assert_eq!(cat.stop(), "exit status: 0");
    }

    #[test]
    fn a_program_that_reads_nothing_is_late_and_not_waited_for() {
        let mut deaf = Process::start("while :; do sleep 1000; done").unwrap();
        let megabyte = vec![b'x'; 1 << 20];
        assert_eq!(deaf.send(&megabyte, Instant::now() + Duration::from_millis(20)), Err(Broken::Late));
        assert_eq!(deaf.line(Instant::now() + Duration::from_millis(20)), Err(Broken::Late));
        deaf.stop();
        assert_eq!(deaf.line(soon()), Err(Broken::Ended), "nobody is left to write, `sleep` included");
    }

    #[test]
    fn a_program_that_ends_says_how() {
        let mut brief = Process::start("exit 3").unwrap();
        assert_eq!(brief.line(soon()), Err(Broken::Ended));
        assert_eq!(brief.stop(), "exit status: 3");
    }

    #[test]
    fn a_line_without_end_is_cut_off() {
        let mut endless = Process::start("yes x | tr -d '\\n'").unwrap();
        assert_eq!(endless.line(soon()), Err(Broken::Endless));
    }
}
