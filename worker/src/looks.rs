//! What the master asks this worker to look at: its own machine, another worker, a shared folder.
//!
//! None of it may hold up heartbeats or end with them: a shared folder whose server hangs takes a thread with it, so few are
//! looked at at a time, each on a thread of its own, and what takes too long is said to.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use howdah_proto::v1::look::At;
use howdah_proto::{dial, v1};
use nix::sys::resource::{Resource, getrlimit};
use tokio::sync::{Semaphore, oneshot};

use crate::link::Link;

/// One lost answer is no news.
const SECOND_TRY: Duration = Duration::from_secs(1);
/// A file system that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// Network file systems may take a moment to tell of what another machine has just made.
const PAUSES_MS: [u64; 6] = [50, 100, 250, 500, 1_000, 2_000];
/// A worker of some slots holds a few dozen files; a shuffle, hundreds.
const FEW_FILES: u64 = 1_024;
/// Threads count as well: an attempt has several, and what it starts has its own.
const FEW_PROCESSES: u64 = 512;
/// Folders looked at at a time, those that hang included.
const FOLDERS: usize = 16;

static FOLDERS_OPEN: AtomicUsize = AtomicUsize::new(0);
/// Connections tried at a time.
static TRIES: Semaphore = Semaphore::const_new(16);

/// Looks, and tells the master.
pub(crate) fn start(link: Link, worker: u32, look: v1::Look) {
    let Some(at) = look.at else { return };
    tokio::spawn(async move {
        let user = matches!(at, At::Machine(_)).then(v1::User::own);
        let seen = match at {
            At::Machine(_) => machine(),
            At::Reach(address) => reach(&address).await,
            At::Share(share) => folder(worker, share).await,
        };
        let (found, problem) = match seen {
            Ok(found) => (found, String::new()),
            Err(problem) => (String::new(), problem),
        };
        link.saw(v1::SawRequest { worker, number: look.number, found, problem, met: None, user }).await;
    });
}

/// What bounds the processes of attempts.
fn machine() -> Result<String, String> {
    let limit = |of, what| getrlimit(of).map_err(|error| format!("read the limit of {what}: {error}"));
    let (files, most_files) = limit(Resource::RLIMIT_NOFILE, "open files")?;
    if most_files < FEW_FILES {
        return Err(format!("it may open {most_files} files, expected {FEW_FILES} at least"));
    }
    let (processes, _) = limit(Resource::RLIMIT_NPROC, "processes")?;
    // The kernel counts none of root's.
    if processes < FEW_PROCESSES && !nix::unistd::geteuid().is_root() {
        return Err(format!("its user may have {processes} processes, expected {FEW_PROCESSES} at least"));
    }
    Ok(format!("it may open {files} files"))
}

async fn reach(address: &str) -> Result<String, String> {
    let _permit = TRIES.acquire().await.map_err(|error| error.to_string())?;
    let mut tried = dial::http(address).await;
    if tried.is_err() {
        tokio::time::sleep(SECOND_TRY).await;
        tried = dial::http(address).await;
    }
    tried.map(|()| address.to_owned())
}

async fn folder(worker: u32, share: v1::Share) -> Result<String, String> {
    if FOLDERS_OPEN.fetch_add(1, Ordering::Relaxed) >= FOLDERS {
        FOLDERS_OPEN.fetch_sub(1, Ordering::Relaxed);
        return Err(format!("{FOLDERS} folders are looked at already, and their file systems do not answer"));
    }
    let (send, receive) = oneshot::channel();
    let thread = std::thread::Builder::new().name("look".to_owned()).spawn(move || {
        // Whoever asked may have given up.
        let _ = send.send(look_at(worker, &share, &PAUSES_MS));
        FOLDERS_OPEN.fetch_sub(1, Ordering::Relaxed);
    });
    if let Err(error) = thread {
        FOLDERS_OPEN.fetch_sub(1, Ordering::Relaxed);
        return Err(format!("start a thread: {error}"));
    }
    match tokio::time::timeout(PATIENCE, receive).await {
        Ok(Ok(seen)) => seen,
        Ok(Err(_)) => Err("the look at it ended".to_owned()),
        Err(_) => Err(format!("its file system did not answer within {} s", PATIENCE.as_secs())),
    }
}

fn look_at(worker: u32, share: &v1::Share, pauses_ms: &[u64]) -> Result<String, String> {
    let folder = Path::new(&share.folder);
    if !folder.is_absolute() || share.name.is_empty() || share.name.contains('/') || share.name.starts_with("..") {
        return Err("expected an absolute path of a folder, and the name of a file in it".to_owned());
    }
    read(&folder.join(&share.name), &share.text, pauses_ms)?;
    // Who reads what was just written there is in the same folder, and whoever asked may write to it.
    let own = folder.join(format!("{}-{worker}", share.name));
    let made = OpenOptions::new().write(true).create_new(true).open(&own);
    made.map_err(|error| format!("{} reads it and cannot write there: {error}", v1::User::own()))?;
    fs::remove_file(&own).map_err(|error| format!("{} cannot remove what it made there: {error}", v1::User::own()))?;
    Ok(format!("{} reads and writes it", v1::User::own()))
}

fn read(path: &Path, text: &str, pauses_ms: &[u64]) -> Result<(), String> {
    let mut pauses = pauses_ms.iter();
    loop {
        let mut found = Vec::new();
        let opened = crate::plain::open(path).and_then(|file| file.take(text.len() as u64 + 1).read_to_end(&mut found));
        let problem = match opened {
            Ok(_) if found == text.as_bytes() => return Ok(()),
            Ok(_) => format!("`{}` has other content here", path.display()),
            Err(error) => format!("`{}` is not seen: {error}", path.display()),
        };
        let Some(&pause) = pauses.next() else { return Err(problem) };
        // Opening a folder makes network file systems ask their server again.
        let _ = path.parent().map(fs::read_dir);
        std::thread::sleep(Duration::from_millis(pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(folder: &Path, name: &str) -> v1::Share {
        v1::Share { folder: folder.display().to_string(), name: name.to_owned(), text: "mark".to_owned() }
    }

    #[test]
    fn a_folder_is_the_same_where_its_file_reads_the_same_and_nothing_is_left_in_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("probe"), "mark").unwrap();
        let found = look_at(7, &share(dir.path(), "probe"), &[]).unwrap();
        assert!(found.ends_with("reads and writes it"), "{found}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_folder_of_that_name_is_not_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let problem = look_at(7, &share(dir.path(), "probe"), &[]).unwrap_err();
        assert!(problem.contains("probe` is not seen: No such file"), "{problem}");
        for other in ["", "mar", "mark of another"] {
            fs::write(dir.path().join("probe"), other).unwrap();
            let problem = look_at(7, &share(dir.path(), "probe"), &[]).unwrap_err();
            assert!(problem.contains("has other content here"), "{problem}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_name_leads_to_no_other_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "..", "a/b", "../a", "/etc/hostname"] {
            assert!(
                look_at(7, &share(dir.path(), name), &[]).unwrap_err().starts_with("expected an absolute path"),
                "{name}"
            );
        }
        assert!(look_at(7, &share(Path::new("relative"), "probe"), &[]).is_err());
    }
}
