//! Files where a task may have put something else: a FIFO, a device, a link to a file of somebody's.
//!
//! Opening a FIFO waits for its other end, and a link leads out of the directory that the path names. The worker opens
//! what a task could have replaced only here: without waiting, without following, and never anything but a plain file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use howdah_guards::Guard;
use nix::fcntl::OFlag;

/// Opens a plain file to read it.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !Guard::PlainFiles.stands() {
        return File::open(path);
    }
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
}

/// The text of a file of ours that has so many bytes at most.
///
/// # Errors
/// When it is longer, is no text or cannot be read.
pub(crate) fn small_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = open(path)?.take(most + 1).read_to_string(&mut text)?;
    if read as u64 > most { Err(io::Error::other(format!("it has more than {most} bytes"))) } else { Ok(text) }
}

/// Makes a file of its own in the place of whatever is there, to be read and appended to.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    if !Guard::PlainFiles.stands() {
        return File::create(path);
    }
    let make = || OpenOptions::new().read(true).append(true).create_new(true).open(path);
    match make() {
        // Seldom, so what is there is not looked for first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(path).and_then(|()| make()),
        made => made,
    }
}

/// Makes a directory that is one itself, not a link to one.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    // Nearly always nothing is there and the directory above it is, which one call settles.
    if fs::create_dir(path).is_ok() {
        return Ok(());
    }
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_dir()) {
        fs::remove_file(path)?;
    }
    fs::create_dir_all(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_files_are_opened_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("plain"), "x").unwrap();
        symlink(at("plain"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open(&at("plain")).is_ok());
        for name in ["link", "fifo", "none", "."] {
            assert!(open(&at(name)).is_err(), "{name}");
        }
        assert!(open(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn what_was_planted_is_replaced_and_its_target_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("victim"), "precious").unwrap();
        symlink(at("victim"), at("stdout")).unwrap();
        nix::unistd::mkfifo(&at("stderr"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        symlink(at("elsewhere"), at("logs")).unwrap();
        for name in ["stdout", "stderr"] {
            create(&at(name)).unwrap().write_all(b"log").unwrap();
            assert_eq!(fs::read(at(name)).unwrap(), b"log");
        }
        make_dir(&at("logs")).unwrap();
        assert!(fs::symlink_metadata(at("logs")).unwrap().is_dir());
        assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
    }
}
