//! One attempt's log file, fetched from the worker that has it.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use howdah_core::tracker::WorkerState;
use howdah_guards::Guard;
use howdah_proto::{names, v1};
use tokio::sync::{Semaphore, mpsc};
use tonic::Status;

use super::{SharedRef, status};
use crate::history::{AttemptHistory, find_history, read_excerpt};

const FILES: [&str; 3] = ["stdout", "stderr", "syslog"];
const CHUNK_BYTES: usize = 64 << 10;
/// Connecting, and waiting for the answer to begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// A reader takes the next part within this.
const READER_PATIENCE: Duration = Duration::from_secs(30);
/// Files that are read at a time; each holds a thread, and jobs need threads too.
const LOGS: usize = 64;
/// A whole file; a worker that hangs in the middle must not hold a thread for ever.
const TRANSFER: Duration = Duration::from_secs(600);

/// Turns to read logs.
pub(crate) fn turns() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(if Guard::LogReaders.stands() { LOGS } else { Semaphore::MAX_PERMITS }))
}

pub(super) type Chunks = mpsc::Receiver<Result<v1::LogChunk, Status>>;

/// Where the log is and what is left of it if it is not.
struct Place {
    worker: String,
    /// Empty when the worker is not known to this master.
    address: String,
    lost: bool,
    stderr_tail: String,
}

/// Streams the file from the worker; what the master kept of it when the worker is gone.
pub(super) async fn get(shared: &SharedRef, request: v1::GetLogRequest) -> Result<Chunks, Status> {
    let v1::GetLogRequest { attempt, file, tail_bytes, from_byte } = request;
    if !FILES.contains(&file.as_str()) {
        return Err(Status::invalid_argument(format!("log file `{file}`: expected stdout, stderr or syslog")));
    }
    let place = find(shared, &attempt).await?;
    let (send, receive) = mpsc::channel(4);
    let address = match place.address.as_str() {
        "" => Err("its address is not known".to_owned()),
        // The HTTP client is given an address: it would ask the name service in this process.
        address => names::sockets(address, 0).await.map(|found| found[0]).map_err(|error| error.to_string()),
    };
    // Readers that take nothing hold up other readers, and nothing else.
    let turn = tokio::time::timeout(PATIENCE + READER_PATIENCE, Arc::clone(&shared.logs).acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        return Err(Status::resource_exhausted(format!("{LOGS} log files are read at a time already; try again")));
    };
    let work = move || {
        let _turn = turn;
        let part = if from_byte > 0 { format!("from={from_byte}") } else { format!("tail={tail_bytes}") };
        let fetched = address
            .map_err(Fetch::Away)
            .and_then(|address| fetch(&format!("http://{address}/logs/{attempt}/{file}?{part}"), &send));
        match fetched {
            Ok(()) => {}
            Err(Fetch::Gone) => {
                let message = format!("{attempt}: worker `{}` has no file {file} of it any more", place.worker);
                put(&send, Err(Status::not_found(message)));
            }
            // A reader that follows the file has the beginning; what the master kept is no continuation of it.
            Err(Fetch::Away(problem)) if from_byte > 0 => {
                let message = format!("{attempt}: worker `{}` cannot be reached: {problem}", place.worker);
                let _ = send.blocking_send(Err(Status::unavailable(message)));
            }
            Err(Fetch::Away(problem)) => fall_back(&place, &attempt, &file, &problem, &send),
        }
    };
    tokio::task::spawn_blocking(work);
    Ok(receive)
}

/// Finds the attempt in memory or in the history.
async fn find(shared: &SharedRef, text: &str) -> Result<Place, Status> {
    let attempt = shared.cluster.parse_attempt(text).map_err(|e| status::id(&e))?;
    let look = move |view: &crate::engine::View<'_>| {
        let record = view.tables.jobs.get(&attempt.job)?.attempt(attempt)?;
        Some((record.worker.to_string(), record.end.as_ref().map_or_else(String::new, |end| end.stderr_tail.clone())))
    };
    let known = shared.questions.ask(look).await.map_err(status::core)?;
    let (worker, stderr_tail) = match known {
        Some(found) => found,
        None => {
            let path = find_history(&shared.run_dir, shared.cluster, attempt.job);
            let wanted = text.to_owned();
            let search = move || {
                let mut found = None;
                let look = |one: AttemptHistory| {
                    if one.attempt == wanted {
                        found = Some((one.worker, one.stderr_tail));
                    }
                };
                read_excerpt(&path?, 0..usize::MAX, look).ok()?;
                found
            };
            let found = tokio::task::spawn_blocking(search).await.map_err(|e| status::internal("read history", e))?;
            found.ok_or_else(|| Status::not_found(format!("attempt `{text}` is not known here")))?
        }
    };
    let name = worker.clone();
    let address = move |view: &crate::engine::View<'_>| {
        let row = view.tables.worker(view.tables.worker_named(&name)?)?;
        Some((row.http_address.to_string(), row.state == WorkerState::Lost))
    };
    let (address, lost) = shared.questions.ask(address).await.map_err(status::core)?.unwrap_or_default();
    Ok(Place { worker, address, lost, stderr_tail })
}

/// Hands a part on; false when the reader is gone, or takes nothing for too long: it holds this thread meanwhile.
fn put(send: &mpsc::Sender<Result<v1::LogChunk, Status>>, part: Result<v1::LogChunk, Status>) -> bool {
    let patience = if Guard::LogReaders.stands() { READER_PATIENCE } else { Duration::MAX };
    let sent = async { tokio::time::timeout(patience, send.send(part)).await };
    matches!(tokio::runtime::Handle::current().block_on(sent), Ok(Ok(())))
}

enum Fetch {
    /// The worker answers that it has no such file.
    Gone,
    /// The worker does not answer.
    Away(String),
}

fn fetch(url: &str, send: &mpsc::Sender<Result<v1::LogChunk, Status>>) -> Result<(), Fetch> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_recv_body(Some(TRANSFER))
        .http_status_as_error(false)
        .build()
        .into();
    let mut response = agent.get(url).call().map_err(|e| Fetch::Away(e.to_string()))?;
    match response.status().as_u16() {
        200 => {}
        404 => return Err(Fetch::Gone),
        other => return Err(Fetch::Away(format!("it answers with HTTP status {other}"))),
    }
    let mut body = response.body_mut().as_reader();
    let mut sent_any = false;
    loop {
        let mut data = vec![0; CHUNK_BYTES];
        match body.read(&mut data) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                data.truncate(n);
                sent_any = true;
                if !put(send, Ok(v1::LogChunk { data })) {
                    return Ok(());
                }
            }
            Err(e) if sent_any => {
                put(send, Err(Status::unavailable(format!("the log broke off: {e}"))));
                return Ok(());
            }
            Err(e) => return Err(Fetch::Away(e.to_string())),
        }
    }
}

/// The worker is away: what the master kept, or a clear error.
fn fall_back(
    place: &Place,
    attempt: &str,
    file: &str,
    problem: &str,
    send: &mpsc::Sender<Result<v1::LogChunk, Status>>,
) {
    let state = if place.lost { "is lost" } else { "cannot be reached" };
    let message = format!("{attempt}: worker `{}` {state}: {problem}", place.worker);
    if file == "stderr" && !place.stderr_tail.is_empty() {
        let text = format!("[{message}; these last lines were kept by the master]\n{}", place.stderr_tail);
        put(send, Ok(v1::LogChunk { data: text.into_bytes() }));
        return;
    }
    let help = "the file is in userlogs under the worker's directory; it can be read again when the worker is back";
    put(send, Err(Status::unavailable(status::with_help(message, help))));
}
