//! The worker's HTTP server: map output for reduces, logs for people.
//!
//! ```text
//! GET /shuffle/<job>/<map attempt>/<partition>     with the job's token in x-howdah-token
//! GET /logs/<attempt>/<stdout|stderr|syslog>?tail=<bytes>    or ?from=<bytes that the reader has>
//! ```
//!
//! A request names ids, never a path: paths are made from the parsed ids.

use std::io::SeekFrom;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path as UrlPath, RawQuery, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::routing::get;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use crate::directory::Directory;
use crate::jobs::Jobs;
use crate::logs::{FILES, Logs, Piece, parse_attempt};
use crate::plain;

/// Read in pieces of this size; a transfer holds one at a time.
const PIECE_BYTES: usize = 128 << 10;

#[derive(Clone, Debug)]
pub(crate) struct FileServerState {
    pub(crate) directory: Directory,
    pub(crate) logs: Arc<Logs>,
    pub(crate) jobs: Jobs,
}

pub(crate) fn router(files: FileServerState) -> Router {
    Router::new()
        .route("/shuffle/{job}/{attempt}/{partition}", get(shuffle))
        .route("/logs/{attempt}/{file}", get(logs))
        .with_state(files)
}

type Answer = Result<Response<Body>, (StatusCode, String)>;

fn no(code: StatusCode, text: impl Into<String>) -> (StatusCode, String) {
    (code, text.into() + "\n")
}

async fn shuffle(
    State(files): State<FileServerState>,
    UrlPath((job, attempt, partition)): UrlPath<(String, String, u32)>,
    headers: HeaderMap,
) -> Answer {
    let token = headers.get("x-howdah-token").and_then(|value| value.to_str().ok()).unwrap_or("");
    let file = files.jobs.get(&job).ok_or_else(|| no(StatusCode::NOT_FOUND, format!("no job `{job}` here")))?;
    if !same(token.as_bytes(), file.token.as_bytes()) {
        return Err(no(StatusCode::FORBIDDEN, format!("wrong token for job `{job}`")));
    }
    let Some((cluster, id)) = parse_attempt(&attempt).filter(|(cluster, id)| cluster.job(id.job) == job) else {
        return Err(no(StatusCode::BAD_REQUEST, format!("`{attempt}` is no attempt of job `{job}`")));
    };
    let directory = files.directory.local(cluster, id);
    let (index, data) = (directory.join("file.out.index"), directory.join("file.out"));
    let place = tokio::task::spawn_blocking(move || howdah_task::find_segment(&index, partition)).await;
    let place = place.map_err(|error| no(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let place = place.map_err(|error| no(StatusCode::NOT_FOUND, format!("no output of `{attempt}`: {error}")))?;
    let data =
        open(data).await.map_err(|error| no(StatusCode::NOT_FOUND, format!("no output of `{attempt}`: {error}")))?;
    range(data, place.offset, place.length).await
}

async fn logs(
    State(files): State<FileServerState>,
    UrlPath((attempt, file)): UrlPath<(String, String)>,
    RawQuery(query): RawQuery,
) -> Answer {
    let Some((cluster, id)) = parse_attempt(&attempt) else {
        return Err(no(StatusCode::BAD_REQUEST, format!("`{attempt}` is no attempt id")));
    };
    let Some(which) = FILES.iter().position(|name| *name == file) else {
        return Err(no(StatusCode::NOT_FOUND, format!("no log `{file}`, expected stdout, stderr or syslog")));
    };
    let asked = |key: &str| query.as_deref()?.strip_prefix(key)?.parse::<u64>().ok();
    let read = tokio::task::spawn_blocking(move || files.logs.read(cluster, id, which)).await;
    let read = read.map_err(|error| no(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let log = read.map_err(|_| no(StatusCode::NOT_FOUND, format!("no `{file}` of `{attempt}` here")))?;
    let length = log.length();
    let skipped = match (asked("from="), asked("tail=").unwrap_or(0)) {
        (Some(from), _) => from.min(length),
        (None, 0) => 0,
        (None, tail) => length.saturating_sub(tail),
    };
    let mut body: Pin<Box<dyn AsyncRead + Send>> = Box::pin(tokio::io::empty());
    for piece in log.after(skipped).pieces {
        body = match piece {
            Piece::Bytes { file, offset, length } => Box::pin(body.chain(part(file.into(), offset, length).await?)),
            Piece::Said(text) => Box::pin(body.chain(std::io::Cursor::new(text))),
        };
    }
    answer(body, length - skipped)
}

/// A file that a task may have replaced.
async fn open(path: PathBuf) -> std::io::Result<tokio::fs::File> {
    let opened = tokio::task::spawn_blocking(move || plain::open(&path)).await;
    opened.map_err(std::io::Error::other)?.map(tokio::fs::File::from_std)
}

async fn range(file: tokio::fs::File, offset: u64, length: u64) -> Answer {
    answer(part(file, offset, length).await?, length)
}

type Part = tokio::io::Take<tokio::fs::File>;

async fn part(mut file: tokio::fs::File, offset: u64, length: u64) -> Result<Part, (StatusCode, String)> {
    let gone = |error: std::io::Error| no(StatusCode::NOT_FOUND, error.to_string());
    file.seek(SeekFrom::Start(offset)).await.map_err(gone)?;
    Ok(file.take(length))
}

fn answer(body: impl AsyncRead + Send + 'static, length: u64) -> Answer {
    let stream = ReaderStream::with_capacity(body, PIECE_BYTES);
    Response::builder()
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .header(header::CONTENT_LENGTH, length)
        .body(Body::from_stream(stream))
        .map_err(|error| no(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// Takes as long for a wrong token as for the right one.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (x, y)| different | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_attempt_ids_become_paths() {
        assert!(parse_attempt("attempt_202611201200_0001_m_000005_0").is_some());
        assert!(parse_attempt("attempt_202611201200000001_0001_m_000005_0").is_some());
        for text in ["attempt_../etc", "attempt_1_1_m_1_0", "attempt__0001_m_000001_0", "attempt_1_0001_m_000001_0/.."]
        {
            assert!(parse_attempt(text).is_none(), "{text}");
        }
    }
}
