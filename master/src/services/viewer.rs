//! Whoever submits and looks at the output that the master has just made.
//!
//! A path means on every machine what that machine has there. An output on the disk of whoever submits would be made on the
//! master's instead, and the job would fail, or succeed where nobody looks. So a file with a text that no other has is shown in
//! the output, and a client to which the output's folder is another one says so: nothing of the job is left then. What lies in
//! an HDFS or in a bucket has one address for all. Who cannot look, as a program of another language, submits without.

use std::time::Duration;

use howdah_proto::v1;
use howdah_proto::v1::submit_news::News;
use howdah_proto::v1::submit_step::Step;
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use super::silence::answered;
use super::{SharedRef, own_machine, status};
use crate::commit::{self, Output};
use crate::random::token;

/// Outputs that are looked at a time: each is a job in memory that waits for its client. Above that nothing is shown.
pub(crate) const VIEWS: usize = 256;
/// A client that looks gives up sooner.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) type Answer = Result<v1::SubmitNews, Status>;

/// Whoever submits and looks.
pub(super) struct Viewer {
    send: mpsc::Sender<Answer>,
    steps: Streaming<v1::SubmitStep>,
}

pub(super) fn late(what: &str) -> Status {
    Status::deadline_exceeded(format!("the client sent nothing for {} s, expected {what}", PATIENCE.as_secs()))
}

impl Viewer {
    pub(super) fn new(send: mpsc::Sender<Answer>, steps: Streaming<v1::SubmitStep>) -> Viewer {
        Viewer { send, steps }
    }

    /// Shows an output that was just made, and waits for the verdict.
    ///
    /// # Errors
    /// Where the job must not enter.
    pub(super) async fn show(self, shared: &SharedRef, output: &Output) -> Result<(), Status> {
        let Ok(_turn) = shared.views.try_acquire() else { return Ok(()) };
        let text = token().map_err(|error| status::internal("read random bytes", error))?;
        let (place, shown) = (output.clone(), text.clone());
        let path =
            answered(output.directory(), move || commit::show(&place, &shown), drop).await?.map_err(|error| {
                let directory = output.directory().display();
                Status::invalid_argument(format!("output directory `{directory}` cannot be written: {error}"))
            })?;
        let shown = v1::Shown { path: path.display().to_string(), text, host: own_machine::name() };
        self.ask(shared, shown).await?;
        let place = output.clone();
        if let Err(error) = answered(output.directory(), move || commit::unshow(&place), drop).await? {
            tracing::warn!(path = %path.display(), %error, "what was shown to a client is left");
        }
        Ok(())
    }

    async fn ask(mut self, shared: &SharedRef, shown: v1::Shown) -> Result<(), Status> {
        let gone = || Status::cancelled("the client went away before it said whether it sees the output");
        let news = v1::SubmitNews { news: Some(News::Shown(shown)) };
        self.send.send(Ok(news)).await.map_err(|_| gone())?;
        let step = tokio::select! {
            step = tokio::time::timeout(PATIENCE, self.steps.message()) => step.map_err(|_| late("a verdict"))?,
            () = shared.closing.cancelled() => {
                return Err(Status::unavailable("the master is stopping and takes no new jobs"));
            }
        };
        match step.ok().flatten().and_then(|step| step.step) {
            Some(Step::Verdict(v1::ShownVerdict { enter: true })) => Ok(()),
            Some(Step::Verdict(_)) => Err(Status::cancelled("the client sees another folder in the output's place")),
            Some(_) => Err(Status::invalid_argument("a second job in one submission, expected a verdict")),
            None => Err(gone()),
        }
    }
}
