//! The connections to a daemon: who has how many, which are idle, and which closed.
//!
//! A process has a bounded number of file descriptors, and the journal or attempts need some of them. So there is a bound on
//! connections in all and from one address; beyond it the one that has been idle longest is closed. Connections that
//! carry workers or a stream under way are never closed for others, and one over which nothing was asked within seconds
//! is closed in any case. When a connection that carried workers ends, the owner of the book is notified.
//!
//! Over HTTP a connection is in use while its peer takes bytes of answers: whoever asks and then reads nothing is idle, too.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use howdah_guards::Guard;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio_util::sync::CancellationToken;

/// A connection carries its first request within this.
const FIRST_REQUEST: Duration = Duration::from_secs(10);
/// An answer over HTTP may pause for this long before its connection is idle.
const PAUSE: Duration = Duration::from_secs(1);
/// Bound where nobody says how many descriptors there are.
const UNKNOWN: u64 = 1_024;

/// What shows that a connection is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests, which are noted by [`Peer::used`].
    Calls,
    /// Bytes that its peer takes.
    Http,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    address: IpAddr,
    kind: Kind,
    opened: Instant,
    /// Whether any byte came.
    heard: AtomicBool,
    /// Milliseconds after `opened` at which it was used last; 0 for never.
    used_ms: AtomicU64,
    /// Streams under way.
    streams: AtomicU32,
    carries_worker: AtomicBool,
    close: CancellationToken,
}

/// How willingly a connection is closed for others: by how far it came, and since when it is idle.
type Idle = (u8, Instant);

/// A connection as requests know it.
#[derive(Clone, Debug)]
pub struct Peer(Arc<Connection>);

/// A stream under way; the connection is not idle meanwhile.
#[derive(Debug)]
pub struct Streaming(Arc<Connection>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Peer {
    /// Differs from that of every other connection; never 0.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Where it comes from.
    pub fn address(&self) -> IpAddr {
        self.0.address
    }

    /// A worker speaks through it.
    pub fn carries_worker(&self) {
        if !self.0.carries_worker.swap(true, Ordering::Relaxed) {
            self.used();
        }
    }

    /// A stream begins, and ends when the answer is dropped.
    pub fn streams(&self) -> Streaming {
        self.0.streams.fetch_add(1, Ordering::Relaxed);
        Streaming(Arc::clone(&self.0))
    }

    /// It is in use now.
    pub fn used(&self) {
        let ms = self.0.opened.elapsed().as_millis() as u64;
        self.0.used_ms.store(ms.max(1), Ordering::Relaxed);
    }

    /// Bytes came from it.
    pub(crate) fn heard(&self) {
        self.0.heard.store(true, Ordering::Relaxed);
    }

    /// It took bytes.
    pub(crate) fn took(&self) {
        if self.0.kind == Kind::Http {
            self.used();
        }
    }

    /// Cancelled when it is to be closed.
    pub(crate) fn close(&self) -> &CancellationToken {
        &self.0.close
    }
}

impl Connection {
    /// If it may be closed for others: those that never asked go first, then those that wait for their first answer, then the
    /// one that has been idle longest.
    fn idle_since(&self) -> Option<Idle> {
        let busy = self.carries_worker.load(Ordering::Relaxed) || self.streams.load(Ordering::Relaxed) > 0;
        let used_ms = self.used_ms.load(Ordering::Relaxed);
        if busy {
            None
        } else if used_ms == 0 {
            let asked = self.kind == Kind::Http && self.heard.load(Ordering::Relaxed);
            Some((u8::from(asked), self.opened))
        } else {
            let last = self.opened + Duration::from_millis(used_ms);
            (self.kind == Kind::Calls || last.elapsed() >= PAUSE).then_some((2, last))
        }
    }

    fn is_mute(&self) -> bool {
        let asked = match self.kind {
            Kind::Calls => self.used_ms.load(Ordering::Relaxed) > 0,
            Kind::Http => self.heard.load(Ordering::Relaxed),
        };
        !asked && self.opened.elapsed() > FIRST_REQUEST
    }
}

/// How many files this process may have open.
pub fn descriptors() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(UNKNOWN, |(soft, _)| soft)
}

/// Raises the process's soft limit of file descriptors to the hard one; returns what holds.
pub fn raise_descriptors() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return UNKNOWN };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft }
}

/// Those that are open, and how many each address has: an attack opens thousands.
#[derive(Debug, Default)]
struct Open {
    connections: BTreeMap<u64, Arc<Connection>>,
    of_address: BTreeMap<IpAddr, usize>,
}

impl Open {
    fn insert(&mut self, connection: &Arc<Connection>) {
        self.connections.insert(connection.number, Arc::clone(connection));
        *self.of_address.entry(connection.address).or_default() += 1;
    }

    fn remove(&mut self, connection: &Connection) {
        let removed = self.connections.remove(&connection.number);
        if let Some(count) = self.of_address.get_mut(&connection.address).filter(|_| removed.is_some()) {
            *count -= 1;
            if *count == 0 {
                self.of_address.remove(&connection.address);
            }
        }
    }
}

/// What is told of a connection that carried workers and is gone: its number.
type Closed = Box<dyn Fn(u64) + Send + Sync>;

/// All connections.
pub struct Book {
    open: Mutex<Open>,
    next: AtomicU64,
    most: usize,
    most_of_one: usize,
    closed: Closed,
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book").field("most", &self.most).field("most_of_one", &self.most_of_one).finish_non_exhaustive()
    }
}

impl Book {
    /// For so many connections in all and from one address; 0 from one address is half of them. `closed` is called with the
    /// number of a connection that carried workers and is gone.
    pub fn new(most: u64, most_of_one: u64, closed: impl Fn(u64) + Send + Sync + 'static) -> Arc<Book> {
        let of_one = if most_of_one == 0 { most / 2 } else { most_of_one };
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).max(1);
        let (most, most_of_one) = (count(most), count(of_one.min(most)));
        Arc::new(Book { open: Mutex::default(), next: AtomicU64::new(1), most, most_of_one, closed: Box::new(closed) })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a connection, in the place of an idle one if there are too many; `None` when all are in use.
    pub(crate) fn admit(&self, kind: Kind, address: IpAddr) -> Option<Peer> {
        let mut open = self.open();
        let of_one = open.of_address.get(&address).copied().unwrap_or(0);
        let crowded = |other: &Arc<Connection>| of_one < self.most_of_one || other.address == address;
        let is_full = open.connections.len() >= self.most || of_one >= self.most_of_one;
        if is_full && Guard::Connections.stands() {
            let others = open.connections.values().filter(|other| crowded(other));
            let idle = others.filter_map(|other| Some((other.idle_since()?, other)));
            let longest = idle.min_by_key(|&(since, _)| since).map(|(_, other)| Arc::clone(other))?;
            longest.close.cancel();
            open.remove(&longest);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            number,
            address,
            kind,
            opened: Instant::now(),
            heard: AtomicBool::new(false),
            used_ms: AtomicU64::new(0),
            streams: AtomicU32::new(0),
            carries_worker: AtomicBool::new(false),
            close: CancellationToken::new(),
        });
        open.insert(&connection);
        Some(Peer(connection))
    }

    /// Closes those over which nothing was asked in time.
    pub(crate) fn sweep(&self) {
        if !Guard::Connections.stands() {
            return;
        }
        self.open().connections.values().filter(|connection| connection.is_mute()).for_each(|mute| mute.close.cancel());
    }

    pub(crate) fn closed(&self, peer: &Peer) {
        let connection = &peer.0;
        self.open().remove(connection);
        // Who says goodbye in HTTP/2 is hung up on by this end, without an end of its bytes having been seen: whatever
        // the reason, a connection that is no more and that was not closed for others counts.
        if connection.carries_worker.load(Ordering::Relaxed) && !connection.close.is_cancelled() {
            (self.closed)(connection.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(most: u64, most_of_one: u64) -> Arc<Book> {
        Book::new(most, most_of_one, |_| ())
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    fn closed(peer: &Peer) -> bool {
        peer.0.close.is_cancelled()
    }

    /// As if it had been used last so long ago.
    fn long_ago(peer: &Peer) -> Peer {
        let old = &peer.0;
        let connection = Connection {
            number: old.number,
            address: old.address,
            kind: old.kind,
            opened: Instant::now().checked_sub(Duration::from_secs(60)).expect("the machine runs for a minute"),
            heard: AtomicBool::new(old.heard.load(Ordering::Relaxed)),
            used_ms: AtomicU64::new(old.used_ms.load(Ordering::Relaxed)),
            streams: AtomicU32::new(0),
            carries_worker: AtomicBool::new(false),
            close: old.close.clone(),
        };
        Peer(Arc::new(connection))
    }

    #[test]
    fn the_longest_idle_connection_of_a_crowding_peer_makes_room() {
        let book = book(10, 3);
        let admit = |last| book.admit(Kind::Calls, address(last));
        let other = admit(2).unwrap();
        let peers: Vec<Peer> = (0..3).map(|_| admit(1).unwrap()).collect();
        peers[0].carries_worker();
        peers[1].used();
        let stream = peers[1].streams();
        let newcomer = admit(1).unwrap();
        newcomer.used();
        assert_eq!(peers.iter().map(closed).collect::<Vec<_>>(), [false, false, true]);
        assert!(!closed(&other), "another's connections are not in the way");
        drop(stream);
        assert!(admit(1).is_some() && closed(&peers[1]));
        assert!(!closed(&peers[0]), "a worker's connection stays");
    }

    #[test]
    fn a_peer_whose_connections_are_all_in_use_gets_no_more() {
        let book = book(10, 1);
        let peer = book.admit(Kind::Calls, address(1)).unwrap();
        peer.carries_worker();
        assert!(book.admit(Kind::Calls, address(1)).is_none());
        assert!(book.admit(Kind::Http, address(2)).is_some());
    }

    #[test]
    fn over_http_who_asked_nothing_goes_before_who_waits_and_who_takes_bytes_stays() {
        let book = book(3, 3);
        let admit = || book.admit(Kind::Http, address(1)).unwrap();
        let (takes, waits, silent) = (admit(), admit(), admit());
        [&takes, &waits].into_iter().for_each(Peer::heard);
        takes.took();
        let newcomer = admit();
        assert_eq!([&takes, &waits, &silent].map(closed), [false, false, true]);
        newcomer.heard();
        newcomer.took();
        admit();
        assert_eq!([&takes, &waits, &newcomer].map(closed), [false, true, false], "the others just took bytes");
    }

    #[test]
    fn over_http_who_stops_taking_bytes_is_idle_after_a_pause() {
        let book = book(1, 1);
        let peer = book.admit(Kind::Http, address(1)).unwrap();
        peer.heard();
        peer.took();
        assert!(book.admit(Kind::Http, address(1)).is_none(), "it takes bytes");
        assert!(long_ago(&peer).0.idle_since().is_some());
    }

    #[test]
    fn a_connection_that_asks_nothing_is_mute_whatever_it_carries() {
        let book = book(9, 9);
        let [calls, http] = [Kind::Calls, Kind::Http].map(|kind| book.admit(kind, address(1)).unwrap());
        let mute = || [&calls, &http].map(|peer| long_ago(peer).0.is_mute());
        assert_eq!(mute(), [true, true]);
        [&calls, &http].into_iter().for_each(Peer::heard);
        assert_eq!(mute(), [true, false], "bytes of a call may be half of its request");
        calls.used();
        assert_eq!(mute(), [false, false]);
    }
}
