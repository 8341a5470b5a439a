//! What a worker that was killed has left as files goes into the containers when it starts again.
//!
//! The attempts are listed before any new one runs, and collected while they do. Directories and files are opened without
//! following links.

use std::fs::{self, File};
use std::path::PathBuf;

use howdah_core::job::{AttemptId, ClusterId};
use rustix::fs::{Mode, OFlags, openat};

use super::Logs;
use super::container::Source;
use super::live::{COLLECTED, delete_names, open_dir, read_collected};
use super::record::FILES;

/// An attempt of an earlier run whose logs are files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    cluster: ClusterId,
    attempt: AttemptId,
}

impl Logs {
    /// Those that there are before this run's first attempt.
    pub(crate) fn left(&self) -> Vec<Left> {
        let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
        let attempts = |job: fs::DirEntry| {
            let name = job.file_name();
            let of = move |entry: fs::DirEntry| {
                let (cluster, attempt) = parse_attempt(entry.file_name().to_str()?)?;
                (name == *cluster.job(attempt.job)).then_some(Left { cluster, attempt })
            };
            entries(job.path()).filter_map(of)
        };
        let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        entries(self.root.clone()).filter(is_dir).flat_map(attempts).collect()
    }

    /// Collects them.
    pub(crate) fn recover(&self, left: &[Left]) {
        for &Left { cluster, attempt } in left {
            self.recover_one(cluster, attempt);
            // Unless there is another attempt in it.
            let _ = fs::remove_dir(self.root.join(cluster.job(attempt.job)));
        }
    }

    fn recover_one(&self, cluster: ClusterId, attempt: AttemptId) {
        let path = self.live(cluster, attempt);
        let job = path.parent().map(open_dir);
        let (Some(Ok(job)), Some(name)) = (job, path.file_name()) else { return };
        let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(dir) = openat(&job, name, directory, Mode::empty()).map(File::from) else { return };
        // Whether it was killed between the record and the files' end is seen by the record.
        if !self.has(cluster, attempt) {
            let collected = read_collected(open_plain(&dir, COLLECTED));
            let files = FILES.map(|name| open_plain(&dir, name));
            let mut sources = [None; 3];
            for ((source, file), begin) in sources.iter_mut().zip(&files).zip(collected) {
                *source = file.as_ref().and_then(|file| Source::after(file, begin));
            }
            if !self.append(cluster, attempt, sources) {
                return;
            }
        }
        delete_names(&dir);
        let _ = fs::remove_dir(&path);
    }
}

fn open_plain(dir: &File, name: &str) -> Option<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty()).ok()?);
    file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
}

/// An attempt id of any cluster, in the form in which ids are printed: logs outlive the master's run.
pub(crate) fn parse_attempt(text: &str) -> Option<(ClusterId, AttemptId)> {
    let (cluster, id) = ClusterId::of_attempt(text)?;
    // `0001`, not `1`.
    (cluster.attempt(id) == text).then_some((cluster, id))
}
