//! Where effects go that are no answers: promotions of output, histories.
//!
//! Both touch the file system and run on their own threads; the core's thread only hands over shared data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use howdah_core::job::{ClusterId, JobId, LAZY_OUTPUT, OutputFormat};
use howdah_guards::Guard;

use super::pool::Pool;
use super::retention::Retention;
use super::trim::Trim;
use super::{Clearing, CoreHandle};
use crate::commit::{self, Promotion};
use crate::config::KeepJobs;
use crate::hadoop_history;
use crate::history::JobHistory;
use crate::tables::{JobSnapshot, Tables};

/// Threads that promote and clear away.
const FILE_THREADS: usize = 8;
/// Between two tries to write histories.
const RETRY_HISTORY: Duration = Duration::from_secs(2);

/// What the threads behind it do with output directories.
enum Work {
    Promote { job: JobId, promotion: Promotion },
    Abort { output: PathBuf, created: bool },
}

/// Hands work to the threads behind it; they end when it is dropped.
pub(crate) struct Outbox {
    files: Pool<Work>,
    histories: mpsc::Sender<Box<JobSnapshot>>,
    historian: std::thread::JoinHandle<()>,
    clearing: Clearing,
    /// Pieces of work that were handed out and are not done.
    open: Arc<AtomicUsize>,
}

impl Outbox {
    pub(crate) fn start(
        run_dir: PathBuf,
        cluster: ClusterId,
        core: CoreHandle,
        clearing: Clearing,
        keep: KeepJobs,
    ) -> Outbox {
        let theirs = clearing.clone();
        let open = Arc::<AtomicUsize>::default();
        let done = Arc::clone(&open);
        let promotes = move |work| {
            perform(work, cluster, &core, &theirs);
            done.fetch_sub(1, Ordering::Release);
        };
        let threads = if Guard::FileThreads.stands() { FILE_THREADS } else { 1 };
        let files = Pool::start("promote", threads, promotes);
        let (histories, work) = mpsc::channel();
        let retention = Retention::new(keep, &run_dir, cluster);
        let written = Arc::clone(&open);
        let body = move || write_histories(&work, &run_dir, cluster, retention, &written);
        let historian = std::thread::Builder::new().name("history".to_owned()).spawn(body);
        Outbox { files, histories, historian: historian.expect("the system starts threads"), clearing, open }
    }

    /// Promotes the winners' output of a job.
    pub(super) fn commit(&self, tables: &Tables, job: JobId) {
        let Some(row) = tables.jobs.get(&job) else { return };
        let file = &row.meta.file;
        let output = match &file.output {
            OutputFormat::Files { directory } => PathBuf::from(directory),
            // Nothing to promote: an empty path stands for it.
            OutputFormat::None => PathBuf::new(),
        };
        let winner = |id: howdah_core::job::AttemptId| {
            (tables.cluster.attempt(id), format!("part-{}-{:05}", id.kind.letter(), id.index))
        };
        let mark = ["mapreduce.fileoutputcommitter.marksuccessfuljobs"]
            .iter()
            .find_map(|key| file.properties.get(*key))
            .is_none_or(|value| value.trim() != "false");
        let promotion = Promotion {
            output,
            winners: row.output_winners().into_iter().map(winner).collect(),
            is_lazy: file.properties.contains_key(LAZY_OUTPUT),
            mark_success: mark,
        };
        self.open.fetch_add(1, Ordering::AcqRel);
        self.files.send(job, Work::Promote { job, promotion });
    }

    /// Clears away what a failed or killed job wrote.
    pub(super) fn abort(&self, tables: &Tables, job: JobId) {
        let Some(row) = tables.jobs.get(&job) else { return };
        if let OutputFormat::Files { directory } = &row.meta.file.output {
            let output = PathBuf::from(directory);
            self.clearing.begin(&output);
            let work = Work::Abort { output, created: row.meta.created_output };
            self.open.fetch_add(1, Ordering::AcqRel);
            self.files.send(job, work);
        }
    }

    /// Writes a finished job's history, again when a late attempt ends.
    pub(super) fn job_changed(&self, tables: &Tables, job: JobId) {
        let Some(row) = tables.jobs.get(&job).filter(|row| row.state.is_final()) else { return };
        self.open.fetch_add(1, Ordering::AcqRel);
        if self.histories.send(Box::new(row.snapshot(tables.cluster))).is_err() {
            self.open.fetch_sub(1, Ordering::Release);
        }
    }

    /// Whether all that was handed out is done: output is promoted or cleared away, histories are written.
    pub(super) fn is_idle(&self) -> bool {
        self.open.load(Ordering::Acquire) == 0
    }

    /// Waits until all that was handed over is done.
    pub(crate) fn finish(self) {
        let Outbox { files, histories, historian, .. } = self;
        files.finish();
        drop(histories);
        let _ = historian.join();
    }
}

fn perform(work: Work, cluster: ClusterId, core: &CoreHandle, clearing: &Clearing) {
    match work {
        Work::Promote { job, promotion } => {
            let nothing = promotion.output.as_os_str().is_empty();
            let result = if nothing { Ok(()) } else { commit::promote(&promotion) };
            let problem = result.err().map(|e| e.to_string());
            if let Some(problem) = &problem {
                tracing::error!(job = cluster.job(job), problem, "the job's output could not be promoted");
            }
            core.committed_blocking(job, problem);
        }
        Work::Abort { output, created } => {
            if let Err(e) = commit::abort(&output, created) {
                tracing::warn!(output = %output.display(), error = %e, "could not clear away the output of a failed job");
            }
            clearing.end(&output);
        }
    }
}

/// Writes histories as they come; one that cannot be written now is tried again until it can or a newer one of the same
/// job has come. What is left when the master stops is written by the next start. Old ones go, if not all are to be kept.
fn write_histories(
    work: &mpsc::Receiver<Box<JobSnapshot>>,
    run_dir: &Path,
    cluster: ClusterId,
    mut retention: Retention,
    open: &AtomicUsize,
) {
    let mut unwritten: BTreeMap<JobId, Box<JobSnapshot>> = BTreeMap::new();
    let mut trim = Trim::default();
    loop {
        let retry = (!unwritten.is_empty()).then_some(RETRY_HISTORY);
        let next = match [retry, retention.wait()].into_iter().flatten().min() {
            None => work.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            Some(wait) => work.recv_timeout(wait),
        };
        match next {
            Ok(snapshot) => {
                retention.written();
                if unwritten.insert(snapshot.meta.id, snapshot).is_some() {
                    // The newer one stands for both.
                    open.fetch_sub(1, Ordering::Release);
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
        let mut over = 0;
        unwritten.retain(|_, snapshot| {
            let history = JobHistory::streamed(snapshot, cluster);
            let written = history.write(run_dir).map_err(|e| e.to_string());
            let in_hadoops_form =
                || hadoop_history::write(&history, history.attempts.iter(), run_dir).map_err(|e| e.to_string());
            let written = written.and_then(|()| in_hadoops_form());
            if let Err(error) = &written {
                tracing::error!(job = history.id, error, "could not write the job's history; trying again");
            }
            if written.is_ok() {
                open.fetch_sub(1, Ordering::Release);
            }
            over += if written.is_ok() { snapshot.attempts.len() } else { 0 };
            written.is_err()
        });
        trim.after(over);
        retention.look();
    }
}
