//! Submissions whose client looks, before the job enters, whether it sees the output that the master has made.
//!
//! A task of its own accepts the job and tells its client what there is to tell; see [`viewer`](super::viewer) for why.

use std::pin::pin;

use howdah_core::job::Split;
use howdah_proto::connections::Streaming as Stream;
use howdah_proto::v1;
use howdah_proto::v1::submit_news::News;
use howdah_proto::v1::submit_step::Step;
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use super::viewer::{Answer, PATIENCE, Viewer, late};
use super::walk::{Cancel, CancelOnDrop};
use super::{SharedRef, submit};

/// What the client begins with.
pub(super) async fn first(steps: &mut Streaming<v1::SubmitStep>) -> Result<Step, Status> {
    let step = tokio::time::timeout(PATIENCE, steps.message()).await;
    let step = step.map_err(|_| late("a job"))??.and_then(|step| step.step);
    step.ok_or_else(|| Status::invalid_argument("the submission is empty, expected a job"))
}

/// Accepts a job and gives what its client is to be told. It is a task of its own, as all submissions are.
pub(super) fn submit(
    shared: SharedRef,
    request: v1::SubmitJobRequest,
    given: Option<Vec<Split>>,
    steps: Streaming<v1::SubmitStep>,
    stream: Option<Stream>,
) -> mpsc::Receiver<Answer> {
    let (send, receive) = mpsc::channel(2);
    let viewer = Viewer::new(send.clone(), steps);
    tokio::spawn(async move {
        let (_stream, name) = (stream, request.name.clone());
        let cancel = Cancel::default();
        let listing = CancelOnDrop(cancel.clone());
        let mut submission = pin!(submit::submit(shared, request, given, cancel, Some(viewer)));
        let done = tokio::select! {
            done = &mut submission => done,
            () = send.closed() => {
                // Listing its input is given up; what was made is cleared away.
                drop(listing);
                submission.await
            }
        };
        if let Ok(job) = &done {
            tracing::info!(job, name, "accepted a job");
        }
        let _ = send.send(done.map(|job| v1::SubmitNews { news: Some(News::Job(job)) })).await;
    });
    receive
}
