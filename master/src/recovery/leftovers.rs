//! What a master that was killed left half done outside its journal.
//!
//! A submission that never reached the journal was never acknowledged: its file, and the output directory that was
//! reserved for it, go. Output of failed jobs that was about to be cleared away is cleared away now; what lies elsewhere is noted
//! for the thread that does that. Of jobs that are in the journal the output may not have come to the disk with it: it is made
//! again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use howdah_core::job::{ClusterId, JobFile, JobId};

use super::Unfinished;
use crate::commit::{self, Output, Owed};

/// How long a start waits until the outputs of its jobs are looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Clears away what nobody waits for. Problems are logged: none of them keeps a master from starting, nor does a name node
/// that hangs.
pub(crate) fn clear_leftovers(run_dir: &Path, owed: &Owed, cluster: ClusterId, last_job: u32, unfinished: &Unfinished) {
    unfinished.aborts.values().for_each(|(job, output)| clear(output, &cluster.job(*job), owed));
    for (path, job) in job_files(run_dir, cluster) {
        if job.0 <= last_job {
            continue;
        }
        let file = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<JobFile>(&bytes).ok());
        if let Some((file, output)) = file.and_then(|file| Some((file.id.clone(), Output::of(&file)?))) {
            clear(&output, &file, owed);
        }
        tracing::info!(job = cluster.job(job), "a submission that was never acknowledged is dropped");
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove the file of a job that never was");
        }
    }
}

/// Sees to it that jobs that are not over find their outputs where their attempts look for them. One that cannot be looked at
/// keeps no master from starting: after a while it is left to a thread of its own.
pub(crate) fn make_outputs_again(outputs: Vec<Output>) {
    let (done, ended) = mpsc::channel::<()>();
    let look = move || {
        for output in outputs {
            let directory = output.directory().display();
            match commit::make_again(&output) {
                Ok(true) => tracing::warn!(output = %directory, "the output of a job was gone and is made again"),
                Ok(false) => {}
                Err(error) => tracing::warn!(output = %directory, %error, "cannot look at the output of a job"),
            }
        }
        drop(done);
    };
    // Without a thread attempts say what is missing.
    if std::thread::Builder::new().name("outputs".to_owned()).spawn(look).is_ok() {
        let _ = ended.recv_timeout(LOOK);
    }
}

fn clear(output: &Output, job: &str, owed: &Owed) {
    if output.is_remote() {
        if let Err(error) = owed.note(output) {
            let output = output.directory().display();
            tracing::warn!(job, %output, %error, "cannot note an output that is to be cleared away");
        }
        return;
    }
    // A directory that was promoted or that someone else has made since has no private part.
    if !output.directory().join("_temporary").is_dir() {
        return;
    }
    if let Err(error) = commit::abort(output, true) {
        let output = output.directory().display();
        tracing::warn!(job, %output, %error, "could not clear away the output of a job");
    }
}

fn job_files(run_dir: &Path, cluster: ClusterId) -> Vec<(PathBuf, JobId)> {
    let Ok(entries) = fs::read_dir(run_dir.join("jobs")) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter_map(|path| {
            let job = cluster.parse_job(path.file_stem()?.to_str()?).ok()?;
            Some((path, job))
        })
        .collect()
}
