//! How a daemon is told to stop: first gracefully, then at once.
//!
//! Both daemons take a [`Stop`]; the command cancels `drain` on SIGTERM or the first SIGINT and `now` on the
//! second. Cancelling `now` alone is enough: a daemon that waits for `drain` also watches `now`.

use std::pin::Pin;

use tokio_util::sync::CancellationToken;

/// A daemon that runs. Boxed, so that all of it is compiled with its own crate, and not anew with each that starts it.
pub type Running<E> = Pin<Box<dyn Future<Output = Result<(), E>> + Send>>;

/// The two wishes to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Finish what is under way, then return.
    pub drain: CancellationToken,
    /// Return at once.
    pub now: CancellationToken,
}

impl Stop {
    /// Neither wish expressed yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Resolves with the first of the two wishes.
    pub async fn any(&self) {
        self.drain.run_until_cancelled(self.now.cancelled()).await;
    }

    /// Whether either wish was expressed.
    pub fn is_wanted(&self) -> bool {
        self.drain.is_cancelled() || self.now.is_cancelled()
    }
}
