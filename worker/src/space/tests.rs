//! Bounds on what attempts write, and who is spared when one of them has filled the disk.

use std::fs::File;
use std::io::Write;

use howdah_core::job::{TaskId, TaskKind};
use tempfile::TempDir;

use super::*;

/// Keeps the reason for which it was ended.
#[derive(Debug, Default)]
struct Failing(Mutex<String>);

impl Failing {
    fn why(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Writer for Failing {
    fn current(&self) -> Option<(ClusterId, AttemptId)> {
        Some((ClusterId(1), attempt(1)))
    }

    fn fail(&self, reason: String) {
        *self.0.lock().unwrap() = reason;
    }
}

const MAX_LOGS: u64 = 1_000;

/// A worker's disk that has so many bytes too few.
fn shared(min_free: u64) -> (Shared, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (directory, _lock) = Directory::open(&dir.path().join("worker")).unwrap();
    let bounds = Bounds { log_bytes: MAX_LOGS, min_free };
    (Shared { directory, bounds, watched: Mutex::default(), ended: Mutex::default(), lacked: Mutex::default() }, dir)
}

fn attempt(job: u32) -> AttemptId {
    TaskId { job: JobId(job), kind: TaskKind::Map, index: 0 }.attempt(0)
}

#[test]
fn logs_that_grow_past_their_bound_end_their_attempt_under_any_name() {
    let (shared, dir) = shared(0);
    let path = |n: usize| dir.path().join(format!("log-{n}"));
    let logs = Arc::new(Written::new([0, 1, 2].map(|n| File::create(path(n)).unwrap())));
    let mut file = File::options().append(true).open(path(0)).unwrap();
    std::fs::rename(path(0), dir.path().join("elsewhere")).unwrap();
    let process = Arc::new(Failing::default());
    let writer: Arc<dyn Writer> = process.clone();
    shared.watched.lock().unwrap().push(Watched { writer: Arc::downgrade(&writer), logs: Arc::downgrade(&logs) });
    file.write_all(&[b'x'; MAX_LOGS as usize]).unwrap();
    shared.look();
    assert_eq!(process.why(), "");
    file.write_all(b"y").unwrap();
    shared.look();
    assert!(process.why().contains("1001 bytes to its logs, more than 1000 (`attempt_log_bytes`"), "{}", process.why());
    drop((process, writer));
    shared.look();
    assert!(shared.watched.lock().unwrap().is_empty(), "it is gone");
}

#[test]
fn who_fails_beside_a_job_that_took_the_disk_is_spared_and_that_job_is_not() {
    let (shared, _dir) = shared(0);
    assert!(!shared.spares(ClusterId(1), attempt(1), 0));
    *shared.ended.lock().unwrap() = Some((Instant::now(), JobId(1)));
    assert!(!shared.spares(ClusterId(1), attempt(1), 0), "its own doing");
    assert!(shared.spares(ClusterId(1), attempt(2), 0));
    *shared.ended.lock().unwrap() = Instant::now().checked_sub(2 * AFTERMATH).map(|at| (at, JobId(1)));
    assert!(!shared.spares(ClusterId(1), attempt(2), 0), "that was long ago");
}

#[test]
fn a_full_disk_that_nobody_here_takes_ends_nobody_and_who_fails_there_is_spared() {
    let (shared, _dir) = shared(u64::MAX);
    let free = shared.too_little().unwrap();
    shared.look();
    assert_eq!(*shared.ended.lock().unwrap(), None);
    assert!(!shared.lacks());
    assert!(!shared.spares(ClusterId(1), attempt(1), u64::MAX - free / 2), "without its files there were room");
    assert!(!shared.lacks());
    assert!(shared.spares(ClusterId(1), attempt(1), 5));
    assert!(shared.lacks(), "the next one would fail as well");
    *shared.lacked.lock().unwrap() = Instant::now().checked_sub(2 * AFTERMATH);
    assert!(!shared.lacks(), "that was long ago");
}

#[test]
fn who_fails_beside_an_attempt_of_its_own_job_that_was_ended_for_its_room_is_not_spared() {
    let (shared, _dir) = shared(u64::MAX);
    *shared.ended.lock().unwrap() = Some((Instant::now(), JobId(1)));
    assert!(!shared.spares(ClusterId(1), attempt(1), 5));
    assert!(shared.spares(ClusterId(1), attempt(2), 5));
}
