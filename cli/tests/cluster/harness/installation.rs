//! An installation that `howdah hadoop install` made for a test's cluster, and its commands.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::cluster::Cluster;
use super::command::Finished;

/// Jobs of these tests are small; the machine may be slow.
const BOUND: Duration = Duration::from_secs(540);

/// The directory; it goes with the cluster's folder.
pub(crate) struct Installation<'a> {
    cluster: &'a Cluster,
    pub(crate) home: PathBuf,
}

impl<'a> Installation<'a> {
    pub(crate) fn of(cluster: &'a Cluster) -> Installation<'a> {
        let home = cluster.path("hadoop");
        let place = home.to_str().expect("a plain path");
        cluster.run(&["hadoop", "install", place, "--master", &cluster.address]).expect_code(0);
        Installation { cluster, home }
    }

    /// `program` with this cluster's mark, nothing of the caller's own Hadoop or howdah, and this `HADOOP_HOME`.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["HOWDAH_", "HADOOP_", "YARN_"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(&*name);
            }
        }
        let (name, value) = self.cluster.mark.variable();
        command.env(name, value).env("HADOOP_HOME", &self.home).stdin(Stdio::null());
        command
    }

    /// Runs `bin/TOOL ARG…` to its end.
    pub(crate) fn run(&self, tool: &str, args: &[&str]) -> Finished {
        Finished::of(self.command(self.home.join("bin").join(tool)).args(args), BOUND)
    }

    /// Runs `bin/hadoop jar STREAMING ARG…`.
    pub(crate) fn streaming(&self, args: &[&str]) -> Finished {
        let jar = self.home.join("share/hadoop/tools/lib/hadoop-streaming-3.3.4.jar");
        self.run("hadoop", &[&["jar", jar.to_str().expect("a plain path")], args].concat())
    }

    /// The file that `hdfs:///NAME` is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.join("fs").join(name)
    }

    /// Runs a program that finds this installation by `HADOOP_HOME`.
    pub(crate) fn program(&self, command: &mut Command) -> Finished {
        Finished::of(command, BOUND)
    }
}
