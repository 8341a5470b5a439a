//! A fetcher: a thread that gets segments over HTTP, checks them, and puts them into memory or onto disk.

use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use howdah_core::job::quantity::Millis;
use howdah_guards::Guard;

use super::memory::Budget;
use crate::api::error::{TaskError, chain};
use crate::api::properties::Properties;
use crate::segment::{Run, SegmentChecker, SegmentPlace};
use crate::umbilical::TaskSpec;

/// Tries before a fetch counts as failed, and the wait before each further one.
const WAITS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];
/// A try that took longer than this is not repeated before the failure is reported: somebody does not answer.
const LONG_TRY: Duration = Duration::from_secs(1);
/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// A fetcher's stack: it calls nothing deep.
const STACK_BYTES: usize = 256 * 1024;

/// One map output to fetch.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    /// Who fetches it.
    pub(crate) fetcher: usize,
    pub(crate) map: u32,
    pub(crate) attempt: String,
    pub(crate) address: String,
}

/// What became of it.
pub(crate) struct Fetched {
    pub(crate) fetch: Fetch,
    pub(crate) place: Result<Place, FetchError>,
}

/// Where a fetched segment is.
pub(crate) enum Place {
    Memory { bytes: Vec<u8>, records: u64 },
    Disk(Run),
}

/// Why there is none.
#[derive(Debug)]
pub(crate) enum FetchError {
    /// The map's output could not be had: the map's or the network's fault.
    Failed(String),
    /// It could not be stored: this attempt's fault.
    Unusable(TaskError),
}

/// How long a fetcher waits for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) connect: Duration,
    /// For an answer to begin, and then for each piece of it.
    pub(crate) idle: Duration,
}

impl Patience {
    /// `Deviation:` Hadoop waits three minutes for either.
    pub(crate) fn of(properties: &Properties) -> Result<Patience, TaskError> {
        let expected = "a number of milliseconds from 1";
        let ms = |key, default: u64| properties.parse_or(&[key], Millis(default), expected).map(|ms| ms.0.max(1));
        Ok(Patience {
            connect: Duration::from_millis(ms("mapreduce.reduce.shuffle.connect.timeout", 10_000)?),
            idle: Duration::from_millis(ms("mapreduce.reduce.shuffle.read.timeout", 30_000)?),
        })
    }
}

/// Wakes the deciding thread.
pub(crate) struct Wake(UnixStream);

impl Wake {
    pub(crate) fn pair() -> Result<(UnixStream, Wake), TaskError> {
        let fail = |e: std::io::Error| TaskError::Umbilical(format!("a socket pair for fetchers: {e}"));
        let (read, write) = UnixStream::pair().map_err(fail)?;
        read.set_nonblocking(true).map_err(fail)?;
        write.set_nonblocking(true).map_err(fail)?;
        Ok((read, Wake(write)))
    }

    pub(crate) fn try_clone(&self) -> Result<Wake, TaskError> {
        let clone = self.0.try_clone();
        clone.map(Wake).map_err(|e| TaskError::Umbilical(format!("a socket pair for fetchers: {e}")))
    }

    /// Wakes. A full pipe is as good: it is read before anything else.
    fn wake(&self) {
        let _ = (&self.0).write(&[1]);
    }

    /// Reads what woke.
    pub(crate) fn drain(mut read: &UnixStream) {
        let mut bytes = [0; 256];
        while matches!(read.read(&mut bytes), Ok(n) if n == bytes.len()) {}
    }
}

/// The deciding thread's handle on a fetcher. The thread ends when this is dropped.
pub(crate) struct Fetcher {
    pub(crate) busy: bool,
    jobs: Sender<Fetch>,
}

/// What all fetchers of a reduce share, and where they report.
pub(crate) struct Ends {
    pub(crate) budget: Arc<Budget>,
    /// Bytes that have come, of all fetchers.
    pub(crate) moved: Arc<AtomicU64>,
    pub(crate) results: Sender<Fetched>,
    pub(crate) wake: Wake,
}

impl Fetcher {
    pub(crate) fn start(number: usize, spec: &TaskSpec, patience: Patience, ends: Ends) -> Result<Fetcher, TaskError> {
        let (jobs, incoming) = channel();
        let within = |span: Duration| Guard::FetchDeadlines.stands().then_some(span);
        let agent = ureq::Agent::config_builder()
            .timeout_connect(within(patience.connect))
            .timeout_recv_response(within(patience.idle))
            .timeout_per_read(within(patience.idle))
            .timeout_per_write(within(patience.idle))
            .proxy(None)
            .build()
            .new_agent();
        let worker = Thread {
            agent,
            job: spec.job.clone(),
            partition: spec.index,
            token: spec.token.clone(),
            dir: spec.local_dir.clone(),
            ends,
        };
        std::thread::Builder::new()
            .name(format!("fetch-{number}"))
            .stack_size(STACK_BYTES)
            .spawn(move || worker.run(&incoming))
            .map_err(|e| TaskError::Umbilical(format!("start a fetcher: {e}")))?;
        Ok(Fetcher { busy: false, jobs })
    }

    pub(crate) fn give(&mut self, fetch: Fetch) -> Result<(), TaskError> {
        self.busy = true;
        self.jobs.send(fetch).map_err(|_| TaskError::Umbilical("a fetcher thread is gone".to_owned()))
    }
}

struct Thread {
    agent: ureq::Agent,
    job: String,
    partition: u32,
    token: String,
    dir: PathBuf,
    ends: Ends,
}

impl Thread {
    fn run(&self, incoming: &Receiver<Fetch>) {
        while let Ok(fetch) = incoming.recv() {
            let place = self.try_fetch(&fetch);
            if self.ends.results.send(Fetched { fetch, place }).is_err() {
                return;
            }
            self.ends.wake.wake();
        }
    }

    fn try_fetch(&self, fetch: &Fetch) -> Result<Place, FetchError> {
        let mut waits = WAITS.iter();
        loop {
            let began = Instant::now();
            match self.fetch(fetch) {
                Err(FetchError::Failed(message)) => match waits.next().filter(|_| began.elapsed() < LONG_TRY) {
                    Some(&wait) => std::thread::sleep(wait),
                    None => return Err(FetchError::Failed(message)),
                },
                done => return done,
            }
        }
    }

    fn fetch(&self, fetch: &Fetch) -> Result<Place, FetchError> {
        let url = format!("http://{}/shuffle/{}/{}/{}", fetch.address, self.job, fetch.attempt, self.partition);
        let failed = |error: &dyn std::fmt::Display| FetchError::Failed(format!("get {url}: {error}"));
        if fetch.address.parse::<SocketAddr>().is_err() {
            // The worker turns names into addresses; the client would load the machine's name service for one.
            return Err(failed(&"this worker knows no address of that host"));
        }
        let response = self.agent.get(&url).header("x-howdah-token", &self.token).call();
        let mut response = response.map_err(|error| failed(&error))?;
        let length = response.headers().get("content-length").and_then(|value| value.to_str().ok());
        let Some(length) = length.and_then(|text| text.parse::<u64>().ok()) else {
            return Err(failed(&"expected a `content-length`, found none"));
        };
        let checker = SegmentChecker::new(format!("map output {url}"));
        let mut body = response.body_mut().as_reader();
        if self.ends.budget.suits(length) {
            self.fetch_to_memory(&mut body, length as usize, checker, &url)
        } else {
            self.fetch_to_disk(&mut body, length, checker, fetch.map, &url)
        }
    }

    fn fetch_to_memory(
        &self,
        body: &mut impl Read,
        length: usize,
        mut checker: SegmentChecker,
        url: &str,
    ) -> Result<Place, FetchError> {
        if !self.ends.budget.take(length, || self.ends.wake.wake()) {
            self.ends.budget.release(length);
            return Err(FetchError::Failed("the attempt is over".to_owned()));
        }
        let mut bytes = vec![0; length];
        let mut have = 0;
        let all = || -> Result<u64, String> {
            while have < length {
                let end = length.min(have + CHUNK_BYTES);
                let n = body.read(&mut bytes[have..end]).map_err(|e| e.to_string())?;
                if n == 0 {
                    return Err(format!("expected {length} bytes, found {have}"));
                }
                checker.feed(&bytes[have..have + n]).map_err(|e| chain(&e))?;
                have += n;
                self.ends.moved.fetch_add(n as u64, Ordering::Relaxed);
            }
            checker.finish().map_err(|e| chain(&e))
        };
        match all() {
            Ok(records) => Ok(Place::Memory { bytes, records }),
            Err(detail) => {
                self.ends.budget.release(length);
                Err(FetchError::Failed(format!("get {url}: {detail}")))
            }
        }
    }

    fn fetch_to_disk(
        &self,
        body: &mut impl Read,
        length: u64,
        mut checker: SegmentChecker,
        map: u32,
        url: &str,
    ) -> Result<Place, FetchError> {
        let path = self.dir.join(format!("map-{map:06}.segment"));
        let unusable = |action: &str, e| FetchError::Unusable(TaskError::io(action, &path)(e));
        let failed = |detail: String| FetchError::Failed(format!("get {url}: {detail}"));
        let mut file = File::create(&path).map_err(|e| unusable("create", e))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut have = 0;
        while have < length {
            let n = body.read(&mut chunk).map_err(|e| failed(e.to_string()))?;
            if n == 0 {
                return Err(failed(format!("expected {length} bytes, found {have}")));
            }
            checker.feed(&chunk[..n]).map_err(|e| failed(chain(&e)))?;
            file.write_all(&chunk[..n]).map_err(|e| unusable("write", e))?;
            have += n as u64;
            self.ends.moved.fetch_add(n as u64, Ordering::Relaxed);
        }
        let records = checker.finish().map_err(|e| failed(chain(&e)))?;
        Ok(Place::Disk(Run { path, places: vec![SegmentPlace { offset: 0, length, records }], bytes: length }))
    }
}
