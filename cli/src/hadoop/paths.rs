//! From Hadoop's paths to files: `hdfs:///a`, `/a` and `a` lie below the installation's directory, `file:///a` does not.
//!
//! A path never leaves that directory by its text: `..` is taken out first, and stops at the root as in HDFS. Links that
//! somebody put into the directory are followed; whoever may do so may read it anyway.

use std::path::{Component, Path, PathBuf};

/// The default file system of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileSystem {
    /// `hdfs:///` in it; `None` when the default is `file:///`.
    root: Option<PathBuf>,
    /// The default's host and port, often empty.
    authority: String,
    user: String,
}

/// A path that names nothing here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PathError {
    #[error("No FileSystem for scheme \"{0}\"")]
    Scheme(String),
    #[error("Wrong FS: {path}, expected: hdfs://{expected}/")]
    Authority { path: String, expected: String },
    #[error("the default file system `{0}` is a directory here, expected its path in `howdah.fs.root`")]
    NoRoot(String),
    #[error("property `howdah.fs.root`: `{0}` is not an absolute path")]
    Relative(String),
}

/// A path as somebody wrote it, and the file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// As written; a listing's paths begin with it.
    pub(super) shown: String,
    pub(super) local: PathBuf,
}

impl Named {
    /// An entry of this directory.
    pub(super) fn child(&self, name: &str) -> Named {
        let slash = if self.shown.ends_with('/') || self.shown.is_empty() { "" } else { "/" };
        Named { shown: format!("{}{slash}{name}", self.shown), local: self.local.join(name) }
    }
}

impl FileSystem {
    /// The file system that `default` names, in `root` if it is HDFS.
    pub(super) fn new(default: &str, root: Option<PathBuf>, user: &str) -> Result<FileSystem, PathError> {
        let user = user.to_owned();
        let (scheme, rest) = default.split_once("://").unwrap_or((default.trim_end_matches(":/"), ""));
        match (scheme, root) {
            ("file", _) => Ok(FileSystem { root: None, authority: String::new(), user }),
            ("hdfs", Some(root)) if root.is_absolute() => {
                let authority = rest.split('/').next().unwrap_or_default().to_owned();
                Ok(FileSystem { root: Some(root), authority, user })
            }
            ("hdfs", Some(root)) => Err(PathError::Relative(root.display().to_string())),
            ("hdfs", None) => Err(PathError::NoRoot(default.to_owned())),
            _ => Err(PathError::Scheme(scheme.to_owned())),
        }
    }

    /// The file that a path names.
    pub(super) fn local(&self, path: &str) -> Result<PathBuf, PathError> {
        let Some((scheme, rest)) = split_scheme(path) else { return Ok(self.below(path)) };
        let (authority, absolute) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        match scheme {
            "file" => Ok(normal(Path::new("/"), absolute)),
            "hdfs" if self.root.is_none() => Err(PathError::NoRoot(path.to_owned())),
            "hdfs" if !authority.is_empty() && authority != self.authority => {
                Err(PathError::Authority { path: path.to_owned(), expected: self.authority.clone() })
            }
            "hdfs" => Ok(self.below(if absolute.is_empty() { "/" } else { absolute })),
            other => Err(PathError::Scheme(other.to_owned())),
        }
    }

    /// What a job reads or writes under this path: a file of this installation, or the path itself where it names another HDFS or a
    /// bucket, of which the master knows more.
    pub(super) fn of_job(&self, path: &str) -> Result<String, PathError> {
        if self.is_elsewhere(path) { Ok(path.to_owned()) } else { Ok(self.local(path)?.display().to_string()) }
    }

    /// Whether a path names a bucket, or an HDFS that is not this installation's directory.
    pub(super) fn is_elsewhere(&self, path: &str) -> bool {
        let authority = |rest: &str| rest.split('/').next().unwrap_or_default().to_owned();
        match path.split_once("://") {
            Some(("webhdfs" | "s3" | "s3a" | "s3n", rest)) => !authority(rest).is_empty(),
            Some(("hdfs", rest)) => {
                let named = authority(rest);
                !named.is_empty() && (self.root.is_none() || named != self.authority)
            }
            _ => false,
        }
    }

    /// As [`FileSystem::local`], remembered with its text.
    pub(super) fn named(&self, path: &str) -> Result<Named, PathError> {
        let shown = if path.len() > 1 && !path.ends_with(":///") { path.trim_end_matches('/') } else { path };
        Ok(Named { shown: shown.to_owned(), local: self.local(path)? })
    }

    fn below(&self, path: &str) -> PathBuf {
        let root = self.root.as_deref().unwrap_or(Path::new("/"));
        if path.starts_with('/') { normal(root, path) } else { normal(&self.home(), path) }
    }

    /// What relative paths are relative to.
    pub(super) fn home(&self) -> PathBuf {
        match &self.root {
            Some(root) => root.join("user").join(&self.user),
            None => std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        }
    }

    /// The directory that stands for `hdfs:///`, if the default is HDFS.
    pub(super) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// A file's path with its scheme.
    pub(super) fn uri(&self, local: &Path) -> String {
        match self.root.as_ref().and_then(|root| local.strip_prefix(root).ok()) {
            Some(inside) => format!("hdfs://{}/{}", self.authority, inside.display()),
            None => format!("file://{}", local.display()),
        }
    }

    /// All that a path with `*`, `?`, `[…]` or `{…}` names, by name; one without names itself, there or not.
    pub(super) fn expand(&self, path: &str) -> Result<Vec<Named>, PathError> {
        if !path.contains(['*', '?', '[', '{']) {
            return Ok(vec![self.named(path)?]);
        }
        let mut found = Vec::new();
        for path in braces(path) {
            let named = self.named(&path)?;
            let base = self.root.as_deref().filter(|root| named.local.starts_with(root)).unwrap_or(Path::new("/"));
            let inside = named.local.strip_prefix(base).unwrap_or(&named.local);
            let pattern = format!("{}/{}", glob::Pattern::escape(&base.display().to_string()), inside.display());
            // What is before the pattern's first part stays as it was written.
            let depth = named.local.components().count();
            let written: Vec<&str> = named.shown.split('/').collect();
            for local in glob::glob(&pattern).into_iter().flatten().flatten() {
                let parts: Vec<String> =
                    local.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
                let n = written.len().min(depth);
                let kept = written.iter().take_while(|part| !part.contains(['*', '?', '['])).count();
                let n_new = n - kept.min(n);
                let head = written[..kept].join("/");
                let tail = parts[parts.len().saturating_sub(n_new)..].join("/");
                let shown = if kept == 0 { tail } else { format!("{head}/{tail}") };
                found.push(Named { shown, local });
            }
        }
        Ok(found)
    }
}

/// `scheme` and the rest of `scheme:rest`.
fn split_scheme(path: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = path.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (is_scheme && rest.starts_with('/')).then_some((scheme, rest))
}

/// `path` below `base` without `.` and `..`, which stops at `base`.
fn normal(base: &Path, path: &str) -> PathBuf {
    let mut inside: Vec<&std::ffi::OsStr> = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::ParentDir => drop(inside.pop()),
            _ => {}
        }
    }
    inside.into_iter().fold(base.to_owned(), |path, part| path.join(part))
}

/// `a{b,c}d` as `abd` and `acd`.
fn braces(path: &str) -> Vec<String> {
    let parts = path.find('{').and_then(|open| Some((open, open + path[open..].find('}')?)));
    let Some((open, close)) = parts else { return vec![path.to_owned()] };
    let (before, after) = (&path[..open], &path[close + 1..]);
    path[open + 1..close].split(',').flat_map(|choice| braces(&format!("{before}{choice}{after}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped() -> FileSystem {
        FileSystem::new("hdfs://nn:8020", Some("/data/fs".into()), "ann").expect("a root")
    }

    #[test]
    fn every_form_of_a_path_names_its_file() {
        let fs = mapped();
        for (path, local) in [
            ("hdfs:///a/b", "/data/fs/a/b"),
            ("hdfs://nn:8020/a//b/", "/data/fs/a/b"),
            ("hdfs:/a", "/data/fs/a"),
            ("hdfs:///", "/data/fs"),
            ("/a", "/data/fs/a"),
            ("a/./b", "/data/fs/user/ann/a/b"),
            ("a:b", "/data/fs/user/ann/a:b"),
            ("file:///etc/motd", "/etc/motd"),
        ] {
            assert_eq!(fs.local(path).expect(path), Path::new(local), "{path}");
        }
        assert_eq!(fs.uri(Path::new("/data/fs/a")), "hdfs://nn:8020/a");
        assert_eq!(fs.uri(Path::new("/etc/motd")), "file:///etc/motd");
    }

    #[test]
    fn no_text_leads_out_of_the_directory() {
        let fs = mapped();
        for path in ["hdfs:///../../etc/passwd", "/../../etc/passwd", "hdfs:///a/../../../etc/passwd"] {
            assert_eq!(fs.local(path).expect(path), Path::new("/data/fs/etc/passwd"), "{path}");
        }
        assert_eq!(fs.local("../../../x").expect("a path"), Path::new("/data/fs/user/ann/x"));
    }

    #[test]
    fn other_file_systems_are_refused_by_name() {
        let said = |path: &str| mapped().local(path).expect_err(path).to_string();
        assert_eq!(said("s3://bucket/a"), "No FileSystem for scheme \"s3\"");
        assert_eq!(said("hdfs://other/a"), "Wrong FS: hdfs://other/a, expected: hdfs://nn:8020/");
    }

    #[test]
    fn a_job_may_read_and_write_another_hdfs() {
        let fs = mapped();
        for elsewhere in ["hdfs://other/a", "webhdfs://nn:9870/a", "s3a://bucket/a"] {
            assert_eq!(fs.of_job(elsewhere).as_deref(), Ok(elsewhere));
        }
        for here in ["hdfs://nn:8020/a", "hdfs:///a", "/a"] {
            assert_eq!(fs.of_job(here).as_deref(), Ok("/data/fs/a"));
        }
        assert!(fs.of_job("ftp://host/a").is_err());
    }

    #[test]
    fn patterns_keep_what_was_written_before_them() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["out/part-0", "out/part-1", "out/x", "b"] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        let fs = FileSystem::new("hdfs:///", Some(dir.path().to_owned()), "ann").expect("a root");
        let shown = |path: &str| -> Vec<String> {
            fs.expand(path).expect("good").into_iter().map(|named| named.shown).collect()
        };
        assert_eq!(shown("hdfs:///out/part*"), ["hdfs:///out/part-0", "hdfs:///out/part-1"]);
        assert_eq!(shown("/o*/{x,part-1}"), ["/out/x", "/out/part-1"]);
        assert_eq!(shown("/none*"), Vec::<String>::new());
        assert_eq!(shown("/none"), ["/none"]);
    }
}
