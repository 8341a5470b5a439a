//! Work on a file system of the master's machine that may not answer: it is waited for no longer than people would.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tonic::Status;

use super::walk::Cancel;
use super::{own_machine, status};
use crate::mounts::mounts_of;

/// Without a sign of life for so long, a file system does not answer.
const SILENCE: Duration = if cfg!(test) { Duration::from_millis(100) } else { Duration::from_secs(30) };

/// Does work on a file system, as long as that answers. What is done only after everybody went is undone.
pub(super) async fn answered<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> T + Send + 'static,
    undo: impl FnOnce(T) + Send + 'static,
) -> Result<T, Status> {
    let mut task = tokio::task::spawn_blocking(work);
    match tokio::time::timeout(SILENCE, &mut task).await {
        Ok(done) => done.map_err(|e| status::internal("finish a file operation", e)),
        Err(_) => {
            tokio::spawn(async move {
                if let Ok(done) = task.await {
                    let _ = tokio::task::spawn_blocking(move || undo(done)).await;
                }
            });
            Err(silent([path].into_iter()))
        }
    }
}

/// As [`answered`], of work that takes as long as it takes and looks meanwhile whether anybody still waits.
pub(super) async fn alive<T: Send + 'static>(
    paths: &[PathBuf],
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Status> {
    let mut task = tokio::task::spawn_blocking(work);
    loop {
        let looks = cancel.looks();
        match tokio::time::timeout(SILENCE, &mut task).await {
            Ok(done) => return done.map_err(|e| status::internal("finish a file operation", e)),
            Err(_) if cancel.looks() == looks && !paths.is_empty() => {
                return Err(silent(paths.iter().map(PathBuf::as_path)));
            }
            Err(_) => {}
        }
    }
}

fn silent<'a>(paths: impl Iterator<Item = &'a Path>) -> Status {
    let mounts: Vec<String> = mounts_of(paths).iter().map(|mount| format!("`{}`", mount.display())).collect();
    let (at, host, s) = (mounts.join(" or "), own_machine::name(), SILENCE.as_secs());
    let message = format!("the file system at {at} on {host}, the master's machine, has not answered for {s} s");
    Status::unavailable(status::with_help(message, "nothing was submitted; see to that file system and submit again"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn what_does_not_answer_is_left_and_undone_when_it_is_done_after_all() {
        let (release, hang) = mpsc::channel::<()>();
        let (undone, undoes) = mpsc::channel();
        let work = move || hang.recv().map(|()| 7).unwrap_or(0);
        let refused = answered(Path::new("/proc/x"), work, move |n| undone.send(n).unwrap()).await.unwrap_err();
        assert!(refused.message().starts_with("the file system at `/proc` on "), "{refused}");
        release.send(()).unwrap();
        let undone = tokio::task::spawn_blocking(move || undoes.recv_timeout(Duration::from_secs(30))).await.unwrap();
        assert_eq!(undone, Ok(7));
    }

    #[tokio::test]
    async fn work_that_shows_signs_of_life_may_take_its_time() {
        let cancel = Cancel::default();
        let (release, hang) = mpsc::channel::<()>();
        let own = cancel.clone();
        let work = move || {
            // A look now and then, until it is released.
            while hang.try_recv().is_err() {
                own.is_set();
                std::thread::yield_now();
            }
        };
        let paths = [PathBuf::from("/proc/x")];
        let done = alive(&paths, &cancel, work);
        tokio::pin!(done);
        assert!(tokio::time::timeout(5 * SILENCE, &mut done).await.is_err(), "it is still under way");
        release.send(()).unwrap();
        done.await.unwrap();
        // Without a look it is not waited for.
        let (release, hang) = mpsc::channel::<()>();
        let refused = alive(&paths, &cancel, move || hang.recv()).await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::Unavailable);
        drop(release);
    }
}
