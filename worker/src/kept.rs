//! Map output of an earlier run of the worker, or of its registration before: found, named to the master, and kept or deleted
//! as that says.
//!
//! What counts is what is whole on the disk: an attempt's directory with an index whose segments are all of its output. Nothing is
//! synced for it and no segment read. A process that is killed takes nothing with it that was written, and what a power failure
//! makes of a file that still has its length the reduces find by their checksums. The files of the jobs are fetched before the
//! master is told, so that whatever it says can be fetched from here can be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use howdah_core::job::{AttemptId, ClusterId, JobId, TaskKind, limits};
use howdah_proto::convert::grouped_outputs;
use howdah_proto::v1;
use tonic::Status;

use crate::directory::Directory;
use crate::jobs::Jobs;
use crate::link::Link;
use crate::logs::parse_attempt;

/// What lies in a worker's directory when it registers.
#[derive(Debug)]
pub(crate) struct Left {
    /// Of the outputs: the newest one that there is.
    cluster: ClusterId,
    /// Whole outputs, ascending.
    outputs: Vec<AttemptId>,
    /// Directories of all attempts.
    directories: Vec<(PathBuf, ClusterId, AttemptId)>,
}

impl Left {
    /// What a registration says of it.
    pub(crate) fn tell(&self, request: &mut v1::RegisterRequest) {
        request.kept = grouped_outputs(&self.outputs);
        request.kept_of_cluster = self.cluster.0;
    }

    /// What the master wants of it, if it is of this cluster.
    pub(crate) fn wanted(&self, cluster: ClusterId, keep: &[AttemptId]) -> BTreeSet<AttemptId> {
        let named: BTreeSet<AttemptId> = self.outputs.iter().copied().collect();
        keep.iter().copied().filter(|output| cluster == self.cluster && named.contains(output)).collect()
    }

    /// Sets aside what is not wanted, and says where it waits to be deleted. Jobs of which nothing is wanted are forgotten.
    pub(crate) fn clear(&self, wanted: &BTreeSet<AttemptId>, directory: &Directory, jobs: &Jobs) -> Vec<PathBuf> {
        let is_wanted = |cluster: ClusterId, attempt| cluster == self.cluster && wanted.contains(&attempt);
        let kept_jobs: BTreeSet<JobId> = wanted.iter().map(|output| output.job).collect();
        let named: BTreeSet<JobId> = self.outputs.iter().map(|output| output.job).collect();
        for job in named.difference(&kept_jobs) {
            jobs.forget(&self.cluster.job(*job));
        }
        let unwanted = self.directories.iter().filter(|(_, cluster, attempt)| !is_wanted(*cluster, *attempt));
        unwanted.filter_map(|(path, ..)| directory.set_aside_attempt(path)).collect()
    }
}

/// Looks what there is, and has the files of its jobs, without which nothing could be fetched. Output of jobs that the master
/// has no file of is nobody's.
///
/// # Errors
/// When the master is away.
pub(crate) async fn look(link: &Link, directory: Directory, jobs: &Jobs) -> Result<Left, Status> {
    let found = tokio::task::spawn_blocking(move || find(&directory)).await;
    let Found { directories, outputs } = found.map_err(|error| Status::internal(error.to_string()))?;
    let cluster = outputs.keys().map(|&(cluster, _)| cluster).max().unwrap_or(ClusterId(0));
    let mut left = Left { cluster, outputs: Vec::new(), directories };
    for ((of, job), outputs) in outputs {
        if of != cluster {
            continue;
        }
        let id = cluster.job(job);
        let known = match jobs.get(&id) {
            Some(file) => Some(file),
            None => link.job_file_now(job).await?.filter(|file| file.id == id).map(Arc::new),
        };
        let Some(file) = known else { continue };
        let fits = |&&(_, partitions): &&(AttemptId, u32)| partitions == file.spec.n_reduces;
        left.outputs.extend(outputs.iter().filter(fits).map(|(output, _)| *output));
        jobs.put(file);
    }
    left.outputs.truncate(limits::KEPT_OUTPUTS);
    Ok(left)
}

/// Deletes what no registration could keep, when a worker starts: all but whole outputs.
pub(crate) fn prune(directory: &Directory) -> std::io::Result<()> {
    let root = directory.local_root();
    let entries = match fs::read_dir(&root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let mut keeps = false;
        for attempt in list(&path) {
            if whole(&path, &attempt).is_some() {
                keeps = true;
            } else {
                remove(&attempt)?;
            }
        }
        if !keeps {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Links are removed, not followed.
fn remove(path: &Path) -> std::io::Result<()> {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let removed = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[derive(Debug, Default)]
struct Found {
    directories: Vec<(PathBuf, ClusterId, AttemptId)>,
    /// With the number of their partitions, ascending, by job.
    outputs: BTreeMap<(ClusterId, JobId), Vec<(AttemptId, u32)>>,
}

fn find(directory: &Directory) -> Found {
    let mut found = Found::default();
    for job in list(&directory.local_root()) {
        let mut attempts = list(&job);
        attempts.sort_unstable();
        for path in attempts {
            let Some((cluster, attempt)) = of_job(&job, &path) else { continue };
            if let Some(partitions) = whole(&job, &path) {
                found.outputs.entry((cluster, attempt.job)).or_default().push((attempt, partitions));
            }
            found.directories.push((path, cluster, attempt));
        }
    }
    found.outputs.values_mut().for_each(|outputs| outputs.sort_unstable());
    found
}

/// The directories in a directory that is no link itself.
fn list(directory: &Path) -> Vec<PathBuf> {
    if !fs::symlink_metadata(directory).is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// The attempt whose directory this is, in that of its job.
fn of_job(job: &Path, path: &Path) -> Option<(ClusterId, AttemptId)> {
    let (cluster, attempt) = parse_attempt(path.file_name()?.to_str()?)?;
    (job.file_name()?.to_str()? == cluster.job(attempt.job)).then_some((cluster, attempt))
}

/// The partitions of a map attempt's output, if it is whole.
fn whole(job: &Path, path: &Path) -> Option<u32> {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let (_, attempt) = of_job(job, path).filter(|(_, attempt)| is_directory && attempt.kind == TaskKind::Map)?;
    let problem = match howdah_task::whole_output(&path.join("file.out.index"), &path.join("file.out")) {
        Ok(partitions) => return Some(partitions),
        Err(error) => error,
    };
    tracing::debug!(?attempt, %problem, "an attempt left no whole output");
    None
}

#[cfg(test)]
mod tests {
    use howdah_core::job::TaskId;

    use super::*;

    pub(super) fn map(job: u32, index: u32) -> AttemptId {
        TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0)
    }

    /// Output of one partition without records' bytes: its index says where they would be.
    pub(super) fn write(directory: &Directory, cluster: ClusterId, attempt: AttemptId, bytes: usize) {
        let path = directory.local(cluster, attempt);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("file.out"), vec![7; bytes]).unwrap();
        let mut index = b"HDX1".to_vec();
        index.extend_from_slice(&1u32.to_le_bytes());
        let mut entry = [0u64, 64, 1].map(u64::to_le_bytes).concat();
        entry.extend_from_slice(&crc32fast::hash(&entry).to_le_bytes());
        index.extend_from_slice(&entry);
        fs::write(path.join("file.out.index"), index).unwrap();
    }

    #[test]
    fn a_start_leaves_whole_outputs_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (directory, lock) = Directory::open(dir.path()).unwrap();
        let (old, new) = (ClusterId(202_611_201_200), ClusterId(202_611_201_300));
        write(&directory, new, map(1, 0), 64);
        write(&directory, new, map(1, 1), 63);
        write(&directory, new, map(2, 0), 65);
        write(&directory, old, map(1, 0), 64);
        let reduce = TaskId { job: JobId(1), kind: TaskKind::Reduce, index: 0 }.attempt(0);
        write(&directory, new, reduce, 64);
        fs::create_dir_all(directory.local_root().join("forgotten-0")).unwrap();
        std::os::unix::fs::symlink("/etc", directory.local_root().join("link")).unwrap();
        drop((directory, lock));
        let (directory, _lock) = Directory::open(dir.path()).unwrap();
        prune(&directory).unwrap();
        let mut names: Vec<String> = list(&directory.local_root())
            .iter()
            .flat_map(|job| list(job))
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort_unstable();
        assert_eq!(names, [old.attempt(map(1, 0)), new.attempt(map(1, 0))]);
        assert_eq!(list(&directory.local_root()).len(), 2, "jobs without output are gone");
        let found = find(&directory);
        assert_eq!(found.directories.len(), 2);
        assert_eq!(found.outputs[&(new, JobId(1))], [(map(1, 0), 1)]);
    }

    #[test]
    fn what_the_master_does_not_want_goes_and_a_master_of_another_cluster_gets_none() {
        let dir = tempfile::tempdir().unwrap();
        let (directory, _lock) = Directory::open(dir.path()).unwrap();
        let cluster = ClusterId(202_611_201_200);
        (0..3).for_each(|index| write(&directory, cluster, map(1, index), 64));
        let Found { directories, .. } = find(&directory);
        let left = Left { cluster, outputs: vec![map(1, 0), map(1, 1)], directories };
        let mut request = v1::RegisterRequest::default();
        left.tell(&mut request);
        assert_eq!((request.kept_of_cluster, request.kept[0].maps.as_slice()), (cluster.0, &[0, 1][..]));
        assert!(left.wanted(ClusterId(5), &[map(1, 0)]).is_empty());
        let wanted = left.wanted(cluster, &[map(1, 1), map(1, 2), map(9, 0)]);
        assert_eq!(wanted.iter().copied().collect::<Vec<_>>(), [map(1, 1)], "only what was named");
        let aside = left.clear(&wanted, &directory, &Jobs::default());
        assert_eq!(aside.len(), 2);
        let kept = list(&directory.local_job(cluster, JobId(1)));
        assert_eq!(kept, [directory.local(cluster, map(1, 1))]);
    }
}

#[cfg(test)]
mod fuzz {
    use howdah_fuzz::{Readings, cases, changed, changes};
    use proptest::prelude::*;

    use super::tests::{map, write};
    use super::*;

    static READINGS: Readings = Readings::of("kept outputs");

    proptest! {
        #![proptest_config(cases(8))]

        #[test]
        fn changed_names_indexes_and_outputs_are_kept_whole_or_deleted_and_nothing_else_is_touched(
            of_name in prop::option::weighted(0.5, changes()),
            of_index in prop::option::weighted(0.5, changes()),
            bytes in prop_oneof![2 => Just(64_usize), 1 => 0..200_usize],
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            let (directory, _lock) = Directory::open(dir.path()).expect("a worker's directory");
            let cluster = ClusterId(202_611_201_200);
            write(&directory, cluster, map(1, 0), 64);
            write(&directory, cluster, map(1, 1), bytes);
            let victim = dir.path().join("victim");
            fs::write(&victim, "precious").expect("write");
            let own = directory.local(cluster, map(1, 1));
            if let Some(changes) = &of_index {
                let index = own.join("file.out.index");
                fs::write(&index, changed(&fs::read(&index).expect("read"), changes)).expect("write");
            }
            if let Some(changes) = &of_name {
                let name = own.file_name().expect("it has one").as_encoded_bytes();
                let name = String::from_utf8_lossy(&changed(name, changes)).replace(['/', '\0'], "_");
                // One that is too long, is nothing or is there cannot be had.
                if !matches!(name.as_str(), "." | "..") {
                    let _ = fs::rename(&own, own.with_file_name(name));
                }
            }
            prune(&directory).expect("it can be cleared");
            let found = find(&directory);
            prop_assert_eq!(fs::read_to_string(&victim).expect("it is there"), "precious");
            let outputs = &found.outputs[&(cluster, JobId(1))];
            prop_assert!(outputs.contains(&(map(1, 0), 1)), "the other one is gone: {:?}", outputs);
            for (path, of, attempt) in &found.directories {
                prop_assert_eq!(path, &directory.local(*of, *attempt), "a name that is not its own");
                prop_assert!(howdah_task::whole_output(&path.join("file.out.index"), &path.join("file.out")).is_ok());
            }
            READINGS.add(1);
        }
    }
}
