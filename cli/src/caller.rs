//! The caller of the command: who that is, and where the paths are that they name.

use std::path::PathBuf;

use crate::failure::{Failure, Outcome};

/// Workers have other current directories. URLs and absolute paths stay as they are.
pub(crate) fn absolute(path: &str) -> Outcome<String> {
    let has_scheme =
        path.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric()));
    if has_scheme {
        return Ok(path.to_owned());
    }
    let full =
        std::path::absolute(PathBuf::from(path)).map_err(|error| Failure::usage(format!("path `{path}`: {error}")))?;
    Ok(full.display().to_string())
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
