//! An allocation file of a pool `prod` whose weight a test changes while the master follows it.

use std::path::PathBuf;

use tempfile::TempDir;

use super::Cluster;

pub(crate) struct Allocations(TempDir);

impl Allocations {
    /// With a weight, as it is written there.
    pub(crate) fn of(weight: &str) -> Allocations {
        let allocations = Allocations(tempfile::tempdir().expect("make a folder"));
        allocations.write(weight);
        allocations
    }

    pub(crate) fn write(&self, weight: &str) {
        let text = format!("<allocations><pool name=\"prod\"><weight>{weight}</weight></pool></allocations>");
        std::fs::write(self.path(), text).expect("write the allocations");
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("pools.xml")
    }

    /// What has a master follow it: lines of `[master]`, and the section after them.
    pub(crate) fn config(&self) -> String {
        let file = self.path().display().to_string();
        format!("scheduler = \"fair\"\n[master.scheduler_params]\n\"allocation.file\" = {file:?}\n")
    }

    /// The pool's weight as the master has it.
    pub(crate) fn weight(&self, cluster: &Cluster) -> Option<f64> {
        let listed = cluster.json(&["queue", "list"]);
        let prod = listed["queues"].as_array()?.iter().find(|pool| pool["name"] == "prod")?.clone();
        prod["share"]["weight"].as_f64()
    }
}
