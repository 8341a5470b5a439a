//! A folder that all machines are to share: whether it can be written here, and whether its file system does what howdah
//! takes for granted of one (docs/guide/lab.md#the-share).

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use howdah_proto::v1;
use tempfile::NamedTempFile;

use super::checks::Check;

const WHAT: &str = "share";
/// Who does not answer by then hangs; workers wait as long.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file in the folder, for the workers to see; gone when this is dropped.
pub(super) struct Probe {
    folder: PathBuf,
    file: NamedTempFile,
    text: String,
}

/// What was found of a folder, and a probe in it if there is one.
type Found = (Vec<Check>, Option<Probe>);

/// Looks whether the folder is there and can be written, leaves a probe in it and tries out its file system; waits for none that
/// hangs.
pub(super) fn look(path: &Path) -> Found {
    let own = path.to_owned();
    within(PATIENCE, path, move || {
        let (check, probe) = try_to_write(&own);
        let habits = probe.as_ref().map(Probe::habits);
        ([check].into_iter().chain(habits).collect(), probe)
    })
}

fn within(patience: Duration, path: &Path, look: impl FnOnce() -> Found + Send + 'static) -> Found {
    let (tell, told) = mpsc::channel();
    // Nobody can end a call into a file system that hangs; the thread is left to it.
    std::thread::spawn(move || drop(tell.send(look())));
    told.recv_timeout(patience).unwrap_or_else(|_| {
        let problem = format!("this machine's file system does not answer within {} s", patience.as_secs());
        let help = "look whether the file server runs and the network to it, then mount it anew".to_owned();
        (vec![Check::bad(&path.display().to_string(), WHAT, problem, help)], None)
    })
}

fn try_to_write(path: &Path) -> (Check, Option<Probe>) {
    let of = path.display().to_string();
    let bad = |error: io::Error| {
        let help = "mount it on every machine at this place, writable for the workers' user".to_owned();
        Check::bad(&of, WHAT, error.to_string(), help)
    };
    match probe(path) {
        Ok(probe) => (Check::good(&of, WHAT, "can be written here".to_owned()), Some(probe)),
        Err(error) => (bad(error), None),
    }
}

fn probe(path: &Path) -> io::Result<Probe> {
    let folder = std::path::absolute(path)?;
    let mut file = tempfile::Builder::new().prefix(".howdah-doctor-").permissions(readable()).tempfile_in(&folder)?;
    // Nothing that lies there by chance has it.
    let text = format!("howdah doctor {}", file.path().display());
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(Probe { folder, file, text })
}

/// The workers are other users.
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o644)
}

impl Probe {
    /// As the master passes it on.
    pub(super) fn wire(&self) -> v1::Share {
        v1::Share { folder: self.folder.display().to_string(), name: self.name(), text: self.text.clone() }
    }

    fn name(&self) -> String {
        self.file.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What howdah takes for granted of the file system, tried out in a folder of its own that goes again.
    fn habits(&self) -> Check {
        let of = self.folder.display().to_string();
        let tried = tempfile::Builder::new().prefix(".howdah-doctor-").tempdir_in(&self.folder);
        let problem = match tried {
            Ok(dir) => habits(dir.path()).err().or_else(|| {
                dir.close().err().map(|error| format!("a folder that was emptied cannot be removed: {error}"))
            }),
            Err(error) => Some(format!("a folder cannot be made: {error}")),
        };
        match problem {
            None => Check::good(&of, "file system", "does what howdah expects".to_owned()),
            Some(problem) => {
                let help = "the share must be a POSIX file system, such as NFS, Lustre or CephFS: outputs would be lost \
                            or doubled on this one";
                Check::bad(&of, "file system", problem, help.to_owned())
            }
        }
    }
}

/// # Errors
/// With the first thing that is not as expected.
fn habits(dir: &Path) -> Result<(), String> {
    let [first, second, moved] = ["first", "second", "moved"].map(|name| dir.join(name));
    let said = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let make = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = make(&first).map_err(said("a file cannot be made"))?;
    file.write_all(b"1").and_then(|()| file.sync_all()).map_err(said("a file cannot be written and synced"))?;
    // Two that make the same file must not both succeed: the output's mark and `_SUCCESS` are made so.
    match make(&first) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(format!("a file that is there is made again: {error}")),
        Ok(_) => return Err("a file that is there can be made again as if it were new".to_owned()),
    }
    fs::rename(&first, &moved).map_err(said("a file cannot be renamed"))?;
    if fs::symlink_metadata(&first).is_ok() || fs::read(&moved).map_err(said("a renamed file cannot be read"))? != b"1"
    {
        return Err("a renamed file is in two places, or has other content".to_owned());
    }
    // A part file must not take another one's place. What a file system lacks of the two, the other stands in for.
    fs::write(&second, b"2").map_err(said("a second file cannot be written"))?;
    keeps(&second, &moved)?;
    if fs::read(&moved).map_err(said("a file that another was moved to cannot be read"))? != b"1" {
        return Err("a file was replaced although that was not asked for".to_owned());
    }
    let mut names: Vec<_> = fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>())
        .map_err(said("a folder cannot be listed"))?;
    names.sort();
    if names != ["moved", "second"] {
        return Err(format!("a folder with two files is listed as {names:?}"));
    }
    // Removed while it is open: on NFS it stays as `.nfs…` until it is closed.
    fs::remove_file(&moved).and_then(|()| fs::remove_file(&second)).map_err(said("a file cannot be removed"))?;
    drop(file);
    Ok(())
}

/// Moves a file to where another one is, which must fail, as the master moves part files.
fn keeps(from: &Path, to: &Path) -> Result<(), String> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    let tried = match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => fs::hard_link(from, to),
        tried => tried.map_err(io::Error::from),
    };
    match tried {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(format!("it can neither move a file without replacing another nor link one: {error}")),
        Ok(()) => Err("a file takes the place of another although that was not asked for".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_written_to_and_what_was_tried_is_gone_again() {
        let folder = tempfile::tempdir().unwrap();
        let (found, probe) = look(folder.path());
        let problems: Vec<_> = found.iter().map(|check| check.problem.as_deref()).collect();
        assert_eq!(problems, [None, None]);
        let probe = probe.unwrap();
        let v1::Share { folder: place, name, text } = probe.wire();
        assert_eq!(fs::read_to_string(Path::new(&place).join(name)).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "and nothing else");
        drop(probe);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the probe is gone");
    }

    #[test]
    fn a_folder_that_is_not_there_is_bad() {
        let folder = tempfile::tempdir().unwrap();
        let (found, probe) = look(&folder.path().join("nothing"));
        let [check] = found.as_slice() else { panic!("{found:?}") };
        assert!(check.problem.is_some() && !check.help.is_empty() && probe.is_none());
    }

    #[test]
    fn a_folder_that_hangs_is_not_waited_for() {
        let (hold, held) = mpsc::channel::<()>();
        let hangs = move || {
            let _ = held.recv();
            (Vec::new(), None)
        };
        let (found, probe) = within(Duration::from_millis(20), Path::new("/share"), hangs);
        assert!(probe.is_none());
        assert_eq!(found[0].problem.as_deref(), Some("this machine's file system does not answer within 0 s"));
        drop(hold);
    }

    #[test]
    fn a_file_that_is_in_the_way_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "1").unwrap();
        fs::write(&to, "2").unwrap();
        keeps(&from, &to).unwrap();
        fs::remove_file(&to).unwrap();
        assert_eq!(keeps(&from, &to).unwrap_err(), "a file takes the place of another although that was not asked for");
    }
}
