//! `access.json`: how to reach a local cluster, and which processes it is made of.
//!
//! `up` writes it into its directory, a master into its own; both carry `master`. A pid alone would name a
//! stranger after a while, so each process is kept with its start time.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::proc;
use crate::failure::{Failure, Outcome};

/// Name of the file.
pub(crate) const FILE: &str = "access.json";

/// The file's content. Unknown fields are left alone: the master's own file has others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Access {
    /// Address of the master, host:port.
    pub(crate) master: String,
    /// Pids of all processes, the master first.
    #[serde(default)]
    pub(crate) pids: Vec<u32>,
    /// The same processes in full.
    #[serde(default)]
    pub(crate) processes: Vec<Process>,
}

/// One daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    /// `master`, `worker-1`, …
    pub(crate) name: String,
    /// Process id.
    pub(crate) pid: u32,
    /// Clock ticks between the machine's start and the process's.
    pub(crate) start_ticks: u64,
}

impl Process {
    /// Whether this very process still runs.
    pub(crate) fn is_alive(&self) -> bool {
        proc::is_alive(self.pid, self.start_ticks)
    }
}

impl Access {
    /// Reads `DIR/access.json`; `None` when there is none.
    pub(crate) fn read(dir: &Path) -> Outcome<Option<Access>> {
        let path = dir.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::usage(format!("cannot read `{}`: {error}", path.display()))),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            Failure::usage(format!("`{}` is no access file: {error}", path.display()))
                .help("remove it if no cluster runs there")
        })
    }

    /// As [`Access::read`], in the directory or in its master's.
    pub(crate) fn find(dir: &Path) -> Outcome<Option<Access>> {
        match Access::read(dir)? {
            Some(access) => Ok(Some(access)),
            None => Access::read(&dir.join("master")),
        }
    }

    /// Writes the file in one step: readers see all of it or none.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        let temporary = dir.join(".access.json.new");
        std::fs::write(&temporary, text + "\n")?;
        std::fs::rename(&temporary, dir.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_a_masters_own_file_too() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(Access::find(dir.path()).expect("readable"), None);
        std::fs::create_dir(dir.path().join("master")).expect("a directory");
        std::fs::write(dir.path().join("master/access.json"), r#"{"master":"m:1","cluster_id":7}"#).expect("written");
        assert_eq!(Access::find(dir.path()).expect("readable").map(|a| a.master), Some("m:1".to_owned()));
        let process = Process { name: "master".to_owned(), pid: 1, start_ticks: 2 };
        let access = Access { master: "m:2".to_owned(), pids: vec![1], processes: vec![process] };
        access.write(dir.path()).expect("written");
        assert_eq!(Access::find(dir.path()).expect("readable"), Some(access));
    }
}
