//! The connections to the master: who has how many, which are idle, and which closed.
//!
//! A process has a bounded number of file descriptors, and the journal needs some of them. So there is a bound on
//! connections in all and from one address; beyond it the one that has been idle longest is closed. Connections that
//! carry workers or a request under way are never closed for others, and one that has carried no request within seconds
//! is closed in any case. When a connection that carried workers ends, the core's thread is notified.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use howdah_guards::Guard;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::transport::server::Connected;
use tonic::{Request, Status};

use crate::config::Limits;
use crate::engine::{CoreHandle, Message};

/// A connection carries its first request within this.
const FIRST_REQUEST: Duration = Duration::from_secs(10);
/// Between two looks for those that did not.
const SWEEP_EVERY: Duration = Duration::from_secs(2);
/// After an accept that failed, usually for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Between two lines of the log about refused connections.
const LOG_EVERY: Duration = Duration::from_secs(60);
/// Descriptors that connections never get: journal, job files, histories, promotions, logs that are read.
const RESERVED: u64 = 256;
/// Bound where nobody says how many descriptors there are.
const UNKNOWN: u64 = 1_024;

#[derive(Debug)]
struct Connection {
    number: u64,
    address: IpAddr,
    opened: Instant,
    /// Milliseconds after `opened` at which its last request came; 0 for none.
    used_ms: AtomicU64,
    /// Streams under way.
    streams: AtomicU32,
    carries_worker: AtomicBool,
    close: CancellationToken,
}

/// A connection as requests know it.
#[derive(Clone, Debug)]
pub(crate) struct Peer(Arc<Connection>);

/// A stream under way; the connection is not idle meanwhile.
#[derive(Debug)]
pub(crate) struct Streaming(Arc<Connection>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Peer {
    /// Differs from that of every other connection; never 0.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.0.address
    }

    /// A worker speaks through it.
    pub(crate) fn carries_worker(&self) {
        if !self.0.carries_worker.swap(true, Ordering::Relaxed) {
            self.used();
        }
    }

    /// A stream begins, and ends when the answer is dropped.
    pub(crate) fn streams(&self) -> Streaming {
        self.0.streams.fetch_add(1, Ordering::Relaxed);
        Streaming(Arc::clone(&self.0))
    }

    fn used(&self) {
        let ms = self.0.opened.elapsed().as_millis() as u64;
        self.0.used_ms.store(ms.max(1), Ordering::Relaxed);
    }
}

impl Connection {
    /// Whether it ever carried a request and when the last came, if it may be closed for others: the least goes first.
    fn idle_since(&self) -> Option<(bool, Instant)> {
        let busy = self.carries_worker.load(Ordering::Relaxed) || self.streams.load(Ordering::Relaxed) > 0;
        let used_ms = self.used_ms.load(Ordering::Relaxed);
        (!busy).then(|| (used_ms > 0, self.opened + Duration::from_millis(used_ms)))
    }

    fn is_mute(&self) -> bool {
        self.used_ms.load(Ordering::Relaxed) == 0 && self.opened.elapsed() > FIRST_REQUEST
    }
}

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

/// Raises the process's soft limit of file descriptors to the hard one; returns what holds.
pub(crate) fn raise_descriptors() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return UNKNOWN };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft }
}

/// All connections.
#[derive(Debug)]
pub(crate) struct Book {
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
    next: AtomicU64,
    most: usize,
    most_of_one: usize,
    core: CoreHandle,
}

impl Book {
    pub(crate) fn new(limits: &Limits, descriptors: u64, core: CoreHandle) -> Arc<Book> {
        let (most, most_of_one) = bounds(limits, descriptors);
        Arc::new(Book { open: Mutex::default(), next: AtomicU64::new(1), most, most_of_one, core })
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a connection, in the place of an idle one if there are too many; `None` when all are in use.
    fn admit(&self, address: IpAddr) -> Option<Peer> {
        let mut open = self.open();
        let of_one = open.values().filter(|other| other.address == address).count();
        let crowded = |other: &Arc<Connection>| of_one < self.most_of_one || other.address == address;
        let is_full = open.len() >= self.most || of_one >= self.most_of_one;
        if is_full && Guard::Connections.stands() {
            let idle =
                open.values().filter(|other| crowded(other)).filter_map(|other| Some((other.idle_since()?, other)));
            let longest = idle.min_by_key(|&(since, _)| since).map(|(_, other)| Arc::clone(other))?;
            longest.close.cancel();
            open.remove(&longest.number);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            number,
            address,
            opened: Instant::now(),
            used_ms: AtomicU64::new(0),
            streams: AtomicU32::new(0),
            carries_worker: AtomicBool::new(false),
            close: CancellationToken::new(),
        });
        open.insert(number, Arc::clone(&connection));
        Some(Peer(connection))
    }

    /// Closes those that carried no request in time.
    fn sweep(&self) {
        if !Guard::Connections.stands() {
            return;
        }
        self.open().values().filter(|connection| connection.is_mute()).for_each(|mute| mute.close.cancel());
    }

    fn closed(&self, peer: &Peer) {
        let connection = &peer.0;
        self.open().remove(&connection.number);
        // Who says goodbye in HTTP/2 is hung up on by this end, without an end of its bytes having been seen: whatever
        // the reason, a connection that is no more and that was not closed for others counts.
        let tell = connection.carries_worker.load(Ordering::Relaxed) && !connection.close.is_cancelled();
        // Without a runtime the master is about to end.
        if let (true, Ok(runtime)) = (tell, tokio::runtime::Handle::try_current()) {
            let (core, connection) = (self.core.clone(), connection.number);
            runtime.spawn(async move { core.send(Message::Closed { connection }).await });
        }
    }
}

/// Connections in all and from one address.
fn bounds(limits: &Limits, descriptors: u64) -> (usize, usize) {
    // Half at least for connections, where there are few descriptors.
    let room = descriptors.saturating_sub(RESERVED).max(descriptors / 2).max(2);
    let wanted = if limits.connections == 0 { u64::MAX } else { u64::from(limits.connections) };
    let most = wanted.min(room);
    let of_one = if limits.connections_per_peer == 0 { most / 2 } else { u64::from(limits.connections_per_peer) };
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).max(1);
    (count(most), count(of_one.min(most)))
}

/// What comes in through `listener`, within the book's bounds, until `closing`.
pub(crate) fn incoming(
    listener: TcpListener,
    book: Arc<Book>,
    closing: CancellationToken,
) -> ReceiverStream<io::Result<Tracked>> {
    let (send, receive) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut sweep = tokio::time::interval(SWEEP_EVERY);
        let mut logged: Option<Instant> = None;
        let mut log = |what: &str| {
            if logged.is_none_or(|at| at.elapsed() > LOG_EVERY) {
                logged = Some(Instant::now());
                tracing::warn!("{what}");
            }
        };
        loop {
            let accepted = tokio::select! {
                () = closing.cancelled() => return,
                _ = sweep.tick() => { book.sweep(); continue }
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, address)) => match Tracked::new(stream, address, &book) {
                    Some(tracked) => {
                        if send.send(Ok(tracked)).await.is_err() {
                            return;
                        }
                    }
                    None => log(&format!("connections from {} are refused: all are in use", address.ip())),
                },
                Err(error) => {
                    log(&format!("connections cannot be taken: {error}"));
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    });
    ReceiverStream::new(receive)
}

/// A connection's bytes.
#[derive(Debug)]
pub(crate) struct Tracked {
    stream: TcpStream,
    peer: Peer,
    book: Arc<Book>,
    close: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Tracked {
    fn new(stream: TcpStream, address: SocketAddr, book: &Arc<Book>) -> Option<Tracked> {
        let peer = book.admit(address.ip())?;
        // Answers are small and wanted at once; a socket that refuses is about to close.
        let _ = stream.set_nodelay(true);
        let close = Box::pin(peer.0.close.clone().cancelled_owned());
        Some(Tracked { stream, peer, book: Arc::clone(book), close })
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.book.closed(&self.peer);
    }
}

impl Connected for Tracked {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Tracked {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.close.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Tracked {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(most: usize, most_of_one: usize) -> Book {
        let (send, _) = crossbeam_channel::bounded(16);
        Book { open: Mutex::default(), next: AtomicU64::new(1), most, most_of_one, core: CoreHandle::new(send) }
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    #[test]
    fn the_longest_idle_connection_of_a_crowding_peer_makes_room() {
        let book = book(10, 3);
        let other = book.admit(address(2)).unwrap();
        let peers: Vec<Peer> = (0..3).map(|_| book.admit(address(1)).unwrap()).collect();
        peers[0].carries_worker();
        peers[1].used();
        let stream = peers[1].streams();
        let newcomer = book.admit(address(1)).unwrap();
        newcomer.used();
        let closed = |peer: &Peer| peer.0.close.is_cancelled();
        assert_eq!(peers.iter().map(closed).collect::<Vec<_>>(), [false, false, true]);
        assert!(!closed(&other), "another's connections are not in the way");
        drop(stream);
        assert!(book.admit(address(1)).is_some() && closed(&peers[1]));
        assert!(!closed(&peers[0]), "a worker's connection stays");
    }

    #[test]
    fn a_peer_whose_connections_are_all_in_use_gets_no_more() {
        let book = book(10, 1);
        let peer = book.admit(address(1)).unwrap();
        peer.carries_worker();
        assert!(book.admit(address(1)).is_none());
        assert!(book.admit(address(2)).is_some());
    }

    #[test]
    fn connections_leave_descriptors_for_the_journal() {
        let limits =
            |connections, connections_per_peer| Limits { connections, connections_per_peer, ..Limits::default() };
        assert_eq!(bounds(&limits(0, 0), 1_024), (768, 384));
        assert_eq!(bounds(&limits(0, 0), 100), (50, 25));
        assert_eq!(bounds(&limits(5_000, 10), 1_024), (768, 10));
        assert_eq!(bounds(&limits(4, 10), 1_024), (4, 4));
    }
}
