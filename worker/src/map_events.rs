//! The map outputs of jobs with reduces on this worker, as they appear and vanish at the master.
//!
//! One stream per job fills a log; each reduce follows the log at its own pace with a thread that may block on
//! a task that is slow to read.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use howdah_core::job::{AttemptId, ClusterId, JobId};
use howdah_proto::{names, v1};
use howdah_task::umbilical::{MapEvent, ToTask};

use crate::link::Link;
use crate::process::Process;

/// Events in one message to a task.
const BATCH: usize = 1_000;

/// The logs by job.
#[derive(Default)]
pub(crate) struct MapEvents {
    jobs: HashMap<JobId, Arc<Log>>,
}

#[derive(Default)]
struct Log {
    state: Mutex<LogState>,
    grown: Condvar,
}

#[derive(Default)]
struct LogState {
    events: Vec<MapEvent>,
    /// Events received, the senseless ones included.
    known: u64,
    closed: bool,
}

impl MapEvents {
    /// Lets a reduce's process follow its job's events.
    pub(crate) fn follow(&mut self, link: &Link, cluster: ClusterId, attempt: AttemptId, process: Arc<Process>) {
        let log = self.jobs.entry(attempt.job).or_insert_with(|| {
            let log = Arc::new(Log::default());
            tokio::spawn(fill(link.clone(), cluster, attempt.job, log.clone()));
            log
        });
        let log = log.clone();
        let started = std::thread::Builder::new().name("map-events".to_owned()).stack_size(256 << 10);
        if started.spawn(move || forward(&log, attempt, &process)).is_err() {
            tracing::error!(?attempt, "no thread could be started for a reduce's map events");
        }
    }

    /// The job is over here.
    pub(crate) fn forget(&mut self, job: JobId) {
        if let Some(log) = self.jobs.remove(&job) {
            log.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
            log.grown.notify_all();
        }
    }
}

/// Workers' addresses by name as numbers, which is all that tasks can use: they ask no name service.
#[derive(Default)]
struct Numbers {
    known: HashMap<String, String>,
}

impl Numbers {
    /// Puts a number in the place of a name. A name that nobody knows stays, and the fetch says so.
    async fn resolve(&mut self, events: &mut [v1::MapEvent]) {
        for event in events {
            if event.address.is_empty() || event.address.parse::<SocketAddr>().is_ok() {
                continue;
            }
            if !self.known.contains_key(&event.address) {
                match names::sockets(&event.address, 0).await {
                    Ok(found) => drop(self.known.insert(event.address.clone(), found[0].to_string())),
                    Err(error) => tracing::warn!(address = event.address, %error, "no address of a worker"),
                }
            }
            if let Some(number) = self.known.get(&event.address) {
                event.address.clone_from(number);
            }
        }
    }
}

/// Reads the master's stream into the log, from where the log ends after each break.
async fn fill(link: Link, cluster: ClusterId, job: JobId, log: Arc<Log>) {
    let mut numbers = Numbers::default();
    loop {
        let from = {
            let state = log.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.closed {
                return;
            }
            state.known
        };
        if let Ok(mut stream) = link.map_events(job, from).await {
            while let Some(mut events) = stream.next().await {
                numbers.resolve(&mut events).await;
                let mut state = log.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.known += events.len() as u64;
                state.events.extend(events.into_iter().filter_map(|event| domain(cluster, event)));
                if state.closed {
                    return;
                }
                drop(state);
                log.grown.notify_all();
            }
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

fn domain(cluster: ClusterId, event: v1::MapEvent) -> Option<MapEvent> {
    let attempt = AttemptId::try_from(event.attempt?).ok()?;
    let address = (!event.address.is_empty()).then_some(event.address);
    Some(MapEvent { map: event.map, attempt: cluster.attempt(attempt), address, failed: event.failed })
}

fn forward(log: &Log, attempt: AttemptId, process: &Process) {
    // What comes before the attempt itself is ignored.
    process.wait_for_birth();
    let mut sent = 0;
    loop {
        let batch = {
            let mut state = log.state.lock().unwrap_or_else(PoisonError::into_inner);
            while state.events.len() == sent && !state.closed {
                // The time limit is for a reduce that ends while no events come.
                let (again, _) =
                    log.grown.wait_timeout(state, Duration::from_secs(1)).unwrap_or_else(PoisonError::into_inner);
                state = again;
                if !process.runs(attempt) {
                    return;
                }
            }
            if state.closed {
                return;
            }
            state.events[sent..].iter().take(BATCH).cloned().collect::<Vec<_>>()
        };
        sent += batch.len();
        if !process.tell(attempt, &ToTask::MapEvents { events: batch }) {
            return;
        }
    }
}
