//! What running attempts take of the worker's disk, so that no job fills it for the others.
//!
//! A thread of its own looks twice a second, whatever the attempts' processes do with their umbilicals:
//!
//! - An attempt whose logs have grown past `attempt_log_bytes` fails, as a container does in YARN
//!   (`yarn.nodemanager.container-log-monitor`).
//! - When less than `min_free_disk_kill_bytes` is free, one attempt fails at each look, so that its files go and the
//!   others can go on (`mapred.local.dir.minspacekill`).
//!   Deviation: Hadoop kills reduces first and then whoever has done least, whoever took the space, and lets them run
//!   again. Here it is the attempt that takes most, of the job that takes most, and it has failed: a job that fills
//!   disks ends after four attempts of a task.
//!
//! An attempt of another job that could not write meanwhile is spared: it was killed and has not failed. So is one whose
//! files are not what is missing, as where something else has filled the disk; the worker takes nothing more for a moment
//! then, as the sample that would say so is still to come.
//!
//! What a task wrote outside of its directory and its logs, or has deleted and holds open, is not seen.

mod culprit;
mod usage;
mod writer;

pub(crate) use self::writer::Writer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::Context;
use howdah_core::job::{AttemptId, ClusterId, JobId};
use howdah_guards::Guard;

use self::culprit::{Running, culprit};
use crate::directory::Directory;
use crate::logs::Written;

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// So long after an attempt was ended for the room that it took, others may still miss that room.
const AFTERMATH: Duration = Duration::from_secs(2);

/// From how much on an attempt fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Of an attempt's logs; 0 for none.
    pub(crate) log_bytes: u64,
    /// Free bytes on the worker's disk.
    pub(crate) min_free: u64,
}

/// The writers that are watched. The thread that looks ends with the last of the clones.
#[derive(Clone, Debug)]
pub(crate) struct Space(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    directory: Directory,
    bounds: Bounds,
    watched: Mutex<Vec<Watched>>,
    /// The last attempt that was ended for the room that it took, by its job.
    ended: Mutex<Option<(Instant, JobId)>>,
    /// When an attempt was last spared because there was too little room.
    lacked: Mutex<Option<Instant>>,
}

type Alive = (Arc<dyn Writer>, Arc<Written>);

#[derive(Debug)]
struct Watched {
    writer: Weak<dyn Writer>,
    logs: Weak<Written>,
}

impl Space {
    /// Starts the thread that looks.
    pub(crate) fn start(directory: Directory, bounds: Bounds) -> anyhow::Result<Space> {
        let shared =
            Shared { directory, bounds, watched: Mutex::default(), ended: Mutex::default(), lacked: Mutex::default() };
        let space = Space(Arc::new(shared));
        let shared = Arc::downgrade(&space.0);
        let watch = move || {
            while let Some(shared) = shared.upgrade() {
                shared.look();
                drop(shared);
                std::thread::sleep(LOOK_EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("space".to_owned());
        thread.spawn(watch).context("start the thread that watches the disk")?;
        Ok(space)
    }

    /// Watches a writer, and the log files that it writes to, while both exist.
    pub(crate) fn watch(&self, writer: Weak<dyn Writer>, logs: &Arc<Written>) {
        let watched = Watched { writer, logs: Arc::downgrade(logs) };
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
    }

    /// Whether an attempt that did not end well is spared: there is too little room, or was a moment ago, and an attempt of
    /// another job takes or took more of it, or what this one takes is not what is missing. The files of the one that ended
    /// are still there; its logs take `log_bytes`.
    pub(crate) fn spares(&self, cluster: ClusterId, attempt: AttemptId, log_bytes: u64) -> bool {
        self.0.spares(cluster, attempt, log_bytes)
    }

    /// Whether an attempt was spared a moment ago because there was too little room: the next one would fare no better.
    pub(crate) fn lacks(&self) -> bool {
        self.0.lacks()
    }
}

impl Shared {
    fn look(&self) {
        let alive = self.alive();
        let most = self.bounds.log_bytes;
        if most > 0 && Guard::LogSize.stands() {
            for (writer, logs) in &alive {
                let bytes = logs.bytes();
                if bytes > most {
                    writer.fail(format!(
                        "the attempt has written {bytes} bytes to its logs, more than {most} (`attempt_log_bytes` of the \
                         worker)"
                    ));
                }
            }
        }
        let Some(free) = self.too_little() else { return };
        let mut running = self.running(&alive);
        self.weigh_jobs(&mut running);
        let Some(i) = culprit(&running) else { return };
        let (attempt, taken, least) = (running[i].attempt, running[i].bytes, self.bounds.min_free);
        tracing::warn!(?attempt, taken, free, "the disk is almost full; the attempt that takes most of it fails");
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), attempt.job));
        running[i].writer.fail(format!(
            "the worker's disk has {free} bytes left, fewer than {least} (`min_free_disk_kill_bytes`), and the attempt took \
             more of it than any other: {taken} bytes"
        ));
    }

    fn spares(&self, cluster: ClusterId, attempt: AttemptId, log_bytes: u64) -> bool {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = ended.filter(|(at, _)| at.elapsed() < AFTERMATH).map(|(_, job)| job);
        if ended.is_some_and(|job| job != attempt.job) {
            return true;
        }
        let Some(free) = self.too_little() else { return false };
        let own = usage::of(&self.directory.local(cluster, attempt)) + log_bytes;
        // Without what it takes there would be too little as well.
        let by_others = ended.is_none() && own < self.bounds.min_free - free;
        let larger = |other: &Running| other.attempt.job != attempt.job && other.bytes > own;
        let spared = by_others || self.running(&self.alive()).iter().any(larger);
        if spared {
            *self.lacked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        spared
    }

    fn lacks(&self) -> bool {
        let lacked = *self.lacked.lock().unwrap_or_else(PoisonError::into_inner);
        lacked.is_some_and(|at| at.elapsed() < AFTERMATH)
    }

    /// What is free, if that is too little.
    fn too_little(&self) -> Option<u64> {
        // One that cannot be asked is no reason to end anything.
        let free = self.directory.free_bytes()?;
        (free < self.bounds.min_free && Guard::DiskSpace.stands()).then_some(free)
    }

    /// What is there of the watched writers; others are forgotten.
    fn alive(&self) -> Vec<Alive> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|watched| watched.writer.strong_count() > 0 && watched.logs.strong_count() > 0);
        watched.iter().filter_map(|watched| watched.writer.upgrade().zip(watched.logs.upgrade())).collect()
    }

    /// What the attempts of these writers take; of their jobs no more than their own logs.
    fn running(&self, alive: &[Alive]) -> Vec<Running> {
        let running = alive.iter().filter_map(|(writer, logs)| {
            let (cluster, attempt) = writer.current()?;
            let logs = logs.disk_bytes();
            let bytes = usage::of(&self.directory.local(cluster, attempt)) + logs;
            Some(Running { writer: writer.clone(), cluster, attempt, bytes, job_bytes: logs })
        });
        running.collect()
    }

    /// Adds the directories of their jobs, with the map outputs that are kept here; each is gone through once.
    fn weigh_jobs(&self, running: &mut [Running]) {
        let mut jobs = BTreeMap::new();
        for Running { cluster, attempt, job_bytes, .. } in running {
            let weigh = || usage::of(&self.directory.local_job(*cluster, attempt.job));
            *job_bytes += *jobs.entry(attempt.job).or_insert_with(weigh);
        }
    }
}

#[cfg(test)]
mod tests;
