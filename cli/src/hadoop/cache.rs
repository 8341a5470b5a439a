//! What goes to workers with a job: `-files`, `-archives` and `-file`.
//!
//! Local files are copied into a staging directory of the default file system, which goes away with this value. Workers
//! fetch each once for a job and compare its size and CRC-32 with what was measured here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use howdah_apps::cache::{self, Entry};

use super::files::upload;
use super::site::Site;
use crate::failure::{Failure, Outcome};
use crate::local::cannot;

/// Where Hadoop has it.
const STAGING: &str = "/tmp/hadoop-yarn/staging";

/// A job's staging directory, made when the first file comes.
#[derive(Debug)]
pub(super) struct Staging(PathBuf);

impl Drop for Staging {
    fn drop(&mut self) {
        // It is not there when nothing was staged.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Staging {
    /// Leaves the files where they are: the job outlives the command.
    pub(super) fn keep(self) {
        std::mem::forget(self);
    }

    pub(super) fn new(site: &Site) -> Staging {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let user = crate::caller::user();
        let base = match site.file_system.root() {
            Some(root) => root.join(STAGING.trim_start_matches('/')),
            None => std::env::temp_dir().join("howdah-staging"),
        };
        Staging(base.join(user).join(".staging").join(format!("{}-{now}", std::process::id())))
    }

    /// Puts files and archives into the job's properties.
    pub(super) fn add(
        &self,
        site: &Site,
        properties: &mut BTreeMap<String, String>,
        files: &[String],
        archives: &[String],
        shipped: &[String],
    ) -> Outcome<()> {
        let mut entries = Vec::new();
        for (uris, is_archive) in [(files, false), (archives, true), (shipped, false)] {
            for uri in uris {
                let entry = self.entry(site, uri, is_archive, entries.len())?;
                if let Some(first) = entries.iter().find(|other: &&Entry| other.name == entry.name)
                    && (first.bytes, first.crc32) != (entry.bytes, entry.crc32)
                {
                    return Err(Failure::usage(format!(
                        "two files would be `{}` for tasks: `{uri}` is the second",
                        entry.name
                    )));
                }
                entries.retain(|other| other.name != entry.name);
                entries.push(entry);
            }
        }
        if entries.is_empty() {
            return Ok(());
        }
        for (key, is_archive) in [("mapreduce.job.cache.files", false), ("mapreduce.job.cache.archives", true)] {
            let of_kind = entries.iter().filter(|entry| entry.archive == is_archive);
            let list: Vec<String> = of_kind.map(|entry| format!("file://{}#{}", entry.path, entry.name)).collect();
            if !list.is_empty() {
                properties.insert(key.to_owned(), list.join(","));
            }
        }
        let text = serde_json::to_string(&entries)
            .map_err(|error| Failure::broke(format!("write the list of files: {error}")))?;
        properties.insert(cache::PROPERTY.to_owned(), text);
        Ok(())
    }

    fn entry(&self, site: &Site, uri: &str, is_archive: bool, index: usize) -> Outcome<Entry> {
        let (path, name) = uri.rsplit_once('#').map_or((uri, None), |(path, name)| (path, Some(name)));
        let is_local = !path.contains(":/");
        let source = match is_local {
            true => std::path::absolute(path).map_err(|error| cannot("find", Path::new(path), &error))?,
            false => site.file_system.local(path).map_err(|problem| Failure::usage(format!("`{uri}`: {problem}")))?,
        };
        let own = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.map_or(own.clone(), str::to_owned);
        if !cache::is_good_name(&name) {
            return Err(Failure::usage(format!("`{uri}`: `{name}` is not a name for a file in a task's directory")));
        }
        if !source.is_file() {
            return Err(Failure::usage(format!("File does not exist: {path}")));
        }
        let shared = if is_local { self.0.join(index.to_string()).join(&own) } else { source.clone() };
        if is_local {
            let parent = shared.parent().unwrap_or(&self.0);
            let copied = std::fs::create_dir_all(parent).and_then(|()| upload(&site.file_system, &source, &shared));
            copied.map_err(|error| cannot("copy", &source, &error))?;
        }
        let (bytes, crc32) = measure(&shared).map_err(|error| cannot("read", &shared, &error))?;
        let mode = std::fs::metadata(&source).map_or(0o644, |metadata| metadata.permissions().mode() & 0o777);
        Ok(Entry { path: shared.display().to_string(), name, archive: is_archive, bytes, crc32, mode })
    }
}

fn measure(path: &Path) -> std::io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((bytes, hasher.finalize())),
            n => {
                hasher.update(&buffer[..n]);
                bytes += n as u64;
            }
        }
    }
}
