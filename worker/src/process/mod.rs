//! An attempt is a process in its own process group, with a socket as its standard input.
//!
//! Each process has a keeper, a thread that spawns it, reads what it says and reaps it. The driver holds a [`Process`]
//! to signal it and to speak to it. A process is reaped only after its whole group was killed, while its id
//! is still its own: a signal can never reach another process.

mod assignment;
mod cores;
mod gate;
mod keeper;
mod outbox;
mod reused;
mod spec;
mod undying;

pub(crate) use self::assignment::Assignment;
pub(crate) use self::assignment::OWN_EXECUTABLE;
pub(crate) use self::assignment::ProcessContext;
pub(crate) use self::assignment::ProcessEvent;
pub(crate) use self::cores::Cores;
pub(crate) use self::gate::{Gate, Pass};
pub(crate) use self::keeper::{start, wall_us};

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use howdah_core::job::{AttemptId, ClusterId, JobFile};
use howdah_task::umbilical::ToTask;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use self::outbox::{Offered, Outbox};
use crate::cgroup::AttemptGroup;
use crate::space::Writer;

/// The driver's hold on a process.
#[derive(Debug)]
pub(crate) struct Process {
    state: Mutex<State>,
    /// Signalled when it is no longer unborn.
    born: Condvar,
    outbox: Outbox,
    /// Why the worker ended it, if it did.
    fault: OnceLock<String>,
    /// Whose commit was granted last.
    granted: Mutex<Option<AttemptId>>,
    /// What it waits for in the kernel, and since when it has said nothing.
    held_up: Mutex<Option<(Instant, String)>>,
}

#[derive(Debug)]
enum State {
    /// Not started yet; it is killed at birth if `doomed`.
    Unborn {
        doomed: bool,
    },
    Alive {
        group: Pid,
        socket: Arc<UnixStream>,
        cgroup: Option<Arc<AttemptGroup>>,
        current: Assignment,
    },
    Gone,
}

impl State {
    /// The attempt that it was given last. Everything else is let go of: the last holder of a control group removes it.
    fn into_current(self) -> Option<Assignment> {
        match self {
            State::Alive { current, .. } => Some(current),
            State::Unborn { .. } | State::Gone => None,
        }
    }
}

impl Process {
    pub(crate) fn new() -> Arc<Process> {
        let state = Mutex::new(State::Unborn { doomed: false });
        Arc::new(Process {
            state,
            born: Condvar::new(),
            outbox: Outbox::default(),
            fault: OnceLock::new(),
            granted: Mutex::default(),
            held_up: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the process group to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Ends the process group, and its control group, now.
    pub(crate) fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(&self, signal: Signal) {
        match &mut *self.lock() {
            State::Unborn { doomed } => *doomed = true,
            State::Alive { group, cgroup, .. } => {
                if let (Signal::SIGKILL, Some(cgroup)) = (signal, cgroup) {
                    cgroup.kill();
                }
                // ESRCH: it has just ended; its keeper will say so.
                let _ = killpg(*group, signal);
            }
            State::Gone => {}
        }
    }

    /// Which process it is and what keeps it alive, as far as that is known.
    pub(crate) fn describe(&self) -> String {
        let group = match &*self.lock() {
            State::Alive { group, .. } => *group,
            State::Unborn { .. } => return "its process has not started yet".to_owned(),
            State::Gone => return "its process is gone".to_owned(),
        };
        undying::describe(group.as_raw())
    }

    fn set_held_up(&self, what: Option<String>, since: Instant) {
        *self.held_up.lock().unwrap_or_else(PoisonError::into_inner) = what.map(|what| (since, what));
    }

    /// Of an attempt that waits in the kernel without a word: which, where, and for how long.
    pub(crate) fn held_up(&self) -> Option<String> {
        let (since, what) = self.held_up.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let attempt = match &*self.lock() {
            State::Alive { current: Assignment { cluster, attempt, .. }, .. } => cluster.attempt(*attempt),
            State::Unborn { .. } | State::Gone => return None,
        };
        Some(format!("{attempt} ({what}, for {} s)", since.elapsed().as_secs()))
    }

    /// Whether it exists and this is its attempt.
    pub(crate) fn runs(&self, attempt: AttemptId) -> bool {
        matches!(&*self.lock(), State::Alive { current, .. } if current.attempt == attempt)
    }

    /// The only way out of the unborn state. Returns whether it was doomed in it.
    fn set(&self, state: State) -> bool {
        let before = std::mem::replace(&mut *self.lock(), state);
        self.born.notify_all();
        matches!(before, State::Unborn { doomed: true })
    }

    /// Waits until the process was started and has its first attempt, or could not be started.
    pub(crate) fn wait_for_birth(&self) {
        let unborn = |state: &mut State| matches!(state, State::Unborn { .. });
        drop(self.born.wait_while(self.lock(), unborn).unwrap_or_else(PoisonError::into_inner));
    }

    /// Sends a message; false when the process is gone or does not listen. Waits while it is slow to read, at
    /// most [`PATIENCE`] at a time, so the caller must be able to wait.
    pub(crate) fn say(&self, message: &ToTask) -> bool {
        let socket = match &*self.lock() {
            State::Alive { socket, .. } => socket.clone(),
            State::Unborn { .. } | State::Gone => return false,
        };
        self.outbox.say(&socket, &line(message))
    }

    /// Like [`say`](Process::say), but false also when the process no longer runs this attempt.
    pub(crate) fn tell(&self, attempt: AttemptId, message: &ToTask) -> bool {
        let socket = match &*self.lock() {
            State::Alive { socket, current, .. } if current.attempt == attempt => socket.clone(),
            State::Alive { .. } | State::Unborn { .. } | State::Gone => return false,
        };
        self.outbox.say(&socket, &line(message))
    }

    /// Tells an attempt that its output may be committed.
    pub(crate) fn grant_commit(&self, attempt: AttemptId) {
        // Before it is told, as its answer may come at once.
        *self.granted.lock().unwrap_or_else(PoisonError::into_inner) = Some(attempt);
        self.tell(attempt, &ToTask::CommitGranted);
    }

    /// Whether this attempt's commit was granted.
    fn granted(&self, attempt: AttemptId) -> bool {
        *self.granted.lock().unwrap_or_else(PoisonError::into_inner) == Some(attempt)
    }

    /// Gives a waiting process another attempt; false when it is gone and its keeper knows nothing of the attempt.
    /// If true, the keeper will tell of the attempt's end, whatever becomes of the process. Never waits for the process.
    pub(crate) fn give(self: &Arc<Process>, context: &ProcessContext, assignment: Assignment) -> bool {
        let (socket, before) = match &mut *self.lock() {
            State::Alive { socket, current, .. } => {
                let before = std::mem::replace(current, assignment.clone());
                // Meanwhile its keeper does not take it for gone, and looks for the logs where they are after this.
                reused::prepare_reused(context, before.attempt, &assignment);
                (socket.clone(), before)
            }
            State::Unborn { .. } | State::Gone => return false,
        };
        let run = ToTask::Run(Box::new(spec::task_spec(context, &assignment)));
        match self.outbox.offer(&socket, &line(&run)) {
            Offered::Taken => return true,
            Offered::Begun => {
                let process = self.clone();
                tokio::task::spawn_blocking(move || process.finish_giving(&socket));
                return true;
            }
            Offered::Deaf => {}
        }
        match &mut *self.lock() {
            State::Alive { current, .. } => {
                *current = before;
                false
            }
            // Its keeper has taken the attempt for the process's last one.
            State::Unborn { .. } | State::Gone => true,
        }
    }

    /// Waits until the process has read what it was given, or ends it.
    fn finish_giving(&self, socket: &UnixStream) {
        if !self.outbox.flush(socket) {
            self.fail(format!("the reused process did not read its next attempt within {} s", PATIENCE.as_secs()));
        }
    }

    /// Why an attempt ended that had not said that it failed; empty if the worker has not ended it.
    fn fault(&self) -> String {
        self.fault.get().cloned().unwrap_or_default()
    }
}

impl Writer for Process {
    fn current(&self) -> Option<(ClusterId, AttemptId)> {
        match &*self.lock() {
            State::Alive { current, .. } => Some((current.cluster, current.attempt)),
            State::Unborn { .. } | State::Gone => None,
        }
    }

    /// The first reason counts.
    fn fail(&self, reason: String) {
        self.fault.get_or_init(|| reason);
        self.kill();
    }
}

/// How long a message may take to be read before the process counts as deaf.
const PATIENCE: Duration = Duration::from_secs(20);

/// A message as it travels.
fn line(message: &ToTask) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages have string keys");
    line.push(b'\n');
    line
}

/// The program of an attempt and its arguments.
fn command_of(context: &ProcessContext, job: &JobFile) -> (PathBuf, Vec<String>) {
    match &job.app {
        howdah_core::job::App::Program { path, args } => (PathBuf::from(path), args.clone()),
        _ => (PathBuf::from(&context.task_command[0]), context.task_command[1..].to_vec()),
    }
}
