//! The thread that owns the core.
//!
//! A bounded inbox feeds it. One batch: take what the inbox holds, stamp the time once, apply, write one
//! frame of the journal, sync it if effects are to leave, update the tables, let the effects go. Questions of
//! pages and clients are closures that run between batches, so they see a settled state and need no locks;
//! they must copy little and leave formatting to their own thread.
//!
//! **Invariants: effects leave only after their frame is on disk. The inbox is drained before a tick, and
//! after the process stood still ticks wait a moment longer, or a master that was stopped for a while would
//! expire everyone.**

mod clearer;
mod clearing;
mod compact;
mod compaction;
mod error;
mod fetch_complaints;
mod fetches;
mod handle;
mod historian;
mod histories;
mod leftovers;
mod message;
mod out;
mod pool;
mod retention;
mod trim;
mod trouble;
mod view;
mod watch;

pub(crate) use clearer::Clearer;
pub(crate) use clearing::Clearing;
pub(crate) use compaction::Compaction;
pub(crate) use error::CoreError;
pub(crate) use handle::CoreHandle;
pub(crate) use message::{Beat, Caller, Message, NewJob, Registered, Unreached};
pub(crate) use out::Outbox;
pub(crate) use view::View;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use howdah_core::job::{JobId, WorkerId};
use howdah_core::time::{Span, Time};
use howdah_core::tracker::{Effect, Input, Rejection};
use howdah_guards::Guard;
use howdah_proto::v1;

use crate::clock::Clock;
use crate::journal::JournalError;
use crate::prediction::Feed;
use crate::recorder::Recorder;
use crate::recovery::Unfinished;
use crate::tables::{Going, JobRow, Tables};
use message::{Pending, Query};

/// Messages in one batch at most, so that one frame stays small.
const MAX_BATCH: usize = 4_096;
/// How long a batch waits for company when nothing in it is urgent. A thousand workers that only report
/// progress then share the cost of waking this thread and of syncing the journal. Something urgent that arrives
/// meanwhile waits as long, so this stays well below the 20 ms within which an idle cluster is to start a job.
const LINGER: Duration = Duration::from_millis(5);
/// No message is added to a batch of so many bytes: with the largest message a frame stays readable.
const MAX_BATCH_BYTES: usize = 64 << 20;
/// Questions get so much time between two batches; those that are left over come after the next.
const QUESTION_TIME: Duration = Duration::from_millis(5);
/// A wait that took so much longer than asked means that the process stood still.
const STALL: Duration = Duration::from_secs(1);
/// How long ticks wait after that, for the reports under way to arrive.
const STALL_GRACE: Span = Span::from_secs(2);

/// After this process stood still, for so long nothing is concluded from silence or from closed connections: workers
/// gave up theirs, and try again after up to ten seconds.
const STALL_DOUBT: Span = Span::from_secs(15);

/// How much a batch holds.
#[derive(Default)]
struct BatchSize {
    n: usize,
    bytes: usize,
}

impl BatchSize {
    fn is_full(&self) -> bool {
        self.n >= MAX_BATCH || self.bytes >= MAX_BATCH_BYTES
    }
}

/// The core and everything that its thread owns.
pub(crate) struct Engine {
    recorder: Recorder,
    tables: Tables,
    clock: Clock,
    inbox: Receiver<Message>,
    out: Outbox,
    /// Who learns from finished tasks.
    feed: Feed,
    /// What came while the journal could not be written, and comes only once: that a job's output is promoted, or its history
    /// written. There is one of each for a job at most.
    deferred: VecDeque<Message>,
    /// No tick before this.
    tick_from: Time,
    /// Silences before this say nothing of workers.
    trust_from: Time,
    /// Connections that closed before this may have been closed from here.
    trust_closings_from: Time,
    stopping: bool,
    /// When and what of the journal is let go.
    compaction: Compaction,
    /// Of workers that reduces cannot fetch from.
    complaints: fetch_complaints::Complaints,
    /// Whether the batch being collected holds nothing but progress.
    lingers: bool,
    // Buffers of the current batch, kept for their memory.
    inputs: Vec<Input>,
    recorded: Vec<v1::JournalInput>,
    effects: Vec<Effect>,
    pending: Vec<Pending>,
    queries: VecDeque<Query>,
}

impl Engine {
    /// `last` is the time of the last batch that is recorded already; zero for a new run.
    pub(crate) fn new(
        recorder: Recorder,
        tables: Tables,
        inbox: Receiver<Message>,
        out: Outbox,
        feed: Feed,
        last: Time,
        compaction: Compaction,
    ) -> Engine {
        let clock = Clock::after(last);
        // Workers that were known before this process started have yet to find it.
        let trust_from = if tables.workers.is_empty() { Time::ZERO } else { clock.read() + STALL_DOUBT };
        Engine {
            recorder,
            tables,
            clock,
            inbox,
            out,
            feed,
            deferred: VecDeque::new(),
            tick_from: Time::ZERO,
            trust_from,
            // Whoever has found this process and closes the connection is gone.
            trust_closings_from: Time::ZERO,
            stopping: false,
            compaction,
            complaints: fetch_complaints::Complaints::default(),
            lingers: false,
            inputs: Vec::new(),
            recorded: Vec::new(),
            effects: Vec::new(),
            pending: Vec::new(),
            queries: VecDeque::new(),
        }
    }

    /// Runs until a message says stop.
    ///
    /// # Errors
    /// When the journal cannot be written: nothing may leave any more then.
    pub(crate) fn run(mut self) -> Result<(), JournalError> {
        while !self.stopping {
            // Questions that are left over wait for reports, and not for the next message.
            let first = if self.queries.is_empty() { self.wait() } else { None };
            let started = Instant::now();
            let mut size = BatchSize::default();
            let mut drained = self.drain(first, &mut size);
            if self.lingers && drained {
                std::thread::sleep(LINGER);
                drained = self.drain(None, &mut size);
            }
            self.lingers = false;
            let now = self.clock.stamp();
            if drained && self.is_due(now) {
                self.inputs.push(Input::Tick);
                self.recorded.push((&Input::Tick).into());
            }
            if !self.inputs.is_empty() {
                self.batch(now)?;
            }
            self.see_to_histories();
            self.answer_queries();
            self.compact_if_due()?;
            if started.elapsed() > STALL {
                self.stalled();
            }
        }
        // Parked heartbeats end with their workers, what was handed out is finished first.
        let Engine { recorder, mut tables, inbox, out, .. } = self;
        tables.workers.clear();
        drop(inbox);
        out.finish(&tables);
        recorder.close()
    }

    /// After a restart: clocks start again, a policy named anew takes over, and what was under way goes on.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub(crate) fn recover(&mut self, unfinished: &Unfinished) -> Result<(), JournalError> {
        self.record(Input::Recovered);
        self.tables.recovered();
        if let Some(choice) = &unfinished.scheduler {
            self.record(Input::SetScheduler(Box::new(choice.clone())));
        }
        let now = self.clock.stamp();
        self.batch(now)?;
        for &job in &unfinished.promotions {
            self.out.commit(&self.tables, job);
        }
        self.tables.histories_found(&unfinished.histories);
        for &job in &unfinished.histories {
            self.out.job_changed(&self.tables, job);
        }
        Ok(())
    }

    /// Starts of a master of this cluster before this one.
    pub(crate) fn epoch(&self) -> u32 {
        self.recorder.tracker().state().epoch()
    }

    /// Jobs that are over leave the memory as their histories are on disk.
    fn see_to_histories(&mut self) {
        let gone = self.tables.retire();
        self.out.see_to_histories(&self.tables, gone);
    }

    /// Takes what the inbox holds, after `first`; false when there may be more than the batch can hold.
    fn drain(&mut self, first: Option<Message>, size: &mut BatchSize) -> bool {
        let mut next = first;
        loop {
            if size.is_full() {
                return false;
            }
            let Some(message) = next.or_else(|| self.inbox.try_recv().ok()) else { return true };
            size.n += 1;
            size.bytes += message.bytes();
            self.take(message);
            next = None;
        }
    }

    fn is_due(&self, now: Time) -> bool {
        now >= self.tick_from && self.recorder.tracker().next_deadline().is_some_and(|deadline| deadline <= now)
    }

    /// The next message, or `None` when a deadline has come.
    fn wait(&mut self) -> Option<Message> {
        if let Some(message) = self.deferred.pop_front() {
            return Some(message);
        }
        let deadline = self.recorder.tracker().next_deadline().map(|deadline| deadline.max(self.tick_from));
        let Some(deadline) = deadline else { return self.inbox.recv().ok() };
        // At least a little, so that a deadline that a tick does not move cannot spin the thread.
        let wait = self.clock.until(deadline).clamp(Duration::from_micros(50), Duration::from_secs(3_600));
        let started = Instant::now();
        let message = match self.inbox.recv_timeout(wait) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.stopping = true;
                None
            }
        };
        if started.elapsed() > wait + STALL {
            self.stalled();
        }
        message
    }

    fn stalled(&mut self) {
        self.tick_from = self.clock.read() + STALL_GRACE;
        self.trust_from = self.clock.read() + STALL_DOUBT;
        self.trust_closings_from = self.trust_from;
        tracing::warn!("the master stood still for more than a second; expiries wait for late reports");
    }

    fn take(&mut self, message: Message) {
        // Only a batch of nothing but progress may wait.
        let is_first = self.inputs.is_empty() && self.pending.is_empty() && self.queries.is_empty();
        let is_progress = matches!(&message, Message::Beat(beat) if beat.is_progress());
        self.lingers = is_progress && (is_first || self.lingers);
        match message {
            Message::Beat(beat) => self.take_beat(*beat),
            Message::Register { request, from, reply } => self.take_registration(*request, from, reply),
            Message::Submit { jobs } => {
                for (NewJob { meta, .. }, reply) in jobs {
                    let input = Input::Submit { job: meta.id, spec: std::sync::Arc::new(meta.file.spec.clone()) };
                    self.pending.push(Pending::Submit { job: meta.id, meta: Some(Box::new(meta)), reply });
                    self.record(input);
                }
            }
            Message::Request { input, reply } => {
                if let Input::Goodbye { worker, incarnation } = input {
                    self.tables.goes(worker, incarnation, Going::Stopped);
                }
                self.pending.push(Pending::Request { reply });
                self.record(input);
            }
            Message::Committed { job, gone, .. } if !gone.is_empty() => {
                self.record(Input::OutputGone { job, attempts: gone.into() });
            }
            Message::Committed { job, problem, .. } => {
                let ok = problem.is_none();
                let committed = v1::JournalCommitted { job: job.0, ok, problem: problem.clone().unwrap_or_default() };
                self.recorded.push(v1::JournalInput { kind: Some(v1::journal_input::Kind::Committed(committed)) });
                self.inputs.push(Input::JobCommitted { job, ok });
                if let Some(row) = self.tables.jobs.get_mut(&job) {
                    row.commit_problem = problem;
                }
            }
            Message::History { job, problem } => {
                if self.out.history_over(job, problem.is_none()) {
                    self.tables.history_written(job);
                }
                self.tables.history_problem = problem;
            }
            Message::Reach { worker, incarnation, problem } => self.take_reach(worker, incarnation, problem),
            Message::Unreached(unreached) => self.take_unreached(unreached),
            Message::Query(query) => self.queries.push_back(query),
            Message::Change(change) => change(&mut self.tables),
            Message::Closed { connection } => self.connection_closed(connection),
            Message::Look => self.look(),
            Message::Stop => self.stopping = true,
        }
    }

    fn record(&mut self, input: Input) {
        self.recorded.push((&input).into());
        self.inputs.push(input);
    }

    fn take_beat(&mut self, beat: Beat) {
        let Beat { mut request, mut report, extras, pages, warnings, connection, refusal, reply, .. } = beat;
        if let Some(row) = self.tables.workers.get_mut(report.worker.0 as usize)
            && row.incarnation == report.incarnation
            && row.is_overtaken(request.sequence)
        {
            // The worker's newer report is here already; the call of this one ends with its reply.
            return;
        }
        for job in self.tables.unseen(&report, &extras, self.clock.read()) {
            self.record(Input::CannotServe { worker: report.worker, job });
        }
        if self.is_cut_off(&report) {
            self.move_its_reduces(&mut report, &mut request);
        } else {
            self.take_fetch_complaints(&report);
        }
        self.tables.report(&report, extras, pages, self.clock.read());
        let row = self.tables.workers.get_mut(report.worker.0 as usize);
        match row.filter(|row| row.incarnation == report.incarnation) {
            // A newer report of the same worker takes the place of a parked one.
            Some(row) => {
                row.waiting = Some(reply);
                row.presence.note_heartbeat(connection, refusal);
                if let Some((version, warnings)) = warnings {
                    row.warn(version, warnings);
                }
            }
            // The core answers neither unknown workers nor earlier runs of a worker: its answers go to the present run.
            None => self.pending.push(Pending::Unknown { worker: report.worker, reply }),
        }
        self.recorded.push(v1::JournalInput { kind: Some(v1::journal_input::Kind::Report(request)) });
        self.inputs.push(Input::Report(report));
    }

    fn take_registration(&mut self, request: v1::RegisterRequest, from: Caller, reply: message::RegisterReply) {
        let worker = self.tables.number(&request.name);
        if let Err(max) = self.tables.has_room_for(worker) {
            let _ = reply.send(Err(CoreError::TooManyWorkers(max)));
            return;
        }
        match howdah_proto::convert::registration(worker, &request) {
            Ok(registration) => {
                if let Some(taken) = self.name_taken(worker, &request, from) {
                    let _ = reply.send(Err(taken));
                    return;
                }
                // The core will refuse it; the row and the waiting heartbeat of the present run must stay.
                let stale = self.is_stale(worker, request.incarnation);
                // As it came: the core has no use for addresses, but people and workers do after a restart.
                let register = v1::JournalRegister { worker: worker.0, request: Some(request.clone()) };
                self.recorded.push(v1::JournalInput { kind: Some(v1::journal_input::Kind::Register(register)) });
                self.inputs.push(Input::Register(Box::new(registration)));
                if !stale {
                    self.tables.register(worker, request, from.connection, self.clock.read());
                    if self.tables.worker(worker).is_some_and(|row| row.presence.drained) {
                        self.record(Input::Drain { worker, drain: true });
                    }
                }
                self.pending.push(Pending::Register { worker, stale, reply });
            }
            Err(e) => drop(reply.send(Err(CoreError::Malformed(e)))),
        }
    }

    fn batch(&mut self, now: Time) -> Result<(), JournalError> {
        self.effects.clear();
        self.recorder.apply(now, &self.inputs, &mut self.recorded, &mut self.effects);
        self.tables.noted(self.recorder.take_notes(), now);
        let silent = self.effects.is_empty() && self.pending.is_empty();
        let kept = if silent { self.recorder.write() } else { self.recorder.sync() };
        if let Err(error) = kept {
            if !Guard::JournalTrouble.stands() {
                return Err(error);
            }
            self.wait_for_journal(error)?;
        }
        self.deliver(now);
        Ok(())
    }

    /// Lets the effects of a batch go; its frame is on disk.
    fn deliver(&mut self, now: Time) {
        let mut rejections: Vec<(Option<WorkerId>, Rejection)> = Vec::new();
        self.enter_jobs(now);
        self.take_changes();
        let effects = std::mem::take(&mut self.effects);
        self.feed.follow(now, &effects, self.recorder.tracker().state(), &self.tables);
        for effect in &effects {
            self.log(effect, now);
            self.tables.observe(effect, now);
            match *effect {
                Effect::Answer { worker, response_id, interval_ms } => {
                    self.answer(worker, response_id, interval_ms);
                }
                Effect::CommitJob { job } => self.out.commit(&self.tables, job),
                Effect::AbortJob { job } => self.out.abort(&self.tables, job),
                Effect::Rejected { worker, why } => rejections.push((worker, why)),
                _ => {
                    if let Some((worker, directive)) = howdah_proto::convert::directive(effect)
                        && let Some(row) = self.tables.workers.get_mut(worker.0 as usize)
                    {
                        row.directives.push(directive);
                    }
                }
            }
        }
        self.effects = effects;
        self.confirm(&rejections);
        self.tables.take_costs(self.recorder.tracker().state());
        for job in self.tables.announce() {
            self.out.job_changed(&self.tables, job);
        }
    }

    /// Rows for the batch's submissions, before the effects that speak of them.
    fn enter_jobs(&mut self, now: Time) {
        let refused: Vec<JobId> = self
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Rejected { why: Rejection::JobOutOfOrder(job) | Rejection::MalformedJob(job), .. } => {
                    Some(*job)
                }
                _ => None,
            })
            .collect();
        for pending in &mut self.pending {
            if let Pending::Submit { job, meta, .. } = pending
                && !refused.contains(job)
                && let Some(meta) = meta.take()
            {
                self.tables.submit(*job, JobRow::new(*meta, now));
            }
        }
    }

    /// What clients changed of jobs: questions that come before it is on disk see what was.
    fn take_changes(&mut self) {
        for input in self.inputs.drain(..) {
            match input {
                Input::SetPriority { job, priority } => self.tables.set_priority(job, priority),
                Input::SetQueue { job, queue } => self.tables.set_queue(job, &queue),
                _ => {}
            }
        }
    }

    fn answer(&mut self, worker: WorkerId, response_id: u32, interval_ms: u32) {
        let Some(row) = self.tables.workers.get_mut(worker.0 as usize) else { return };
        let directives = std::mem::take(&mut row.directives);
        let (prefetch, retain) = (std::mem::take(&mut row.prefetch), std::mem::take(&mut row.retain));
        row.presence.set_interval(interval_ms);
        if let Some(reply) = row.waiting.take() {
            // A worker that hung up reports again and gets the same answer.
            let answer =
                v1::HeartbeatResponse { response_id, interval_ms, directives, prefetch, retain, ..Default::default() };
            let _ = reply.send(answer);
        }
    }

    /// Tells those who asked for something what became of it.
    fn confirm(&mut self, rejections: &[(Option<WorkerId>, Rejection)]) {
        for (worker, why) in rejections {
            tracing::debug!(?worker, ?why, "rejected an input");
        }
        // Only of those who registered.
        let keep = |worker: WorkerId| {
            let kept = self.effects.iter().filter_map(|effect| match *effect {
                Effect::OutputKept { attempt, worker: its } if its == worker => Some(attempt),
                _ => None,
            });
            Registered { worker, keep: kept.collect() }
        };
        let refused =
            |wanted: &dyn Fn(&Rejection) -> bool| rejections.iter().map(|(_, why)| *why).find(|why| wanted(why));
        for pending in self.pending.drain(..) {
            match pending {
                Pending::Unknown { worker, reply } => {
                    // Never registered here, or with a master before this one: it is to start over.
                    let reinit = v1::directive::Kind::Reinit(v1::Reinit {});
                    let directives = vec![v1::Directive { kind: Some(reinit) }];
                    tracing::debug!(worker = worker.0, "an unknown worker reports; it is told to register");
                    let _ = reply.send(v1::HeartbeatResponse {
                        response_id: 0,
                        interval_ms: 1_000,
                        directives,
                        ..Default::default()
                    });
                }
                Pending::Register { worker, stale, reply } => {
                    // A stale report in the same batch is rejected with the same words, hence the flag.
                    let stale = stale.then_some(Rejection::StaleIncarnation(worker));
                    let is_mine = |why: &Rejection| matches!(why, Rejection::WorkerOutOfOrder(w) if *w == worker);
                    let why = stale.or_else(|| refused(&is_mine));
                    let answer = why.map_or_else(|| Ok(keep(worker)), |why| Err(CoreError::Rejected(why)));
                    let _ = reply.send(answer);
                }
                Pending::Submit { job, reply, .. } => {
                    let is_mine = |why: &Rejection| matches!(why, Rejection::JobOutOfOrder(j) | Rejection::MalformedJob(j) if *j == job);
                    let _ = reply.send(refused(&is_mine).map_or(Ok(()), |why| Err(CoreError::Rejected(why))));
                }
                Pending::Request { reply } => drop(reply.send(Ok(()))),
            }
        }
    }

    /// What questions see.
    fn view(&self) -> View<'_> {
        View { tracker: self.recorder.tracker(), tables: &self.tables, now: self.clock.read() }
    }

    fn answer_queries(&mut self) {
        let started = Instant::now();
        while let Some(query) = self.queries.pop_front() {
            query(&self.view());
            if started.elapsed() > QUESTION_TIME {
                return;
            }
        }
    }
}
