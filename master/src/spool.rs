//! The files of jobs that were submitted lately, together in one file that is synced once for many of them.
//!
//! A job's own file, which workers and people read, is not synced before its submission is acknowledged: that would take
//! a sync for each job. Its content is in the spool, which is synced. When a spool is full the next one begins, the file
//! system is told to write what it holds, and the full one goes. A start after a power failure takes from the spools what
//! the jobs' own files lack; without one (the same boot of the machine) those are what the master wrote.
//!
//! A number that the core refused is given again, so the last record of a number counts. A record that does not read ends
//! its spool: a spool that could not be written is not continued, so nothing behind it was acknowledged.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use howdah_core::job::{ClusterId, JobId};

use crate::history::job_file_path;

/// What a spool begins with, before the boot in which it was written.
const FIRST_WORDS: &str = "howdah-spool 1 ";
/// A spool of this size is full.
const FULL_BYTES: u64 = 16 << 20;

/// The writing end.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    boot: String,
    full_bytes: u64,
    /// Of the spool in use, or of the last one.
    number: u32,
    open: Option<Open>,
    /// Groups that were written and synced.
    n_groups: u64,
}

#[derive(Debug)]
struct Open {
    file: File,
    end: u64,
}

impl Spool {
    /// Of a run, after the spools that are there.
    pub(crate) fn new(run_dir: &Path) -> Spool {
        let folder = folder(run_dir);
        let number = numbers(&folder).last().copied().unwrap_or(0);
        Spool { folder, boot: boot(), full_bytes: FULL_BYTES, number, open: None, n_groups: 0 }
    }

    /// Puts the files of a group on disk.
    ///
    /// # Errors
    /// When they cannot be written; then none of them is to be acknowledged.
    pub(crate) fn append(&mut self, files: &[(JobId, Vec<u8>)]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (job, file) in files {
            writeln!(bytes, "{} {} {:08x}", job.0, file.len(), checksum(*job, file))?;
            bytes.extend_from_slice(file);
            bytes.push(b'\n');
        }
        // What the file system has of a failed write is not known: the next group begins another spool.
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.begin()?,
        };
        open.file.write_all_at(&bytes, open.end)?;
        open.file.sync_data()?;
        open.end += bytes.len() as u64;
        self.open = Some(open);
        self.n_groups += 1;
        tracing::debug!(group = self.n_groups, jobs = files.len(), "spooled a group of submissions");
        Ok(())
    }

    /// Ends the spool in use if it is full: that one may go once it is [settled](settle).
    pub(crate) fn take_full(&mut self) -> Option<PathBuf> {
        self.open.take_if(|open| open.end >= self.full_bytes)?;
        Some(path(&self.folder, self.number))
    }

    fn begin(&mut self) -> io::Result<Open> {
        // A number is used once, so that a spool that was begun in vain is in nobody's way.
        self.number += 1;
        let path = path(&self.folder, self.number);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let first = format!("{FIRST_WORDS}{}\n", self.boot);
        file.write_all_at(first.as_bytes(), 0)?;
        File::open(&self.folder)?.sync_all()?;
        Ok(Open { file, end: first.len() as u64 })
    }

    #[cfg(test)]
    pub(crate) fn n_groups(&self) -> u64 {
        self.n_groups
    }

    /// As one that was written before the machine lost its power.
    #[cfg(test)]
    pub(crate) fn of_another_boot(run_dir: &Path) -> Spool {
        Spool { boot: "another".to_owned(), ..Spool::new(run_dir) }
    }
}

/// Waits until the jobs' own files are on disk, and removes spools that hold their content. It takes as long as the file
/// system has to write. What fails is done by a later start.
pub(crate) fn settle(run_dir: &Path, spools: &[PathBuf]) {
    if spools.is_empty() {
        return;
    }
    let settled = File::open(folder(run_dir))
        .and_then(|folder| Ok(rustix::fs::syncfs(&folder)?))
        .and_then(|()| spools.iter().try_for_each(fs::remove_file));
    if let Err(error) = settled {
        tracing::warn!(%error, "the spools of submissions stay for the next start");
    }
}

/// What the spools of a run hold.
#[derive(Debug, Default)]
pub(crate) struct Spooled {
    files: BTreeMap<JobId, Kept>,
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    /// The machine has not started again since.
    same_boot: bool,
}

impl Spooled {
    /// Reads the spools of a run.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(crate) fn read(run_dir: &Path) -> io::Result<Spooled> {
        let (folder, boot) = (folder(run_dir), boot());
        let mut spooled = Spooled::default();
        for number in numbers(&folder) {
            let path = path(&folder, number);
            spooled.take(&fs::read(&path)?, &boot);
            spooled.paths.push(path);
        }
        Ok(spooled)
    }

    fn take(&mut self, bytes: &[u8], boot: &str) {
        let Some((first, mut rest)) = line(bytes) else { return };
        let Some(written) = first.strip_prefix(FIRST_WORDS) else { return };
        while let Some((job, bytes, after)) = record(rest) {
            self.files.insert(job, Kept { bytes: bytes.to_vec(), same_boot: written == boot });
            rest = after;
        }
    }

    /// The file of a job, if it was submitted lately.
    pub(crate) fn file(&self, job: JobId) -> Option<&[u8]> {
        self.files.get(&job).map(|kept| &kept.bytes[..])
    }

    /// Makes the jobs' own files what they were, for all numbers up to `last_job`: the core has not taken others.
    ///
    /// # Errors
    /// When one cannot be written.
    pub(crate) fn restore(
        &self,
        run_dir: &Path,
        cluster: ClusterId,
        last_job: u32,
        is_live: impl Fn(JobId) -> bool,
    ) -> io::Result<()> {
        for (&job, kept) in self.files.range(..=JobId(last_job)) {
            let path = job_file_path(run_dir, cluster, job);
            let found = match fs::read(&path) {
                Ok(found) => Some(found),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            // One of a job that is over may have been let go; after a power failure it comes back and is let go again.
            let let_go = found.is_none() && kept.same_boot && !is_live(job);
            if let_go || found.as_ref() == Some(&kept.bytes) {
                continue;
            }
            tracing::info!(job = cluster.job(job), "the job's file is restored from the spool of submissions");
            write(&path, &kept.bytes)?;
        }
        Ok(())
    }
}

/// Writes a job's own file. For our eyes only: it holds the token that opens the job's map output.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
}

fn line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

/// The record at the beginning, and what follows it.
fn record(bytes: &[u8]) -> Option<(JobId, &[u8], &[u8])> {
    let (head, rest) = line(bytes)?;
    let mut words = head.split(' ');
    let (job, length) = (words.next()?.parse().ok()?, words.next()?.parse::<usize>().ok()?);
    let crc = u32::from_str_radix(words.next()?, 16).ok()?;
    let file = rest.get(..length)?;
    let after = rest[length..].strip_prefix(b"\n")?;
    (checksum(JobId(job), file) == crc).then_some((JobId(job), file, after))
}

fn checksum(job: JobId, file: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&job.0.to_le_bytes());
    hasher.update(file);
    hasher.finalize()
}

fn folder(run_dir: &Path) -> PathBuf {
    run_dir.join("jobs")
}

fn path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("spool-{number:08}"))
}

/// Of the spools that are there, in order.
fn numbers(folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("spool-")?.parse().ok();
    let mut numbers: Vec<u32> = entries.filter_map(|entry| number(entry.ok()?)).collect();
    numbers.sort_unstable();
    numbers
}

/// Names this boot of the machine; none where it is not known, and then every start may be the first of a boot.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| format!("unknown-{}", std::process::id()), |id| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: ClusterId = ClusterId(202_501_010_000);

    fn run() -> tempfile::TempDir {
        let run = tempfile::tempdir().unwrap();
        fs::create_dir(run.path().join("jobs")).unwrap();
        run
    }

    fn file(job: u32, text: &str) -> (JobId, Vec<u8>) {
        (JobId(job), format!("{{\"of\": {job},\n\"is\": \"{text}\"}}").into_bytes())
    }

    #[test]
    fn a_spool_cut_at_any_byte_gives_the_files_before_the_cut() {
        let run = run();
        let files = [file(1, "a"), file(2, "second"), file(3, "")];
        let mut spool = Spool::new(run.path());
        let mut ends = Vec::new();
        for file in &files {
            spool.append(std::slice::from_ref(file)).unwrap();
            ends.push(spool.open.as_ref().unwrap().end as usize);
        }
        let whole = fs::read(path(&spool.folder, 1)).unwrap();
        assert_eq!(ends.last(), Some(&whole.len()));
        for cut in 0..=whole.len() {
            let mut spooled = Spooled::default();
            spooled.take(&whole[..cut], "");
            let n = ends.iter().filter(|&&end| end <= cut).count();
            assert_eq!(spooled.files.len(), n, "cut at {cut}");
            for (job, bytes) in &files[..n] {
                assert_eq!(spooled.file(*job), Some(&bytes[..]));
            }
        }
    }

    #[test]
    fn no_flipped_bit_gives_another_file() {
        let run = run();
        let whole = {
            let mut spool = Spool::new(run.path());
            spool.append(&[file(1, "a"), file(2, "b")]).unwrap();
            fs::read(path(&spool.folder, 1)).unwrap()
        };
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut spooled = Spooled::default();
            spooled.take(&damaged, "");
            for (job, kept) in spooled.files {
                assert!([file(1, "a"), file(2, "b")].contains(&(job, kept.bytes)), "bit {bit}");
            }
        }
    }

    #[test]
    fn after_a_power_failure_missing_and_damaged_files_are_what_they_were_and_refused_ones_stay_away() {
        let run = run();
        let mut spool = Spool::of_another_boot(run.path());
        // Refused by the core: its number is given again.
        spool.append(&[file(2, "refused"), file(4, "refused")]).unwrap();
        spool.append(&[file(1, "one"), file(2, "two"), file(3, "three")]).unwrap();
        write(&job_file_path(run.path(), CLUSTER, JobId(1)), b"").unwrap();
        write(&job_file_path(run.path(), CLUSTER, JobId(3)), &file(3, "three").1).unwrap();
        let spooled = Spooled::read(run.path()).unwrap();
        spooled.restore(run.path(), CLUSTER, 3, |_| false).unwrap();
        for (job, bytes) in [file(1, "one"), file(2, "two"), file(3, "three")] {
            assert_eq!(fs::read(job_file_path(run.path(), CLUSTER, job)).unwrap(), bytes);
        }
        assert!(!job_file_path(run.path(), CLUSTER, JobId(4)).exists());
        settle(run.path(), &spooled.paths);
        assert!(Spooled::read(run.path()).unwrap().paths.is_empty());
    }

    #[test]
    fn within_a_boot_a_file_that_was_let_go_stays_away_and_one_of_a_live_job_comes_back() {
        let run = run();
        Spool::new(run.path()).append(&[file(1, "over"), file(2, "live")]).unwrap();
        let spooled = Spooled::read(run.path()).unwrap();
        spooled.restore(run.path(), CLUSTER, 2, |job| job == JobId(2)).unwrap();
        assert!(!job_file_path(run.path(), CLUSTER, JobId(1)).exists());
        assert!(job_file_path(run.path(), CLUSTER, JobId(2)).exists());
    }

    #[test]
    fn a_full_spool_ends_and_one_that_could_not_be_written_is_not_continued() {
        let run = run();
        let mut spool = Spool { full_bytes: 100, ..Spool::new(run.path()) };
        spool.append(&[file(1, "a")]).unwrap();
        assert_eq!(spool.take_full(), None);
        spool.append(&[file(2, &"b".repeat(100))]).unwrap();
        assert_eq!(spool.take_full(), Some(path(&spool.folder, 1)));
        assert_eq!(spool.take_full(), None);
        // As on a disk that takes no more: the handle reads only.
        spool.append(&[file(3, "c")]).unwrap();
        spool.open = Some(Open { file: File::open(path(&spool.folder, 2)).unwrap(), end: 5 });
        spool.append(&[file(4, "d")]).unwrap_err();
        spool.append(&[file(4, "e")]).unwrap();
        assert_eq!(numbers(&spool.folder), [1, 2, 3]);
        let spooled = Spooled::read(run.path()).unwrap();
        assert_eq!(spooled.file(JobId(3)), Some(&file(3, "c").1[..]));
        assert_eq!(spooled.file(JobId(4)), Some(&file(4, "e").1[..]));
        assert_eq!(Spool::new(run.path()).number, 3);
    }
}
