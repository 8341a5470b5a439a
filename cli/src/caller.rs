//! The caller of the command: who that is, and where the paths are that they name.

use std::path::{Component, Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// Workers have other current directories. URLs and absolute paths stay as they are. `flag` is where it was named.
pub(crate) fn absolute(flag: &str, path: &str) -> Outcome<String> {
    if has_scheme(path) {
        return Ok(path.to_owned());
    }
    if path.is_empty() {
        return Err(Failure::usage(format!("{flag}: found an empty path, expected a file or a directory")));
    }
    let full = std::path::absolute(PathBuf::from(path))
        .map_err(|error| Failure::usage(format!("{flag}: path `{path}`: {error}")))?;
    Ok(full.display().to_string())
}

/// As [`absolute`], of a directory that is to be made: without `..`, as whoever makes it takes none. What stands before a
/// `..` may be a link, so it is looked up where it is there. With `remote_paths` it is not here, and stays as it is.
pub(crate) fn absolute_output(flag: &str, path: &str, remote_paths: bool) -> Outcome<String> {
    let full = absolute(flag, path)?;
    if has_scheme(path) {
        return Ok(full);
    }
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let mut whole = PathBuf::from(&full);
    // A relative path begins where this runs, on this machine.
    if climbs(&whole) && !(remote_paths && Path::new(path).is_absolute()) {
        whole = without_climbing(&whole);
    }
    if whole.file_name().is_none() && !climbs(&whole) {
        let said =
            format!("{flag}: found `{path}`, which is the root directory, expected a directory that does not exist");
        return Err(Failure::usage(said));
    }
    Ok(whole.display().to_string())
}

fn without_climbing(path: &Path) -> PathBuf {
    let mut so_far = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            // What is not there is no link either.
            so_far = so_far.canonicalize().unwrap_or(so_far);
            so_far.pop();
        } else {
            so_far.push(part);
        }
    }
    so_far
}

fn has_scheme(path: &str) -> bool {
    path.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// This machine's name, if it has one.
pub(crate) fn host_name() -> Option<String> {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    name.filter(|name| !name.is_empty())
}

/// What this machine is called.
pub(crate) fn host() -> String {
    host_name().unwrap_or_else(|| "this machine".to_owned())
}

/// Who submits: the environment's word, as Hadoop 1.x trusts it, else the account's name.
pub(crate) fn user() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty());
    named.unwrap_or_else(|| {
        let uid = nix::unistd::getuid();
        howdah_proto::names::user_name(uid.as_raw()).unwrap_or_else(|| uid.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(path: &str) -> Outcome<String> {
        absolute_output("--output", path, false)
    }

    #[test]
    fn an_output_above_is_where_the_shell_would_have_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().canonicalize().expect("it is there");
        std::fs::create_dir_all(root.join("deep/er")).expect("made");
        std::os::unix::fs::symlink("deep/er", root.join("link")).expect("linked");
        let at = |path: &str| output(&root.join(path).display().to_string()).expect(path);
        let is = |path: &str| root.join(path).display().to_string();
        assert_eq!(at("link/../x"), is("deep/x"), "not beside the link");
        assert_eq!((at("deep/../x"), at("missing/../x"), at("a/./b")), (is("x"), is("x"), is("a/b")));
        assert_eq!(at("link/x"), is("link/x"), "a link that nothing climbs out of stays as it was written");
        let above = std::env::current_dir().expect("somewhere").canonicalize().expect("it is there").join("../x");
        assert_eq!(output("../x").expect("read"), without_climbing(&above).display().to_string());
        assert_eq!(output("hdfs://nn/a/../b").expect("the name node's"), "hdfs://nn/a/../b");
    }

    #[test]
    fn another_machines_links_are_not_looked_up_here() {
        assert_eq!(absolute_output("--output", "/data/link/../x", true).expect("read"), "/data/link/../x");
    }

    #[test]
    fn what_is_no_output_is_named_with_its_flag() {
        let said = |path: &str| output(path).expect_err(path).message().to_owned();
        assert_eq!(said(""), "--output: found an empty path, expected a file or a directory");
        for root in ["/", "/..", "//"] {
            let problem = "which is the root directory, expected a directory that does not exist";
            assert_eq!(said(root), format!("--output: found `{root}`, {problem}"));
        }
    }
}
