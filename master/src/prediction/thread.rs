//! The thread that remembers and simulates.
//!
//! It keeps the history of finished tasks, in a file of the master's directory, so that a restart knows what was learnt
//! before; tells each task's time when it is launched, and keeps the score; and answers requests with forecasts, which it
//! holds against the ends that come, so that the intervals of later ones hold what they state.
//! After each it rests three times as long as that took, however long: forecasts take a quarter of a core at most, however many ask.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use howdah_planning::prediction::{
    Changes, ChangesError, EndWatch, Fallback, Forecast, ForecastOptions, Learned, ModelName, RunningScore, Speeds,
    StartWatch, TaskHistory, TaskPredictor, forecast,
};
use tokio::sync::oneshot;

use super::feed::Feed;
use super::inbox::Inbox;
use super::message::{Ask, AskError, Coverage, ForecastAnswer, Message, Reply};

/// Name of the history's file.
const FILE: &str = "task-history.json";
/// A larger file is not one of ours.
const MOST_BYTES: u64 = 256 << 20;
/// Requests that may wait, and as many on their way to the thread; each holds a fork of the state.
const WAITING: usize = 64;
/// How often finished tasks are learnt if nobody asks.
const LEARN_EVERY: Duration = Duration::from_secs(1);
/// How often what was learnt is written.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// Rest after each forecast, in times of its length.
const REST: u32 = 3;

/// Asks the thread.
#[derive(Clone, Debug)]
pub(crate) struct PredictionHandle {
    send: Sender<Message>,
}

impl PredictionHandle {
    /// Waits for a forecast.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<ForecastAnswer, AskError> {
        let (reply, answer) = oneshot::channel();
        self.send.try_send(Message::Ask { ask: Box::new(ask), reply }).map_err(|_| AskError::Full)?;
        answer.await.map_err(|_| AskError::Stopped)?
    }

    /// Writes what was learnt and ends the thread.
    pub(crate) fn stop(&self) {
        let _ = self.send.try_send(Message::Stop);
    }
}

/// Starts the thread over the history in a master's directory, with the model for all that is asked without one.
///
/// # Errors
/// When there can be no thread.
pub(crate) fn start(
    dir: &Path,
    model: ModelName,
) -> anyhow::Result<(PredictionHandle, Feed, std::thread::JoinHandle<()>)> {
    let (send, receive) = crossbeam_channel::bounded(WAITING);
    let inbox = Arc::<Inbox>::default();
    let (path, feed) = (dir.join(FILE), Feed::new(Arc::clone(&inbox)));
    let builder = std::thread::Builder::new().name("prediction".to_owned());
    let body = move || Thread::new(path, inbox, model).run(&receive);
    let thread = builder.spawn(body).context("start the prediction thread")?;
    Ok((PredictionHandle { send }, feed, thread))
}

struct Thread {
    path: PathBuf,
    model: ModelName,
    history: TaskHistory,
    inbox: Arc<Inbox>,
    changed: bool,
    judged: RunningScore,
    /// Forecasts of jobs that are not over.
    watch: EndWatch,
    /// The last forecast of what starts.
    starts: StartWatch,
}

impl Thread {
    fn new(path: PathBuf, inbox: Arc<Inbox>, model: ModelName) -> Thread {
        let history = read(&path).unwrap_or_else(|e| {
            tracing::warn!("what was learnt of task times is lost: {e:#}");
            TaskHistory::default()
        });
        let judged = RunningScore::of(model);
        let (watch, starts) = (EndWatch::default(), StartWatch::default());
        Thread { path, model, history, inbox, changed: false, judged, watch, starts }
    }

    fn run(mut self, receive: &Receiver<Message>) {
        let mut write_at = Instant::now() + WRITE_EVERY;
        let mut rests_until = Instant::now();
        let mut waiting: VecDeque<(Box<Ask>, Reply)> = VecDeque::new();
        loop {
            let now = Instant::now();
            let wake_at = if waiting.is_empty() { now + LEARN_EVERY } else { rests_until.min(now + LEARN_EVERY) };
            let message = receive.recv_timeout(wake_at.saturating_duration_since(now));
            self.learn();
            match message {
                Ok(Message::Ask { ask, reply }) => {
                    if waiting.len() >= WAITING {
                        // Whoever hung up waits no longer.
                        waiting.retain(|(_, reply)| !reply.is_closed());
                    }
                    if waiting.len() < WAITING {
                        waiting.push_back((ask, reply));
                    } else {
                        let _ = reply.send(Err(AskError::Full));
                    }
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return self.write(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= rests_until
                && let Some((mut ask, reply)) = waiting.pop_front()
            {
                let started = Instant::now();
                // Whoever hung up meanwhile needs no answer.
                if !reply.is_closed() {
                    let result = self.tell(&mut ask);
                    let _ = reply.send(result.map_err(AskError::from));
                }
                rests_until = Instant::now() + rest_after(started.elapsed());
            }
            if Instant::now() >= write_at {
                self.write();
                write_at = Instant::now() + WRITE_EVERY;
            }
        }
    }

    /// Predicts each task that was launched, judges what was predicted of each that has ended, then learns it.
    fn learn(&mut self) {
        for learned in self.inbox.take() {
            match &learned {
                Learned::Launch { attempt, at, class, bytes, on, worker } => {
                    self.judged.launched(&self.history, *attempt, class, *bytes, worker);
                    self.starts.started(*attempt, *at, *on);
                    continue;
                }
                Learned::Task { attempt, class, sample } => {
                    self.judged.judge(&self.history, *attempt, class, sample);
                    self.watch.task_ended(*attempt, sample.time, &mut self.history);
                }
                Learned::End(job, succeeded) => {
                    self.judged.ended(*job);
                    self.watch.ended(*job, *succeeded, &mut self.history);
                }
                Learned::Phase { .. } | Learned::Commit(_) => {}
            }
            learned.put_into(&mut self.history);
            self.changed = true;
        }
    }

    fn tell(&mut self, ask: &mut Ask) -> Result<ForecastAnswer, ChangesError> {
        let started = Instant::now();
        self.judged.at(Speeds::of(&mut ask.fork));
        let ask = &*ask;
        let chosen = ask.model.unwrap_or(self.model);
        let model = chosen.model();
        let predictor = TaskPredictor::new(&self.history, &*model, Fallback::default());
        let first = ask.fork.state().last_job() + 1;
        let application = |job: howdah_core::job::JobId| match job.0.checked_sub(first) {
            Some(thought_of) => ask.hypothetical.get(thought_of as usize).cloned().unwrap_or_default(),
            None => ask.applications.name(job),
        };
        let look = |changes: &Changes, options: &ForecastOptions| {
            forecast(ask.fork.fork(), &predictor, &application, changes, options)
        };
        let present = look(&Changes::default(), &ask.options)?;
        let others = ask.others.iter().map(|(changes, options)| look(changes, options));
        let others = others.collect::<Result<Vec<Forecast>, ChangesError>>()?;
        // Other models have other errors.
        if chosen == self.model {
            self.watch.predicted(&present);
            self.starts.predicted(&present, ask.options.starts);
        }
        Ok(ForecastAnswer {
            present,
            others,
            took: started.elapsed(),
            learnt: self.history.seen(),
            score: self.judged.score(),
            unseen: self.judged.unseen(),
            coverage: Coverage {
                tasks: self.judged.coverage(),
                ends: self.watch.scores().clone(),
                starts: self.starts.scores().clone(),
            },
        })
    }

    fn write(&mut self) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        let temporary = self.path.with_extension("json.tmp");
        let written = serde_json::to_vec(&self.history)
            .map_err(std::io::Error::from)
            .and_then(|bytes| fs::write(&temporary, bytes))
            .and_then(|()| fs::rename(&temporary, &self.path));
        if let Err(e) = written {
            tracing::warn!("cannot write `{}`: {e}", self.path.display());
        }
    }
}

/// How long nobody is answered after an answer that took so long.
fn rest_after(took: Duration) -> Duration {
    took.saturating_mul(REST)
}

/// The history in a file; an empty one if there is no file.
fn read(path: &Path) -> anyhow::Result<TaskHistory> {
    let file = match fs::File::open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(TaskHistory::default()),
        other => other.with_context(|| format!("open `{}`", path.display()))?,
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).with_context(|| format!("read `{}`", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("read `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_core::job::profile::{JobTemplate, Trace};
    use howdah_core::replay::{ReplayOptions, SimHeartbeat, SimWorker, Simulation, View, WorkersView};
    use howdah_core::time::{Span, Time};
    use howdah_planning::prediction::{Class, Heartbeats, Part, Sample};

    fn learned(ms: u64) -> Learned {
        let class = Class { application: "sleep".to_owned(), family: "nap".to_owned(), part: Part::Map };
        let attempt = howdah_core::job::AttemptId {
            job: howdah_core::job::JobId(1),
            kind: howdah_core::job::TaskKind::Map,
            index: 0,
            number: 0,
        };
        Learned::Task {
            attempt,
            class,
            sample: Sample { bytes: None, time: Span::from_ms(ms), worker: "w".to_owned(), place: None },
        }
    }

    #[test]
    fn what_was_learnt_survives_a_restart_and_a_broken_file_only_costs_what_it_held() {
        let dir = tempfile::tempdir().unwrap();
        for before in [0, 2] {
            let (handle, feed, thread) = start(dir.path(), ModelName::default()).unwrap();
            for ms in [100, 110] {
                feed.put_for_tests(learned(ms));
            }
            handle.stop();
            thread.join().unwrap();
            assert_eq!(read(&dir.path().join(FILE)).unwrap().seen(), before + 2);
        }
        fs::write(dir.path().join(FILE), "{\"classes\": 3}").unwrap();
        assert!(read(&dir.path().join(FILE)).is_err());
        assert_eq!(Thread::new(dir.path().join(FILE), Arc::default(), ModelName::default()).history.seen(), 0);
    }

    /// About a job of naps on one slot, of which the first has just begun.
    fn ask(n_maps: u32, model: Option<&str>) -> Ask {
        asked_at(1, 10, n_maps, model)
    }

    /// So many seconds after the submission of naps that take so long.
    fn asked_at(at_s: u64, nap_s: u64, n_maps: u32, model: Option<&str>) -> Ask {
        let job = JobTemplate { name: "nap".to_owned(), n_maps, map_ms: vec![nap_s * 1_000], ..JobTemplate::default() };
        // The tracker's time is that of the last thing that happened.
        let now = JobTemplate { submit_ms: at_s * 1_000, name: "next".to_owned(), n_maps: 1, ..JobTemplate::default() };
        let trace = Trace { jobs: vec![job, now], ..Trace::default() };
        let slots = SimWorker { name: "w".to_owned(), map_slots: 1, reduce_slots: 1, ..SimWorker::default() };
        let view = View::Workers(WorkersView { workers: vec![slots], ..WorkersView::default() });
        let options = ReplayOptions { view, ..ReplayOptions::default() };
        let mut run = Simulation::new(&trace, &options).expect("slots of both kinds");
        run.run_until(Time::from_ms(at_s * 1_000));
        let heartbeats = Heartbeats::Given(SimHeartbeat::default());
        Ask {
            fork: Box::new(run.tracker().fork()),
            applications: Default::default(),
            options: ForecastOptions { heartbeats, ..ForecastOptions::default() },
            model: model.map(|name| name.parse().expect("it is listed")),
            others: Vec::new(),
            hypothetical: Vec::new(),
        }
    }

    // Three naps of 20 s and one of 80 s: 35 s on average, 20 s in the middle.
    #[test]
    fn whoever_asks_without_a_model_is_answered_by_the_one_that_is_set() {
        let dir = tempfile::tempdir().unwrap();
        let end = |set: &str, asked: Option<&str>| {
            let mut thread = Thread::new(dir.path().join(FILE), Arc::default(), set.parse().expect("it is listed"));
            for s in [20, 20, 20, 80] {
                let class = Class { application: String::new(), family: "nap".to_owned(), part: Part::Map };
                let sample = Sample { bytes: None, time: Span::from_secs(s), worker: "w".to_owned(), place: None };
                thread.history.add(class, sample);
            }
            let answer = thread.tell(&mut ask(3, asked)).expect("nothing is changed");
            answer.present.jobs[0].finish.expect("within the hour").as_ms().div_ceil(1_000)
        };
        assert_eq!([end("quantile", None), end("mean", None), end("linear", None)], [60, 105, 105]);
        assert_eq!([end("quantile", Some("mean")), end("linear", Some("quantile"))], [105, 60]);
    }

    // Nothing is known of it, so that it is taken to need 10 s.
    #[test]
    fn a_task_that_is_late_by_much_is_not_about_to_end() {
        let dir = tempfile::tempdir().unwrap();
        let mut thread = Thread::new(dir.path().join(FILE), Arc::default(), ModelName::default());
        let mut end_s = |at_s| {
            let answer = thread.tell(&mut asked_at(at_s, 200, 1, None)).expect("nothing is changed");
            answer.present.jobs[0].finish.expect("within the hour").as_ms() / 1_000
        };
        assert_eq!([end_s(1), end_s(11), end_s(80)], [10, 12, 115]);
    }

    #[test]
    fn answers_take_a_quarter_of_a_core_at_most_however_long_each_takes() {
        for ms in [1, 500, 3_334, 600_000] {
            let took = Duration::from_millis(ms);
            assert!(took * 4 <= took + rest_after(took), "{took:?}");
        }
    }

    #[test]
    fn whoever_asks_next_waits_until_the_thread_has_rested() {
        let dir = tempfile::tempdir().unwrap();
        let (handle, _feed, thread) = start(dir.path(), ModelName::default()).unwrap();
        let asks = [ask(2_000, None), ask(2_000, None)];
        let asked = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let [first, second] = asks.map(|ask| handle.ask(ask));
        let (first, second) = runtime.block_on(async { tokio::join!(first, second) });
        let passed = asked.elapsed();
        handle.stop();
        thread.join().unwrap();
        let (first, second) = (first.unwrap().took, second.unwrap().took);
        assert!(passed >= first * (1 + REST) + second, "{passed:?} for {first:?} and {second:?}");
    }
}
