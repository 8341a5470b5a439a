//! The files of a mirrored folder by the numbers that the kernel knows them under, and those that are open.

use std::collections::HashMap;
use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fuser::FileAttr;

/// Of the folder itself.
const ROOT: u64 = 1;

/// An open file.
struct Open {
    ino: u64,
    file: File,
}

pub(super) struct Files {
    paths: HashMap<u64, PathBuf>,
    numbers: HashMap<PathBuf, u64>,
    open: HashMap<u64, Open>,
    last: u64,
}

impl Files {
    pub(super) fn new(root: &Path) -> Files {
        let (paths, numbers) = ([(ROOT, root.to_owned())].into(), [(root.to_owned(), ROOT)].into());
        Files { paths, numbers, open: HashMap::new(), last: ROOT }
    }

    /// A number that was never given is stale.
    pub(super) fn path(&self, ino: u64) -> io::Result<PathBuf> {
        self.paths.get(&ino).cloned().ok_or_else(|| io::Error::from_raw_os_error(libc::ESTALE))
    }

    pub(super) fn attr(&mut self, path: &Path) -> io::Result<FileAttr> {
        let metadata = fs::symlink_metadata(path)?;
        let ino = match self.numbers.get(path) {
            Some(&ino) => ino,
            None => {
                self.last += 1;
                self.numbers.insert(path.to_owned(), self.last);
                self.paths.insert(self.last, path.to_owned());
                self.last
            }
        };
        Ok(attr(ino, &metadata))
    }

    /// Whether it was made here, or told of before.
    pub(super) fn is_known(&self, path: &Path) -> bool {
        self.numbers.contains_key(path)
    }

    pub(super) fn add(&mut self, ino: u64, file: File) -> u64 {
        self.last += 1;
        self.open.insert(self.last, Open { ino, file });
        self.last
    }

    pub(super) fn opened(&self, handle: u64) -> io::Result<&File> {
        let open = self.open.get(&handle).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF));
        open.map(|open| &open.file)
    }

    /// Removes a file. One that is open gets another name until it is closed, as network file systems do; that name itself
    /// cannot be removed meanwhile.
    pub(super) fn unlink(&mut self, path: &Path) -> io::Result<()> {
        let ino = self.numbers.get(path).copied();
        if let Some(ino) = ino.filter(|ino| self.open.values().any(|open| open.ino == *ino)) {
            if is_in_use(path) {
                return Err(io::Error::from_raw_os_error(libc::EBUSY));
            }
            return self.rename(path, &path.with_file_name(format!(".nfs{ino:016}")));
        }
        fs::remove_file(path)?;
        self.forget(path);
        Ok(())
    }

    pub(super) fn close(&mut self, handle: u64) {
        let Some(closed) = self.open.remove(&handle) else { return };
        let is_last = !self.open.values().any(|open| open.ino == closed.ino);
        if let Some(path) = self.paths.get(&closed.ino).cloned().filter(|path| is_last && is_in_use(path)) {
            let _ = fs::remove_file(&path);
            self.forget(&path);
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        self.forget(to);
        let moved: Vec<(PathBuf, u64)> = self.numbers.extract_if(|path, _| path.starts_with(from)).collect();
        for (path, ino) in moved {
            let rest = path.strip_prefix(from).expect("it starts so");
            let path = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
            self.paths.insert(ino, path.clone());
            self.numbers.insert(path, ino);
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, path: &Path) {
        if let Some(ino) = self.numbers.remove(path) {
            self.paths.remove(&ino);
        }
    }
}

fn is_in_use(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".nfs"))
}

pub(super) fn kind(of: FileType) -> fuser::FileType {
    match of {
        of if of.is_dir() => fuser::FileType::Directory,
        of if of.is_symlink() => fuser::FileType::Symlink,
        of if of.is_fifo() => fuser::FileType::NamedPipe,
        _ => fuser::FileType::RegularFile,
    }
}

fn attr(ino: u64, metadata: &Metadata) -> FileAttr {
    let changed = metadata.modified().unwrap_or(std::time::UNIX_EPOCH);
    FileAttr {
        ino,
        size: metadata.len(),
        blocks: metadata.blocks(),
        atime: changed,
        mtime: changed,
        ctime: changed,
        crtime: changed,
        kind: kind(metadata.file_type()),
        perm: (metadata.mode() & 0o7777) as u16,
        nlink: metadata.nlink() as u32,
        uid: metadata.uid(),
        gid: metadata.gid(),
        rdev: 0,
        blksize: 4_096,
        flags: 0,
    }
}
