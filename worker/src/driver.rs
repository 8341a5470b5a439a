//! The owner of the TaskTracker: turns what happens into its inputs and carries out its effects.
//!
//! It shares one thread with the calls to the master, so that a report and its answer change threads nowhere.
//! No decision is made here. Time is the wall clock anchored to the monotonic one, so it never steps back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_core::job::counters::Counters;
use howdah_core::job::{AttemptId, AttemptState, ClusterId, JobFile, JobId, TaskKind, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::Report;
use howdah_core::tracker::task_tracker::{Directive, StopCause, TaskTracker, TrackerEffect, TrackerInput};
use howdah_guards::Guard;
use howdah_proto::{convert, service_manager, v1};
use howdah_task::umbilical::ToTask;
use tokio::sync::mpsc::Receiver;
use tonic::{Code, Status};

use crate::config::WorkerConfig;
use crate::containers::Containers;
use crate::inbox::Inbox;
use crate::jobs::Jobs;
use crate::kept::{self, Left};
use crate::link::Link;
use crate::looks;
use crate::map_events::MapEvents;
use crate::prefetch::Prefetcher;
use crate::probes::ProbeSnapshot;
use crate::process::{Assignment, Gate, Pass, Process, ProcessContext, ProcessEvent, start};
use crate::vitals::VitalsCell;

/// How long killed processes may take to be gone when the worker stops.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// Longest sleep of the driver; nothing depends on it.
const LONG: Duration = Duration::from_secs(60);
/// Running attempts whose counters one report carries at most: they are most of it, and no decision reads them.
const COUNTERS_PER_REPORT: usize = 3;
/// Events that make one batch at most.
const MAX_BATCH: usize = 1_024;

/// What reaches the driver's inbox.
#[derive(Debug)]
pub(crate) enum Event {
    /// From a process's keeper.
    Process { number: u32, process: Arc<Process>, attempt: AttemptId, noticed: ProcessEvent, pass: Pass },
    /// The answer to a registration, and what the worker had when it said hello.
    Registered(Result<(v1::RegisterResponse, Left), Status>),
    /// The answer to report `seq`.
    Answered { seq: u32, answer: Result<v1::HeartbeatResponse, Status> },
    /// A job's file, or why there is none.
    JobFile { job: JobId, file: Box<anyhow::Result<JobFile>> },
    /// The worker's attributes, or the conditions of its probes, are others now.
    Attributes(ProbeSnapshot),
    /// The service manager's watchdog wants a sign of life of this thread.
    ProveAlive,
    /// Take no more attempts.
    Drain,
    /// Stop at once.
    Stop,
}

/// What the next reports say of an attempt beyond what the tracker knows.
#[derive(Debug, Default)]
struct Extra {
    process: u32,
    counters: Option<Counters>,
    /// Since when there are counters to send, as a number that grows.
    waiting: u64,
    message: Option<String>,
    end: Option<v1::AttemptEnd>,
    fatal: bool,
    timed_out: bool,
}

/// See the module's documentation.
pub(crate) struct Driver {
    pub(crate) config: WorkerConfig,
    pub(crate) tracker: TaskTracker,
    pub(crate) context: Arc<ProcessContext>,
    pub(crate) link: Link,
    pub(crate) jobs: Jobs,
    containers: Containers,
    pub(crate) vitals: VitalsCell,
    /// The incarnation that is this process's first.
    first: u64,
    /// What registrations say, but for the incarnation.
    pub(crate) hello: v1::RegisterRequest,
    pub(crate) inbox: Inbox<Event>,
    pub(crate) clock: Clock,
    pub(crate) cluster: ClusterId,
    pub(crate) processes: HashMap<u32, Arc<Process>>,
    pub(crate) map_events: MapEvents,
    /// Where there is memory for it.
    prefetcher: Option<Prefetcher>,
    extras: HashMap<AttemptId, Extra>,
    /// Processes that were given up and have not ended, each with its attempt and what is known of it.
    undying: BTreeMap<u32, String>,
    /// Number of the last full sample of vitals that was sent.
    sampled: u64,
    /// Whether the last report carried what only pages show.
    paged: bool,
    /// The last number of counters that began to wait.
    waiting: u64,
    away: bool,
}

/// Wall-clock time that only moves forward.
pub(crate) struct Clock {
    wall: u64,
    since: Instant,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock { wall: crate::process::wall_us(), since: Instant::now() }
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_us(self.wall + self.since.elapsed().as_micros() as u64)
    }
}

/// What the daemon makes for the driver before the driver's thread starts.
pub(crate) struct Parts {
    pub(crate) config: WorkerConfig,
    pub(crate) context: Arc<ProcessContext>,
    pub(crate) jobs: Jobs,
    pub(crate) containers: Containers,
    pub(crate) vitals: VitalsCell,
    pub(crate) hello: v1::RegisterRequest,
    pub(crate) inbox: Inbox<Event>,
}

impl Driver {
    pub(crate) fn new(parts: Parts, tracker: TaskTracker, link: Link) -> Driver {
        let Parts { config, context, jobs, containers, vitals, hello, inbox } = parts;
        let prefetcher = Prefetcher::start(config.prefetch_bytes);
        Driver {
            config,
            first: tracker.incarnation(),
            tracker,
            context,
            link,
            jobs,
            containers,
            vitals,
            hello,
            inbox,
            clock: Clock::new(),
            cluster: ClusterId(0),
            processes: HashMap::new(),
            map_events: MapEvents::default(),
            prefetcher,
            extras: HashMap::new(),
            undying: BTreeMap::new(),
            sampled: 0,
            paged: false,
            waiting: 0,
            away: false,
        }
    }

    /// Runs until the tracker has stopped; returns the registration to say goodbye with.
    pub(crate) async fn run(mut self, mut events: Receiver<Event>) -> (WorkerId, u64) {
        let mut inputs = vec![TrackerInput::Tick];
        let mut effects = Vec::new();
        let mut news = Vec::new();
        loop {
            self.tracker.apply(self.clock.now(), &inputs, &mut effects);
            inputs.clear();
            for effect in effects.drain(..) {
                self.carry_out(effect, &mut inputs);
            }
            if self.tracker.is_stopped() {
                self.reap_all(&mut events).await;
                return (self.tracker.worker(), self.tracker.incarnation());
            }
            if !inputs.is_empty() {
                continue;
            }
            let wait = self
                .tracker
                .next_deadline()
                .map_or(LONG, |deadline| Duration::from_micros(deadline.since(self.clock.now()).as_us()).min(LONG));
            // On time out nothing was taken; the tick then does what was due.
            let _ = tokio::time::timeout(wait, events.recv_many(&mut news, MAX_BATCH)).await;
            for event in news.drain(..) {
                self.take(event, &mut inputs);
            }
            if inputs.is_empty() {
                inputs.push(TrackerInput::Tick);
            }
        }
    }

    /// Ends every process and waits until their keepers are done with them, within reason.
    async fn reap_all(&mut self, events: &mut Receiver<Event>) {
        for process in self.processes.values() {
            process.kill();
        }
        let until = tokio::time::Instant::now() + LAST_WAIT;
        while !self.processes.is_empty() {
            match tokio::time::timeout_at(until, events.recv()).await {
                Ok(Some(event)) => self.take(event, &mut Vec::new()),
                Ok(None) | Err(_) => {
                    tracing::warn!(processes = self.processes.len(), "some attempts' processes did not end");
                    return;
                }
            }
        }
    }

    fn take(&mut self, event: Event, inputs: &mut Vec<TrackerInput>) {
        match event {
            Event::Process { number, process, attempt, noticed, pass: _pass } => {
                let is_known = self.processes.get(&number).is_some_and(|known| Arc::ptr_eq(known, &process));
                let is_over = matches!(noticed, ProcessEvent::Gone | ProcessEvent::Ended { process_alive: false, .. });
                if is_known && is_over {
                    self.processes.remove(&number);
                }
                // Its attempt ended when it was given up.
                if self.undying.contains_key(&number) {
                    if is_known && is_over {
                        let was = self.undying.remove(&number);
                        tracing::info!(was, "a process that was killed has ended at last; its slot is free again");
                        inputs.push(TrackerInput::ProcessGone { process: number });
                    }
                    return;
                }
                // A process of an earlier registration may tell of an attempt whose id a new master has given again.
                let is_its = self.extras.get(&attempt).is_some_and(|extra| extra.process == number);
                // One that was replaced has a successor with its number.
                let counts = if matches!(noticed, ProcessEvent::Gone) { is_known } else { is_its };
                if counts {
                    self.take_process_event(number, attempt, noticed, inputs);
                }
            }
            Event::Registered(Ok((answer, left))) => {
                self.cluster = ClusterId(answer.cluster_id);
                self.keep(&answer, left);
                tracing::info!(
                    worker = self.hello.name,
                    id = answer.worker,
                    http = answer.http_address,
                    master = answer.version,
                    "registered"
                );
                self.note_back();
                // It may be another master, or one that forgot.
                self.sampled = 0;
                let interval = Span::from_ms(answer.interval_ms.into());
                inputs.push(TrackerInput::Registered { worker: WorkerId(answer.worker), interval });
            }
            Event::Registered(Err(status)) => {
                self.note_away(&status);
                inputs.push(TrackerInput::RegisterFailed);
            }
            Event::Answered { seq, answer: Ok(answer) } => {
                if self.away {
                    self.note_back();
                }
                if let Some(prefetcher) = &mut self.prefetcher {
                    prefetcher.named(answer.prefetch, answer.retain);
                }
                let number = self.tracker.worker().0;
                answer.looks.into_iter().for_each(|look| looks::start(self.link.clone(), number, look));
                let directives = answer.directives.into_iter().filter_map(directive).collect();
                let interval = Span::from_ms(answer.interval_ms.into());
                inputs.push(TrackerInput::Answer { seq, response_id: answer.response_id, interval, directives });
            }
            Event::Answered { seq, answer: Err(status) } => {
                if status.code() == Code::NotFound {
                    inputs.push(TrackerInput::Unknown { seq });
                } else {
                    // A superseded report ends this way too; that is no trouble.
                    if status.code() != Code::Aborted && status.code() != Code::Cancelled {
                        self.note_away(&status);
                    }
                    inputs.push(TrackerInput::HeartbeatFailed { seq });
                }
            }
            Event::JobFile { job, file } => self.take_job_file(job, *file, inputs),
            Event::Attributes(snapshot) => {
                inputs.push(TrackerInput::Attributes(snapshot.attributes.clone().into_iter().collect()));
                self.hello.attributes = snapshot.attributes.into_iter().collect();
                self.hello.probe_warnings = snapshot.warnings;
            }
            Event::ProveAlive => service_manager::alive(),
            Event::Drain => inputs.push(TrackerInput::Drain),
            Event::Stop => inputs.push(TrackerInput::Stop),
        }
    }

    fn take_job_file(&mut self, job: JobId, file: anyhow::Result<JobFile>, inputs: &mut Vec<TrackerInput>) {
        match file {
            // Fetched for attempts that are gone by now: kept, nobody would ever throw it away.
            Ok(_) if !self.tracker.awaits(job) => {}
            Ok(file) => {
                let task_timeout = Span::from_ms(file.spec.conf.task_timeout_ms);
                let reuse_tasks = file.spec.conf.reuse_tasks;
                self.jobs.put(Arc::new(file));
                inputs.push(TrackerInput::JobKnown { job, task_timeout, reuse_tasks });
            }
            Err(error) => {
                tracing::warn!(job = self.cluster.job(job), error = format!("{error:#}"), "no file of a job");
                inputs.push(TrackerInput::JobUnavailable { job });
            }
        }
    }

    fn note_back(&mut self) {
        self.away = false;
        service_manager::status(&format!("worker {} of the master at {}", self.hello.name, self.config.master));
    }

    /// Says once that the master is away, not at each try.
    fn note_away(&mut self, status: &Status) {
        if self.away {
            return;
        }
        self.away = true;
        service_manager::status(&format!("without a master: {}: {}", self.config.master, status.message()));
        let refused = [Code::FailedPrecondition, Code::InvalidArgument, Code::ResourceExhausted];
        if status.code() == Code::PermissionDenied {
            let master = &self.config.master;
            tracing::error!(master, reason = status.message(), "this worker refuses the master; trying again");
        } else if refused.contains(&status.code()) {
            let master = &self.config.master;
            tracing::error!(master, reason = status.message(), "the master refuses this worker; trying again");
        } else {
            tracing::warn!(
                master = self.config.master,
                reason = status.message(),
                "the master cannot be reached; trying again"
            );
        }
    }

    fn take_process_event(
        &mut self,
        process: u32,
        attempt: AttemptId,
        noticed: ProcessEvent,
        inputs: &mut Vec<TrackerInput>,
    ) {
        let extra = self.extras.entry(attempt).or_default();
        match noticed {
            ProcessEvent::Status { phase, progress, counters, message } => {
                if counters.is_some() && extra.counters.is_none() {
                    self.waiting += 1;
                    extra.waiting = self.waiting;
                }
                extra.counters = counters.or(extra.counters.take());
                extra.message = message.or(extra.message.take());
                inputs.push(TrackerInput::Progress { attempt, phase, progress });
            }
            ProcessEvent::FetchFailure(map) => inputs.push(TrackerInput::FetchFailure { attempt, map }),
            ProcessEvent::CommitPending => inputs.push(TrackerInput::CommitPending { attempt }),
            ProcessEvent::Ended { ok, fatal, spared, process_alive, mut end, counters } => {
                if extra.timed_out && !ok {
                    let seconds = self
                        .jobs
                        .get(&self.cluster.job(attempt.job))
                        .map_or(0, |job| job.spec.conf.task_timeout_ms / 1_000);
                    end.diagnostics =
                        format!("failed to report status for {seconds} seconds (mapred.task.timeout); killed");
                }
                extra.end = Some(*end);
                extra.fatal = fatal;
                extra.counters = Some(counters);
                inputs.push(match spared {
                    true => TrackerInput::Spared { attempt },
                    false => TrackerInput::Ended { attempt, ok, process_alive },
                });
            }
            ProcessEvent::Gone => inputs.push(TrackerInput::ProcessGone { process }),
        }
    }

    fn carry_out(&mut self, effect: TrackerEffect, inputs: &mut Vec<TrackerInput>) {
        match effect {
            TrackerEffect::Register { incarnation } => self.register(incarnation),
            TrackerEffect::Report { seq } => self.send_report(seq),
            TrackerEffect::FetchJob { job } => {
                let (link, inbox) = (self.link.clone(), self.inbox.clone());
                tokio::spawn(async move {
                    let file = link.job_file(job).await;
                    inbox.tell(Event::JobFile { job, file: Box::new(file) }).await;
                });
            }
            TrackerEffect::Start { attempt, process, reused } => self.start(attempt, process, reused, inputs),
            TrackerEffect::Terminate { attempt, cause } => {
                if cause == StopCause::Timeout {
                    self.extras.entry(attempt).or_default().timed_out = true;
                }
                self.with_process(attempt, |process| process.terminate());
            }
            TrackerEffect::Kill { attempt } => {
                // Without a process nobody else will say that it is over.
                if !self.with_process(attempt, |process| process.kill()) {
                    inputs.push(TrackerInput::Ended { attempt, ok: false, process_alive: false });
                }
            }
            TrackerEffect::GivenUp { attempt, process } => self.give_up(attempt, process),
            TrackerEffect::GrantCommit { attempt } => {
                self.with_process(attempt, |process| {
                    let process = process.clone();
                    // A process that does not read must not hold up the heartbeats.
                    tokio::task::spawn_blocking(move || process.grant_commit(attempt));
                });
            }
            TrackerEffect::Finished { attempt, state } => self.on_finished(attempt, state),
            TrackerEffect::Retire { process } => {
                // It stays in the list until it is gone.
                if let Some(process) = self.processes.get(&process).cloned() {
                    // One that does not read must not hold up the heartbeats.
                    let leaving = process.clone();
                    tokio::task::spawn_blocking(move || leaving.say(&ToTask::Exit));
                    let grace = Duration::from_millis(self.config.kill_grace_ms);
                    tokio::spawn(async move {
                        tokio::time::sleep(grace).await;
                        process.kill();
                    });
                }
            }
            TrackerEffect::ForgetJob { job } => self.forget(job),
            TrackerEffect::DropJob { job } => self.drop_job(job),
            TrackerEffect::NoSlot { attempt } => {
                tracing::debug!(attempt = self.cluster.attempt(attempt), "launch without a free slot left for later");
            }
            TrackerEffect::Stopped => {}
        }
    }

    /// Says of an attempt why it is over although its process is not.
    fn give_up(&mut self, attempt: AttemptId, number: u32) {
        let known = self.processes.get(&number).map_or_else(|| "no process".to_owned(), |process| process.describe());
        let name = self.cluster.attempt(attempt);
        tracing::warn!(attempt = name, process = known, "a process that was killed does not end; its slot stays taken");
        let diagnostics = format!(
            "was killed, and its process does not end ({known}): it waits in the kernel, most often for a file system \
             that does not answer; it runs again, and its slot here stays taken until its process is gone"
        );
        self.undying.insert(number, format!("{name} ({known})"));
        let extra = self.extras.entry(attempt).or_default();
        extra.end = Some(v1::AttemptEnd { diagnostics, ..v1::AttemptEnd::default() });
    }

    /// False when the attempt has no process.
    fn with_process(&self, attempt: AttemptId, act: impl FnOnce(&Arc<Process>)) -> bool {
        let process = self.extras.get(&attempt).and_then(|extra| self.processes.get(&extra.process));
        process.map(act).is_some()
    }

    fn register(&self, incarnation: u64) {
        let starts = incarnation == self.first;
        let mut request = v1::RegisterRequest { incarnation, starts, ..self.hello.clone() };
        let (link, inbox) = (self.link.clone(), self.inbox.clone());
        let (directory, jobs) = (self.context.directory.clone(), self.jobs.clone());
        tokio::spawn(async move {
            let registered = async {
                let left = kept::look(&link, directory, &jobs).await?;
                left.tell(&mut request);
                Ok((link.register(request).await?, left))
            };
            inbox.tell(Event::Registered(registered.await)).await;
        });
    }

    /// Of what was there before the registration what the master wants stays and is served, and the rest goes.
    fn keep(&self, answer: &v1::RegisterResponse, left: Left) {
        let keep = convert::map_outputs(&answer.keep);
        let wanted = left.wanted(self.cluster, &keep);
        if !wanted.is_empty() {
            tracing::info!(outputs = wanted.len(), "map outputs of an earlier run go on being served");
        }
        let (directory, jobs) = (self.context.directory.clone(), self.jobs.clone());
        for path in left.clear(&wanted, &directory, &jobs) {
            delete_later(path);
        }
    }

    fn send_report(&mut self, seq: u32) {
        let sample = self.vitals.get();
        let enough = self.config.min_free_disk_bytes / 1_024;
        let healthy = sample.vitals.disk_free_kib >= enough && !self.context.space.lacks();
        let report = self.tracker.report(sample.vitals, healthy);
        let held: HashSet<AttemptId> = report.attempts.iter().map(|status| status.attempt).collect();
        self.extras.retain(|attempt, _| held.contains(attempt));
        self.containers.keep(|attempt| held.contains(&attempt));
        let mut request = v1::HeartbeatRequest::from(&report);
        request.sequence = seq;
        request.refusal = match (self.tracker.accepts(), healthy) {
            (false, _) => v1::Refusal::Stopping,
            (true, false) => v1::Refusal::LowDisk,
            (true, true) => v1::Refusal::Unspecified,
        }
        .into();
        if let Some(set) = &mut request.attributes {
            set.probe_warnings.clone_from(&self.hello.probe_warnings);
        }
        // What only pages show does not travel twice, and not with counters of running attempts: both are large. Where both
        // are there, they take turns.
        let mut last = self.last_to_send(&report);
        let paged = self.sampled != sample.number && !(last > 0 && self.paged);
        self.paged = paged;
        if let Some(vitals) = request.vitals.as_mut().filter(|_| paged) {
            self.sampled = sample.number;
            vitals.core_use_parts = sample.core_use_parts;
            let prefetch = self.prefetcher.as_ref().map(Prefetcher::costs);
            vitals.details = Some(v1::VitalsDetails {
                prefetch,
                sent_ms_epoch: crate::process::wall_us() / 1_000,
                undying: self.undying.values().cloned().collect(),
                held_up: self.held_up(),
                ..sample.details
            });
            last = 0;
        }
        for (wire, status) in request.attempts.iter_mut().zip(&report.attempts) {
            let Some(extra) = self.extras.get_mut(&status.attempt) else { continue };
            if status.state.is_final() {
                // Kept until the report is acknowledged.
                wire.end = extra.end.clone();
                wire.fatal = extra.fatal && status.state == AttemptState::Failed && Guard::Hopeless.stands();
                wire.counters = extra.counters.as_ref().map(convert::numbered);
            } else if extra.waiting <= last {
                wire.counters = extra.counters.take().as_ref().map(convert::numbered);
            }
            wire.message = extra.message.take().unwrap_or_default();
        }
        let (link, inbox) = (self.link.clone(), self.inbox.clone());
        tokio::spawn(async move {
            let answer = link.heartbeat(request).await;
            inbox.tell(Event::Answered { seq, answer }).await;
        });
    }

    /// Attempts that wait in the kernel without a word, with where they wait.
    fn held_up(&self) -> Vec<String> {
        let alive = self.processes.iter().filter(|(number, _)| !self.undying.contains_key(number));
        let mut held_up: Vec<String> = alive.filter_map(|(_, process)| process.held_up()).collect();
        held_up.sort_unstable();
        held_up
    }

    /// The counters of running attempts that this report carries are those that began to wait until this number.
    fn last_to_send(&self, report: &Report) -> u64 {
        let running = report.attempts.iter().filter(|status| !status.state.is_final());
        let extras = running.filter_map(|status| self.extras.get(&status.attempt));
        let mut waiting: Vec<u64> =
            extras.filter(|extra| extra.counters.is_some()).map(|extra| extra.waiting).collect();
        waiting.sort_unstable();
        waiting.iter().take(COUNTERS_PER_REPORT).next_back().copied().unwrap_or(0)
    }

    fn start_process(&mut self, number: u32, assignment: Assignment) -> Arc<Process> {
        let process = Process::new();
        let (inbox, own, gate) = (self.inbox.clone(), process.clone(), Arc::new(Gate::default()));
        let notify = move |attempt, noticed| {
            let pass = gate.enter();
            inbox.tell_blocking(Event::Process { number, process: own.clone(), attempt, noticed, pass });
        };
        start(self.context.clone(), process.clone(), assignment, Box::new(notify));
        self.processes.insert(number, process.clone());
        process
    }

    fn start(&mut self, attempt: AttemptId, number: u32, reused: bool, inputs: &mut Vec<TrackerInput>) {
        let Some(job) = self.jobs.get(&self.cluster.job(attempt.job)) else {
            inputs.push(TrackerInput::Ended { attempt, ok: false, process_alive: false });
            return;
        };
        if attempt.kind == TaskKind::Map
            && let Some(prefetcher) = &mut self.prefetcher
            && let Some(split) = job.splits.get(attempt.index as usize)
        {
            prefetcher.started(attempt.job.0, split);
        }
        self.containers.start(self.cluster, attempt, job.clone());
        let assignment = Assignment { cluster: self.cluster, attempt, job };
        let extra = self.extras.entry(attempt).or_default();
        extra.process = number;
        let waiting = self.processes.get(&number).filter(|_| reused);
        let given = waiting.filter(|process| process.give(&self.context, assignment.clone())).cloned();
        // One that has just ended is replaced: that is no fault of the attempt's.
        let process = given.unwrap_or_else(|| self.start_process(number, assignment));
        if attempt.kind == TaskKind::Reduce {
            self.map_events.follow(&self.link, self.cluster, attempt, process);
        }
    }

    fn on_finished(&mut self, attempt: AttemptId, state: AttemptState) {
        self.containers.end(attempt);
        if attempt.kind == TaskKind::Map
            && let Some(prefetcher) = &mut self.prefetcher
            && let Some(job) = self.jobs.get(&self.cluster.job(attempt.job))
            && let Some(split) = job.splits.get(attempt.index as usize)
        {
            prefetcher.ended(attempt.job.0, split);
        }
        let extra = self.extras.entry(attempt).or_default();
        if extra.end.is_none() {
            let diagnostics = if state == AttemptState::Failed { "the job's file could not be fetched" } else { "" };
            extra.end = Some(v1::AttemptEnd { diagnostics: diagnostics.to_owned(), ..v1::AttemptEnd::default() });
        }
        let attempt = self.cluster.attempt(attempt);
        tracing::debug!(attempt, state = state.name(), "attempt ended");
    }

    /// The job is over here, and its files with it.
    fn forget(&mut self, job: JobId) {
        self.drop_job(job);
        if let Some(path) = self.context.directory.set_aside(self.cluster, job) {
            delete_later(path);
        }
    }

    /// All but the job's files, of which the next registration says what stays.
    fn drop_job(&mut self, job: JobId) {
        self.map_events.forget(job);
        if let Some(prefetcher) = &mut self.prefetcher {
            prefetcher.forget(job.0);
        }
        self.jobs.forget(&self.cluster.job(job));
        let (context, cluster) = (self.context.clone(), self.cluster);
        tokio::task::spawn_blocking(move || context.logs.forget(cluster, job));
    }
}

/// Deletes what was set aside.
fn delete_later(path: PathBuf) {
    tokio::spawn(async move {
        if let Err(error) = tokio::fs::remove_dir_all(&path).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(path = %path.display(), %error, "failed to delete a job's files");
        }
    });
}

/// A directive off the wire; `None` for one that this version does not know.
fn directive(wire: v1::Directive) -> Option<Directive> {
    use v1::directive::Kind;
    match wire.kind? {
        Kind::Launch(launch) => Some(Directive::Launch(launch.attempt?.try_into().ok()?)),
        Kind::Kill(kill) => Some(Directive::Kill(kill.attempt?.try_into().ok()?)),
        Kind::Commit(attempt) => Some(Directive::Commit(attempt.try_into().ok()?)),
        Kind::ForgetJob(job) => Some(Directive::ForgetJob(JobId(job))),
        Kind::Reinit(_) => Some(Directive::Reinit),
    }
}
