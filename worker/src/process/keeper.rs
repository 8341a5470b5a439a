//! The keeper of one process: spawns it, reads what it says, reaps it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use howdah_core::job::counters::{Counters, FRAMEWORK};
use howdah_core::job::limits::Cut;
use howdah_core::job::{App, AttemptId, Phase, TaskKind, limits, memory_limits};
use howdah_guards::{Guard, clock};
use howdah_proto::{service_manager, v1};
use howdah_task::interpreter;
use howdah_task::umbilical::{FromTask, ToTask};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use wait4::Wait4;

use super::assignment::{Assignment, EventSink, OWN_EXECUTABLE, ProcessContext, ProcessEvent};
use super::{PATIENCE, Process, State, command_of, line, spec, undying};
use crate::cgroup::AttemptGroup;
use crate::logs::LiveLogs;
use crate::plain;
use crate::space::Writer;

/// How often a silent process is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After so long without a word it is looked for what a process waits for.
const SILENCE: Duration = Duration::from_secs(10);
/// What is added where a program ends well without having said anything.
const FOR_COMMANDS: &str = "it is no program of the task library, it seems: scripts and commands are submitted with `howdah submit streaming --mapper COMMAND`";
/// Lines of more than this are read one at a time in the whole worker: what is made of one while it is read takes many
/// times its room.
const LARGE_LINE_BYTES: usize = 64 << 10;
/// Held while a large line is read.
static LARGE_LINE: Mutex<()> = Mutex::new(());

/// Starts a keeper for a new process.
pub(crate) fn start(context: Arc<ProcessContext>, process: Arc<Process>, first: Assignment, notify: EventSink) {
    // A thread of the runtime's pool: starting one costs more than all else that a keeper does.
    tokio::task::spawn_blocking(move || {
        Keeper { context, process, notify, current: Running::new(first), spoke: false, logs: None }.run();
    });
}

struct Keeper {
    context: Arc<ProcessContext>,
    process: Arc<Process>,
    notify: EventSink,
    current: Running,
    /// Whether the process has ever said anything.
    spoke: bool,
    /// Of the current attempt.
    logs: Option<LiveLogs>,
}

/// A process that was started and received its attempt.
struct Born {
    child: Child,
    socket: Arc<UnixStream>,
    cgroup: Option<Arc<AttemptGroup>>,
}

/// Why there is no process.
struct Unborn {
    problem: String,
    /// Whether its program is not on this machine.
    missing: bool,
}

impl From<String> for Unborn {
    fn from(problem: String) -> Unborn {
        Unborn { problem, missing: false }
    }
}

/// The attempt that the process runs now.
struct Running {
    assignment: Assignment,
    started_ms: u64,
    began: Instant,
    phase: Phase,
    shuffle_done_ms: u64,
    sort_done_ms: u64,
    /// What the attempt said of its end, before its process ended.
    said: Option<Said>,
    /// The path that it did not see, if that was why it failed.
    unseen: String,
    /// The newest counters it sent.
    counters: Counters,
    /// Whether it asked for its commit.
    asked_commit: bool,
    /// What it said beyond the bounds.
    cut: Cut,
    /// Whether it says that no other attempt could do better.
    fatal: bool,
}

/// An attempt's own word on its end.
struct Said {
    ok: bool,
    message: String,
    counters: Counters,
}

impl Running {
    fn new(assignment: Assignment) -> Running {
        Running {
            assignment,
            started_ms: wall_ms(),
            began: Instant::now(),
            phase: Phase::Starting,
            shuffle_done_ms: 0,
            sort_done_ms: 0,
            said: None,
            unseen: String::new(),
            counters: Counters::default(),
            asked_commit: false,
            cut: Cut::default(),
            fatal: false,
        }
    }

    fn attempt(&self) -> AttemptId {
        self.assignment.attempt
    }

    fn enter(&mut self, phase: Phase) {
        if phase > Phase::Shuffle && self.shuffle_done_ms == 0 {
            self.shuffle_done_ms = wall_ms();
        }
        if phase > Phase::Sort && self.sort_done_ms == 0 {
            self.sort_done_ms = wall_ms();
        }
        self.phase = phase;
    }

    /// What is known of its end whatever way it came.
    fn end(&self) -> v1::AttemptEnd {
        let reduce = self.attempt().kind == TaskKind::Reduce;
        v1::AttemptEnd {
            started_ms_epoch: self.started_ms,
            shuffle_done_ms_epoch: if reduce { self.shuffle_done_ms } else { 0 },
            sort_done_ms_epoch: if reduce { self.sort_done_ms } else { 0 },
            // From the monotonic clock, so that a step of the wall clock cannot make a duration negative.
            finished_ms_epoch: self.started_ms + self.began.elapsed().as_millis() as u64,
            ..v1::AttemptEnd::default()
        }
    }
}

impl Keeper {
    fn run(mut self) {
        match self.spawn() {
            Ok(Born { child, socket, cgroup }) => {
                self.listen(child.id(), &socket);
                self.reap(child, cgroup);
            }
            Err(Unborn { problem, missing }) => {
                self.process.set(State::Gone);
                let end = v1::AttemptEnd { diagnostics: problem, ..self.current.end() };
                let attempt = self.current.attempt();
                // What is missing here may be there on another machine, so a speculative attempt looks for it.
                let fatal = missing && !attempt.number.is_multiple_of(1_000);
                let spared = self.is_spared();
                let (end, counters) = (Box::new(end), Counters::default());
                (self.notify)(
                    attempt,
                    ProcessEvent::Ended { ok: false, fatal, spared, process_alive: false, end, counters },
                );
                self.put_logs_away(false);
            }
        }
    }

    /// Starts the process and hands it its attempt.
    fn spawn(&mut self) -> Result<Born, Unborn> {
        let Assignment { cluster, attempt, job } = &self.current.assignment;
        let local = self.context.directory.local(*cluster, *attempt);
        let logs = self.context.logs.live(*cluster, *attempt);
        let failed = |path: &Path, error| format!("create directory `{}`: {error}", path.display());
        self.context.directory.make_attempt(&local).map_err(|error| failed(&local, error))?;
        let made = self.logs.insert(self.context.logs.start(*cluster, *attempt)?);
        let [stdout, stderr] = made.streams().map_err(|error| format!("open the log files twice: {error}"))?;
        let writer: Arc<dyn Writer> = self.process.clone();
        self.context.space.watch(Arc::downgrade(&writer), made.written());
        let (ours, theirs) = UnixStream::pair().map_err(|error| format!("create the umbilical: {error}"))?;
        let limited = ours.set_write_timeout(Some(PATIENCE)).and_then(|()| ours.set_read_timeout(Some(LOOK_EVERY)));
        limited.map_err(|error| format!("set up the umbilical: {error}"))?;
        let (program, args) = command_of(&self.context, job);
        let name = cluster.attempt(*attempt);
        let mut command = Command::new(&program);
        if program == Path::new(OWN_EXECUTABLE) {
            // As people know it.
            command.arg0("howdah");
        }
        command
            .args(args)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout)
            .stderr(stderr)
            .current_dir(&local)
            .env("HOWDAH_LOG_DIR", &logs)
            .env("HOWDAH_ATTEMPT", &name)
            .env_remove(service_manager::SOCKET_VARIABLE)
            .process_group(0);
        let mut child = command.spawn().map_err(|error| {
            let missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
            let script = interpreter::whose_is_missing(&program, &error);
            Unborn { problem: format!("start `{}`{script}: {error}", program.display()), missing }
        })?;
        drop(command);
        self.context.own.add(child.id());
        let cgroup = match self.settle(child.id(), attempt.kind, &name) {
            Ok(group) => group.map(Arc::new),
            Err(error) => {
                // It has received nothing of its attempt yet.
                self.context.own.remove(child.id());
                let _ = child.kill();
                let _ = child.wait();
                return Err(error.into());
            }
        };
        let socket = Arc::new(ours);
        // Before anyone else can speak to it. If it does not listen, its end says why.
        let run = ToTask::Run(Box::new(spec::task_spec(&self.context, &self.current.assignment)));
        self.process.outbox.say(&socket, &line(&run));
        let group = Pid::from_raw(child.id() as i32);
        let alive = State::Alive {
            group,
            socket: socket.clone(),
            cgroup: cgroup.clone(),
            current: self.current.assignment.clone(),
        };
        if self.process.set(alive) {
            self.process.kill();
        }
        self.context.memory.watch(Arc::downgrade(&writer), child.id(), memory_limits(&job.properties));
        Ok(Born { child, socket, cgroup })
    }

    /// Puts a process where attempts of its kind belong: on their cores, and into a control group of its own.
    fn settle(&self, pid: u32, kind: TaskKind, name: &str) -> Result<Option<AttemptGroup>, String> {
        if let Some(cores) = &self.context.cores[kind] {
            cores.keep(pid)?;
        }
        let group = self.context.cgroups.as_ref().map(|cgroups| cgroups.take_in(name, Some(pid)));
        group.transpose().map_err(|error| format!("put the attempt into a control group: {error}"))
    }

    /// Hears the process until it has nothing more to say, closes its end, or is over: a child that got away may
    /// hold the end open.
    fn listen(&mut self, pid: u32, socket: &UnixStream) {
        let mut lines = BufReader::with_capacity(4 << 10, socket);
        let mut line = Vec::new();
        let mut heard = Instant::now();
        loop {
            let room = match Guard::Lines.stands() {
                true => (limits::LINE_BYTES as u64 + 1).saturating_sub(line.len() as u64),
                false => u64::MAX,
            };
            match lines.by_ref().take(room).read_until(b'\n', &mut line) {
                // What there is of a line stays.
                Err(error) if error.kind() == ErrorKind::WouldBlock && !has_ended(pid) => {
                    let is_long = heard.elapsed() >= SILENCE;
                    self.process.set_held_up(if is_long { undying::held_up(pid as i32) } else { None }, heard);
                    continue;
                }
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            heard = Instant::now();
            self.process.set_held_up(None, heard);
            match read_line(&line) {
                Ok(message) => {
                    self.spoke = true;
                    self.on_message(message);
                    if self.said_its_last() {
                        return;
                    }
                    line.clear();
                    // One large line must not be its worker's memory until its process ends.
                    line.shrink_to(LARGE_LINE_BYTES);
                }
                Err(problem) => {
                    self.current.said.get_or_insert(Said {
                        ok: false,
                        message: problem,
                        counters: Counters::default(),
                    });
                    self.process.kill();
                    return;
                }
            }
        }
    }

    fn on_message(&mut self, message: FromTask) {
        if self.current.said.is_some() && !self.take_next() {
            return;
        }
        let attempt = self.current.attempt();
        match message {
            FromTask::Status { phase, progress, counters, message } => {
                self.current.enter(phase);
                let counters = counters.map(|counters| self.bound(counters, Cut::default()));
                if let Some(counters) = &counters {
                    self.current.counters = counters.clone();
                }
                let message = message.map(|message| limits::status(message, &mut self.current.cut));
                (self.notify)(attempt, ProcessEvent::Status { phase, progress, counters, message });
            }
            FromTask::FetchFailure { attempt: map, message } => {
                let message = limits::first_part(&message, limits::STATUS_BYTES);
                let id = self.current.assignment.cluster.parse_attempt(&map).ok();
                // What it says of other jobs' maps is not its business.
                if let Some(id) = id.filter(|id| id.job == attempt.job && id.kind == TaskKind::Map) {
                    tracing::warn!(?attempt, map, message, "map output could not be fetched");
                    (self.notify)(attempt, ProcessEvent::FetchFailure(id));
                }
            }
            FromTask::CommitPending => {
                self.current.asked_commit = true;
                (self.notify)(attempt, ProcessEvent::CommitPending);
            }
            FromTask::Done { counters, cut } => {
                let counters = self.bound(counters, cut);
                match self.objection() {
                    None => self.on_said(true, String::new(), counters),
                    Some(objection) => {
                        self.on_said(false, objection.to_owned(), counters);
                        // It believes that it has ended well, and may wait for more work.
                        self.process.kill();
                    }
                }
            }
            FromTask::Failed { message, counters, cut, fatal, unseen } => {
                let unseen = unseen.unwrap_or_default();
                self.current.unseen = limits::first_part(&unseen, limits::PATH_BYTES).to_owned();
                let counters = self.bound(counters, cut);
                self.current.fatal = fatal;
                self.on_said(false, message, counters);
            }
        }
    }

    /// Keeps counters within the bounds, and in mind what was cut, by the task itself or here.
    fn bound(&mut self, counters: Counters, by_task: Cut) -> Counters {
        if !Guard::Counters.stands() {
            return counters;
        }
        let (counters, cut) = limits::within(counters, limits::COUNTERS);
        self.current.cut = self.current.cut.or_more(cut).or_more(by_task);
        counters
    }

    /// Why the attempt cannot be done though it says so: nobody would ever move its output into place.
    fn objection(&self) -> Option<&'static str> {
        let Assignment { attempt, job, .. } = &self.current.assignment;
        let asks = spec::asks_commit(job, *attempt) && Guard::Commit.stands();
        if !asks || self.process.granted(*attempt) {
            None
        } else if self.current.asked_commit {
            Some("the attempt said that it is done before the commit of its output was granted")
        } else {
            Some("the attempt said that it is done without having asked to commit its output")
        }
    }

    /// The attempt is over by its own account. A process for one attempt is about to exit and is waited for,
    /// so that its exit and cost belong to the report; a reusable one is reported at once.
    fn on_said(&mut self, ok: bool, message: String, counters: Counters) {
        if self.current.assignment.job.spec.conf.reuse_tasks != 1 && ok {
            self.current.enter(Phase::Reduce);
            let mut end = self.current.end();
            end.exit_code = Some(0);
            end.cpu_us = (counters.get(FRAMEWORK, "CPU time spent (ms)").max(0) as u64).saturating_mul(1_000);
            end.peak_memory_kib = peak_kib(&counters);
            end.diagnostics = limits::diagnostics(String::new(), self.current.cut);
            self.clear_local(ok);
            // Before the driver can give the process its next attempt, which has the same files.
            if let Some(logs) = &mut self.logs {
                self.context.logs.collect(logs, self.current.assignment.cluster, self.current.attempt());
            }
            self.current.said = Some(Said { ok, message, counters: counters.clone() });
            let noticed = ProcessEvent::Ended {
                ok,
                fatal: false,
                spared: false,
                process_alive: true,
                end: Box::new(end),
                counters,
            };
            (self.notify)(self.current.attempt(), noticed);
        } else {
            self.current.said = Some(Said { ok, message, counters });
        }
    }

    /// Whether the process is about to exit, as it was for one attempt or that failed. Children that it leaves may
    /// hold its end of the umbilical open, so that is not waited for.
    fn said_its_last(&self) -> bool {
        self.current.said.is_some() && !self.reported_alive()
    }

    /// Moves on to the attempt that the driver gave the process; false when there is none.
    fn take_next(&mut self) -> bool {
        let given = match &*self.process.lock() {
            State::Alive { current, .. } => current.clone(),
            State::Unborn { .. } | State::Gone => return false,
        };
        self.move_on(given)
    }

    fn move_on(&mut self, given: Assignment) -> bool {
        let is_next = given.attempt != self.current.attempt();
        if is_next {
            self.current = Running::new(given);
        }
        is_next
    }

    /// Waits for the end, kills what is left of the group while its number is still ours, then reaps.
    fn reap(mut self, mut child: Child, cgroup: Option<Arc<AttemptGroup>>) {
        let pid = Pid::from_raw(child.id() as i32);
        while let Err(nix::errno::Errno::EINTR) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
        let (used, last) = {
            let mut state = self.process.lock();
            let _ = killpg(pid, Signal::SIGKILL);
            let last = std::mem::replace(&mut *state, State::Gone).into_current();
            self.context.own.remove(child.id());
            (child.wait4(), last)
        };
        // The driver may have given it another attempt that it did not live to speak of.
        let next = last.is_some_and(|last| self.current.said.is_some() && self.move_on(last));
        let idle = !next && self.reported_alive();
        if idle {
            (self.notify)(self.current.attempt(), ProcessEvent::Gone);
        } else {
            let (status, mut cpu_us, rss_kib) = match used {
                Ok(used) => {
                    let cpu = used.rusage.utime + used.rusage.stime;
                    (Some(used.status), cpu.as_micros() as u64, used.rusage.maxrss / 1_024)
                }
                Err(error) => {
                    tracing::warn!(attempt = ?self.current.attempt(), %error, "an attempt's process could not be reaped");
                    (None, 0, 0)
                }
            };
            let mut peak = 0;
            if let Some(cgroup) = &cgroup {
                cpu_us = cgroup.cpu_us().unwrap_or(cpu_us);
                peak = cgroup.peak_kib().unwrap_or(0);
            }
            self.current.enter(Phase::Reduce);
            self.report_end(status, cpu_us, peak, rss_kib);
        }
        // Nobody waits for this.
        self.put_logs_away(idle);
        if let Some(group) = cgroup.and_then(Arc::into_inner) {
            group.remove();
        }
    }

    /// Leaves the logs of a process that is over in its job's container; most of them are there if it was idle.
    fn put_logs_away(&mut self, idle: bool) {
        let Some(mut live) = self.logs.take() else { return };
        let (logs, cluster, attempt) = (&self.context.logs, self.current.assignment.cluster, self.current.attempt());
        let collected = match idle {
            true => logs.collect_rest(&mut live, cluster, attempt),
            false => logs.collect(&mut live, cluster, attempt),
        };
        // A full disk keeps the beginning of them.
        let collected = collected || live.shorten() && logs.collect(&mut live, cluster, attempt);
        if collected {
            logs.retire(live, &logs.live(cluster, attempt));
        }
    }

    /// Whether the end of the current attempt has already been reported, with the process alive.
    fn reported_alive(&self) -> bool {
        let reusable = self.current.assignment.job.spec.conf.reuse_tasks != 1;
        reusable && self.current.said.as_ref().is_some_and(|said| said.ok)
    }

    fn report_end(&mut self, status: Option<std::process::ExitStatus>, cpu_us: u64, cgroup_kib: u64, rss_kib: u64) {
        let said = self.current.said.take();
        let exit_code = status.and_then(|status| status.code());
        let signal = status.and_then(|status| status.signal());
        let ok = said.as_ref().is_some_and(|said| said.ok) && exit_code == Some(0);
        let (message, counters) = match said {
            Some(said) if !said.ok => (said.message, said.counters),
            Some(said) => (self.process.fault(), said.counters),
            None => (self.process.fault(), self.current.counters.clone()),
        };
        let mut end = v1::AttemptEnd { exit_code, signal, cpu_us, ..self.current.end() };
        // The process's own figure first: the kernel's maximum is inherited from whoever started the process.
        let own = peak_kib(&counters);
        end.peak_memory_kib = [cgroup_kib, own, rss_kib].into_iter().find(|&kib| kib > 0).unwrap_or(0);
        let mut diagnosis = if ok { String::new() } else { diagnosis(&message, exit_code, signal) };
        let is_program = matches!(self.current.assignment.job.app, App::Program { .. });
        if message.is_empty() && exit_code == Some(0) && is_program && !self.spoke {
            diagnosis = format!("{diagnosis}: {FOR_COMMANDS}");
        }
        end.diagnostics = limits::diagnostics(diagnosis, self.current.cut);
        if !ok {
            end.unseen = std::mem::take(&mut self.current.unseen);
            let Assignment { cluster, attempt, .. } = &self.current.assignment;
            let begin = self.logs.as_ref().map_or(0, LiveLogs::stderr_begin);
            end.stderr_tail = tail(&self.context.logs.live(*cluster, *attempt).join("stderr"), begin);
        }
        let spared = !ok && self.is_spared();
        if spared {
            let full = "the worker's disk was almost full, by the doing of others: ";
            end.diagnostics = limits::diagnostics(format!("{full}{}", end.diagnostics), Cut::default());
        }
        self.clear_local(ok);
        let fatal = self.current.fatal && !ok && !spared;
        let noticed = ProcessEvent::Ended { ok, fatal, spared, process_alive: false, end: Box::new(end), counters };
        (self.notify)(self.current.attempt(), noticed);
    }

    /// Whether others have taken the disk away from the attempt, which has not ended well.
    fn is_spared(&self) -> bool {
        let Assignment { cluster, attempt, .. } = &self.current.assignment;
        let logs = self.logs.as_ref().map_or(0, |logs| logs.written().disk_bytes());
        self.process.fault().is_empty() && self.context.space.spares(*cluster, *attempt, logs)
    }

    /// A finished map's output stays for the shuffle; everything else goes.
    fn clear_local(&self, ok: bool) {
        let Assignment { cluster, attempt, job } = &self.current.assignment;
        if ok && attempt.kind == TaskKind::Map && job.spec.n_reduces > 0 {
            return;
        }
        self.context.directory.clear_attempt(*cluster, *attempt);
    }
}

fn peak_kib(counters: &Counters) -> u64 {
    counters.get(FRAMEWORK, "Physical memory (bytes) snapshot").max(0) as u64 / 1_024
}

/// Whether a child of ours is over, without reaping it.
fn has_ended(pid: u32) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    !matches!(waitid(Id::Pid(Pid::from_raw(pid as i32)), flags), Ok(WaitStatus::StillAlive))
}

/// The probable cause in one or a few lines.
fn diagnosis(message: &str, exit_code: Option<i32>, signal: Option<i32>) -> String {
    let process = match (exit_code, signal) {
        (_, Some(number)) => {
            let name = Signal::try_from(number).map_or("unknown signal", Signal::as_str);
            format!("process was killed by signal {number} ({name})")
        }
        (Some(0), None) if message.is_empty() => "process exited with code 0 before its attempt was done".to_owned(),
        (Some(code), None) => format!("process exited with code {code}"),
        (None, None) => "process ended in an unknown way".to_owned(),
    };
    if message.is_empty() { process } else { message.to_owned() }
}

/// A line from a process, or what is wrong with it.
fn read_line(line: &[u8]) -> Result<FromTask, String> {
    if line.len() > limits::LINE_BYTES && Guard::Lines.stands() {
        let most = limits::LINE_BYTES;
        return Err(format!("the attempt's process sent a line of more than {most} bytes on its umbilical"));
    }
    let _one = (line.len() > LARGE_LINE_BYTES).then(|| LARGE_LINE.lock().unwrap_or_else(PoisonError::into_inner));
    serde_json::from_slice(line).map_err(|error| {
        // The parser repeats what it found, however long.
        let error = limits::without_middle(error.to_string(), limits::STATUS_BYTES);
        format!("the attempt's process sent a message that is not one: {error}")
    })
}

/// The last bytes of a file as text, from a place on; empty when there is none, or something else in its place.
fn tail(path: &Path, begin: u64) -> String {
    const BYTES: u64 = limits::STDERR_TAIL_BYTES as u64;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = plain::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES).max(begin)))?;
        let mut bytes = Vec::new();
        file.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

fn wall_ms() -> u64 {
    wall_us() / 1_000
}

/// Microseconds since the epoch on the wall clock.
pub(crate) fn wall_us() -> u64 {
    clock::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

#[cfg(test)]
mod fuzz;
