//! The thread that remembers and simulates.
//!
//! It keeps the history of finished tasks, in a file of the master's directory, so that a restart knows what was learnt
//! before; tells each finished task's time before it learns it, and keeps the score; and answers requests with forecasts,
//! which it holds against the ends that come, so that the intervals of later ones hold what they state.
//! After each it rests three times as long as it worked: a quarter of a core at most, however many ask.

pub(super) use super::message::Message;
pub(crate) use super::message::{Ask, Coverage, ForecastAnswer};

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use howdah_planning::prediction::{
    Changes, ChangesError, EndWatch, Fallback, Forecast, ForecastOptions, Learned, ModelName, RunningScore,
    TaskHistory, TaskPredictor, forecast,
};
use tokio::sync::oneshot;

use super::feed::Feed;
use super::inbox::Inbox;

/// Name of the history's file.
const FILE: &str = "task-history.json";
/// A larger file is not one of ours.
const MOST_BYTES: u64 = 256 << 20;
/// Requests that may wait; each holds a fork of the state.
const WAITING: usize = 64;
/// How often finished tasks are learnt if nobody asks.
const LEARN_EVERY: Duration = Duration::from_secs(1);
/// How often what was learnt is written.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// Rest after each forecast, in times of its length.
const REST: u32 = 3;
/// Longest rest.
const LONGEST_REST: Duration = Duration::from_secs(10);

/// Asks the thread.
#[derive(Clone, Debug)]
pub(crate) struct PredictionHandle {
    send: Sender<Message>,
}

/// The thread is gone, or has too much to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    #[error("the prediction thread has too much to do")]
    Full,
    #[error("the master is stopping")]
    Stopped,
    #[error(transparent)]
    Changes(#[from] ChangesError),
}

impl PredictionHandle {
    /// Waits for a forecast.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<ForecastAnswer, AskError> {
        let (reply, answer) = oneshot::channel();
        self.send.try_send(Message::Ask { ask: Box::new(ask), reply }).map_err(|_| AskError::Full)?;
        Ok(answer.await.map_err(|_| AskError::Stopped)??)
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
}

impl Thread {
    fn new(path: PathBuf, inbox: Arc<Inbox>, model: ModelName) -> Thread {
        let history = read(&path).unwrap_or_else(|e| {
            tracing::warn!("what was learnt of task times is lost: {e:#}");
            TaskHistory::default()
        });
        let judged = RunningScore::of(model);
        Thread { path, model, history, inbox, changed: false, judged, watch: EndWatch::default() }
    }

    fn run(mut self, receive: &Receiver<Message>) {
        let mut write_at = Instant::now() + WRITE_EVERY;
        let mut rests_until = Instant::now();
        let mut waiting = VecDeque::new();
        loop {
            let now = Instant::now();
            let wake_at = if waiting.is_empty() { now + LEARN_EVERY } else { rests_until.min(now + LEARN_EVERY) };
            let message = receive.recv_timeout(wake_at.saturating_duration_since(now));
            self.learn();
            match message {
                Ok(Message::Ask { ask, reply }) => waiting.push_back((ask, reply)),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return self.write(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= rests_until
                && let Some((ask, reply)) = waiting.pop_front()
            {
                let started = Instant::now();
                // Whoever hung up meanwhile needs no answer.
                if !reply.is_closed() {
                    let result = self.tell(&ask);
                    let _ = reply.send(result);
                }
                rests_until = Instant::now() + (started.elapsed() * REST).min(LONGEST_REST);
            }
            if Instant::now() >= write_at {
                self.write();
                write_at = Instant::now() + WRITE_EVERY;
            }
        }
    }

    /// Judges what would have been predicted of each task that has ended, then learns it.
    fn learn(&mut self) {
        for learned in self.inbox.take() {
            match &learned {
                Learned::Task { attempt, class, sample } => {
                    self.judged.judge(&self.history, class, sample);
                    self.watch.task_ended(*attempt, sample.time, &mut self.history);
                }
                Learned::End(job, succeeded) => self.watch.ended(*job, *succeeded, &mut self.history),
                Learned::Phase { .. } | Learned::Commit(_) => {}
            }
            learned.put_into(&mut self.history);
            self.changed = true;
        }
    }

    fn tell(&mut self, ask: &Ask) -> Result<ForecastAnswer, ChangesError> {
        let started = Instant::now();
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
        }
        Ok(ForecastAnswer {
            present,
            others,
            took: started.elapsed(),
            learnt: self.history.seen(),
            score: self.judged.score(),
            unseen: self.judged.unseen(),
            coverage: Coverage { tasks: self.judged.coverage(), ends: self.watch.scores().clone() },
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
    use howdah_core::time::Span;
    use howdah_planning::prediction::{Class, Part, Sample};

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
}
