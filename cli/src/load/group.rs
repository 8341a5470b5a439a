//! The control group that a load joins.

use std::path::{Path, PathBuf};

use crate::failure::Outcome;
use crate::local::cannot;

/// Directories of one group, one for each hierarchy it has a part in. May be empty: no group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group(Vec<PathBuf>);

impl Group {
    /// The group of the worker that runs in this directory.
    pub(crate) fn of_worker(dir: &Path) -> Outcome<Group> {
        let path = dir.join("cgroup");
        let text = std::fs::read_to_string(&path).map_err(|error| {
            cannot("read", &path, &error)
                .help("the worker must run there and have a control group: --cpu-quota or --vitals-source cgroup")
        })?;
        Ok(Group(text.lines().map(PathBuf::from).collect()))
    }

    /// The group with these directories, one for each hierarchy; none is no group.
    pub(crate) fn at(dirs: Vec<PathBuf>) -> Group {
        Group(dirs)
    }

    /// Puts this process into it.
    pub(crate) fn join(&self) -> Outcome<()> {
        for dir in &self.0 {
            let path = dir.join("cgroup.procs");
            // Not created where there is none: then it is no control group.
            let opened = std::fs::OpenOptions::new().write(true).open(&path);
            opened
                .and_then(|mut file| std::io::Write::write_all(&mut file, std::process::id().to_string().as_bytes()))
                .map_err(|error| {
                    cannot("join control group", dir, &error).help("expected a control group, and root")
                })?;
        }
        Ok(())
    }

    /// Whether it was removed: the worker has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.iter().any(|dir| !dir.exists())
    }

    /// Its first directory, if there is a group.
    pub(crate) fn name(&self) -> Option<String> {
        self.0.first().map(|dir| dir.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_without_a_group_is_named_with_advice() {
        let dir = tempfile::tempdir().unwrap();
        let said = Group::of_worker(dir.path()).unwrap_err().to_string();
        assert!(
            said.starts_with("error: cannot read `") && said.contains("\nhelp: the worker must run there"),
            "{said}"
        );
    }

    #[test]
    fn a_directory_that_is_no_control_group_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let said = Group::at(vec![dir.path().to_owned()]).join().unwrap_err().to_string();
        assert!(said.starts_with("error: cannot join control group `"), "{said}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_process_joins_the_group_of_every_hierarchy() {
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let procs = dirs.each_ref().map(|dir| dir.path().join("cgroup.procs"));
        procs.iter().for_each(|path| std::fs::write(path, "").unwrap());
        let group = Group::at(dirs.iter().map(|dir| dir.path().to_owned()).collect());
        group.join().unwrap();
        for path in &procs {
            assert_eq!(std::fs::read_to_string(path).unwrap(), std::process::id().to_string());
        }
        let [first, second] = dirs;
        drop(second);
        assert!(group.is_gone(), "with one of them");
        drop(first);
    }

    #[test]
    fn a_group_is_gone_with_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("cgroup"), format!("{}\n", dir.path().display())).unwrap();
        let group = Group::of_worker(dir.path()).unwrap();
        assert!(!group.is_gone() && !Group::default().is_gone());
        drop(dir);
        assert!(group.is_gone());
    }
}
