//! What a master that was killed left half done outside its journal.
//!
//! A submission that never reached the journal was never acknowledged: its file, and the output directory that was
//! reserved for it, go. Output of failed jobs that was about to be cleared away is cleared away now.

use std::fs;
use std::path::{Path, PathBuf};

use howdah_core::job::{ClusterId, JobFile, JobId, OutputFormat};

use super::Unfinished;
use crate::commit;

/// Clears away what nobody waits for. Problems are logged: none of them keeps a master from starting.
pub(crate) fn clear_leftovers(run_dir: &Path, cluster: ClusterId, last_job: u32, unfinished: &Unfinished) {
    for (output, job) in &unfinished.aborts {
        clear(output, &cluster.job(*job));
    }
    for (path, job) in job_files(run_dir, cluster) {
        if job.0 <= last_job {
            continue;
        }
        let file = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<JobFile>(&bytes).ok());
        if let Some(JobFile { output: OutputFormat::Files { directory }, id, .. }) = file {
            clear(Path::new(&directory), &id);
        }
        tracing::info!(job = cluster.job(job), "a submission that was never acknowledged is dropped");
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove the file of a job that never was");
        }
    }
}

fn clear(output: &Path, job: &str) {
    // A directory that was promoted or that someone else has made since has no private part.
    if !output.join("_temporary").is_dir() {
        return;
    }
    if let Err(error) = commit::abort(output, true) {
        tracing::warn!(job, output = %output.display(), %error, "could not clear away the output of a job");
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
