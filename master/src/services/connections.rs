//! The connections to the master, over gRPC and over HTTP: one book of them, so that descriptors are left for the journal.

use std::sync::Arc;

use howdah_proto::connections::{Book, Peer, Streaming};
use tonic::{Request, Status};

use crate::config::Limits;
use crate::engine::{CoreHandle, Message};

/// Descriptors that connections never get: journal, job files, histories, promotions, logs that are read.
const RESERVED: u64 = 256;

/// Notes on each request that its connection is in use.
pub(crate) fn note_use(request: Request<()>) -> Result<Request<()>, Status> {
    if let Some(peer) = request.extensions().get::<Peer>() {
        peer.used();
    }
    Ok(request)
}

/// A stream of a request of `request`'s connection, if that is known.
pub(crate) fn streaming<T>(request: &Request<T>) -> Option<Streaming> {
    request.extensions().get::<Peer>().map(Peer::streams)
}

/// A book that tells the core's thread of connections that carried workers.
pub(crate) fn book(limits: &Limits, descriptors: u64, core: CoreHandle) -> Arc<Book> {
    let (most, most_of_one) = bounds(limits, descriptors);
    Book::new(most, most_of_one, move |connection| {
        // Without a runtime the master is about to end.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let core = core.clone();
            runtime.spawn(async move { core.send(Message::Closed { connection }).await });
        }
    })
}

/// Connections in all and from one address, where 0 is for the book to say.
fn bounds(limits: &Limits, descriptors: u64) -> (u64, u64) {
    // Half at least for connections, where there are few descriptors.
    let room = descriptors.saturating_sub(RESERVED).max(descriptors / 2).max(2);
    let wanted = if limits.connections == 0 { u64::MAX } else { u64::from(limits.connections) };
    (wanted.min(room), u64::from(limits.connections_per_peer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_journal() {
        let limits =
            |connections, connections_per_peer| Limits { connections, connections_per_peer, ..Limits::default() };
        assert_eq!(bounds(&limits(0, 0), 1_024), (768, 0));
        assert_eq!(bounds(&limits(0, 0), 100), (50, 0));
        assert_eq!(bounds(&limits(5_000, 10), 1_024), (768, 10));
        assert_eq!(bounds(&limits(4, 10), 1_024), (4, 10));
    }
}
