//! The distributed cache: files and archives that a job brings along, in each task's working directory.
//!
//! A worker keeps one copy for all attempts of a job, beside their directories, and it goes when the job's files go. The
//! first attempt that wants it fetches it, the others wait; size and CRC-32 must be those that the client measured. In
//! an attempt's directory is a link of the file's name. Archives are unpacked to a directory of that name: one that
//! would write or link outside it is refused whole.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use howdah_task::{Context, Result};
use serde::{Deserialize, Serialize};

/// The job's property that lists them, as JSON.
pub const PROPERTY: &str = "howdah.job.cache";
/// Directory beside the attempts' own, for each job.
const DIRECTORY: &str = "cache";
/// Most files in an archive, and bytes when it is unpacked.
const MAX_FILES: usize = 100_000;
const MAX_BYTES: u64 = 16 << 30;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Absolute path, which every worker can read.
    pub path: String,
    /// What tasks call it.
    pub name: String,
    /// To be unpacked.
    pub archive: bool,
    /// Size and CRC-32 of the file.
    pub bytes: u64,
    /// As zlib computes it.
    pub crc32: u32,
    /// Permissions of the original.
    pub mode: u32,
}

/// Whether a text can be the name of a file in a task's directory: one part, and not hidden behind `.` or `..`.
pub fn is_good_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        && !name.contains('\0')
}

/// Puts the job's files into the attempt's directory.
///
/// # Errors
/// Names the file, and what is wrong with it.
pub(crate) fn provide(context: &Context) -> Result {
    let Some(text) = context.properties().get(PROPERTY) else { return Ok(()) };
    let entries: Vec<Entry> = serde_json::from_str(text).map_err(|error| format!("property `{PROPERTY}`: {error}"))?;
    let attempt = context.local_dir();
    let job = attempt.parent().ok_or("the attempt's directory has no parent")?.join(DIRECTORY);
    fs::create_dir_all(&job).map_err(|error| format!("create `{}`: {error}", job.display()))?;
    for (index, entry) in entries.iter().enumerate() {
        if !is_good_name(&entry.name) {
            return Err(format!("cached file `{}`: its name is not one for a task's directory", entry.name).into());
        }
        let copy = fetch(&job, index, entry).map_err(|error| format!("cached file `{}`: {error}", entry.path))?;
        let link = attempt.join(&entry.name);
        // A process may run several attempts, each in its own directory.
        if !link.exists() {
            symlink(&copy, &link).map_err(|error| format!("link `{}`: {error}", link.display()))?;
        }
    }
    Ok(())
}

/// The job's copy on this worker, made if it is the first who wants it.
fn fetch(job: &Path, index: usize, entry: &Entry) -> io::Result<PathBuf> {
    let (done, doing) = (job.join(index.to_string()), job.join(format!("{index}.part")));
    let lock = File::create(job.join(format!("{index}.lock")))?;
    lock.lock()?;
    if done.exists() {
        return Ok(done);
    }
    // Of an attempt that was killed.
    if doing.is_dir() {
        fs::remove_dir_all(&doing)?;
    }
    if entry.archive {
        let copy = job.join(format!("{index}.archive"));
        copy_checked(entry, &copy)?;
        fs::create_dir(&doing)?;
        let unpacked = unpack(&copy, &entry.path, &doing);
        let _ = fs::remove_file(&copy);
        if let Err(error) = unpacked {
            let _ = fs::remove_dir_all(&doing);
            return Err(error);
        }
    } else {
        copy_checked(entry, &doing)?;
        // Hadoop makes what it ships executable.
        fs::set_permissions(&doing, Permissions::from_mode(entry.mode & 0o777 | 0o555))?;
    }
    fs::rename(&doing, &done)?;
    Ok(done)
}

fn copy_checked(entry: &Entry, to: &Path) -> io::Result<()> {
    let mut from = File::open(&entry.path)?.take(entry.bytes.saturating_add(1));
    let mut file = File::create(to)?;
    let mut hasher = crc32fast::Hasher::new();
    let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0);
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
        file.write_all(&buffer[..n])?;
        bytes += n as u64;
    }
    let crc32 = hasher.finalize();
    if (bytes, crc32) == (entry.bytes, entry.crc32) {
        return Ok(());
    }
    let (wanted, known) = (entry.bytes, entry.crc32);
    Err(io::Error::other(format!(
        "it changed since the job was submitted: {bytes} bytes with CRC-32 {crc32:08x}, expected {wanted} with {known:08x}"
    )))
}

/// Unpacks by the ending of the archive's name, as Hadoop does.
fn unpack(archive: &Path, name: &str, into: &Path) -> io::Result<()> {
    let file = File::open(archive)?;
    let name = name.to_ascii_lowercase();
    if name.ends_with(".zip") || name.ends_with(".jar") {
        unzip(file, into)
    } else if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
        untar(flate2::read::MultiGzDecoder::new(file), into)
    } else if name.ends_with(".tar") {
        untar(file, into)
    } else {
        Err(io::Error::other("its name ends with none of .zip, .jar, .tar, .tar.gz, .tgz"))
    }
}

/// What was unpacked so far.
#[derive(Default)]
struct Unpacked {
    files: usize,
    bytes: u64,
    links: Vec<PathBuf>,
}

impl Unpacked {
    /// The place of an entry, counted.
    fn place(&mut self, name: &Path, bytes: u64, into: &Path) -> io::Result<PathBuf> {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files > MAX_FILES || self.bytes > MAX_BYTES {
            return Err(io::Error::other(format!("it holds more than {MAX_FILES} files or {MAX_BYTES} bytes")));
        }
        let inside = inside(name)
            .ok_or_else(|| io::Error::other(format!("`{}` in it would lie outside its directory", name.display())))?;
        let place = into.join(inside);
        // A link that was unpacked before must not be walked through.
        let mut step = into.to_owned();
        for part in place.strip_prefix(into).unwrap_or(&place).components() {
            if step.is_symlink() {
                return Err(io::Error::other(format!("`{}` in it lies behind a link", name.display())));
            }
            step.push(part);
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(place)
    }
}

impl Unpacked {
    /// Makes a link, if it stays inside by its words.
    fn link(&mut self, name: &Path, target: &Path, place: PathBuf) -> io::Result<()> {
        if !target_is_inside(name, target) {
            return Err(leads_outside(name, target));
        }
        symlink(target, &place)?;
        self.links.push(place);
        Ok(())
    }

    /// Looks once more where links lead when all is there: through one to `.`, `b/..` is outside of where `b` stands.
    fn check_links(&self, into: &Path) -> io::Result<()> {
        let real = into.canonicalize()?;
        for link in &self.links {
            let target = fs::read_link(link)?;
            if !leads_inside(&link.with_file_name(&target), &real) {
                return Err(leads_outside(link.strip_prefix(into).unwrap_or(link), &target));
            }
        }
        Ok(())
    }
}

/// Whether a path stays in a directory by what is there; of the rest, which is not, nothing leads upwards.
fn leads_inside(path: &Path, real: &Path) -> bool {
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    there.is_some_and(|(part, found)| {
        let rest = path.strip_prefix(part).unwrap_or(path);
        found.starts_with(real)
            && rest.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    })
}

fn leads_outside(name: &Path, target: &Path) -> io::Error {
    let (name, target) = (name.display(), target.display());
    io::Error::other(format!("the link `{name}` in it leads outside its directory, to `{target}`"))
}

/// A relative path without parts that lead upwards; `None` if it is another.
fn inside(name: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(path)
}

/// Whether a link's target, read from where the link is, stays in the directory.
fn target_is_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().filter(|part| matches!(part, Component::Normal(_))).count() as i64 - 1;
    target.components().all(|part| {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            _ => return false,
        }
        depth >= 0
    })
}

fn untar(from: impl Read, into: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(from);
    let mut unpacked = Unpacked::default();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        let size = entry.size();
        let place = unpacked.place(&name, size, into)?;
        match entry.header().entry_type() {
            tar::EntryType::Directory => fs::create_dir_all(&place)?,
            tar::EntryType::Regular | tar::EntryType::Continuous => {
                let mode = entry.header().mode().unwrap_or(0o644);
                write(&mut entry, &place, mode)?;
            }
            tar::EntryType::Symlink => {
                let target = entry.link_name()?.unwrap_or_default().into_owned();
                unpacked.link(&name, &target, place)?;
            }
            tar::EntryType::XGlobalHeader => {}
            other => {
                let message =
                    format!("`{}` in it is neither a file, a directory nor a link ({other:?})", name.display());
                return Err(io::Error::other(message));
            }
        }
    }
    unpacked.check_links(into)
}

fn unzip(from: impl Read + Seek, into: &Path) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(from).map_err(io::Error::other)?;
    let mut unpacked = Unpacked::default();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(io::Error::other)?;
        let name = PathBuf::from(entry.name().map_err(io::Error::other)?.into_owned());
        // What it says of its size is not trusted: the copy below is bounded by it.
        let size = entry.size();
        let place = unpacked.place(&name, size, into)?;
        let mode = entry.unix_mode().unwrap_or(0o644);
        if entry.is_dir() {
            fs::create_dir_all(&place)?;
        } else if entry.is_symlink() {
            let mut target = String::new();
            entry.by_ref().take(4_096).read_to_string(&mut target)?;
            unpacked.link(&name, Path::new(&target), place)?;
        } else {
            write(&mut entry.take(size), &place, mode)?;
        }
    }
    unpacked.check_links(into)
}

fn write(from: &mut impl Read, place: &Path, mode: u32) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(place)?;
    io::copy(from, &mut file)?;
    fs::set_permissions(place, Permissions::from_mode(mode & 0o777 | 0o444))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of one entry of this kind.
    fn tar_of(name: &str, kind: tar::EntryType, target: &str, content: &[u8]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_old();
        // The library would not write such a name.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        if !target.is_empty() {
            header.as_mut_bytes()[157..157 + target.len()].copy_from_slice(target.as_bytes());
        }
        header.set_cksum();
        builder.append(&header, content).expect("a vector takes everything");
        builder.into_inner().expect("a vector takes everything")
    }

    pub(super) fn unpacked(archive: &[u8], name: &str) -> (tempfile::TempDir, io::Result<()>) {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("archive");
        fs::write(&file, archive).expect("a file");
        let into = dir.path().join("in/to");
        fs::create_dir_all(&into).expect("a folder");
        let done = unpack(&file, name, &into);
        (dir, done)
    }

    #[test]
    fn files_and_links_that_stay_inside_are_unpacked() {
        let (dir, done) = unpacked(&tar_of("a/b", tar::EntryType::Regular, "", b"text"), "x.tar");
        done.expect("a good archive");
        assert_eq!(fs::read(dir.path().join("in/to/a/b")).expect("there"), b"text");
        let (dir, done) = unpacked(&tar_of("a/l", tar::EntryType::Symlink, "../b", b""), "x.tar");
        done.expect("a good archive");
        assert_eq!(fs::read_link(dir.path().join("in/to/a/l")).expect("there"), Path::new("../b"));
    }

    #[test]
    fn an_archive_that_would_leave_its_directory_is_refused_and_writes_nothing_there() {
        use tar::EntryType::{Link, Regular, Symlink};
        for (name, kind, target, problem) in [
            ("../evil", Regular, "", "would lie outside"),
            ("/evil", Regular, "", "would lie outside"),
            ("a/../../evil", Regular, "", "would lie outside"),
            ("l", Symlink, "/etc/passwd", "leads outside"),
            ("a/l", Symlink, "../../evil", "leads outside"),
            ("l", Link, "/etc/passwd", "neither a file"),
        ] {
            let (dir, done) = unpacked(&tar_of(name, kind, target, b""), "x.tar");
            let said = done.expect_err(name).to_string();
            assert!(said.contains(problem), "{name}: {said}");
            assert!(!dir.path().join("in/evil").exists() && !Path::new("/evil").exists(), "{name}");
        }
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        zip.start_file("../evil", zip::write::SimpleFileOptions::default()).expect("any name");
        zip.write_all(b"x").expect("a vector takes everything");
        let zip = zip.finish().expect("a vector takes everything").into_inner();
        let (dir, done) = unpacked(&zip, "x.zip");
        assert!(done.expect_err("refused").to_string().contains("would lie outside"));
        assert!(!dir.path().join("in/evil").exists());
    }

    #[test]
    fn links_that_lead_outside_through_other_links_are_refused_and_those_that_stay_are_not() {
        let archive = |links: &[(&str, &str)]| {
            let mut builder = tar::Builder::new(Vec::new());
            for (name, target) in links {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                builder.append_link(&mut header, name, target).expect("a vector takes everything");
            }
            builder.into_inner().expect("a vector takes everything")
        };
        for links in
            [&[("b", "."), ("x", "b/..")][..], &[("b", "."), ("x", "b/../evil")], &[("x", "b/../e"), ("b", ".")]]
        {
            let (_dir, done) = unpacked(&archive(links), "x.tar");
            let said = done.expect_err("it leads outside").to_string();
            assert!(said.starts_with("the link `x` in it leads outside its directory, to `b/.."), "{said}");
        }
        for links in [&[("b", "c"), ("x", "b/d")][..], &[("a/x", "../b"), ("b", "a")], &[("x", "y"), ("y", "x")]] {
            unpacked(&archive(links), "x.tar").1.expect("they stay inside, or lead nowhere");
        }
    }

    #[test]
    fn a_file_that_changed_since_it_was_measured_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("f");
        fs::write(&path, "abc").expect("a file");
        let mut entry = Entry {
            path: path.display().to_string(),
            name: "f".to_owned(),
            archive: false,
            bytes: 3,
            crc32: crc32fast::hash(b"abc"),
            mode: 0o600,
        };
        let copy = fetch(dir.path(), 0, &entry).expect("as measured");
        assert_eq!(fs::read(&copy).expect("a copy"), b"abc");
        assert_eq!(fs::metadata(&copy).expect("a copy").permissions().mode() & 0o777, 0o755);
        entry.crc32 ^= 1;
        let said = fetch(dir.path(), 1, &entry).expect_err("another file").to_string();
        assert!(said.contains("it changed since"), "{said}");
    }

    #[test]
    fn names_are_single_parts() {
        assert!(is_good_name("a.zip") && is_good_name("..a"));
        for bad in ["", ".", "..", "a/b", "/a", "../a", "a/"] {
            assert!(!is_good_name(bad), "{bad}");
        }
    }
}

#[cfg(test)]
mod fuzz;
