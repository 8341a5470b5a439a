//! How the rest of the master talks to the core's thread.

use std::time::Duration;

use crossbeam_channel::{Sender, TrySendError};
use howdah_core::job::{AttemptId, JobId};
use howdah_core::tracker::Input;
use howdah_proto::v1;
use tokio::sync::oneshot;

use super::{Caller, CoreError, Message, NewJob, Registered, View};
use crate::tables::Tables;

/// How long a sender waits for room in the inbox.
const FULL_WAITS: u32 = 2_500;
const FULL_WAIT: Duration = Duration::from_millis(2);

/// Sends messages to the core's thread.
#[derive(Clone, Debug)]
pub(crate) struct CoreHandle {
    inbox: Sender<Message>,
}

impl CoreHandle {
    pub(crate) fn new(inbox: Sender<Message>) -> CoreHandle {
        CoreHandle { inbox }
    }

    /// Waits for room without blocking the thread.
    pub(crate) async fn send(&self, message: Message) -> Result<(), CoreError> {
        let mut message = message;
        for _ in 0..FULL_WAITS {
            message = match self.inbox.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(CoreError::Stopped),
                Err(TrySendError::Full(message)) => message,
            };
            tokio::time::sleep(FULL_WAIT).await;
        }
        Err(CoreError::Full)
    }

    /// Looks at the settled state.
    pub(crate) async fn ask<T, F>(&self, question: F) -> Result<T, CoreError>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> T + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let query = move |view: &View<'_>| {
            let _ = reply.send(question(view));
        };
        self.send(Message::Query(Box::new(query))).await?;
        answer.await.map_err(|_| CoreError::Stopped)
    }

    /// Hands in an input and waits until it is on disk and applied.
    pub(crate) async fn request(&self, input: Input) -> Result<(), CoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Request { input, reply }).await?;
        answer.await.map_err(|_| CoreError::Stopped)?
    }

    /// Hands in jobs in the order of their numbers, which share a frame; says of each whether the core took it. Only one that is
    /// [`Unanswered`](CoreError::Unanswered) may be in the journal without having been taken.
    pub(crate) async fn submit(&self, new: Vec<NewJob>) -> Vec<Result<(), CoreError>> {
        let (replies, answers): (Vec<_>, Vec<_>) = new.iter().map(|_| oneshot::channel()).unzip();
        if let Err(error) = self.send(Message::Submit { jobs: new.into_iter().zip(replies).collect() }).await {
            return answers.into_iter().map(|_| Err(error.clone())).collect();
        }
        let mut taken = Vec::with_capacity(answers.len());
        for answer in answers {
            taken.push(answer.await.unwrap_or(Err(CoreError::Unanswered)));
        }
        taken
    }

    /// Changes what only people see.
    pub(crate) async fn change<T, F>(&self, change: F) -> Result<T, CoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tables) -> T + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let change = move |tables: &mut Tables| {
            let _ = reply.send(change(tables));
        };
        self.send(Message::Change(Box::new(change))).await?;
        answer.await.map_err(|_| CoreError::Stopped)
    }

    pub(crate) async fn register(&self, request: v1::RegisterRequest, from: Caller) -> Result<Registered, CoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Register { request: Box::new(request), from, reply }).await?;
        answer.await.map_err(|_| CoreError::Stopped)?
    }

    /// From a blocking thread: a job's output was promoted or not, perhaps since that of these winners is `gone`.
    pub(crate) fn committed_blocking(&self, job: JobId, problem: Option<String>, gone: Vec<AttemptId>) {
        // Nobody listens when the master is stopping; the promotion may be repeated after a restart.
        let _ = self.inbox.send(Message::Committed { job, problem, gone });
    }

    /// From a blocking thread: a job's history is on disk, or `problem` says why not.
    pub(crate) fn history_blocking(&self, job: JobId, problem: Option<String>) {
        // Nobody listens when the master is stopping; the next start looks what is there.
        let _ = self.inbox.send(Message::History { job, problem });
    }

    /// Ends the core's thread after the batch under way.
    pub(crate) async fn stop(&self) {
        let _ = self.send(Message::Stop).await;
    }
}
