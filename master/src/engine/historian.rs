//! The thread that writes histories, and lets go of jobs that leave the memory.
//!
//! It gets a few jobs at a time and says of each what became of it; what it could not write is the core's to hand over
//! again (`histories.rs`), so nothing piles up here. Old histories go, if not all are to be kept.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use howdah_core::job::ClusterId;

use super::CoreHandle;
use super::retention::Retention;
use super::trim::Trim;
use crate::hadoop_history;
use crate::history::JobHistory;
use crate::tables::{JobRow, JobSnapshot};

/// What it is given.
pub(super) enum HistoryWork {
    Write(Box<JobSnapshot>),
    /// Of a large job this takes a while, which workers must not wait for.
    LetGo(Vec<JobRow>),
}

/// Works until nobody can give it anything any more.
pub(super) fn write_histories(
    work: &Receiver<HistoryWork>,
    run_dir: &Path,
    cluster: ClusterId,
    mut retention: Retention,
    core: &CoreHandle,
) {
    let mut trim = Trim::default();
    loop {
        let next = match retention.wait() {
            None => work.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => work.recv_timeout(wait),
        };
        match next {
            Ok(HistoryWork::Write(snapshot)) => {
                let (job, attempts) = (snapshot.meta.id, snapshot.attempts.len());
                let problem = write(&snapshot, cluster, run_dir).err();
                drop(snapshot);
                trim.after(attempts);
                retention.written();
                core.history_blocking(job, problem);
            }
            Ok(HistoryWork::LetGo(rows)) => {
                let tasks = rows.iter().map(JobRow::n_tasks).sum();
                drop(rows);
                trim.after(tasks);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        retention.look();
    }
}

fn write(snapshot: &JobSnapshot, cluster: ClusterId, run_dir: &Path) -> Result<(), String> {
    let history = JobHistory::streamed(snapshot, cluster);
    let written = history.write(run_dir).map_err(|e| match std::error::Error::source(&e) {
        Some(cause) => format!("{e}: {cause}"),
        None => e.to_string(),
    });
    let in_hadoops_form =
        || hadoop_history::write(&history, history.attempts.iter(), run_dir).map_err(|e| e.to_string());
    let written = written.and_then(|()| in_hadoops_form());
    if let Err(error) = &written {
        tracing::error!(job = history.id, error, "could not write the job's history; trying again");
    }
    written.map(drop)
}
