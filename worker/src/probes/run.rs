//! One run of a probe: a shell command in a process group of its own, with a time limit.
//!
//! **Whatever the command does, it costs its value and nothing else.** It hangs: its group is killed at the limit. It
//! leaves children behind: they are killed with the group when it ends, before it is reaped, so that no signal reaches a
//! stranger. It prints without end, or no text: it has no value. A worker that is killed hard takes its probes along: a
//! guard in the group reads a pipe that ends with the worker, and then kills the group.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use howdah_core::job::requirement::{MAX_ATTRIBUTE_VALUE_BYTES, is_attribute_value};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::vitals::OwnProcesses;

/// What a probe may print, on either stream, before it counts as garbage.
const MAX_OUTPUT_BYTES: usize = 64 << 10;
/// Of a line of standard error in a warning.
const MAX_SAID_CHARS: usize = 120;

/// Starts the guard, whose standard input is the worker's pipe, and becomes the command. The guard is a shell that only
/// waits; the command has neither the pipe nor the guard's number.
const GUARDED: &str = "exec 3<&0 </dev/null; { read -r never; kill -KILL 0; } <&3 3<&- >/dev/null 2>&1 & \
                       exec 3<&-; exec /bin/sh -c \"$0\"";

/// Why a probe has no value. `Display` is the warning that people see.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("cannot be started: {0}")]
    Start(#[from] std::io::Error),
    #[error("did not end within {} s and was killed", .0.as_secs_f64())]
    Slow(Duration),
    #[error("exited with code {code}{said}")]
    Exit { code: i32, said: String },
    #[error("was ended by signal {signal}{said}")]
    Signal { signal: i32, said: String },
    #[error("printed {0}")]
    Garbage(&'static str),
}

impl Trouble {
    /// Whether a person who knows of the other one learns nothing new from this one.
    pub(super) fn is_like(&self, other: &Trouble) -> bool {
        match (self, other) {
            (Trouble::Exit { code, .. }, Trouble::Exit { code: before, .. }) => code == before,
            (Trouble::Signal { signal, .. }, Trouble::Signal { signal: before, .. }) => signal == before,
            (Trouble::Garbage(what), Trouble::Garbage(before)) => what == before,
            (Trouble::Slow(_), Trouble::Slow(_)) | (Trouble::Start(_), Trouble::Start(_)) => true,
            _ => false,
        }
    }
}

/// A command that runs; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Run {
    leash: Arc<Leash>,
    ended: oneshot::Receiver<ExitStatus>,
    over: bool,
    stdout: Stream,
    stderr: Stream,
    /// The guard's pipe: closed when this is dropped, or when this process is gone.
    _line: Option<ChildStdin>,
}

/// Kills the group as long as its number is ours.
#[derive(Debug)]
struct Leash {
    group: Pid,
    alive: Mutex<bool>,
    /// Where it counts as the worker's own: what a probe computes is no foreign load.
    own: OwnProcesses,
}

impl Leash {
    fn kill(&self) {
        let alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        if *alive {
            // ESRCH: all of it has just ended.
            let _ = killpg(self.group, Signal::SIGKILL);
        }
    }

    /// Waits for the command, kills what it left, and reaps it.
    fn reap(&self, mut child: Child) -> Option<ExitStatus> {
        while let Err(Errno::EINTR) = waitid(Id::Pid(self.group), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
        let mut alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = killpg(self.group, Signal::SIGKILL);
        *alive = false;
        self.own.remove(child.id());
        child.wait().ok()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.leash.kill();
    }
}

impl Run {
    pub(super) fn start(command: &str, dir: &Path, own: &OwnProcesses) -> Result<Run, Trouble> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", GUARDED, command])
            .current_dir(dir)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let streams =
            (Stream::new(child.stdout.take().map(OwnedFd::from)), Stream::new(child.stderr.take().map(OwnedFd::from)));
        own.add(child.id());
        let group = Pid::from_raw(child.id() as i32);
        let leash = Arc::new(Leash { group, alive: Mutex::new(true), own: own.clone() });
        let line = child.stdin.take();
        let (tell, ended) = oneshot::channel();
        let keeper = leash.clone();
        // Not of the runtime's pool: a command that cannot even be killed must not keep the worker from stopping.
        let buried = std::thread::Builder::new().name("probe".to_owned()).stack_size(128 << 10).spawn(move || {
            if let Some(status) = keeper.reap(child) {
                let _ = tell.send(status);
            }
        });
        let run = Run { leash, ended, over: false, stdout: streams.0?, stderr: streams.1?, _line: line };
        buried?;
        Ok(run)
    }

    /// The value that it prints; it is killed when that takes too long.
    pub(super) async fn value(&mut self, limit: Duration) -> Result<String, Trouble> {
        let outcome = tokio::time::timeout(limit, self.read_answer()).await.unwrap_or(Err(Trouble::Slow(limit)));
        if outcome.is_err() {
            self.leash.kill();
        }
        let status = outcome?;
        match (status.code(), status.signal()) {
            (Some(0), _) => value_in(&self.stdout.kept),
            (Some(code), _) => Err(Trouble::Exit { code, said: last_line(&self.stderr.kept) }),
            (None, signal) => Err(Trouble::Signal { signal: signal.unwrap_or(0), said: last_line(&self.stderr.kept) }),
        }
    }

    /// Waits until it is gone, whatever it takes: two runs of one probe must not pile up.
    pub(super) async fn gone(mut self) {
        if !self.over {
            let _ = (&mut self.ended).await;
        }
    }

    async fn read_answer(&mut self) -> Result<ExitStatus, Trouble> {
        let status = loop {
            tokio::select! {
                biased;
                status = &mut self.ended => {
                    self.over = true;
                    break status.map_err(|_| std::io::Error::other("its process could not be waited for"))?;
                }
                more = self.stdout.read() => more?,
                more = self.stderr.read() => more?,
            }
        };
        // Its group is gone; what it printed is in the pipes.
        self.stdout.read_rest()?;
        self.stderr.read_rest()?;
        Ok(status)
    }
}

/// What one stream said.
#[derive(Debug)]
struct Stream {
    /// None once it is closed.
    pipe: Option<pipe::Receiver>,
    kept: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>) -> std::io::Result<Stream> {
        Ok(Stream { pipe: pipe.map(pipe::Receiver::from_owned_fd).transpose()?, kept: Vec::new() })
    }

    /// Waits for more; for ever once the stream is closed.
    async fn read(&mut self) -> Result<(), Trouble> {
        match &self.pipe {
            Some(pipe) => pipe.readable().await?,
            None => std::future::pending().await,
        }
        self.read_ready()
    }

    /// What the runtime knows to be there.
    fn read_ready(&mut self) -> Result<(), Trouble> {
        let mut bytes = [0; 4_096];
        while let Some(pipe) = &self.pipe {
            match pipe.try_read(&mut bytes) {
                Ok(0) => self.pipe = None,
                Ok(n) => self.keep(&bytes[..n])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// What is there now, whether the runtime knows of it yet or not, without waiting for a child that holds the stream.
    fn read_rest(&mut self) -> Result<(), Trouble> {
        let Some(pipe) = self.pipe.take() else { return Ok(()) };
        let mut file = File::from(pipe.into_nonblocking_fd()?);
        let mut bytes = [0; 4_096];
        loop {
            match file.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(n) => self.keep(&bytes[..n])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.kept.extend_from_slice(bytes);
        if self.kept.len() > MAX_OUTPUT_BYTES { Err(Trouble::Garbage("more than 64 KiB")) } else { Ok(()) }
    }
}

/// The first line, without blanks around it.
pub(super) fn value_in(output: &[u8]) -> Result<String, Trouble> {
    let line = output.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let text = std::str::from_utf8(line).map_err(|_| Trouble::Garbage("what is no UTF-8"))?.trim();
    if text.len() > MAX_ATTRIBUTE_VALUE_BYTES {
        return Err(Trouble::Garbage("a line of more than 256 bytes"));
    }
    if !is_attribute_value(text) {
        return Err(Trouble::Garbage("control characters"));
    }
    Ok(text.to_owned())
}

/// Behind a colon, what a person may want to read of standard error; empty if it has nothing.
pub(super) fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let Some(line) = text.lines().map(str::trim).rfind(|line| !line.is_empty()) else { return String::new() };
    let printable = line.chars().filter(|c| !c.is_control()).take(MAX_SAID_CHARS);
    format!(": {}", printable.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    async fn run(command: &str, limit: Duration) -> Result<String, String> {
        let dir = tempfile::tempdir().expect("a directory");
        let mut run = Run::start(command, dir.path(), &OwnProcesses::default()).expect("it starts");
        let value = run.value(limit).await.map_err(|trouble| trouble.to_string());
        run.gone().await;
        value
    }

    fn is_alive(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }

    #[tokio::test]
    async fn the_value_is_the_first_line_without_blanks() {
        assert_eq!(run("echo '  2 '; echo more", LIMIT).await, Ok("2".to_owned()));
        assert_eq!(run("printf 'Tesla ß'", LIMIT).await, Ok("Tesla ß".to_owned()));
        assert_eq!(run("true", LIMIT).await, Ok(String::new()), "to print nothing is to say no");
    }

    #[tokio::test]
    async fn what_is_no_short_printable_line_is_garbage() {
        let garbage = |what: &str| Err(format!("printed {what}"));
        assert_eq!(run("printf '\\377\\376'", LIMIT).await, garbage("what is no UTF-8"));
        assert_eq!(run("printf 'a\\033[1mb'", LIMIT).await, garbage("control characters"));
        assert_eq!(run("printf '%0300d' 1", LIMIT).await, garbage("a line of more than 256 bytes"));
        assert_eq!(run("yes", LIMIT).await, garbage("more than 64 KiB"));
        assert_eq!(run("yes >&2", LIMIT).await, garbage("more than 64 KiB"));
    }

    #[tokio::test]
    async fn a_command_that_fails_says_how() {
        assert_eq!(
            run("echo 1; echo 'no  device' >&2; exit 3", LIMIT).await,
            Err("exited with code 3: no  device".into())
        );
        assert_eq!(run("kill -9 $$", LIMIT).await, Err("was ended by signal 9".into()));
        let said = run("no-such-probe-anywhere", LIMIT).await.expect_err("there is none");
        assert!(said.starts_with("exited with code 127: "), "{said}");
    }

    #[tokio::test]
    async fn one_that_hangs_is_killed_at_the_limit_with_its_children() {
        let dir = tempfile::tempdir().expect("a directory");
        let command = "sleep 600 & echo $! > child; sleep 600";
        let mut run = Run::start(command, dir.path(), &OwnProcesses::default()).expect("it starts");
        let pid = dir.path().join("child");
        let limit = Duration::from_millis(500);
        let trouble = run.value(limit).await.expect_err("it hangs");
        assert_eq!(trouble.to_string(), "did not end within 0.5 s and was killed");
        run.gone().await;
        let pid = std::fs::read_to_string(pid).expect("the child's number");
        wait_for_death(&pid).await;
    }

    #[tokio::test]
    async fn one_that_leaves_a_child_with_its_output_open_ends_all_the_same() {
        let dir = tempfile::tempdir().expect("a directory");
        let own = OwnProcesses::default();
        let began = Instant::now();
        // Often: the runtime may not know yet of what was printed when the end is known.
        for n in 0..40 {
            let command = format!("sleep 600 & echo $! > child; echo {n}");
            let mut run = Run::start(&command, dir.path(), &own).expect("it starts");
            assert_eq!(run.value(LIMIT).await.expect("a value"), n.to_string());
            let pid = std::fs::read_to_string(dir.path().join("child")).expect("the child's number");
            wait_for_death(&pid).await;
        }
        assert!(began.elapsed() < LIMIT, "nobody waits for the children");
    }

    #[tokio::test]
    async fn one_that_is_dropped_is_killed() {
        let dir = tempfile::tempdir().expect("a directory");
        let run = Run::start("echo $$ > own; sleep 600", dir.path(), &OwnProcesses::default()).expect("it starts");
        let pid = number_in(&dir.path().join("own")).await;
        drop(run);
        wait_for_death(&pid).await;
    }

    /// What is left of a worker that was killed hard is that its end of the pipe is closed.
    #[tokio::test]
    async fn one_whose_worker_is_gone_is_killed_with_its_children() {
        let dir = tempfile::tempdir().expect("a directory");
        let command = "sleep 600 & echo $! > child; wait";
        let mut run = Run::start(command, dir.path(), &OwnProcesses::default()).expect("it starts");
        let pid = number_in(&dir.path().join("child")).await;
        drop(run._line.take());
        wait_for_death(&pid).await;
        let trouble = run.value(LIMIT).await.expect_err("it was killed");
        assert_eq!(trouble.to_string(), "was ended by signal 9");
        run.gone().await;
    }

    #[tokio::test]
    async fn it_is_the_workers_own_while_it_runs_and_reads_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let own = OwnProcesses::default();
        let command =
            "echo $$ > own; read -r line && echo read; while test ! -e stop; do sleep 0.01; done; ls /proc/$$/fd";
        let mut run = Run::start(command, dir.path(), &own).expect("it starts");
        let pid: u32 = number_in(&dir.path().join("own")).await.trim().parse().expect("a number");
        assert!(own.has(pid));
        std::fs::write(dir.path().join("stop"), "").expect("written");
        assert_eq!(run.value(LIMIT).await.expect("a value"), "0", "standard input is empty, and no pipe is beside it");
        assert!(!run.stdout.kept.split(|&byte| byte == b'\n').any(|fd| fd == b"3"));
        run.gone().await;
        assert!(!own.has(pid));
    }

    /// The first line of a file that a command writes.
    async fn number_in(path: &Path) -> String {
        loop {
            match std::fs::read_to_string(path) {
                Ok(number) if number.ends_with('\n') => return number,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// A signal takes its time to arrive.
    async fn wait_for_death(pid: &str) {
        let began = Instant::now();
        while is_alive(pid) {
            assert!(began.elapsed() < LIMIT, "{pid} lives on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
